//! The programs that a scenario can name, and the language of programs written in the scenario itself.
//!
//! The programs use the verbs of [`Process`], just like programs of users.

mod balance;
mod calls;
mod chakra;
pub mod characteristic;
mod collective;
mod communicator_tag;
mod compute;
mod dense;
mod dot_product;
pub mod expression;
mod fft2d;
mod file;
mod finite_difference;
mod floyd;
mod forecast;
mod gauss_jordan;
mod goal;
mod ising;
mod link_rate;
mod lu;
pub mod phases;
mod ping;
mod reduction;
mod reported;
mod ring_shift;
mod schedule;
mod summa;

pub use calls::{First, MpiTrace, MpiTraceFormat, TimeIndependent};
pub use chakra::Chakra;
pub use characteristic::Characteristic;
pub use collective::Collective;
pub use compute::Compute;
pub use dot_product::DotProduct;
pub use fft2d::Fft2d;
pub use file::{ProgramFile, RELATIVE, digest_of_file, digest_of_text, write_whole_path};
pub use finite_difference::FiniteDifference;
pub use floyd::{Decomposition, Floyd};
pub use forecast::{ComputedWork, Forecast};
pub use gauss_jordan::{Distribution, GaussJordan};
pub use goal::Goal;
pub use ising::{Costs, Ising, StateSaving, Synchronisation};
pub use link_rate::LinkRate;
pub use lu::Lu;
pub use phases::Phases;
pub use ping::Ping;
pub use reduction::Reduction;
pub(crate) use reported::OVERLAP;
pub use ring_shift::{RingShift, ShiftOrder};
pub use schedule::{FirstOperations, GoalText, NodeKind};
pub use summa::Summa;

use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::node::processor::{GIVE_SPEED, NO_SPEED, Processor};
use parsim_sim::program::{
    Grid, InFlight, Numerics, Process, Program, RankFuture, Rehearsal, Starter, Traffic, mean_distance,
};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, SimDuration};
use schedule::StoredSchedule;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The programs that a scenario can name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename = "Program")]
pub enum Shipped {
    /// One message from rank 0 to rank 1.
    Ping(Ping),
    /// Gauss-Jordan elimination.
    GaussJordan(GaussJordan),
    /// A loop that every rank computes.
    Compute(Compute),
    /// The byte rates of a link.
    LinkRate(LinkRate),
    /// A message that every rank passes to the next one.
    RingShift(RingShift),
    /// A single collective operation, whose duration is measured.
    Collective(Collective),
    /// The loads, computations and exchanges that characterise an application.
    Characteristic(Characteristic),
    /// A program of steps, written in the scenario itself.
    Phases(Phases),
    /// The scalar product of two vectors.
    DotProduct(DotProduct),
    /// Matrix multiplication on a grid of ranks.
    Summa(Summa),
    /// LU factorisation with partial pivoting, block-cyclic on a grid of ranks.
    Lu(Lu),
    /// The two-dimensional Fourier transform, with a transposition.
    Fft2d(Fft2d),
    /// The sum of many numbers.
    Reduction(Reduction),
    /// All shortest paths of a graph.
    Floyd(Floyd),
    /// Jacobi iteration on a square grid.
    FiniteDifference(FiniteDifference),
    /// A schedule of LogGOPSim, from a file.
    Goal(Goal),
    /// A time-independent trace of SimGrid, from files.
    TimeIndependent(TimeIndependent),
    /// The MPI calls of a real run with their times, from files.
    MpiTrace(MpiTrace),
    /// The execution traces of a machine learning step, from files.
    Chakra(Chakra),
    /// Open-loop traffic: packets that every node injects independently of their delivery.
    Traffic(Traffic),
    /// A parallel discrete-event simulation of a spin system.
    Ising(Ising),
}

impl Shipped {
    /// Returns `true` if the program injects packets at random times instead of running to an end.
    #[must_use]
    pub const fn is_traffic(&self) -> bool {
        matches!(self, Self::Traffic(_))
    }

    /// Returns `true` if the ranks load from the memory that the cores of a node share.
    #[must_use]
    pub fn loads(&self) -> bool {
        match self {
            Self::Phases(program) => program.loads(),
            Self::Characteristic(_)
            | Self::DotProduct(_)
            | Self::Summa(_)
            | Self::Lu(_)
            | Self::Fft2d(_)
            | Self::Reduction(_)
            | Self::Floyd(_)
            | Self::FiniteDifference(_) => true,
            Self::Ping(_)
            | Self::GaussJordan(_)
            | Self::Compute(_)
            | Self::LinkRate(_)
            | Self::RingShift(_)
            | Self::Collective(_)
            | Self::Goal(_)
            | Self::TimeIndependent(_)
            | Self::MpiTrace(_)
            | Self::Chakra(_)
            | Self::Traffic(_)
            | Self::Ising(_) => false,
        }
    }

