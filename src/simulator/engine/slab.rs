//! A table of records whose places are reused.

use std::ops::{Index, IndexMut};

/// Records of type `T`, addressed by place.
pub struct Slab<T> {
    places: Vec<T>,
    vacant: Vec<u32>,
}

impl<T> Slab<T> {
    pub const fn new() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }

    /// Stores a record and returns its place: the one that was vacated last, if there is one.
    #[inline]
    pub fn put(&mut self, record: T) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.places[place as usize] = record;
            return place;
        }
        self.places.push(record);
        u32::try_from(self.places.len() - 1).expect("fewer than 2^32 at once")
    }

    /// Vacates a place. Its record can be read until the place is reused.
    #[inline]
    pub fn vacate(&mut self, place: u32) {
        self.vacant.push(place);
    }

    /// Vacates a place and returns its record.
    #[inline]
    pub fn take(&mut self, place: u32) -> T
    where
        T: Copy,
    {
        self.vacate(place);
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
