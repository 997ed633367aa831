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

use crate::answer::{Answer, Quantity, QuantityValue, Record, Unit};
use crate::report::{table, without_rounding};

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

/// Returns the table of records, whose ratios show no rounding, such as a serial share of -1.6e-16.
fn shown(records: &[Record]) -> String {
    let value = |quantity: &Quantity| match quantity.value {
        QuantityValue::Real(ratio) if quantity.unit == Unit::One => without_rounding(ratio).into(),
        ref other => other.clone(),
    };
    table(&records.iter().map(|record| record.clone().with_values(value)).collect::<Vec<_>>()).to_string()
}

/// Returns an answer with records and their table.
fn answer(records: Vec<Record>) -> Answer {
    let words = shown(&records);
    Answer::many(records, &words)
}
