//! Differences between parsim and other simulators: the page says what parsim says, and by how much they differ.

use crate::documentation::{Desk, Page, quoted};
use crate::{parsim, repository};
use std::collections::BTreeMap;

const PAGE: &str = "docs/simulators.md";
const PEERS: [&str; 4] = ["SimGrid", "SMPI", "LogGOPSim", "BookSim2"];

#[test]
fn parsim_says_what_the_page_says_and_differs_by_as_much() {
    let page = Page::read(PAGE);
    let mut commands: BTreeMap<String, [String; 2]> = BTreeMap::new();
    for row in page.rows("Commands") {
        let [gap, without, with] = &row[..] else { panic!("{row:?}") };
        let without = quoted(without).concat();
        let with = if with == "the same" { without.clone() } else { quoted(with).concat() };
        commands.insert(gap.clone(), [without, with]);
    }
    let script = std::fs::read_to_string(repository("benches/peers/run.sh")).expect("there is a script");
    let mut printed = Printed::default();
    for peer in PEERS {
        let (mut gap, mut case) = (String::new(), 0);
        for row in page.rows(peer) {
            let [name, label, before @ .., closed, his, ours, difference] = &row[..] else { panic!("{row:?}") };
            (gap, case) = if name.is_empty() { (gap, case + 1) } else { (name.clone(), 0) };
            assert_eq!(closed.is_empty(), name.is_empty(), "{peer}, {gap}: the option stands in the first row");
            let named =
                script.contains(&format!("say {peer} {gap} \"")) || script.contains(&format!("say {peer} '{gap}' "));
            assert!(named, "benches/peers/run.sh does not print {peer}, {gap}");
            let [without, with] = &commands[&format!("{peer}, {gap}")];
            for (command, cells) in [(without, before), (with, &[his.clone(), ours.clone(), difference.clone()][..])] {
                let value = printed.value(command, case, label);
                assert_row(&format!("{peer}, {gap}, {label}"), cells, value);
            }
        }
    }
    let gaps = PEERS.iter().flat_map(|peer| page.rows(peer)).filter(|row| !row[0].is_empty()).count();
    assert!(gaps == commands.len() && gaps > 20, "{gaps} gaps, {} commands", commands.len());
}

/// Holds that the cells of the peer, of parsim and of their difference fit parsim's `value`.
fn assert_row(place: &str, cells: &[String], value: f64) {
    let [peer, ours, difference] = cells else { panic!("{place}: {cells:?}") };
    let (said, added) = ours.split_once(" + ").unwrap_or((ours, "0"));
    let digits = peer.split('.').nth(1).map_or(0, str::len);
    assert_eq!(format!("{value:.digits$}"), said, "{place}");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let percent = 100.0 * ((number(said) + number(added)) / number(peer) - 1.0);
    assert_eq!(shown(percent), *difference, "{place}");
}

/// A difference in per cent with two decimals, or three where those are 0.
fn shown(percent: f64) -> String {
    let texts = [format!("{percent:+.2}"), format!("{percent:+.3}")];
    let text = texts.iter().find(|text| text.chars().any(|digit| ('1'..='9').contains(&digit)));
    text.map_or_else(|| "0".to_owned(), |text| format!("{text} %"))
}

#[test]
fn differences_are_shown_to_what_they_have() {
    let texts = [-7.911, 0.000_4, -0.004, 0.004_6, 0.0].map(shown);
    assert_eq!(texts, ["-7.91 %", "0", "-0.004 %", "+0.005 %", "0"]);
}

#[test]
fn parsim_says_what_stands_beside_the_others_as_they_come() {
    let page = Page::read(PAGE);
    let mut printed = Printed::default();
    let rows = page.rows("As they come");
    let ours: Vec<_> = rows.iter().filter(|row| row[0] == "parsim").collect();
    assert_eq!((rows.len(), ours.len()), (8, 5));
    for row in ours {
        let value = printed.value(&quoted(&row[3]).concat(), 0, "p = 64, s");
        assert_eq!(format!("{value:.6}"), row[2], "{row:?}");
    }
}

/// The answers of commands: the records of their cases.
#[derive(Default)]
struct Printed(BTreeMap<String, Vec<serde_json::Value>>);

impl Printed {
    /// The value that a command gives for a case, in the unit at the end of the case's label.
    fn value(&mut self, command: &str, case: usize, label: &str) -> f64 {
        let run = || {
            let lines = Desk::new().run(&format!("{command} --format jsonl"));
            lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
        };
        let records = self.0.entry(command.to_owned()).or_insert_with(run);
        let (key, per_second) = match label.rsplit(", ").next() {
            Some("s") => ("makespan_s", 1.0),
            Some("ms") => ("makespan_s", 1e3),
            Some("µs") => ("makespan_s", 1e6),
            Some("cycles") => ("latency_mean_s", 1.0 / 4e-9),
            _ => panic!("{label} has no unit"),
        };
        per_second * records[case][key].as_f64().expect("a time")
    }
}

#[test]
fn the_scenarios_of_the_page_are_good_and_tell_their_question() {
    let folder = std::fs::read_dir(repository("scenarios/peers")).expect("there are scenarios");
    let files: Vec<_> = folder.map(|entry| entry.expect("the folder can be read").path()).collect();
    assert!(files.len() >= 5);
    for file in files {
        parsim().arg("check").arg(&file).assert().success();
        let text = std::fs::read_to_string(&file).expect("a text");
        let comment: String = text.lines().take_while(|line| line.starts_with("//")).collect();
        let is_scenario = text.contains("\nScenario(");
        assert!(comment.contains('?') == is_scenario && !comment.is_empty(), "{}: {comment}", file.display());
    }
}
