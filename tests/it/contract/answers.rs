//! The rows that each command prints: their number and keys, the same in every form.

use super::{Row, formatted, rows};
use crate::documentation::{Desk, Page, quoted};
use serde_json::Value;
use std::collections::BTreeSet;

/// A call that prints rows.
pub struct Answer {
    pub arguments: &'static [&'static str],
    /// The number of rows; none for a single answer, which JSON prints as an object and not in an array.
    rows: Option<usize>,
    /// Keys of every row of a kind, the kind being what `record` says.
    keys: &'static [(&'static str, &'static [&'static str])],
    has_meta: bool,
}

const TIMES: &[&str] = &[
    "makespan_s",
    "computing_s",
    "input_output_s",
    "sending_s",
    "blocked_s",
    "system_s",
    "idle_s",
    "loading_s",
    "ready_s",
    "busiest_rank",
    "busiest_rank_utilization",
    "busiest_link",
    "busiest_link_utilization",
    "messages",
    "packet_hops",
    "events",
];

const META: &[&str] = &["id", "results", "schema", "parsim", "seed", "generator", "set"];

const fn one(arguments: &'static [&'static str], keys: &'static [(&'static str, &'static [&'static str])]) -> Answer {
    Answer { arguments, rows: None, keys, has_meta: true }
}

const fn many(
    arguments: &'static [&'static str],
    rows: usize,
    keys: &'static [(&'static str, &'static [&'static str])],
) -> Answer {
    Answer { arguments, rows: Some(rows), keys, has_meta: true }
}

impl Answer {
    const fn without_meta(self) -> Self {
        Self { has_meta: false, ..self }
    }
}

