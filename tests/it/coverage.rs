//! Everything that has a number in the five documents has a row in `docs/coverage.md`, whose command prints the value beside it.

use crate::documentation::{Desk, Page, words};
use clap::Parser;
use parsim::cli::CommandLine;
use std::collections::BTreeMap;

const PAGE: &str = "docs/coverage.md";

/// The things that each document numbers, or calls by a name where it has no numbers.
fn documents() -> [(&'static str, Vec<String>); 5] {
    let warwick = [numbered("equation", 15), numbered("table", 5), numbered("figure", 9)].concat();
    [
        ("Bottleneck analysis: CS-RR-281", warwick),
        ("Execution time, topologies, collectives", execution()),
        ("Multi-core clusters", clusters()),
        ("Critical path", path()),
        ("Laws of speedup", numbered("slide", 81)),
    ]
}

fn numbered(what: &str, last: u32) -> Vec<String> {
    (1..=last).map(|number| format!("{what} {number}")).collect()
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn execution() -> Vec<String> {
    let topologies = ["fully connected", "ring", "2D mesh", "2D torus", "binary tree", "hypercube"];
    let columns = ["ring", "2D mesh", "2D torus", "3D mesh", "3D torus", "fat tree", "CCC", "effective bandwidths"];
    [
        named(&[
            "time of a process",
            "total time",
            "overhead",
            "speedup and efficiency",
            "store and forward",
            "cut-through",
            "simplified cut-through",
            "figure of the fat tree",
            "figures of network parameters",
        ]),
        topologies.map(|name| format!("table of topologies, {name}")).to_vec(),
        columns.map(|name| format!("table 5, {name}")).to_vec(),
        named(&[
            "one-to-all broadcast, hypercube",
            "all-to-one reduction, hypercube",
            "allgather, hypercube",
            "all-to-all reduction, hypercube",
            "gather and scatter, hypercube",
            "all-to-all, hypercube",
            "allgather, 2D torus",
            "all-to-all, 2D torus",
        ]),
    ]
    .concat()
}

fn clusters() -> Vec<String> {
    [
        numbered("equation", 9),
        named(&[
            "definitions",
            "figure, roofline",
            "figure, efficiency of a node",
            "optimal cores q_E",
            "optimal nodes p_E",
            "table of p_E",
            "figure, speed-up with d(p) = p",
            "figure, speed-up with d(p) = √p",
            "simplified efficiency",
            "table of hardware",
            "table of applications",
            "figure, scalar product",
            "figure, matrix product",
            "figure, Linpack, model",
            "figure, Linpack, measured",
            "figure, FFTW, model",
            "figure, FFTW, measured",
        ]),
    ]
    .concat()
}

fn path() -> Vec<String> {
    [
        numbered("definition", 3),
        named(&[
            "equation 1",
            "average parallelism",
            "figure 1",
            "figure 2a",
            "figure 2b",
            "table 1",
            "worked numbers",
        ]),
    ]
    .concat()
}

#[test]
fn every_number_of_the_documents_has_one_row() {
    let page = Page::read(PAGE);
    assert_eq!(page.sections(), documents().map(|(section, _)| section));
    for (section, expected) in documents() {
        let items: Vec<_> = page.rows(section).iter().flat_map(|cells| items(&cells[0])).collect();
        assert_eq!(items, expected, "{section}");
    }
}

/// `slides 7–9` are three items.
fn items(cell: &str) -> Vec<String> {
    match cell.strip_prefix("slides ").and_then(|range| range.split_once('–')) {
        Some((first, last)) => {
            let number = |text: &str| text.parse::<u32>().expect("a slide has a number");
            (number(first)..=number(last)).map(|slide| format!("slide {slide}")).collect()
        }
        None => vec![cell.to_owned()],
    }
}

/// A row: what of which section it redraws, by which commands, and which values they print.
struct Row {
    place: String,
    how: String,
    value: String,
}

fn rows() -> Vec<Row> {
    let page = Page::read(PAGE);
    let of = |(section, _): (&'static str, _)| {
        let row = move |cells: Vec<String>| match &cells[..] {
            [item, _, how, value] => {
                Row { place: format!("{section}, {item}"), how: how.clone(), value: value.clone() }
            }
            _ => panic!("{cells:?} has not four cells"),
        };
        page.rows(section).into_iter().map(row)
    };
    documents().into_iter().flat_map(of).collect()
}

/// A text in backticks, and whether `*long*` stands before it.
struct Quoted {
    text: String,
    long: bool,
}

fn quoted(cell: &str) -> Vec<Quoted> {
    let parts: Vec<_> = cell.split('`').collect();
    let pairs = parts.windows(2).step_by(2);
    pairs.map(|pair| Quoted { text: pair[1].to_owned(), long: pair[0].trim_end().ends_with("*long*") }).collect()
}

impl Row {
    fn commands(&self) -> Vec<Quoted> {
        quoted(&self.how).into_iter().filter(|quoted| quoted.text.starts_with("parsim ")).collect()
    }
}

#[test]
fn every_row_has_a_command_and_values_or_says_why_not() {
    for row in rows() {
        let redrawn = !row.how.starts_with("not redrawn: ");
        assert!(!redrawn || !row.commands().is_empty(), "{}: neither a command nor a reason", row.place);
        let shown = row.value.contains('`') || row.value.starts_with("no number");
        assert!(!redrawn || shown, "{}: neither a value nor why there is none", row.place);
    }
}

#[test]
fn every_command_of_the_page_works_and_prints_the_values_beside_it() {
    let (desk, mut printed) = (Desk::new(), BTreeMap::new());
    let mut wrong = Vec::new();
    for row in rows() {
        let mut lines = String::new();
        for Quoted { text, .. } in row.commands().iter().filter(|command| !command.long) {
            lines += printed.entry(text.clone()).or_insert_with(|| desk.run(text));
        }
        let values = quoted(&row.value).into_iter().filter(|value| !value.long);
        let absent = values.filter(|value| !shows(&lines, &value.text));
        wrong.extend(absent.map(|value| format!("{}: `{}` is not printed", row.place, value.text)));
    }
    assert!(printed.len() > 60, "{}", printed.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Commands that take too long for a test can be typed, and a page of `validation` holds what they print.
#[test]
fn the_values_of_long_commands_are_those_of_the_validation() {
    let rows = rows();
    let commands: Vec<_> = rows.iter().flat_map(Row::commands).filter(|command| command.long).collect();
    assert!((1..=3).contains(&commands.len()), "{} are not run", commands.len());
    for command in commands {
        assert!(CommandLine::try_parse_from(words(&command.text)).is_ok(), "`{}` cannot be typed", command.text);
    }
    for row in &rows {
        for value in quoted(&row.value).iter().filter(|value| value.long) {
            let link = row.value.split("](../").nth(1).and_then(|rest| rest.split(')').next());
            let text = Page::read(link.expect("a long value names its page")).text().replace('|', " ");
            assert!(shows(&text, &value.text), "{}: `{}` is not in its page", row.place, value.text);
        }
    }
}

/// True if a line has the words of `value`, one after the other; `…` stands for any words between.
fn shows(lines: &str, value: &str) -> bool {
    lines.lines().any(|line| {
        let line = spaced(line);
        let pieces = value.split('…').map(spaced);
        let end = pieces
            .into_iter()
            .try_fold(0, |at, piece| line[at..].find(&piece).map(|found| at + found + piece.len() - 1));
        end.is_some()
    })
}

/// The words of a line, each between single blanks.
fn spaced(line: &str) -> String {
    format!(" {} ", line.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_value_is_whole_words_of_one_line_in_their_order() {
    let printed = " p  time_s\n 8   2.357\n16   1.900";
    for value in ["8 2.357", "16 … 1.900", "1.900"] {
        assert!(shows(printed, value), "{value}");
    }
    for value in ["8 2.35", "6 1.900", "8 … 1.900", "2.357 8", "1.900 … 1.900"] {
        assert!(!shows(printed, value), "{value}");
    }
}
