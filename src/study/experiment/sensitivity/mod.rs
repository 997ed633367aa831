//! By how many percent the makespan changes for one percent of each parameter.

mod output;

use super::StudyError;
use super::recall::Recall;
use super::repetition::mean_makespan_s;
use crate::analysis::{Elasticity, Probe};
use crate::answer::Answer;
use crate::report::counted;
use crate::scenario::source::{Document, SourceFault};
use crate::scenario::{CheckedScenario, Dimension, Parameter, Plan, Repeat};
use rayon::prelude::*;

/// Elasticities below this count as none: it is what picoseconds leave of a run of a second.
const NO_EFFECT: f64 = 1e-9;
/// The part that a what-if answer speeds up, and the fields below which it does so.
const WHAT_IFS: [(&str, &[&str]); 6] = [
    ("processor", &["machine.nodes.processor", "machine.processor"]),
    ("links", &["machine.network", "machine.over", "machine.L"]),
    (
        "communication software",
        &[
            "machine.nodes.sending",
            "machine.nodes.interface",
            "machine.nodes.receiving",
            "machine.nodes.forwarding",
            "machine.nodes.routing",
            "machine.nodes.acknowledging",
            "machine.o",
            "machine.g",
            "machine.G",
            "machine.O",
        ],
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
            "machine.nodes.interface",
            "machine.nodes.receiving",
            "machine.nodes.forwarding",
            "machine.nodes.routing",
            "machine.nodes.acknowledging",
            "machine.nodes.dma_per_word",
            "machine.network",
            "machine.over",
            "machine.L",
            "machine.o",
            "machine.g",
            "machine.G",
            "machine.O",
            "machine.S",
        ],
    ),
    (
        "computation",
        &["machine.nodes.processor", "machine.processor", "machine.nodes.time_slice", "machine.nodes.noise"],
    ),
    ("input", &["machine.host.input"]),
    ("output", &["machine.host.output"]),
    ("program", &["program"]),
    ("machine", &["machine"]),
];

/// The change of the makespan when one parameter changes.
pub struct Finding<'p> {
    /// The parameter.
    pub parameter: &'p Parameter,
    /// The group that it belongs to.
    pub group: &'static str,
    /// The effect, or why there is none to tell.
    pub effect: Result<Effect, String>,
}

/// The effect of a parameter on the makespan.
pub enum Effect {
    /// Of a constant that can have any value.
    Elasticity(Elasticity),
    /// Of a whole number: what the next smaller and the next larger one give.
    Steps {
        /// The next smaller one.
        smaller: WholeVariation,
        /// The next larger one.
        larger: WholeVariation,
    },
}

/// The result of another whole number.
pub struct WholeVariation {
    /// The number.
    pub value: String,
    /// The relative change of the makespan, or why there is none.
    pub change: Result<f64, String>,
}

/// All times and rates of a group, changed together.
pub struct ConstantGroup {
    /// The name of the group.
    pub name: &'static str,
    /// The effect, or why there is none to tell.
    pub effect: Result<Elasticity, String>,
}

/// The result of a part that is twice as fast.
pub struct WhatIf {
    /// The part.
    pub part: &'static str,
    /// How many times as fast the run is then, or why it is not known.
    pub faster: Result<f64, String>,
}

/// A run whose parameters are changed.
pub struct VariedRun {
    document: Document,
    parameters: Vec<Parameter>,
    makespan_s: f64,
    title: String,
    seeds: Repeat,
}

/// The effects of all parameters, the largest first.
pub struct Sensitivities<'s> {
    /// Of each parameter.
    pub findings: Vec<Finding<'s>>,
    /// Of groups of times and rates.
    pub groups: Vec<ConstantGroup>,
    /// Of parts that are twice as fast.
    pub what_ifs: Vec<WhatIf>,
}

