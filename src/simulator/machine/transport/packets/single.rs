//! Movement of packets one at a time, each with its own events: prepared on the processor of their source, passed on by
//! the processors in between, and received by the processor of their destination.

use super::software::{forwarding_time, receiving_time};
use super::{Carrier, Completion, Job, MessageId, PacketTransport, PacketizedMessage};
use crate::engine::{Calendar, Entity};
use crate::machine::{RankLocation, Sends};
use crate::network::{Fabric, Packet, PacketKind};
use crate::node::Router;
use crate::units::{SimDuration, SimTime};

/// The number of bytes in a word of memory.
const WORD_BYTES: u64 = 4;

impl PacketTransport {
    /// Starts the preparation of the next packet of `id` on the processor of the source.
    pub(super) fn prepare(&mut self, now: SimTime, id: MessageId) {
        let message = &mut self.messages[id];
        let bytes = message.unprepared.min(self.packet_bytes);
        message.unprepared -= bytes;
        let service = message.preparation(bytes, &self.node);
        let bytes = u32::try_from(bytes).expect("check limits the size of packets");
        let (location, job) = (message.source(), Job::Prepare { message: id, bytes });
        self.serve(now, location, job, service);
    }

    fn prepare_if_any_left(&mut self, now: SimTime, id: MessageId) {
        if self.messages[id].unprepared > 0 {
            self.prepare(now, id);
        }
    }

    pub(super) fn finish_job(&mut self, now: SimTime, processor: u32) {
        match self
            .job_timers
            .take(&mut self.calendar, processor, now)
            .expect("the timer of a processor is set by its job")
        {
            Job::Prepare { message, bytes } => self.inject(now, message, bytes),
            Job::Forward(packet) => self.forward(now, processor, packet),
            Job::Continue(_) => unreachable!("packets are prepared one by one"),
            Job::Receive(packet) => {
                let (fabric, calendar) = self.fabric();
                fabric.release(calendar, now, packet);
                match packet.kind {
                    PacketKind::Data => self.receive(now, packet.message),
                    PacketKind::Acknowledge => self.complete(packet.message),
                }
            }
        }
    }

    /// Handles the end of the preparation of a packet: hands it to its first link, or to its destination on the same
    /// node.
    fn inject(&mut self, now: SimTime, id: MessageId, bytes: u32) {
        let packet = Packet::new(id, self.messages[id].to, bytes, PacketKind::Data);
        if self.node.sending.overlap {
            self.prepare_if_any_left(now, id);
        }
        if self.hierarchy.is_some() {
            self.enter_hierarchy(now, packet);
        } else {
            self.admit(now, packet);
        }
    }

    /// Admits a packet that has passed the servers that the cores of its source share.
    pub(super) fn admit(&mut self, now: SimTime, packet: Packet) {
        let PacketizedMessage { from, to, .. } = self.messages[packet.message];
        if from == to {
            self.injected(now, packet.message);
            self.arrive(now, to, packet);
        } else {
            self.forward(now, from, packet);
        }
    }

    fn forward(&mut self, now: SimTime, at: u32, packet: Packet) {
        let (fabric, calendar) = self.fabric();
        let links = fabric.links_to_next_stop(at, packet.to);
        fabric.send(calendar, now, at, packet);
        self.counts.packet_hops += u64::from(links);
    }

    /// Returns the fabric that moves packets one at a time.
    fn fabric(&mut self) -> (&mut Fabric, &mut Calendar) {
        match &mut self.carrier {
            Carrier::Packets(fabric) => (fabric, &mut self.calendar),
            Carrier::Trains(_) => unreachable!("trains have separate events"),
        }
    }

    pub(super) fn move_packets(&mut self, now: SimTime, entity: Entity) {
        let mut hops = std::mem::take(&mut self.hops);
        let (fabric, calendar) = self.fabric();
        fabric.step(calendar, now, entity, &mut hops);
        for hop in &hops {
            let (packet, start, end) = hop.ends();
            if let Some(from) = start {
                self.leave(now, packet, from);
            }
            if let Some(at) = end {
                self.access_memory(now, at, &packet);
                self.arrive(now, at, packet);
            }
        }
        hops.clear();
        self.hops = hops;
    }

