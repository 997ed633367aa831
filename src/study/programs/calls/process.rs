//! The process of a rank, which makes the calls of a trace.

use super::call::{Call, RequestName};
use super::files::CallFiles;
use super::reader::CallReader;
use super::requests::{PendingOperation, Requests};
use parsim_sim::fault::Fault;
use parsim_sim::program::collective::{CollectiveCall, Library};
use parsim_sim::program::{Message, Operation, Process, RankGroup, SideTaskId, SideTasks};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Makes the calls of a rank one after another, and then waits for the requests that are still pending.
pub async fn make(me: Process, files: Arc<CallFiles>, groups: Rc<[Rc<RankGroup>]>, library: Library) {
    let reader = CallReader::new(files, me.rank());
    let (requests, side_tasks) = (Requests::default(), SideTasks::default());
    let mut caller = Caller { me, reader, groups, library, requests, side_tasks, begun: FxHashMap::default() };
    if let Err(fault) = caller.run().await {
        caller.me.fail(*fault).await;
    }
}

struct Caller {
    me: Process,
    reader: CallReader,
    /// The communicators from number 1 on; number 0 has all ranks.
    groups: Rc<[Rc<RankGroup>]>,
    library: Library,
    requests: Requests,
    /// The nonblocking collective operations that have begun.
    side_tasks: SideTasks,
    /// The number of nonblocking collective operations so far, by communicator.
    begun: FxHashMap<u32, u32>,
}

impl Caller {
    async fn run(&mut self) -> Result<(), Box<Fault>> {
        let mut calls = 0;
        while let Some((phase, call)) = self.reader.next()? {
            calls += 1;
            self.me.step(calls);
            self.me.phase(phase);
            self.make(call).await;
        }
        self.wait_all().await;
        Ok(())
    }

    async fn make(&mut self, call: Call) {
        match call {
            Call::Operate(operations) => self.me.operate(operations).await,
            Call::Keep(time) => self.me.compute_for(time).await,
            Call::Send { to, bytes, tag, synchronous, request } => {
                self.send(to, Message { synchronous, ..Message::new(bytes).tag(tag) }, request).await;
            }
            Call::Receive { pattern, request: None } if self.side_tasks.are_over() => {
                self.me.receive_where(pattern).await;
            }
            Call::Receive { pattern, request } => {
                let receiving = self.me.start_receive(pattern).await;
                match request {
                    None => self.side_tasks.wait_for(&self.me, receiving).await,
                    Some(name) => self.requests.push(name, Some(PendingOperation::Message(receiving))),
                }
            }
            Call::Wait(name) => {
                if let Some(pending) = self.requests.take(name) {
                    self.wait(pending).await;
                }
            }
            Call::WaitAny(names) => self.wait_any(&names).await,
            Call::Test(name) => self.test(name).await,
            Call::WaitAll => self.wait_all().await,
            Call::Collective { call, communicator, request } => {
                Box::pin(self.collective(call, communicator, request)).await;
            }
        }
    }

    async fn send(&mut self, to: u32, message: Message, request: Option<RequestName>) {
        if request.is_none() && self.side_tasks.are_over() {
            return self.me.send(to, message).await;
        }
        let sending = self.me.start_send(to, message).await;
        match request {
            None => self.side_tasks.wait_for(&self.me, sending).await,
            Some(name) => self.requests.push(name, Some(PendingOperation::Message(sending))),
        }
    }

    async fn collective(&mut self, call: CollectiveCall, communicator: u32, request: Option<RequestName>) {
        let group = (communicator as usize).checked_sub(1).map(|number| &self.groups[number]);
        let me = group.map_or_else(|| self.me.clone(), |group| self.me.within(group));
        let library = self.library;
        let serial = request.map(|_| {
            let number = self.begun.entry(communicator).or_default();
            *number = number.wrapping_add(1);
            number.wrapping_add(communicator.wrapping_mul(SERIALS_PER_COMMUNICATOR))
        });
        if serial.is_none() && self.side_tasks.are_over() {
            return call.run(&me, library).await;
        }
        let work = |me: Process| async move { call.run(&me, library).await };
        let number = self.side_tasks.begin(&me, serial, work).await;
        match request {
            None => self.side_tasks.end(&self.me, number).await,
            Some(name) => self.requests.push(name, Some(PendingOperation::Collective(number))),
        }
    }

    async fn wait(&mut self, pending: PendingOperation) {
        match pending {
            PendingOperation::Message(operation) if self.side_tasks.are_over() => {
                self.me.wait(operation).await;
            }
            PendingOperation::Message(operation) => self.side_tasks.wait_for(&self.me, operation).await,
            PendingOperation::Collective(number) => self.side_tasks.end(&self.me, number).await,
        }
    }

    async fn wait_any(&mut self, names: &[RequestName]) {
        let (mut messages, mut collectives) = (Vec::new(), Vec::new());
        for name in names {
            match self.requests.oldest(*name) {
                Some(PendingOperation::Message(operation)) => messages.push((*name, operation)),
                Some(PendingOperation::Collective(number)) => collectives.push((*name, number)),
                None => {}
            }
        }
        if messages.is_empty() && collectives.is_empty() {
            return;
        }
        let operations: Vec<Operation> = messages.iter().map(|(_, operation)| *operation).collect();
        let numbers: Vec<SideTaskId> = collectives.iter().map(|(_, number)| *number).collect();
        let first = if self.side_tasks.are_over() {
            self.me.wait_any(&operations).await
        } else {
            self.side_tasks.wait_any(&self.me, &operations, &numbers).await
        };
        let all = messages.iter().map(|(name, _)| name).chain(collectives.iter().map(|(name, _)| name));
        if let Some(pending) = all.into_iter().nth(first).and_then(|name| self.requests.take(*name)) {
            self.wait(pending).await;
        }
    }

    /// Tests the oldest request of a name. As in SimGrid, an incomplete request is moved behind the others of its name.
    async fn test(&mut self, name: RequestName) {
        self.side_tasks.progress(&self.me).await;
        let Some(pending) = self.requests.take(name) else { return };
        let is_complete = match pending {
            PendingOperation::Message(operation) => self.me.test(operation).await,
            PendingOperation::Collective(number) => self.side_tasks.is_over(number),
        };
        if is_complete {
            self.wait(pending).await;
        }
        self.requests.push(name, (!is_complete).then_some(pending));
    }

    async fn wait_all(&mut self) {
        for pending in self.requests.take_all() {
            self.wait(pending).await;
        }
    }
}

/// The distance between the serial numbers of two communicators.
const SERIALS_PER_COMMUNICATOR: u32 = 31;
