//! Work that a process does beside its own, such as collective operations that it does not wait for.

use super::message::{ASIDE_TAG, ASIDE_TAGS, BARRIER_TAG, COLLECTIVE_TAG};
use super::verb::{Reply, STUCK, Verb};
use super::{Message, MessagePattern, Operation, Process, started};
use crate::engine::{Mailbox, Processes, Resumed};
use std::rc::Rc;

/// Works beside a process. They make their requests through it: they go on where they begin, and while the process waits for
/// one of them or for an operation, not while it computes.
#[derive(Default)]
pub struct Asides {
    /// By number; none that is over.
    works: Vec<Option<Aside>>,
    under_way: usize,
}

/// The number of a work beside a process, which must be [ended](Asides::end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a work is ended by waiting for it"]
pub struct AsideNumber(usize);

struct Aside {
    process: Processes<Verb, Reply>,
    /// The tag of the messages of its collective operations, if it has one of its own.
    tag: Option<u32>,
    state: AsideState,
    collective: (Option<&'static str>, u64),
}

enum AsideState {
    /// It goes on with this answer.
    Ready(Option<Reply>),
    Waits(Operation),
    WaitsForAny(Vec<Operation>),
    Over,
}

impl Asides {
    /// Returns whether no work is under way.
    #[must_use]
    pub const fn are_over(&self) -> bool {
        self.under_way == 0
    }

    /// Begins a work, which goes on as far as it can. Those whose messages could be taken for each other's, as some ranks still do
    /// one while others do the next, have different `serial` numbers, the same at all ranks.
    pub async fn begin<F: Future<Output = ()> + 'static>(
        &mut self,
        me: &Process,
        serial: Option<u32>,
        work: impl FnOnce(Process) -> F,
    ) -> AsideNumber {
        let mailbox = Mailbox::new();
        let process = work(Process { aside: Some(Rc::clone(&mailbox)), ..me.clone() });
        let tag = serial.map(|serial| ASIDE_TAG + serial % ASIDE_TAGS);
        let process = Processes::new(mailbox, [Box::pin(process) as _]);
        let mut aside = Aside { process, tag, state: AsideState::Ready(None), collective: (None, 0) };
        aside.go_on(me).await;
        let number = self.works.iter().position(Option::is_none).unwrap_or(self.works.len());
        self.works.resize_with(self.works.len().max(number + 1), || None);
        self.works[number] = Some(aside);
        self.under_way += 1;
        AsideNumber(number)
    }

    /// Has all works go on as far as they can without waiting.
    pub async fn go_on(&mut self, me: &Process) {
        for work in self.works.iter_mut().flatten() {
            work.go_on(me).await;
        }
    }

    /// Returns whether a work is over; it still has to be [ended](Self::end).
    #[must_use]
    pub fn is_over(&self, AsideNumber(number): AsideNumber) -> bool {
        self.works[number].as_ref().is_none_or(|work| matches!(work.state, AsideState::Over))
    }

    /// Waits until a work is over.
    pub async fn end(&mut self, me: &Process, number: AsideNumber) {
        self.wait_any(me, &[], &[number]).await;
        self.works[number.0] = None;
        self.under_way -= 1;
    }

    /// Waits until an operation is complete, and ends it.
    pub async fn wait_for(&mut self, me: &Process, operation: Operation) {
        self.wait_any(me, &[operation], &[]).await;
        me.wait(operation).await;
    }

    /// Waits until one of these operations is complete or one of these works over; the index of the first one, works behind
    /// operations. It still has to be waited for, which takes no time then.
    pub async fn wait_any(&mut self, me: &Process, operations: &[Operation], works: &[AsideNumber]) -> usize {
        loop {
            self.go_on(me).await;
            if let Some(over) = works.iter().position(|number| self.is_over(*number)) {
                return operations.len() + over;
            }
            let mut awaited = operations.to_vec();
            awaited.extend(self.works.iter().flatten().flat_map(Aside::awaited));
            let first = me.wait_any(&awaited).await;
            if first < operations.len() {
                return first;
            }
        }
    }
}

impl Aside {
    /// The operations one of which it waits for.
    fn awaited(&self) -> &[Operation] {
        match &self.state {
            AsideState::Waits(operation) => std::slice::from_ref(operation),
            AsideState::WaitsForAny(operations) => operations,
            AsideState::Ready(_) | AsideState::Over => &[],
        }
    }

    /// Goes on as far as it can without waiting.
    async fn go_on(&mut self, me: &Process) {
        let notes = me.notes();
        let others = (notes.collective.replace(self.collective.0), notes.collective_bytes.replace(self.collective.1));
        while let Some(answer) = self.answer(me).await {
            self.state = match self.process.resume(0, answer) {
                Resumed::Asks(verb) => self.serve(me, verb).await,
                Resumed::Finished => AsideState::Over,
                Resumed::Stuck => {
                    me.fail(STUCK.to_owned()).await;
                    AsideState::Over
                }
            };
        }
        let collective = (notes.collective.replace(others.0), notes.collective_bytes.replace(others.1));
        self.collective = collective;
    }

    /// The answer with which it goes on; nothing if it has to wait, or is over.
    async fn answer(&mut self, me: &Process) -> Option<Option<Reply>> {
        for (index, operation) in self.awaited().iter().enumerate() {
            if me.test(*operation).await {
                let reply = match self.state {
                    AsideState::Waits(operation) => me.ask(Verb::Wait(operation), |reply| reply).await,
                    _ => Reply::Ready(index),
                };
                return Some(Some(reply));
            }
        }
        if let AsideState::Ready(answer) = &mut self.state { Some(answer.take()) } else { None }
    }

    /// Makes its request without waiting.
    async fn serve(&self, me: &Process, verb: Verb) -> AsideState {
        match verb {
            Verb::Send(to, message) => AsideState::Waits(me.ask(Verb::StartSend(to, self.own(message)), started).await),
            Verb::Receive(pattern) => {
                AsideState::Waits(me.ask(Verb::StartReceive(self.taking(pattern)), started).await)
            }
            Verb::Wait(operation) => AsideState::Waits(operation),
            Verb::WaitAny(operations) => AsideState::WaitsForAny(operations),
            other => {
                let verb = match other {
                    Verb::StartSend(to, message) => Verb::StartSend(to, self.own(message)),
                    Verb::StartReceive(pattern) => Verb::StartReceive(self.taking(pattern)),
                    other => other,
                };
                AsideState::Ready(Some(me.ask(verb, |reply| reply).await))
            }
        }
    }

    fn own(&self, message: Message) -> Message {
        Message { tag: self.tag_of(message.tag), ..message }
    }

    fn taking(&self, pattern: MessagePattern) -> MessagePattern {
        MessagePattern { tag: pattern.tag.map(|tag| self.tag_of(tag)), ..pattern }
    }

    fn tag_of(&self, tag: u32) -> u32 {
        self.tag.filter(|_| (COLLECTIVE_TAG..=BARRIER_TAG).contains(&tag)).unwrap_or(tag)
    }
}
