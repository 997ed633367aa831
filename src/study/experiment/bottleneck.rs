//! Bottlenecks of a program along an axis.

use super::{Remarks, StudyError};
use crate::analysis::{Bottleneck, BottleneckSite, Components, ComputationSplit};
use crate::answer::{Answer, Record};
use crate::experiment::cases::identity::metadata;
use crate::experiment::cases::outcome::{Outcome, keyed};
use crate::experiment::cases::references::{self, OneRankTime, References, note_on_withheld};
use crate::experiment::cases::workers::{Failures, Workers, run_all};
use crate::experiment::pictures::curves::{CurveAxis, CurveTime, TimeLines};
use crate::model::zemerly::{self, Prediction};
use crate::programs::Shipped;
use crate::report::figures::NamedChart;
use crate::report::{BottleneckCurve, BottleneckPoint, Lettered, Lettering, ReferenceValue, figures};
use crate::scenario::{Case, CheckedScenario};
use parsim_sim::node::processor::{ComponentAccount, QuarterCycles};
use parsim_sim::node::{Module, Processor};
use std::path::PathBuf;

/// The origin of the times on a curve.
#[derive(Clone, Copy, Debug)]
pub enum BottleneckSource {
    /// The simulation.
    Simulated,
    /// The equations of CS-RR-281, taken literally (Gauss-Jordan only).
    AsWritten,
    /// A reconstruction of the printed predictions of CS-RR-281 (Gauss-Jordan only, at the printed points only).
    AsPrinted,
}

impl BottleneckSource {
    const fn title(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::AsWritten => "predicted as written",
            Self::AsPrinted => "predicted as printed",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::AsWritten => "as-written",
            Self::AsPrinted => "as-printed",
        }
    }
}

/// One curve, with the numbers of its cases.
pub struct CurveCases {
    /// The values of all other axes, in words.
    pub name: String,
    cases: Vec<usize>,
    /// The curve.
    pub curve: BottleneckCurve,
}

impl CurveCases {
    /// Sorts the points along the axis if all of them have a numeric position, since crossovers are found between
    /// neighbours.
    fn along_axis(mut self) -> Self {
        let points = std::mem::take(&mut self.curve.points);
        let mut placed: Vec<_> = points.into_iter().zip(std::mem::take(&mut self.cases)).collect();
        if placed.iter().all(|(point, _)| point.position.is_some()) {
            let position = |point: &BottleneckPoint| point.position.unwrap_or_default();
            placed.sort_by(|(one, _), (other, _)| position(one).total_cmp(&position(other)));
        }
        (self.curve.points, self.cases) = placed.into_iter().unzip();
        self
    }
}

/// The components of the times of cases, as curves along an axis.
pub struct Bottlenecks<'c> {
    cases: &'c [Case],
    source: BottleneckSource,
    /// The curves.
    pub curves: Vec<CurveCases>,
    errors: Vec<Option<String>>,
    times: NamedChart,
    withheld: usize,
    /// The failed cases.
    pub failures: Failures,
}

impl<'c> Bottlenecks<'c> {
    /// Finds the components of the time of every case.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started, or if the source does not apply to the program of a case.
    pub fn find(
        cases: &'c [Case],
        source: BottleneckSource,
        workers: Workers<'_>,
        references: &References,
        axis: &CurveAxis,
    ) -> Result<Self, StudyError> {
        let mut failures = Failures::default();
        let answers = answers(cases, source, workers, references, axis, &mut failures)?;
        let withheld = answers.iter().filter(|one| one.point.compared.iter().any(|one| one.is_withheld)).count();
        let mut times = TimeLines::default();
        for (case, CaseBottleneck { point, half_width_s, .. }) in cases.iter().zip(&answers) {
            let seconds = point.components.as_ref().map(|components| components.total_s);
            let time = CurveTime { half_width: *half_width_s, ..CurveTime::new(source.title(), seconds) };
            times.add(axis, case, &time, &point.compared);
        }
        let program = cases.first().map_or("", |case| case.scenario.program.name());
        let times = figures::times(program, &axis.along, times.lines());
        let (points, errors): (Vec<_>, Vec<_>) = answers.into_iter().map(|one| (one.point, one.error)).unzip();
        let curves = grouped(cases, points, axis, source);
        Ok(Self { cases, source, curves, errors, times, withheld, failures })
    }

