//! The simulator of parsim: a discrete-event simulator of message-passing parallel machines.
//!
//! A **program** runs on a **machine**, which is **nodes** on a **network**; the **engine** runs it as events; the
//! **trace** is what happened. Scenarios in files, shipped programs, models and reports are in `parsim-study`.
//!
//! | module | holds |
//! | --- | --- |
//! | [`program`] | processes with their verbs, collective operations |
//! | [`machine`] | nodes on a network: placement of ranks, transport of messages |
//! | [`node`] | inside one node: processor, input and output, who has the processor |
//! | [`network`] | between nodes: topology, routing, switching, links |
//! | [`engine`] | calendar, stations, processes, random streams |
//! | [`simulation`] | the meeting point: the event loop and the deadlock report |
//! | [`trace`] | what happened: accounts, link loads, deliveries |
//! | [`fault`] | what a description says that cannot be |
//! | [`units`] | times, sizes, rates: exact, and with their units in text |
//!
//! Simulated times are exact integers of picoseconds, and the same machine, program and seed give the same trace.

pub mod engine;
pub mod fault;
pub mod machine;
pub mod network;
pub mod node;
pub mod program;
pub mod simulation;
pub mod trace;
pub mod units;
mod version;

/// The names of most programs: `use parsim_sim::prelude::*`.
///
/// Machines (`Machine`, its builder and its parts), programs (`Process` and its verbs, collective operations), runs
/// (`Simulation`), traces and quantities with units. The rule of the network is
/// `Routing`, what a node pays for it [`node::RoutingCosts`].
pub mod prelude {
    pub use crate::engine::Streams;
    pub use crate::fault::{Fault, Rejection};
    pub use crate::machine::{Allocation, LogGops, Machine, MachineBuilder, Partition, Placement, Sends};
    pub use crate::network::{Link, Network, Routing, Switching, Topology};
    pub use crate::node::{Host, Module, Node, Noise, Processor, Receiving, Router, Sending, Work};
    pub use crate::program::{Grid, Message, MessagePattern, Operation, Process, Program, Received, collective};
    pub use crate::simulation::{Detail, Limits, Simulation, SimulationError};
    pub use crate::trace::{Activity, Recording, Trace};
    pub use crate::units::{BitRate, Bytes, FlopRate, Hertz, PerByte, SimDuration, SimTime};
}

pub use machine::Machine;
pub use program::{Message, Process, Program};
pub use simulation::Simulation;
pub use trace::Trace;
pub use version::{COMMIT, VERSION, version};
