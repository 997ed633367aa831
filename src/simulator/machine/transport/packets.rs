//! Transport of messages as packets. The processor of the source prepares the packets, links carry them, the nodes in
//! between pass them on, and the processor of the destination receives them.
//!
//! This module has the requests of processes and the dispatch of events. The movement of packets is implemented twice,
//! with the same results: one packet at a time in [`single`], to be read first, and several packets in one step in
//! [`trains`].

use super::{Completion, MessageId, OutgoingMessage};
use crate::engine::{Calendar, Entity, Runs, Slab, Streams, Timers};
use crate::machine::hierarchy::Hierarchy;
use crate::machine::speed_profile::{SpeedProfile, paced_rows};
use crate::machine::{Machine, RankLocation, Sends};
use crate::network::{BufferDeadlock, Fabric, ForwardedBy, HopEvent, Packet, PacketKind, Topology};
use crate::node::processor::{Computation, KernelError, Stopwatch};
use crate::node::{Dispatcher, Node, PreemptionRules, Router};
use crate::trace::{CommunicationLog, Counts};
use crate::units::{SimDuration, SimTime};
use std::collections::VecDeque;

mod cores;
mod link_stats;
mod single;
mod software;
mod trains;

use cores::{detour_bytes, processors};
use trains::Trains;

/// The state of all nodes and links of a machine during a run.
///
/// Completions are reported by [`step`](Self::step), and by the calls that cause them immediately.
pub struct PacketTransport {
    node: Node,
    stopwatch: Stopwatch,
    /// The speeds and the noise of processors; `None` if all take the time that is described.
    pace: Option<Box<SpeedProfile>>,
    sends: Sends,
    packet_bytes: u64,
    calendar: Calendar,
    carrier: Carrier,
    /// The hops that packets have just completed; empty between events.
    hops: Vec<HopEvent>,
    processors: Dispatcher<Job>,
    /// The timers of jobs whose end requires an action.
    job_timers: Timers<Job>,
    /// The jobs of the router that have just been admitted to a processor; empty between events.
    admitted: Vec<(Job, Runs)>,
    /// The memories and interfaces that cores share; `None` if there are none.
    hierarchy: Option<Box<Hierarchy>>,
    cores: u32,
    vertices: u32,
    messages: Slab<PacketizedMessage>,
    /// The completions that have not been reported yet.
    pub completions: VecDeque<Completion>,
    counts: Counts,
    /// The number of events that have been run. In trains, those of packets are fewer than the counted ones.
    steps: u64,
    /// The communication work of the processors; `None` unless it is recorded.
    pub log: Option<CommunicationLog>,
    first: FirstEntities,
    /// The latest key of an event that has been run.
    key: (SimTime, Entity),
}

/// The implementation of the movement of packets from node to node.
enum Carrier {
    /// Moves one packet at a time.
    Packets(Fabric),
    /// Moves as many packets at a time as no other event interrupts.
    Trains(Box<Trains>),
}

impl Carrier {
    /// Returns the number of entities that the links use.
    fn entities(&self) -> Entity {
        match self {
            Self::Packets(fabric) => fabric.entities(),
            Self::Trains(trains) => trains.entities(),
        }
    }
}

/// The first entity of each kind; the entities of links start at zero.
#[derive(Clone, Copy)]
struct FirstEntities {
    processor: Entity,
    alarm: Entity,
    timer: Entity,
    hierarchy: Entity,
}

impl FirstEntities {
    /// Returns `None` if the events of links, processors and processes cannot be numbered in 32 bits.
    fn after(links: Entity, processors: u32, owners: u32) -> Option<Self> {
        let alarm = links.checked_add(processors)?;
        let timer = alarm.checked_add(processors)?;
        timer.checked_add(owners).map(|hierarchy| Self { processor: links, alarm, timer, hierarchy })
    }
}

/// The state of a message between the start of its send and its completion.
#[derive(Clone, Copy)]
struct PacketizedMessage {
    from: u32,
    to: u32,
    cores: (u32, u32),
    hops: u32,
    handle: u32,
    /// The number of bytes whose preparation has not begun.
    unprepared: u64,
    /// The number of packets that the destination has not received.
    missing: u32,
    /// The number of packets that have not left over their first link; with trains, that have not been handed to it.
    uninjected: u32,
    /// `true` if the bytes of the message are copied into its packets.
    copies: bool,
    /// The condition for the completion of the send, which is never `Eager`.
    rule: Sends,
}

/// A communication job of a processor.
#[derive(Clone, Copy)]
enum Job {
    Prepare {
        message: MessageId,
        bytes: u32,
    },
    Forward(Packet),
    Receive(Packet),
    /// The preparation of packets that are already admitted; at its end, the next packets of the message are prepared.
    Continue(MessageId),
}

