//! The components of an execution time, CS-RR-281 sections 3 and 3.5.

use parsim_sim::trace::{Account, Activity, EXPOSED_COMMUNICATION, HIDDEN_COMMUNICATION, Phase, Trace};
use parsim_sim::units::SimDuration;

#[cfg(test)]
pub(super) mod tests;

/// The components of one execution time, in seconds. The names in brackets are the rows of CS-RR-281, Table 5.
///
/// A prediction and a simulated run have the same components, so that the same questions can be asked of both. The
/// components of a run are the times of the rank that ends last, which exists from beginning to end: that of the host,
/// unless it ends earlier.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// The total time (Txp). A part of it may belong to no component.
    pub total_s: f64,
    /// Processing and memory together (Tproc + Tmem).
    pub computation_s: f64,
    /// The parts of the computation, if the description of the processor provides them.
    pub split: Option<ComputationSplit>,
    /// `T_s` of equation (7), the serial part; `None` if the source does not separate it.
    pub serial_s: Option<f64>,
    /// `T_po` of equation (7), processing that only the parallel program needs; `None` if the source does not separate
    /// it.
    pub parallel_overhead_s: Option<f64>,
    /// Loads from and stores to memories that ranks share, a part of Tmem; `None` for a run without any.
    pub shared_memory_s: Option<f64>,
    /// Initialisation of the links (Tcini).
    pub initialisation_s: f64,
    /// Distribution of the data (Tdist).
    pub distribution_s: f64,
    /// Broadcasts, including the wait for their senders (Tbroad).
    pub broadcast_s: f64,
    /// Collection of the results (Tcol).
    pub collection_s: f64,
    /// All other communication: barriers, exchanges, and routing for other nodes during computation.
    pub other_communication_s: f64,
    /// The other communication by phase, in the order in which the phases begin. Phases without any are omitted.
    pub other_communication_phases: Vec<PhaseCommunication>,
    /// Reading (Tinp).
    pub input_s: f64,
    /// Writing (Tout).
    pub output_s: f64,
    /// `Σ p_i T_i / (p Σ T_i)` of equation (8) over all stages of the run. A processor is active while it computes for
    /// the program.
    pub processor_utilization: f64,
    /// `Σ p_i T_i / (p Σ T_i)` over the stages of computation only, which is `U_p` as equation (7) uses it: the mean
    /// computing time of the processors divided by the longest one. The models assume 1.
    pub load_balance: f64,
    /// The hidden and the exposed communication, as means over the ranks, of a program that may hide communication.
    pub overlap_s: Option<(f64, f64)>,
}

/// The communication in one phase, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseCommunication {
    /// The phase.
    pub phase: Phase,
    /// That of the rank that ends last.
    pub last_rank_s: f64,
    /// The mean over the ranks.
    pub mean_s: f64,
}

impl PhaseCommunication {
    /// Returns `true` if the rank that ends last is more than a fifth from the mean, by a noticeable part of a run of
    /// `total_s`.
    #[must_use]
    pub fn is_uneven(&self, total_s: f64) -> bool {
        let difference_s = (self.last_rank_s - self.mean_s).abs();
        difference_s > 0.2 * self.mean_s && difference_s > NOTICEABLE * total_s
    }
}

/// The parts of a computation, as fractions that sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComputationSplit {
    /// The processor without its floating-point unit (Tcpu).
    pub cpu: f64,
    /// The part of the floating-point unit that does not overlap with the rest (Tfpu).
    pub fpu: f64,
    /// Accesses to on-chip memory (Tinm).
    pub internal_memory: f64,
    /// Accesses to external memory, including instruction fetches (Texm).
    pub external_memory: f64,
    /// The words of data that the program moves between memory and processor per floating-point operation, if known.
    pub words_per_flop: Option<f64>,
}

/// The activities that are communication.
const COMMUNICATING: [Activity; 3] = [Activity::Sending, Activity::Blocked, Activity::System];

