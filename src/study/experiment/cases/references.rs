//! References of a case: the models and measurements that its scenario lists in `compare`.

use super::formula_model::FormulaModel;
use super::recall::{CaseRuns, state};
use super::repetition::first_and_mean_s;
use crate::experiment::StudyError;
use crate::experiment::cluster;
use crate::model::point_to_point::PointToPoint;
use crate::model::zemerly::{self, Prediction};
use crate::programs::{Distribution, GaussJordan, Shipped};
use crate::report::{ReferenceTarget, ReferenceValue, counted};
use crate::scenario::source::{Document, Faults, SourceFault, Sources};
use crate::scenario::{AxisValue, Case, CheckedScenario, Comparison, Described, Measurements, Plan, Scenario};
use crate::store::{State, Store};
use parsim_sim::node::{Module, Processor};
use parsim_sim::program::collective::Broadcast;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The models and measurements with which a scenario's times are compared, read once for all cases.
pub struct References {
    list: Vec<Reference>,
    /// The scenario to which the measurements and the published predictions apply.
    described: Described,
}

/// Returns the cases of a plan and their references; the scenario's file is at `path`.
///
/// # Errors
/// Returns the faults of the cases or of the measurements, or an error if a filter leaves no case.
pub fn prepared(plan: &Plan, path: &Path) -> Result<(Vec<Case>, References), StudyError> {
    Ok((cases_of(plan)?, References::load(plan.scenario(), path)?))
}

/// Returns the cases of a plan.
///
/// # Errors
/// Returns the faults of the cases, or an error if a filter leaves none.
pub fn cases_of(plan: &Plan) -> Result<Vec<Case>, StudyError> {
    let cases = plan.cases()?;
    if cases.is_empty() { Err(StudyError::no_case()) } else { Ok(cases) }
}

/// Reports the number of cases for which values of another machine or program are withheld, if there are any.
#[must_use]
pub fn note_on_withheld(cases: usize) -> Option<String> {
    let which = if cases == 1 { "one case".to_owned() } else { format!("{cases} cases") };
    (cases > 0).then(|| {
        format!(
            "note: no measurement or published prediction is shown for {which}: they belong to the machine and the \
             program that the scenario's file describes, and this is another one"
        )
    })
}

/// Reads the measurements in `file` and checks that their columns are axes or fields of the `described` scenario.
fn measurements(file: &Path, described: &Described) -> Result<Measurements, SourceFault> {
    let measured = Measurements::load_among(&described.named_files(), file)?;
    let fault = |what: &str, help: &str| SourceFault::new(&format!("{}: {what}", file.display())).help(help);
    if let Some(key) = measured.keys().iter().find(|key| !described.has_axis(key)) {
        return Err(fault(
            &format!("the column `{key}` is neither an axis nor the path of a field"),
            "name the columns before the measured time as the scenario names its axes",
        ));
    }
    if let Some(axis) = measured.columns_after().iter().find(|name| described.declares(name)) {
        return Err(fault(
            &format!("the axis `{axis}` is to the right of the measured time, where it is ignored"),
            "give the columns of the axes first, then the measured time",
        ));
    }
    let mut of_numbers = measured.keys().iter().filter(|key| described.has_numbers_on(key));
    if let Some((key, (text, place))) = of_numbers.find_map(|key| Some((key, measured.text_in(key)?))) {
        let what = format!("{place}, column `{key}`: `{text}` is not a number, unlike the values of that axis");
        return Err(fault(&what, "write the values of the axis as the scenario writes them"));
    }
    Ok(measured)
}

/// The measured points that have matched a case.
pub struct MatchedPoints<'r> {
    tables: Vec<(&'r Measurements, HashSet<usize>)>,
    /// The columns that are not an axis of the cases, so that no point matches.
    unknown: BTreeSet<&'r str>,
}

impl<'r> MatchedPoints<'r> {
    /// Returns an empty record of matches for the points of `references`.
    pub fn none(references: &'r References) -> Self {
        Self { tables: references.measured().map(|table| (table, HashSet::new())).collect(), unknown: BTreeSet::new() }
    }

    /// Marks the points that match the case with these keys.
    pub fn add(&mut self, keys: &[(String, Option<AxisValue>)]) {
        for (table, met) in &mut self.tables {
            met.extend(table.index_of(keys));
            let is_key = |column: &&String| keys.iter().any(|(key, _)| key == *column);
            self.unknown.extend(table.keys().iter().filter(|column| !is_key(column)).map(String::as_str));
        }
    }

    /// Reports the columns that prevent a match, if there are any.
    #[must_use]
    pub fn note_on_columns(&self) -> Option<String> {
        let columns: Vec<_> = self.unknown.iter().map(|column| format!("`{column}`")).collect();
        (!columns.is_empty()).then(|| {
            format!(
                "note: measured points are matched by axes, and {} here: name {} as the axis, or vary it with --over or `axes`",
                match &columns[..] {
                    [one] => format!("{one} is none"),
                    several => format!("{} are none", several.join(", ")),
                },
                if columns.len() == 1 { "the column" } else { "each column" }
            )
        })
    }

