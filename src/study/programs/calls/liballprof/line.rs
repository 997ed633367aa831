//! A line of a liballprof trace: its fields, and their interpretation as arguments.

use crate::programs::calls::line_reader::{Elements, LineFault};

/// The positions at which the fields of a line end.
#[derive(Debug, Default)]
pub struct Fields {
    ends: Vec<usize>,
}

impl Fields {
    pub fn split(&mut self, line: &[u8]) {
        self.ends.clear();
        self.ends.extend(line.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at));
        self.ends.push(line.len());
    }
}

/// A line with its fields.
pub struct CallRecord<'l> {
    pub bytes: &'l [u8],
    pub fields: &'l Fields,
}

impl CallRecord<'_> {
    /// Returns the lengths in bytes of the blocks of all ranks, whose counts are in a list.
    pub fn lengths(&self, Elements { count: at, of }: Elements, ranks: u32) -> Result<Box<[u64]>, LineFault> {
        let size = self.type_bytes(of)?;
        let counts = self.field(at).split(|byte| *byte == b',').map(number);
        let lengths: Option<Box<[u64]>> = counts.map(|count| count?.checked_mul(size)).collect();
        let lengths = lengths.filter(|lengths| lengths.len() == ranks as usize);
        let lengths =
            lengths.filter(|lengths| lengths.iter().try_fold(0u64, |sum, next| sum.checked_add(*next)).is_some());
        let wanted = || format!("`{}` is not a list of {} numbers of elements", self.words(at), ranks);
        lengths.ok_or_else(|| self.fault(at, wanted()))
    }

    /// Returns the index of the last field.
    pub fn last(&self) -> usize {
        self.fields.ends.len() - 1
    }

    /// Returns the position of the first byte of a field.
    pub fn at(&self, field: usize) -> usize {
        match field.checked_sub(1) {
            None => 0,
            Some(before) => self.fields.ends.get(before).map_or(self.bytes.len(), |end| end + 1),
        }
    }

    /// Returns a field without surrounding blanks; empty after the last field.
    pub fn field(&self, field: usize) -> &[u8] {
        let end = self.fields.ends.get(field).copied().unwrap_or(self.bytes.len());
        self.bytes.get(self.at(field)..end).unwrap_or_default().trim_ascii()
    }

    /// Returns the beginning of a field as text, for messages.
    pub fn words(&self, field: usize) -> String {
        let found = self.field(field);
        String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned()
    }

    pub fn fault(&self, field: usize, message: impl Into<String>) -> LineFault {
        LineFault::new(self.at(field), message, "a line is NAME:begin:arguments:end, as liballprof writes it")
    }

    /// Creates the fault of a field that is missing or is not what is wanted.
    pub fn wanted(&self, field: usize, wanted: &str) -> LineFault {
        let message = match self.field(field) {
            [] => format!("{wanted} is missing"),
            _ => format!("`{}` is not {wanted}", self.words(field)),
        };
        self.fault(field, message)
    }

    pub fn integer(&self, field: usize) -> Result<i64, LineFault> {
        let text = std::str::from_utf8(self.field(field)).ok();
        text.and_then(|text| text.parse().ok()).ok_or_else(|| self.wanted(field, "a whole number"))
    }

    pub fn number(&self, field: usize) -> Result<u64, LineFault> {
        number(self.field(field)).ok_or_else(|| self.wanted(field, "a number"))
    }

    /// Returns a number below a bound; `wanted` describes it in messages.
    pub fn below(&self, field: usize, wanted: &str, bound: u32) -> Result<u32, LineFault> {
        let found = number(self.field(field)).and_then(|found| u32::try_from(found).ok());
        let words = || format!("{wanted}, which are 0 to {}", bound.saturating_sub(1));
        found.filter(|found| *found < bound).ok_or_else(|| self.wanted(field, &words()))
    }

    pub fn tag(&self, field: usize) -> Result<u32, LineFault> {
        self.below(field, "a tag", 1 << 31)
    }

    /// Returns a time, given in microseconds, in picoseconds.
    pub fn time(&self, field: usize) -> Result<u128, LineFault> {
        picoseconds(self.field(field)).ok_or_else(|| self.wanted(field, "a time in microseconds"))
    }

    /// Checks the times of the beginning and the end of a call that is not replayed.
    pub fn check_times(&self) -> Result<(), LineFault> {
        let begin = self.time(1)?;
        if self.last() < 2 {
            return Err(self.wanted(2, "the time of the end"));
        }
        let end = self.time(self.last())?;
        if end < begin { Err(self.fault(self.last(), "the call ends before it begins")) } else { Ok(()) }
    }

    /// Returns the time of a call without an end, which has a further field.
    pub fn only_time(&self) -> Result<u128, LineFault> {
        let time = self.time(1)?;
        if self.last() < 2 { Err(self.wanted(2, "the field after the time")) } else { Ok(time) }
    }

    /// Returns the size in bytes of a number of elements.
    pub fn bytes(&self, Elements { count, of }: Elements) -> Result<u64, LineFault> {
        let bytes = self.number(count)?.checked_mul(self.type_bytes(of)?);
        bytes.ok_or_else(|| self.fault(count, "the elements have 2^64 bytes or more"))
    }

    pub fn type_bytes(&self, field: usize) -> Result<u64, LineFault> {
        let size = self.field(field).split(|byte| *byte == b',').nth(1).and_then(number);
        size.ok_or_else(|| self.wanted(field, "a data type, which has the form id,bytes,extent"))
    }
}

/// Parses a number that consists of digits only.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 20 || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Converts a decimal number of microseconds to picoseconds.
fn picoseconds(word: &[u8]) -> Option<u128> {
    let mut parts = word.splitn(2, |byte| *byte == b'.');
    let whole = number(parts.next()?)?;
    let fraction = parts.next().unwrap_or_default();
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |place: usize| u128::from(fraction.get(place).map_or(0, |digit| digit - b'0'));
    Some((0..6).fold(u128::from(whole), |sum, place| sum * 10 + digit(place)))
}