impl VariedRun {
    /// Runs the base values of `scenario`.
    ///
    /// # Errors
    /// Those of the run; a run that takes no simulated time.
    pub fn of(scenario: &CheckedScenario) -> Result<Self, StudyError> {
        let document = scenario.to_document()?;
        let makespan_s = mean_makespan_s(scenario, Recall::NONE)?;
        if makespan_s == 0.0 {
            let program = scenario.program.name();
            return Err(StudyError::Request(format!(
                "{program} takes no simulated time, which no parameter can change"
            )));
        }
        let title = format!("{}, {}", scenario.program.name(), counted(scenario.ranks, "rank"));
        Ok(Self { parameters: Parameter::all(&document), document, makespan_s, title, seeds: scenario.repeat })
    }

    /// The effects of all parameters, in records and words. `step` is the relative change of each.
    #[must_use]
    pub fn answer(&self, step: f64) -> Answer {
        let found = self.sensitivities(step);
        Answer::many(output::records(&found), &output::text(self, &found))
    }

    /// The effects of all parameters. `step` is the relative change of each; whole numbers change by at least one.
    #[must_use]
    pub fn sensitivities(&self, step: f64) -> Sensitivities<'_> {
        let mut findings: Vec<_> = self.parameters.par_iter().map(|one| self.finding(one, step)).collect();
        findings.sort_by(|one, other| other.size().total_cmp(&one.size()));
        let mut groups: Vec<_> = GROUPS.par_iter().filter_map(|(name, _)| self.group(name, step)).collect();
        groups.sort_by(|one, other| other.size().total_cmp(&one.size()));
        let what_ifs = WHAT_IFS.par_iter().filter_map(|part| self.what_if(*part)).collect();
        Sensitivities { findings, groups, what_ifs }
    }

    fn base(&self, value: f64) -> Probe {
        Probe { value, time_s: self.makespan_s }
    }

    fn finding<'s>(&'s self, parameter: &'s Parameter, step: f64) -> Finding<'s> {
        let effect = if parameter.is_whole() {
            Ok(self.steps(parameter, step))
        } else {
            self.elasticity(parameter, step).map(Effect::Elasticity)
        };
        Finding { parameter, group: group_of(parameter), effect }
    }

    fn elasticity(&self, parameter: &Parameter, step: f64) -> Result<Elasticity, String> {
        if parameter.number() == 0.0 {
            return Err("it is zero".to_owned());
        }
        let probe = |factor: f64| {
            let value = parameter.scaled(factor);
            let time_s = makespan_s(&self.document, |document| parameter.set(document, value))?;
            Ok::<_, String>(Probe { value, time_s })
        };
        let (below, above) = (probe(1.0 - step)?, probe(1.0 + step)?);
        let by_slopes = if parameter.dimension == Dimension::Rate { Elasticity::inverse } else { Elasticity::linear };
        by_slopes(below, self.base(parameter.number()), above).ok_or_else(|| "it is not positive".to_owned())
    }

    /// The whole numbers nearest to a change by `step`, at least by one.
    fn steps(&self, parameter: &Parameter, step: f64) -> Effect {
        let by = (parameter.number().abs() * step).round().max(1.0);
        let step_to = |value: f64| {
            let time_s = makespan_s(&self.document, |document| parameter.set(document, value));
            WholeVariation {
                value: parameter.shown(value),
                change: time_s.map(|time_s| time_s / self.makespan_s - 1.0),
            }
        };
        Effect::Steps { smaller: step_to(parameter.number() - by), larger: step_to(parameter.number() + by) }
    }

    /// `None` for a group without a time or rate that can change.
    fn group(&self, name: &'static str, step: f64) -> Option<ConstantGroup> {
        let chosen: Vec<_> = self.parameters.iter().filter(|one| group_of(one) == name && has_time(one)).collect();
        let probe = |factor: f64| {
            let slower = |document: &mut Document| chosen.iter().try_for_each(|one| one.slow_down(document, factor));
            makespan_s(&self.document, slower).map(|time_s| Probe { value: factor, time_s })
        };
        let effect = || {
            let (below, above) = (probe(1.0 - step)?, probe(1.0 + step)?);
            Elasticity::linear(below, self.base(1.0), above).ok_or_else(|| "the run takes no time".to_owned())
        };
        (!chosen.is_empty()).then(|| ConstantGroup { name, effect: effect() })
    }

    /// `None` if no time stands below these places.
    fn what_if(&self, (part, places): (&'static str, &[&str])) -> Option<WhatIf> {
        let chosen: Vec<_> =
            self.parameters.iter().filter(|one| stands_below(&one.name, places) && has_time(one)).collect();
        let twice_as_fast = |document: &mut Document| chosen.iter().try_for_each(|one| one.slow_down(document, 0.5));
        let faster = || makespan_s(&self.document, twice_as_fast).map(|time_s| self.makespan_s / time_s);
        (!chosen.is_empty()).then(|| WhatIf { part, faster: faster() })
    }
}

