//! `--model hockney` and `--model loggp`

use super::{FitGroup, FitRequest, Fitted, beginning, points, put_quality, quality_words};
use crate::answer::Record;
use crate::model::fit::{Hockney, LogGp, TimedTransfer};
use crate::report::digits;
use crate::scenario::table::{Row, in_seconds};

fn transfers(arguments: &FitRequest, group: &FitGroup, value: &str) -> Vec<TimedTransfer> {
    let columns = &arguments.messages;
    let transfer = |row: &Row| {
        Some(TimedTransfer {
            bytes: row.number(&columns.bytes)?,
            messages: columns.messages.as_ref().map_or(Some(1.0), |name| row.number(name))?,
            seconds: row.number(value)?,
            overhead_s: columns.overhead.as_ref().and_then(|name| row.number(&in_seconds(name))),
        })
    };
    group.fitted.iter().filter_map(transfer).collect()
}

pub fn hockney(arguments: &FitRequest, group: &FitGroup, value: &str) -> Option<Fitted> {
    let fit = Hockney::fit(&transfers(arguments, group, value), arguments.weighting)?;
    let bytes = arguments.messages.bytes.clone();
    let mut record = beginning(&group.name);
    record.put("model", "hockney");
    record.put("t_0_s", fit.startup_s);
    record.put("t_0_s_interval95", fit.startup_interval_s);
    record.put("per_byte_s", fit.per_byte_s);
    record.put("per_byte_s_interval95", fit.per_byte_interval_s);
    record.put("r_inf_bytes_per_s", fit.rate_bytes_per_s());
    record.put("n_half_bytes", fit.half_length_bytes());
    put_quality(&mut record, "", Some(&fit.quality));
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    let words = format!(
        "Hockney: t_0 = {} s ± {}, r_inf = {} B/s, n_1/2 = {} B\n{}\n",
        digits(fit.startup_s),
        shown(fit.startup_interval_s),
        shown(fit.rate_bytes_per_s()),
        shown(fit.half_length_bytes()),
        quality_words(&fit.quality)
    );
    let time = |row: &Row| (row.number(&bytes).map(|bytes| fit.startup_s + bytes * fit.per_byte_s), None);
    let is_machine = fit.startup_s >= 0.0 && fit.per_byte_s >= 0.0;
    let machine = || {
        vec![
            (
                "nodes.sending",
                format!(
                    "Sending(per_packet: \"{:.6} us\", per_byte: \"0 us/B\", per_hop: \"0 us\", overlap: false)",
                    1e6 * fit.startup_s
                ),
            ),
            ("nodes.receiving", "Receiving(per_packet: \"0 us\", per_byte: \"0 us/B\")".to_owned()),
            ("nodes.routing", "Routing(per_packet: \"0 us\")".to_owned()),
            ("network.links.per_byte", format!("\"{:.6} us/B\"", 1e6 * fit.per_byte_s)),
        ]
    };
    Some(Fitted {
        words,
        ron: format!("Hockney(t_0_us: {}, per_byte_us: {})", 1e6 * fit.startup_s, 1e6 * fit.per_byte_s),
        machine: is_machine.then(machine),
        points: points(group, value, std::slice::from_ref(&bytes), time),
        record,
    })
}

pub fn loggp(arguments: &FitRequest, group: &FitGroup, value: &str) -> Option<Fitted> {
    let fit = LogGp::fit(&transfers(arguments, group, value), arguments.weighting)?;
    let columns = &arguments.messages;
    let parameters = [
        ("latency_plus_overheads_s", Some(fit.end_to_end_s)),
        ("l_s", fit.latency_s),
        ("o_s", fit.overhead_s),
        ("o_per_byte_s", fit.overhead_per_byte_s),
        ("o_up_to_bytes", fit.overhead_up_to_bytes),
        ("g_s", fit.gap_s),
        ("g_per_byte_s", Some(fit.gap_per_byte_s)),
    ];
    let words = format!(
        "LogGP: L + 2 o = {} s, G = {} s/B{}\n{}{}\n",
        digits(fit.end_to_end_s),
        digits(fit.gap_per_byte_s),
        [("L", fit.latency_s), ("o", fit.overhead_s), ("g", fit.gap_s)]
            .map(|(name, value)| value
                .map_or_else(|| format!(", {name} not determined"), |value| format!(", {name} = {} s", digits(value))))
            .concat(),
        loggp_notes(arguments, &fit),
        quality_words(&fit.quality)
    );
    let time = |row: &Row| {
        let messages = columns.messages.as_ref().map_or(Some(1.0), |name| row.number(name));
        let time = row.number(&columns.bytes).zip(messages).map(|(bytes, messages)| fit.time_s(bytes, messages));
        (time, None)
    };
    let names: Vec<_> = [Some(&columns.bytes), columns.messages.as_ref()].into_iter().flatten().cloned().collect();
    let points = points(group, value, &names, time);
    Some(Fitted { record: record(group, &fit, &parameters), words, points, ron: ron(&parameters), machine: None })
}

/// Notes on lengths for which the coefficients do not hold, and on columns that would give the others.
fn loggp_notes(arguments: &FitRequest, fit: &LogGp) -> String {
    let steps = fit.overhead_up_to_bytes.map(|bytes| {
        format!(
            "o is that of messages up to {bytes} B: above, the processors' time grows in steps, as with several packets, \
             each of which pays it\n"
        )
    });
    let columns = &arguments.messages;
    let latency = (fit.overhead_s.is_none() && columns.overhead.is_none()).then_some(
        "times alone do not tell L and o apart: name the column of the processors' time for a message by --overhead, \
         such as system_s of a swept Ping\n",
    );
    let gap = (fit.gap_s.is_none() && columns.messages.is_none())
        .then_some("g needs several messages in a row: name the column of their number by --messages\n");
    [steps.as_deref(), latency, gap].into_iter().flatten().collect()
}

fn record(group: &FitGroup, fit: &LogGp, parameters: &[(&str, Option<f64>)]) -> Record {
    let mut record = beginning(&group.name);
    record.put("model", "loggp");
    for (name, value) in parameters {
        record.put(name, *value);
    }
    record.put("latency_plus_overheads_s_interval95", fit.intervals.map(|intervals| intervals[0]));
    record.put("g_per_byte_s_interval95", fit.intervals.map(|intervals| intervals[1]));
    put_quality(&mut record, "", Some(&fit.quality));
    record
}

fn ron(parameters: &[(&str, Option<f64>)]) -> String {
    let field = |(name, value): &(&str, Option<f64>)| match value {
        Some(value) => format!("    {name}: Some({value:e}),\n"),
        None => format!("    {name}: None,\n"),
    };
    format!("LogGP(\n{})", parameters.iter().map(field).collect::<String>())
}