    /// Returns `true` if the ranks always compute by numbers of operations. For a program of steps, the rehearsal shows
    /// this.
    fn computes(&self) -> bool {
        match self {
            Self::GaussJordan(_) | Self::Compute(_) => true,
            Self::Phases(_) => false,
            // Of all others, those compute that load.
            _ => self.loads(),
        }
    }

    /// Returns `true` if a file or the program's formulas may contain times, which are not constants of the machine.
    #[must_use]
    pub const fn has_own_times(&self) -> bool {
        matches!(self, Self::Phases(_) | Self::Goal(_) | Self::TimeIndependent(_) | Self::MpiTrace(_) | Self::Chakra(_))
    }

    /// Returns the name of the program in a scenario.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ping(_) => "Ping",
            Self::GaussJordan(_) => "GaussJordan",
            Self::Compute(_) => "Compute",
            Self::LinkRate(_) => "LinkRate",
            Self::RingShift(_) => "RingShift",
            Self::Collective(_) => "Collective",
            Self::Characteristic(_) => "Characteristic",
            Self::Phases(_) => "Phases",
            Self::DotProduct(_) => "DotProduct",
            Self::Summa(_) => "Summa",
            Self::Lu(_) => "Lu",
            Self::Fft2d(_) => "Fft2d",
            Self::Reduction(_) => "Reduction",
            Self::Floyd(_) => "Floyd",
            Self::FiniteDifference(_) => "FiniteDifference",
            Self::Goal(_) => "Goal",
            Self::TimeIndependent(_) => "TimeIndependent",
            Self::MpiTrace(_) => "MpiTrace",
            Self::Chakra(_) => "Chakra",
            Self::Traffic(_) => "Traffic",
            Self::Ising(_) => "Ising",
        }
    }

    /// Returns the computations of all ranks of a program of steps; `None` for other programs, and if they depend on
    /// messages.
    #[must_use]
    pub fn computed_work(&self, ranks: u32) -> Option<ComputedWork> {
        match self {
            Self::Phases(program) => program.work(ranks),
            _ => None,
        }
    }

    /// Returns the forecast of the causes of a run's events. Programs of steps use their rehearsal, or a count if the
    /// rehearsal was aborted.
    #[must_use]
    pub fn forecast(&self, rehearsal: Option<&Rehearsal>, ranks: u32, packet_bytes: u64) -> Forecast {
        match (self, rehearsal) {
            (Self::Phases(program), Some(rehearsal)) => return program.forecast(rehearsal, ranks, packet_bytes),
            (Self::Goal(program), Some(rehearsal)) => return program.forecast(rehearsal, ranks, packet_bytes),
            (Self::TimeIndependent(program), Some(rehearsal)) => {
                return program.forecast(rehearsal, ranks, packet_bytes);
            }
            (Self::MpiTrace(program), Some(rehearsal)) => return program.forecast(rehearsal, ranks, packet_bytes),
            (Self::Chakra(program), Some(rehearsal)) => return program.forecast(rehearsal, ranks, packet_bytes),
            _ => {}
        }
        // Messages of a rank to itself send no packets.
        let hops = if ranks > 1 { self.packet_hops(ranks, packet_bytes) } else { 0.0 };
        let rough = Forecast::rough(hops, mean_distance(ranks).max(1.0), self.jobs(ranks));
        match self {
            Self::Collective(program) => {
                Forecast { least_packets: program.least_packets(ranks, packet_bytes), ..rough }
            }
            // Only a rehearsal shows what a program of steps, or one from files, does for certain.
            Self::Phases(_) | Self::Goal(_) | Self::TimeIndependent(_) | Self::MpiTrace(_) | Self::Chakra(_) => {
                Forecast { least_packets: 0.0, least_jobs: 0.0, ..rough }
            }
            _ => rough,
        }
    }

    /// Returns a note about peculiarities of the program's files that do not prevent a run.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match self {
            Self::TimeIndependent(program) => program.note(),
            Self::MpiTrace(program) => program.note(),
            _ => None,
        }
    }

    /// Returns the grid in which `ranks` ranks have their neighbours, if the program has one.
    #[must_use]
    pub fn grid(&self, ranks: u32) -> Option<Grid> {
        let rows = match self {
            Self::Phases(program) if program.uses_grid() => None,
            Self::Summa(program) => program.rows,
            Self::Lu(program) => program.rows,
            Self::FiniteDifference(program) => program.rows,
            _ => return None,
        };
        Some(Grid::shaped(ranks, rows))
    }

    /// Returns the phases that the user has named.
    #[must_use]
    pub fn named_phases(&self) -> &'static [Phase] {
        if let Self::Phases(program) = self { program.phases() } else { &[] }
    }

    fn as_program(&self) -> &dyn Program {
        match self {
            Self::Ping(program) => program,
            Self::GaussJordan(program) => program,
            Self::Compute(program) => program,
            Self::LinkRate(program) => program,
            Self::RingShift(program) => program,
            Self::Collective(program) => program,
            Self::Characteristic(program) => program,
            Self::Phases(program) => program,
            Self::DotProduct(program) => program,
            Self::Summa(program) => program,
            Self::Lu(program) => program,
            Self::Fft2d(program) => program,
            Self::Reduction(program) => program,
            Self::Floyd(program) => program,
            Self::FiniteDifference(program) => program,
            Self::Goal(program) => program,
            Self::TimeIndependent(program) => program,
            Self::MpiTrace(program) => program,
            Self::Chakra(program) => program,
            Self::Traffic(program) => program,
            Self::Ising(program) => program,
        }
    }
}

