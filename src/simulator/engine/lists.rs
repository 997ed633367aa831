//! Many short lists in one table.

/// Lists of `T`, of which most are empty at any time: their elements share a table whose places are used again.
pub struct Lists<T> {
    ends: Vec<ListEnds>,
    places: Vec<ListNode<T>>,
    vacant: u32,
    len: usize,
}

/// The first and the last place of a list.
#[derive(Clone, Copy)]
struct ListEnds {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct ListNode<T> {
    value: T,
    previous: u32,
    next: u32,
}

const NONE: u32 = u32::MAX;

impl<T: Copy> Lists<T> {
    /// `count` empty lists.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self {
            ends: vec![ListEnds { first: NONE, last: NONE }; count as usize],
            places: Vec::new(),
            vacant: NONE,
            len: 0,
        }
    }

    /// The first element of a list.
    #[must_use]
    pub fn front(&self, list: u32) -> Option<&T> {
        self.places.get(self.ends[list as usize].first as usize).map(|place| &place.value)
    }

    /// The last element of a list, to be changed.
    pub fn back_mut(&mut self, list: u32) -> Option<&mut T> {
        self.places.get_mut(self.ends[list as usize].last as usize).map(|place| &mut place.value)
    }

    /// Returns whether a list has no elements.
    #[must_use]
    pub fn is_empty(&self, list: u32) -> bool {
        self.ends[list as usize].first == NONE
    }

    /// Returns whether no list has elements.
    #[must_use]
    pub const fn are_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an element at the end of a list.
    #[inline]
    pub fn push_back(&mut self, list: u32, value: T) {
        let previous = self.ends[list as usize].last;
        let place = self.place(ListNode { value, previous, next: NONE });
        self.ends[list as usize].last = place;
        match self.places.get_mut(previous as usize) {
            Some(previous) => previous.next = place,
            None => self.ends[list as usize].first = place,
        }
    }

    /// Adds an element at the beginning of a list.
    pub fn push_front(&mut self, list: u32, value: T) {
        let next = self.ends[list as usize].first;
        let place = self.place(ListNode { value, previous: NONE, next });
        self.ends[list as usize].first = place;
        match self.places.get_mut(next as usize) {
            Some(next) => next.previous = place,
            None => self.ends[list as usize].last = place,
        }
    }

    /// Takes out the first element of a list.
    pub fn pop_front(&mut self, list: u32) -> Option<T> {
        let place = self.ends[list as usize].first;
        let ListNode { value, next, .. } = *self.places.get(place as usize)?;
        self.ends[list as usize].first = next;
        match self.places.get_mut(next as usize) {
            Some(next) => next.previous = NONE,
            None => self.ends[list as usize].last = NONE,
        }
        self.vacate(place);
        Some(value)
    }

    /// Takes out the last element of a list.
    pub fn pop_back(&mut self, list: u32) -> Option<T> {
        let place = self.ends[list as usize].last;
        let ListNode { value, previous, .. } = *self.places.get(place as usize)?;
        self.ends[list as usize].last = previous;
        match self.places.get_mut(previous as usize) {
            Some(previous) => previous.next = NONE,
            None => self.ends[list as usize].first = NONE,
        }
        self.vacate(place);
        Some(value)
    }

    /// The elements of a list in their order.
    pub fn iter(&self, list: u32) -> impl Iterator<Item = &T> {
        let at = |place: u32| self.places.get(place as usize);
        std::iter::successors(at(self.ends[list as usize].first), move |place| at(place.next)).map(|place| &place.value)
    }

    /// Adds an element to a list, before those at its end that are to follow it; its place, by which it can be
    /// [removed](Self::remove).
    pub fn insert_before_last(&mut self, list: u32, value: T, mut is_to_follow: impl FnMut(&T) -> bool) -> u32 {
        let (mut previous, mut next) = (self.ends[list as usize].last, NONE);
        while let Some(place) = self.places.get(previous as usize).filter(|place| is_to_follow(&place.value)) {
            (next, previous) = (previous, place.previous);
        }
        let place = self.place(ListNode { value, previous, next });
        self.join(list, previous, place);
        self.join(list, place, next);
        place
    }

    /// Takes out the element at a place of a list.
    pub fn remove(&mut self, list: u32, place: u32) {
        let ListNode { previous, next, .. } = self.places[place as usize];
        self.join(list, previous, next);
        self.vacate(place);
    }

    /// Takes out the first element of a list that is wanted.
    pub fn take_first(&mut self, list: u32, mut is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let mut place = self.ends[list as usize].first;
        loop {
            let ListNode { value, next, .. } = *self.places.get(place as usize)?;
            if is_wanted(&value) {
                self.remove(list, place);
                return Some(value);
            }
            place = next;
        }
    }

    /// Two places come one after the other; no place is an end of the list.
    fn join(&mut self, list: u32, previous: u32, next: u32) {
        match self.places.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => self.ends[list as usize].first = next,
        }
        match self.places.get_mut(next as usize) {
            Some(next) => next.previous = previous,
            None => self.ends[list as usize].last = previous,
        }
    }

    fn vacate(&mut self, place: u32) {
        self.places[place as usize].next = self.vacant;
        self.vacant = place;
        self.len -= 1;
    }

    #[inline]
    fn place(&mut self, place: ListNode<T>) -> u32 {
        self.len += 1;
        let number = self.vacant;
        if let Some(vacant) = self.places.get_mut(number as usize) {
            self.vacant = vacant.next;
            *vacant = place;
            return number;
        }
        self.places.push(place);
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
        fn lists_agree_with_deques(actions in prop::collection::vec((0u32..3, 0u8..6, 0u64..100), 0..200)) {
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
                        let place = deque.iter().position(|one| *one > value);
                        let expected = place.and_then(|place| deque.remove(place));
                        prop_assert_eq!(lists.take_first(list, |one| *one > value), expected);
                    }
                    4 => {
                        let followers = deque.iter().rev().take_while(|one| **one > value).count();
                        let place = lists.insert_before_last(list, value, |one| *one > value);
                        deque.insert(deque.len() - followers, value);
                        if value % 2 == 0 {
                            lists.remove(list, place);
                            deque.remove(deque.len() - followers - 1);
                        }
                    }
                    _ => prop_assert_eq!(lists.pop_front(list), deque.pop_front()),
                }
                prop_assert!(lists.iter(list).eq(&*deque));
                prop_assert_eq!(lists.front(list), deque.front());
                prop_assert_eq!(lists.back_mut(list).copied(), deque.back().copied());
                prop_assert_eq!(lists.is_empty(list), deque.is_empty());
            }
        }
    }
}
