//! Nodes with several cores: the processor of each rank, and the servers that the cores of a node share.

use super::{Completion, PacketTransport, PacketizedMessage};
use crate::engine::{AbortCheck, Entity, Streams};
use crate::machine::RankLocation;
use crate::machine::hierarchy::HierarchyTransfer;
use crate::network::Packet;
use crate::node::{Detour, DetourSequence, InterruptedProcessor};
use crate::units::SimTime;

/// Returns the number of processors: one for each vertex, and one for each further core of a node. `None` if there are
/// too many.
pub(super) fn processors(vertices: u32, nodes: u32, cores: u32) -> Option<u32> {
    nodes.checked_mul(cores - 1)?.checked_add(vertices)
}

/// Returns the bytes of the detours of a processor.
#[expect(clippy::cast_precision_loss, reason = "a size of a few hundred bytes")]
pub(super) fn detour_bytes(sources: &[Detour]) -> f64 {
    DetourSequence::memory(sources) as f64
}

impl PacketTransport {
    /// Lets the operating system interrupt the cores of all nodes. The processors of switches have none.
    pub(super) fn interrupted(mut self, sources: &[Detour], nodes: u32, streams: Streams) -> Self {
        if !sources.is_empty() {
            let cores = self.cores;
            for (node, core) in (0..nodes).flat_map(|node| (0..cores).map(move |core| (node, core))) {
                let processor = self.processor(RankLocation { node, core });
                let of = InterruptedProcessor { node, core, cpu: 0 };
                self.processors.interrupt(processor, DetourSequence::new(sources, streams, of));
            }
        }
        self
    }

    pub fn abort_on(&mut self, check: &AbortCheck) {
        self.processors.abort_on(check);
    }

    /// Returns the number of the processor at `location`. The first core of a node has the number of its vertex, and also
    /// passes packets on; the other cores come after the last vertex.
    #[must_use]
    pub const fn processor(&self, location: RankLocation) -> u32 {
        match location.core_of(self.cores) {
            0 => location.node,
            core => self.vertices + location.node * (self.cores - 1) + core - 1,
        }
    }

    /// Loads `bytes` bytes from the memory of a node; `BytesMoved` reports the end with `handle`.
    pub fn load(&mut self, now: SimTime, location: RankLocation, bytes: f64, handle: u32) {
        let transfer = match &mut self.hierarchy {
            Some(hierarchy) => hierarchy.load(&mut self.calendar, now, location, (bytes, handle)),
            None => Some(HierarchyTransfer::Bytes { handle }),
        };
        self.finish_transfer(now, transfer);
    }

    /// Charges `bytes` bytes to the interface of the node, without a receiver; `BytesMoved` reports the end with `handle`.
    pub fn leave_node(&mut self, now: SimTime, location: RankLocation, bytes: f64, handle: u32) {
        let transfer = match &mut self.hierarchy {
            Some(hierarchy) => hierarchy.leave(&mut self.calendar, now, location, (bytes, handle)),
            None => Some(HierarchyTransfer::Bytes { handle }),
        };
        self.finish_transfer(now, transfer);
    }

    /// Sends a prepared packet through the servers that the cores of its source share.
    pub(super) fn enter_hierarchy(&mut self, now: SimTime, packet: Packet) {
        let message: &PacketizedMessage = &self.messages[packet.message];
        let ends = (message.source(), message.destination());
        let transfer = match &mut self.hierarchy {
            Some(hierarchy) => hierarchy.send(&mut self.calendar, now, ends, packet),
            None => Some(HierarchyTransfer::Packet(packet)),
        };
        self.finish_transfer(now, transfer);
    }

    /// Runs an event of the hierarchy.
    pub(super) fn step_hierarchy(&mut self, now: SimTime, entity: Entity) {
        let hierarchy = self.hierarchy.as_mut().expect("events of a hierarchy imply one");
        let transfer = hierarchy.step(&mut self.calendar, now, entity);
        self.finish_transfer(now, transfer);
    }

    fn finish_transfer(&mut self, now: SimTime, transfer: Option<HierarchyTransfer>) {
        match transfer {
            Some(HierarchyTransfer::Bytes { handle }) => self.completions.push_back(Completion::BytesMoved { handle }),
            Some(HierarchyTransfer::Packet(packet)) => self.admit(now, packet),
            None => {}
        }
    }
}
