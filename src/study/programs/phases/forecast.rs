//! A count of the packets and jobs of steps without executing them, for programs that are too long to be rehearsed.

use super::Phases;
use super::communicators::{Split, names_in, splits};
use super::expression::{Expression, Size};
use super::neighbours::GridDimension;
use super::scope::Scope;
use super::step::{Neighbours, Step};
use crate::programs::expression::Value;
use crate::programs::forecast::{ComputedWork, Forecast};
use crate::programs::mean_distance;
use parsim_sim::program::Grid;
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::units::real;
use std::collections::BTreeMap;

/// Maximum number of steps examined for one rank.
const STEPS_PER_RANK: u32 = 20_000;
/// Approximate maximum number of steps examined for all ranks together. Beyond it, a sample of the ranks represents
/// all.
const STEPS: u32 = 200_000;
/// Minimum number of ranks in the sample.
const FEWEST_RANKS: u32 = 8;
/// Number of rounds that represent all rounds of a loop whose rounds differ.
const ROUNDS: u64 = 8;
/// Maximum depth of nested calls that are followed.
const DEEPEST: u32 = 50;
/// The variables whose values come from messages.
const MESSAGE_VARIABLES: [&str; 2] = ["source", "number"];

/// Returns the forecast for all ranks. If all ranks and rounds are examined or all are alike, it is as exact as the
/// distances of messages, which are those on a mesh. If the steps depend on messages, only the lower bounds are
/// meaningful.
pub(super) fn count(program: &Phases, ranks: u32, packet_bytes: u64) -> Forecast {
    let (splits, _) = splits(program, ranks, 0);
    let grid = Grid::of(ranks);
    let of_rank = |rank: u32| {
        let global = scope(program, &splits, (rank, grid));
        let (left, scope) = (STEPS_PER_RANK, global.clone());
        let mut counter = Counter { program, global, scope, rank, grid, packet_bytes, left, depth: 0 };
        let all = counter.steps(&program.steps);
        (all, STEPS_PER_RANK - counter.left)
    };
    let (first, examined) = of_rank(0);
    let others = u64::from(ranks - 1);
    let sample = others.min((STEPS / examined.max(1)).max(FEWEST_RANKS).into());
    let chosen = (0..sample).map(|place| 1 + u32::try_from(spread(others, sample, place)).expect("it is a rank"));
    let rest = chosen.map(|rank| of_rank(rank).0).fold(Forecast::default(), |sum, part| sum + part);
    first + scaled(rest, others, sample)
}

/// Returns the names that all steps of a rank know.
fn scope(program: &Phases, splits: &[Split], (rank, grid): (u32, Grid)) -> Scope {
    let mut scope = program.scope(rank, grid, 0);
    for (communicator, split) in program.communicators.keys().zip(splits) {
        let (place, size) = split.of(rank).map_or((-1, 0), |(group, place)| (place.into(), group.count().into()));
        for (name, value) in names_in(communicator).iter().zip([place, size]) {
            scope.declare(name, Value::Whole(value));
        }
    }
    scope
}

/// Scales the counts of a sample of `sample` rounds or ranks to `all` of them. The lower bounds are not scaled.
fn scaled(counted: Forecast, all: u64, sample: u64) -> Forecast {
    let Forecast { least_packets, least_jobs, .. } = counted;
    Forecast { least_packets, least_jobs, ..counted * (real(all) / real(sample.max(1))) }
}

/// Returns the number, below `all`, of element `place` of a sample of `sample` elements. The elements are spread evenly
/// but aperiodically (golden section).
fn spread(all: u64, sample: u64, place: u64) -> u64 {
    const GOLDEN: u64 = 40_503;
    let within = (place * GOLDEN + GOLDEN / 2) % (1 << 16);
    let chosen = u128::from(all) * u128::from((place << 16) + within) / u128::from(sample << 16);
    if all == sample { place } else { u64::try_from(chosen).expect("it is below all of them") }
}

struct Counter<'p> {
    program: &'p Phases,
    /// The names that functions know, too.
    global: Scope,
    scope: Scope,
    rank: u32,
    grid: Grid,
    packet_bytes: u64,
    /// Number of steps that may still be examined.
    left: u32,
    /// Number of nested calls.
    depth: u32,
}

