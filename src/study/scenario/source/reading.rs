//! One reading of a tree into a type, run again and again until every fault of the tree has been met.
//!
//! A value that fails is marked, and in the next run a [stand-in](super::stand_in) takes its place,
//! so that what follows is read too.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

use serde::de::DeserializeOwned;

use super::fault::{Fault, MOST_SHOWN};
use super::place::Sources;
use super::read_error::{ReadError, addition};
use super::reader::Reader;
use super::spelling::list;
use super::stand_in::Choices;
use super::tree::Tree;

const MOST_RUNS: usize = 600;
/// Values visited in all runs together: bounds the time a large file full of faults takes.
const MOST_VISITS: usize = 2_000_000;
const FEWEST_RUNS: usize = 8;

/// What can be faulty: a value, by its address, or a field that is missing there.
pub(super) type Spot = (usize, Option<&'static str>);

/// What the runs of one reading know.
pub(super) struct Run<'a> {
    pub sources: &'a Sources,
    root: &'a Tree,
    marks: RefCell<BTreeMap<Spot, Choices>>,
    faults: RefCell<Vec<Fault>>,
    /// Records by the address of their value: every run meets them again.
    recorded: RefCell<HashSet<(usize, Fault)>>,
}

/// Reads a tree as a type, or finds all its faults.
pub(super) fn read<T: DeserializeOwned>(sources: &Sources, tree: &Tree) -> Result<T, Vec<Fault>> {
    let run = Run {
        sources,
        root: tree,
        marks: RefCell::default(),
        faults: RefCell::default(),
        recorded: RefCell::default(),
    };
    let mut last = None;
    for _ in 0..(MOST_VISITS / tree.size()).clamp(FEWEST_RUNS, MOST_RUNS) {
        let result = T::deserialize(Reader::new(tree, &run)).map_err(|error| error.at((tree.address(), None)));
        match result {
            Ok(value) if run.faults.borrow().is_empty() => return Ok(value),
            Ok(_) => break,
            Err(error) => {
                last = Some(error.to_string());
                if !run.go_on_after(error) {
                    break;
                }
            }
        }
    }
    let mut faults = run.faults.into_inner();
    if faults.is_empty() {
        faults.push(Fault::new(&last.unwrap_or_default()).at(tree.opening()));
    }
    Err(faults)
}

