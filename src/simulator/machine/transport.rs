//! Transport of messages across the machine: the requests of processes, and their completions.
//!
//! Nodes without network interfaces prepare packets on their processors ([`packets`]); interfaces send whole messages
//! ([`messages`]).

mod messages;
mod packets;

use super::{IssueOrder, Machine, RankLocation};
use crate::engine::{AbortCheck, Streams};
use crate::network::{BufferDeadlock, Topology, Transfers};
use crate::node::processor::{Computation, KernelError};
use crate::trace::events::EventId;
use crate::trace::{CommunicationLog, Counts, LinkLoad};
use crate::units::{SimDuration, SimTime};
pub(crate) use messages::MessageTransport;
use packets::PacketTransport;

/// The number of a message in transit, which is reused once the message is gone.
pub type MessageId = u32;

/// A completion that a process may be waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The computation of an owner has ended.
    Computed {
        /// The process that computed.
        owner: u32,
    },
    /// The timer of an owner has expired.
    TimerExpired {
        /// The process that set the timer.
        owner: u32,
    },
    /// A memory load, or a transfer of bytes out of a node, has ended.
    BytesMoved {
        /// The handle given by the caller.
        handle: u32,
    },
    /// The send of an issued message has begun.
    SendBegun {
        /// The sender's handle.
        handle: u32,
    },
    /// An issued computation has begun.
    ComputationBegun {
        /// The number of the operation.
        operation: u32,
        /// The time at which the computation ends.
        end: SimTime,
    },
    /// The timer of an issued operation has expired.
    Due {
        /// The number of the operation.
        operation: u32,
        /// The turn of the operations that follow.
        turn: IssueOrder,
    },
    /// The send of a message is complete, as defined by [`Sends`](super::Sends).
    Sent {
        /// The sender's handle.
        handle: u32,
    },
    /// All packets of a message have been received.
    Delivered {
        /// The message, to be accepted when a process receives it.
        message: MessageId,
        /// The sender's handle.
        handle: u32,
    },
    /// A message has been announced; its data wait for a process that receives it.
    Announced {
        /// The message, to be accepted when a process receives it.
        message: MessageId,
        /// The sender's handle.
        handle: u32,
    },
    /// A message that was announced by its first part has arrived completely, and no process has received it yet.
    FullyArrived {
        /// The sender's handle.
        handle: u32,
    },
    /// The data of a message start to leave their source. It is reported only if [requested](Transport::report_flights).
    Launched {
        /// The sender's handle.
        handle: u32,
        /// The time at which they start, now or later.
        at: SimTime,
    },
    /// The last byte of a message is at the interface of its destination, and may wait there for the processor. It may be
    /// reported several times, and only if [requested](Transport::report_flights).
    Landed {
        /// The sender's handle.
        handle: u32,
        /// The time at which it is there, now or later.
        at: SimTime,
    },
    /// The data of an announced message have arrived.
    Arrived {
        /// The number of the receive that has accepted the message.
        receive: u32,
    },
}

/// The state of all nodes and links of a machine during a run.
///
/// [`step`](Self::step), and the calls that complete an operation at once, add [completions](Self::next_completion).
pub struct Transport(TransportState);

/// The state of each kind of transport.
enum TransportState {
    /// Processors prepare and receive packets.
    Packets(Box<PacketTransport>),
    /// Interfaces send and receive messages.
    Messages(Box<MessageTransport>),
}

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingMessage {
    /// The length in bytes.
    pub bytes: u64,
    /// `true` if the process of the source has sent the same data before.
    pub again: bool,
    /// The sender's handle, which the completions of the message have.
    pub handle: u32,
    /// The cause of the message that a recording names.
    pub cause: EventId,
}

/// The first of the handles for messages that no process sends.
pub const BACKGROUND_HANDLES: u32 = 1 << 31;

