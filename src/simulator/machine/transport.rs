//! Path of messages across the machine: the requests of processes, and their completions.
//!
//! Nodes without network interfaces prepare packets on their processors ([`packets`]); interfaces send whole messages
//! ([`messages`]).

mod messages;
mod packets;

use super::{Machine, Seat, Turn};
use crate::engine::Streams;
use crate::network::{Standstill, Topology, Transfers};
use crate::node::processor::{Computation, KernelError};
use crate::trace::events::EventId;
use crate::trace::{CommunicationLog, Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
pub use messages::MessageTransport;
use packets::PacketTransport;

/// A message on its way; the number is used again when the message is gone.
pub type MessageId = u32;

/// Something that a process may be waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The computation of an owner has ended.
    Computed {
        /// The process that computed.
        owner: u32,
    },
    /// The time that an owner has set has come.
    TimeUp {
        /// The process whose timer it was.
        owner: u32,
    },
    /// The bytes that were to be loaded, or to leave a node, have done so.
    Moved {
        /// The handle given by the caller.
        handle: u32,
    },
    /// The send of an issued message has begun.
    Begun {
        /// The sender's handle.
        handle: u32,
    },
    /// An issued computation has begun.
    Computing {
        /// Its number.
        operation: u32,
        /// The time at which it ends.
        end: SimTime,
    },
    /// The time that was set for an issued operation has come.
    Due {
        /// Its number.
        operation: u32,
        /// The turn of what follows.
        turn: Turn,
    },
    /// The send of a message is complete, in the sense of [`Sends`](super::Sends).
    Sent {
        /// The sender's handle.
        handle: u32,
    },
    /// All packets of a message have been taken in.
    Delivered {
        /// The message, to be accepted when a process receives it.
        message: MessageId,
        /// The sender's handle.
        handle: u32,
    },
    /// A message has been announced, whose data wait for a process that receives it.
    Announced {
        /// The message, to be accepted when a process receives it.
        message: MessageId,
        /// The sender's handle.
        handle: u32,
    },
    /// All of a message has come that was announced by its first part and that no process has received yet.
    Whole {
        /// The sender's handle.
        handle: u32,
    },
    /// The data of an announced message have come.
    Arrived {
        /// The number of the receive that has accepted it.
        receive: u32,
    },
}

/// All nodes and links of a machine at work.
///
/// [`step`](Self::step), and the calls that end something at once, add [completions](Self::next_completion).
pub enum Transport {
    /// Processors prepare and take in packets.
    Packets(Box<PacketTransport>),
    /// Interfaces send and receive messages.
    Messages(Box<MessageTransport>),
}

/// Hands a call on to the kind of transport.
/// Handles from this one on are those of messages that no process sends.
pub const BACKGROUND_HANDLES: u32 = 1 << 31;

macro_rules! either {
    ($self:ident, $transport:ident => $call:expr) => {
        match $self {
            Self::Packets($transport) => $call,
            Self::Messages($transport) => $call,
        }
    };
}

impl Transport {
    /// The idle machine, of which `topology` is in use, for `owners` processes.
    ///
    /// # Panics
    /// If the topology is too large to be [simulated](Self::holds), which a scenario's check refuses.
    #[must_use]
    pub fn new(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        match &machine.nodes.interface {
            Some(interface) => {
                Self::Messages(Box::new(MessageTransport::new(machine, interface, topology, owners, streams)))
            }
            None => Self::Packets(Box::new(PacketTransport::new(machine, topology, owners, streams))),
        }
    }