fn group_of(parameter: &Parameter) -> &'static str {
    let group = GROUPS.iter().find(|(_, places)| stands_below(&parameter.name, places));
    group.map_or("machine", |(name, _)| name)
}

/// True if it is a time or a rate that can change.
fn has_time(parameter: &Parameter) -> bool {
    parameter.dimension != Dimension::None && parameter.number() != 0.0
}

/// The makespan of `document` after `change`, in seconds, or why there is none.
fn makespan_s(document: &Document, change: impl Fn(&mut Document) -> Result<(), SourceFault>) -> Result<f64, String> {
    let mut document = document.clone();
    change(&mut document).map_err(|_| "the field is not there".to_owned())?;
    let case = Plan::new(document, &[]).and_then(|plan| plan.base());
    let scenario = case
        .map_err(|faults| faults.entries().first().map_or_else(String::new, |entry| entry.message.clone()))?
        .scenario;
    mean_makespan_s(&scenario, Recall::NONE).map_err(|error| error.to_string())
}

/// The first of `places` below which `path` stands.
fn stands_below(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

impl Finding<'_> {
    fn elasticity(&self) -> Option<Elasticity> {
        match &self.effect {
            Ok(Effect::Elasticity(elasticity)) => Some(*elasticity),
            _ => None,
        }
    }

    /// The larger of its sides; whole numbers and what could not be varied come last.
    fn size(&self) -> f64 {
        self.elasticity().map_or(-1.0, Elasticity::size)
    }

    fn has_effect(&self) -> bool {
        self.size() > NO_EFFECT
    }
}