    /// Returns the points in case order; every record has an `error` column if one of the cases failed.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let words: Vec<_> = self.curves.iter().map(|group| group.curve.to_string()).collect();
        let mut numbered: Vec<_> = self.curves.iter().flat_map(|group| self.records(group)).collect();
        numbered.sort_by_key(|(case, _)| *case);
        let records = numbered.into_iter().map(|(_, record)| record).collect();
        let remarks = Remarks::on(self.cases.iter().map(|case| &*case.scenario)).all();
        let notes = note_on_withheld(self.withheld).into_iter().chain(remarks).collect();
        Answer { notes, ..Answer::many(records, &words.join("\n\n")) }
    }

    fn records<'g>(&'g self, group: &'g CurveCases) -> impl Iterator<Item = (usize, Record)> + 'g {
        group.cases.iter().enumerate().map(|(place, number)| {
            let case = &self.cases[*number];
            let mut record = keyed(&case.keys);
            record.put("source", self.source.name());
            record.append(group.curve.record(place));
            record.put_metadata(metadata(&case.scenario, &case.settings));
            if self.errors.iter().any(Option::is_some) {
                record.put_error(self.errors[*number].as_deref());
            }
            (*number, record)
        })
    }

    /// Returns the times of all curves and the figures of each curve, by file name, with the chosen texts. Each curve has a separate folder if
    /// there are several.
    #[must_use]
    pub fn figures(&self, lettering: &Lettering) -> Vec<(PathBuf, String)> {
        let (file, times) = &self.times;
        let of_curve = |group: &CurveCases| {
            let own = if self.curves.len() > 1 { group.name.replace([' ', '/'], "") } else { String::new() };
            let components = figures::components(&group.curve).into_iter();
            let drawn =
                components.map(|(file, chart)| (PathBuf::from(&own).join(file), chart.lettered(lettering).svg()));
            drawn.collect::<Vec<_>>()
        };
        let all = std::iter::once((PathBuf::from(file), times.clone().lettered(lettering).svg()));
        all.chain(self.curves.iter().flat_map(of_curve)).collect()
    }
}

/// The point of a case, and its error if it failed.
struct CaseBottleneck {
    point: BottleneckPoint,
    /// Half the width of the 95 % interval of the makespan, in seconds; 0 for a single run.
    half_width_s: f64,
    /// The reason why the case failed.
    error: Option<String>,
}

impl From<BottleneckPoint> for CaseBottleneck {
    fn from(point: BottleneckPoint) -> Self {
        Self { point, half_width_s: 0.0, error: None }
    }
}

fn answers(
    cases: &[Case],
    source: BottleneckSource,
    workers: Workers<'_>,
    references: &References,
    axis: &CurveAxis,
    failures: &mut Failures,
) -> Result<Vec<CaseBottleneck>, StudyError> {
    let predicted = |predict: fn(&CheckedScenario) -> Option<Prediction>| {
        let prediction = |case: &Case| predict(&case.scenario).filter(|_| references.has_machine_of(case));
        let point = |case: &Case| {
            let compared = references.compare(case, OneRankTime::Of(&workers.recall.runs()));
            point(case, axis, compared, explained(prediction(case).as_ref()))
        };
        cases.iter().map(|case| CaseBottleneck::from(point(case))).collect()
    };
    if let (BottleneckSource::AsWritten | BottleneckSource::AsPrinted, Some(other)) =
        (source, cases.iter().find_map(not_gauss_jordan))
    {
        let what = format!("{}: the equations of CS-RR-281 are about GaussJordan, not {other}", source.name());
        return Err(StudyError::Argument("source", what));
    }
    match source {
        BottleneckSource::AsWritten => Ok(predicted(references::as_written)),
        BottleneckSource::AsPrinted => Ok(predicted(references::as_printed)),
        BottleneckSource::Simulated => simulated(cases, workers, references, axis, failures),
    }
}