    /// The same machine, on which every packet has its own events at every station even where several could travel
    /// together: it takes longer to simulate, and gives the same times.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn packet_by_packet(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        match &machine.nodes.interface {
            Some(_) => Self::new(machine, topology, owners, streams),
            None => Self::Packets(Box::new(PacketTransport::packet_by_packet(machine, topology, owners, streams))),
        }
    }

    /// Returns whether `owners` processes on the topology are few enough, whatever the switching: events are
    /// numbered in 32 bits.
    #[must_use]
    pub fn holds(machine: &Machine, topology: &Topology, owners: u32) -> bool {
        machine.is_free_of_contention() || PacketTransport::holds(machine, topology, owners)
    }

    /// About how many bytes of memory the machine takes, of which `topology` is in use by so many ranks, its share of the
    /// trace included.
    #[must_use]
    pub fn memory(machine: &Machine, topology: &Topology, ranks: u32) -> f64 {
        match &machine.nodes.interface {
            Some(interface) => MessageTransport::memory(machine, interface, topology, ranks),
            None => PacketTransport::memory(machine, topology, ranks),
        }
    }

    /// Returns whether packets cross the machine, of which `topology` is in use, in trains: those that wait take no memory.
    #[must_use]
    pub fn carries_trains(machine: &Machine, topology: &Topology) -> bool {
        machine.nodes.interface.is_none() && PacketTransport::carries_trains(machine, topology)
    }

    /// Returns whether packets cross the machine, of which `topology` is in use, in trains that presume room in finite buffers.
    #[must_use]
    pub fn presumes_room(machine: &Machine, topology: &Topology) -> bool {
        machine.nodes.interface.is_none() && PacketTransport::presumes_room(machine, topology)
    }

    /// Starts a computation on a node; `Computed` tells its end. Returns its own time on the processor. An owner has one at
    /// a time.
    ///
    /// # Errors
    /// If the processor cannot compute such a row.
    pub fn compute(
        &mut self,
        now: SimTime,
        seat: Seat,
        owner: u32,
        computation: Computation,
    ) -> Result<SimDuration, KernelError> {
        either!(self, transport => transport.compute(now, seat, owner, computation))
    }

    /// Returns whether an owner that wants to compute has to wait for sends that its core has been asked for before; `TimeUp` tells
    /// when they have begun.
    pub fn waits_behind_sends(&mut self, seat: Seat, owner: u32) -> bool {
        match self {
            Self::Packets(_) => false,
            Self::Messages(transport) => transport.waits_behind_sends(seat, owner),
        }
    }

    /// Sets the timer of an owner; `TimeUp` tells when `span` is over. An owner has one at a time.
    pub fn wait(&mut self, now: SimTime, owner: u32, span: SimDuration) {
        either!(self, transport => transport.wait(now, owner, span));
    }

    /// Begins to send `bytes` bytes, which the process of the source may have sent before (`again`); `Delivered` and
    /// `Sent` tell the rest, by `handle`. A recording calls the cause of the message `cause`.
    ///
    /// # Panics
    /// If the message has 2^32 packets or more, which the execution rejects.
    pub fn send(
        &mut self,
        now: SimTime,
        (from, to): (Seat, Seat),
        (bytes, again): (u64, bool),
        handle: u32,
        cause: EventId,
    ) {
        match self {
            Self::Packets(transport) => {
                transport.cause = cause;
                transport.send(now, from, to, (bytes, again), handle);
            }
            Self::Messages(transport) => {
                transport.cause = cause;
                transport.send(now, from, to, bytes, handle);
            }
        }
    }

    /// A process receives a message, by a receive with this number. Returns whether the message is there: the data of one
    /// that has been announced are still to come, and `Arrived` tells when.
    pub fn accept(&mut self, now: SimTime, message: MessageId, receive: u32) -> bool {
        match self {
            Self::Packets(transport) => {
                transport.accept(now, message);
                true
            }
            Self::Messages(transport) => transport.accept(now, message, receive),
        }
    }

    /// The transport that takes issued operations as they are, if there are network interfaces.
    pub fn interfaces(&mut self) -> Option<&mut MessageTransport> {
        match self {
            Self::Packets(_) => None,
            Self::Messages(transport) => Some(transport),
        }
    }

    /// Returns whether messages go through network interfaces.
    #[must_use]
    pub const fn has_interfaces(&self) -> bool {
        matches!(self, Self::Messages(_))
    }

    /// The time from which the process of `seat` can go on, if a message still keeps busy the processor that it calls
    /// `cpu`; 0 is its own.
    #[must_use]
    pub fn busy_until(&self, now: SimTime, seat: Seat, cpu: u8) -> Option<SimTime> {
        match self {
            Self::Packets(_) => None,
            Self::Messages(transport) => Some(transport.communicates_until(seat, cpu)).filter(|end| *end > now),
        }
    }

    /// Loads `bytes` bytes from the memory of a node; `Moved` tells the end, by `handle`.
    pub fn load(&mut self, now: SimTime, seat: Seat, bytes: f64, handle: u32) {
        match self {
            Self::Packets(transport) => transport.load(now, seat, bytes, handle),
            Self::Messages(transport) => transport.load(now, seat, bytes, handle),
        }
    }

    /// Has `bytes` bytes leave a node through its interface, for nobody; `Moved` tells the end, by `handle`.
    pub fn leave_node(&mut self, now: SimTime, seat: Seat, bytes: f64, handle: u32) {
        match self {
            Self::Packets(transport) => transport.leave_node(now, seat, bytes, handle),
            Self::Messages(transport) => transport.completions.push_back(Completion::Moved { handle }),
        }
    }

    /// Runs the next event; its time, or `None` if nothing is going to happen any more.
    pub fn step(&mut self) -> Option<SimTime> {
        either!(self, transport => transport.step())
    }

    /// Takes the first thing that is complete and has not been taken yet.
    pub fn next_completion(&mut self) -> Option<Completion> {
        either!(self, transport => transport.completions.pop_front())
    }

    /// Returns whether there are completions that have not been taken.
    #[must_use]
    pub fn has_completions(&self) -> bool {
        either!(self, transport => !transport.completions.is_empty())
    }

    /// The time of the last event.
    #[must_use]
    pub const fn now(&self) -> SimTime {
        either!(self, transport => transport.now())
    }

    /// The time that the processor of `seat` has worked for the communication up to `now`.
    pub fn system_time(&mut self, seat: Seat, now: SimTime) -> SimDuration {
        either!(self, transport => transport.system_time(seat, now))
    }

    /// The number of the processor of `seat`.
    #[must_use]
    pub const fn processor(&self, seat: Seat) -> u32 {
        either!(self, transport => transport.processor(seat))
    }

    /// Ends the run after the last event. Whether anything was under way: then a run
    /// [packet by packet](Self::packet_by_packet) counts fewer events, packets and transmissions, because here those
    /// count that have been foreseen.
    pub fn stop(&mut self) -> bool {
        match self {
            Self::Packets(transport) => transport.stop(),
            Self::Messages(_) => false,
        }
    }

    /// Returns whether a packet may have found no room in a buffer that was presumed to have it: the run has to be run [packet
    /// by packet](Self::packet_by_packet).
    #[must_use]
    pub fn is_short_of_room(&self) -> bool {
        match self {
            Self::Packets(transport) => transport.is_short_of_room(),
            Self::Messages(_) => false,
        }
    }

    /// Returns the size of the simulated work. An event is the end of a transmission, a job, a computation or a
    /// timer, or an alarm of a processor, whether it was run by itself or foreseen.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        either!(self, transport => transport.counts())
    }

    /// Returns the packets that wait for buffers, and for which, once no event is left.
    #[must_use]
    pub fn standstill(&self) -> Standstill {
        either!(self, transport => transport.standstill())
    }

    /// Returns the load of every direction of a link up to `now`, the end of the run: the links are not used any more.
    #[must_use]
    pub fn take_link_loads(&mut self, now: SimTime) -> Vec<LinkLoad> {
        either!(self, transport => transport.take_link_loads(now))
    }

    /// Records the transfers over the links from now on.
    pub fn record_transfers(&mut self) {
        either!(self, transport => transport.record_transfers());
    }

    /// Returns the transfers over the links, if they are recorded.
    pub fn transfers(&mut self) -> Option<&mut Transfers> {
        either!(self, transport => transport.transfers())
    }

    /// The run is over, at `end`: the [`transfers`](Self::transfers) tell what has begun until then, and nothing else; in
    /// trains, in which it is foreseen, what has begun before.
    pub fn finish_transfers(&mut self, end: SimTime) {
        either!(self, transport => transport.finish_transfers(end));
    }

    /// Records what processors and interfaces do for the communication from now on. To be called on a transport
    /// [packet by packet](Self::packet_by_packet), before anything happens.
    pub fn keep_log(&mut self) {
        match self {
            Self::Packets(transport) => transport.keep_services(),
            Self::Messages(transport) => transport.keep_log(),
        }
    }

    /// Returns the record.
    pub fn take_log(&mut self) -> CommunicationLog {
        match self {
            Self::Packets(transport) => CommunicationLog { services: transport.take_services(), passages: Vec::new() },
            Self::Messages(transport) => transport.take_log(),
        }
    }
}
