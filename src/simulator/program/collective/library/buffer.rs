//! The parts of a message that a rank holds, by their position in the whole message.

use crate::program::BlockPartition;
use crate::program::WORD;
use crate::program::collective::payload::Payload;
use std::ops::Range;
use std::rc::Rc;

/// The whole message as one rank knows it. Without values it is only a length, however long the message is.
///
/// Messages start with the total number of values, so that a receiver of a part can place it.
#[derive(Clone, Debug)]
pub(in crate::program::collective) struct Buffer {
    bytes: u64,
    values: Option<Vec<f64>>,
}

impl Buffer {
    /// Creates a buffer that holds the whole message.
    pub fn full(whole: &Payload) -> Self {
        Self { bytes: whole.bytes, values: whole.values.as_deref().map(<[f64]>::to_vec) }
    }

    /// Creates a buffer of `bytes` bytes without values.
    pub const fn empty(bytes: u64) -> Self {
        Self { bytes, values: None }
    }

    /// Creates a buffer that holds one of the parts of a division.
    pub fn part(division: &Division, part: u32, own: &Payload) -> Self {
        let bytes = division.total();
        let values = own.values.as_deref().map(|values| {
            let count = match own.bytes {
                0 => (bytes / WORD) as usize,
                length => ratio(values.len(), bytes, length),
            };
            vec![0.0; count]
        });
        let mut buffer = Self { bytes, values };
        let range = buffer.places(&division.range(part..part + 1));
        if let (Some(all), Some(own)) = (&mut buffer.values, &own.values) {
            all[range].copy_from_slice(own);
        }
        buffer
    }

    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether the buffer holds values.
    pub const fn has_numbers(&self) -> bool {
        self.values.is_some()
    }

    /// Returns the given ranges as one message.
    pub fn take(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> Payload {
        let Some(values) = &self.values else {
            return Payload::new(ranges.into_iter().map(|range| range.end - range.start).sum(), None);
        };
        let mut bytes = 0;
        #[expect(clippy::cast_precision_loss, reason = "numbers that fit in memory are far fewer than 2^53")]
        let mut data = vec![values.len() as f64];
        for range in ranges {
            bytes += range.end - range.start;
            data.extend_from_slice(&values[self.places(&range)]);
        }
        Payload::new(bytes, Some(data.into()))
    }

    /// Stores a message that consists of the given ranges at their places.
    pub fn put(&mut self, ranges: impl IntoIterator<Item = Range<u64>>, payload: &Payload) {
        self.unpack(ranges, payload, |held, value| *held = value);
    }

    /// Adds a message that consists of the given ranges to the values at their places.
    pub fn sum(&mut self, ranges: impl IntoIterator<Item = Range<u64>>, payload: &Payload) {
        self.unpack(ranges, payload, |held, value| *held += value);
    }

    fn unpack(
        &mut self,
        ranges: impl IntoIterator<Item = Range<u64>>,
        payload: &Payload,
        with: impl Fn(&mut f64, f64),
    ) {
        let Some([count, data @ ..]) = payload.values.as_deref() else { return };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the sender stored an integer")]
        self.values.get_or_insert_with(|| vec![0.0; *count as usize]);
        let mut data = data.iter();
        for range in ranges {
            let places = self.places(&range);
            let held = &mut self.values.as_mut().expect("the values were inserted above")[places];
            held.iter_mut().zip(&mut data).for_each(|(held, value)| with(held, *value));
        }
    }

    /// Returns the values of a range.
    pub fn numbers(&self, range: &Range<u64>) -> Option<Rc<[f64]>> {
        self.values.as_ref().map(|values| Rc::from(&values[self.places(range)]))
    }

    /// Returns a range as a separate payload, without the total number of values.
    pub fn numbered(&self, range: Range<u64>) -> Payload {
        let values = self.numbers(&range);
        Payload::new(range.end - range.start, values)
    }

    /// Stores the values of a range.
    pub fn put_numbers(&mut self, range: &Range<u64>, numbers: Option<&[f64]>) {
        let places = self.places(range);
        if let (Some(held), Some(numbers)) = (&mut self.values, numbers) {
            held[places].copy_from_slice(numbers);
        }
    }

    /// Returns all values.
    pub fn all(&self) -> Option<Rc<[f64]>> {
        self.values.as_deref().map(Rc::from)
    }

    fn places(&self, range: &Range<u64>) -> Range<usize> {
        let count = self.values.as_ref().map_or(0, Vec::len);
        match self.bytes {
            0 => 0..count,
            bytes => ratio(count, range.start, bytes)..ratio(count, range.end, bytes),
        }
    }
}

fn ratio(count: usize, part: u64, whole: u64) -> usize {
    (count as u128 * u128::from(part) / u128::from(whole)) as usize
}

/// The division of a message into parts, by a formula instead of a list where possible.
#[derive(Clone, Debug)]
pub(in crate::program::collective) struct Division {
    parts: u32,
    kind: DivisionKind,
}

#[derive(Clone, Debug)]
enum DivisionKind {
    Even(u64),
    Shares { words: u64, word: u64 },
    Ceiling { part: u64, bytes: u64 },
    Listed(Rc<[u64]>),
}

impl Division {
    /// Creates a division into parts of `bytes` bytes each.
    pub const fn even(bytes: u64, parts: u32) -> Self {
        Self { parts, kind: DivisionKind::Even(bytes) }
    }

