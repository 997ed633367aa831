//! The fit of `--model loggp`.

use super::transfers::{transfer, transfers};
use super::{FitGroup, FitRequest, Fitted, FittedModel, points, put_quality, quality_words};
use crate::answer::Record;
use crate::model::fit::LogGp;
use crate::report::{digits, half_width};
use crate::scenario::table::Row;

mod machine;

pub fn loggp(arguments: &FitRequest, group: &FitGroup, value: &str, parameters: &[String]) -> Option<Fitted> {
    let fit = LogGp::fit(&transfers(arguments, group, value), arguments.weighting)?;
    let time = |row: &Row| {
        let transfer = transfer(&arguments.messages, row, 0.0).filter(|one| one.late_s <= 0.0);
        (transfer.map(|one| fit.time_with_delay_s(one.bytes, one.messages, one.delay_s)), None)
    };
    let time_in_a_row =
        |row: &Row| (transfer(&arguments.messages, row, 0.0).map(|one| fit.time_s(one.bytes, one.messages)), None);
    let points = match arguments.messages.delay {
        Some(_) => points(group, value, parameters, time),
        None => points(group, value, parameters, time_in_a_row),
    };
    Some(Fitted {
        record: record(&fit),
        words: words(arguments, &fit),
        points,
        ron: machine::ron(&fit),
        machine: None,
        notes: Vec::new(),
        model: Ok(FittedModel::Loggp(fit)),
    })
}

fn words(arguments: &FitRequest, fit: &LogGp) -> String {
    let intervals = &fit.intervals;
    let constants = [
        ("L", fit.latency_s, intervals.latency_s, "s"),
        ("o", fit.overhead_s, intervals.overhead_s, "s"),
        ("O", fit.overhead_per_byte_s, intervals.overhead_per_byte_s, "s/B"),
        ("g", fit.gap_s, intervals.gap_s, "s"),
        ("G", fit.gap_per_byte_s, intervals.gap_per_byte_s, "s/B"),
    ];
    let shown = |value: f64, unit: &str, interval: Option<f64>| {
        let interval = interval.map_or_else(String::new, |half| format!(" ± {}", digits(half_width(value, half))));
        format!("{} {unit}{interval}", digits(value))
    };
    let told = constants.map(|(name, value, interval, unit)| {
        let told = |value| format!(", {name} = {}", shown(value, unit, interval));
        value.map_or_else(|| format!(", {name} not determined"), told)
    });
    format!(
        "LogGP: L + 2 o = {}{}{}\n{}{}\n",
        shown(fit.end_to_end_s, "s", intervals.end_to_end_s),
        told.concat(),
        eager(fit),
        notes(arguments, fit),
        quality_words(&fit.quality)
    )
}

/// Describes the bounds of S.
fn eager(fit: &LogGp) -> String {
    let bytes = |bytes: Option<f64>| bytes.map(digits);
    match (bytes(fit.eager.at_least), bytes(fit.eager.below)) {
        (Some(least), Some(below)) => format!(", S from {least} B to less than {below} B"),
        (Some(least), None) => format!(", S = {least} B or more"),
        (None, Some(below)) => format!(", S less than {below} B"),
        (None, None) => ", S not determined".to_owned(),
    }
}

/// Returns notes on message lengths to which the coefficients do not apply, and on columns that would determine the
/// missing ones.
fn notes(arguments: &FitRequest, fit: &LogGp) -> String {
    let steps = fit.overhead_up_to_bytes.map(|bytes| {
        format!(
            "o is that of messages up to {bytes} B: above, the processors' time grows in steps, as with several packets, \
             each of which pays it\n"
        )
    });
    let shared = fit.shared_overhead_per_byte_s.map(|mean| {
        format!(
            "O is that of the sender, if the receiver works while the bytes arrive, as in LogGOPS; if it does not, O = {} s/B\n",
            digits(mean)
        )
    });
    let columns = &arguments.messages;
    let latency = (fit.overhead_s.is_none() && columns.overhead.is_none()).then_some(
        "times alone do not separate L from o: name the column of the processors' time for a message by --overhead, \
         such as system_s of a swept Ping, or let the sender compute between messages and name that time by --delay\n",
    );
    let gap = (fit.gap_s.is_none() && columns.messages.is_none())
        .then_some("g needs several messages in a row: name the column of their number by --messages\n");
    let hidden = (columns.delay.is_some() && fit.gap_s.is_none()).then_some(
        "no messages in a row wait for their interface: g is at most o, or they are too short for G to count\n",
    );
    let eager = (columns.delay.is_some() && columns.late.is_none())
        .then_some("S needs receivers that are late: name the column of that time by --late\n");
    [steps.as_deref(), shared.as_deref(), latency, gap, hidden, eager].into_iter().flatten().collect()
}

fn record(fit: &LogGp) -> Record {
    let mut record = Record::default();
    record.put("model", "loggp");
    record.put("latency_plus_overheads_s", fit.end_to_end_s);
    record.put("l_s", fit.latency_s);
    record.put("o_s", fit.overhead_s);
    record.put("o_per_byte_s", fit.overhead_per_byte_s);
    record.put("o_up_to_bytes", fit.overhead_up_to_bytes);
    record.put("g_s", fit.gap_s);
    record.put("g_per_byte_s", fit.gap_per_byte_s);
    record.put("eager_at_least_bytes", fit.eager.at_least);
    record.put("eager_below_bytes", fit.eager.below);
    let intervals = &fit.intervals;
    record.put("latency_plus_overheads_s_interval95", intervals.end_to_end_s);
    record.put("l_s_interval95", intervals.latency_s);
    record.put("o_s_interval95", intervals.overhead_s);
    record.put("o_per_byte_s_interval95", intervals.overhead_per_byte_s);
    record.put("g_s_interval95", intervals.gap_s);
    record.put("g_per_byte_s_interval95", intervals.gap_per_byte_s);
    put_quality(&mut record, "", Some(&fit.quality));
    record
}
