//! The words of a line, and the numbers among them.

use super::line_reader::LineFault;
use parsim_sim::units::SimDuration;
use std::ops::Range;

/// The positions of the words of a line.
#[derive(Debug, Default)]
pub struct Words {
    words: Vec<Range<usize>>,
    end: usize,
}

/// The longest time of a computation, in seconds.
const LONGEST_SECONDS: f64 = 200.0 * 86_400.0;

impl Words {
    /// Finds the words of a line, separated by blanks, up to a word that begins with `#`.
    pub fn split(&mut self, line: &[u8]) {
        self.words.clear();
        self.end = line.len();
        let mut begin = None;
        for (at, byte) in line.iter().enumerate() {
            let is_blank = matches!(byte, b' ' | b'\t' | b'\r');
            if *byte == b'#' && begin.is_none() {
                return;
            }
            match begin {
                None if !is_blank => begin = Some(at),
                Some(start) if is_blank => {
                    self.words.push(start..at);
                    begin = None;
                }
                _ => {}
            }
        }
        self.words.extend(begin.map(|start| start..line.len()));
    }

    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub const fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the position of a word; the end of the line after the last word.
    pub fn at(&self, word: usize) -> usize {
        self.words.get(word).map_or(self.end, |range| range.start)
    }

    /// Returns a word; empty after the last word.
    pub fn get<'l>(&self, line: &'l [u8], word: usize) -> &'l [u8] {
        self.words.get(word).map_or(&[], |range| &line[range.clone()])
    }

    fn fault(&self, line: &[u8], word: usize, wanted: &str, help: impl Into<String>) -> LineFault {
        let message = match self.get(line, word) {
            [] => format!("{wanted} is missing"),
            found => format!("`{}` is not {wanted}", String::from_utf8_lossy(&found[..found.len().min(40)])),
        };
        LineFault::new(self.at(word), message, help)
    }

    /// Parses an integer.
    pub fn integer(&self, line: &[u8], word: usize) -> Option<i64> {
        std::str::from_utf8(self.get(line, word)).ok()?.parse().ok()
    }

    /// Parses a number below a bound.
    pub fn below(&self, line: &[u8], word: usize, noun: &str, bound: u32) -> Result<u32, LineFault> {
        let number = digits(self.get(line, word)).and_then(|number| u32::try_from(number).ok());
        let help = || format!("give a number from 0 to {}", bound.saturating_sub(1));
        number.filter(|number| *number < bound).ok_or_else(|| self.fault(line, word, &format!("a {noun}"), help()))
    }

    /// Parses a finite number.
    pub fn number(&self, line: &[u8], word: usize, wanted: &str) -> Result<f64, LineFault> {
        let text = std::str::from_utf8(self.get(line, word)).ok();
        let number = text.and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite());
        number.ok_or_else(|| self.fault(line, word, wanted, "give a number such as 1e6"))
    }

    /// Parses a nonnegative number; `wanted` describes it in messages.
    pub fn positive(&self, line: &[u8], word: usize, wanted: &str) -> Result<f64, LineFault> {
        let number = self.number(line, word, wanted)?;
        if number >= 0.0 { Ok(number) } else { Err(self.fault(line, word, wanted, "give a number from 0 on")) }
    }

    /// Parses a nonnegative integer, which may be written like `1e6`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was compared with the largest")]
    pub fn count(&self, line: &[u8], word: usize, wanted: &str) -> Result<u64, LineFault> {
        if let Some(number) = digits(self.get(line, word)) {
            return Ok(number);
        }
        let number = self.positive(line, word, wanted)?;
        let help = match () {
            () if number >= 1e19 => "give a smaller number",
            () if number.fract() > 0.0 => "give a whole number",
            () => return Ok(number as u64),
        };
        Err(self.fault(line, word, wanted, help))
    }

    /// Parses a time in seconds.
    pub fn seconds(&self, line: &[u8], word: usize) -> Result<SimDuration, LineFault> {
        let seconds = self.positive(line, word, "a time in seconds")?;
        let help = "give a time from 0 on, and shorter than 200 days";
        if seconds > LONGEST_SECONDS {
            return Err(self.fault(line, word, "a time of a computation", help));
        }
        Ok(SimDuration::from_seconds(seconds))
    }
}

/// Parses a number that consists of digits only.
fn digits(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 19 {
        return None;
    }
    word.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}