    /// Divides `bytes` bytes as evenly as possible, into whole words if the message consists of words.
    pub const fn shares(bytes: u64, parts: u32) -> Self {
        let word = if bytes.is_multiple_of(WORD) { WORD } else { 1 };
        Self { parts, kind: DivisionKind::Shares { words: bytes / word, word } }
    }

    /// Divides `bytes` bytes into parts of a p-th each, rounded up to whole words; the last parts may be shorter or
    /// empty.
    pub const fn ceiling(bytes: u64, parts: u32) -> Self {
        let word = if bytes.is_multiple_of(WORD) { WORD } else { 1 };
        Self { parts, kind: DivisionKind::Ceiling { part: (bytes / word).div_ceil(parts as u64) * word, bytes } }
    }

    /// Creates a division into parts of these lengths.
    pub fn listed(lengths: &[u64]) -> Self {
        let mut end = 0;
        let starts = std::iter::once(0).chain(lengths.iter().map(|length| {
            end += length;
            end
        }));
        Self { parts: super::communicator::count(lengths.len()), kind: DivisionKind::Listed(starts.collect()) }
    }

    pub const fn parts(&self) -> u32 {
        self.parts
    }

    pub fn total(&self) -> u64 {
        self.start(self.parts)
    }

    /// Returns whether all parts have the same length by construction.
    pub const fn is_equal(&self) -> bool {
        matches!(self.kind, DivisionKind::Even(_))
    }

    /// Returns whether all parts have the same length.
    pub fn is_even(&self) -> bool {
        let length = |part: u32| self.start(part + 1) - self.start(part);
        (1..self.parts).all(|part| length(part) == length(0))
    }

    /// Returns the beginning of a part, or the end of the message for the index after the last part.
    pub fn start(&self, part: u32) -> u64 {
        match &self.kind {
            DivisionKind::Even(bytes) => bytes * u64::from(part),
            DivisionKind::Shares { words, word } => BlockPartition::new(*words, self.parts).first(part) * word,
            DivisionKind::Ceiling { part: length, bytes } => (length * u64::from(part)).min(*bytes),
            DivisionKind::Listed(starts) => starts[part as usize],
        }
    }

    /// Returns the bytes of consecutive parts.
    pub fn range(&self, parts: Range<u32>) -> Range<u64> {
        self.start(parts.start)..self.start(parts.end)
    }

    /// Returns the bytes of one part.
    pub fn one(&self, part: u32) -> Range<u64> {
        self.range(part..part + 1)
    }

    /// Returns the bytes of `count` parts from `first` on, wrapping around at the end.
    pub fn around(&self, first: u32, count: u32) -> impl Iterator<Item = Range<u64>> + use<> {
        let behind = u64::from(first) + u64::from(count);
        let end = behind.min(u64::from(self.parts)) as u32;
        let rest = behind.saturating_sub(u64::from(self.parts)) as u32;
        [self.range(first..end), self.range(0..rest)].into_iter().filter(|range| range.start < range.end)
    }
}

/// A message, or a part of it, in segments of equal length; the last one may be shorter. A length of 0 means one
/// segment.
#[derive(Clone, Copy, Debug)]
pub(in crate::program::collective) struct Segments {
    /// Offset in bytes of the part in the message.
    first: u64,
    bytes: u64,
    length: u64,
}

impl Segments {
    pub const fn new(bytes: u64, length: u64) -> Self {
        Self { first: 0, bytes, length: if length == 0 { bytes } else { length } }
    }

    /// Divides a part of a message into segments.
    pub const fn of(part: &Range<u64>, length: u64) -> Self {
        Self { first: part.start, ..Self::new(part.end - part.start, length) }
    }

    pub const fn count(self) -> u64 {
        if self.bytes == 0 { 1 } else { self.bytes.div_ceil(self.length) }
    }

    pub fn range(self, index: u64) -> Range<u64> {
        self.first + index * self.length..self.first + ((index + 1) * self.length).min(self.bytes)
    }
}
