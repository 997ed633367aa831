//! The fit of `--model hockney`.

use super::exchange::links;
use super::transfers::transfers;
use super::{FitGroup, FitRequest, Fitted, FittedModel, points, put_quality, quality_words};
use crate::answer::Record;
use crate::model::fit::Hockney;
use crate::report::{digits, half_width};
use crate::scenario::table::Row;

pub fn hockney(arguments: &FitRequest, group: &FitGroup, value: &str) -> Option<Fitted> {
    let fit = Hockney::fit(&transfers(arguments, group, value), arguments.weighting)?;
    let bytes = arguments.messages.bytes().to_owned();
    let mut record = Record::default();
    record.put("model", "hockney");
    record.put("t_0_s", fit.startup_s);
    record.put("t_0_s_interval95", fit.startup_interval_s);
    record.put("per_byte_s", fit.per_byte_s);
    record.put("per_byte_s_interval95", fit.per_byte_interval_s);
    record.put("r_inf_bytes_per_s", fit.rate_bytes_per_s());
    record.put("n_half_bytes", fit.half_length_bytes());
    put_quality(&mut record, "", Some(&fit.quality));
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    let falls = if fit.per_byte_s > 0.0 { "" } else { "Times do not grow with the length: there is no rate.\n" };
    let words = format!(
        "Hockney: t_0 = {} s ± {}, r_inf = {} B/s, n_1/2 = {} B\n{falls}{}\n",
        digits(fit.startup_s),
        shown(fit.startup_interval_s.map(|half| half_width(fit.startup_s, half))),
        shown(fit.rate_bytes_per_s()),
        shown(fit.half_length_bytes()),
        quality_words(&fit.quality)
    );
    let time = |row: &Row| (row.number(&bytes).map(|bytes| fit.startup_s + bytes * fit.per_byte_s), None);
    let is_machine = fit.startup_s >= 0.0 && fit.per_byte_s >= 0.0;
    Some(Fitted {
        words,
        ron: Ok(format!("Hockney(t_0_us: {}, per_byte_us: {})", 1e6 * fit.startup_s, 1e6 * fit.per_byte_s)),
        machine: is_machine.then(|| machine(1e6 * fit.startup_s, 1e6 * fit.per_byte_s)),
        points: points(group, value, std::slice::from_ref(&bytes), time),
        record,
        notes: Vec::new(),
        model: Ok(FittedModel::Hockney(fit)),
    })
}

/// Returns the fields of a machine whose messages have this start-up time and time per byte, in microseconds. A message
/// is one packet, whose length is paid once, however many links it crosses.
fn machine(startup_us: f64, per_byte_us: f64) -> Vec<(&'static str, String)> {
    let sending =
        format!("Sending(per_packet: \"{startup_us:.6} us\", per_byte: \"0 us/B\", per_hop: \"0 us\", overlap: false)");
    let mut changes = vec![
        ("nodes.sending", sending),
        ("nodes.receiving", "Receiving(per_packet: \"0 us\", per_byte: \"0 us/B\")".to_owned()),
        ("nodes.routing", "Routing(per_packet: \"0 us\")".to_owned()),
        ("network.switching", "CutThrough(packet: \"1 GiB\", header: \"0 B\")".to_owned()),
    ];
    changes.extend(links(per_byte_us));
    changes
}
