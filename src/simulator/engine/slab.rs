//! A table of records whose places are used again.

use std::ops::{Index, IndexMut};

/// Records of `T` by place.
pub struct Slab<T> {
    places: Vec<T>,
    vacant: Vec<u32>,
}

impl<T> Slab<T> {
    pub const fn new() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }

    /// The place of a new record; it is the one that was left last.
    #[inline]
    pub fn put(&mut self, record: T) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.places[place as usize] = record;
            return place;
        }
        self.places.push(record);
        u32::try_from(self.places.len() - 1).expect("fewer than 2^32 at once")
    }

    /// The number of places that have been used.
    pub const fn places(&self) -> usize {
        self.places.len()
    }

    /// Leaves a place: its record can be read until the next one is put there.
    #[inline]
    pub fn leave(&mut self, place: u32) {
        self.vacant.push(place);
    }

    /// Leaves a place, and returns its record.
    #[inline]
    pub fn take(&mut self, place: u32) -> T
    where
        T: Copy,
    {
        self.leave(place);
        self[place]
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.places[place as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }
}
