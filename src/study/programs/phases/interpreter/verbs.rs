//! Verbs: steps that require the simulator.

use super::StepInterpreter;
use super::collective_order::{CollectiveCaller, CollectiveStep};
use super::exchange::exchange;
use super::requests::OutstandingRequest;
use crate::programs::communicator_tag::{FIRST_OWN_TAG, serial_within, tag_within};
use crate::programs::expression::Value;
use crate::programs::phases::bound::BoundExpression;
use crate::programs::phases::compiled::{
    CollectiveAction, CompiledStep, ComputeStep, IDEAL_BARRIER, ReceiveStep, RequestNumber, SendStep, StepAction,
    Within,
};
use crate::programs::phases::names::{NUMBER, SOURCE};
use parsim_sim::fault::Fault;
use parsim_sim::node::Work;
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::program::{Message, MessagePattern, Operation, PendingOperation, Process, RankGroup, Received};
use parsim_sim::units::SimDuration;
use std::rc::Rc;

/// Upper bound on the length of a run, in seconds: 2^64 ps.
const LONGEST_SECONDS: f64 = 1.8e7;

impl StepInterpreter {
    pub(super) async fn execute_verb(&mut self, step: &CompiledStep) -> Result<(), Box<Fault>> {
        match &step.action {
            StepAction::Compute(computation) => self.compute(computation).await?,
            StepAction::Send(send) if self.side_tasks.are_over() => {
                self.send(send)?.await;
            }
            StepAction::Send(send) => {
                let (to, message) = self.message(send)?;
                Box::pin(self.side_tasks.send(&self.me, to, message)).await;
            }
            StepAction::Receive(receive) => {
                let pattern = self.pattern(receive)?;
                let received = if self.side_tasks.are_over() {
                    self.me.receive_where(pattern).await
                } else {
                    Box::pin(self.side_tasks.receive(&self.me, pattern)).await
                };
                self.note(&received, receive.within);
            }
            StepAction::Isend(send, name) => {
                let operation = PendingOperation::Message(self.start_send(send)?.await);
                self.under_way(operation, *name, send.within, step.number);
            }
            StepAction::Irecv(receive, name) => {
                let operation = PendingOperation::Message(self.me.start_receive(self.pattern(receive)?).await);
                self.under_way(operation, *name, receive.within, step.number);
            }
            StepAction::Wait(name) => self.wait_for(*name).await,
            StepAction::Waitany(name) => self.wait_for_any(*name).await,
            // Boxed, because few programs test.
            StepAction::Test => Box::pin(self.side_tasks.progress(&self.me)).await,
            StepAction::Exchange(with) => {
                let partners = self.partners(with)?;
                if self.side_tasks.are_over() {
                    exchange(&self.me, partners).await;
                } else {
                    let work = |me: Process| async move { exchange(&me, partners).await };
                    Box::pin(self.side_tasks.run(&self.me, work)).await;
                }
            }
            StepAction::Iexchange(with, name) => {
                let partners = self.partners(with)?;
                Box::pin(self.start_exchange(&partners, *name, step.number)).await;
            }
            StepAction::Collective(collective) => {
                let (me, call) = self.call(collective)?;
                self.collective(me, &collective.operation, call).await?;
            }
            StepAction::Icollective(collective, name) => {
                let (me, call) = self.call(collective)?;
                let operation = self.start_collective(me, collective, call).await;
                self.under_way(operation, *name, collective.within, step.number);
            }
            StepAction::Input { bytes } => self.me.input(bytes.bytes(&self.slots)?).await,
            StepAction::Output { bytes } => self.me.output(bytes.bytes(&self.slots)?).await,
            _ => {}
        }
        Ok(())
    }

    fn send(&self, send: &SendStep) -> Result<impl Future<Output = ()>, Box<Fault>> {
        let (to, message) = self.message(send)?;
        Ok(self.me.send(to, message))
    }

    fn start_send(&self, send: &SendStep) -> Result<impl Future<Output = Operation>, Box<Fault>> {
        let (to, message) = self.message(send)?;
        Ok(self.me.start_send(to, message))
    }

    async fn compute(&self, step: &ComputeStep) -> Result<(), Box<Fault>> {
        let works = self.works(&step.flops, step.rows.as_ref())?;
        let seconds = step.seconds.as_ref().map_or(Ok(SimDuration::ZERO), |seconds| self.seconds(seconds))?;
        let Some(bytes) = &step.bytes else {
            self.work(works, seconds).await;
            return Ok(());
        };
        let bytes = bytes.bytes(&self.slots)?;
        // Boxed, because few steps move bytes.
        if step.overlap {
            Box::pin(self.me.traverse_during(bytes, async || self.work(works, seconds).await)).await;
        } else {
            Box::pin(self.me.traverse(bytes)).await;
            self.work(works, seconds).await;
        }
        Ok(())
    }

