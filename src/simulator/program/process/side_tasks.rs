//! Side tasks: work that progresses beside a process, such as non-blocking collective operations.

use super::message::{ENDED, aside_tag, task_of};
use super::verb::{Reply, STUCK, Verb};
use super::{Message, MessagePattern, Operation, Process, Received, started};
use crate::engine::{Mailbox, Processes, Resumed};
use crate::fault::Fault;
use crate::units::SimDuration;
use std::mem;
use std::rc::Rc;

/// The side tasks of a process. They issue their requests through the process, and progress when they are begun and
/// while the process waits for one of them or for an operation, but not while it computes.
#[derive(Default)]
pub struct SideTasks {
    /// The tasks by place, without those that have been ended.
    works: Vec<Option<SideTask>>,
    outstanding: usize,
    begun: u64,
}

/// The handle of a side task, which must be [waited](SideTasks::wait) for, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a side task must be waited for"]
pub struct SideTaskId {
    /// The place among the tasks. Tasks that begin later reuse it.
    place: usize,
    /// The number of the task in the order in which they begin.
    number: u64,
}

/// An operation of a process that has side tasks, which must be [waited](SideTasks::wait) for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingOperation {
    /// A send or a receive that the process itself has started.
    Message(Operation),
    /// A side task.
    SideTask(SideTaskId),
}

struct SideTask {
    number: u64,
    process: Processes<Verb, Reply>,
    /// The serial number that distinguishes the messages of its collective operations, if it has one.
    serial: Option<u32>,
    state: SideTaskState,
    notes: TaskNotes,
    /// `true` if the task has sent messages since it last waited for the processor.
    has_sent: bool,
}

/// The record of a process while it acts for a task.
struct TaskNotes {
    collective: Option<&'static str>,
    collective_bytes: u64,
    step: usize,
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

    /// Begins a task and runs it until it has to wait for anything other than the processor. Tasks whose messages could be
    /// confused, because some ranks still run one task while others run the next, need different `serial` numbers, which
    /// must be the same on all ranks. The run ends with an error if thousands of tasks run whose messages could no longer
    /// be told apart.
    pub async fn begin<F: Future<Output = ()> + 'static>(
        &mut self,
        me: &Process,
        serial: Option<u32>,
        work: impl FnOnce(Process) -> F,
    ) -> SideTaskId {
        if self.works.iter().flatten().any(|other| other.confuses(serial)) {
            let reason = "begins a non-blocking operation whose messages could not be told from those of another one";
            me.fail(Fault::new("", reason, "wait for some of the operations in progress before")).await;
        }
        let mailbox = Mailbox::new();
        let process = work(Process { side_task: Some(Rc::clone(&mailbox)), ..me.clone() });
        let process = Processes::new(mailbox, [Box::pin(process) as _]);
        let notes = TaskNotes { collective: None, collective_bytes: 0, step: me.notes().step.get() };
        let state = SideTaskState::Ready(None);
        self.begun += 1;
        let number = self.begun;
        let mut side_task = SideTask { number, process, serial, state, notes, has_sent: false };
        side_task.proceed(me).await;
        let place = self.works.iter().position(Option::is_none).unwrap_or(self.works.len());
        self.works.resize_with(self.works.len().max(place + 1), || None);
        self.works[place] = Some(side_task);
        self.outstanding += 1;
        SideTaskId { place, number }
    }

    /// Runs all tasks until they have to wait for anything other than the processor, as a library does in a call that only
    /// tests. The processor first handles what has arrived while the process computed.
    pub async fn progress(&mut self, me: &Process) {
        if !self.are_over() {
            me.compute_for(SimDuration::ZERO).await;
        }
        for work in self.works.iter_mut().flatten() {
            work.proceed(me).await;
        }
    }

    /// Does a piece of work that the process waits for, while the tasks progress.
    pub async fn run<F: Future<Output = ()> + 'static>(&mut self, me: &Process, work: impl FnOnce(Process) -> F) {
        if self.are_over() {
            return work(me.clone()).await;
        }
        let task = self.begin(me, None, work).await;
        self.wait(me, PendingOperation::SideTask(task)).await;
    }

    /// Sends and waits until the send is complete, while the tasks progress.
    pub async fn send(&mut self, me: &Process, to: u32, message: Message) {
        if self.are_over() {
            return me.send(to, message).await;
        }
        let sending = me.start_send(to, message).await;
        self.wait(me, PendingOperation::Message(sending)).await;
    }

    /// Waits for the first message that matches `pattern`, while the tasks progress.
    pub async fn receive(&mut self, me: &Process, pattern: MessagePattern) -> Received {
        if self.are_over() {
            return me.receive_where(pattern).await;
        }
        let receiving = me.start_receive(pattern).await;
        let received = self.wait(me, PendingOperation::Message(receiving)).await;
        received.unwrap_or_else(|| unreachable!("a receive ends with a message"))
    }

    /// Returns whether an operation is complete, without progress of the tasks; it still has to be [waited](Self::wait)
    /// for.
    pub async fn test(&self, me: &Process, pending: PendingOperation) -> bool {
        self.check(me, &[pending]).await;
        match pending {
            PendingOperation::Message(operation) => me.test(operation).await,
            PendingOperation::SideTask(task) => self.is_over(task),
        }
    }

    /// Waits until an operation is complete, and ends it. Returns the message if it was a receive.
    pub async fn wait(&mut self, me: &Process, pending: PendingOperation) -> Option<Received> {
        if !self.are_over() {
            self.wait_any(me, &[pending]).await;
        }
        match pending {
            PendingOperation::Message(operation) => me.wait(operation).await,
            PendingOperation::SideTask(task) => {
                self.check(me, &[pending]).await;
                self.works[task.place] = None;
                self.outstanding -= 1;
                None
            }
        }
    }

    /// Waits until one of the operations is complete and returns its index. It still has to be [waited](Self::wait) for,
    /// which then takes no time. Of several that are complete already, tasks come before messages.
    pub async fn wait_any(&mut self, me: &Process, pending: &[PendingOperation]) -> usize {
        self.check(me, pending).await;
        let messages: Vec<usize> = (0..pending.len()).filter(|index| pending[*index].message().is_some()).collect();
        loop {
            for work in self.works.iter_mut().flatten() {
                work.progress(me).await;
            }
            let is_over = |one: &PendingOperation| one.task().is_some_and(|task| self.is_over(task));
            if let Some(over) = pending.iter().position(is_over) {
                return over;
            }
            if let Some(index) = messages.get(self.wait_for_event(me, pending).await) {
                return *index;
            }
        }
    }

    /// Waits until one of the messages is complete or a task can proceed. Returns the index among the messages; a larger
    /// number if a task can proceed.
    async fn wait_for_event(&mut self, me: &Process, pending: &[PendingOperation]) -> usize {
        let only = if let [PendingOperation::SideTask(task)] = *pending { Some(task.place) } else { None };
        let others = self.works.iter().enumerate().filter(|(place, _)| Some(*place) != only).map(|(_, work)| work);
        let tasks = only.map(|place| &self.works[place]).into_iter().chain(others).flatten();
        let messages = pending.iter().filter_map(|one| one.message());
        let awaited: Vec<Operation> = messages.chain(tasks.flat_map(SideTask::awaited).copied()).collect();
        let mut only = only.and_then(|place| self.works[place].as_mut());
        // A process that waits for one task is in the collective operation of that task, at the step that began it.
        if let Some(task) = &mut only {
            task.notes.exchange(me);
        }
        me.notes().progresses.set(pending.len() == 1);
        let first = me.wait_any(&awaited).await;
        me.notes().progresses.set(false);
        if let Some(task) = &mut only {
            task.notes.exchange(me);
        }
        first
    }

    /// Ends the run with an error if a side task among these operations has already been waited for.
    async fn check(&self, me: &Process, pending: &[PendingOperation]) {
        if pending.iter().filter_map(|one| one.task()).any(|task| self.find(task).is_none()) {
            me.fail(ENDED.to_owned()).await;
        }
    }

    /// Returns whether a task has finished; it still has to be [waited](Self::wait) for.
    fn is_over(&self, task: SideTaskId) -> bool {
        self.find(task).is_none_or(|work| matches!(work.state, SideTaskState::Over))
    }

    fn find(&self, SideTaskId { place, number }: SideTaskId) -> Option<&SideTask> {
        self.works.get(place)?.as_ref().filter(|task| task.number == number)
    }
}

