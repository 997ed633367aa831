//! Choices between ports, random or hashed.

use crate::engine::{mixed, place_among};
use rand_chacha::ChaCha8Rng;

/// Returns a random item; draws only if there is more than one.
pub fn any<T>(things: impl Iterator<Item = T>, rng: &mut ChaCha8Rng) -> Option<T> {
    let mut things: Vec<T> = things.collect();
    match things.len() {
        0 | 1 => things.pop(),
        count => Some(things.swap_remove(place_among(count, rng))),
    }
}

/// Returns an item that depends only on `numbers`; uniform over them.
pub fn hashed<T>(things: impl Iterator<Item = T>, numbers: [u32; 3]) -> Option<T> {
    let mut things: Vec<T> = things.collect();
    let hash = numbers.into_iter().fold(0, |hash, number| mixed(hash ^ u64::from(number)));
    let count = things.len().max(1) as u64;
    let index = usize::try_from(hash % count).expect("the number is below the count");
    (index < things.len()).then(|| things.swap_remove(index))
}

/// Returns a random port; draws only if there is more than one.
pub fn one_of(ports: &[u32], rng: &mut ChaCha8Rng) -> u32 {
    ports[if ports.len() > 1 { place_among(ports.len(), rng) } else { 0 }]
}
