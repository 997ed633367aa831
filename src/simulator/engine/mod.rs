//! The event engine: calendar, processes, stations and random numbers.
//!
//! Events are ordered by (time, entity). An *entity* (a station, an alarm) has at most one pending event, so no two
//! events have the same key. The order therefore does not depend on when an event was inserted, on the queue, or on how
//! finely the simulator divides its work into events. The engine knows nothing about machines, messages or programs.

mod abort_check;
mod calendar;
mod instants;
mod lists;
mod processes;
mod random;
mod retrial_queues;
mod run;
mod server;
mod slab;
mod stacks;
mod station;
mod timers;

pub(crate) use abort_check::AbortCheck;
pub use calendar::{Calendar, Entity};
pub(crate) use instants::Instants;
pub(crate) use lists::Lists;
pub(crate) use processes::{Mailbox, Processes, Resumed};
pub use random::{AddressedStream, STREAM_GENERATOR, Streams, mixed, stable_hash};
pub(crate) use random::{below, place_among, unit_of_32_bits, unit_of_53_bits};
pub(crate) use retrial_queues::{Precedence, RetrialQueues, ServerPair};
pub(crate) use run::{EvenInstants, Runs};
pub use server::{Discipline, SaturationPoint};
pub(crate) use server::{ServerId, Servers};
pub(crate) use slab::Slab;
pub(crate) use stacks::Stacks;
pub(crate) use station::{StationId, StationState, Stations};
pub(crate) use timers::Timers;
