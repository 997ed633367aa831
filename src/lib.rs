//! A discrete-event simulator of message-passing parallel machines.
//!
//! > A **scenario** puts a **program** on a **machine**, which is **nodes** on a **network**; the
//! > **engine** runs it out as events; the **trace** is what happened; **analysis** and **models**
//! > explain it; the **report** shows it.
//!
//! Every module below is a noun of that sentence.
//!
//! | module | holds |
//! | --- | --- |
//! | [`scenario`] | the question: read from RON, checked, unfolded along its axes |
//! | [`program`] | processes with their verbs, collectives, the shipped programs |
//! | [`machine`] | nodes on a network: placement of ranks, transport of messages |
//! | [`node`] | inside one node: processor, input and output, who has the processor |
//! | [`network`] | between nodes: topology, routing, switching, links |
//! | [`engine`] | calendar, stations, processes, random streams |
//! | [`simulation`] | the meeting point: the event loop and the deadlock report |
//! | [`trace`] | what happened: accounts, link loads, deliveries |
//! | [`analysis`], [`model`] | explanations: where the time went; closed forms |
//! | [`report`] | records, tables, a run in words |
//! | [`fault`] | what a description says that cannot be |
//! | [`cli`] | one short function for each sub-command |
//! | [`units`] | times, sizes, rates: exact, and with their units in text |
//!
//! # A program of one's own
//!
//! A program is any `async` function of a [`Process`]; every verb that is awaited takes simulated time.
//!
//! ```
//! use parsim::node::{Module, Work};
//! use parsim::{Message, Process, Simulation, load_machine};
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
//! let machine = load_machine("scenarios/machines/parsytec-supercluster-t800.ron")?;
//! let trace = Simulation::new(&machine, 4)?.run(&chain)?;
//! assert!(trace.makespan.seconds() > 4.0 * 9e-3);
//! # Ok(())
//! # }
//! ```
//!
//! Simulated times are exact integers of picoseconds, and the same scenario and seed give the same
//! bytes, whatever the number of threads.

pub mod cli;

pub use parsim_sim::{Machine, Message, Process, Program, Simulation, Trace};
pub use parsim_sim::{engine, fault, machine, network, node, program, simulation, trace, units};
pub use parsim_study::{Scenario, load_machine};
pub use parsim_study::{analysis, experiment, model, programs, report, scenario};