    /// Reports the points without a matching case, if there are any.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let place = |keys: Vec<(String, AxisValue)>| {
            keys.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        };
        let missing = self.tables.iter().flat_map(|(table, met)| {
            table.points().enumerate().filter(|(index, _)| !met.contains(index)).map(|(_, (keys, _))| place(keys))
        });
        let missing: Vec<_> = missing.collect();
        let shown = missing.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join("; ");
        let rest = if missing.len() > MAX_SHOWN { "; …" } else { "" };
        (!missing.is_empty())
            .then(|| format!("note: {} without a case: {shown}{rest}", counted(missing.len(), "measured point")))
    }
}

/// The formulas of a scenario, each with the reason why it has no value in any case so far.
pub struct FormulaValues<'r> {
    models: Vec<(&'r FormulaModel, FormulaState)>,
}

/// The values of a formula in the cases so far.
enum FormulaState {
    NoCase,
    /// It has no value in any case; the reason is that of the first.
    NoValue(String),
    HasValues,
}

impl<'r> FormulaValues<'r> {
    /// Returns the formulas of `references` before the first case.
    pub fn none(references: &'r References) -> Self {
        Self { models: references.formulas().map(|model| (model, FormulaState::NoCase)).collect() }
    }

    /// Adds a case.
    pub fn add(&mut self, case: &Case) {
        for (model, state) in &mut self.models {
            match (&state, model.seconds(case)) {
                (FormulaState::HasValues, _) | (FormulaState::NoValue(_), Err(_)) => {}
                (_, Ok(_)) => *state = FormulaState::HasValues,
                (FormulaState::NoCase, Err(reason)) => *state = FormulaState::NoValue(reason),
            }
        }
    }

    /// Reports the formulas without a value in any case.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.models.iter().filter_map(|(model, state)| {
            let FormulaState::NoValue(reason) = state else { return None };
            Some(format!("note: the formula `{}` of `compare` has no value in any case: {reason}", model.name()))
        })
    }
}

/// The maximum number of unmatched points that are named.
const MAX_SHOWN: usize = 5;

enum Reference {
    AsWritten,
    AsPrinted,
    PointToPoint,
    InnerIteration,
    Hierarchical,
    Measured(Measurements),
    Formula(FormulaModel),
    OneRank,
}

impl References {
    /// Reads the measurements that `scenario`, whose file is at `path`, lists; they apply to what the file describes.
    ///
    /// # Errors
    /// Returns a fault at the entry of `compare` whose measurements cannot be used.
    pub fn load(scenario: &Scenario, path: &Path) -> Result<Self, Faults> {
        Self::of(Document::load(path), scenario)
    }

    /// Reads the measurements that `scenario` lists; they apply to what `document` describes.
    ///
    /// # Errors
    /// Returns a fault if measurements cannot be used.
    pub fn of(document: Result<Document, Faults>, scenario: &Scenario) -> Result<Self, Faults> {
        let loaded = Self::about(Described::of(document.clone()), scenario);
        loaded.map_err(|(index, fault)| match document {
            Ok(document) => {
                let placed = document.fault_at(&format!("compare.{index}"), &fault.message, fault.help.as_deref());
                document.faults(vec![placed])
            }
            Err(_) => Faults::new(Sources::default(), vec![fault]),
        })
    }

    /// Reads the measurements that `scenario` lists; they apply to the `described` scenario.
    ///
    /// # Errors
    /// Returns a fault if measurements cannot be used, with their index in `compare`.
    pub fn about(described: Described, scenario: &Scenario) -> Result<Self, (usize, SourceFault)> {
        let reference = |comparison: &Comparison| {
            Ok(match comparison {
                Comparison::AsWritten => Reference::AsWritten,
                Comparison::AsPrinted => Reference::AsPrinted,
                Comparison::PointToPoint => Reference::PointToPoint,
                Comparison::InnerIteration => Reference::InnerIteration,
                Comparison::Hierarchical => Reference::Hierarchical,
                Comparison::OneRank => Reference::OneRank,
                Comparison::Measured(file) => Reference::Measured(measurements(Path::new(file), &described)?),
                Comparison::Formula { name, seconds } => {
                    Reference::Formula(FormulaModel::read((name, seconds), scenario, &described)?)
                }
            })
        };
        let numbered = scenario.compare.iter().enumerate();
        let list =
            numbered.map(|(index, one)| reference(one).map_err(|fault| (index, fault))).collect::<Result<_, _>>()?;
        Ok(Self { list, described })
    }

