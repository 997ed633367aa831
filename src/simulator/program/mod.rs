//! Software: processes that compute and pass messages.
//!
//! A program sees ranks, never routes. It is written with the verbs of [`Process`] and with [collective
//! operations](collective).

mod background;
pub mod collective;
mod fit;
mod grid;
mod numerics;
mod partition;
mod process;
mod rehearsal;
pub mod schedule;
mod traffic;

pub use crate::machine::{Lanes, Turn};
pub use background::BackgroundTraffic;
pub use fit::{faults_on, host, inspected, misfits, node_memory};
pub use grid::Grid;
pub use numerics::{Numerics, WORD};
pub use partition::{BlockCyclic, Blocks};
pub use process::{
    AsideNumber, Asides, Issue, IssuedWork, Message, MessagePattern, Notice, Operation, Process, RankGroup, Received,
    Tally,
};
pub(crate) use process::{
    Notes, PhaseIndex, PhaseNames, Reply, STUCK, Surroundings, Verb, port_of, send_fault, tag_words,
};
pub use rehearsal::{Rehearsal, UntimedMachine, rehearse, rehearse_within};
pub use traffic::{InjectionProcess, LengthShare, Traffic};

use crate::fault::Fault;
use crate::machine::{Layout, Machine};
use crate::trace::Phase;
use crate::units::{Bytes, SimDuration};
use schedule::StoredSchedule;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Program of one rank, in execution.
pub type RankFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Messages that are under way at once; for estimates only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InFlight {
    /// The number of messages.
    pub messages: f64,
    /// The bytes of each.
    pub bytes: u64,
}

/// Start of the processes of a run: the program of each.
pub type Starter<'p> = Box<dyn Fn(Process) -> RankFuture + 'p>;

/// A message-passing program: one process per rank.
///
/// Any `Fn(Process) -> impl Future` is a program, so an `async fn` will do. A run may start its processes more than once, rank
/// 0 first (packets that were presumed to find room may find none, or have to be counted one by one): what they leave
/// behind outside of the run is right after the last time.
pub trait Program {
    /// The process of one rank.
    fn start(&self, process: Process) -> RankFuture;

    /// The start of all processes of a run on `ranks` ranks, of which `host` is connected to the host: a program that
    /// prepares something for all of them does so here.
    fn starter(&self, ranks: u32, host: u32) -> Starter<'_> {
        let _ = (ranks, host);
        Box::new(|process| self.start(process))
    }

    /// The phases that the processes name, in the order in which a report shows them.
    fn phases(&self) -> &'static [Phase] {
        &[]
    }

    /// A rough forecast of how many packets will cross how many links, to estimate the cost of a run.
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

    /// A rough forecast of the messages that are under way at once, beyond a few of each rank.
    fn in_flight(&self, ranks: u32) -> InFlight {
        let _ = ranks;
        InFlight::default()
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

    /// The packets that it consists of, if it has no processes: a run then runs the network alone.
    fn traffic(&self) -> Option<&Traffic> {
        None
    }

    /// The schedule that its processes follow, and the unit of the computations in it, if it is nothing but one: a run may
    /// then carry it out without them, in the same times.
    fn schedule(&self) -> Option<(Arc<dyn StoredSchedule>, SimDuration)> {
        None
    }

    /// True if its messages are matched with each other before a run, as far as that is possible without a machine:
    /// the program itself is input that may be wrong.
    fn is_rehearsed(&self) -> bool {
        false
    }

    /// The verbs that all processes together surely ask for, as far as that is known before a run; only the beginning of
    /// a program with very many is rehearsed.
    fn least_verbs(&self, ranks: u32) -> u64 {
        let _ = ranks;
        0
    }

    /// The path, among its own fields, of the step that a process [names](Process::step) by this number.
    fn path_of(&self, step: usize) -> Option<String> {
        let _ = step;
        None
    }

    /// The place, in the files of the program, of the operation that a rank [issues](Process::issue) by this number.
    fn place_of(&self, rank: u32, number: u32) -> Option<String> {
        let _ = (rank, number);
        None
    }

    /// The place, in the files of the program, of the step that a process of this rank [names](Process::step) by this number.
    fn place_of_step(&self, rank: u32, step: usize) -> Option<String> {
        let _ = (rank, step);
        None
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
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(self(process))
    }
}

/// The mean number of links between two ranks of a grid; for forecasts only.
#[must_use]
pub fn mean_distance(ranks: u32) -> f64 {
    let (rows, columns) = crate::machine::near_square(ranks);
    f64::from(rows + columns) / 3.0
}
