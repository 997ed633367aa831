//! Data that the processes of a run share, and data that each of them collects.

use super::{Reply, Verb};
use crate::engine::{Mailbox, Streams};
use crate::machine::Protocol;
use crate::node::Processor;
use crate::trace::Phase;
use crate::units::SimTime;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// Counts of the work of a process so far.
///
/// The characteristic numbers of a program are the sums of these counts over all ranks: #op, #b and #x of
/// `kredel-2015-multicore-clusters`, counted instead of estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Floating-point operations.
    pub operations: u64,
    /// Bytes moved between memory and processor.
    pub memory_bytes: u64,
    /// Bytes sent to other ranks.
    pub message_bytes: u64,
    /// Bytes sent to ranks of other nodes, which are also part of `message_bytes`.
    pub exchanged_bytes: u64,
}

/// The index of a phase, stored instead of its name to save memory with a million processes.
pub(crate) type PhaseIndex = u32;

/// The phases that the processes of a run have entered, in the order in which they were first entered.
pub(crate) struct PhaseNames {
    names: RefCell<Vec<Phase>>,
    /// The phase of every name.
    indices: RefCell<FxHashMap<Phase, PhaseIndex>>,
    /// The phase of every literal that has been used; several may have the same text.
    literals: RefCell<FxHashMap<*const str, PhaseIndex>>,
}

impl PhaseNames {
    /// Creates the table with the initial phase `program` of all processes.
    pub(crate) fn new() -> Self {
        let names = Self { names: RefCell::default(), indices: RefCell::default(), literals: RefCell::default() };
        names.learn("program");
        names
    }

    /// Returns the phase with this index.
    pub(crate) fn name(&self, index: PhaseIndex) -> Phase {
        self.names.borrow()[index as usize]
    }

    /// Returns the index of a phase.
    pub(crate) fn index(&self, phase: Phase) -> PhaseIndex {
        // A literal is found by its address instead of its text, because this runs at every change of phase.
        let known = self.literals.borrow().get(&std::ptr::from_ref(phase)).copied();
        known.unwrap_or_else(|| self.learn(phase))
    }

    #[cold]
    fn learn(&self, phase: Phase) -> PhaseIndex {
        let mut names = self.names.borrow_mut();
        let index = *self.indices.borrow_mut().entry(phase).or_insert_with(|| {
            names.push(phase);
            PhaseIndex::try_from(names.len() - 1).expect("fewer than 2^32 phases")
        });
        self.literals.borrow_mut().insert(phase, index);
        index
    }
}

/// Data that a process collects.
#[derive(Default)]
pub(crate) struct ProcessRecord {
    pub phase: Cell<PhaseIndex>,
    pub tally: Cell<Tally>,
    /// The message length of the collective operation in which the process takes part, in bytes.
    pub collective_bytes: Cell<u64>,
    /// The name of the collective operation in which the process takes part, if the program is given in RON.
    pub collective: Cell<Option<&'static str>>,
    /// The number of the current step, if the program has steps.
    pub step: Cell<usize>,
    /// `true` while the process waits for a single operation and only drives its side tasks: the order in which operations
    /// end cannot affect it, so that a rehearsal need not report a race.
    pub progresses: Cell<bool>,
}

impl ProcessRecord {
    /// Creates the data of `ranks` ranks that have not begun.
    pub(crate) fn of(ranks: u32) -> Vec<Self> {
        (0..ranks).map(|_| Self::default()).collect()
    }
}

/// Data that all processes of a run share.
pub(crate) struct RunContext {
    pub mailbox: Rc<Mailbox<Verb, Reply>>,
    pub clock: Cell<SimTime>,
    pub ranks: u32,
    pub host: u32,
    /// The node of each rank.
    pub nodes: Arc<[u32]>,
    /// The data of each rank, in one table because there may be a million ranks.
    pub notes: Vec<ProcessRecord>,
    pub phases: PhaseNames,
    pub packet_bytes: u64,
    /// The largest number of ranks on a node.
    pub ranks_per_node: u32,
    /// Operations of a core per byte of its node's memory, if both are described.
    pub balance: Option<f64>,
    /// The longest message of a collective operation that stays in the caches, if memory is modelled.
    pub cached: Option<u64>,
    /// `true` if buffers that operations allocate may take time.
    pub allocates: bool,
    pub processor: Processor,
    pub link_protocol: Option<Protocol>,
    pub streams: Streams,
    pub outcomes: RefCell<Vec<(&'static str, f64)>>,
    pub critical_intervals: RefCell<Vec<(f64, f64)>>,
}

impl RunContext {
    /// Returns the current step of the process of `rank`.
    pub(crate) fn step(&self, rank: u32) -> usize {
        self.notes[rank as usize].step.get()
    }

    /// Returns the current phase of the process of `rank`.
    pub(crate) fn phase(&self, rank: u32) -> PhaseIndex {
        self.notes[rank as usize].phase.get()
    }
}