/// Forwards a call to the transport in use.
macro_rules! either {
    ($state:expr, $transport:ident => $call:expr) => {
        match $state {
            TransportState::Packets($transport) => $call,
            TransportState::Messages($transport) => $call,
        }
    };
}

impl Transport {
    /// Creates the idle nodes and links of the part of `machine` that is in use, which `topology` describes, for `owners`
    /// processes.
    ///
    /// # Panics
    /// Panics if the topology is too large to be [simulated](Self::can_number_events), which the check of a scenario rejects.
    #[must_use]
    pub fn new(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        match &machine.nodes.interface {
            Some(interface) => Self(TransportState::Messages(Box::new(MessageTransport::new(
                machine, interface, topology, owners, streams,
            )))),
            None => Self(TransportState::Packets(Box::new(PacketTransport::new(machine, topology, owners, streams)))),
        }
    }

    /// As [`new`](Self::new), but every packet has its own events at every station, even where several packets could
    /// travel together. The simulation takes longer, and yields the same times.
    ///
    /// # Panics
    /// Panics in the same cases as [`new`](Self::new).
    #[must_use]
    pub fn packet_by_packet(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        match &machine.nodes.interface {
            Some(_) => Self::new(machine, topology, owners, streams),
            None => Self(TransportState::Packets(Box::new(PacketTransport::packet_by_packet(
                machine, topology, owners, streams,
            )))),
        }
    }

    /// Returns whether `owners` processes on the topology are few enough for 32-bit event numbers, whatever the
    /// switching.
    #[must_use]
    pub fn can_number_events(machine: &Machine, topology: &Topology, owners: u32) -> bool {
        machine.is_free_of_contention() || PacketTransport::holds(machine, topology, owners)
    }

    /// Estimates the bytes of memory that the simulation of `machine` takes, of which `ranks` ranks use the part that
    /// `topology` describes, including its share of the trace.
    #[must_use]
    pub fn memory(machine: &Machine, topology: &Topology, ranks: u32) -> f64 {
        match &machine.nodes.interface {
            Some(interface) => MessageTransport::memory(machine, interface, topology, ranks),
            None => PacketTransport::memory(machine, topology, ranks),
        }
    }

    /// Returns whether packets move in trains, on the part of `machine` that `topology` describes; packets that wait
    /// then take no memory.
    #[must_use]
    pub fn carries_trains(machine: &Machine, topology: &Topology) -> bool {
        machine.nodes.interface.is_none() && PacketTransport::carries_trains(machine, topology)
    }

    /// Returns whether packets move in trains that assume room in finite buffers, on the part of `machine` that
    /// `topology` describes.
    #[must_use]
    pub fn presumes_room(machine: &Machine, topology: &Topology) -> bool {
        machine.nodes.interface.is_none() && PacketTransport::presumes_room(machine, topology)
    }

    /// Returns whether a run in trains may be begun again packet by packet, which then takes little more memory than
    /// [estimated](Self::memory).
    #[must_use]
    pub fn may_leave_trains(machine: &Machine, topology: &Topology, ranks: u32) -> bool {
        PacketTransport::may_leave_trains(machine, topology, ranks)
    }

    /// Starts a computation on a node, the end of which `Computed` reports. Returns the processor time of the
    /// computation itself. An owner has one computation at a time.
    ///
    /// # Errors
    /// Returns an error if the processor cannot compute such a row.
    pub fn compute(
        &mut self,
        now: SimTime,
        location: RankLocation,
        owner: u32,
        computation: Computation,
    ) -> Result<SimDuration, KernelError> {
        either!(&mut self.0, transport => transport.compute(now, location, owner, computation))
    }

    /// Returns whether an owner that wants to compute has to wait for sends that were requested from its core before.
    /// `TimerExpired` reports that they have begun.
    pub fn waits_behind_sends(&mut self, location: RankLocation, owner: u32) -> bool {
        match &mut self.0 {
            TransportState::Packets(_) => false,
            TransportState::Messages(transport) => transport.waits_behind_sends(location, owner),
        }
    }