impl Run<'_> {
    /// Records a fault of a value, each once, as long as there is room.
    pub fn record(&self, tree: &Tree, fault: Fault) {
        if !self.has_room() || !self.recorded.borrow_mut().insert((tree.address(), fault.clone())) {
            return;
        }
        let fault = match self.root.lineage(tree.address()) {
            Some((_, path)) => fault.on(&path),
            None => fault,
        };
        let mut faults = self.faults.borrow_mut();
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }

    /// The stand-in's choices at a faulty spot; `None` where the spot is sound.
    pub fn choices(&self, spot: Spot) -> Option<Choices> {
        self.marks.borrow().get(&spot).cloned()
    }

    /// Keeps the choices a stand-in has made.
    pub fn keep(&self, spot: Spot, choices: Choices) {
        self.marks.borrow_mut().insert(spot, choices);
    }

    /// Adds to the advice for a missing field what it can be.
    pub fn name_variants(&self, (address, field): Spot, variants: &[&str]) {
        let Some((field, (trail, _))) = field.zip(self.root.lineage(address)) else { return };
        let place = trail.last().map(|tree| tree.opening());
        let advice = addition(field);
        let mut faults = self.faults.borrow_mut();
        let fault = faults.iter_mut().find(|fault| fault.place == place && fault.help.as_deref() == Some(&advice));
        if let (Some(fault), false) = (fault, variants.is_empty()) {
            fault.help = Some(format!("{advice}, one of {}", list(variants.iter().copied())));
        }
    }

    /// The fields that were found missing in the record at that address.
    pub fn missing(&self, address: usize) -> Vec<&'static str> {
        self.marks_at(address).into_iter().flatten().collect()
    }

    /// The mark at an address: the value itself, or fields that are missing there.
    fn marks_at(&self, address: usize) -> Vec<Option<&'static str>> {
        let marks = self.marks.borrow();
        marks
            .range((address, None)..)
            .map(|(spot, _)| *spot)
            .take_while(|spot| spot.0 == address)
            .map(|spot| spot.1)
            .collect()
    }

    /// Marks the spot of an error and records it; false where another run would bring nothing.
    fn go_on_after(&self, error: ReadError) -> bool {
        let spot = error.spot().unwrap_or((self.root.address(), None));
        if self.marks.borrow().contains_key(&spot) {
            return self.next_choice(spot);
        }
        let Some((trail, _)) = self.root.lineage(spot.0) else { return false };
        let Some(&tree) = trail.last() else { return false };
        if let Some(field) = error.absent_field() {
            let fresh = !self.marks.borrow().contains_key(&(spot.0, Some(field)));
            self.record(tree, error.into_fault(tree));
            self.keep((spot.0, Some(field)), Choices::default());
            return fresh && self.has_room();
        }
        if !self.holds_stand_in(tree) {
            self.record(tree, error.into_fault(tree));
        }
        self.keep(spot, Choices::default());
        self.has_room()
    }

    /// True if another fault will be shown.
    pub fn has_room(&self) -> bool {
        self.faults.borrow().len() <= MOST_SHOWN
    }

    /// Turns to the next stand-in of a spot, or gives up on the value around it.
    fn next_choice(&self, spot: Spot) -> bool {
        let advanced = self.marks.borrow_mut().get_mut(&spot).is_some_and(Choices::advance);
        advanced || self.give_up(spot)
    }

    fn give_up(&self, (address, field): Spot) -> bool {
        let parent = match self.root.lineage(address) {
            Some((trail, _)) if field.is_none() => trail.iter().rev().nth(1).map(|tree| tree.address()),
            _ => Some(address),
        };
        let Some(parent) = parent.map(|address| (address, None)) else { return false };
        let marked = self.marks.borrow().contains_key(&parent);
        if marked {
            return self.next_choice(parent);
        }
        self.keep(parent, Choices::default());
        true
    }

    /// Whether something inside a value is made up, so that a fault of the whole may be made up too.
    fn holds_stand_in(&self, tree: &Tree) -> bool {
        !self.marks_at(tree.address()).is_empty()
            || tree.children().into_iter().any(|(_, child)| self.holds_stand_in(child))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, de};

    use super::super::{Document, Faults};

    #[derive(Debug, PartialEq)]
    struct Rate(f64);

    impl<'de> Deserialize<'de> for Rate {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl de::Visitor<'_> for Visitor {
                type Value = Rate;
                fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                    f.write_str("a rate with its unit, such as \"20 Mbit/s\"")
                }
                fn visit_str<E: de::Error>(self, text: &str) -> Result<Rate, E> {
                    let number = text.strip_suffix(" Mbit/s").ok_or_else(|| E::custom("a rate ends in its unit"))?;
                    number.parse().map(Rate).map_err(E::custom)
                }
            }
            deserializer.deserialize_str(Visitor)
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(try_from = "String")]
    struct Size(u64);

    impl TryFrom<String> for Size {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            let number = text.strip_suffix(" B").ok_or("a size ends in B")?;
            number.parse().map(Size).map_err(|_| "a size begins with a number".to_owned())
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Link {
        bandwidth: Rate,
        #[serde(default)]
        latency: u32,
        #[serde(alias = "bulk")]
        packet: Option<Size>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Topology {
        Mesh { rows: u32, columns: u32 },
        Torus(Link),
        Ring(u32),
        Line,
        Linear(Size, Rate),
    }

    #[derive(Debug, PartialEq, Deserialize)]
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
        host: Option<Size>,
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

    /// The one fault of a machine with a change: the text at its place, the message and the help.
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
        assert_eq!(read.link, Link { bandwidth: Rate(20.0), latency: 3, packet: Some(Size(12)) });
        assert_eq!((read.weights, read.pair, read.host), (vec![1.0, 2.5, -3.0], (1, -2), Some(Size(4))));
        assert!(read.flags["a"]);
    }

    #[test]
    fn variants_with_and_without_payload() {
        let link = Link { bandwidth: Rate(1.0), latency: 0, packet: None };
        for (text, value) in [
            ("Ring(3)", Topology::Ring(3)),
            ("Torus(Link(bandwidth: \"1 Mbit/s\", packet: None))", Topology::Torus(link)),
            ("Linear(\"1 B\", \"2 Mbit/s\")", Topology::Linear(Size(1), Rate(2.0))),
        ] {
            assert_eq!(machine(&with(&format!("topology: {text}"))).unwrap().topology, value);
        }
        assert!(machine(&with("topology: Torus(bandwidth: \"1 Mbit/s\")")).is_ok());
    }

    #[test]
    fn each_fault_in_words_and_at_its_place() {
        for (change, wanted) in [
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
                "topology [Dragonfly] unknown variant `Dragonfly` of `Topology` (known here: `Mesh`, `Torus`, `Ring`, `Line`, `Linear`)",
            ),
            (
                "topology: \"Line\"",
                "topology [\"Line\"] expected one of `Mesh`, `Torus`, `Ring`, `Line`, `Linear`, found the text \"Line\" (names stand without quotes)",
            ),
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
            (
                "topology: Ring(1.5)",
                "topology [1.5] expected a whole number from 0 to 4294967295, found the number 1.5 ()",
            ),
            ("link: Mesh(rows: 1)", "link [Mesh] expected `Link`, found `Mesh` ()"),
            ("link: 5", "link [5] expected `Link(…)`, found the number 5 ()"),
            (
                "link: (bandwidth: 5)",
                "link.bandwidth [5] expected a rate with its unit, such as \"20 Mbit/s\", found the number 5 ()",
            ),
            ("link: (bandwidth: \"5\")", "link.bandwidth [\"5\"] a rate ends in its unit ()"),
            ("host: \"é\"", "host [\"é\"] a size ends in B ()"),
            ("host: Some(\"3\")", "host [\"3\"] a size ends in B ()"),
            ("name: x", "name [x] expected text in quotes, found the name `x` (text stands in quotes)"),
            ("name: Some(\"x\")", "name [Some(\"x\")] expected text in quotes, found `Some(…)` (leave `Some` out)"),
            (
                "weights: [1, \"2\"]",
                "weights.1 [\"2\"] expected a number, found the text \"2\" (numbers stand without quotes)",
            ),
            ("weights: 1", "weights [1] expected a list `[…]`, found the number 1 ()"),
            ("pair: (1, 2, 3)", "pair [(] expected 2 values, found 3 ()"),
            ("pair: (1, 200)", "pair.1 [200] expected a whole number from -128 to 127, found the number 200 ()"),
            ("flags: {\"a\": 1}", "flags.a [1] expected `true` or `false`, found the number 1 ()"),
            ("flags: {1: true}", "flags [1] expected text in quotes, found the number 1 ()"),
        ] {
            assert_eq!(fault(change), wanted);
        }
    }

    #[test]
    fn a_missing_field_stands_at_the_name() {
        let faults = machine("Machine(name: \"x\", topology: Line)").unwrap_err();
        assert_eq!(faults.to_string(), "m.ron:1:1: field `link` is missing in `Machine`");
        let faults = machine("(name: \"x\")").unwrap_err();
        assert_eq!(faults.list.len(), 2, "{faults}");
        let help = faults.list[0].help.as_deref();
        assert_eq!(help, Some("add `topology: …`, one of `Mesh`, `Torus`, `Ring`, `Line`, `Linear`"));
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

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, try_from = "Plain")]
    struct Checked;

    #[derive(Deserialize)]
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
    fn a_check_of_the_whole_is_not_made_on_stand_ins() {
        let read = |text| Document::from_text("c", text).unwrap().read::<Checked>().unwrap_err().to_string();
        assert_eq!(read("Checked(low: 2, high: 1)"), "c:1:1: `low` must be below `high`");
        assert_eq!(
            read("Checked(low: 2, high: x)"),
            "c:1:23: expected a whole number from 0 to 4294967295, found the name `x`"
        );
    }

    #[derive(Debug, Deserialize)]
    enum Endless {
        #[expect(dead_code, reason = "no text ends this type, so no value of it is ever read")]
        More(Box<Endless>),
    }

    #[derive(Debug)]
    struct Never;

    impl<'de> Deserialize<'de> for Never {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let _ = String::deserialize(deserializer)?;
            Err(de::Error::custom("never right"))
        }
    }

    #[test]
    fn what_no_stand_in_satisfies_still_ends() {
        let document = Document::from_text("c", "[(1, a), (b, 2)]").unwrap();
        assert!(!document.read::<Vec<(Never, Endless)>>().unwrap_err().list.is_empty());
        assert!(!document.read::<Vec<Endless>>().unwrap_err().list.is_empty());
        let map = Document::from_text("c", "{1: 2}").unwrap();
        assert!(map.read::<BTreeMap<Never, u8>>().is_err());
    }

    impl PartialEq for Never {
        fn eq(&self, _: &Self) -> bool {
            true
        }
    }
    impl Eq for Never {}
    impl PartialOrd for Never {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Never {
        fn cmp(&self, _: &Self) -> std::cmp::Ordering {
            std::cmp::Ordering::Equal
        }
    }

    #[test]
    fn a_thousand_faults_stop_at_fifty() {
        let document = Document::from_text("c", &format!("[{}]", "x, ".repeat(1000))).unwrap();
        let faults = document.read::<Vec<Size>>().unwrap_err();
        assert_eq!(faults.list.len(), 51);
        assert_eq!(faults.list[50].message, "and more: mend these first");
    }

    #[test]
    fn a_typed_field_that_is_unknown_points_into_the_command_line() {
        let mut document = Document::from_text("m.ron", &with("name: \"x\"")).unwrap();
        document.set("link.bandwdith", "3 Mbit/s").unwrap();
        let message = document.read::<Machine>().unwrap_err().to_string();
        assert_eq!(message, "--set link.bandwdith=3 Mbit/s:1:6: unknown field `bandwdith` in `Link`");
    }

    #[test]
    fn a_large_file_full_of_faults_ends_soon() {
        let record = "(bandwidth: \"x\", latency: -1, packet: 5, none: 1), ";
        for text in [
            record.repeat(19_000),
            "(), ".repeat(240_000),
            "Foo, ".repeat(190_000),
            format!("({})", "a: 1, ".repeat(1000)),
        ] {
            let document = Document::from_text("c", &format!("[{text}]"));
            let begin = std::time::Instant::now();
            let result = document.and_then(|document| document.read::<Vec<Link>>().map(drop));
            let faults = result.unwrap_err();
            assert!(!faults.list.is_empty() && faults.render(false).len() < 100_000);
            assert!(begin.elapsed() < std::time::Duration::from_secs(2), "{:?} {}", begin.elapsed(), faults.list.len());
        }
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
}