/// The phases whose communication is a part of its own.
const NAMED_COMMUNICATION: [Phase; 4] = ["initialisation", "distribution", "broadcast", "collection"];

/// The smallest part of a run that matters.
const NOTICEABLE: f64 = 0.05;

/// A component of the execution time for which a B-ratio is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Component {
    /// The processor works on available operands (Tproc).
    Processing,
    /// The processor waits for its memory (Tmem).
    Memory,
    /// Processing and memory together, if they cannot be separated.
    Computation,
    /// The rank communicates, or waits for other ranks that communicate (Tcom).
    Communication,
    /// The rank waits for input and output (Ti/o).
    InputOutput,
    /// The serial part, `T_s` of equation (7).
    Serial,
    /// The overhead of the parallel program, `T_po` of equation (7).
    ParallelOverhead,
}

/// A part of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubComponent {
    /// The processor without its floating-point unit, a part of processing.
    Cpu,
    /// The floating-point unit, a part of processing.
    Fpu,
    /// On-chip memory, a part of memory.
    InternalMemory,
    /// External memory, a part of memory.
    ExternalMemory,
    /// Memory that ranks share, a part of memory.
    SharedMemory,
    /// Initialisation of the links, a part of communication.
    Initialisation,
    /// Distribution of the data, a part of communication.
    Distribution,
    /// Broadcasts, a part of communication.
    Broadcast,
    /// Collection of the results, a part of communication.
    Collection,
    /// All other communication, a part of communication.
    OtherCommunication,
    /// Reading, a part of input and output.
    Input,
    /// Writing, a part of input and output.
    Output,
}

impl Component {
    /// All components.
    pub const ALL: [Self; 7] = [
        Self::Processing,
        Self::Memory,
        Self::Computation,
        Self::Communication,
        Self::InputOutput,
        Self::Serial,
        Self::ParallelOverhead,
    ];

    /// Returns the name of the component as an output key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Memory => "memory",
            Self::Computation => "computation",
            Self::Communication => "communication",
            Self::InputOutput => "input_output",
            Self::Serial => "serial",
            Self::ParallelOverhead => "parallel_overhead",
        }
    }

    /// Returns the name of the component in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::InputOutput => "input and output",
            Self::Serial => "the serial part",
            Self::ParallelOverhead => "parallel overhead",
            _ => self.name(),
        }
    }

    /// Returns the parts of the component.
    #[must_use]
    pub const fn parts(self) -> &'static [SubComponent] {
        match self {
            Self::Processing => &[SubComponent::Cpu, SubComponent::Fpu],
            Self::Memory => &[SubComponent::InternalMemory, SubComponent::ExternalMemory, SubComponent::SharedMemory],
            Self::Communication => &[
                SubComponent::Initialisation,
                SubComponent::Distribution,
                SubComponent::Broadcast,
                SubComponent::Collection,
                SubComponent::OtherCommunication,
            ],
            Self::InputOutput => &[SubComponent::Input, SubComponent::Output],
            Self::Computation | Self::Serial | Self::ParallelOverhead => &[],
        }
    }
}

impl SubComponent {
    /// All parts of all components.
    pub const ALL: [Self; 12] = [
        Self::Cpu,
        Self::Fpu,
        Self::InternalMemory,
        Self::ExternalMemory,
        Self::SharedMemory,
        Self::Initialisation,
        Self::Distribution,
        Self::Broadcast,
        Self::Collection,
        Self::OtherCommunication,
        Self::Input,
        Self::Output,
    ];

