//! The timed messages of a table.

use super::{FitGroup, FitRequest, MessageColumns};
use crate::model::fit::TimedTransfer;
use crate::scenario::table::{Row, in_seconds};

/// Returns the messages of a group; `value` is the column of their times.
pub fn transfers(arguments: &FitRequest, group: &FitGroup, value: &str) -> Vec<TimedTransfer> {
    group.fitted.iter().filter_map(|row| transfer(&arguments.messages, row, row.number(value)?)).collect()
}

/// Returns the messages of a row that took `seconds`; `None` if a named column has no number.
pub fn transfer(columns: &MessageColumns, row: &Row, seconds: f64) -> Option<TimedTransfer> {
    let number = |name: &Option<String>, without| name.as_ref().map_or(Some(without), |name| row.number(name));
    let time = |name: &Option<String>| name.as_ref().map_or(Some(0.0), |name| row.number(&in_seconds(name)));
    Some(TimedTransfer {
        bytes: row.number(columns.bytes())?,
        messages: number(&columns.messages, 1.0)?,
        delay_s: time(&columns.delay)?,
        late_s: time(&columns.late)?,
        seconds,
        overhead_s: columns.overhead.as_ref().and_then(|name| row.number(&in_seconds(name))),
    })
}
