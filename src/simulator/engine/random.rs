//! Named random streams.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The name of the generator, which is recorded in every output.
pub const STREAM_GENERATOR: &str = "ChaCha8";

/// The source of all randomness of a run.
///
/// The key of the generator is the scenario's seed, and its stream number is a stable hash of (purpose, entity). The
/// numbers that one entity draws therefore depend neither on the draws of others nor on the order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// Returns the streams of the run with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the stream that `entity` uses for `purpose`, at its beginning.
    #[must_use]
    pub fn stream(self, purpose: &str, entity: u64) -> ChaCha8Rng {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        let separator = std::iter::once(0xff);
        generator.set_stream(stable_hash(purpose.bytes().chain(separator).chain(entity.to_le_bytes())));
        generator
    }
}

/// A stream whose numbers are drawn by position instead of in order. The numbers at a position are the same however
/// often and in whatever order positions are visited, so that a computation can be repeated.
#[derive(Clone, Debug)]
pub struct AddressedStream(ChaCha8Rng);

/// The number of 32-bit words in one block of `ChaCha`, which is one position of an [`AddressedStream`].
const BLOCK_WORDS: u128 = 16;

impl Streams {
    /// Returns the stream that `entity` uses for `purpose`, to be drawn from by position.
    #[must_use]
    pub fn addressed(self, purpose: &str, entity: u64) -> AddressedStream {
        AddressedStream(self.stream(purpose, entity))
    }
}

impl AddressedStream {
    /// Returns a generator for the numbers at `position`. Eight 64-bit numbers can be drawn before those of the next
    /// position begin.
    #[must_use]
    pub fn at(&self, position: u64) -> ChaCha8Rng {
        let mut generator = self.0.clone();
        generator.set_word_pos(u128::from(position) * BLOCK_WORDS);
        generator
    }
}

/// Draws a number from 0 (inclusive) to 1 (exclusive) with 32 bits.
pub fn unit_of_32_bits(rng: &mut ChaCha8Rng) -> f64 {
    f64::from(rng.next_u32()) / 4_294_967_296.0
}

/// Draws a number from 0 (inclusive) to 1 (exclusive) with 53 bits.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
pub fn unit_of_53_bits(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Draws a number below `count`, uniform up to 2^−32.
pub fn below(count: u32, rng: &mut ChaCha8Rng) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(count)) >> 32) as u32
}

/// Draws the place of one of `count` items, fewer than 2^32.
pub fn place_among(count: usize, rng: &mut ChaCha8Rng) -> usize {
    below(u32::try_from(count).expect("fewer than 2^32 items"), rng) as usize
}

/// Computes the FNV-1a hash, which is the same on every platform and in every version.
#[must_use]
pub fn stable_hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.into_iter().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// Mixes a number so that every bit of the result depends on every bit of the input: the output step of `SplitMix64`
/// (Steele, Lea and Flood, OOPSLA 2014).
#[must_use]
pub const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_golden_sequence() {
        let mut stream = Streams::new(1).stream("placement", 0);
        let drawn: Vec<u64> = (0..4).map(|_| stream.next_u64()).collect();
        assert_eq!(drawn, GOLDEN);
    }
    const GOLDEN: [u64; 4] =
        [4_580_175_418_627_317_253, 2_935_545_840_921_536_338, 3_637_119_783_834_596_754, 16_167_685_235_940_841_848];

    #[test]
    fn positions_are_drawn_in_any_order() {
        let mut in_order = Streams::new(1).stream("events", 3);
        let blocks: Vec<[u64; 8]> = (0..4).map(|_| std::array::from_fn(|_| in_order.next_u64())).collect();
        let addressed = Streams::new(1).addressed("events", 3);
        for position in [2, 0, 3, 2, 1] {
            let mut at = addressed.at(position);
            assert_eq!(std::array::from_fn(|_| at.next_u64()), blocks[usize::try_from(position).unwrap()]);
        }
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_entity() {
        let first = |seed, purpose, entity| Streams::new(seed).stream(purpose, entity).next_u64();
        let drawn = [first(1, "a", 0), first(2, "a", 0), first(1, "b", 0), first(1, "a", 1)];
        for (i, one) in drawn.iter().enumerate() {
            assert!(drawn[i + 1..].iter().all(|other| other != one));
        }
    }
}