    /// Returns the name of the part as an output key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Fpu => "fpu",
            Self::InternalMemory => "internal_memory",
            Self::ExternalMemory => "external_memory",
            Self::SharedMemory => "shared_memory",
            Self::Initialisation => "initialisation",
            Self::Distribution => "distribution",
            Self::Broadcast => "broadcast",
            Self::Collection => "collection",
            Self::OtherCommunication => "other_communication",
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    /// Returns the name of the part in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Fpu => "FPU",
            Self::InternalMemory => "internal memory",
            Self::ExternalMemory => "external memory",
            Self::SharedMemory => "shared memory",
            Self::Initialisation => "initialisation of links",
            Self::OtherCommunication => "other communication",
            _ => self.name(),
        }
    }
}

impl Components {
    /// Returns the means of several runs, part by part, with the split of the first run; `None` without runs.
    #[must_use]
    pub fn mean(runs: &[Self]) -> Option<Self> {
        let first = runs.first()?;
        #[expect(clippy::cast_precision_loss, reason = "nobody repeats a run 2^52 times")]
        let mean = |part: fn(&Self) -> f64| runs.iter().map(part).sum::<f64>() / runs.len() as f64;
        let known = |part: fn(&Self) -> Option<f64>| {
            let parts: Option<Vec<f64>> = runs.iter().map(part).collect();
            parts.and_then(|parts| super::Sample::of(&parts)).map(|sample| sample.mean)
        };
        Some(Self {
            total_s: mean(|run| run.total_s),
            computation_s: mean(|run| run.computation_s),
            split: first.split,
            serial_s: known(|run| run.serial_s),
            parallel_overhead_s: known(|run| run.parallel_overhead_s),
            shared_memory_s: known(|run| run.shared_memory_s),
            initialisation_s: mean(|run| run.initialisation_s),
            distribution_s: mean(|run| run.distribution_s),
            broadcast_s: mean(|run| run.broadcast_s),
            collection_s: mean(|run| run.collection_s),
            other_communication_s: mean(|run| run.other_communication_s),
            other_communication_phases: mean_by_phase(runs),
            input_s: mean(|run| run.input_s),
            output_s: mean(|run| run.output_s),
            processor_utilization: mean(|run| run.processor_utilization),
            load_balance: mean(|run| run.load_balance),
            overlap_s: known(|run| run.overlap_s.map(|(hidden, _)| hidden))
                .zip(known(|run| run.overlap_s.map(|(_, exposed)| exposed))),
        })
    }

    /// Returns the components of a simulated run: the times of its [last rank](Trace::last_rank).
    ///
    /// Computing counts as the serial part in phases named `serial`, as the parallel overhead in phases named
    /// `overhead`, and as computation in all others. Transfers from and to the host are input and output; loads of
    /// shared memories are memory. Everything else is the communication that its phase is named after, or other
    /// communication.
    #[must_use]
    pub fn of_trace(trace: &Trace, split: Option<ComputationSplit>) -> Self {
        let (accounts, rank) = (&trace.accounts, trace.last_rank());
        let mut components = Self {
            total_s: trace.makespan.seconds(),
            computation_s: 0.0,
            split,
            serial_s: None,
            parallel_overhead_s: None,
            shared_memory_s: None,
            initialisation_s: 0.0,
            distribution_s: 0.0,
            broadcast_s: 0.0,
            collection_s: 0.0,
            other_communication_s: 0.0,
            other_communication_phases: Vec::new(),
            input_s: 0.0,
            output_s: 0.0,
            processor_utilization: utilization(trace),
            load_balance: load_balance(trace),
            overlap_s: trace.outcome(HIDDEN_COMMUNICATION).zip(trace.outcome(EXPOSED_COMMUNICATION)),
        };
        for phase in accounts.phases() {
            components.add(phase, accounts.account(rank, phase));
        }
        components.other_communication_phases = other_communication_phases(trace);
        let with_host = accounts.rank(rank).get(Activity::InputOutput);
        components.input_s = (with_host - trace.written).seconds();
        components.output_s = trace.written.seconds();
        components
    }

