use std::collections::BTreeMap;

use super::super::walk::faults_of;
use super::super::{Document, Faults};
use super::*;
use crate::scenario::Scenario;
use parsim_sim::units::{BitRate, Bytes};
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Link {
    bandwidth: BitRate,
    #[serde(default)]
    latency: u32,
    packet: Option<Bytes>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum Topology {
    Mesh { rows: u32, columns: u32 },
    Torus(Link),
    Ring(u32),
    Line,
    Linear(Bytes, BitRate),
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Machine {
    name: String,
    topology: Topology,
    link: Link,
    #[serde(default)]
    weights: Vec<f64>,
    #[serde(default)]
    pair: (i8, i8),
    #[serde(default)]
    flags: BTreeMap<String, bool>,
    host: Option<Bytes>,
}

fn rate(text: &str) -> BitRate {
    text.parse().unwrap()
}

fn machine(text: &str) -> Result<Machine, Faults> {
    Document::from_text("m.ron", text).unwrap().read()
}

fn with(change: &str) -> String {
    let good = ["name: \"x\"", "topology: Line", "link: (bandwidth: \"1 Mbit/s\")"];
    let field = change.split(':').next().unwrap();
    let kept = good.iter().filter(|line| line.split(':').next() != Some(field));
    let lines: Vec<_> = kept.copied().chain([change]).collect();
    format!("Machine(\n{},\n)", lines.join(",\n"))
}

/// Returns the only fault of a machine with a change: the text at its place, the message and the help.
fn fault(change: &str) -> String {
    let faults = machine(&with(change)).unwrap_err();
    assert_eq!(faults.list.len(), 1, "{faults}");
    let fault = &faults.list[0];
    let help = fault.help.clone().unwrap_or_default();
    format!("{} [{}] {} ({help})", fault.path, faults.sources.text(fault.place.unwrap()), fault.message)
}

#[test]
fn a_sound_file_is_read() {
    let text = r#"(name: "x", topology: Mesh(rows: 2, columns: 0x10), link: Link(bandwidth: "20 Mbit/s", latency: 3, packet: "12 B"),
        weights: [1, 2.5, -3], pair: (1, -2), flags: {"a": true}, host: Some("4 B"))"#;
    let read = machine(text).unwrap();
    assert_eq!(read.topology, Topology::Mesh { rows: 2, columns: 16 });
    assert_eq!(read.link, Link { bandwidth: rate("20 Mbit/s"), latency: 3, packet: Some(Bytes::new(12)) });
    assert_eq!((read.weights, read.pair, read.host), (vec![1.0, 2.5, -3.0], (1, -2), Some(Bytes::new(4))));
    assert!(read.flags["a"]);
}

#[test]
fn variants_with_and_without_payload() {
    let link = Link { bandwidth: rate("1 Mbit/s"), latency: 0, packet: None };
    for (text, value) in [
        ("Ring(3)", Topology::Ring(3)),
        ("Torus(Link(bandwidth: \"1 Mbit/s\", packet: None))", Topology::Torus(link)),
        ("Linear(\"1 B\", \"2 Mbit/s\")", Topology::Linear(Bytes::new(1), rate("2 Mbit/s"))),
    ] {
        assert_eq!(machine(&with(&format!("topology: {text}"))).unwrap().topology, value);
    }
    assert!(machine(&with("topology: Torus(bandwidth: \"1 Mbit/s\")")).is_ok());
}

fn assert_faults<const N: usize>(changes: [(&str, &str); N]) {
    for (change, wanted) in changes {
        assert_eq!(fault(change), wanted);
    }
}

#[test]
fn a_name_that_is_not_known_is_a_fault_at_its_place() {
    assert_faults([
        (
            "link: (bandwith: \"1 Mbit/s\")",
            "link [bandwith] unknown field `bandwith` in `Link` (did you mean `bandwidth`?)",
        ),
        (
            "colour: 3",
            " [colour] unknown field `colour` in `Machine` (known here: `name`, `topology`, `link`, `weights`, `pair`, `flags`, `host`)",
        ),
        (
            "topology: Mehs(rows: 1, columns: 2)",
            "topology [Mehs] unknown variant `Mehs` of `Topology` (did you mean `Mesh`?)",
        ),
        (
            "topology: Dragonfly",
            "topology [Dragonfly] unknown variant `Dragonfly` of `Topology` (known here: `Line`, `Mesh`, `Torus`, `Ring`, `Linear`)",
        ),
        (
            "topology: \"Line\"",
            "topology [\"Line\"] expected one of `Line`, `Mesh`, `Torus`, `Ring`, `Linear`, found the text \"Line\" (names are written without quotes)",
        ),
        (
            "topology: \"Ring(3)\"",
            "topology [\"Ring(3)\"] expected one of `Line`, `Mesh`, `Torus`, `Ring`, `Linear`, found the text \"Ring(3)\" (names are written without quotes)",
        ),
    ]);
}

#[test]
fn a_variant_with_the_wrong_values_is_a_fault_at_its_place() {
    assert_faults([
        ("topology: Mesh", "topology [Mesh] `Mesh` needs its values (write `Mesh(rows: …, columns: …)`)"),
        ("topology: Ring", "topology [Ring] `Ring` needs its values (write `Ring(…)`)"),
        ("topology: Line(3)", "topology [Line] `Line` takes no values (write `Line` alone)"),
        ("topology: Mesh(rows: 1)", "topology [Mesh] field `columns` is missing in `Mesh` (add `columns: …`)"),
        (
            "topology: Mesh(rows: -2, columns: 1)",
            "topology.rows [-2] expected a whole number from 0 to 4294967295, found the number -2 ()",
        ),
        (
            "topology: Ring(99999999999999999999999)",
            "topology [99999999999999999999999] expected a whole number from 0 to 4294967295, found the number 99999999999999999999999 ()",
        ),
        ("topology: Ring(1.5)", "topology [1.5] expected a whole number from 0 to 4294967295, found the number 1.5 ()"),
    ]);
}

#[test]
fn a_value_of_another_kind_is_a_fault_at_its_place() {
    assert_faults([
        ("link: Mesh(rows: 1)", "link [Mesh] expected `Link`, found `Mesh` ()"),
        ("link: 5", "link [5] expected `Link(…)`, found the number 5 ()"),
        (
            "link: (bandwidth: 5)",
            "link.bandwidth [5] expected a rate of bits with its unit, such as \"20 Mbit/s\", found the number 5 ()",
        ),
        ("link: (bandwidth: \"-5 Mbit/s\")", "link.bandwidth [\"-5 Mbit/s\"] `-5 Mbit/s` is negative ()"),
        ("host: Some(\"-3 B\")", "host [\"-3 B\"] `-3 B` is negative ()"),
        ("name: x", "name [x] expected text in quotes, found the name `x` (text is written in quotes)"),
        ("name: Some(\"x\")", "name [Some(\"x\")] expected text in quotes, found `Some(…)` (leave `Some` out)"),
        (
            "weights: [1, \"2\"]",
            "weights.1 [\"2\"] expected a number, found the text \"2\" (numbers are written without quotes)",
        ),
        ("weights: 1", "weights [1] expected a list `[…]`, found the number 1 ()"),
        ("pair: (1, 2, 3)", "pair [(] expected 2 values, found 3 ()"),
        ("pair: (1, 200)", "pair.1 [200] expected a whole number from -128 to 127, found the number 200 ()"),
        ("flags: {\"a\": 1}", "flags.a [1] expected `true` or `false`, found the number 1 ()"),
        ("flags: {1: true}", "flags [1] expected text in quotes, found the number 1 ()"),
    ]);
}

#[test]
fn a_missing_field_stands_at_the_name() {
    let faults = machine("Machine(name: \"x\", topology: Line)").unwrap_err();
    assert_eq!(faults.to_string(), "m.ron:1:1: field `link` is missing in `Machine`");
    let faults = machine("(name: \"x\")").unwrap_err();
    assert_eq!(faults.list.len(), 2, "{faults}");
    let help = faults.list[0].help.as_deref();
    assert_eq!(help, Some("add `topology: …`, one of `Line`, `Mesh`, `Torus`, `Ring`, `Linear`"));
    assert!(machine("Machine()").unwrap_err().list.len() == 3);
}

#[test]
fn all_faults_come_at_once_and_in_order() {
    let text = r#"Machine(
    topology: Mehs(rows: -1, columns: "2"),
    link: Link(bandwidth: "fast", latencey: 1.5, packet: "3"),
    weights: [1, x, 3, ()],
    flags: {"a": maybe},
    colour: 1,
)"#;
    let faults = machine(text).unwrap_err();
    let found: Vec<_> =
        faults.entries().into_iter().map(|entry| (entry.line.unwrap(), entry.column.unwrap())).collect();
    let wanted =
        [(1, 1), (2, 15), (2, 26), (2, 39), (3, 27), (3, 35), (3, 45), (3, 58), (4, 18), (4, 24), (5, 18), (6, 5)];
    assert_eq!(found, wanted, "{faults}");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, try_from = "Plain")]
