//! Programs: processes that compute and exchange messages.
//!
//! A program sees ranks, never routes. It is written with the methods of [`Process`] and with [collective
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

pub use crate::machine::{IssueOrder, IssueResources};
pub use background::BackgroundTraffic;
pub use fit::{faults_on, host, inspect, machine_faults, node_memory};
pub use grid::Grid;
pub use numerics::{Numerics, WORD};
pub use partition::{BlockCyclic, BlockPartition};
pub(crate) use process::{
    ENDED, PhaseIndex, PhaseNames, ProcessRecord, Reply, RunContext, STUCK, Verb, port_of, send_fault, tag_words,
};
pub use process::{
    Issue, IssuedWork, Message, MessagePattern, Notice, Operation, PendingOperation, Process, RankGroup, Received,
    SideTaskId, SideTasks, Tally,
};
pub use rehearsal::{Rehearsal, RehearsalLength, UntimedMachine, rehearse};
pub use traffic::{InjectionProcess, LengthShare, Traffic};

use crate::fault::Fault;
use crate::machine::{Layout, Machine};
use crate::trace::Phase;
use crate::units::{Bytes, SimDuration};
use schedule::StoredSchedule;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The running program of one rank.
pub type RankFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Messages that are in flight at once; for estimates only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InFlight {
    /// The number of messages.
    pub messages: f64,
    /// The bytes of each message.
    pub bytes: u64,
}

/// A function that starts the process of each rank in a run.
pub type Starter<'p> = Box<dyn Fn(Process) -> RankFuture + 'p>;

/// A message-passing program: one process per rank.
///
/// Any `Fn(Process) -> impl Future` is a program, including an `async fn`. A run may start its processes more than
/// once, rank 0 first, for instance because packets that were presumed to find buffer space do not find it, or must be
/// counted one by one. Any state that the processes leave outside of the run is valid only after the last start.
pub trait Program {
    /// Starts the process of one rank.
    fn start(&self, process: Process) -> RankFuture;

    /// Returns the function that starts each process of a run on `ranks` ranks, of which `host` is connected to the
    /// host. A program that shares data among its processes creates the data here.
    fn starter(&self, ranks: u32, host: u32) -> Starter<'_> {
        let _ = (ranks, host);
        Box::new(|process| self.start(process))
    }

    /// Returns the phases that the processes name, in the order in which a report shows them.
    fn phases(&self) -> &'static [Phase] {
        &[]
    }

    /// Estimates roughly the total number of links crossed by all packets, to predict the cost of a run.
    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let _ = (ranks, packet_bytes);
        0.0
    }

    /// Estimates roughly the number of computations, loads and host transfers, each of which is an event.
    fn jobs(&self, ranks: u32) -> f64 {
        f64::from(ranks)
    }

    /// Estimates the cost of the program's real computations on the simulating computer, if it does any.
    fn numerics(&self, ranks: u32) -> Numerics {
        let _ = ranks;
        Numerics::default()
    }

    /// Estimates the memory in bytes of the simulating computer that the process of a rank takes, in addition to that
    /// of any process.
    fn rank_memory(&self, ranks: u32) -> f64 {
        let _ = ranks;
        0.0
    }

    /// Estimates roughly the messages that are in flight at once, beyond a few for each rank.
    fn in_flight(&self, ranks: u32) -> InFlight {
        let _ = ranks;
        InFlight::default()
    }

    /// Returns the faults on this number of ranks that do not depend on the machine. Paths are those of the program's
    /// own fields.
    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let _ = ranks;
        Vec::new()
    }

    /// Returns the faults on `machine`, with ranks placed as in `layout`. Paths are those of a scenario, such as
    /// `machine.network`.
    fn machine_faults(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let _ = (machine, layout);
        Vec::new()
    }

    /// Returns whether ranks may compute while messages that they have started to send or receive are in flight. If so,
    /// a run reports how much communication is hidden.
    fn hides_communication(&self) -> bool {
        false
    }

    /// Returns the packet traffic if the program has no processes. A run then simulates only the network.
    fn traffic(&self) -> Option<&Traffic> {
        None
    }

    /// Returns the schedule that the processes follow, and the time unit of its computations, if the program consists
    /// of nothing else. A run may then execute the schedule without processes, with the same times.
    fn schedule(&self) -> Option<(Arc<dyn StoredSchedule>, SimDuration)> {
        None
    }

    /// Returns whether the messages of the program are matched with each other before a run, if this is possible
    /// without a machine. This is useful if the program itself is input that may be wrong.
    fn is_rehearsed(&self) -> bool {
        false
    }

    /// Returns the approximate number of requests that all processes issue together, if it is known before a run. Only
    /// the beginning of a program with very many requests is rehearsed.
    fn expected_verbs(&self, ranks: u32) -> u64 {
        let _ = ranks;
        0
    }

    /// Returns the path, among the program's own fields, of the step that a process [names](Process::step) by this
    /// number.
    fn path_of(&self, step: usize) -> Option<String> {
        let _ = step;
        None
    }

    /// Returns the place, in the files of the program, of the operation that a rank [issues](Process::issue) by this
    /// number.
    fn place_of(&self, rank: u32, number: u32) -> Option<String> {
        let _ = (rank, number);
        None
    }

    /// Returns the place, in the files of the program, of the step that the process of a rank [names](Process::step) by
    /// this number.
    fn place_of_step(&self, rank: u32, step: usize) -> Option<String> {
        let _ = (rank, step);
        None
    }

    /// Returns the name and the ranks of the communicator in which `rank` of `ranks` executes the step of this number,
    /// where rank `host` reads input and writes output; `None` if it has all ranks.
    fn communicator_of_step(&self, rank: u32, (ranks, host): (u32, u32), step: usize) -> Option<(String, Vec<u32>)> {
        let _ = (rank, ranks, host, step);
        None
    }

    /// Returns the name for users of a tag that the program has derived from others, such as `7 of communicator row`.
    fn tag_name(&self, tag: u32) -> Option<String> {
        let _ = tag;
        None
    }

    /// Returns the memory for data that `rank` of `ranks` needs, where rank `host` reads input and writes output.
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

/// Returns the mean number of links between two ranks of a grid; for estimates only.
#[must_use]
pub fn mean_distance(ranks: u32) -> f64 {
    let (rows, columns) = crate::machine::near_square(ranks);
    f64::from(rows + columns) / 3.0
}
