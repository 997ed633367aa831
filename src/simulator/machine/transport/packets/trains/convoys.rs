//! Convoys: trains that are followed by the last packet of their message, which is shorter.
//!
//! Without overlap the source prepares the last packet when the train has left the first link. If nothing else is known
//! to happen in between, this preparation is speculated, and train and last packet pass vertices together. Each is
//! admitted as a separate train, in the order in which they would be admitted one after the other. Where the train does
//! not pass freely, they continue separately.

use super::admissions::{Preparation, SpeculativeAdmission};
use super::places::NO_LINK;
use super::{MovingTrain, SpeculationLimit, Train, TrainContext, longest_stay};
use crate::engine::{Entity, EvenInstants, Runs};
use crate::network::{Packet, PacketCourse, PacketTimes};
use crate::units::{SimDuration, SimTime};

/// The number of messages of a source whose last packets are not speculated after one speculation has failed. If
/// packets of others keep arriving in between, most speculations would fail.
const SKIPPED_MESSAGES: u8 = 16;

/// The packets that follow a train that passes vertices.
pub(super) trait Rear {
    /// The number of packets.
    const COUNT: u32;

    /// Lets the packets pass a vertex behind the train in front: they arrive at the vertex by a link, on this course
    /// (`from`), and leave by a link after a service (`to`). With `STAY`, buffers are finite.
    fn follow<const STAY: bool>(
        &mut self,
        context: &mut TrainContext<'_>,
        vertex: u32,
        link: u32,
        course: PacketCourse,
        to: (u32, SimDuration),
    );
}

/// No packets.
pub(super) struct NoRear;

/// A packet that is shorter than those before it, in transit to a vertex.
pub(super) struct ShortRear {
    packet: Packet,
    arrival: SimTime,
    entity: Entity,
}

impl Rear for NoRear {
    const COUNT: u32 = 0;

    #[inline]
    fn follow<const STAY: bool>(
        &mut self,
        _: &mut TrainContext<'_>,
        _: u32,
        _: u32,
        _: PacketCourse,
        _: (u32, SimDuration),
    ) {
    }
}

impl Rear for ShortRear {
    const COUNT: u32 = 1;

    #[expect(clippy::inline_always, reason = "called at every vertex")]
    #[inline(always)]
    fn follow<const STAY: bool>(
        &mut self,
        context: &mut TrainContext<'_>,
        vertex: u32,
        link: u32,
        course: PacketCourse,
        (out, service): (u32, SimDuration),
    ) {
        let Self { packet, arrival, entity } = *self;
        let station = context.processors.idle_station(vertex).expect("the train in front has passed");
        let free = station.free();
        let departure = station.serve(arrival, service);
        let times = context.trains.models.times(out, packet.bytes);
        let track = &mut context.trains.tracks[out as usize];
        let link_free = track.line.free();
        let left = track.line.serve(departure, times.occupancy);
        track.carried += 1;
        let crossing = times.arrival(track.end == packet.to);
        if context.trains.transfers.is_some() {
            context.record_transfer(out, &packet, &[EvenInstants::single(left)], times.occupancy);
        }
        let run = EvenInstants::single(arrival);
        let train = Train { run, packet, course, limit: SpeculationLimit::Ahead };
        let admission = SpeculativeAdmission::passing(train, (link, entity), (out, service), (free, link_free));
        let stay = if STAY { longest_stay(run, (left, left)) } else { SimDuration::ZERO };
        context.keep(vertex, SpeculativeAdmission { stay, ..admission });
        let is_at_once = crossing == SimDuration::ZERO && link_free <= departure;
        self.entity = if is_at_once { context.first_processor + vertex } else { context.trains.places.arrival(out) };
        self.arrival = departure.max(link_free) + crossing;
    }
}

