//! Jobs of the communication software: their times and, on request, a record of their parts.

use super::{Job, PacketTransport, PacketizedMessage};
use crate::engine::Entity;
use crate::network::{Packet, PacketKind};
use crate::node::Node;
use crate::trace::{BusyInterval, Handling, Service, Software, SoftwareCharge};
use crate::units::{SimDuration, SimTime};

/// Returns the time that a processor at its described speed takes to pass a packet on.
#[inline]
pub(super) const fn forwarding_time(node: &Node, kind: PacketKind) -> SimDuration {
    match kind {
        PacketKind::Acknowledge => node.acknowledging.per_hop,
        PacketKind::Data => node.routing.per_packet,
    }
}

/// Returns the time that a processor at its described speed takes to receive a packet at its destination.
#[inline]
pub(super) fn receiving_time(node: &Node, packet: &Packet) -> SimDuration {
    match packet.kind {
        PacketKind::Acknowledge => node.acknowledging.per_hop,
        PacketKind::Data => node.routing.per_packet + node.receiving.time(u64::from(packet.bytes)),
    }
}

/// Returns the purpose of a job.
const fn handling(job: Job) -> Handling {
    match job {
        Job::Prepare { .. } | Job::Continue(_) => Handling::Sending,
        Job::Forward(_) => Handling::Forwarding,
        Job::Receive(_) => Handling::Receiving,
    }
}

impl PacketTransport {
    /// Adds a job of `processor` that will end at `end`.
    pub(super) fn add_departure(&mut self, processor: u32, end: SimTime, job: Job) {
        self.job_timers.add(&mut self.calendar, processor, end, job);
        if self.log.is_some() {
            let parts = self.at_node_speed(processor, self.parts(job));
            let service = Service { processor, end, parts };
            let busy = BusyInterval { processor, begin: service.begin(), end, handling: handling(job) };
            self.log.iter_mut().for_each(|log| {
                log.services.push(service);
                log.busy.push(busy);
            });
        }
    }

    fn parts(&self, job: Job) -> [SoftwareCharge; 3] {
        let node = &self.node;
        let nothing = (Software::Routing, 0, SimDuration::ZERO);
        let routing = (Software::Routing, 1, node.routing.per_packet);
        match job {
            Job::Prepare { message, bytes } => {
                let PacketizedMessage { hops, copies, .. } = self.messages[message];
                let (copied, hops) = (if copies { u64::from(bytes) } else { 0 }, u64::from(hops));
                [
                    (Software::Preparing, 1, node.sending.per_packet),
                    (Software::CopyingOut, copied, node.sending.per_byte.time(copied)),
                    (Software::Route, hops, node.sending.per_hop * hops),
                ]
            }
            Job::Forward(packet) | Job::Receive(packet) if packet.kind == PacketKind::Acknowledge => {
                [(Software::Acknowledging, 1, node.acknowledging.per_hop), nothing, nothing]
            }
            Job::Forward(_) | Job::Continue(_) => [routing, nothing, nothing],
            Job::Receive(packet) => {
                let bytes = u64::from(packet.bytes);
                [
                    routing,
                    (Software::Receiving, 1, node.receiving.per_packet),
                    (Software::CopyingIn, bytes, node.receiving.per_byte.time(bytes)),
                ]
            }
        }
    }

    /// Returns the parts at the speed of their processor. Their ends are rounded, so that the parts sum to the whole.
    fn at_node_speed(&self, processor: u32, parts: [SoftwareCharge; 3]) -> [SoftwareCharge; 3] {
        let Some(pace) = &self.pace else { return parts };
        let node = self.node_of(processor);
        let mut described = SimDuration::ZERO;
        let mut before = SimDuration::ZERO;
        parts.map(|(software, count, time)| {
            described += time;
            let until = pace.service(node, described);
            let paced = until - before;
            before = until;
            (software, count, paced)
        })
    }

    /// Returns the node of a processor.
    fn node_of(&self, processor: Entity) -> u32 {
        match processor.checked_sub(self.vertices) {
            None => processor,
            Some(further) => further / (self.cores - 1).max(1),
        }
    }
}