struct Checked;

#[derive(Deserialize, JsonSchema)]
#[serde(rename = "Checked", deny_unknown_fields)]
struct Plain {
    low: u32,
    high: u32,
}

impl TryFrom<Plain> for Checked {
    type Error = &'static str;
    fn try_from(plain: Plain) -> Result<Self, Self::Error> {
        if plain.low < plain.high { Ok(Self) } else { Err("`low` must be below `high`") }
    }
}

#[test]
fn a_check_of_the_whole_is_made_when_its_parts_are_right() {
    let read = |text| Document::from_text("c", text).unwrap().read::<Checked>().unwrap_err().to_string();
    assert_eq!(read("Checked(low: 2, high: 1)"), "c:1:1: `low` must be below `high`");
    assert_eq!(
        read("Checked(low: 2, high: x)"),
        "c:1:23: expected a whole number from 0 to 4294967295, found the name `x`"
    );
}

#[test]
fn a_thousand_faults_stop_at_fifty() {
    let document = Document::from_text("c", &format!("[{}]", "x, ".repeat(1000))).unwrap();
    let faults = document.read::<Vec<Bytes>>().unwrap_err();
    assert_eq!(faults.list.len(), 51);
    assert_eq!(faults.list[50].message, "there are more faults: correct these first");
}