/// The forecast of a step without any effect.
const NOTHING: Forecast = Forecast {
    packet_hops: 0.0,
    jobs: 0.0,
    least_packets: 0.0,
    least_jobs: 0.0,
    verbs: 0.0,
    work: ComputedWork { flops: 0.0, seconds: 0.0 },
    is_open: false,
};
/// The forecast of a step whose effect depends on messages.
const OPEN: Forecast = Forecast { is_open: true, ..NOTHING };
/// The forecast of a verb.
const VERB: Forecast = Forecast { verbs: 1.0, ..NOTHING };
/// The forecast of a verb that is a job.
const JOB: Forecast = Forecast { jobs: 1.0, least_jobs: 1.0, ..VERB };
/// The verbs of an operation that is waited for later.
const REQUEST: Forecast = Forecast { verbs: 2.0, ..NOTHING };
/// The verbs of a message of an exchange or a collective operation: its send, its receive, and the wait for the send.
const VERBS_PER_MESSAGE: f64 = 3.0;
/// The forecast of a message of an exchange.
const EXCHANGED: Forecast = Forecast { verbs: VERBS_PER_MESSAGE, ..NOTHING };

impl Counter<'_> {
    fn steps(&mut self, steps: &[Step]) -> Forecast {
        let outside = self.scope.count();
        let counted = steps.iter().map(|step| self.step(step)).fold(Forecast::default(), |sum, part| sum + part);
        self.scope.keep(outside);
        counted
    }

    fn step(&mut self, step: &Step) -> Forecast {
        if self.left == 0 {
            return OPEN;
        }
        self.left -= 1;
        self.known(step).unwrap_or(OPEN)
    }

    /// Returns the forecast of a step, or `None` if it depends on messages.
    fn known(&mut self, step: &Step) -> Option<Forecast> {
        Some(match step {
            Step::Phase { steps, .. } => self.steps(steps),
            Step::While { .. } => return None,
            Step::Repeat { times, index, steps } => self.repeat(self.count(times)?, index.as_deref(), steps),
            Step::When { condition, then, otherwise } => {
                let holds = condition.condition(self.deciding(condition)?).ok()?;
                self.steps(if holds { then } else { otherwise })
            }
            Step::Send { to, bytes, .. } => VERB + self.message(step, to, bytes)?,
            Step::Isend { to, bytes, .. } => REQUEST + self.message(step, to, bytes)?,
            Step::Exchange { with, bytes } | Step::Iexchange { with, bytes, .. } => self.exchange(with, bytes)?,
            Step::Collective { operation, bytes, communicator, .. } => {
                self.collective(operation, self.bytes(bytes)?, communicator.as_deref())
            }
            Step::Icollective { operation, bytes, communicator, .. } => {
                REQUEST + self.collective(operation, self.bytes(bytes)?, communicator.as_deref())
            }
            Step::Compute { flops, bytes, seconds, .. } => {
                let flops = self.count(flops)?;
                let is_work = seconds.is_some() || flops > 0;
                let parts = [is_work, bytes.is_some()].map(|is_asked| if is_asked { JOB } else { NOTHING });
                let seconds = seconds.as_ref().map_or(0.0, |seconds| self.real(seconds).unwrap_or(f64::NAN));
                Forecast { work: ComputedWork { flops: real(flops), seconds }, ..parts[0] + parts[1] }
            }
            Step::Input { .. } | Step::Output { .. } => JOB,
            Step::Receive { .. } => VERB,
            Step::Irecv { .. } => REQUEST,
            Step::Wait { .. } | Step::Waitany { .. } | Step::Waitall | Step::Test { .. } => NOTHING,
            Step::Let { name, value } => {
                let value = self.deciding(value).and_then(|scope| value.value(scope).ok());
                self.scope.set(name, value);
                NOTHING
            }
            Step::Draw { name, .. } => {
                self.scope.set(name, None);
                NOTHING
            }
            Step::Call { function, arguments } => self.call(function, arguments)?,
        })
    }

    /// Counts the packets that a rank sends to its neighbours.
    fn exchange(&mut self, with: &Neighbours, bytes: &Size) -> Option<Forecast> {
        let count =
            |expression: &Expression, field: &str| expression.count(&self.global).map_err(|fault| fault.at(field));
        let dimensions = with.dimensions(self.grid, count).ok()?;
        dimensions
            .iter()
            .try_fold(Forecast::default(), |sum, dimension| Some(sum + self.along(with, dimension, bytes)?))
    }

    /// Counts the packets that a rank sends to its neighbours along a dimension.
    fn along(&mut self, with: &Neighbours, dimension: &GridDimension, bytes: &Size) -> Option<Forecast> {
        let outside = self.scope.count();
        for (name, value) in with.names().iter().zip([dimension.number, dimension.side]) {
            self.scope.declare(name, Value::Whole(value.into()));
        }
        let bytes = self.bytes(bytes);
        self.scope.keep(outside);
        let bytes = bytes?;
        let neighbours = dimension.neighbours(self.rank).into_iter().flatten();
        let exchanged = neighbours.map(|to| EXCHANGED + self.messages(bytes, 1.0, self.distance(to)));
        Some(exchanged.fold(Forecast::default(), |sum, part| sum + part))
    }

    /// Counts the packets that a rank sends in a collective operation, given the size of its communicator.
    fn collective(&self, operation: &CollectiveOperation, bytes: u64, communicator: Option<&str>) -> Forecast {
        let size = communicator.and_then(|name| self.scope.get(&names_in(name)[1]));
        let ranks = size.and_then(Value::as_whole).and_then(|size| u32::try_from(size).ok());
        let ranks = ranks.unwrap_or(self.grid.ranks()).max(1);
        let messages = operation.messages(ranks, bytes) / f64::from(ranks);
        let all = self.messages(operation.message_bytes(ranks, bytes), messages, mean_distance(ranks));
        let least_packets = operation.least_messages(ranks, bytes) / f64::from(ranks);
        Forecast { least_packets, verbs: VERBS_PER_MESSAGE * messages, ..all }
    }

    /// Counts the packets of a message that a step sends.
    fn message(&self, step: &Step, to: &Expression, bytes: &Size) -> Option<Forecast> {
        let bytes = self.bytes(bytes)?;
        let among_all = self.deciding(to).filter(|_| step.communicator().is_none());
        // The distance to an unknown rank, such as the source of the last message, is the mean one.
        let to = among_all.and_then(|scope| to.rank(scope).ok());
        Some(self.messages(bytes, 1.0, to.map_or(mean_distance(self.grid.ranks()), |to| self.distance(to))))
    }

    fn call(&mut self, function: &str, arguments: &BTreeMap<String, Expression>) -> Option<Forecast> {
        let function = self.program.functions.get(function).filter(|_| self.depth < DEEPEST)?;
        let mut inside = self.global.clone();
        for parameter in &function.parameters {
            let argument = arguments.get(parameter).and_then(|value| value.value(self.deciding(value)?).ok());
            inside.declare(parameter, argument);
        }
        let outside = std::mem::replace(&mut self.scope, inside);
        self.depth += 1;
        let counted = self.steps(&function.steps);
        self.depth -= 1;
        self.scope = outside;
        Some(counted)
    }

    /// Returns the variables if they suffice to evaluate an expression before any message has arrived.
    fn deciding(&self, expression: &Expression) -> Option<&Scope> {
        let comes_from_message = |(name, _): (&str, _)| MESSAGE_VARIABLES.contains(&name);
        (!expression.formula().names().any(comes_from_message)).then_some(&self.scope)
    }

    fn bytes(&self, size: &Size) -> Option<u64> {
        size.bytes(self.deciding(size.count())?).ok()
    }

    fn count(&self, expression: &Expression) -> Option<u64> {
        expression.count(self.deciding(expression)?).ok()
    }

    fn real(&self, expression: &Expression) -> Option<f64> {
        expression.value(self.deciding(expression)?).ok()?.as_real()
    }

    fn repeat(&mut self, times: u64, index: Option<&str>, steps: &[Step]) -> Forecast {
        match index.filter(|index| mention(steps, index)) {
            _ if times == 0 => Forecast::default(),
            _ if self.changes(steps) => self.steps(steps) + if times > 1 { OPEN } else { NOTHING },
            None => self.steps(steps) * real(times),
            Some(index) => {
                let sample = times.min(ROUNDS);
                let rounds: Vec<_> =
                    (0..sample).map(|place| self.round(index, spread(times, sample, place), steps)).collect();
                scaled(rounds.into_iter().fold(Forecast::default(), |sum, round| sum + round), times, sample)
            }
        }
    }

    fn round(&mut self, index: &str, round: u64, steps: &[Step]) -> Forecast {
        self.scope.declare(index, Value::Whole(i64::try_from(round).unwrap_or(i64::MAX)));
        let counted = self.steps(steps);
        self.scope.keep(self.scope.count() - 1);
        counted
    }

    /// Returns `true` if the steps assign a value to a variable that was known before them.
    fn changes(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| match step {
            Step::Let { name, .. } | Step::Draw { name, .. } => self.scope.has(name),
            step => step.inner().into_iter().any(|(_, inner)| self.changes(inner)),
        })
    }

    fn messages(&self, bytes: u64, count: f64, distance: f64) -> Forecast {
        let packets = if distance > 0.0 { count * real(bytes.div_ceil(self.packet_bytes).max(1)) } else { 0.0 };
        Forecast { packet_hops: packets * distance, least_packets: packets, ..Forecast::default() }
    }

    /// Returns the number of links between this rank and another one on a mesh with the ranks in row-major order.
    fn distance(&self, to: u32) -> f64 {
        let ((row, column), (to_row, to_column)) = (self.grid.coordinates(self.rank), self.grid.coordinates(to));
        f64::from(row.abs_diff(to_row)) + f64::from(column.abs_diff(to_column))
    }
}