    /// Returns the scenario to which the measurements apply.
    #[must_use]
    pub const fn described(&self) -> &Described {
        &self.described
    }

    /// Returns the values with which the times of `case` are compared; one of them may need a run.
    pub fn compare(&self, case: &Case, alone: OneRankTime<'_>) -> Vec<ReferenceValue> {
        self.list.iter().flat_map(|reference| self.belonging(reference, case, alone)).collect()
    }

    /// Returns the state in `store` of all runs of `case`, including those of its references.
    pub fn state(&self, case: &Case, store: &Store) -> State {
        let own = state(store, &case.scenario);
        let alone = || case.scenario.on_one_rank().map_or(State::Found, |alone| state(store, &alone));
        match own {
            State::Found if self.has_one_rank() && alone() == State::Missing => State::Missing,
            _ => own,
        }
    }

    /// Returns `true` if there are no references.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns `true` if one of the references is a run on one rank.
    pub fn has_one_rank(&self) -> bool {
        self.list.iter().any(|reference| matches!(reference, Reference::OneRank))
    }

    /// Returns the measurements among the references.
    fn measured(&self) -> impl Iterator<Item = &Measurements> {
        self.list.iter().filter_map(|reference| match reference {
            Reference::Measured(table) => Some(table),
            _ => None,
        })
    }

    /// Returns the formulas among the references.
    fn formulas(&self) -> impl Iterator<Item = &FormulaModel> {
        self.list.iter().filter_map(|reference| match reference {
            Reference::Formula(model) => Some(model),
            _ => None,
        })
    }

    /// Reports measured points that were measured several times.
    pub fn notes_on_repetitions(&self) -> impl Iterator<Item = String> + '_ {
        self.measured().filter_map(Measurements::note_on_repetitions)
    }

    /// Explains why the program of `case` cannot run on one rank, if a reference needs such a run.
    pub fn note_on_one_rank(&self, case: &Case) -> Option<String> {
        let rejection = self.has_one_rank().then(|| case.scenario.on_one_rank().err()).flatten()?;
        let why = rejection.0.first().map_or("", |fault| &fault.message);
        Some(format!("note: there is no time on one rank, and no speedup: on one rank {why}"))
    }

    /// Returns `true` if publications on the machine of the scenario's file apply to the machine of `case`.
    pub fn has_machine_of(&self, case: &Case) -> bool {
        self.described.has_machine_of(case)
    }

    /// Returns the values of `reference` for `case`, withheld where they belong to another machine or program.
    fn belonging(&self, reference: &Reference, case: &Case, alone: OneRankTime<'_>) -> Vec<ReferenceValue> {
        let compared = reference.compare(case, alone);
        let belongs = match reference {
            _ if compared.iter().all(|one| one.value.is_none()) => true,
            Reference::Measured(table) => self.described.matches(case, table.keys()),
            Reference::AsWritten | Reference::AsPrinted | Reference::PointToPoint | Reference::InnerIteration => {
                self.has_machine_of(case)
            }
            Reference::Hierarchical | Reference::OneRank | Reference::Formula(_) => true,
        };
        compared.into_iter().map(|one| one.only_if(belongs)).collect()
    }
}

impl Reference {
    fn compare(&self, case: &Case, alone: OneRankTime<'_>) -> Vec<ReferenceValue> {
        let (title, key, value) = match self {
            Self::AsWritten => {
                let seconds = as_written(&case.scenario).map(|prediction| prediction.total_s);
                ("predicted as written", "predicted_as_written_s", seconds)
            }
            Self::AsPrinted => {
                let seconds = as_printed(&case.scenario).map(|prediction| prediction.total_s);
                ("predicted as printed", "predicted_as_printed_s", seconds)
            }
            Self::PointToPoint => {
                let (beside, seconds) = (ReferenceTarget::Outcome("message_s"), message_s(&case.scenario));
                return vec![compared("message by equation (4)", "predicted_message_s", beside, seconds)];
            }
            Self::Measured(table) => {
                let beside = table.efficiency_is_known().then_some(ReferenceTarget::Outcome("efficiency"));
                let (key, beside) =
                    beside.map_or(("measured_s", ReferenceTarget::MeasuredMakespan), |it| ("known_efficiency", it));
                return vec![compared("measured", key, beside, table.at(&case.keys))];
            }
            Self::Hierarchical => return cluster::predictions(&case.scenario),
            Self::Formula(model) => return vec![model.compare(case)],
            Self::OneRank => {
                let seconds = alone.seconds(&case.scenario);
                return vec![compared("on one rank", "one_rank_s", ReferenceTarget::OneRank, seconds)];
            }
            Self::InnerIteration => return inner_iteration(&case.scenario),
        };
        vec![compared(title, key, ReferenceTarget::Makespan, value)]
    }
}