/// Runs all cases and returns their points.
fn simulated(
    cases: &[Case],
    workers: Workers<'_>,
    references: &References,
    axis: &CurveAxis,
    failures: &mut Failures,
) -> Result<Vec<CaseBottleneck>, StudyError> {
    let mut answers = Vec::new();
    run_all(cases, workers, references, |case, result| {
        answers.push(match result {
            Ok(outcome) => {
                let (_, half_width_s) = outcome.makespan_s();
                let point = simulated_point(case, axis, &outcome);
                CaseBottleneck { point, half_width_s, error: None }
            }
            Err(error) => {
                failures.add(&case.keys, &error);
                let compared = references.compare(case, OneRankTime::Of(&workers.recall.runs()));
                let point = point(case, axis, compared, (None, BottleneckSite::default()));
                CaseBottleneck { point, half_width_s: 0.0, error: Some(error.to_string()) }
            }
        });
        true
    })?;
    Ok(answers)
}

/// Turns a completed case into a point of a curve along `axis`.
#[must_use]
pub fn simulated_point(case: &Case, axis: &CurveAxis, outcome: &Outcome) -> BottleneckPoint {
    let components = outcome.components(split(&case.scenario));
    let place = BottleneckSite::in_trace(&outcome.trace, &Bottleneck::of(&components));
    point(case, axis, outcome.compared().to_vec(), (Some(components), place))
}

/// Returns the name of the program of `case` unless it is Gauss-Jordan.
fn not_gauss_jordan(case: &Case) -> Option<&'static str> {
    let program = &case.scenario.program;
    (!matches!(program, Shipped::GaussJordan(_))).then(|| program.name())
}

/// Returns the split of the computation on a simulated processor, if its description allows one: the shares within an
/// iteration of `Rsub`, which dominates all other modules of an elimination.
fn split(scenario: &CheckedScenario) -> Option<ComputationSplit> {
    match (&scenario.machine.nodes.processor, &scenario.program) {
        (Processor::Kernels(kernels), Shipped::GaussJordan(system)) => {
            let kernel = kernels.timed(Module::Rsub).ok()?;
            // With a cache, iterations differ; then the cost of a whole inner loop over a row stands for them.
            let cost = kernel.iteration().or_else(|| kernel.inner_cost(system.n).ok())?;
            Some(shares(cost.account(kernels.accounting)))
        }
        (
            Processor::Kernels(_)
            | Processor::Calibrated(_)
            | Processor::Counted(_)
            | Processor::Rate(_)
            | Processor::FlopRate(_)
            | Processor::Unspecified,
            _,
        ) => None,
    }
}

fn shares(account: &ComponentAccount) -> ComputationSplit {
    let share = |cycles: QuarterCycles| cycles.cycles() / account.total().cycles();
    ComputationSplit {
        cpu: share(account.cpu),
        fpu: share(account.fpu - account.fpu_overlap),
        internal_memory: share(account.internal_memory),
        external_memory: share(account.external_memory + account.external_fetch),
        words_per_flop: Some(zemerly::RSUB_WORDS_PER_FLOP),
    }
}

/// Returns the components of a prediction and the site of its bottleneck.
fn explained(prediction: Option<&Prediction>) -> (Option<Components>, BottleneckSite) {
    let components = prediction.map(Components::from);
    let place = components.as_ref().map(|components| zemerly::place(&Bottleneck::of(components)));
    (components, place.unwrap_or_default())
}

fn point(
    case: &Case,
    axis: &CurveAxis,
    compared: Vec<ReferenceValue>,
    (components, place): (Option<Components>, BottleneckSite),
) -> BottleneckPoint {
    BottleneckPoint {
        label: axis.value(case).map_or_else(String::new, ToString::to_string),
        position: axis.position(case),
        components,
        place,
        nodes: case.scenario.layout().topology.nodes(),
        hides_loads: matches!(&case.scenario.program, Shipped::Phases(program) if program.hides_loads()),
        compared,
    }
}