    /// Performs operations, and occupies the processor for a time.
    async fn work(&self, works: [Option<Work>; 2], seconds: SimDuration) {
        for work in works.into_iter().flatten() {
            self.me.compute(work).await;
        }
        if seconds > SimDuration::ZERO {
            self.me.compute_for(seconds).await;
        }
    }

    /// Divides the operations into rows. If the division has a remainder, rows with one more operation come first.
    fn works(&self, flops: &BoundExpression, rows: Option<&BoundExpression>) -> Result<[Option<Work>; 2], Fault> {
        let flops = flops.count(&self.slots, "flops")?;
        let rows = rows.map_or(Ok(1), |rows| rows.count(&self.slots, "rows"))?;
        if rows == 0 && flops > 0 {
            return Err(Fault::new("rows", format!("{flops} operations in 0 rows"), "give a number of rows from 1 on"));
        }
        let rows = rows.min(flops).max(1);
        let (each, longer) = (flops / rows, flops % rows);
        let work = |flops, rows| (flops > 0 && rows > 0).then(|| Work::flops(flops).rows(rows));
        Ok([work(each + 1, longer), work(each, rows - longer)])
    }

    fn seconds(&self, seconds: &BoundExpression) -> Result<SimDuration, Fault> {
        let value = seconds.real(&self.slots, "seconds")?;
        if !(0.0..=LONGEST_SECONDS).contains(&value) {
            let message = format!("`{}` is {} seconds", seconds.source(), Value::of_number(value));
            return Err(Fault::new("seconds", message, "give a time from 0 on, and shorter than 200 days"));
        }
        Ok(SimDuration::from_seconds(value))
    }

    /// Returns the receiver, as a rank among all, and the message.
    fn message(&self, send: &SendStep) -> Result<(u32, Message), Fault> {
        let message = Message::new(send.bytes.bytes(&self.slots)?).tag(self.tag(send.tag.as_ref(), send.within)?);
        let number = send.number.as_ref().map(|number| self.carried(number)).transpose()?;
        let message = message.values(number.map(|number| [number].into()));
        Ok((self.rank(("to", "sends to"), &send.to, send.within)?, message))
    }

    /// Returns the number that a message carries.
    fn carried(&self, number: &BoundExpression) -> Result<f64, Fault> {
        let value = number.number(&self.slots, "number")?;
        let real = value.as_real().unwrap_or(f64::NAN);
        if Value::of_number(real) != value && matches!(value, Value::Whole(_)) {
            let message = format!("`{}` is {value}, and messages carry whole numbers up to 2^53", number.source());
            return Err(Fault::new("number", message, "give a smaller number, or a real one"));
        }
        Ok(real)
    }

    fn pattern(&self, receive: &ReceiveStep) -> Result<MessagePattern, Fault> {
        let from = receive.from.as_ref();
        let from = from.map(|from| self.rank(("from", "receives from"), from, receive.within)).transpose()?;
        Ok(MessagePattern { from, tag: Some(self.tag(receive.tag.as_ref(), receive.within)?) })
    }

    /// Converts the rank that `expression` denotes in a communicator to a rank among all.
    fn rank(&self, (field, action): (&str, &str), expression: &BoundExpression, within: Within) -> Result<u32, Fault> {
        let rank = expression.rank(&self.slots, field)?;
        let Some(group) = self.group(within)? else {
            let last = self.me.ranks() - 1;
            return if rank <= last { Ok(rank) } else { Err(no_rank(field, action, rank, last)) };
        };
        group.rank(rank).ok_or_else(|| no_rank(field, action, rank, group.count() - 1))
    }

    /// Returns the group of this rank in a communicator, or `None` for all ranks.
    fn group(&self, within: Within) -> Result<Option<&Rc<RankGroup>>, Fault> {
        let Some(split) = within else { return Ok(None) };
        let outside = || {
            let help =
                "leave it out with a condition on its rank in the communicator, which is -1, or give it a colour";
            Fault::new("communicator", "this rank is in no group of the communicator: its colour is negative", help)
        };
        self.program.splits[split].of(self.me.rank()).map(|(group, _)| Some(group)).ok_or_else(outside)
    }

    /// Returns the tag that distinguishes the messages of a step from those of other communicators.
    fn tag(&self, tag: Option<&BoundExpression>, within: Within) -> Result<u32, Fault> {
        let tag = tag.map_or(Ok(0), |tag| tag.rank(&self.slots, "tag"))?;
        let too_large =
            |end: &str| Fault::new("tag", format!("the tag {tag} is not below {end}"), "give a smaller one");
        match communicator_number(within) {
            0 if tag >= FIRST_OWN_TAG => Err(too_large("2^31")),
            number => tag_within(number, tag).ok_or_else(|| too_large("2^20, the limit within a communicator")),
        }
    }

