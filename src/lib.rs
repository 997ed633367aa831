//! A discrete-event simulator of message-passing parallel machines.
//!
//! > A **scenario** puts a **program** on a **machine**, which is **nodes** on a **network**; the
//! > **engine** runs it as events; the **trace** is what happened; **analysis** and **models**
//! > explain it; the **report** shows it.
//!
//! Every module below is a noun of that sentence.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scenario`] | the question: read from RON, checked, unfolded along its axes |
//! | [`machines`] | the shipped machines |
//! | [`program`] | processes with their verbs, collectives, the shipped programs |
//! | [`machine`] | nodes on a network: placement of ranks, transport of messages |
//! | [`node`] | inside one node: processor, its scheduling, input and output |
//! | [`network`] | between nodes: topology, routing, switching, links |
//! | [`engine`] | calendar, stations, processes, random streams |
//! | [`simulation`] | the meeting point: the event loop and the deadlock report |
//! | [`trace`] | what happened: accounts, link loads, deliveries |
//! | [`analysis`], [`model`] | explanations: accounts of the time; closed forms |
//! | [`experiment`] | what is asked of many runs: sweeps, bottlenecks, fits, validations |
//! | [`answer`], [`report`] | quantities and records; tables, a run in words, pictures |
//! | [`fault`] | faults of a description |
//! | [`units`] | times, sizes, rates: exact, and with their units in text |
//!
//! # Where to begin
//!
//! The [`guide`] has three chapters: write a machine and a program, run and sweep, read a trace. [`prelude`] has the names
//! that most programs need.
//!
//! A program is any `async` function of a [`Process`]; every verb that is awaited takes simulated time.
//!
//! ```
//! use parsim::prelude::*;
//!
//! /// Every rank computes and passes a partial sum to the next; rank 0 begins.
//! async fn chain(me: Process) {
//!     if me.rank() > 0 {
//!         me.receive(me.rank() - 1).await;
//!     }
//!     me.compute(Work::new(Module::Rsub, 1000)).await;
//!     if me.rank() + 1 < me.ranks() {
//!         me.send(me.rank() + 1, Message::new(8)).await;
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let machine = machines::parsytec_supercluster_t800();
//! let trace = Simulation::new(&machine, 4)?.run(&chain)?;
//! assert!(trace.makespan.seconds() > 4.0 * 9e-3);
//! # Ok(())
//! # }
//! ```
//!
//! Simulated times are exact integers of picoseconds, and the same scenario and seed give the same
//! bytes, whatever the number of threads.

#[doc(hidden)]
pub mod cli;

/// The names of most programs: `use parsim::prelude::*`.
///
/// Those of [`parsim_sim::prelude`], and scenarios, shipped machines, experiments and analyses.
pub mod prelude {
    pub use parsim_study::prelude::*;
}

/// A guide in three chapters.
///
/// 1. [Write a machine and a program](guide::machine_and_program)
/// 2. [Run and sweep](guide::run_and_sweep)
/// 3. [Read a trace](guide::read_a_trace)
pub mod guide {
    #[doc = include_str!("../docs/guide/machine-and-program.md")]
    pub mod machine_and_program {}
    #[doc = include_str!("../docs/guide/run-and-sweep.md")]
    pub mod run_and_sweep {}
    #[doc = include_str!("../docs/guide/read-a-trace.md")]
    pub mod read_a_trace {}
}

pub use parsim_sim::{Machine, Message, Process, Program, Simulation, Trace};
pub use parsim_sim::{engine, fault, machine, network, node, program, simulation, trace, units};
pub use parsim_study::{Scenario, load_machine, machines};
pub use parsim_study::{analysis, answer, experiment, model, programs, report, scenario};
