//! Side tasks: work that progresses beside a process, such as non-blocking collective operations.

use super::message::{ASIDE_TAG, ASIDE_TAGS, BARRIER_TAG, COLLECTIVE_TAG};
use super::verb::{Reply, STUCK, Verb};
use super::{Message, MessagePattern, Operation, Process, started};
use crate::engine::{Mailbox, Processes, Resumed};
use std::rc::Rc;

/// The side tasks of a process. They issue their requests through the process, and progress when they are begun and
/// while the process waits for one of them or for an operation, but not while it computes.
#[derive(Default)]
pub struct SideTasks {
    /// The tasks by number, without those that have been ended.
    works: Vec<Option<SideTask>>,
    outstanding: usize,
}

/// The number of a side task, which must be [ended](SideTasks::end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a work is ended by waiting for it"]
pub struct SideTaskId(usize);

struct SideTask {
    process: Processes<Verb, Reply>,
    /// The dedicated tag of the messages of its collective operations, if it has one.
    tag: Option<u32>,
    state: SideTaskState,
    collective: (Option<&'static str>, u64),
}

enum SideTaskState {
    /// The task can continue with this reply.
    Ready(Option<Reply>),
    Waits(Operation),
    WaitsForAny(Vec<Operation>),
    Over,
}

impl SideTasks {
    /// Returns whether no task is running.
    #[must_use]
    pub const fn are_over(&self) -> bool {
        self.outstanding == 0
    }

    /// Begins a task and runs it until it has to wait. Tasks whose messages could be confused, because some ranks still
    /// run one task while others run the next, need different `serial` numbers, which must be the same on all ranks.
    pub async fn begin<F: Future<Output = ()> + 'static>(
        &mut self,
        me: &Process,
        serial: Option<u32>,
        work: impl FnOnce(Process) -> F,
    ) -> SideTaskId {
        let mailbox = Mailbox::new();
        let process = work(Process { side_task: Some(Rc::clone(&mailbox)), ..me.clone() });
        let tag = serial.map(|serial| ASIDE_TAG + serial % ASIDE_TAGS);
        let process = Processes::new(mailbox, [Box::pin(process) as _]);
        let mut side_task = SideTask { process, tag, state: SideTaskState::Ready(None), collective: (None, 0) };
        side_task.progress(me).await;
        let number = self.works.iter().position(Option::is_none).unwrap_or(self.works.len());
        self.works.resize_with(self.works.len().max(number + 1), || None);
        self.works[number] = Some(side_task);
        self.outstanding += 1;
        SideTaskId(number)
    }

    /// Runs all tasks until they have to wait.
    pub async fn progress(&mut self, me: &Process) {
        for work in self.works.iter_mut().flatten() {
            work.progress(me).await;
        }
    }

    /// Returns whether a task has finished; it still has to be [ended](Self::end).
    #[must_use]
    pub fn is_over(&self, SideTaskId(number): SideTaskId) -> bool {
        self.works[number].as_ref().is_none_or(|work| matches!(work.state, SideTaskState::Over))
    }

    /// Waits until a task has finished, and ends it.
    pub async fn end(&mut self, me: &Process, number: SideTaskId) {
        self.wait_any(me, &[], &[number]).await;
        self.works[number.0] = None;
        self.outstanding -= 1;
    }

    /// Waits until an operation is complete, and ends it.
    pub async fn wait_for(&mut self, me: &Process, operation: Operation) {
        self.wait_any(me, &[operation], &[]).await;
        me.wait(operation).await;
    }

    /// Waits until one of the operations is complete or one of the tasks has finished. Returns its index; tasks are
    /// counted after operations. It still has to be waited for, which then takes no time.
    pub async fn wait_any(&mut self, me: &Process, operations: &[Operation], works: &[SideTaskId]) -> usize {
        loop {
            self.progress(me).await;
            if let Some(over) = works.iter().position(|number| self.is_over(*number)) {
                return operations.len() + over;
            }
            let mut awaited = operations.to_vec();
            awaited.extend(self.works.iter().flatten().flat_map(SideTask::awaited));
            let first = me.wait_any(&awaited).await;
            if first < operations.len() {
                return first;
            }
        }
    }
}

impl SideTask {
    /// Returns the operations of which the task awaits one.
    fn awaited(&self) -> &[Operation] {
        match &self.state {
            SideTaskState::Waits(operation) => std::slice::from_ref(operation),
            SideTaskState::WaitsForAny(operations) => operations,
            SideTaskState::Ready(_) | SideTaskState::Over => &[],
        }
    }

    /// Runs the task until it has to wait.
    async fn progress(&mut self, me: &Process) {
        let notes = me.notes();
        let others = (notes.collective.replace(self.collective.0), notes.collective_bytes.replace(self.collective.1));
        while let Some(answer) = self.answer(me).await {
            self.state = match self.process.resume(0, answer) {
                Resumed::Asks(verb) => self.serve(me, verb).await,
                Resumed::Finished => SideTaskState::Over,
                Resumed::Stuck => {
                    me.fail(STUCK.to_owned()).await;
                    SideTaskState::Over
                }
            };
        }
        let collective = (notes.collective.replace(others.0), notes.collective_bytes.replace(others.1));
        self.collective = collective;
    }

    /// Returns the reply with which the task continues; `None` if it has to wait or has finished.
    async fn answer(&mut self, me: &Process) -> Option<Option<Reply>> {
        for (index, operation) in self.awaited().iter().enumerate() {
            if me.test(*operation).await {
                let reply = match self.state {
                    SideTaskState::Waits(operation) => me.ask(Verb::Wait(operation), |reply| reply).await,
                    _ => Reply::Ready(index),
                };
                return Some(Some(reply));
            }
        }
        if let SideTaskState::Ready(answer) = &mut self.state { Some(answer.take()) } else { None }
    }

    /// Executes a request of the task without waiting.
    async fn serve(&self, me: &Process, verb: Verb) -> SideTaskState {
        match verb {
            Verb::Send(to, message) => {
                SideTaskState::Waits(me.ask(Verb::StartSend(to, self.own(message)), started).await)
            }
            Verb::Receive(pattern) => {
                SideTaskState::Waits(me.ask(Verb::StartReceive(self.taking(pattern)), started).await)
            }
            Verb::Wait(operation) => SideTaskState::Waits(operation),
            Verb::WaitAny(operations) => SideTaskState::WaitsForAny(operations),
            other => {
                let verb = match other {
                    Verb::StartSend(to, message) => Verb::StartSend(to, self.own(message)),
                    Verb::StartReceive(pattern) => Verb::StartReceive(self.taking(pattern)),
                    other => other,
                };
                SideTaskState::Ready(Some(me.ask(verb, |reply| reply).await))
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
