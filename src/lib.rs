//! A discrete-event simulator of message-passing parallel machines.
//!
//! > A **scenario** puts a **program** on a **machine**, which is **nodes** on a **network**; the
//! > **engine** runs it as events; the **trace** is what happened; **analysis** and **models**
//! > explain it; the **report** shows it.
//!
//! Every module below is a noun of that sentence.
//!
//! | module | contents |
//! | --- | --- |
//! | [`scenario`] | the question: read from RON, checked, expanded along its axes |
//! | [`machines`] | the shipped machines |
//! | [`program`] | processes with their verbs, collective operations, the shipped programs |
//! | [`machine`] | nodes on a network: placement of ranks, transport of messages |
//! | [`node`] | the inside of a node: the processor, its scheduling, input and output |
//! | [`network`] | the connection of nodes: topology, routing, switching, links |
//! | [`engine`] | event calendar, service stations, processes, random streams |
//! | [`simulation`] | a run: the event loop, limits and the deadlock report |
//! | [`trace`] | the record of a run: accounts, link loads, deliveries |
//! | [`analysis`], [`model`] | explanations of a run: breakdowns of the time; closed forms |
//! | [`experiment`] | questions about many runs: sweeps, bottlenecks, fits, validations |
//! | [`answer`], [`report`] | quantities and records; tables, summaries of runs, pictures |
//! | [`fault`] | faults of a description, with path, message and help |
//! | [`units`] | times, sizes and rates: exact, and written with their units |
//!
//! # Getting started
//!
//! The [`guide`] has three chapters: writing a machine and a program, running and sweeping, and reading a trace. The
//! [`prelude`] has the names that most programs need.
//!
//! A program is any `async` function of a [`Process`]; awaiting a verb takes simulated time.
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
//! Simulated times are exact integers of picoseconds. The same scenario and seed give the same bytes, whatever the
//! number of threads.

#[doc(hidden)]
pub mod cli;

/// The names that most programs need: `use parsim::prelude::*`.
///
/// They are those of [`parsim_sim::prelude`], and scenarios, shipped machines, experiments and analyses.
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
pub use parsim_sim::{engine, fault, machine, network, node, program, rand, simulation, trace, units};
pub use parsim_study::{Scenario, load_machine, machines};
pub use parsim_study::{analysis, answer, experiment, model, programs, report, scenario};
