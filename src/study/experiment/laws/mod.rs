//! The laws of speedup and closed forms without contention, for given numbers and for the times of a sweep.

mod given;
mod growth;
mod network;
mod series;
mod weak;

pub use given::{ShareOrSpeedup, WorkParts, amdahl, gustafson, isoefficiency, isoefficiency_constant, karp_flatt};
pub use growth::{FoundProblem, GrowingProblem, HeldQuantity, NotFound, ProblemGrowth, SearchedProblem};
pub use network::{QuietMessage, collective};
pub use series::{SeriesColumns, SeriesWork};
pub use weak::WorkGrowth;

use crate::answer::{Answer, QuantityValue, Record};
use crate::report::table;

/// Formats a number of processors for output: whole if possible, and `inf` for infinity.
fn processors(count: f64) -> QuantityValue {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
    match count {
        count if count.is_infinite() => QuantityValue::from("inf"),
        count if count.fract() == 0.0 && count.abs() < 9e15 => QuantityValue::from(count as i64),
        count => QuantityValue::from(count),
    }
}

/// Returns an answer with a record for each of these numbers.
fn rows(counts: &[f64], record: impl Fn(f64) -> Record) -> Answer {
    answer(counts.iter().map(|p| record(*p)).collect())
}

/// Returns an answer with records and their table.
fn answer(records: Vec<Record>) -> Answer {
    let words = table(&records);
    Answer::many(records, &words)
}
