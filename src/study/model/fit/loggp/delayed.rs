//! `LogGOPS` from times only: messages in a row, each to a different destination, with computations of the sender
//! between them.
//!
//! The method is that of netgauge (Hoefler, Lichei, Rehm, Low-Overhead `LogGP` Parameter Assessment for Modern
//! Interconnection Networks, IPDPS 2007). If a sender computes long enough between its messages, its interface is
//! always free, and each message costs o + (k − 1) O. If it does not compute, each message costs the larger of that and
//! g + (k − 1) G. A single message takes L + 2 o and (k − 1) times the larger of G and O.

use super::{EagerLimit, LinearTime, LogGp};
use crate::model::fit::TimedTransfer;
use crate::model::fit::regression::{Regression, Weighting};

/// The relative difference below which times count as equal.
const TOLERANCE: f64 = 0.005;

/// The maximum number of rounds in which undecided messages are assigned and the constants are fitted again.
const MAX_ROUNDS: usize = 8;

/// Lines for the time of a single message and for the processor time between messages in a row, by length.
struct TransferLines {
    lone: LinearTime,
    processor: LinearTime,
}

/// A constant of the model, in the order of the columns of the fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DelayConstant {
    EndToEnd,
    /// The larger of G and O.
    PerByte,
    Overhead,
    Gap,
    /// The smaller of G and O.
    OtherPerByte,
}

/// The constants that the data determine, with their values.
struct DelaySolution {
    constants: Vec<DelayConstant>,
    regression: Regression,
}

/// Fits the model. Returns `None` unless single messages and messages with computations between them have two lengths
/// each.
pub fn fit(transfers: &[TimedTransfer], weighting: Weighting) -> Option<LogGp> {
    let (late, mut timed): (Vec<_>, Vec<_>) = transfers.iter().partition(|one| one.late_s > 0.0);
    let bounds = TransferLines::of(&timed, weighting)?;
    if !bounds.determine_gap(&timed) {
        timed.retain(|one| !bounds.waits_for_interface(one));
    }
    let solution = bounds.solution(&timed, weighting)?;
    let of = |constant| solution.of(constant);
    let (end_to_end_s, per_byte_s) = (of(DelayConstant::EndToEnd)?, of(DelayConstant::PerByte)?);
    let (larger, smaller) = (Some(per_byte_s), of(DelayConstant::OtherPerByte));
    let (gap_per_byte_s, overhead_per_byte_s) =
        if bounds.interface_is_slower() { (larger, smaller) } else { (smaller, larger) };
    let overhead_s = of(DelayConstant::Overhead);
    let mut fit = LogGp {
        end_to_end_s,
        latency_s: overhead_s.map(|overhead| end_to_end_s - 2.0 * overhead),
        overhead_s,
        overhead_per_byte_s,
        overhead_up_to_bytes: None,
        mean_overhead_per_byte_s: overhead_per_byte_s,
        shared_overhead_per_byte_s: None,
        gap_s: of(DelayConstant::Gap),
        gap_per_byte_s,
        per_byte_s,
        eager: EagerLimit::default(),
        intervals: solution.regression.intervals.as_ref().map(|intervals| [intervals[0], intervals[1]]),
        quality: solution.regression.quality,
    };
    fit.eager = eager_limit(&fit, &late);
    Some(fit)
}

impl TransferLines {
    fn of(transfers: &[&TimedTransfer], weighting: Weighting) -> Option<Self> {
        let alone = transfers.iter().filter(|one| one.messages <= 1.0);
        let (lone, _) = LinearTime::through(&alone.map(|one| (one.bytes, one.seconds)).collect::<Vec<_>>(), weighting)?;
        let is_delayed = |one: &&&TimedTransfer| one.messages > 1.0 && one.delay_s >= lone.at(one.bytes);
        let pause = |one: &&TimedTransfer| (one.bytes, period(one, lone) - one.delay_s);
        let points: Vec<_> = transfers.iter().filter(is_delayed).map(pause).collect();
        Some(Self { lone, processor: LinearTime::through(&points, Weighting::Absolute)?.0 })
    }

    /// Returns whether G is larger than O, in which case single messages determine G.
    fn interface_is_slower(&self) -> bool {
        self.lone.per_byte > self.processor.per_byte * (1.0 + TOLERANCE)
    }

    /// Returns whether these messages in a row are limited by their interface rather than their processor.
    fn waits_for_interface(&self, one: &TimedTransfer) -> bool {
        let processor = self.processor.at(one.bytes) + one.delay_s;
        one.messages > 1.0 && period(one, self.lone) > processor * (1.0 + TOLERANCE)
    }

    /// Returns whether messages limited by the interface determine g, and G if single messages do not.
    fn determine_gap(&self, transfers: &[&TimedTransfer]) -> bool {
        let mut lengths = transfers.iter().filter(|one| self.waits_for_interface(one)).map(|one| one.bytes);
        let first = lengths.next();
        self.interface_is_slower() || first <= Some(1.0) || lengths.any(|bytes| Some(bytes) != first)
    }

