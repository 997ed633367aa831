//! A discrete-event simulator of message-passing parallel machines.
pub mod analysis;
pub mod cli;
pub mod engine;
pub mod machine;
pub mod model;
pub mod network;
pub mod node;
pub mod program;
pub mod report;
pub mod scenario;
pub mod simulation;
pub mod trace;
pub mod units;
pub use machine::Machine;
pub use program::{Message, Process, Program};
pub use scenario::Scenario;
pub use simulation::Simulation;