impl TrainContext<'_> {
    /// Returns the last packet of a message, if its source prepares it as soon as the link has carried the packets like
    /// `packet` that have been prepared, and does nothing else.
    pub(super) fn rear(
        &mut self,
        from: u32,
        packet: &Packet,
        (is_alone, times): (bool, PacketTimes),
    ) -> Option<Packet> {
        let rest = u32::try_from(self.messages[packet.message].unprepared).ok()?;
        let waits_for_link = !self.node.sending.overlap && times.occupancy > SimDuration::ZERO;
        let is_rear = is_alone && waits_for_link && rest > 0 && rest < packet.bytes;
        if !is_rear || self.processors.idle_station(from).is_none() {
            return None;
        }
        let not_speculated = &mut self.trains.not_speculated[from as usize];
        if *not_speculated > 0 {
            *not_speculated -= 1;
            return None;
        }
        Some(Packet::new(packet.message, packet.to, rest, packet.kind))
    }

    /// Hands a train to its first link, at its departures from the processor of `from`, which then prepares the `rear`
    /// of the message. Both advance while they may be admitted ahead.
    pub(super) fn inject_convoy(
        &mut self,
        from: u32,
        (out, times): (u32, PacketTimes),
        (admission, departures): (SpeculativeAdmission, &Runs),
        rear: Packet,
    ) {
        let train = admission.train;
        let entity = self.arrival_entity(from, (out, times), &train.packet, departures.first());
        let arrivals = self.transmit(out, &train.packet, departures, times);
        self.messages[rear.message].uninjected -= departures.count();
        self.keep(from, admission);
        let rear = self.inject_rear(from, &admission, rear);
        match arrivals {
            Runs::One(run) => {
                let flight = MovingTrain { link: out, entity, train: Train { run, ..train } };
                self.advance_convoy(flight, rear);
            }
            Runs::Few(_) => unreachable!("departures of packets that wait for their link are evenly spaced"),
        }
    }

    /// Speculates that the processor of `from` prepares the last packet of a message as soon as the packets before it,
    /// whose admission is `front`, have left the link.
    fn inject_rear(&mut self, from: u32, front: &SpeculativeAdmission, rear: Packet) -> ShortRear {
        let SpeculativeAdmission { out, entity, train, .. } = *front;
        let message = &mut self.messages[rear.message];
        let service = message.preparation(u64::from(rear.bytes), self.node);
        message.unprepared -= u64::from(rear.bytes);
        self.counts.events += 1;
        let service = self.service(from, service);
        let link_free = self.trains.tracks[out as usize].line.free();
        let before = self.processors.checkpoint(from);
        let line = self.processors.idle_station(from).expect("a rear is speculated only on a calm processor");
        let departure = Runs::One(EvenInstants::single(line.serve(link_free, service)));
        let times = self.trains.models.times(out, rear.bytes);
        let (arrival_entity, arrivals, notice) = self.inject(from, (out, times), &rear, &departure);
        let train = Train { run: EvenInstants::single(link_free), packet: rear, ..train };
        let admission = SpeculativeAdmission::of(&MovingTrain { link: NO_LINK, entity, train }, service, before);
        self.keep(
            from,
            SpeculativeAdmission { out, link_free, notice, preparation: Preparation::Speculated, ..admission },
        );
        ShortRear { packet: rear, arrival: arrivals.first(), entity: arrival_entity }
    }

    /// Advances a train and its rear, which have been handed to a link. They pass vertices together as long as the
    /// train passes freely, and then continue separately.
    fn advance_convoy(&mut self, mut flight: MovingTrain, mut rear: ShortRear) {
        let MovingTrain { link, entity, train: Train { packet, run, .. } } = flight;
        let vertex = self.end(link, packet.to);
        if packet.to != vertex && self.is_next(vertex, link, (run.first, entity)) {
            self.pass_in_convoy(vertex, &mut flight, &mut rear);
        }
        let ShortRear { packet, arrival, entity } = rear;
        let train =
            Train { run: EvenInstants::single(arrival), packet, limit: SpeculationLimit::Ahead, ..flight.train };
        let last = MovingTrain { link: flight.link, entity, train };
        self.advance(flight, false);
        // The last packet must not overtake trains that were handed to other links before.
        if self.trains.ahead.is_empty() {
            self.advance(last, false);
        } else {
            self.trains.ahead.push_back(last);
        }
    }

    /// Handles the failed speculation of a rear: its source waits until the packets before it have left the link.
    pub(super) fn wait_for_departure(&mut self, from: u32, admission: &SpeculativeAdmission) {
        let SpeculativeAdmission { out, entity, train: Train { packet, .. }, .. } = *admission;
        self.trains.not_speculated[from as usize] = SKIPPED_MESSAGES;
        let notice = self.notify_if_awaited(packet.message, out, entity);
        let front = self.trains.admissions.top_mut(from);
        if let Some(front) = front.filter(|front| front.link == NO_LINK && front.train.packet.message == packet.message)
        {
            front.notice = notice;
        }
    }
}
