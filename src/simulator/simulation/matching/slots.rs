//! A table whose places are reused.

/// Values by place. A place that becomes vacant is reused by a later value.
pub struct Slots<T> {
    places: Vec<Option<T>>,
    vacant: Vec<u32>,
}

impl<T> Slots<T> {
    pub const fn new() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }

    pub fn put(&mut self, value: T) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.places[place as usize] = Some(value);
            return place;
        }
        self.places.push(Some(value));
        u32::try_from(self.places.len() - 1).expect("fewer than 2^32 at once")
    }

    pub fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    pub fn get(&self, place: u32) -> Option<&T> {
        self.places.get(place as usize)?.as_ref()
    }

    /// Returns all values with their places.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.places).filter_map(|(place, value)| Some((place, value.as_ref()?)))
    }

    pub fn take(&mut self, place: u32) -> Option<T> {
        let value = self.places.get_mut(place as usize)?.take();
        if value.is_some() {
            self.vacant.push(place);
        }
        value
    }
}
