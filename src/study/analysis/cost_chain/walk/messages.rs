//! The part of the walk that passes through network interfaces.

use super::super::index::PacketOnLink;
use super::{PathEvent, Walk};
use crate::analysis::cost_chain::{ChainPlace, Charge};
use parsim_sim::trace::{Passage, PassageStep, Software};
use parsim_sim::units::{SimDuration, SimTime};

impl Walk<'_, '_> {
    /// Adds the delay of a message between its processor, which it leaves, and the network.
    fn before_network(&mut self, departure: u32) -> Option<PathEvent> {
        let times = self.run.interfaces.as_ref()?;
        let passage = self.index.interfaces.get(departure);
        let bytes = passage.bytes + 1;
        let place = ChainPlace::Processor(passage.processor);
        self.push(place, Charge::InterfaceLatency { bytes }, (times.latency)(bytes));
        Some(PathEvent::Left(departure))
    }

    /// Adds the transit of a message's first byte over links without contention.
    pub(super) fn before_wire(&mut self, departure: u32, hops: u32) -> Option<PathEvent> {
        let times = self.run.interfaces.as_ref()?;
        let passage = self.index.interfaces.get(departure);
        let bytes = passage.bytes + 1;
        let place = ChainPlace::Processor(passage.processor);
        self.push(place, Charge::LoneWay { hops, bytes }, (times.lone_way)(hops, bytes));
        self.before_network(departure)
    }

    /// Returns the cause of a packet's transmission, if no other packet left its link when it began.
    pub(super) fn before_injection(&self, packet: &PacketOnLink) -> Option<PathEvent> {
        let interfaces = &self.index.interfaces;
        let entered = interfaces.entered(packet.from, packet.begin).map(PathEvent::Entered);
        let released = || interfaces.begun(packet.to, packet.begin).and_then(|taken| self.begin_of_arrival(taken));
        entered.or_else(released)
    }

    /// Returns the cause of a service for a message of an interface.
    pub(super) fn before_message(&self, number: u32) -> Option<PathEvent> {
        let service = self.index.services[number as usize];
        let (begin, processor) = (service.begin(), service.processor);
        let (node, interfaces) = ((self.run.vertex)(processor), &self.index.interfaces);
        let times = self.run.interfaces.as_ref()?;
        let queued = self.index.before(number).filter(|before| self.index.services[*before as usize].end == begin);
        let left = || interfaces.left(node, begin).and_then(|left| interfaces.queued(left, times)).map(PathEvent::Free);
        let passed = || interfaces.passed(node, begin).map(PathEvent::Passed);
        let arrived = || self.index.arrived(node, begin).map(PathEvent::Arrival);
        let taken = || self.begin_of_arrival(interfaces.begun(node, begin)?);
        let handed_over = || {
            let before = SimTime::START + SimDuration::from_ps(begin.ps().checked_sub(times.overhead.ps())?);
            interfaces.left(node, before).map(PathEvent::Left)
        };
        let at_its_own = queued.map(PathEvent::Service).or_else(|| self.requested(processor, begin)).or_else(left);
        at_its_own.or_else(taken).or_else(passed).or_else(arrived).or_else(handed_over)
    }

    /// Adds the piece that has ended at an interface and returns its cause.
    pub(super) fn before_passage(&mut self, ended: PathEvent, number: u32) -> Option<PathEvent> {
        let times = self.run.interfaces.as_ref()?;
        let passage = self.index.interfaces.get(number);
        let place = ChainPlace::Processor(passage.processor);
        let gaps = u64::from(passage.has_gap && matches!(ended, PathEvent::Free(_)));
        if let PathEvent::Left(_) = ended {
            let parts = [(Software::Overhead, 1), (Software::Overhead, 0), (Software::Overhead, 0)];
            self.push(place, Charge::Software(parts), times.overhead);
        } else {
            let time = times.gap * gaps + passage.end.since(passage.begin);
            self.push(place, Charge::Interface { gaps, bytes: passage.bytes }, time);
        }
        match passage.step {
            PassageStep::Comes { .. } => self.begin_of_arrival(number),
            _ => self.begin_of_send(number),
        }
    }

    /// Adds the time of the earlier packets of the same message, after which a packet enters the network.
    pub(super) fn before_entry(&mut self, number: u32) -> Option<PathEvent> {
        let (bytes, time) = self.run.interfaces.as_ref()?.packet;
        let passage = self.index.interfaces.get(number);
        let PassageStep::Enters { packets_before } = passage.step else { return None };
        for _ in 0..packets_before {
            self.push(ChainPlace::Processor(passage.processor), Charge::Interface { gaps: 0, bytes }, time);
        }
        self.before_network(self.index.interfaces.departure(passage.message)?)
    }

    /// Returns the departure of a message if its first byte, without contention, arrived exactly when the message's
    /// passage through the interface of its destination began.
    fn wire(&self, number: u32) -> Option<u32> {
        let times = self.run.interfaces.as_ref()?;
        let passage = self.index.interfaces.get(number);
        let PassageStep::Comes { hops } = passage.step else { return None };
        let departure = self.index.interfaces.departure(passage.message)?;
        let left = self.index.interfaces.get(departure);
        let bytes = left.bytes + 1;
        let came = left.begin + times.overhead + (times.latency)(bytes) + (times.lone_way)(hops, bytes);
        (came == passage.begin).then_some(departure)
    }

    /// Returns the cause of the departure of a message.
    fn begin_of_send(&self, number: u32) -> Option<PathEvent> {
        let times = self.run.interfaces.as_ref()?;
        let passage = self.index.interfaces.get(number);
        let served = self.index.served(passage.processor, passage.begin).map(PathEvent::Service);
        let queued = || self.index.interfaces.queued(number, times).map(PathEvent::Free);
        served.or_else(queued).or_else(|| self.requested(passage.processor, passage.begin))
    }

    /// Returns the cause of the beginning of a message's passage through the interface of its destination.
    fn begin_of_arrival(&self, number: u32) -> Option<PathEvent> {
        let times = self.run.interfaces.as_ref()?;
        let Passage { node, begin, processor, step, .. } = self.index.interfaces.get(number);
        let PassageStep::Comes { hops } = step else { return None };
        let queued = self.index.interfaces.queued(number, times).map(PathEvent::Free);
        let served = || self.index.served(processor, begin).map(PathEvent::Service);
        let head = || self.index.head_arrived(node, begin).map(PathEvent::Head);
        let arrived = || self.index.arrived(node, begin).map(PathEvent::Arrival);
        let wire = || self.wire(number).map(|departure| PathEvent::Wire { departure, hops });
        let computed = || self.index.of_processor(processor, begin).map(PathEvent::Activity);
        queued.or_else(wire).or_else(head).or_else(arrived).or_else(served).or_else(computed)
    }
}
