//! The fit of `--model point-to-point`.

use super::exchange::links;
use super::{FitGroup, FitRequest, Fitted, FittedModel, points, put_quality, quality_words};
use crate::answer::Record;
use crate::model::fit::{FittedRegime, TwoRegimes};
use crate::model::point_to_point::TimedMessage;
use crate::report::TextTable;
use crate::scenario::table::Row;
use std::fmt::Write;

/// The keys of the coefficients, and their titles in text tables, with units in microseconds.
const COEFFICIENTS: [(&str, &str); 4] = [
    ("alpha_s", "alpha, us"),
    ("beta_s_per_byte", "beta, us/B"),
    ("gamma_s_per_hop", "gamma, us/hop"),
    ("delta_s_per_byte_hop", "delta, us/(B hop)"),
];
const MICRO: f64 = 1e6;

pub fn fit(arguments: &FitRequest, group: &FitGroup, value: &str) -> Option<Fitted> {
    let columns = &arguments.messages;
    let measurement = |row: &Row| {
        let (bytes, hops) = (row.number(columns.bytes())?, row.number(columns.hops())?);
        Some(TimedMessage { bytes, hops, seconds: row.number(value)? })
    };
    let measurements: Vec<_> = group.fitted.iter().filter_map(measurement).collect();
    let model = TwoRegimes::fit(&measurements, columns.break_bytes, arguments.weighting)?;
    let time = |row: &Row| {
        let point = measurement(row);
        (point.and_then(|point| model.time_s(point.bytes, point.hops)), None)
    };
    let parameters = [columns.bytes().to_owned(), columns.hops().to_owned()];
    Some(Fitted {
        record: record(&model),
        words: text(&model),
        points: points(group, value, &parameters, time),
        ron: Ok(ron(&model)),
        machine: machine(&model),
        notes: Vec::new(),
        model: Ok(FittedModel::PointToPoint(model)),
    })
}

fn coefficients(regime: &FittedRegime) -> [f64; 4] {
    let regime = &regime.regime;
    [regime.alpha_s, regime.beta_s_per_byte, regime.gamma_s_per_hop, regime.delta_s_per_byte_hop]
}

fn regimes(model: &TwoRegimes) -> [(&'static str, Option<&FittedRegime>); 2] {
    [("short", model.short.as_ref()), ("long", model.long.as_ref())]
}

fn break_bytes(model: &TwoRegimes) -> Option<f64> {
    model.break_bytes.is_finite().then_some(model.break_bytes)
}

fn record(model: &TwoRegimes) -> Record {
    let mut record = Record::default();
    record.put("model", "point-to-point");
    record.put("break_bytes", break_bytes(model));
    for (name, regime) in regimes(model) {
        for (index, (key, _)) in COEFFICIENTS.iter().enumerate() {
            let interval = regime.and_then(|regime| regime.intervals).map(|intervals| intervals[index]);
            record.put(format!("{name}_{key}"), regime.map(|regime| coefficients(regime)[index]));
            record.put(format!("{name}_{key}_interval95"), interval);
        }
        put_quality(&mut record, &format!("{name}_"), regime.map(|regime| &regime.quality));
    }
    record
}

fn text(model: &TwoRegimes) -> String {
    let mut table = TextTable::new(["coefficient", "short", "±", "long", "±"]);
    for (index, (_, title)) in COEFFICIENTS.iter().enumerate() {
        let mut cells = vec![(*title).to_owned()];
        for (_, regime) in regimes(model) {
            let interval = regime.and_then(|regime| regime.intervals).map(|intervals| intervals[index]);
            let shown = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{:.4}", MICRO * value));
            cells.extend([shown(regime.map(|regime| coefficients(regime)[index])), shown(interval)]);
        }
        table.row(cells);
    }
    let until = break_bytes(model).map_or_else(String::new, |bytes| format!("break at {bytes} B\n"));
    let mut text = format!("equation (4) of CS-RR-281\n{until}{table}");
    for (name, regime) in regimes(model) {
        if let Some(regime) = regime {
            writeln!(text, "{name}: {}", quality_words(&regime.quality)).expect("a text can be written to");
        }
    }
    text
}

fn ron(model: &TwoRegimes) -> String {
    let regime = |regime: Option<&FittedRegime>| {
        regime.map_or_else(
            || "None".to_owned(),
            |regime| {
                let [alpha, beta, gamma, delta] = coefficients(regime).map(|value| MICRO * value);
                format!("Some((alpha_us: {alpha}, beta_us_per_byte: {beta}, gamma_us_per_hop: {gamma}, delta_us_per_byte_hop: {delta}))")
            },
        )
    };
    let until = break_bytes(model).map_or_else(|| "None".to_owned(), |bytes| format!("Some({bytes})"));
    let [(_, short), (_, long)] = regimes(model);
    format!("PointToPoint(\n    break_bytes: {until},\n    short: {},\n    long: {},\n)", regime(short), regime(long))
}

/// Returns the machine whose messages of one packet take the times of the short regime. All software costs are at the
/// source, because times of single messages do not reveal where they arise. Returns `None` for negative coefficients.
fn machine(model: &TwoRegimes) -> Option<Vec<(&'static str, String)>> {
    let values = coefficients(model.short.as_ref()?);
    // A fitted constant of 0 may differ from 0 by less than a picosecond.
    let [alpha, beta, gamma, delta] = values.map(|value| if value.abs() < 1e-13 { 0.0 } else { MICRO * value });
    if [alpha, beta, gamma, delta].iter().any(|value| *value < 0.0) {
        return None;
    }
    let mut changes = vec![
        ("nodes.sending.per_packet", format!("\"{alpha:.6} us\"")),
        ("nodes.sending.per_byte", format!("\"{beta:.6} us/B\"")),
        ("nodes.sending.per_hop", format!("\"{gamma:.6} us\"")),
        ("nodes.receiving", "Receiving(per_packet: \"0 us\", per_byte: \"0 us/B\")".to_owned()),
        ("nodes.routing", "Routing(per_packet: \"0 us\")".to_owned()),
    ];
    changes.extend(links(delta));
    let packet = break_bytes(model).map(|bytes| format!("StoreAndForward(packet: \"{bytes} B\")"));
    changes.extend(packet.map(|packet| ("network.switching", packet)));
    Some(changes)
}
