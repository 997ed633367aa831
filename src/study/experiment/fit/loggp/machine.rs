//! A fitted LogGOPS machine as RON.

use crate::model::fit::{EagerLimit, LogGp};
use std::fmt::Write;

/// The largest message of the machine's network; with this limit, no send waits for its receive.
const NO_LIMIT: u32 = u32::MAX;

/// The fraction of a message's time within which a negative constant counts as zero.
const NOISE: f64 = 1e-3;

/// A constant as text, with a remark if the data do not determine it.
struct ConstantText {
    name: &'static str,
    text: String,
    remark: &'static str,
}

/// Returns the LogGOPS machine that behaves as the data. Constants that the data do not determine get values without
/// effect on the fitted times.
///
/// # Errors
/// Returns a message if a constant is negative.
pub fn ron(fit: &LogGp) -> Result<String, String> {
    let mut text = String::from("// Fitted by `parsim fit --model loggp`.\nLogGOPS(\n");
    for ConstantText { name, text: value, remark } in constants(fit)? {
        let remark = if remark.is_empty() { String::new() } else { format!(" // {remark}") };
        writeln!(text, "    {name}: \"{value}\",{remark}").expect("a text can be written to");
    }
    Ok(text + ")\n")
}

/// The tolerances below zero for times and for times per byte.
#[derive(Clone, Copy)]
struct ZeroMeasure {
    time: f64,
    per_byte: f64,
}

fn constants(fit: &LogGp) -> Result<[ConstantText; 6], String> {
    let scale = ZeroMeasure { time: NOISE * fit.end_to_end_s, per_byte: NOISE * fit.per_byte_s };
    let packets = if fit.overhead_up_to_bytes.is_some() { "with the overheads of further packets" } else { "" };
    let overhead = ConstantText { remark: packets, ..scale.per_byte("O", fit.mean_overhead_per_byte_s, 0.0, "")? };
    Ok([
        scale.time("L", fit.latency_s, fit.end_to_end_s, "L + 2 o: the data do not separate them")?,
        scale.time("o", fit.overhead_s, 0.0, "contained in L")?,
        scale.time(
            "g",
            fit.gap_s,
            fit.overhead_s.unwrap_or(0.0),
            "not determined by the data; this value has no effect",
        )?,
        scale.per_byte("G", fit.gap_per_byte_s, fit.per_byte_s, "not determined by the data; at most O")?,
        match fit.mean_overhead_per_byte_s {
            Some(_) => overhead,
            None => ConstantText { remark: "not determined by the data", ..overhead },
        },
        eager(fit.eager),
    ])
}

impl ZeroMeasure {
    fn time(
        self,
        name: &'static str,
        told: Option<f64>,
        otherwise: f64,
        remark: &'static str,
    ) -> Result<ConstantText, String> {
        let text = format!("{} ns", in_nano(name, told.unwrap_or(otherwise), self.time, 3)?);
        Ok(ConstantText { name, text, remark: if told.is_some() { "" } else { remark } })
    }

    fn per_byte(
        self,
        name: &'static str,
        told: Option<f64>,
        otherwise: f64,
        remark: &'static str,
    ) -> Result<ConstantText, String> {
        let text = format!("{} ns/B", in_nano(name, told.unwrap_or(otherwise), self.per_byte, 7)?);
        Ok(ConstantText { name, text, remark: if told.is_some() { "" } else { remark } })
    }
}

/// Formats a number of seconds in nanoseconds, with `decimals` digits after the point.
fn in_nano(name: &str, seconds: f64, noise: f64, decimals: usize) -> Result<String, String> {
    if seconds < -noise {
        return Err(format!(
            "{name} = {seconds:.3e} s is negative: no LogGOPS machine behaves so, but one may whose receivers work after \
             the arrival, whose data wait for a request, or whose destinations lie at different distances"
        ));
    }
    let text = format!("{:.decimals$}", 1e9 * seconds.max(0.0));
    Ok(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// Returns S: the geometric mean of its bounds if there are two.
fn eager(limit: EagerLimit) -> ConstantText {
    let constant = |bytes: f64, remark| ConstantText { name: "S", text: format!("{bytes} B"), remark };
    match (limit.at_least, limit.below) {
        (Some(least), Some(below)) => constant((least * below).sqrt().floor().min(below - 1.0), ""),
        (None, Some(below)) => constant(below - 1.0, "at most"),
        (Some(_), None) => constant(NO_LIMIT.into(), "above all messages of the data"),
        (None, None) => constant(NO_LIMIT.into(), "not determined by the data"),
    }
}
