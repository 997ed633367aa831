//! The data moved by collective operations.

use crate::program::BlockPartition;
use crate::program::WORD;
use crate::program::process::Process;
use std::cell::Cell;
use std::rc::Rc;

/// A length in bytes and, if the program really computes, the values, which are distributed evenly over the bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    /// The length in bytes.
    pub bytes: u64,
    /// The values.
    pub values: Option<Rc<[f64]>>,
    origin: Cell<PayloadOrigin>,
}

/// Origin of the payload of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PayloadOrigin {
    /// The memory of the rank.
    Own,
    /// A received message that has not been sent on.
    Message,
    /// The buffer from which it was sent before.
    SendBuffer,
}

impl Payload {
    /// Creates a payload of `bytes` bytes that carries `values`.
    #[must_use]
    pub const fn new(bytes: u64, values: Option<Rc<[f64]>>) -> Self {
        Self { bytes, values, origin: Cell::new(PayloadOrigin::Own) }
    }

    /// Creates the payload of a received message.
    pub(super) const fn received(bytes: u64, values: Option<Rc<[f64]>>) -> Self {
        Self { bytes, values, origin: Cell::new(PayloadOrigin::Message) }
    }

    /// Returns the origin for a send; the next send finds the payload in the send buffer.
    pub(super) fn take_to_send(&self) -> PayloadOrigin {
        self.origin.replace(PayloadOrigin::SendBuffer)
    }

    /// Concatenates payloads.
    #[must_use]
    pub fn join(parts: &[Self]) -> Self {
        let values = parts.iter().map(|part| part.values.as_deref()).collect::<Option<Vec<_>>>();
        Self::new(parts.iter().map(|part| part.bytes).sum(), values.map(|values| values.concat().into()))
    }

    /// Splits the payload into parts of these lengths, which must sum to the whole.
    #[must_use]
    pub fn split(&self, lengths: &[u64]) -> Vec<Self> {
        let (mut index, mut byte) = (0, 0);
        let mut start = 0;
        lengths
            .iter()
            .map(|&bytes| {
                (index, byte) = (index + 1, byte + bytes);
                let values = self.values.as_deref().map(|values| {
                    let end = match self.bytes {
                        0 => share(values.len(), index, lengths.len() as u64),
                        whole => share(values.len(), byte, whole),
                    };
                    let part = Rc::from(&values[start..end]);
                    start = end;
                    part
                });
                Self { bytes, values, origin: self.origin.clone() }
            })
            .collect()
    }

    /// Returns the lengths of `parts` parts of `bytes` bytes, as equal as possible, in whole words if the message
    /// consists of words.
    #[must_use]
    pub fn shares(bytes: u64, parts: u32) -> Vec<u64> {
        let unit = if bytes.is_multiple_of(WORD) { WORD } else { 1 };
        let blocks = BlockPartition::new(bytes / unit, parts);
        (0..parts).map(|part| blocks.count(part) * unit).collect()
    }

    /// Returns the sum with a payload of the same length, which costs a floating-point operation for each word.
    pub async fn plus(&self, me: &Process, other: &Self) -> Self {
        me.add(self.bytes).await;
        let sum = self.values.as_deref().zip(other.values.as_deref());
        let values = sum.map(|(one, other)| one.iter().zip(other).map(|(one, other)| one + other).collect());
        Self::new(self.bytes, values)
    }
}

fn share(length: usize, part: u64, whole: u64) -> usize {
    (length as u128 * u128::from(part) / u128::from(whole)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole_again() {
        let whole = Payload::new(56, Some((0..7).map(f64::from).collect()));
        let shares = Payload::shares(56, 3);
        assert_eq!(shares, [16, 16, 24]);
        let parts = whole.split(&shares);
        assert_eq!(parts[2].values.as_deref(), Some(&[4.0, 5.0, 6.0][..]));
        assert_eq!(Payload::join(&parts), whole);
        assert_eq!(Payload::shares(7, 2), [3, 4]);
    }

    #[test]
    fn numbers_without_bytes_are_divided_by_parts() {
        let whole = Payload::new(0, Some([1.0, 2.0].into()));
        assert_eq!(whole.split(&[0, 0])[1].values.as_deref(), Some(&[2.0][..]));
    }
}
