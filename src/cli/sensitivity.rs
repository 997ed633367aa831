//! `parsim sensitivity`: by how many percent the makespan changes for one percent of each parameter.

use super::{Failure, ScenarioArguments};
use crate::analysis::{Probe, elasticity};
use crate::report::{Format, Record, Table, Writer, counted, wrapped};
use crate::scenario::source::{Document, Fault};
use crate::scenario::{CheckedScenario, Dimension, Parameter, Plan, Scenario};
use crate::simulation::play;
use clap::Args;
use rayon::prelude::*;
use std::fmt::Write as _;
use std::io::{Write, stdout};

#[derive(Debug, Args)]
pub struct SensitivityArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// By how many percent every parameter is changed, up and down; whole numbers by at least one.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    step: f64,
}

/// Elasticities below this count as none: it is what picoseconds leave of a run of a second.
const NO_EFFECT: f64 = 1e-9;
/// What a what-if answer speeds up, and the fields below which it does so.
const WHAT_IFS: [(&str, &[&str]); 6] = [
    ("processor", &["machine.nodes.processor"]),
    ("links", &["machine.network"]),
    (
        "communication software",
        &["machine.nodes.sending", "machine.nodes.receiving", "machine.nodes.routing", "machine.nodes.acknowledging"],
    ),
    ("input", &["machine.host.input"]),
    ("output", &["machine.host.output"]),
    ("everything", &["machine", "program"]),
];

/// Groups of parameters, by the fields they stand below; the first that fits counts.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "communication",
        &[
            "machine.nodes.sending",
            "machine.nodes.receiving",
            "machine.nodes.routing",
            "machine.nodes.acknowledging",
            "machine.nodes.dma_per_word",
            "machine.network",
        ],
    ),
    ("computation", &["machine.nodes.processor", "machine.nodes.time_slice", "machine.nodes.noise"]),
    ("input", &["machine.host.input"]),
    ("output", &["machine.host.output"]),
    ("program", &["program"]),
    ("machine", &["machine"]),
];

/// What became of one parameter.
struct Finding<'p> {
    parameter: &'p Parameter,
    group: &'static str,
    /// The elasticity, or why there is none.
    elasticity: Result<f64, String>,
}

/// What a part that is twice as fast gives.
struct WhatIf {
    part: &'static str,
    faster: Result<f64, String>,
}

pub fn execute(arguments: &SensitivityArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    if !(arguments.step > 0.0 && arguments.step <= 50.0) {
        return Err(Failure::Usage(format!("--step {}: give percents above 0, up to 50", arguments.step)));
    }
    let scenario = common.plan(&[])?.base()?.scenario;
    if common.dump_config {
        return Ok(writeln!(stdout(), "{}", scenario.to_ron())?);
    }
    let document = resolved(&scenario)?;
    let makespan_s = play(&scenario)?.makespan.seconds();
    let parameters = Parameter::all(&document);
    let step = arguments.step / 100.0;
    let mut findings: Vec<_> = parameters.par_iter().map(|one| Finding::of(&document, one, step)).collect();
    findings.sort_by(|one, other| other.size().total_cmp(&one.size()));
    let what_ifs: Vec<_> =
        WHAT_IFS.par_iter().filter_map(|part| WhatIf::of(&document, &parameters, *part, makespan_s)).collect();
    let format = Format::from(common.format);
    if format == Format::Text {
        return Ok(write!(stdout(), "{}", text(&scenario, makespan_s, &findings, &what_ifs))?);
    }
    let mut writer = Writer::many(stdout(), format);
    for record in records(&findings, &what_ifs) {
        writer.write(&record)?;
    }
    Ok(writer.finish()?)
}

/// The base values with every default, as a document whose values can be changed. Axes are left out: a path of theirs may
/// lead to a field that is not written because it has its default.
fn resolved(scenario: &CheckedScenario) -> Result<Document, Failure> {
    let base = Scenario { axes: Vec::new(), zip: Vec::new(), filter: None, ..Scenario::clone(scenario) };
    Ok(Document::from_text("the resolved scenario", &base.to_ron())?)
}

/// The makespan of `document` after `change`, in seconds, or why there is none.
fn makespan_s(document: &Document, change: impl Fn(&mut Document) -> Result<(), Fault>) -> Result<f64, String> {
    let mut document = document.clone();
    change(&mut document).map_err(|_| "the field is not there".to_owned())?;
    let case = Plan::new(document, &[]).and_then(|plan| plan.base());
    let scenario = case
        .map_err(|faults| faults.entries().first().map_or_else(String::new, |entry| entry.message.clone()))?
        .scenario;
    play(&scenario).map(|trace| trace.makespan.seconds()).map_err(|error| error.to_string())
}