pub const ANSWERS: &[Answer] = &[
    many(
        &["tune", "scenarios/collective-algorithms.ron", "--over", "algorithm=Ring,Bine", "--set", "program.bytes=8 B"],
        2,
        &[("", &["algorithm", "bytes", "makespan_s", "low90_s", "high90_s", "chosen", "runs"])],
    ),
    many(
        // On a loaded machine it takes more than a minute, and then reports its progress.
        &["identify", "validation/cs-rr-281/constants.ron", "--runs", "30", "-q"],
        9,
        &[
            ("choice", &["record", "train_error", "held_out_error", "difference", "low95", "high95", "constants"]),
            ("choice", &["verdict", "converged", "failure"]),
            ("mechanism", &["record", "name", "value", "held_out_error", "verdict"]),
            ("candidate", &["record", "table", "spread"]),
            ("summary", &["record", "groups", "folds", "evaluations", "converged"]),
        ],
    )
    .without_meta(),
    one(&["run", "scenarios/ring-shift.ron", "--set", "ranks=4"], &[("", &["p", "shift_s"]), ("", TIMES)]),
    one(
        &["run", "scenarios/ring-shift.ron", "--set", "ranks=4", "--set", "repeat=3"],
        &[("", &["makespan_mean_s", "makespan_deviation_s", "makespan_interval95_s"]), ("", TIMES)],
    ),
    one(
        &["run", "scenarios/traffic-64.ron", "--set", "program.measured=\"20 us\""],
        &[
            ("", &["topology", "pattern", "offered_flits_per_node_cycle", "latency_mean_s", "latency_p99_s"]),
            ("", &["injected_flits_per_node_cycle", "accepted_flits_per_node_cycle", "injected_packets"]),
            ("", TIMES),
        ],
    ),
    many(
        &["sweep", "scenarios/gauss-jordan-neighbour.ron", "--over", "n=16,32", "--over", "p=1,4"],
        4,
        &[
            ("", &["n", "p", "measured_s", "simulated_error", "predicted_as_written_s", "predicted_as_printed_s"]),
            ("", &["initialisation_s", "input_s", "distribution_s", "broadcast_s", "reduction_s", "output_s"]),
            ("", TIMES),
        ],
    ),
    many(
        &["plan", "scenarios/ring-shift.ron", "--shard", "2/2"],
        2,
        &[("", &["p", "state", "shard", "estimated_events", "estimated_memory_bytes", "estimated_cpu_s"])],
    ),
    many(
        &[
            "saturation",
            "scenarios/traffic-64.ron",
            "--over",
            "topology=mesh2d",
            "--over",
            "pattern=Uniform",
            "--resolution",
            "0.2",
            "--set",
            "program.measured=\"20 us\"",
        ],
        1,
        &[
            ("", &["topology", "pattern", "saturation_flits_per_node_cycle", "sign"]),
            ("", &["accepted_flits_per_node_cycle", "latency_mean_s", "zero_load_latency_s"]),
        ],
    ),
    many(
        &["bottleneck", "scenarios/gauss-jordan-neighbour.ron", "--over", "n=16", "--over", "p=1,4"],
        2,
        &[
            ("", &["n", "p", "source", "total_s", "processing_s", "memory_s", "computation_s", "communication_s"]),
            ("", &["input_output_s", "serial_s", "parallel_overhead_s", "unattributed_s", "measured_s"]),
            ("", &["computation_b_ratio", "communication_b_ratio", "communication_to_computation"]),
            ("", &["bottleneck", "bottleneck_share", "sub_component", "bottleneck_rank", "bottleneck_changes_at"]),
        ],
    ),
    one(
        &["critical-path", "scenarios/ring-shift.ron", "--set", "ranks=4", "--accounts"],
        &[
            ("", &["trace", "processes", "makespan_s", "critical_path_s", "critical_path_spans", "events"]),
            ("", &["events_without_slack", "busy_s", "messages_s", "average_parallelism", "mean_active"]),
            ("", &["path_by_kind_s", "path_by_phase_s", "path_by_process_s", "path_by_link_s"]),
            ("", &["degree_of_parallelism", "rank_computation_s", "rank_communication_s", "rank_idle_s"]),
        ],
    ),
    one(
        &[
            "compare",
            "scenarios/gauss-jordan-naive.ron",
            "scenarios/gauss-jordan-neighbour.ron",
            "--set",
            "ranks=4",
            "--set",
            "program.n=8",
        ],
        &[
            ("", &["a", "b", "a_makespan_s", "b_makespan_s", "difference_makespan_s", "difference_speedup"]),
            ("", &["difference_efficiency", "difference_critical_path_s", "difference_average_parallelism"]),
            ("", &["a_mean_computation_s", "b_mean_communication_s", "difference_mean_idle_s"]),
        ],
    )
    .without_meta(),
    one(
        &["optimum", "scenarios/cluster-hpl.ron", "--set", "program.n=2000", "--most-nodes", "4"],
        &[
            ("", &["machine", "model_q", "model_p", "model_speedup", "model_efficiency", "model_points"]),
            ("", &["simulated_q", "simulated_p", "simulated_speedup", "simulated_efficiency", "simulated_points"]),
            ("", &["closed_form_q", "closed_form_p", "closed_form_p_as_printed", "simplified_efficiency"]),
        ],
    ),
    many(
        &[
            "validate",
            "--scenario",
            "scenarios/gauss-jordan-neighbour.ron",
            "--data",
            "validation/cs-rr-281/table4-neighbour.csv",
            "--models",
            "predicted_s",
            "--calibration",
            "p=1",
        ],
        26,
        &[
            ("cell", &["record", "table", "n", "p", "calibrates", "reference_s", "makespan_s", "makespan_error"]),
            ("cell", &["predicted_s", "predicted_error"]),
            ("summary", &["record", "table", "prediction", "calibrated", "cells", "mean_absolute_error"]),
            ("summary", &["max_absolute_error", "mean_error", "root_mean_square_error_s", "within_tolerance"]),
        ],
    )
    .without_meta(),
    many(
        &["laws", "speedup", "--serial-s", "1", "--parallel-s", "20", "--p", "4,8"],
        2,
        &[
            ("", &["p", "time_s", "speedup", "efficiency", "scaled_speedup", "amdahl", "gustafson_barsis"]),
            ("", &["karp_flatt", "total_overhead_s"]),
        ],
    )
    .without_meta(),
    many(
        &["laws", "amdahl", "--serial-fraction", "0.1", "--p", "4,8"],
        2,
        &[("", &["p", "serial_fraction", "speedup", "efficiency", "limit"])],
    )
    .without_meta(),
    many(
        &["laws", "gustafson", "--serial-share", "0.1", "--p", "4"],
        1,
        &[("", &["p", "serial_share", "scaled_speedup", "efficiency", "serial_fraction_of_scaled_work"])],
    )
    .without_meta(),
    many(
        &["laws", "karp-flatt", "--p", "2,4", "--speedup", "1.8,3"],
        2,
        &[("", &["p", "speedup", "efficiency", "karp_flatt"])],
    )
    .without_meta(),
    many(
        &["laws", "knee", "--parallel-s", "20", "--communication", "log", "--communication-s", "0.1"],
        1,
        &[("", &["scale", "parallel_s", "knee_p", "speedup", "efficiency"])],
    )
    .without_meta(),
    many(
        &["laws", "isoefficiency", "--algorithm", "floyd", "--efficiency", "0.75", "--p", "4", "--memory", "1e6"],
        1,
        &[("", &["p", "constant", "n", "numbers_per_processor", "fits"])],
    )
    .without_meta(),
    many(
        &["laws", "held-efficiency", "scenarios/floyd.ron", "--efficiency", "0.5", "--p", "2,4"],
        2,
        &[("", &["p", "n", "closed_form_n", "makespan_s", "efficiency", "needed_memory_bytes", "fits"])],
    )
    .without_meta(),
    many(
        &["laws", "fixed-time", "scenarios/floyd.ron", "--time-s", "0.1", "--p", "2,4"],
        2,
        &[("", &["p", "n", "makespan_s", "needed_memory_bytes", "node_memory_bytes", "fits"])],
    )
    .without_meta(),
    many(
        &["laws", "--data", "ranks.jsonl"],
        3,
        &[("", &["p", "makespan_s", "speedup", "efficiency", "karp_flatt", "base", "base_s"])],
    )
    .without_meta(),
    many(
        &["fit", "pings.jsonl", "--model", "hockney", "--value", "message_s"],
        2,
        &[
            ("", &["hops", "model", "t_0_s", "t_0_s_interval95", "per_byte_s", "r_inf_bytes_per_s", "n_half_bytes"]),
            ("", &["points", "smape", "root_mean_square_s", "r_squared_adjusted", "leave_one_out"]),
        ],
    )
    .without_meta(),
    many(
        &["fit", "pings.jsonl", "--model", "loggp", "--value", "message_s", "--overhead", "system_s"],
        2,
        &[("", &["hops", "model", "latency_plus_overheads_s", "l_s", "o_s", "g_s", "g_per_byte_s", "points"])],
    )
    .without_meta(),
    many(
        &["fit", "pings.jsonl", "--model", "point-to-point", "--value", "message_s"],
        1,
        &[("", &["model", "break_bytes", "short_alpha_s", "short_points", "long_delta_s_per_byte_hop"])],
    )
    .without_meta(),
    many(
        &["fit", "pings.jsonl", "--model", "normal-form", "--value", "message_s", "--parameters", "bytes"],
        2,
        &[("", &["hops", "model", "form", "constant", "constant_interval95", "points", "smape"])],
    )
    .without_meta(),
    many(
        &["fit", "pings.jsonl", "--model", "hockney", "--value", "message_s", "--points"],
        10,
        &[("", &["hops", "bytes", "message_s", "model_s", "model_interval95_s", "error", "fitted"])],
    )
    .without_meta(),
    one(
        &["export", "scenarios/loggops-collectives.ron", "--goal", "broadcast.goal"],
        &[("", &["ranks", "statements", "makespan_s"])],
    ),
    one(
        &["export", "scenarios/loggops-collectives.ron", "--time-independent", "traces"],
        &[("", &["ranks", "statements", "makespan_s"])],
    ),
    many(
        &["explain", "scenarios/ping.ron"],
        7,
        &[
            ("", &["from", "to", "bytes", "hops", "packets", "sent_s"]),
            ("", &["item", "constant", "value", "source", "count", "time_ps"]),
        ],
    ),
    one(
        &["topology", "ring", "--nodes", "8"],
        &[
            ("", &["topology", "nodes", "switches", "links", "degree", "diameter", "average_distance"]),
            ("", &["arc_connectivity", "node_connectivity", "bisection_width", "channel_load_uniform"]),
        ],
    ),
];

