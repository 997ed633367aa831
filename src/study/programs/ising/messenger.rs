//! Ordered messages between the ranks of a simulation.

use parsim_sim::program::{Message, MessagePattern, Operation, Process};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// The tag of the messages of a simulation, which distinguishes them from those before and after it.
const TAG: u32 = 1;

/// A messenger that sends without blocking, and receives with or without blocking.
///
/// Messages of one sender are delivered in the order in which they were sent, whatever the order of arrival. Protocols
/// of parallel simulation depend on this.
pub struct OrderedMessenger {
    me: Process,
    awaited: Option<Operation>,
    under_way: VecDeque<Operation>,
    /// The sequence number of the next message to every rank.
    next_to: Vec<u32>,
    /// The sequence number of the next message from every rank.
    next_from: Vec<u32>,
    /// Messages that have overtaken others, by sender and sequence number.
    early: BTreeMap<(u32, u32), Vec<f64>>,
}

impl OrderedMessenger {
    /// Creates the messenger of a process that has neither sent nor received.
    pub fn new(me: &Process) -> Self {
        let ranks = me.ranks() as usize;
        Self {
            me: me.clone(),
            awaited: None,
            under_way: VecDeque::new(),
            next_to: vec![0; ranks],
            next_from: vec![0; ranks],
            early: BTreeMap::new(),
        }
    }

    /// Starts to send `content` in a message of `bytes` bytes.
    pub async fn send(&mut self, to: u32, bytes: u64, content: &[f64]) {
        let number = &mut self.next_to[to as usize];
        let numbered: Rc<[f64]> = std::iter::once(f64::from(*number)).chain(content.iter().copied()).collect();
        *number += 1;
        let message = Message::new(bytes).tag(TAG).values(Some(numbered));
        let sending = self.me.start_send(to, message).await;
        self.under_way.push_back(sending);
        while let Some(first) = self.under_way.front().copied() {
            if !self.me.test(first).await {
                break;
            }
            self.me.wait(first).await;
            self.under_way.pop_front();
        }
    }

    /// Returns the sender and the content of the next message, if one has arrived.
    pub async fn poll(&mut self) -> Option<(u32, Vec<f64>)> {
        loop {
            if let Some(next) = self.in_order() {
                return Some(next);
            }
            let awaited = self.await_one().await;
            if !self.me.test(awaited).await {
                return None;
            }
            self.take(awaited).await;
        }
    }

    /// Waits for the next message.
    pub async fn next(&mut self) -> (u32, Vec<f64>) {
        loop {
            if let Some(next) = self.in_order() {
                return next;
            }
            let awaited = self.await_one().await;
            self.take(awaited).await;
        }
    }

    /// Waits until all sends are complete.
    pub async fn finish(self) {
        self.me.wait_all(self.under_way).await;
    }

    /// Returns the pending receive, and starts one if there is none.
    async fn await_one(&mut self) -> Operation {
        if let Some(awaited) = self.awaited {
            return awaited;
        }
        let awaited = self.me.start_receive(MessagePattern { from: None, tag: Some(TAG) }).await;
        self.awaited = Some(awaited);
        awaited
    }

    async fn take(&mut self, awaited: Operation) {
        self.awaited = None;
        let Some(received) = self.me.wait(awaited).await else { return };
        let Some(values) = received.message.values else { return };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number that was a u32")]
        let number = values[0] as u32;
        self.early.insert((received.from, number), values[1..].to_vec());
    }

    fn in_order(&mut self) -> Option<(u32, Vec<f64>)> {
        let due = |(from, number): &(u32, u32)| self.next_from[*from as usize] == *number;
        let key = self.early.keys().copied().find(due)?;
        self.next_from[key.0 as usize] += 1;
        self.early.remove(&key).map(|content| (key.0, content))
    }
}