#[test]
fn a_typed_field_that_is_unknown_points_into_the_command_line() {
    let mut document = Document::from_text("m.ron", &with("name: \"x\"")).unwrap();
    document.set("link.bandwdith", "3 Mbit/s").unwrap();
    let message = document.read::<Machine>().unwrap_err().to_string();
    assert_eq!(message, "--set link.bandwdith=3 Mbit/s:1:6: unknown field `bandwdith` in `Link`");
}

#[test]
fn a_typed_field_that_was_not_there_may_be_in_kebab_case() {
    let text = "Machine(name: \"x\", link: (bandwidth: \"1 Mbit/s\"))";
    let mut document = Document::from_text("m.ron", text).unwrap();
    document.set("topology", "line").unwrap();
    assert_eq!(document.read::<Machine>().unwrap().topology, Topology::Line);
}

#[test]
fn a_part_can_be_read_alone() {
    let document = Document::from_text("m.ron", &with("link: (bandwidth: 5)")).unwrap();
    assert_eq!(document.read_at::<Topology>("topology").unwrap(), Topology::Line);
    let faults = document.read_at::<Link>("link").unwrap_err();
    assert_eq!(faults.list[0].path, "link.bandwidth");
    assert!(document.read_at::<Link>("links").unwrap_err().to_string().contains("there is no `links`"));
}

/// Every value of the shipped scenarios is replaced by values of all kinds. The walk must find a fault exactly if the
/// tree cannot be read.
#[test]
fn the_walk_and_the_types_agree() {
    let mut generator = generator();
    let schema = generator.root_schema_for::<Scenario>();
    let checks = TextChecks::of(&mut generator);
    let types = Types::new(schema.as_value(), &checks);
    let texts = ["()", "true", "-1", "1.5", "\"x\"", "X", "[]", "{}", "None", "Some(1)", "(x: 1)", "X(1, 2)"];
    let others: Vec<_> = texts.iter().map(|text| Document::from_text("x", text).unwrap().root().clone()).collect();
    let mut read = [0, 0];
    for name in ["ising-time-warp", "wormhole-mesh", "cluster-hpl", "pipeline", "kernel-rsub", "traffic-64"] {
        let path = format!("{}/../../scenarios/{name}.ron", env!("CARGO_MANIFEST_DIR"));
        let document = Document::load(path).unwrap();
        for (path, other) in
            document.leaves("").iter().flat_map(|(path, _)| others.iter().map(move |other| (path, other)))
        {
            let mut changed = document.clone();
            changed.set_tree(path, other.clone()).unwrap();
            let reader = ValueReader::new(changed.root(), changed.sources());
            let faults = faults_of(reader, &types);
            let result = Scenario::deserialize(reader);
            read[usize::from(result.is_ok())] += 1;
            match result {
                Ok(_) => assert_eq!(faults, [], "{name} {path} {other:?}"),
                Err(error) => assert!(error.is_custom() || !faults.is_empty(), "{name} {path} {other:?}: {error}"),
            }
        }
    }
    assert!(read[0] > 2000 && read[1] > 100, "{read:?}");
}

/// A variant whose fields all have defaults may be written as its bare name.
#[test]
fn a_bare_name_leaves_all_fields_at_their_defaults() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    enum Way {
        Chain {
            #[serde(default)]
            chains: u32,
        },
        Shape {
            #[serde(default)]
            rows: u32,
            columns: u32,
        },
    }
    let read = |text: &str| Document::from_text("way.ron", text).and_then(|document| document.read::<Way>());
    assert_eq!(read("Chain").unwrap(), read("Chain()").unwrap());
    assert_eq!(read("Chain").unwrap(), Way::Chain { chains: 0 });
    let faults = read("Shape").unwrap_err().to_string();
    assert!(faults.contains("`Shape` needs its values"), "{faults}");
}
