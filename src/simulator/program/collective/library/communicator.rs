//! The ranks that take part in an operation, identified by their places.

use crate::node::Scratch;
use crate::program::collective::payload::Payload;
use crate::program::collective::transfer;
use crate::program::process::{COLLECTIVE_TAG, Operation, Process, port_tag};
use crate::units::SimDuration;
use std::borrow::Borrow;
use std::collections::VecDeque;

/// An ordered set of ranks as one of them sees it. It does not store a list of all ranks, of which there may be a
/// million.
#[derive(Clone, Copy)]
pub(in crate::program::collective) struct Communicator<'a> {
    me: &'a Process,
    place: u32,
    size: u32,
    members: Members<'a>,
    /// The tag of the messages.
    tag: u32,
}

/// The ranks, by place.
#[derive(Clone, Copy)]
enum Members<'a> {
    All,
    List(&'a [u32]),
}

impl<'a> Communicator<'a> {
    /// Creates the communicator of all ranks.
    pub fn all(me: &'a Process) -> Self {
        Self { me, place: me.rank(), size: me.ranks(), members: Members::All, tag: COLLECTIVE_TAG }
    }

    /// Creates the communicator of the ranks in a list, which must contain the rank of this process.
    pub fn of(me: &'a Process, list: &'a [u32]) -> Self {
        let place = list.iter().position(|rank| *rank == me.rank()).expect("only a member sees its communicator");
        Self { me, place: count(place), size: count(list.len()), members: Members::List(list), tag: COLLECTIVE_TAG }
    }

    /// Returns the same communicator for one port: its messages match only receives of this port.
    pub const fn on_port(self, port: u32) -> Self {
        Self { tag: port_tag(port), ..self }
    }

