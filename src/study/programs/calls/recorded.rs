//! Times of a recorded run: the time between two calls counts as computation.

use super::call::Call;
use super::line_reader::CallQueue;
use parsim_sim::units::SimDuration;

/// The factor by which the computations of a recorded run are scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapFactor(pub f64);

/// The longest computation: 200 days, in picoseconds.
const LONGEST_PS: u128 = 200 * 86_400 * 1_000_000_000_000;

/// The clock of a recorded rank: the end of its last call, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    last: Option<u128>,
    factor: GapFactor,
}

impl Clock {
    pub const fn new(factor: GapFactor) -> Self {
        Self { last: None, factor }
    }

    /// Sets the end of the first call.
    pub const fn begin(&mut self, end: u128) {
        self.last = Some(end);
    }

    /// Records a call, and adds the computation since the end of the last call.
    ///
    /// # Errors
    /// A message about times that are not in order.
    pub fn call(&mut self, begin: u128, end: u128, calls: &mut CallQueue) -> Result<(), String> {
        if let Some(time) = self.gap_to(begin, end)? {
            calls.set_phase("compute");
            calls.push(Call::Keep(time));
        }
        Ok(())
    }

    /// Records the begin of a call, and returns the computation time since the end of the last call, unless it is zero.
    ///
    /// # Errors
    /// A message about a time before the last one.
    pub fn gap(&mut self, begin: u128) -> Result<Option<SimDuration>, String> {
        self.gap_to(begin, begin)
    }

    fn gap_to(&mut self, begin: u128, end: u128) -> Result<Option<SimDuration>, String> {
        let last = self.last.unwrap_or(begin);
        if begin < last || end < begin {
            let [begin, end, last] =
                [begin, end, last].map(|ps| format!("{}.{:06} us", ps / 1_000_000, ps % 1_000_000));
            return Err(format!("the call is from {begin} to {end}, and the one before ends at {last}"));
        }
        let gap = begin - last;
        if gap > LONGEST_PS {
            return Err(String::from("more than 200 days lie between this call and the one before"));
        }
        self.last = Some(end);
        let gap = SimDuration::from_ps(u64::try_from(gap).expect("it was compared with the longest"));
        let time = if (self.factor.0 - 1.0).abs() > 0.0 { gap.scaled(self.factor.0) } else { gap };
        Ok((time > SimDuration::ZERO).then_some(time))
    }
}