/// Groups cases that differ only in the axis into curves, ordered by their first cases.
#[must_use]
pub fn grouped(
    cases: &[Case],
    points: Vec<BottleneckPoint>,
    axis: &CurveAxis,
    source: BottleneckSource,
) -> Vec<CurveCases> {
    let mut groups: Vec<CurveCases> = Vec::new();
    for (index, (case, point)) in cases.iter().zip(points).enumerate() {
        let name = axis.group(case);
        let known = groups.iter().position(|group| group.name == name);
        let number = known.unwrap_or_else(|| {
            let words = [case.scenario.program.name(), name.as_str(), source.title()];
            let title = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
            let curve =
                BottleneckCurve { title, name: axis.name.clone(), axis: axis.along.clone(), points: Vec::new() };
            groups.push(CurveCases { name, cases: Vec::new(), curve });
            groups.len() - 1
        });
        groups[number].cases.push(index);
        groups[number].curve.points.push(point);
    }
    groups.into_iter().map(CurveCases::along_axis).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Document;
    use crate::scenario::{Override, Plan};
    use std::path::Path;

    fn curves(overrides: &[(&str, &[&str])], source: BottleneckSource) -> Vec<CurveCases> {
        let overrides = overrides.iter().map(|(name, values)| Override {
            name: (*name).to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        });
        let file = "../../scenarios/gauss-jordan-neighbour.ron";
        let plan = Plan::new(Document::load(file).unwrap(), &overrides.collect::<Vec<_>>()).unwrap();
        let cases = plan.cases().unwrap();
        let references = References::load(&cases[0].scenario, Path::new(file)).unwrap();
        let axis = CurveAxis::of(&plan, None).unwrap();
        let mut failures = Failures::default();
        let answers = answers(&cases, source, Workers::default(), &references, &axis, &mut failures).unwrap();
        assert!(failures.into_result().is_ok());
        let points = answers.into_iter().map(|one| one.point).collect();
        grouped(&cases, points, &axis, source)
    }

    #[test]
    fn components_of_a_run_sum_to_its_makespan() {
        let groups = curves(&[("n", &["32", "48"]), ("p", &["1", "4", "6"])], BottleneckSource::Simulated);
        assert_eq!(groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["n = 32", "n = 48"]);
        assert_eq!(groups[1].cases, [3, 4, 5]);
        for point in groups.iter().flat_map(|group| &group.curve.points) {
            let components = point.components.as_ref().unwrap();
            assert!(components.unattributed_s().abs() < 1e-3 * components.total_s, "{components:?}");
        }
    }

    /// Because the printed predictions lack a factor of N, communication becomes the bottleneck before input and output
    /// ever do once that factor is included.
    #[test]
    fn the_simulated_crossover_is_at_half_the_processors_of_the_printed_one() {
        let crossing = |source| {
            let groups = curves(&[("n", &["256"]), ("p", &["16", "32", "64"])], source);
            let key = "communication_to_computation_passes_1_at";
            (0..3).find_map(|point| groups[0].curve.record(point).number(key)).unwrap()
        };
        assert!((45.0..48.0).contains(&crossing(BottleneckSource::AsPrinted)));
        assert!((21.0..26.0).contains(&crossing(BottleneckSource::Simulated)));
        assert!((21.0..26.0).contains(&crossing(BottleneckSource::AsWritten)));
    }

    #[test]
    fn off_the_table_nothing_is_known() {
        let groups = curves(&[("n", &["256"]), ("p", &["2", "3"])], BottleneckSource::AsPrinted);
        let record = groups[0].curve.record(1);
        for key in ["total_s", "communication_s", "bottleneck", "communication_b_ratio"] {
            assert_eq!(record.get(key), Some(&crate::answer::QuantityValue::Missing), "{key}");
        }
    }
}