/// Returns `true` if the steps, or those within them, use a variable.
fn mention(steps: &[Step], variable: &str) -> bool {
    let names = |expression: &Expression| expression.formula().names().any(|(name, _)| name == variable);
    steps.iter().any(|step| {
        step.expressions().into_iter().any(|(_, expression)| names(expression))
            || step.inner().into_iter().any(|(_, inner)| mention(inner, variable))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(steps: &str, ranks: u32) -> Forecast {
        let program: Phases = ron::Options::default().from_str(&format!("(steps: [{steps}])")).unwrap();
        count(&program, ranks, 100)
    }

    #[test]
    fn computations_and_packets_of_loops_are_counted_exactly_where_rounds_are_alike() {
        let steps = "Repeat(times: \"1000000000000\", steps: [Compute(flops: \"10\"),
                     Repeat(times: \"p\", steps: [Exchange(with: Ring, bytes: \"101 B\")])])";
        let Forecast { jobs, least_jobs, least_packets, is_open, .. } = counted(steps, 4);
        assert_eq!((jobs, least_jobs, least_packets, is_open), (4e12, 4e12, 4.0 * 4e12 * 2.0 * 2.0, false));
    }

    /// The sample is not biased by the parity of rounds, or by a step that happens only every thousand rounds.
    #[test]
    fn rounds_that_differ_are_sampled() {
        let within = |steps: &str, exact: f64| {
            let jobs = counted(steps, 1).jobs;
            assert!((0.5 * exact..=1.5 * exact).contains(&jobs), "{steps}: {jobs}, and it is {exact}");
        };
        let repeat =
            |times: &str, steps: &str| format!("Repeat(times: \"{times}\", index: Some(\"i\"), steps: [{steps}])");
        let compute = "Compute(flops: \"10\")";
        within(&repeat("8000000", &format!("When(condition: \"i % 2 == 0\", then: [{compute}])")), 4e6);
        within(&repeat("8000000", &format!("{compute}, When(condition: \"i % 1000 == 0\", then: [{compute}])")), 8e6);
        within(&repeat("1000", "Repeat(times: \"1000\", index: Some(\"j\"), steps: [Compute(flops: \"i + j\")])"), 1e6);
        within(&repeat("1000", &format!("Repeat(times: \"i\", steps: [{compute}])")), 499_500.0);
        assert!(counted(&repeat("1000", "Compute(flops: \"i\")"), 1).least_jobs <= 999.0);
    }

    #[test]
    fn messages_that_decide_leave_only_what_is_certain() {
        let certain = "Compute(flops: \"10\")";
        for open in [
            "While(condition: \"rank >= 0\", steps: [Receive(from: \"0\")])",
            "Repeat(times: \"number\", steps: [Compute(flops: \"10\")])",
            "When(condition: \"source > 0\", then: [Compute(flops: \"10\")])",
        ] {
            let Forecast { jobs, is_open, .. } = counted(&format!("{certain}, {open}"), 3);
            assert_eq!((jobs, is_open), (3.0, true), "{open}");
        }
        assert!(!counted("Receive(from: \"0\"), Send(to: \"source\", bytes: \"8 B\")", 3).is_open);
    }

    /// A master among many workers represents only itself.
    #[test]
    fn a_rank_that_does_most_stands_for_itself() {
        let steps = "When(condition: \"rank == 0\", then: [Repeat(times: \"1000 * p\", index: Some(\"i\"), steps: [
                     Send(to: \"1 + i % (p - 1)\", bytes: \"8 B\"), Compute(flops: \"1 + i\")])])";
        let Forecast { jobs, .. } = counted(steps, 4096);
        assert!((jobs - 4_096_000.0).abs() < 1.0, "{jobs}");
    }
}