/// The first of `places` below which `path` stands.
fn stands_below(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

impl<'p> Finding<'p> {
    fn of(document: &Document, parameter: &'p Parameter, step: f64) -> Self {
        let group = GROUPS.iter().find(|(_, places)| stands_below(&parameter.name, places));
        let group = group.map_or("machine", |(name, _)| name);
        Self { parameter, group, elasticity: measured(document, parameter, step) }
    }

    fn size(&self) -> f64 {
        self.elasticity.as_ref().map_or(-1.0, |elasticity| elasticity.abs())
    }

    fn has_effect(&self) -> bool {
        self.size() > NO_EFFECT
    }

    /// Its part of the makespan: what a time contributes to 1.
    fn part(&self) -> Option<f64> {
        let elasticity = *self.elasticity.as_ref().ok()?;
        match self.parameter.dimension {
            Dimension::Time => Some(elasticity),
            Dimension::Rate => Some(-elasticity),
            Dimension::None => None,
        }
    }
}

fn measured(document: &Document, parameter: &Parameter, step: f64) -> Result<f64, String> {
    if parameter.number() == 0.0 {
        return Err("it is zero".to_owned());
    }
    let probe = |factor: f64| {
        let value = parameter.scaled(factor);
        makespan_s(document, |document| parameter.set(document, value)).map(|time_s| Probe { value, time_s })
    };
    let (below, above) = (probe(1.0 - step)?, probe(1.0 + step)?);
    elasticity(below, above).ok_or_else(|| "the run takes no time".to_owned())
}

impl WhatIf {
    /// `None` if no time stands below these places.
    fn of(
        document: &Document,
        parameters: &[Parameter],
        (part, places): (&'static str, &[&str]),
        base_s: f64,
    ) -> Option<Self> {
        let chosen: Vec<_> = parameters.iter().filter(|one| stands_below(&one.name, places)).collect();
        chosen.iter().any(|one| one.dimension != Dimension::None && one.number() != 0.0).then(|| {
            let twice_as_fast =
                |document: &mut Document| chosen.iter().try_for_each(|one| one.slow_down(document, 0.5));
            Self { part, faster: makespan_s(document, twice_as_fast).map(|time_s| base_s / time_s) }
        })
    }
}

/// The groups with the sums of their parts, the largest first.
fn groups(findings: &[Finding]) -> Vec<(&'static str, f64)> {
    let sum = |name: &'static str| -> Option<(&'static str, f64)> {
        let parts: Vec<_> = findings.iter().filter(|one| one.group == name).filter_map(Finding::part).collect();
        (!parts.is_empty()).then(|| (name, parts.iter().sum()))
    };
    let mut groups: Vec<_> = GROUPS.iter().filter_map(|(name, _)| sum(name)).collect();
    groups.sort_by(|one, other| other.1.total_cmp(&one.1));
    groups
}

fn record(kind: &str, name: &str) -> Record {
    let mut record = Record::default();
    record.put("record", kind);
    record.put("name", name);
    for key in ["group", "value", "elasticity", "faster", "note"] {
        record.put(key, serde_json::Value::Null);
    }
    record
}

fn records(findings: &[Finding], what_ifs: &[WhatIf]) -> Vec<Record> {
    let parameter = |finding: &Finding| {
        let mut record = record("parameter", &finding.parameter.name);
        record.put("group", finding.group);
        record.put("value", finding.parameter.text.as_str());
        record.put("elasticity", finding.elasticity.as_ref().ok().copied());
        record.put("note", finding.elasticity.as_ref().err().cloned());
        record
    };
    let group = |(name, part): (&str, f64)| {
        let mut record = record("group", name);
        record.put("elasticity", part);
        record
    };
    let what_if = |answer: &WhatIf| {
        let mut record = record("what-if", &format!("{} twice as fast", answer.part));
        record.put("faster", answer.faster.as_ref().ok().copied());
        record.put("note", answer.faster.as_ref().err().cloned());
        record
    };
    let parameters = findings.iter().map(parameter);
    let groups: Vec<_> = groups(findings).into_iter().map(group).collect();
    parameters.chain(groups).chain(what_ifs.iter().map(what_if)).collect()
}

fn text(scenario: &CheckedScenario, makespan_s: f64, findings: &[Finding], what_ifs: &[WhatIf]) -> String {
    let mut table = Table::new(["parameter", "value", "group", "% per %"]);
    for finding in findings.iter().filter(|finding| finding.has_effect()) {
        let elasticity = format!("{:+.4}", finding.elasticity.as_ref().map_or(0.0, |elasticity| *elasticity));
        let parameter = finding.parameter;
        table.row([parameter.name.clone(), parameter.text.clone(), finding.group.to_owned(), elasticity]);
    }
    let (program, ranks) = (scenario.program.name(), counted(scenario.ranks, "rank"));
    let mut text = format!("{program}, {ranks}: {makespan_s} s\n\n{table}\n");
    let groups = groups(findings);
    let sum: f64 = groups.iter().map(|(_, part)| part).sum();
    let mut write = |line: String| writeln!(text, "{line}").expect("a text can be written to");
    write("By group, over all times and rates:".to_owned());
    for (name, part) in &groups {
        write(format!("  {name}: {part:+.4}"));
    }
    write(format!("  sum: {sum:+.4}\n"));
    for WhatIf { part, faster } in what_ifs {
        match faster {
            Ok(faster) => write(format!("{part} twice as fast: {faster:.2} × faster")),
            Err(why) => write(format!("{part} twice as fast: {why}")),
        }
    }
    let names = |chosen: &dyn Fn(&&Finding) -> bool| {
        findings.iter().filter(chosen).map(|one| one.parameter.name.clone()).collect::<Vec<_>>()
    };
    let without = names(&|one: &&Finding| one.elasticity.is_ok() && !one.has_effect());
    if !without.is_empty() {
        write(wrapped(&format!("\nWithout effect: {}", without.join(", "))));
    }
    for finding in findings {
        if let Err(why) = &finding.elasticity {
            write(format!("Not varied: {}: {why}", finding.parameter.name));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn document(settings: &[(&str, &str)]) -> Document {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/gauss-jordan-neighbour.ron");
        let mut document = Document::load(path).unwrap();
        for (path, value) in [("program.n", "48"), ("ranks", "8")].iter().chain(settings) {
            document.set(path, value).unwrap();
        }
        resolved(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap()
    }

    #[test]
    fn doubling_every_time_doubles_the_makespan_exactly() {
        for settings in [&[][..], &[("ranks", "6")][..], &[("machine.sends", "rendezvous")][..]] {
            let document = document(settings);
            let parameters = Parameter::all(&document);
            let ps = |factor: f64| {
                let mut changed = document.clone();
                parameters.iter().try_for_each(|one| one.slow_down(&mut changed, factor)).unwrap();
                play(&Plan::new(changed, &[]).unwrap().base().unwrap().scenario).unwrap().makespan.ps()
            };
            assert_eq!(ps(2.0), 2 * ps(1.0));
        }
    }

    #[test]
    fn elasticities_of_times_sum_to_one() {
        let document = document(&[]);
        let parameters = Parameter::all(&document);
        let findings: Vec<_> = parameters.iter().map(|one| Finding::of(&document, one, 1e-4)).collect();
        let sum: f64 = findings.iter().filter_map(Finding::part).sum();
        assert!((sum - 1.0).abs() < 0.005, "{sum}");
        let find = |name: &str| findings.iter().find(|one| one.parameter.name == name).unwrap();
        assert!(find("machine.nodes.processor.rsub").has_effect());
        assert_eq!(find("machine.nodes.processor.rsub").group, "computation");
        // The memory is large enough, and the protocol of the wire is overridden by the measured rate.
        assert!(!find("machine.nodes.memory").has_effect());
        assert!(!find("machine.network.links.protocol.bit_rate").has_effect());
        assert_eq!(find("machine.nodes.processor.inv").elasticity, Err("it is zero".to_owned()));
    }

    /// Noise that is quiet is not written, but an axis leads there.
    #[test]
    fn a_scenario_with_axes_over_defaults_is_varied() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/straggler.ron");
        let mut document = Document::load(path).unwrap();
        for (path, value) in [("program.n", "16"), ("ranks", "2")] {
            document.set(path, value).unwrap();
        }
        let document = resolved(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap();
        assert!(makespan_s(&document, |_| Ok(())).unwrap() > 0.0);
    }

    #[test]
    fn twice_as_fast_everywhere_is_twice_as_fast() {
        let document = document(&[]);
        let parameters = Parameter::all(&document);
        let base_s = makespan_s(&document, |_| Ok(())).unwrap();
        let of = |part: &str| {
            let part = WHAT_IFS.iter().find(|(name, _)| *name == part).unwrap();
            WhatIf::of(&document, &parameters, *part, base_s).unwrap().faster.unwrap()
        };
        assert!((of("everything") - 2.0).abs() < 1e-6);
        assert!(of("processor") > 1.0 && of("links") > 1.0 && of("processor") < 2.0);
    }
}
