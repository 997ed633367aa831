//! The process of a rank, which makes the calls of a trace.

use super::call::{Call, RequestName};
use super::files::CallFiles;
use super::reader::CallReader;
use super::requests::Requests;
use crate::programs::communicator_tag::serial_within;
use parsim_sim::fault::Fault;
use parsim_sim::program::collective::{CollectiveCall, Library};
use parsim_sim::program::{Message, PendingOperation, Process, RankGroup, SideTasks};
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
            Call::Receive { pattern, request: None } => _ = self.side_tasks.receive(&self.me, pattern).await,
            Call::Receive { pattern, request: Some(name) } => {
                let receiving = self.me.start_receive(pattern).await;
                self.requests.push(name, Some(PendingOperation::Message(receiving)));
            }
            Call::Wait(name) => {
                if let Some(pending) = self.requests.take(name) {
                    self.side_tasks.wait(&self.me, pending).await;
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
        let Some(name) = request else { return self.side_tasks.send(&self.me, to, message).await };
        let sending = self.me.start_send(to, message).await;
        self.requests.push(name, Some(PendingOperation::Message(sending)));
    }

    async fn collective(&mut self, call: CollectiveCall, communicator: u32, request: Option<RequestName>) {
        let group = (communicator as usize).checked_sub(1).map(|number| &self.groups[number]);
        let me = group.map_or_else(|| self.me.clone(), |group| self.me.within(group));
        let library = self.library;
        let work = |me: Process| async move { call.run(&me, library).await };
        let Some(name) = request else { return self.side_tasks.run(&me, work).await };
        let number = self.begun.entry(communicator).or_default();
        *number = number.wrapping_add(1);
        let serial = serial_within(communicator, *number);
        let task = self.side_tasks.begin(&me, Some(serial), work).await;
        self.requests.push(name, Some(PendingOperation::SideTask(task)));
    }

    async fn wait_any(&mut self, names: &[RequestName]) {
        let oldest = |name: &RequestName| self.requests.oldest(*name).map(|pending| (*name, pending));
        let (names, pending): (Vec<_>, Vec<_>) = names.iter().filter_map(oldest).unzip();
        if pending.is_empty() {
            return;
        }
        let first = self.side_tasks.wait_any(&self.me, &pending).await;
        if let Some(pending) = self.requests.take(names[first]) {
            self.side_tasks.wait(&self.me, pending).await;
        }
    }

    /// Tests the oldest request of a name. As in SimGrid, an incomplete request is moved behind the others of its name.
    async fn test(&mut self, name: RequestName) {
        self.side_tasks.progress(&self.me).await;
        let Some(pending) = self.requests.take(name) else { return };
        let is_complete = self.side_tasks.test(&self.me, pending).await;
        if is_complete {
            self.side_tasks.wait(&self.me, pending).await;
        }
        self.requests.push(name, (!is_complete).then_some(pending));
    }

    async fn wait_all(&mut self) {
        for pending in self.requests.take_all() {
            self.side_tasks.wait(&self.me, pending).await;
        }
    }
}