    /// Sets the timer of an owner; `TimerExpired` reports that `span` is over. An owner has one timer at a time.
    pub fn wait(&mut self, now: SimTime, owner: u32, span: SimDuration) {
        either!(&mut self.0, transport => transport.wait(now, owner, span));
    }

    /// Starts to send a message. `Delivered` and `Sent` report its progress.
    ///
    /// # Panics
    /// Panics if the message has 2^32 packets or more, which the execution rejects.
    pub fn send(&mut self, now: SimTime, locations: (RankLocation, RankLocation), message: OutgoingMessage) {
        either!(&mut self.0, transport => transport.send(now, locations, message));
    }

    /// Lets a process receive a message, by the receive with this number. Returns whether the message is there; the
    /// data of an announced message are still to come, and `Arrived` reports them.
    pub fn accept(&mut self, now: SimTime, message: MessageId, receive: u32) -> bool {
        match &mut self.0 {
            TransportState::Packets(transport) => {
                transport.accept(now, message);
                true
            }
            TransportState::Messages(transport) => transport.accept(now, message, receive),
        }
    }

    /// Returns the transport that takes issued operations directly, if there are network interfaces.
    pub(crate) fn message_transport(&mut self) -> Option<&mut MessageTransport> {
        match &mut self.0 {
            TransportState::Packets(_) => None,
            TransportState::Messages(transport) => Some(transport),
        }
    }

    /// Returns whether messages go through network interfaces.
    #[must_use]
    pub const fn has_interfaces(&self) -> bool {
        matches!(self.0, TransportState::Messages(_))
    }

    /// Returns the time from which the process at `location` can continue, if communication keeps its processor `cpu` busy
    /// after `now`. Processor 0 is the one of the process itself.
    #[must_use]
    pub fn busy_until(&self, now: SimTime, location: RankLocation, cpu: u8) -> Option<SimTime> {
        match &self.0 {
            TransportState::Packets(_) => None,
            TransportState::Messages(transport) => {
                Some(transport.communicates_until(location, cpu)).filter(|end| *end > now)
            }
        }
    }

    /// Loads `bytes` bytes from the memory of a node; `BytesMoved` reports the end with `handle`.
    pub fn load(&mut self, now: SimTime, location: RankLocation, bytes: f64, handle: u32) {
        match &mut self.0 {
            TransportState::Packets(transport) => transport.load(now, location, bytes, handle),
            TransportState::Messages(transport) => transport.load(now, location, bytes, handle),
        }
    }

    /// Sends `bytes` bytes out of a node through its interface, without a destination; `BytesMoved` reports the end with
    /// `handle`.
    pub fn leave_node(&mut self, now: SimTime, location: RankLocation, bytes: f64, handle: u32) {
        match &mut self.0 {
            TransportState::Packets(transport) => transport.leave_node(now, location, bytes, handle),
            TransportState::Messages(transport) => transport.completions.push_back(Completion::BytesMoved { handle }),
        }
    }

    /// Runs the next event. Returns its time, or `None` if no event is left.
    pub fn step(&mut self) -> Option<SimTime> {
        either!(&mut self.0, transport => transport.step())
    }

    /// Removes and returns the oldest completion.
    pub fn next_completion(&mut self) -> Option<Completion> {
        either!(&mut self.0, transport => transport.completions.pop_front())
    }

    /// Returns whether there are completions that have not been taken.
    #[must_use]
    pub fn has_completions(&self) -> bool {
        either!(&self.0, transport => !transport.completions.is_empty())
    }

    /// Returns the time of the last event.
    #[must_use]
    pub const fn now(&self) -> SimTime {
        either!(&self.0, transport => transport.now())
    }

    /// Returns the time that the processor at `location` has spent on communication up to `now`.
    pub fn system_time(&mut self, location: RankLocation, now: SimTime) -> SimDuration {
        either!(&mut self.0, transport => transport.system_time(location, now))
    }

