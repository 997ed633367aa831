//! Software: processes that compute and pass messages, and the programs made of them.
//!
//! A program sees ranks, never routes. It is written with the verbs of [`Process`], the shipped
//! programs just like a user's own.

pub mod collective;
mod compute;
mod fault;
mod gauss_jordan;
mod grid;
mod ising;
mod link_rate;
mod partition;
pub mod phases;
mod ping;
mod process;
mod rehearsal;
mod ring_shift;
mod traffic;

pub use collective::Collective;
pub use compute::Compute;
pub use fault::ProgramFault;
pub use gauss_jordan::GaussJordan;
pub use grid::Grid;
pub use ising::{Costs, Ising, StateSaving, Synchronisation};
pub use link_rate::LinkRate;
pub use partition::Blocks;
pub use phases::Phases;
pub use ping::Ping;
pub(crate) use process::Surroundings;
pub use process::{Answer, Message, Operation, Pattern, Process, Received, Request, Verb};
pub use rehearsal::{Rehearsal, rehearse};
pub use ring_shift::{RingShift, ShiftOrder};
pub use traffic::{Injection, Traffic};

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

    /// What is wrong with it on so many ranks, as far as it can tell by itself.
    fn faults(&self, ranks: u32) -> Vec<ProgramFault> {
        let _ = ranks;
        Vec::new()
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// A program made of steps, written in the scenario itself.
    Phases(Phases),
    /// Packets that every node injects without waiting for anything.
    Traffic(Traffic),
    /// A parallel discrete-event simulation of a spin system.
    Ising(Ising),
}

impl Shipped {
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
            Self::Phases(_) => "Phases",
            Self::Traffic(_) => "Traffic",
            Self::Ising(_) => "Ising",
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
            Self::Phases(program) => program,
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

    fn phases(&self) -> &'static [Phase] {
        self.as_program().phases()
    }

    fn faults(&self, ranks: u32) -> Vec<ProgramFault> {
        self.as_program().faults(ranks)
    }

    fn memory(&self, rank: u32, ranks: u32, host: u32) -> Bytes {
        self.as_program().memory(rank, ranks, host)
    }
}

/// The packets of `count` messages of `bytes` bytes; for forecasts only.
#[expect(clippy::cast_precision_loss, reason = "a rough forecast")]
fn packets(count: u64, bytes: u64, packet_bytes: u64) -> f64 {
    count as f64 * bytes.div_ceil(packet_bytes).max(1) as f64
}

/// The mean number of links between two ranks of a grid; for forecasts only.
fn mean_distance(ranks: u32) -> f64 {
    let (rows, columns) = crate::machine::near_square(ranks);
    f64::from(rows + columns) / 3.0
}
