//! Software: processes that compute and pass messages, and the programs made of them.
//!
//! A program sees ranks, never routes. It is written with the verbs of [`Process`], the shipped
//! programs just like a user's own.

pub mod characteristic;
pub mod collective;
mod compute;
mod dense;
mod dot_product;
pub mod expression;
mod fft2d;
mod finite_difference;
mod fit;
mod floyd;
mod forecast;
mod gauss_jordan;
mod grid;
mod ising;
mod link_rate;
mod lu;
mod numerics;
mod partition;
pub mod phases;
mod ping;
mod process;
mod reduction;
mod rehearsal;
mod ring_shift;
mod summa;
mod traffic;

pub use characteristic::Characteristic;
pub use collective::Collective;
pub use compute::Compute;
pub use dot_product::DotProduct;
pub use fft2d::Fft2d;
pub use finite_difference::FiniteDifference;
pub(crate) use fit::inspected;
pub use fit::{faults_on, misfits, node_memory, note_changes};
pub use floyd::{Decomposition, Floyd};
pub use forecast::Forecast;
pub use gauss_jordan::{Distribution, GaussJordan};
pub use grid::Grid;
pub use ising::{Costs, Ising, StateSaving, Synchronisation};
pub use link_rate::LinkRate;
pub use lu::Lu;
pub use numerics::Numerics;
pub use partition::{BlockCyclic, Blocks};
pub use phases::Phases;
pub use ping::Ping;
pub use process::{Answer, Message, Operation, Pattern, Process, Received, Tally, Verb};
pub(crate) use process::{Notes, PhaseIndex, PhaseNames, STUCK, Surroundings, send_fault, tag_words};
pub use reduction::Reduction;
pub use rehearsal::{Rehearsal, rehearse};
pub use ring_shift::{RingShift, ShiftOrder};
pub use summa::Summa;
pub use traffic::{Injection, Traffic};

use crate::fault::Fault;
use crate::machine::{Layout, Machine};
use crate::trace::Phase;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;

/// What every rank runs.
pub type Run = Pin<Box<dyn Future<Output = ()>>>;

/// A message-passing program: one process per rank.
///
/// Any `Fn(Process) -> impl Future` is a program, so an `async fn` will do.
pub trait Program {
    /// The process of one rank.
    fn start(&self, process: Process) -> Run;

    /// The phases that the processes name, in the order in which a report shows them.
    fn phases(&self) -> &'static [Phase] {
        &[]
    }

    /// A rough forecast of how many packets will cross how many links, to tell what a run will cost.
    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let _ = (ranks, packet_bytes);
        0.0
    }

    /// A rough forecast of the computations, loads and transfers by the host, each of which is an event.
    fn jobs(&self, ranks: u32) -> f64 {
        f64::from(ranks)
    }

    /// The cost of its real numbers to this computer, if it computes with any.
    fn numerics(&self, ranks: u32) -> Numerics {
        let _ = ranks;
        Numerics::default()
    }

    /// The memory of this computer that the process of a rank takes beside what every process does, in bytes.
    fn rank_memory(&self, ranks: u32) -> f64 {
        let _ = ranks;
        0.0
    }

    /// Faults on that many ranks that need no machine to be found; paths are those of its own fields.
    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let _ = ranks;
        Vec::new()
    }

    /// Faults on `machine`, with its ranks as in `layout`; paths are those of a scenario, such as `machine.network`.
    fn misfits(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let _ = (machine, layout);
        Vec::new()
    }

    /// The packets that it consists of, if it has no processes: a run then plays the network alone.
    fn traffic(&self) -> Option<&Traffic> {
        None
    }

    /// True if its messages are matched with each other before a run, as far as that is possible without a machine:
    /// the program itself is input that may be wrong.
    fn is_rehearsed(&self) -> bool {
        false
    }

    /// The memory for data that `rank` of `ranks` needs, where rank `host` reads and writes.
    fn memory(&self, rank: u32, ranks: u32, host: u32) -> Bytes {
        let _ = (rank, ranks, host);
        Bytes::default()
    }
}

impl<F, R> Program for F
where
    F: Fn(Process) -> R,
    R: Future<Output = ()> + 'static,
{
    fn start(&self, process: Process) -> Run {
        Box::pin(self(process))
    }
}

/// The programs that a scenario can name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename = "Program")]
pub enum Shipped {
    /// One message from rank 0 to rank 1.
    Ping(Ping),
    /// Gauss-Jordan elimination by block rows.
    GaussJordan(GaussJordan),
    /// Every rank computes one loop.
    Compute(Compute),
    /// The byte rates of a link.
    LinkRate(LinkRate),
    /// Every rank passes a message to the next one.
    RingShift(RingShift),
    /// A collective operation, measured.
    Collective(Collective),
    /// The loads, computations and exchanges that characterise an application.
    Characteristic(Characteristic),
    /// A program made of steps, written in the scenario itself.
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
    /// The iteration of Jacobi on a square grid.
    FiniteDifference(FiniteDifference),
    /// Packets that every node injects without waiting for anything.
    Traffic(Traffic),
    /// A parallel discrete-event simulation of a spin system.
    Ising(Ising),
}

impl Shipped {
    /// Whether it is packets at random instants instead of a program that ends.
    #[must_use]
    pub const fn is_traffic(&self) -> bool {
        matches!(self, Self::Traffic(_))
    }

    /// Its name in a scenario.
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
            Self::Traffic(_) => "Traffic",
            Self::Ising(_) => "Ising",
        }
    }

    /// The causes of the events of a run; those of a program of steps by its rehearsal, and where that was given up, by
    /// a count.
    #[must_use]
    pub fn forecast(&self, rehearsal: Option<&Rehearsal>, ranks: u32, packet_bytes: u64) -> Forecast {
        match (self, rehearsal) {
            (Self::Phases(program), Some(rehearsal)) => program.forecast(rehearsal, ranks, packet_bytes),
            _ => {
                Forecast::rough(self.packet_hops(ranks, packet_bytes), mean_distance(ranks).max(1.0), self.jobs(ranks))
            }
        }
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
            Self::Traffic(program) => program,
            Self::Ising(program) => program,
        }
    }
}

impl Program for Shipped {
    fn start(&self, process: Process) -> Run {
        self.as_program().start(process)
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

    fn phases(&self) -> &'static [Phase] {
        self.as_program().phases()
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        self.as_program().faults(ranks)
    }

    fn misfits(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        self.as_program().misfits(machine, layout)
    }

    fn traffic(&self) -> Option<&Traffic> {
        self.as_program().traffic()
    }

    fn is_rehearsed(&self) -> bool {
        self.as_program().is_rehearsed()
    }

    fn memory(&self, rank: u32, ranks: u32, host: u32) -> Bytes {
        self.as_program().memory(rank, ranks, host)
    }
}

/// The fault of a field that must not be 0.
fn at_least_one(path: &str, value: u64) -> Vec<Fault> {
    let fault = || Fault::new(path, format!("`{path}` is 0"), "give a number from 1 on");
    (value == 0).then(fault).into_iter().collect()
}

/// The packets of `count` messages of `bytes` bytes; for forecasts only.
#[expect(clippy::cast_precision_loss, reason = "a rough forecast")]
fn packets(count: f64, bytes: u64, packet_bytes: u64) -> f64 {
    count * bytes.div_ceil(packet_bytes).max(1) as f64
}

/// The mean number of links between two ranks of a grid; for forecasts only.
fn mean_distance(ranks: u32) -> f64 {
    let (rows, columns) = crate::machine::near_square(ranks);
    f64::from(rows + columns) / 3.0
}