    /// Returns whether interface and processor limit these messages in a row equally, within the tolerance, according
    /// to the lines through other times.
    fn is_undecided(&self, one: &TimedTransfer) -> bool {
        let processor = self.processor.at(one.bytes) + one.delay_s;
        one.messages > 1.0 && (period(one, self.lone) - processor).abs() <= processor * TOLERANCE
    }

    /// Fits all constants that the data determine. Undecided messages are first treated as limited by their processor.
    /// Then, until nothing changes, each of them is treated as limited by whatever the fitted constants say.
    fn solution(&self, transfers: &[&TimedTransfer], weighting: Weighting) -> Option<DelaySolution> {
        let mut waits: Vec<_> = transfers.iter().map(|one| self.waits_for_interface(one)).collect();
        let mut solution = self.regression(transfers, &waits, weighting)?;
        for _ in 0..MAX_ROUNDS {
            let now = |one: &&TimedTransfer| {
                self.waits_for_interface(one) || self.is_undecided(one) && solution.interface_is_longer(self, one)
            };
            let next: Vec<_> = transfers.iter().map(now).collect();
            if next == waits {
                break;
            }
            // If the rows do not determine a constant any more, they decide nothing, and the previous fit is kept.
            let Some(better) = self.regression(transfers, &next, weighting) else { break };
            (waits, solution) = (next, better);
        }
        Some(solution)
    }

    /// Fits the constants with the messages of `waits` limited by their interface, all others by their processor.
    fn regression(&self, transfers: &[&TimedTransfer], waits: &[bool], weighting: Weighting) -> Option<DelaySolution> {
        let rows: Vec<_> = transfers.iter().zip(waits).map(|(one, waits)| self.row(one, *waits)).collect();
        let column = |index: usize| rows.iter().map(|(row, _)| row[index].1).collect::<Vec<f64>>();
        let names = rows.first()?.0.map(|(constant, _)| constant);
        let told = |index: &usize| column(*index).iter().any(|weight| *weight != 0.0);
        let told: Vec<_> = (0..names.len()).filter(told).collect();
        let columns: Vec<_> = told.iter().map(|index| column(*index)).collect();
        let seconds: Vec<_> = rows.iter().map(|(_, seconds)| *seconds).collect();
        let regression = Regression::of(&columns, &seconds, weighting)?;
        Some(DelaySolution { constants: told.into_iter().map(|index| names[index]).collect(), regression })
    }

    /// Returns how often each constant is paid, and the time without computations.
    fn row(&self, one: &TimedTransfer, waits: bool) -> ([(DelayConstant, f64); 5], f64) {
        let (further, length) = (one.messages - 1.0, one.bytes - 1.0);
        let (interface, processor) = if waits { (further, 0.0) } else { (0.0, further) };
        let (slower, faster) = if self.interface_is_slower() { (interface, processor) } else { (processor, interface) };
        let weights = [
            (DelayConstant::EndToEnd, 1.0),
            (DelayConstant::PerByte, length * (1.0 + slower)),
            (DelayConstant::Overhead, processor),
            (DelayConstant::Gap, interface),
            (DelayConstant::OtherPerByte, length * faster),
        ];
        (weights, one.seconds - processor * one.delay_s)
    }
}

impl DelaySolution {
    fn of(&self, constant: DelayConstant) -> Option<f64> {
        let place = self.constants.iter().position(|own| *own == constant)?;
        Some(self.regression.coefficients[place])
    }

    /// Returns whether messages occupy their interface longer than their processor; `false` if the data do not
    /// determine all constants.
    fn interface_is_longer(&self, bounds: &TransferLines, one: &TimedTransfer) -> bool {
        let all = [DelayConstant::Gap, DelayConstant::Overhead, DelayConstant::PerByte, DelayConstant::OtherPerByte]
            .map(|constant| self.of(constant));
        let [Some(gap), Some(overhead), Some(larger), Some(smaller)] = all else { return false };
        let (interface, processor) = if bounds.interface_is_slower() { (larger, smaller) } else { (smaller, larger) };
        let line = |first, per_byte| LinearTime { first, per_byte }.at(one.bytes);
        line(gap, interface) > line(overhead, processor) + one.delay_s
    }
}

/// Returns the time from one message to the next one.
fn period(one: &TimedTransfer, lone: LinearTime) -> f64 {
    (one.seconds - lone.at(one.bytes)) / (one.messages - 1.0)
}

/// Determines S by late receivers: a send that does not complete without its receive delays the sender by the delay of
/// the receiver.
fn eager_limit(fit: &LogGp, late: &[&TimedTransfer]) -> EagerLimit {
    let is_eager = |one: &&&TimedTransfer| {
        one.seconds < fit.time_with_delay_s(one.bytes, one.messages, one.delay_s) + 0.5 * one.late_s
    };
    let below = late.iter().filter(|one| !is_eager(one)).map(|one| one.bytes).min_by(f64::total_cmp);
    let eager = late.iter().filter(is_eager).map(|one| one.bytes);
    let at_least = eager.filter(|bytes| below.is_none_or(|below| *bytes < below)).max_by(f64::total_cmp);
    EagerLimit { at_least, below }
}
