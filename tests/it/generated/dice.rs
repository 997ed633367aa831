//! Draws from the random stream of a sample.

use parsim::engine::Streams;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream of the sample with a number.
    pub fn new(number: u64) -> Self {
        Self(Streams::new(number).stream("sample", 0))
    }

    /// A number from `first` to `last`.
    pub fn between(&mut self, first: u32, last: u32) -> u32 {
        let count = u64::from(last - first) + 1;
        first + u32::try_from(self.0.next_u64() % count).expect("the range is one of 32 bits")
    }

    /// True once in `count` draws.
    pub fn once_in(&mut self, count: u32) -> bool {
        self.between(1, count) == 1
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let last = u32::try_from(choices.len() - 1).expect("there are a few choices");
        choices[self.between(0, last) as usize]
    }

    pub fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }
}