    /// Charges the memory of `node` for a packet that a link has moved into it or out of it.
    ///
    /// The cycles are taken when the transfer ends. A computation that ends before is not delayed by the transfer; one
    /// that has begun during the transfer is delayed by all of it.
    fn access_memory(&mut self, now: SimTime, node: u32, packet: &Packet) {
        if self.node.dma_per_word > SimDuration::ZERO && self.uses_node(node, packet) {
            let words = u64::from(packet.bytes).div_ceil(WORD_BYTES);
            self.processors.steal(&mut self.calendar, now, node, self.node.dma_per_word * words);
        }
    }

    /// Returns whether a packet at `node` is in the memory of the node; hardware routers have separate buffers.
    fn uses_node(&self, node: u32, packet: &Packet) -> bool {
        let PacketizedMessage { from, to, .. } = self.messages[packet.message];
        self.node.router == Router::Software || node == from || node == to
    }

    fn leave(&mut self, now: SimTime, packet: Packet, from: u32) {
        self.access_memory(now, from, &packet);
        if packet.kind == PacketKind::Data && from == self.messages[packet.message].from {
            self.injected(now, packet.message);
        }
    }

    /// Handles the departure of a packet from its source. Without overlap, the next packet is prepared now.
    fn injected(&mut self, now: SimTime, id: MessageId) {
        let message = &mut self.messages[id];
        message.uninjected -= 1;
        let handle = message.handle;
        if message.uninjected == 0 && message.rule == Sends::UntilInjected {
            self.completions.push_back(Completion::Sent { handle });
        }
        if !self.node.sending.overlap {
            self.prepare_if_any_left(now, id);
        }
    }

    /// Handles the arrival of a packet at `node`, whose router or processor takes it from here.
    fn arrive(&mut self, now: SimTime, node: u32, packet: Packet) {
        if packet.to != node {
            return self.pass_on(now, node, packet);
        }
        let message = &self.messages[packet.message];
        let location = match packet.kind {
            PacketKind::Data => message.destination(),
            PacketKind::Acknowledge => message.source(),
        };
        let service = receiving_time(&self.node, &packet);
        self.serve(now, location, Job::Receive(packet), service);
    }

    fn pass_on(&mut self, now: SimTime, node: u32, packet: Packet) {
        match self.node.router {
            Router::Hardware => self.forward(now, node, packet),
            Router::Software => {
                let service = forwarding_time(&self.node, packet.kind);
                self.serve(now, RankLocation { node, core: 0 }, Job::Forward(packet), service);
            }
        }
    }

    fn receive(&mut self, now: SimTime, id: MessageId) {
        let message = &mut self.messages[id];
        message.missing -= 1;
        if message.missing > 0 {
            return;
        }
        self.completions.push_back(Completion::Delivered { message: id, handle: message.handle });
        if message.rule == Sends::UntilDelivered {
            self.acknowledge(now, id);
        }
    }

    pub(super) fn acknowledge(&mut self, now: SimTime, id: MessageId) {
        let message = self.messages[id];
        if message.stays_on_its_node() {
            self.complete(id);
        } else {
            self.forward(now, message.to, message.acknowledge(id, &self.node));
        }
    }

    fn complete(&mut self, id: MessageId) {
        self.completions.push_back(Completion::Sent { handle: self.messages[id].handle });
        self.messages.take(id);
    }

    fn serve(&mut self, now: SimTime, location: RankLocation, job: Job, service: SimDuration) {
        let service = self.pace.as_ref().map_or(service, |pace| pace.service(location.node, service));
        let processor = self.processor(location);
        let departure = self.processors.serve(&mut self.calendar, now, processor, (job, service));
        if let Some(departure) = departure {
            self.add_departure(processor, departure, job);
        }
    }
}

#[cfg(test)]
mod tests;