    /// Returns the number of the processor at `location`.
    #[must_use]
    pub const fn processor(&self, location: RankLocation) -> u32 {
        either!(&self.0, transport => transport.processor(location))
    }

    /// Ends the run after the last event. Returns whether anything was still in progress. In that case a run [packet by
    /// packet](Self::packet_by_packet) counts fewer events, packets and transmissions, because the counts here include
    /// those that were admitted ahead of time.
    pub fn stop(&mut self) -> bool {
        match &mut self.0 {
            TransportState::Packets(transport) => transport.stop(),
            TransportState::Messages(_) => false,
        }
    }

    /// Returns whether a packet may have found no room in a buffer that was assumed to have room. The run must then be
    /// repeated [packet by packet](Self::packet_by_packet).
    #[must_use]
    pub fn is_short_of_room(&self) -> bool {
        match &self.0 {
            TransportState::Packets(transport) => transport.is_short_of_room(),
            TransportState::Messages(_) => false,
        }
    }

    /// Returns whether packets in trains have been slower so far than they would be [packet by
    /// packet](Self::packet_by_packet).
    #[must_use]
    pub fn is_slowed_by_trains(&self) -> bool {
        match &self.0 {
            TransportState::Packets(transport) => transport.is_slowed_by_trains(),
            TransportState::Messages(_) => false,
        }
    }

    /// Returns the size of the simulated work. An event is the end of a transmission, a job, a computation or a timer,
    /// or an alarm of a processor, whether it was run alone or together with others.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        either!(&self.0, transport => transport.counts())
    }

    /// Returns the packets that wait for buffers, and the buffers they wait for, once no event is left.
    #[must_use]
    pub fn standstill(&self) -> BufferDeadlock {
        either!(&self.0, transport => transport.standstill())
    }

    /// Returns the load of every direction of a link up to `now`, the end of the run; the links are not used
    /// afterwards.
    #[must_use]
    pub fn take_link_loads(&mut self, now: SimTime) -> Vec<LinkLoad> {
        either!(&mut self.0, transport => transport.take_link_loads(now))
    }

    /// Starts to record the transfers over the links.
    pub(crate) fn record_transfers(&mut self) {
        either!(&mut self.0, transport => transport.record_transfers());
    }

    /// Returns the transfers over the links, if they are recorded.
    pub(crate) fn transfers(&mut self) -> Option<&mut Transfers> {
        either!(&mut self.0, transport => transport.transfers())
    }

    /// Ends the recording of transfers at `end`, the end of the run. The [`transfers`](Self::transfers) are those that
    /// began by then. In trains, whose transfers are recorded ahead of time, they are those that began before `end`.
    pub(crate) fn finish_transfers(&mut self, end: SimTime) {
        either!(&mut self.0, transport => transport.finish_transfers(end));
    }

    /// Starts to record the communication work of processors and interfaces. Must be called on a transport [packet by
    /// packet](Self::packet_by_packet), before the first event.
    pub fn keep_log(&mut self) {
        either!(&mut self.0, transport => transport.log = Some(CommunicationLog::default()));
    }

    /// Makes work that may be interrupted any number of times check whether the run is to be aborted.
    pub(crate) fn abort_on(&mut self, check: &AbortCheck) {
        match &mut self.0 {
            TransportState::Packets(transport) => transport.abort_on(check),
            TransportState::Messages(transport) => transport.abort_on(check),
        }
    }

    /// Reports when data leave their source, and when they are at the interface of their destination, before a processor
    /// handles them. Messages in packets that processors receive are only reported as delivered.
    pub fn report_flights(&mut self) {
        if let TransportState::Messages(transport) = &mut self.0 {
            transport.reports_flights = true;
        }
    }

    /// Returns the record of the communication work since it was last cleared, if it is kept.
    pub fn log(&mut self) -> Option<&mut CommunicationLog> {
        either!(&mut self.0, transport => transport.log.as_mut())
    }
}
