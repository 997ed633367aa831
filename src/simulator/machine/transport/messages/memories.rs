//! Memories that the cores of a node share, for their loads and for the messages between them.

use super::{MessageTransport, Piece, TransportEvent};
use crate::engine::{Calendar, Slab};
use crate::machine::hierarchy::{Hierarchy, HierarchyTransfer};
use crate::machine::transport::{Completion, MessageId};
use crate::machine::{Machine, RankLocation};
use crate::units::SimTime;

/// The memories of all nodes, and the transfers that pass through them.
pub struct Memories {
    hierarchy: Box<Hierarchy>,
    calendar: Calendar,
    passing: Slab<MemoryTransfer>,
}

/// A transfer through a memory.
#[derive(Clone, Copy)]
pub enum MemoryTransfer {
    /// A load, with the handle given by the caller.
    Load(u32),
    Message(MessageId),
}

impl Memories {
    /// Creates the idle memories of `nodes` nodes, or `None` if cores share none.
    pub fn of(machine: &Machine, nodes: u32) -> Option<Box<Self>> {
        let hierarchy = Hierarchy::of(machine, nodes, 0)?;
        Some(Box::new(Self { hierarchy, calendar: Calendar::new(), passing: Slab::new() }))
    }

    pub fn next_event(&mut self) -> Option<SimTime> {
        self.calendar.next_time()
    }

    /// Runs the next event. Returns its time, and the transfer that has ended, if there is one.
    fn step(&mut self) -> Option<(SimTime, Option<MemoryTransfer>)> {
        let (now, entity) = self.calendar.pop()?;
        let transfer = self.hierarchy.step(&mut self.calendar, now, entity);
        Some((now, self.take_ended(transfer)))
    }

    /// Starts a load of a core, and returns it if it takes no time.
    fn load(&mut self, now: SimTime, location: RankLocation, bytes: f64, handle: u32) -> Option<MemoryTransfer> {
        let place = self.passing.put(MemoryTransfer::Load(handle));
        let transfer = self.hierarchy.load(&mut self.calendar, now, location, (bytes, place));
        self.take_ended(transfer)
    }

    /// Starts the transfer of a message from core to core, and returns it if it takes no time.
    fn send(
        &mut self,
        now: SimTime,
        ends: (RankLocation, RankLocation),
        bytes: u64,
        message: MessageId,
    ) -> Option<MemoryTransfer> {
        let place = self.passing.put(MemoryTransfer::Message(message));
        #[expect(clippy::cast_precision_loss, reason = "a memory's time is rounded once, from a real number of bytes")]
        let load = (bytes as f64, place);
        let transfer = self.hierarchy.pass(&mut self.calendar, now, ends, load);
        self.take_ended(transfer)
    }

    /// Returns the transfer of these bytes and forgets it, if it has ended.
    fn take_ended(&mut self, transfer: Option<HierarchyTransfer>) -> Option<MemoryTransfer> {
        let Some(HierarchyTransfer::Bytes { handle: place }) = transfer else { return None };
        Some(self.passing.take(place))
    }
}

impl MessageTransport {
    /// Loads `bytes` bytes from the memory of a node; `BytesMoved` reports the end with `handle`.
    pub fn load(&mut self, now: SimTime, location: RankLocation, bytes: f64, handle: u32) {
        let ended = match &mut self.memories {
            Some(memories) => memories.load(now, location, bytes, handle),
            None => Some(MemoryTransfer::Load(handle)),
        };
        self.finish_transfer(now, ended);
    }

    /// Returns whether a memory carries the messages between two cores of a node.
    pub(super) fn has_memory_between(&self, from: RankLocation, to: RankLocation) -> bool {
        self.memories.as_ref().is_some_and(|memories| memories.hierarchy.has_memory_between(from, to))
    }

    /// Starts the transfer of a message within a node through the memory that its cores share.
    pub(super) fn enter_memory(&mut self, now: SimTime, id: MessageId) {
        let message = self.messages[id];
        let Some(memories) = &mut self.memories else { return };
        let ended = memories.send(now, (message.from, message.to), message.bytes, id);
        self.finish_transfer(now, ended);
    }

    /// Runs the next event of the memories.
    pub(super) fn run_memories(&mut self) {
        let Some((now, ended)) = self.memories.as_mut().and_then(|memories| memories.step()) else { return };
        self.now = now;
        self.finish_transfer(now, ended);
    }

    fn finish_transfer(&mut self, now: SimTime, ended: Option<MemoryTransfer>) {
        match ended {
            Some(MemoryTransfer::Load(handle)) => self.completions.push_back(Completion::BytesMoved { handle }),
            Some(MemoryTransfer::Message(id)) => {
                let bytes = self.messages[id].bytes;
                self.request(now, TransportEvent::Arrive(Piece::whole(id, bytes)));
            }
            None => {}
        }
    }
}