fn compared(title: &str, key: &str, beside: ReferenceTarget, value: Option<f64>) -> ReferenceValue {
    ReferenceValue { title: title.to_owned(), key: key.to_owned(), beside, value, is_withheld: false }
}

/// Returns the cycles of one inner iteration by CS-RR-281, Table 5, for comparison with those of the kernel `Rsub`.
fn inner_iteration(scenario: &CheckedScenario) -> Vec<ReferenceValue> {
    let shares = zemerly::ComputationShares::inner_iteration();
    let clock = inner_iteration_clock(scenario);
    let row = |title: &str, key: &str, outcomes, seconds: f64| {
        compared(title, key, ReferenceTarget::Outcomes(outcomes), clock.map(|per_s| per_s * seconds))
    };
    let sum = shares.processing_s() + shares.memory_s();
    vec![
        row("Table 5, CPU", "published_cpu_cycles", &["cpu_cycles"], shares.cpu_s),
        row("Table 5, FPU", "published_fpu_cycles", &["fpu_cycles"], shares.fpu_s),
        row(
            "Table 5, external memory",
            "published_external_cycles",
            &["external_memory_cycles", "fetch_cycles"],
            shares.external_memory_s,
        ),
        row(
            "Table 5, internal memory",
            "published_internal_memory_cycles",
            &["internal_memory_cycles"],
            shares.internal_memory_s,
        ),
        row(
            "Table 5, sum",
            "published_sum_cycles",
            &["cpu_cycles", "fpu_cycles", "external_memory_cycles", "fetch_cycles", "internal_memory_cycles"],
            sum,
        ),
    ]
}

/// Returns the clock rate, in Hz, of a scenario that times inner iterations by kernels.
#[expect(clippy::cast_precision_loss, reason = "clock rates are far below 2^53 Hz")]
fn inner_iteration_clock(scenario: &CheckedScenario) -> Option<f64> {
    match (&scenario.program, &scenario.machine.nodes.processor) {
        (Shipped::Compute(program), Processor::Kernels(kernels)) if program.module == Module::Rsub => {
            Some(kernels.t800.clock.per_s() as f64)
        }
        _ => None,
    }
}

/// Evaluates the equations of CS-RR-281 as written, if they apply to `scenario`.
pub fn as_written(scenario: &CheckedScenario) -> Option<Prediction> {
    let (n, broadcast) = gauss_jordan(scenario)?;
    let (rows, columns) = parsim_sim::machine::near_square(scenario.ranks);
    Some(zemerly::as_written(n, zemerly::Mesh::new(rows, columns), broadcast))
}

/// Returns the prediction that CS-RR-281 prints for `scenario`, if any.
pub fn as_printed(scenario: &CheckedScenario) -> Option<Prediction> {
    let (n, broadcast) = gauss_jordan(scenario)?;
    zemerly::as_printed(n, scenario.ranks, broadcast)
}

/// Returns the number of equations of a Gauss-Jordan scenario, and its broadcast.
fn gauss_jordan(scenario: &CheckedScenario) -> Option<(u32, zemerly::BroadcastTerms)> {
    let Shipped::GaussJordan(GaussJordan { n, broadcast, distribution: Distribution::BlockRows, .. }) =
        &scenario.program
    else {
        return None;
    };
    let broadcast = match broadcast {
        Broadcast::Naive(_) => zemerly::BroadcastTerms::Naive,
        Broadcast::Neighbour(_) => zemerly::BroadcastTerms::Neighbour,
        _ => return None,
    };
    Some((u32::try_from(*n).ok()?, broadcast))
}

#[expect(clippy::cast_precision_loss, reason = "a message that fits in memory has fewer than 2^52 bytes")]
fn message_s(scenario: &CheckedScenario) -> Option<f64> {
    let Shipped::Ping(ping) = &scenario.program else { return None };
    let layout = scenario.layout();
    let hops = layout.topology.distance(layout.node(0), layout.node(1));
    // The equation is one of messages over links.
    (hops > 0).then_some(())?;
    Some(PointToPoint::PARSYTEC_SUPERCLUSTER.time_s(ping.bytes.count() as f64, f64::from(hops)))
}

/// The makespan of the same program on one rank, in seconds, averaged over all seeds.
#[derive(Clone, Copy)]
pub enum OneRankTime<'r> {
    /// Looked up or simulated, if the program can run on one rank.
    Of(&'r CaseRuns<'r>),
    /// Known; `None` if the program cannot run on one rank.
    Known(Option<f64>),
}

impl OneRankTime<'_> {
    fn seconds(self, scenario: &CheckedScenario) -> Option<f64> {
        match self {
            Self::Of(runs) => first_and_mean_s(&scenario.on_one_rank().ok()?, runs).ok().map(|(_, mean_s)| mean_s),
            Self::Known(seconds) => seconds,
        }
    }
}