    pub const fn me(&self) -> &'a Process {
        self.me
    }

    pub const fn place(&self) -> u32 {
        self.place
    }

    pub const fn size(&self) -> u32 {
        self.size
    }

    /// Returns the rank at a place.
    pub const fn rank(&self, place: u32) -> u32 {
        match self.members {
            Members::All => place,
            Members::List(list) => list[place as usize],
        }
    }

    /// Returns the number of this process, counted from `root`, which is number 0.
    pub const fn number(&self, root: u32) -> u32 {
        self.before(root)
    }

    /// Returns the place of a number.
    pub const fn numbered(&self, root: u32, number: u32) -> u32 {
        wrap(root, number, self.size)
    }

    /// Returns the place that follows this one by `distance`, wrapping around at the end.
    pub const fn behind(&self, distance: u32) -> u32 {
        wrap(self.place, distance % self.size, self.size)
    }

    /// Returns the place that precedes this one by `distance`, wrapping around at the beginning.
    pub const fn before(&self, distance: u32) -> u32 {
        wrap(self.place, self.size - distance % self.size, self.size)
    }

    pub async fn send(&self, to: u32, payload: &Payload) {
        transfer::send(self.me, self.rank(to), payload).await;
    }

    pub async fn start_send(&self, to: u32, payload: &Payload) -> Operation {
        transfer::start_tagged(self.me, self.rank(to), payload, self.tag).await
    }

    /// Starts to send the same payload to each of `to` and waits for all sends.
    pub async fn send_to_all(&self, to: &[u32], payload: &Payload) {
        let mut under_way = Vec::with_capacity(to.len());
        for place in to {
            under_way.push(self.start_send(*place, payload).await);
        }
        self.me.wait_all(under_way).await;
    }

    pub async fn receive(&self, from: u32) -> Payload {
        transfer::receive(self.me, self.rank(from)).await
    }

    pub async fn start_receive(&self, from: u32) -> Operation {
        self.me.start_receive_in_collective(self.rank(from), self.tag).await
    }

    /// Waits for a receive that has been started.
    pub async fn received(&self, operation: Operation) -> Payload {
        let message = self.me.wait(operation).await.expect("a receive ends with a message").message;
        Payload::received(message.bytes, message.values)
    }

    pub async fn wait_all(&self, operations: Vec<Operation>) {
        self.me.wait_all(operations).await;
    }

    /// Sends to one place while receiving from another.
    pub async fn exchange(&self, to: u32, payload: &Payload, from: u32) -> Payload {
        let receiving = self.start_receive(from).await;
        let sending = self.start_send(to, payload).await;
        let received = self.received(receiving).await;
        self.me.wait(sending).await;
        received
    }

    /// Starts a receive from each place of `receive_from`, then a send of its payload to each place of `send_to`.
    pub async fn start(
        &self,
        receive_from: impl IntoIterator<Item = u32>,
        send_to: impl IntoIterator<Item = (u32, impl Borrow<Payload>)>,
    ) -> OutstandingTransfers<'a> {
        let mut receiving = VecDeque::new();
        for from in receive_from {
            receiving.push_back((from, self.start_receive(from).await));
        }
        let mut sending = Vec::new();
        for (to, payload) in send_to {
            sending.push(self.start_send(to, payload.borrow()).await);
        }
        OutstandingTransfers { comm: *self, receiving, sending }
    }

    /// Starts a receive from every other rank, the nearest preceding rank first, then a send of the same payload to
    /// every other rank, the nearest following rank first.
    pub async fn start_with_all(&self, payload: &Payload) -> OutstandingTransfers<'a> {
        let before = (1..self.size).map(|distance| self.before(distance));
        let behind = (1..self.size).map(|distance| (self.behind(distance), payload));
        self.start(before, behind).await
    }

    /// Spends the time of adding `bytes` bytes to others: a floating-point operation for each word.
    pub async fn add(&self, bytes: u64) {
        self.me.add(bytes).await;
    }

    /// Returns whether a message of `bytes` bytes is sent only after its receiver has declared itself ready.
    pub fn awaits_ready(&self, bytes: u64) -> bool {
        self.me.local().is_some_and(|local| local.awaits_ready(bytes))
    }

    /// Spends the time of preparing `steps` steps of each port.
    pub async fn prepare(&self, steps: u32) {
        if let Some(local) = self.me.local() {
            self.me.compute_for(local.steps(steps)).await;
        }
    }

    /// Spends the time of starting the threads of several ports once more.
    pub async fn restart_threads(&self) {
        if let Some(local) = self.me.local() {
            self.me.compute_for(local.starting()).await;
        }
    }

    /// Copies `bytes` bytes within the memory by one thread, which takes time if the library or the machine describes
    /// it.
    pub async fn copy_alone(&self, bytes: u64) {
        match self.copying_alone(bytes) {
            Some(time) => self.me.compute_for(time).await,
            None => self.copy(bytes).await,
        }
    }

    /// Spends the time in which one thread copies `bytes` bytes, if a library describes it.
    pub async fn pack_alone(&self, bytes: u64) {
        if let Some(time) = self.copying_alone(bytes) {
            self.me.compute_for(time).await;
        }
    }

    fn copying_alone(&self, bytes: u64) -> Option<SimDuration> {
        self.me.local().and_then(|local| local.copying_alone(bytes))
    }

    /// Spends the time of copying `bytes` bytes between a message and the places of its blocks, if a library describes
    /// it.
    pub async fn pack(&self, bytes: u64) {
        if let Some(time) = self.copying(bytes) {
            self.me.compute_for(time).await;
        }
    }

    /// Returns the time of copying `bytes` bytes, if a library describes it.
    pub fn copying(&self, bytes: u64) -> Option<SimDuration> {
        self.me.local().and_then(|local| local.copying(bytes))
    }

    /// Allocates buffers for the operation, which takes time if the machine describes such memory.
    pub async fn allocate(&self, scratch: Scratch) {
        self.me.allocate(scratch).await;
    }

    /// Copies `bytes` bytes within the memory, which takes time if the library or the machine describes it.
    pub async fn copy(&self, bytes: u64) {
        #[expect(clippy::cast_precision_loss, reason = "a message is far below 2^53 bytes")]
        let moved = 2.0 * bytes as f64;
        if let Some(time) = self.copying(bytes) {
            self.me.compute_for(time).await;
        } else if bytes > 0 {
            self.me.load(moved).await;
        }
    }
}

/// Outstanding receives and sends.
pub(in crate::program::collective) struct OutstandingTransfers<'a> {
    comm: Communicator<'a>,
    receiving: VecDeque<(u32, Operation)>,
    sending: Vec<Operation>,
}

impl OutstandingTransfers<'_> {
    /// Waits for the next receive, in the order in which the receives were started. Returns the place of its sender and
    /// its payload. After the last receive, waits for all sends and returns `None`.
    pub async fn next(&mut self) -> Option<(u32, Payload)> {
        let Some((from, operation)) = self.receiving.pop_front() else {
            self.comm.wait_all(std::mem::take(&mut self.sending)).await;
            return None;
        };
        Some((from, self.comm.received(operation).await))
    }
}

/// Returns place + distance modulo size, for both below size (or a distance of size).
const fn wrap(place: u32, distance: u32, size: u32) -> u32 {
    ((place as u64 + distance as u64) % size as u64) as u32
}

pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).expect("ranks are counted in 32 bits")
}