/// A folder with the data that some of the calls read.
pub fn desk() -> Desk {
    let desk = Desk::new();
    let sweep = |file: &str, arguments: &[&str]| desk.write(file, &formatted(&desk, arguments, "jsonl"));
    let pings = ["sweep", "scenarios/ping.ron", "--over", "bytes=100,200,400,2000,4000", "--over", "hops=1,2"];
    sweep("pings.jsonl", &pings);
    sweep("ranks.jsonl", &["sweep", "scenarios/gauss-jordan-neighbour.ron", "--over", "n=32", "--over", "p=1,2,4"]);
    desk
}

#[test]
fn every_answer_has_its_rows_and_keys_in_every_form() {
    let desk = desk();
    let lacking: Vec<_> = ANSWERS.iter().filter_map(|answer| fault(answer, &desk).err()).collect();
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

fn fault(answer: &Answer, desk: &Desk) -> Result<(), String> {
    let call = answer.arguments.join(" ");
    let rows = rows(desk, answer.arguments);
    let expected = answer.rows.unwrap_or(1);
    if rows.len() != expected {
        return Err(format!("{call}: {} rows, not {expected}", rows.len()));
    }
    lacking_keys(answer, &rows).map_err(|keys| format!("{call}: {keys:?} are gone"))?;
    let json: Value = serde_json::from_str(&formatted(desk, answer.arguments, "json")).expect("the output is JSON");
    let objects = rows.iter().cloned().map(Value::Object).collect::<Vec<_>>();
    let same = if answer.rows.is_some() { Value::Array(objects) } else { objects[0].clone() };
    if json != same {
        return Err(format!("{call}: JSON and JSON Lines differ"));
    }
    is_the_same_table(&formatted(desk, answer.arguments, "csv"), &rows).map_err(|cell| format!("{call}: {cell}"))?;
    let text = formatted(desk, answer.arguments, "text");
    let is_words = !text.is_empty() && !text.starts_with(['{', '[']) && !text.contains('\u{1b}');
    is_words.then_some(()).ok_or_else(|| format!("{call}: the text is no text"))
}

fn lacking_keys(answer: &Answer, rows: &[Row]) -> Result<(), Vec<String>> {
    let mut lacking = BTreeSet::new();
    for row in rows {
        let record = row.get("record").and_then(Value::as_str).unwrap_or_default();
        let keys =
            answer.keys.iter().filter(|(kind, _)| *kind == record || kind.is_empty()).flat_map(|(_, keys)| *keys);
        lacking.extend(keys.filter(|key| !row.contains_key(**key)).map(|key| (*key).to_owned()));
        if answer.has_meta {
            let gone = META.iter().filter(|key| row.get("meta").and_then(|meta| meta.get(**key)).is_none());
            lacking.extend(gone.map(|key| format!("meta.{key}")));
        }
    }
    if lacking.is_empty() { Ok(()) } else { Err(lacking.into_iter().collect()) }
}

/// Holds that a table has every value of the rows, where they have one; objects are spread over columns.
fn is_the_same_table(csv: &str, rows: &[Row]) -> Result<(), String> {
    let mut table = csv::Reader::from_reader(csv.as_bytes());
    let header = table.headers().map_err(|error| error.to_string())?.clone();
    let records: Vec<_> = table.records().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    if records.len() != rows.len() {
        return Err(format!("CSV has {} rows, not {}", records.len(), rows.len()));
    }
    for (record, row) in records.iter().zip(rows) {
        for (key, value) in flat(row) {
            let column = header.iter().position(|name| name == key).ok_or_else(|| format!("CSV has no {key}"))?;
            if read(&record[column], &value) != value {
                return Err(format!("CSV has {} for {key}, not {value}", &record[column]));
            }
        }
    }
    Ok(())
}

fn flat(row: &Row) -> Vec<(String, Value)> {
    let spread = |(key, value): (&String, &Value)| match value {
        Value::Object(inner) => flat(inner).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)).collect(),
        value => vec![(key.clone(), value.clone())],
    };
    row.iter().flat_map(spread).collect()
}