impl PendingOperation {
    const fn message(self) -> Option<Operation> {
        match self {
            Self::Message(operation) => Some(operation),
            Self::SideTask(_) => None,
        }
    }

    const fn task(self) -> Option<SideTaskId> {
        match self {
            Self::Message(_) => None,
            Self::SideTask(task) => Some(task),
        }
    }
}

impl TaskNotes {
    /// Exchanges the record with that of the process.
    fn exchange(&mut self, me: &Process) {
        let notes = me.notes();
        self.collective = notes.collective.replace(self.collective);
        self.collective_bytes = notes.collective_bytes.replace(self.collective_bytes);
        self.step = notes.step.replace(self.step);
    }
}

impl SideTask {
    /// Returns whether the task runs and its messages have the same tags as those of a task with this serial number.
    fn confuses(&self, serial: Option<u32>) -> bool {
        let same = |(own, other)| task_of(own) == task_of(other);
        !matches!(self.state, SideTaskState::Over) && self.serial.zip(serial).is_some_and(same)
    }

    /// Returns the operations of which the task awaits one.
    fn awaited(&self) -> &[Operation] {
        match &self.state {
            SideTaskState::Waits(operation) => std::slice::from_ref(operation),
            SideTaskState::WaitsForAny(operations) => operations,
            SideTaskState::Ready(_) | SideTaskState::Over => &[],
        }
    }

    /// Runs the task until it has to wait for anything other than the processor: a send that is complete once the
    /// processor has copied the message is complete before the call returns.
    async fn proceed(&mut self, me: &Process) {
        self.notes.exchange(me);
        self.has_sent = false;
        self.advance(me).await;
        while mem::take(&mut self.has_sent) {
            me.compute_for(SimDuration::ZERO).await;
            self.advance(me).await;
        }
        self.notes.exchange(me);
    }

    /// Runs the task until it has to wait.
    async fn progress(&mut self, me: &Process) {
        self.notes.exchange(me);
        self.advance(me).await;
        self.notes.exchange(me);
    }

    /// Runs the task, for which the process acts, until it has to wait.
    async fn advance(&mut self, me: &Process) {
        me.notes().progresses.set(true);
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
        me.notes().progresses.set(false);
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
    async fn serve(&mut self, me: &Process, verb: Verb) -> SideTaskState {
        self.has_sent |= matches!(verb, Verb::Send(..) | Verb::StartSend(..));
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
        self.serial.map_or(tag, |serial| aside_tag(tag, serial))
    }
}
