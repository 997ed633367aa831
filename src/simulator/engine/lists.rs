//! Many short lists in one table.

/// Lists of `T` that share one table, whose places are reused; most lists are empty at any time.
pub struct Lists<T> {
    /// The place of the last element of each list. Lists are circular: the first element follows the last one.
    lasts: Vec<u32>,
    places: Vec<ListNode<T>>,
    /// The first vacant place, which leads to the others by `next`.
    vacant: u32,
    /// Number of elements of all lists.
    len: usize,
}

/// An element of a circular list, with the places of its neighbours; the first and the last element are neighbours, too.
#[derive(Clone, Copy)]
struct ListNode<T> {
    value: T,
    previous: u32,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl<T: Copy> Lists<T> {
    /// Creates `count` empty lists.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self { lasts: vec![NONE; count as usize], places: Vec::new(), vacant: NONE, len: 0 }
    }

    /// Returns the first element of a list.
    #[must_use]
    #[inline]
    pub fn front(&self, list: u32) -> Option<&T> {
        let tail = self.places.get(self.lasts[list as usize] as usize)?;
        Some(&self.places[tail.next as usize].value)
    }

    /// Returns the element at a place, mutably.
    pub fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize).map(|node| &mut node.value)
    }

    /// Returns whether a list is empty.
    #[must_use]
    pub fn is_empty(&self, list: u32) -> bool {
        self.lasts[list as usize] == NONE
    }

    /// Returns whether all lists are empty.
    #[must_use]
    pub const fn are_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends an element to a list.
    #[inline]
    pub fn push_back(&mut self, list: u32, value: T) {
        let place = self.insert_after(self.lasts[list as usize], value);
        self.lasts[list as usize] = place;
    }

    /// Prepends an element to a list.
    pub fn push_front(&mut self, list: u32, value: T) {
        let tail = self.lasts[list as usize];
        let place = self.insert_after(tail, value);
        if tail == NONE {
            self.lasts[list as usize] = place;
        }
    }

    /// Removes and returns the first element of a list.
    pub fn pop_front(&mut self, list: u32) -> Option<T> {
        let first = self.places.get(self.lasts[list as usize] as usize)?.next;
        Some(self.take(list, first))
    }

    /// Removes and returns the last element of a list.
    pub fn pop_back(&mut self, list: u32) -> Option<T> {
        let tail = self.lasts[list as usize];
        (tail != NONE).then(|| self.take(list, tail))
    }

    /// Returns the elements of a list in order.
    pub fn iter(&self, list: u32) -> impl Iterator<Item = &T> {
        let tail = self.lasts[list as usize];
        let first = self.places.get(tail as usize).map(|tail| tail.next);
        let after = move |place: &u32| (*place != tail).then(|| self.places[*place as usize].next);
        std::iter::successors(first, after).map(|place| &self.places[place as usize].value)
    }

    /// Returns the elements of a list with their places, the last one first.
    pub fn iter_back(&self, list: u32) -> impl Iterator<Item = (u32, &T)> {
        let tail = self.lasts[list as usize];
        let end = (tail != NONE).then_some(tail);
        let before = move |place: &u32| Some(self.places[*place as usize].previous).filter(|place| *place != tail);
        std::iter::successors(end, before).map(|place| (place, &self.places[place as usize].value))
    }

    /// Inserts an element before the trailing elements of a list for which `is_to_follow` is true. Returns its place,
    /// with which it can be [removed](Self::remove).
    pub fn insert_before_last(&mut self, list: u32, value: T, mut is_to_follow: impl FnMut(&T) -> bool) -> u32 {
        let tail = self.lasts[list as usize];
        let mut previous = tail;
        while let Some(place) = self.places.get(previous as usize) {
            if !is_to_follow(&place.value) {
                break;
            }
            previous = place.previous;
            if previous == tail {
                return self.insert_after(tail, value);
            }
        }
        let place = self.insert_after(previous, value);
        if previous == tail {
            self.lasts[list as usize] = place;
        }
        place
    }

    /// Inserts an element after the leading elements of a list for which `is_to_precede` is true.
    pub fn insert_after_first(&mut self, list: u32, value: T, mut is_to_precede: impl FnMut(&T) -> bool) {
        let tail = self.lasts[list as usize];
        let mut previous = tail;
        while let Some(node) = self.places.get(previous as usize) {
            let next = node.next;
            if !is_to_precede(&self.places[next as usize].value) {
                self.insert_after(previous, value);
                return;
            }
            previous = next;
            if previous == tail {
                break;
            }
        }
        self.push_back(list, value);
    }

    /// Removes the element at a place of a list.
    pub fn remove(&mut self, list: u32, place: u32) {
        self.take(list, place);
    }

    /// Removes and returns the first element of a list for which `is_wanted` is true.
    pub fn take_first(&mut self, list: u32, mut is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let tail = self.lasts[list as usize];
        let mut place = tail;
        loop {
            place = self.places.get(place as usize)?.next;
            if is_wanted(&self.places[place as usize].value) {
                return Some(self.take(list, place));
            }
            if place == tail {
                return None;
            }
        }
    }

    #[inline]
    fn take(&mut self, list: u32, place: u32) -> T {
        let ListNode { value, previous, next } = self.places[place as usize];
        self.places[previous as usize].next = next;
        self.places[next as usize].previous = previous;
        let tail = &mut self.lasts[list as usize];
        if *tail == place {
            *tail = if previous == place { NONE } else { previous };
        }
        self.places[place as usize].next = self.vacant;
        self.vacant = place;
        self.len -= 1;
        value
    }

    /// Inserts an element after the one at `previous`, or as the only one of its list if there is none. Returns its
    /// place.
    #[inline]
    fn insert_after(&mut self, previous: u32, value: T) -> u32 {
        let Some(next) = self.places.get(previous as usize).map(|place| place.next) else {
            let place = self.place(ListNode { value, previous: NONE, next: NONE });
            let node = &mut self.places[place as usize];
            (node.previous, node.next) = (place, place);
            return place;
        };
        let place = self.place(ListNode { value, previous, next });
        self.places[previous as usize].next = place;
        self.places[next as usize].previous = place;
        place
    }

    #[inline]
    fn place(&mut self, node: ListNode<T>) -> u32 {
        self.len += 1;
        let place = self.vacant;
        if let Some(vacant) = self.places.get_mut(place as usize) {
            self.vacant = vacant.next;
            *vacant = node;
            return place;
        }
        self.places.push(node);
        u32::try_from(self.places.len() - 1).expect("fewer than 2^32 elements at once")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn lists_agree_with_deques(actions in prop::collection::vec((0u32..3, 0u8..7, 0u64..100), 0..200)) {
            let mut lists = Lists::new(3);
            let mut deques = vec![VecDeque::new(); 3];
            for (list, action, value) in actions {
                let deque = &mut deques[list as usize];
                match action {
                    0 => {
                        lists.push_back(list, value);
                        deque.push_back(value);
                    }
                    1 => {
                        lists.push_front(list, value);
                        deque.push_front(value);
                    }
                    2 => prop_assert_eq!(lists.pop_back(list), deque.pop_back()),
                    3 => {
                        let place = deque.iter().position(|element| *element > value);
                        let expected = place.and_then(|place| deque.remove(place));
                        prop_assert_eq!(lists.take_first(list, |element| *element > value), expected);
                    }
                    4 => {
                        let followers = deque.iter().rev().take_while(|element| **element > value).count();
                        let place = lists.insert_before_last(list, value, |element| *element > value);
                        deque.insert(deque.len() - followers, value);
                        if value % 2 == 0 {
                            lists.remove(list, place);
                            deque.remove(deque.len() - followers - 1);
                        }
                    }
                    5 => prop_assert_eq!(lists.pop_front(list), deque.pop_front()),
                    _ => {
                        let leaders = deque.iter().take_while(|element| **element < value).count();
                        lists.insert_after_first(list, value, |element| *element < value);
                        deque.insert(leaders, value);
                    }
                }
                prop_assert!(lists.iter(list).eq(&*deque));
                prop_assert_eq!(lists.front(list), deque.front());
                let backwards: Vec<_> = lists.iter_back(list).map(|(_, value)| *value).collect();
                prop_assert_eq!(backwards, deque.iter().rev().copied().collect::<Vec<_>>());
                prop_assert_eq!(lists.is_empty(list), deque.is_empty());
            }
        }
    }
}