/// A cell, read as what stands there in JSON.
fn read(cell: &str, as_in: &Value) -> Value {
    match as_in {
        _ if cell.is_empty() => Value::Null,
        Value::String(_) => Value::String(cell.to_owned()),
        _ => serde_json::from_str(cell).unwrap_or_else(|_| Value::String(cell.to_owned())),
    }
}

#[test]
fn sensitivity_has_a_row_for_each_parameter_and_each_answer() {
    let rows = rows(&desk(), &["sensitivity", "scenarios/ping.ron"]);
    let records: BTreeSet<_> = rows.iter().map(|row| row["record"].as_str().expect("a record has a name")).collect();
    assert!(records.contains("parameter"), "{records:?}");
    let keys = ["record", "name", "group", "value", "elasticity", "faster", "note"];
    let of_constants = ["elasticity_left", "elasticity_right", "tie", "method", "derivative_s", "unit"];
    let reach = ["linear_down", "linear_up", "tolerance_1", "tolerance_2", "tolerance_5"];
    for key in keys.iter().chain(&of_constants).chain(&reach) {
        assert!(rows.iter().all(|row| row.contains_key(*key)), "{key}");
    }
    let methods: BTreeSet<_> = rows.iter().filter_map(|row| row["method"].as_str()).collect();
    assert!(methods.iter().all(|method| ["path", "rerun"].contains(method)) && methods.contains("path"), "{methods:?}");
}

/// The suffix that a key ends in, by the unit that `docs/columns.md` gives it.
const SUFFIXES: &[(&str, &str)] = &[
    ("s", "_s"),
    ("ps", "_ps"),
    ("ns", "_ns"),
    ("B", "bytes"),
    ("B/s", "_bytes_per_s"),
    ("cycles", "_cycles"),
    ("flop/s", "_per_s"),
];

#[test]
fn keys_with_a_dimension_end_in_its_unit() {
    let page = Page::read("docs/columns.md");
    let mut seen = 0;
    for section in page.sections() {
        for cells in page.rows(section).iter().filter(|cells| cells.len() == 3) {
            let Some((_, suffix)) = SUFFIXES.iter().find(|(unit, _)| *unit == cells[1]) else { continue };
            for key in quoted(&cells[0]) {
                let bare = key.strip_suffix("_interval95").unwrap_or(&key);
                assert!(bare.ends_with(suffix) || bare.ends_with('…'), "{section}: `{key}` is in {}", cells[1]);
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen} keys have a dimension");
}