    fn add(&mut self, phase: Phase, account: Account) {
        let seconds = |activity| account.get(activity).seconds();
        *self.computing_in(phase) += seconds(Activity::Computing) + seconds(Activity::Ready);
        let loading_s = seconds(Activity::Loading);
        if loading_s > 0.0 {
            *self.shared_memory_s.get_or_insert(0.0) += loading_s;
        }
        *self.communicating_in(phase) += COMMUNICATING.into_iter().map(seconds).sum::<f64>();
    }

    fn communicating_in(&mut self, phase: &str) -> &mut f64 {
        match phase {
            "initialisation" => &mut self.initialisation_s,
            "distribution" => &mut self.distribution_s,
            "broadcast" => &mut self.broadcast_s,
            "collection" => &mut self.collection_s,
            _ => &mut self.other_communication_s,
        }
    }

    fn computing_in(&mut self, phase: &str) -> &mut f64 {
        match phase {
            "serial" => self.serial_s.get_or_insert(0.0),
            "overhead" => self.parallel_overhead_s.get_or_insert(0.0),
            _ => &mut self.computation_s,
        }
    }

    /// Returns a component in seconds; `None` if the source does not separate it.
    #[must_use]
    pub fn component_s(&self, component: Component) -> Option<f64> {
        match component {
            Component::Computation => Some(self.computation_s),
            Component::Serial => self.serial_s,
            Component::ParallelOverhead => self.parallel_overhead_s,
            // Shared memory is known even if the processor's own memory is not separated.
            Component::Memory => {
                component.parts().iter().filter_map(|part| self.part_s(*part)).reduce(|sum, part| sum + part)
            }
            _ => component.parts().iter().map(|part| self.part_s(*part)).sum(),
        }
    }

    /// Returns a part of a component in seconds; `None` if the source does not separate it.
    #[must_use]
    pub fn part_s(&self, part: SubComponent) -> Option<f64> {
        let computation = |fraction: fn(&ComputationSplit) -> f64| {
            let split = self.split.as_ref()?;
            Some(self.computation_s * fraction(split))
        };
        match part {
            SubComponent::Cpu => computation(|split| split.cpu),
            SubComponent::Fpu => computation(|split| split.fpu),
            SubComponent::InternalMemory => computation(|split| split.internal_memory),
            SubComponent::ExternalMemory => computation(|split| split.external_memory),
            SubComponent::SharedMemory => self.shared_memory_s,
            SubComponent::Initialisation => Some(self.initialisation_s),
            SubComponent::Distribution => Some(self.distribution_s),
            SubComponent::Broadcast => Some(self.broadcast_s),
            SubComponent::Collection => Some(self.collection_s),
            SubComponent::OtherCommunication => Some(self.other_communication_s),
            SubComponent::Input => Some(self.input_s),
            SubComponent::Output => Some(self.output_s),
        }
    }