impl PacketTransport {
    /// Creates the idle nodes and links of the part of `machine` that is in use, which `topology` describes, for `owners`
    /// processes.
    ///
    /// # Panics
    /// Panics if the topology is too large to be [simulated](Self::holds), which the check of a scenario rejects.
    #[must_use]
    pub fn new(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        let pace = SpeedProfile::of(machine, topology.vertices(), owners, streams);
        let trains = Trains::of(machine, &topology, pace.as_deref());
        match trains.filter(|_| machine.nodes.cores() == 1 && Hierarchy::of(machine, topology.nodes(), 0).is_none()) {
            Some(trains) => Self::with_carrier(machine, &topology, owners, pace, Carrier::Trains(Box::new(trains))),
            None => Self::packet_by_packet(machine, topology, owners, streams),
        }
    }

    /// As [`new`](Self::new), but every packet has its own events at every station, even where several packets could
    /// travel together. The simulation takes longer, and yields the same times.
    ///
    /// # Panics
    /// Panics in the same cases as [`new`](Self::new).
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "as `new`, which keeps the topology")]
    pub fn packet_by_packet(machine: &Machine, topology: Topology, owners: u32, streams: Streams) -> Self {
        let pace = SpeedProfile::of(machine, topology.vertices(), owners, streams);
        let onward = match machine.nodes.router {
            Router::Hardware => ForwardedBy::Router,
            Router::Software => ForwardedBy::Software,
        };
        let fabric = Fabric::new(&machine.network, topology.clone(), onward, streams);
        Self::with_carrier(machine, &topology, owners, pace, Carrier::Packets(fabric)).interrupted(
            &machine.nodes.detours,
            topology.nodes(),
            streams,
        )
    }

    fn with_carrier(
        machine: &Machine,
        topology: &Topology,
        owners: u32,
        pace: Option<Box<SpeedProfile>>,
        carrier: Carrier,
    ) -> Self {
        let (vertices, nodes, cores) = (topology.vertices(), topology.nodes(), machine.nodes.cores());
        let processors = processors(vertices, nodes, cores).expect("check limits the size of machines");
        let first =
            FirstEntities::after(carrier.entities(), processors, owners).expect("check limits the size of machines");
        let turns = PreemptionRules {
            router: machine.nodes.router_turn.unwrap_or_default(),
            time_slice: machine.nodes.time_slice,
        };
        Self {
            node: machine.nodes.clone(),
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            pace,
            sends: machine.sends,
            packet_bytes: machine.network.switching.packet_bytes(),
            calendar: Calendar::new(),
            carrier,
            hops: Vec::new(),
            hierarchy: Hierarchy::of(machine, nodes, first.hierarchy),
            cores,
            vertices,
            processors: Dispatcher::new(processors, turns, first.alarm),
            job_timers: Timers::new(processors, first.processor),
            admitted: Vec::new(),
            messages: Slab::new(),
            completions: VecDeque::new(),
            counts: Counts::default(),
            steps: 0,
            log: None,
            first,
            key: (SimTime::START, 0),
        }
    }

    /// Returns whether `owners` processes on the topology are few enough for 32-bit event numbers, whatever the
    /// switching.
    #[must_use]
    pub fn holds(machine: &Machine, topology: &Topology, owners: u32) -> bool {
        let processors = processors(topology.vertices(), topology.nodes(), machine.nodes.cores());
        let links = Fabric::most_entities(topology);
        let first = links.zip(processors).and_then(|(links, count)| FirstEntities::after(links, count, owners));
        // Bytes and packets in shared servers have separate events, several for each process.
        let shared = Hierarchy::count(machine, topology.nodes()) + 4 * u64::from(owners);
        first.is_some_and(|first| Entity::try_from(u64::from(first.hierarchy) + shared).is_ok())
    }

    /// Estimates the bytes of memory that the simulation of `machine` takes, of which `ranks` ranks use the part that
    /// `topology` describes, including its share of the trace.
    #[must_use]
    pub fn memory(machine: &Machine, topology: &Topology, ranks: u32) -> f64 {
        // Measured: the dispatcher and the timers of a processor, and its place in a layout.
        const PROCESSOR_BYTES: f64 = 55.0;
        let processor_bytes = PROCESSOR_BYTES + detour_bytes(&machine.nodes.detours);
        let further_cores = f64::from(topology.nodes()) * f64::from(machine.nodes.cores() - 1);
        let links = if Self::carries_trains(machine, topology) {
            Fabric::memory_of_tracks
        } else if Self::presumes_room(machine, topology) {
            Fabric::memory_of_presumed_room
        } else {
            Fabric::memory
        };
        processor_bytes * (f64::from(topology.vertices()) + further_cores)
            + links(&machine.network, topology, ranks.min(topology.nodes()))
    }

    /// Returns whether packets cross the machine in trains, with no possible need for a second run.
    #[must_use]
    pub fn carries_trains(machine: &Machine, topology: &Topology) -> bool {
        !machine.network.has_finite_buffers() && Self::may_carry_trains(machine, topology)
    }

    /// Returns whether packets cross the machine in trains as if there were room for all of them in finite buffers.
    #[must_use]
    pub fn presumes_room(machine: &Machine, topology: &Topology) -> bool {
        machine.network.has_finite_buffers() && Self::may_carry_trains(machine, topology)
    }

    /// Returns whether `ranks` ranks whose packets move in trains need little more memory if they move one by one, so that
    /// a run may be begun again. Where buffers are finite, the [estimate](Self::memory) includes a second run.
    #[must_use]
    pub fn may_leave_trains(machine: &Machine, topology: &Topology, ranks: u32) -> bool {
        const LITTLE: f64 = 8e6;
        let (network, nodes) = (&machine.network, ranks.min(topology.nodes()));
        let more = Fabric::memory(network, topology, nodes) - Fabric::memory_of_tracks(network, topology, nodes);
        network.has_finite_buffers() || more <= LITTLE
    }

    fn may_carry_trains(machine: &Machine, topology: &Topology) -> bool {
        Trains::are_possible(machine, topology, None)
            && machine.nodes.cores() == 1
            && Hierarchy::of(machine, topology.nodes(), 0).is_none()
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
        let (row, passes) =
            paced_rows(&mut self.stopwatch, self.pace.as_deref_mut(), (location.node, owner), computation)?;
        let processor = self.processor(location);
        self.settle(now, processor);
        self.processors.compute(&mut self.calendar, now, processor, owner, (row, passes));
        Ok(row * passes)
    }

    /// Sets the timer of an owner; `TimerExpired` reports the end of `span`. An owner has one timer at a time.
    pub fn wait(&mut self, now: SimTime, owner: u32, span: SimDuration) {
        self.calendar.schedule(now + span, self.first.timer + owner);
    }

    /// Starts to send `bytes` bytes, which the process of the source may have sent before (`again`). `Delivered` and
    /// `Sent` report the progress of the message with `handle`.
    ///
    /// # Panics
    /// Panics if the message has 2^32 packets or more, which the execution rejects.
    pub fn send(
        &mut self,
        now: SimTime,
        (source, destination): (RankLocation, RankLocation),
        OutgoingMessage { bytes, again, handle, cause }: OutgoingMessage,
    ) {
        let packets =
            u32::try_from(bytes.div_ceil(self.packet_bytes).max(1)).expect("the execution limits the size of messages");
        let (from, to, cores) = (source.node, destination.node, (source.core, destination.core));
        let hops = match &self.carrier {
            Carrier::Packets(fabric) => fabric.hops(from, to),
            Carrier::Trains(trains) => trains.hops(from, to),
        };
        let (missing, uninjected, copies) = (packets, packets, self.node.sending.does_copy(again));
        let rule = self.sends.of(bytes);
        let message =
            PacketizedMessage { from, to, cores, hops, handle, unprepared: bytes, missing, uninjected, copies, rule };
        let id = self.messages.put(message);
        self.counts.messages += 1;
        self.record_cause(id, cause);
        self.advance_key(now, 0);
        match self.train_context() {
            Some(mut context) => context.prepare(id),
            None => self.prepare(now, id),
        }
        if rule == Sends::Buffered {
            self.completions.push_back(Completion::Sent { handle });
        }
    }

    /// Records that a process has received a delivered message.
    pub fn accept(&mut self, now: SimTime, message: MessageId) {
        match self.messages[message].rule {
            Sends::Rendezvous => {
                self.advance_key(now, 0);
                match self.train_context() {
                    Some(mut context) => context.acknowledge(message),
                    None => self.acknowledge(now, message),
                }
            }
            Sends::UntilDelivered => {}
            _ => {
                self.messages.take(message);
            }
        }
    }

    /// Runs the next event. Returns its time, or `None` if no event is left.
    pub fn step(&mut self) -> Option<SimTime> {
        let (now, entity) = self.calendar.pop()?;
        self.steps += 1;
        self.advance_key(now, entity);
        if entity >= self.first.alarm {
            self.counts.events += 1;
            if entity < self.first.timer {
                self.handle_alarm(now, entity - self.first.alarm);
            } else if entity < self.first.hierarchy {
                self.completions.push_back(Completion::TimerExpired { owner: entity - self.first.timer });
            } else {
                self.step_hierarchy(now, entity);
            }
        } else if let Some(mut context) = self.train_context() {
            context.trains.steps += 1;
            match entity.checked_sub(context.first_processor) {
                Some(node) => context.finish_job(node),
                None => context.run_link_event(entity),
            }
        } else {
            self.counts.events += 1;
            match entity.checked_sub(self.first.processor) {
                Some(processor) => self.finish_job(now, processor),
                None => self.move_packets(now, entity),
            }
        }
        Some(now)
    }

    /// Advances the latest key to that of the event that is run now.
    fn advance_key(&mut self, now: SimTime, entity: Entity) {
        self.key = self.key.max((now, entity));
    }

    /// Brings the state of a processor to `now`, before something other than an arriving train changes it.
    fn settle(&mut self, now: SimTime, processor: u32) {
        self.advance_key(now, 0);
        if let Some(mut context) = self.train_context() {
            context.settle(processor);
        }
    }

    /// Handles the alarm of a processor.
    fn handle_alarm(&mut self, now: SimTime, processor: u32) {
        self.settle(now, processor);
        let mut admitted = std::mem::take(&mut self.admitted);
        let ended = self.processors.alarm(&mut self.calendar, now, processor, &mut admitted);
        match self.train_context() {
            Some(mut context) => context.admit_deferred(processor, admitted.drain(..)),
            None => {
                for (job, departures) in admitted.drain(..) {
                    self.add_departure(processor, departures.first(), job);
                }
            }
        }
        self.admitted = admitted;
        self.completions.extend(ended.map(|owner| Completion::Computed { owner }));
    }

    /// Returns the time of the last event.
    #[must_use]
    pub const fn now(&self) -> SimTime {
        self.key.0
    }

    /// Returns the time that the processor at `location` has spent on communication up to `now`.
    pub fn system_time(&mut self, location: RankLocation, now: SimTime) -> SimDuration {
        let processor = self.processor(location);
        self.settle(now, processor);
        self.processors.served(processor, now)
    }

    /// Ends the run after the last event. Returns whether anything was still in progress. In that case a run [packet by
    /// packet](Self::packet_by_packet) counts fewer events, packets and transmissions, because the counts here include
    /// those that were admitted ahead of time.
    pub fn stop(&mut self) -> bool {
        let (now, vertices) = (self.key.0, self.vertices);
        let Some(mut context) = self.train_context() else { return false };
        context.settle_all();
        let is_busy = |processors: &Dispatcher<Job>| (0..vertices).any(|node| processors.is_busy(node, now));
        context.trains.are_under_way(now) || !context.job_timers.is_empty() || is_busy(context.processors)
    }

    /// Returns whether a packet may have found no room in a buffer.
    #[must_use]
    pub fn is_short_of_room(&self) -> bool {
        match &self.carrier {
            Carrier::Packets(_) => false,
            Carrier::Trains(trains) => trains.are_short_of_room(),
        }
    }

    /// Returns whether trains have been a loss so far, because nearly every packet has its own events in them: an event
    /// of a train takes twice the time of an event of a packet. This is decided after certain numbers of events.
    #[must_use]
    pub fn is_slowed_by_trains(&self) -> bool {
        // A run of fewer events takes a few milliseconds at most.
        const FIRST_DECISION: u64 = 1 << 14;
        let Carrier::Trains(trains) = &self.carrier else { return false };
        if trains.steps < FIRST_DECISION || !trains.steps.is_power_of_two() {
            return false;
        }
        // Single packets would have run the counted events, which are less than 1.5 for each event of a train.
        2 * self.counts.events < 2 * self.steps + trains.steps
    }

    /// Returns the size of the simulated work. An event is the end of a transmission, a job, a computation or a timer,
    /// or an alarm of a processor, whether it was run alone or together with others.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the packets that wait for buffers, and the buffers they wait for, once no event is left.
    #[must_use]
    pub fn standstill(&self) -> BufferDeadlock {
        match &self.carrier {
            Carrier::Packets(fabric) => fabric.standstill(),
            Carrier::Trains(_) => BufferDeadlock::default(),
        }
    }
}

impl PacketizedMessage {
    const fn source(&self) -> RankLocation {
        RankLocation { node: self.from, core: self.cores.0 }
    }

    const fn destination(&self) -> RankLocation {
        RankLocation { node: self.to, core: self.cores.1 }
    }

    /// Returns the processor time for the preparation of a packet of this message.
    fn preparation(&self, bytes: u64, node: &Node) -> SimDuration {
        node.sending.time(if self.copies { bytes } else { 0 }, self.hops)
    }

    const fn stays_on_its_node(&self) -> bool {
        self.from == self.to
    }

    /// Returns the packet with which the destination acknowledges the message to the source.
    fn acknowledge(&self, id: MessageId, node: &Node) -> Packet {
        Packet::new(id, self.from, node.acknowledging.packet_bytes(), PacketKind::Acknowledge)
    }
}
