//! Many short stacks in one table.

/// Stacks of `T` that share one table, whose places are reused; most stacks are empty at any time.
pub struct Stacks<T> {
    tops: Vec<u32>,
    places: Vec<StackNode<T>>,
    vacant: u32,
}

#[derive(Clone, Copy)]
struct StackNode<T> {
    value: T,
    /// The place of the element below; for a vacant place, the next vacant one.
    below: u32,
    /// The place of the lowest element.
    bottom: u32,
}

const NONE: u32 = u32::MAX;

impl<T: Copy> Stacks<T> {
    /// Creates `count` empty stacks.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self { tops: vec![NONE; count as usize], places: Vec::new(), vacant: NONE }
    }

    /// Returns the top element of a stack.
    #[must_use]
    pub fn top(&self, stack: u32) -> Option<&T> {
        self.places.get(self.tops[stack as usize] as usize).map(|place| &place.value)
    }

    /// Returns the top element of a stack, mutably.
    #[must_use]
    pub fn top_mut(&mut self, stack: u32) -> Option<&mut T> {
        self.places.get_mut(self.tops[stack as usize] as usize).map(|place| &mut place.value)
    }

    /// Returns the elements of a stack from top to bottom.
    pub fn iter(&self, stack: u32) -> impl Iterator<Item = &T> {
        let below = |place: &&StackNode<T>| self.places.get(place.below as usize).filter(|_| place.below != NONE);
        let top = self.places.get(self.tops[stack as usize] as usize);
        std::iter::successors(top, below).map(|place| &place.value)
    }

    /// Pushes an element onto a stack.
    ///
    /// # Panics
    /// Panics if there are 2^32 elements at once.
    #[expect(clippy::inline_always, reason = "values are constructed in place")]
    #[inline(always)]
    pub fn push(&mut self, stack: u32, value: T) {
        let top = &mut self.tops[stack as usize];
        let below = *top;
        let bottom = self.places.get(below as usize).map(|place| place.bottom);
        if let Some(vacant) = self.places.get_mut(self.vacant as usize) {
            *top = std::mem::replace(&mut self.vacant, vacant.below);
            *vacant = StackNode { value, below, bottom: bottom.unwrap_or(*top) };
            return;
        }
        *top = u32::try_from(self.places.len()).expect("fewer than 2^32 elements at once");
        self.places.push(StackNode { value, below, bottom: bottom.unwrap_or(*top) });
    }

    /// Removes and returns the top element of a stack.
    pub fn pop(&mut self, stack: u32) -> Option<T> {
        let top = &mut self.tops[stack as usize];
        let place = self.places.get_mut(*top as usize)?;
        let popped = std::mem::replace(top, place.below);
        place.below = std::mem::replace(&mut self.vacant, popped);
        Some(place.value)
    }

    /// Removes all elements of a stack.
    pub fn clear(&mut self, stack: u32) {
        let top = std::mem::replace(&mut self.tops[stack as usize], NONE);
        if let Some(place) = self.places.get(top as usize) {
            let bottom = place.bottom;
            self.places[bottom as usize].below = std::mem::replace(&mut self.vacant, top);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stacks_agree_with_vectors(actions in prop::collection::vec((0u32..3, 0u8..6, 0u64..100), 0..200)) {
            let mut stacks = Stacks::new(3);
            let mut vectors = vec![Vec::new(); 3];
            for (stack, action, value) in actions {
                let vector = &mut vectors[stack as usize];
                match action {
                    0 => {
                        stacks.clear(stack);
                        vector.clear();
                    }
                    1 | 2 => prop_assert_eq!(stacks.pop(stack), vector.pop()),
                    _ => {
                        stacks.push(stack, value);
                        vector.push(value);
                    }
                }
                prop_assert_eq!(stacks.top(stack), vector.last());
                prop_assert!(stacks.iter(stack).eq(vector.iter().rev()));
            }
        }
    }
}