impl Program for Shipped {
    fn start(&self, process: Process) -> RankFuture {
        self.as_program().start(process)
    }

    fn starter(&self, ranks: u32, host: u32) -> Starter<'_> {
        self.as_program().starter(ranks, host)
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        self.as_program().packet_hops(ranks, packet_bytes)
    }

    fn jobs(&self, ranks: u32) -> f64 {
        self.as_program().jobs(ranks)
    }

    fn numerics(&self, ranks: u32) -> Numerics {
        self.as_program().numerics(ranks)
    }

    fn rank_memory(&self, ranks: u32) -> f64 {
        self.as_program().rank_memory(ranks)
    }

    fn in_flight(&self, ranks: u32) -> InFlight {
        self.as_program().in_flight(ranks)
    }

    fn phases(&self) -> &'static [Phase] {
        self.as_program().phases()
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        self.as_program().faults(ranks)
    }

    fn machine_faults(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let has_speed = machine.nodes.processor != Processor::Unspecified;
        let no_speed = (self.computes() && !has_speed).then(|| {
            let message = format!("the program computes, and {NO_SPEED}");
            Fault::new("machine", message, GIVE_SPEED)
        });
        no_speed.into_iter().chain(self.as_program().machine_faults(machine, layout)).collect()
    }

    fn hides_communication(&self) -> bool {
        self.as_program().hides_communication()
    }

    fn traffic(&self) -> Option<&Traffic> {
        self.as_program().traffic()
    }

    fn schedule(&self) -> Option<(Arc<dyn StoredSchedule>, SimDuration)> {
        self.as_program().schedule()
    }

    fn is_rehearsed(&self) -> bool {
        self.as_program().is_rehearsed()
    }

    fn expected_verbs(&self, ranks: u32) -> u64 {
        self.as_program().expected_verbs(ranks)
    }

    fn place_of_step(&self, rank: u32, step: usize) -> Option<String> {
        self.as_program().place_of_step(rank, step)
    }

    fn path_of(&self, step: usize) -> Option<String> {
        self.as_program().path_of(step)
    }

    fn place_of(&self, rank: u32, number: u32) -> Option<String> {
        self.as_program().place_of(rank, number)
    }

    fn communicator_of_step(&self, rank: u32, of: (u32, u32), step: usize) -> Option<(String, Vec<u32>)> {
        self.as_program().communicator_of_step(rank, of, step)
    }

    fn tag_name(&self, tag: u32) -> Option<String> {
        self.as_program().tag_name(tag)
    }

    fn memory(&self, rank: u32, ranks: u32, host: u32) -> Bytes {
        self.as_program().memory(rank, ranks, host)
    }
}

/// Returns a fault if a field that must be positive is 0.
fn at_least_one(path: &str, value: u64) -> Vec<Fault> {
    let fault = || Fault::new(path, format!("`{path}` is 0"), "give a number from 1 on");
    (value == 0).then(fault).into_iter().collect()
}

/// Returns the number of packets of `count` messages of `bytes` bytes, for forecasts only.
#[expect(clippy::cast_precision_loss, reason = "a rough forecast")]
fn packets(count: f64, bytes: u64, packet_bytes: u64) -> f64 {
    count * bytes.div_ceil(packet_bytes).max(1) as f64
}
