//! The simulator of parsim: a discrete-event simulator of message-passing parallel machines.
//!
//! A **program** runs on a **machine**, which consists of **nodes** on a **network**. The **engine** executes it as
//! events, and the **trace** records what happened. Scenario files, shipped programs, models and reports are in
//! `parsim-study`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`program`] | processes and their operations, collective operations |
//! | [`machine`] | nodes on a network: placement of ranks, transport of messages |
//! | [`node`] | inside one node: processor, memory transfers, scheduling of the processor |
//! | [`network`] | between nodes: topology, routing, switching, links |
//! | [`engine`] | calendar, stations, processes, random streams |
//! | [`simulation`] | the event loop and the deadlock report |
//! | [`trace`] | the record of a run: accounts, link loads, deliveries |
//! | [`fault`] | errors in a description |
//! | [`units`] | exact times, sizes and rates, with units in text |
//!
//! Simulated times are exact integers in picoseconds. The same machine, program and seed always give the same trace.

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

/// The names that most programs need: `use parsim_sim::prelude::*`.
///
/// The prelude has machines (`Machine`, its builder and its parts), programs (`Process` and its operations, collective
/// operations), runs (`Simulation`), traces, and quantities with units. `Routing` is the routing rule of the network;
/// [`node::RoutingCosts`] are the costs of routing in a node.
pub mod prelude {
    pub use crate::engine::Streams;
    pub use crate::fault::{Fault, Rejection};
    pub use crate::machine::{Allocation, LogGops, Machine, MachineBuilder, Partition, Placement, Sends};
    pub use crate::network::switching::{CutThrough, Wormhole};
    pub use crate::network::{Contention, Link, Network, Routing, Switching, Topology};
    pub use crate::node::{Discipline, Interface, Level, Progress, Shared};
    pub use crate::node::{Host, Module, Node, Noise, Processor, Receiving, Router, Sending, Work};
    pub use crate::program::{Grid, Message, MessagePattern, Operation, Process, Program, Received, collective};
    pub use crate::simulation::{Detail, Limits, Simulation, SimulationError};
    pub use crate::trace::{Activity, Recording, Trace};
    pub use crate::units::{BitRate, Bytes, FlopRate, Hertz, PerByte, SimDuration, SimTime};
}

/// The crate of the traits of random streams, such as those of [`Process::random`].
pub use rand;

pub use machine::Machine;
pub use program::{Message, Process, Program};
pub use simulation::Simulation;
pub use trace::Trace;
pub use version::{COMMIT, VERSION, version};