    /// Returns the known components that do not contain each other, with their times in seconds.
    pub fn distinct(&self) -> impl Iterator<Item = (Component, f64)> + '_ {
        let hidden = if self.split.is_some() { Component::Computation } else { Component::Processing };
        let known = Component::ALL.into_iter().filter(move |component| *component != hidden);
        known.filter_map(|component| Some((component, self.component_s(component)?)))
    }

    /// Returns the time that belongs to no component: time that the printed predictions count twice.
    #[must_use]
    pub fn unattributed_s(&self) -> f64 {
        let named: f64 = self.distinct().map(|(_, seconds)| seconds).sum();
        // A difference below a picosecond is the rounding error of the sum.
        Some(self.total_s - named).filter(|rest| rest.abs() > 1e-12 * self.total_s.max(1.0)).unwrap_or(0.0)
    }

    /// Returns `component` as a fraction of all components.
    #[must_use]
    pub fn share(&self, component: Component) -> Option<f64> {
        let all: f64 = self.distinct().map(|(_, seconds)| seconds).sum();
        self.component_s(component).filter(|_| all > 0.0).map(|seconds| seconds / all)
    }

    /// Returns the B-ratio (section 3.5): `component` divided by the sum of all others; `None` if there are no others.
    #[must_use]
    pub fn b_ratio(&self, component: Component) -> Option<f64> {
        let all: f64 = self.distinct().map(|(_, seconds)| seconds).sum();
        let own = self.component_s(component)?;
        ratio(own, all - own)
    }

    /// Returns the ratio of communication to computation, which consists of processing and memory (section 3.5).
    #[must_use]
    pub fn communication_to_computation(&self) -> Option<f64> {
        ratio(self.component_s(Component::Communication)?, self.computation_s + self.shared_memory_s.unwrap_or(0.0))
    }

    /// Returns the ratio of memory to processing (section 3.5). It is constant in p on a machine without a cache.
    #[must_use]
    pub fn memory_to_processing(&self) -> Option<f64> {
        ratio(self.component_s(Component::Memory)?, self.component_s(Component::Processing)?)
    }

    /// Returns Amdahl's balance (section 2): the Mword/s that the memory delivers while it is accessed, per Mflop/s
    /// that the processor achieves while it processes. A balanced machine has 1.
    #[must_use]
    pub fn mword_per_mflop(&self) -> Option<f64> {
        let words_per_flop = self.split.as_ref()?.words_per_flop?;
        ratio(words_per_flop, self.memory_to_processing()?)
    }
}

/// Returns the other communication of a run by phase, the phases that have any.
fn other_communication_phases(trace: &Trace) -> Vec<PhaseCommunication> {
    let (accounts, rank) = (&trace.accounts, trace.last_rank());
    let in_phase = |phase: &Phase| PhaseCommunication {
        phase,
        last_rank_s: COMMUNICATING.map(|activity| accounts.account(rank, phase).get(activity).seconds()).iter().sum(),
        mean_s: COMMUNICATING.map(|activity| accounts.in_phase(phase, activity).seconds()).iter().sum::<f64>()
            / f64::from(accounts.ranks()),
    };
    let others = accounts.phases().iter().filter(|phase| !NAMED_COMMUNICATION.contains(phase));
    others.map(in_phase).filter(|one| one.mean_s > 0.0).collect()
}

/// Returns the mean other communication of several runs by phase.
fn mean_by_phase(runs: &[Components]) -> Vec<PhaseCommunication> {
    let mut sums: Vec<PhaseCommunication> = Vec::new();
    for one in runs.iter().flat_map(|run| &run.other_communication_phases) {
        match sums.iter_mut().find(|known| known.phase == one.phase) {
            Some(sum) => (sum.last_rank_s, sum.mean_s) = (sum.last_rank_s + one.last_rank_s, sum.mean_s + one.mean_s),
            None => sums.push(*one),
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "nobody repeats a run 2^52 times")]
    let count = runs.len() as f64;
    let mean = |sum: PhaseCommunication| PhaseCommunication {
        last_rank_s: sum.last_rank_s / count,
        mean_s: sum.mean_s / count,
        ..sum
    };
    sums.into_iter().map(mean).collect()
}

fn ratio(part: f64, other: f64) -> Option<f64> {
    (other > 0.0).then(|| part / other)
}

fn computing(trace: &Trace, rank: u32) -> SimDuration {
    trace.accounts.rank(rank).get(Activity::Computing)
}

fn mean_computing_s(trace: &Trace) -> f64 {
    let ranks = trace.accounts.ranks();
    (0..ranks).map(|rank| computing(trace, rank).seconds()).sum::<f64>() / f64::from(ranks)
}

fn utilization(trace: &Trace) -> f64 {
    ratio(mean_computing_s(trace), trace.makespan.seconds()).unwrap_or(0.0)
}

fn load_balance(trace: &Trace) -> f64 {
    let longest = (0..trace.accounts.ranks()).map(|rank| computing(trace, rank)).max().unwrap_or_default();
    ratio(mean_computing_s(trace), longest.seconds()).unwrap_or(1.0)
}