impl ConstantGroup {
    fn size(&self) -> f64 {
        self.effect.as_ref().map_or(-1.0, |elasticity| elasticity.size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::run;
    use std::path::Path;

    fn study(settings: &[(&str, &str)]) -> VariedRun {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/gauss-jordan-neighbour.ron");
        let mut document = Document::load(path).unwrap();
        for (path, value) in [("program.n", "48"), ("ranks", "8")].iter().chain(settings) {
            document.set(path, value).unwrap();
        }
        VariedRun::of(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap()
    }

    #[test]
    fn doubling_every_time_doubles_the_makespan_exactly() {
        for settings in [&[][..], &[("ranks", "6")][..], &[("machine.sends", "rendezvous")][..]] {
            let study = study(settings);
            let ps = |factor: f64| {
                let mut changed = study.document.clone();
                study.parameters.iter().try_for_each(|one| one.slow_down(&mut changed, factor)).unwrap();
                run(&Plan::new(changed, &[]).unwrap().base().unwrap().scenario).unwrap().makespan.ps()
            };
            assert_eq!(ps(2.0), 2 * ps(1.0));
        }
    }

    #[test]
    fn elasticities_of_times_sum_to_one() {
        let study = study(&[]);
        let answers = study.sensitivities(1e-4);
        let find = |name: &str| answers.findings.iter().find(|one| one.parameter.name == name).unwrap();
        let of_times = |finding: &Finding| match finding.parameter.dimension {
            Dimension::Time => finding.elasticity().map(|elasticity| elasticity.right),
            Dimension::Rate => finding.elasticity().map(|elasticity| -elasticity.right),
            Dimension::None => None,
        };
        let sum: f64 = answers.findings.iter().filter_map(of_times).sum();
        assert!((sum - 1.0).abs() < 0.005, "{sum}");
        let sum: f64 = answers.groups.iter().map(|group| group.effect.as_ref().unwrap().right).sum();
        assert!((sum - 1.0).abs() < 0.005, "{sum}");
        assert!(find("machine.nodes.processor.rsub").has_effect());
        assert_eq!(find("machine.nodes.processor.rsub").group, "computation");
        // The protocol of the wire is overridden by the measured rate.
        assert!(!find("machine.network.links.protocol.bit_rate").has_effect());
        assert_eq!(find("machine.nodes.processor.inv").effect.as_ref().err().unwrap(), "it is zero");
    }

    /// Noise that is quiet is not written, but an axis leads there.
    #[test]
    fn a_scenario_with_axes_over_defaults_is_varied() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/straggler.ron");
        let mut document = Document::load(path).unwrap();
        for (path, value) in [("program.n", "16"), ("ranks", "2")] {
            document.set(path, value).unwrap();
        }
        let document = Plan::new(document, &[]).unwrap().base().unwrap().scenario.to_document().unwrap();
        assert!(makespan_s(&document, |_| Ok(())).unwrap() > 0.0);
    }

    /// A LogGOPS machine is varied by the constants that a file writes; over a network L is not used.
    #[test]
    fn a_model_is_varied_by_its_own_constants() {
        let varied = |settings: &[(&str, &str)]| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/loggops-collectives.ron");
            let mut document = Document::load(path).unwrap();
            for (path, value) in settings {
                document.set(path, value).unwrap();
            }
            VariedRun::of(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap()
        };
        let with_effect = |study: &VariedRun| {
            let found = study.sensitivities(1e-3).findings;
            let mut names: Vec<_> =
                found.iter().filter(|one| one.has_effect()).map(|one| one.parameter.name.clone()).collect();
            names.sort_unstable();
            names
        };
        let alone = varied(&[("program.bytes", "1 kB")]);
        assert_eq!(with_effect(&alone), ["machine.G", "machine.L", "machine.o"]);
        let names = alone.parameters.iter().filter_map(|one| one.name.strip_prefix("machine."));
        assert_eq!(names.collect::<Vec<_>>(), ["L", "o", "g", "G", "O", "S", "processor"]);
        let network = "Network(topology: Complete(nodes: 64), routing: DimensionOrder, switching: StoreAndForward(packet: \
                       \"4 KiB\"), links: Link(per_byte: \"10 ns/B\", latency: \"5 us\"))";
        let over = varied(&[("program.bytes", "1 kB"), ("machine.over", network)]);
        let links = ["latency", "per_byte"].map(|field| format!("machine.over.links.{field}"));
        assert_eq!(with_effect(&over), ["machine.o", &links[0], &links[1]]);
    }

    #[test]
    fn whole_numbers_have_steps_instead_of_elasticities() {
        let study = study(&[]);
        let n = study.parameters.iter().find(|one| one.name == "program.n").unwrap();
        let Ok(Effect::Steps { smaller, larger }) = study.finding(n, 0.01).effect else { panic!("n is a count") };
        assert_eq!((smaller.value.as_str(), larger.value.as_str()), ("47", "49"));
        assert!(smaller.change.unwrap() < 0.0 && larger.change.unwrap() > 0.0);
    }

    #[test]
    fn twice_as_fast_everywhere_is_twice_as_fast() {
        let study = study(&[]);
        let of = |part: &str| {
            let part = WHAT_IFS.iter().find(|(name, _)| *name == part).unwrap();
            study.what_if(*part).unwrap().faster.unwrap()
        };
        assert!((of("everything") - 2.0).abs() < 1e-6);
        assert!(of("processor") > 1.0 && of("links") > 1.0 && of("processor") < 2.0);
    }
}