    /// Stores the source and the number of a received message in the variables `source` and `number`; a message without
    /// a number leaves the latter unchanged.
    fn note(&mut self, received: &Received, within: Within) {
        let group = self.group(within).ok().flatten();
        let source = group.map_or(Some(received.from), |group| group.place(received.from));
        self.set(SOURCE.slot, Value::Whole(source.map_or(-1, i64::from)));
        if let Some([number]) = received.message.values.as_deref() {
            self.set(NUMBER.slot, Value::of_number(*number));
        }
        self.changes += 1;
    }

    pub(super) fn under_way(&mut self, operation: PendingOperation, name: RequestNumber, within: Within, step: usize) {
        self.under_way.begin(OutstandingRequest { operation, name, within, step });
    }

    async fn wait_for(&mut self, name: Option<RequestNumber>) {
        while let Some(request) = self.under_way.take_first(name) {
            self.end(request).await;
        }
    }

    async fn wait_for_any(&mut self, name: RequestNumber) {
        let operations = self.under_way.operations(name);
        if operations.is_empty() {
            return;
        }
        let index = Box::pin(self.side_tasks.wait_any(&self.me, &operations)).await;
        if let Some(request) = self.under_way.take(name, index) {
            self.end(request).await;
        }
    }

    async fn end(&mut self, request: OutstandingRequest) {
        let received = match request.operation {
            PendingOperation::Message(operation) if self.side_tasks.are_over() => self.me.wait(operation).await,
            operation => Box::pin(self.side_tasks.wait(&self.me, operation)).await,
        };
        if let Some(received) = received {
            self.note(&received, request.within);
        }
    }

    /// Notes the call of a collective operation. Returns the process as a member of its communicator, and the call.
    fn call(&self, collective: &CollectiveAction) -> Result<(Process, CalledCollective), Box<Fault>> {
        let CollectiveAction { bytes, root, within, .. } = collective;
        let bytes = bytes.bytes(&self.slots)?;
        // The address is that of the next step.
        let at = self.at - 1;
        let group = self.group(*within)?.cloned();
        let me = group.as_ref().map_or_else(|| self.me.clone(), |group| self.me.within(group));
        let root = root.as_ref().map_or(Ok(0), |root| root.rank(&self.slots, "root"))?;
        if root >= me.ranks() {
            return Err(Box::new(no_rank("root", "has the root", root, me.ranks() - 1)));
        }
        let caller = CollectiveCaller { place: me.rank(), rank: self.me.rank(), of: me.ranks() };
        let step = CollectiveStep { at, bytes, root };
        let number = self.collectives.call(&self.program, group.as_ref(), caller, step)?;
        Ok((me, CalledCollective { root, bytes, number }))
    }

    async fn collective(
        &mut self,
        me: Process,
        operation: &Rc<CollectiveOperation>,
        call: CalledCollective,
    ) -> Result<(), Box<Fault>> {
        if self.side_tasks.are_over() {
            me.collective(Some(operation.name()));
            // Boxed, because the state of a collective operation is larger than all other states together.
            Box::pin(operation.run(&me, call.root, call.bytes, None)).await;
            me.collective(None);
            return Ok(());
        }
        if **operation == IDEAL_BARRIER {
            let message = "in the barrier without cost, the non-blocking operations in progress would not advance";
            let help = "wait for them before it, or give another algorithm, such as Dissemination";
            return Err(Box::new(Fault::new("operation", message, help)));
        }
        let operation = Rc::clone(operation);
        Box::pin(self.side_tasks.run(&me, |me| perform(me, operation, call))).await;
        Ok(())
    }

    async fn start_collective(
        &mut self,
        me: Process,
        CollectiveAction { operation, within, .. }: &CollectiveAction,
        call: CalledCollective,
    ) -> PendingOperation {
        let (operation, serial) = (Rc::clone(operation), serial_within(communicator_number(*within), call.number));
        let beginning = self.side_tasks.begin(&me, Some(serial), |me| perform(me, operation, call));
        PendingOperation::SideTask(Box::pin(beginning).await)
    }
}

/// A call of a collective operation.
#[derive(Clone, Copy)]
struct CalledCollective {
    root: u32,
    bytes: u64,
    /// The number of the call among those of its communicator.
    number: u32,
}

async fn perform(me: Process, operation: Rc<CollectiveOperation>, call: CalledCollective) {
    me.collective(Some(operation.name()));
    operation.run(&me, call.root, call.bytes, None).await;
    me.collective(None);
}

/// Returns the number of a communicator; 0 for all ranks.
fn communicator_number(within: Within) -> u32 {
    within.map_or(0, |split| u32::try_from(split + 1).unwrap_or(u32::MAX))
}

fn no_rank(field: &str, action: &str, rank: u32, last: u32) -> Fault {
    let message = format!("{action} rank {rank}, but the ranks are 0 to {last}");
    Fault::new(field, message, format!("give a rank from 0 to {last}"))
}
