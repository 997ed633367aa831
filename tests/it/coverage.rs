//! Everything that has a number in the five documents has a row in `docs/coverage.md`, and its command works.

use crate::documentation::{Page, run_all, words};
use clap::Parser;
use parsim::cli::CommandLine;

const PAGE: &str = "docs/coverage.md";

/// What each document numbers, or calls by a name where it has no numbers.
fn documents() -> [(&'static str, Vec<String>); 5] {
    let numbered = |what: &str, last: u32| (1..=last).map(|number| format!("{what} {number}")).collect::<Vec<_>>();
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let warwick = [numbered("equation", 15), numbered("table", 5), numbered("figure", 9)].concat();
    let topologies = ["fully connected", "ring", "2D mesh", "2D torus", "binary tree", "hypercube"];
    let columns = ["ring", "2D mesh", "2D torus", "3D mesh", "3D torus", "fat tree", "CCC", "effective bandwidths"];
    let execution = [
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
    ];
    let clusters = [
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
    ];
    let path = [
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
    ];
    [
        ("Bottleneck analysis: CS-RR-281", warwick),
        ("Execution time, topologies, collectives", execution.concat()),
        ("Multi-core clusters", clusters.concat()),
        ("Critical path", path.concat()),
        ("Laws of speedup", numbered("slide", 81)),
    ]
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

#[test]
fn every_row_has_a_command_or_says_why_not() {
    for (section, _) in documents() {
        for cells in Page::read(PAGE).rows(section) {
            let [item, _, how] = &cells[..] else { panic!("{cells:?} has not three cells") };
            let command = how.contains("`parsim ");
            assert!(command || how.starts_with("not redrawn: "), "{section}, {item}: neither a command nor a reason");
        }
    }
}

/// The commands of the page and whether they are marked as long.
fn commands() -> Vec<(String, bool)> {
    let page = Page::read(PAGE);
    let rows = documents().map(|(section, _)| page.rows(section)).concat();
    let cells = rows.iter().map(|cells| cells[2].as_str());
    cells.flat_map(commands_of).collect()
}

fn commands_of(cell: &str) -> Vec<(String, bool)> {
    let parts: Vec<_> = cell.split('`').collect();
    let quoted = parts.windows(2).step_by(2).filter(|pair| pair[1].starts_with("parsim "));
    quoted.map(|pair| (pair[1].to_owned(), pair[0].trim_end().ends_with("*long*"))).collect()
}

#[test]
fn every_command_of_the_page_works() {
    let commands = commands();
    assert!(commands.len() > 100, "{}", commands.len());
    let (long, short): (Vec<_>, Vec<_>) = commands.into_iter().partition(|(_, long)| *long);
    assert!(long.len() <= 3, "{long:?} are not run");
    for (command, _) in long {
        assert!(CommandLine::try_parse_from(words(&command)).is_ok(), "`{command}` cannot be typed");
    }
    run_all(&short.into_iter().map(|(command, _)| command).collect::<Vec<_>>());
}
