//! The process of a rank that makes the calls of a file.

use super::call::{Call, RequestName};
use super::files::CallFiles;
use super::reader::CallReader;
use super::requests::Requests;
use parsim_sim::fault::Fault;
use parsim_sim::program::collective::Library;
use parsim_sim::program::{Message, Process, RankGroup};
use std::rc::Rc;
use std::sync::Arc;

/// Makes the calls of a rank one after the other, and then waits for the requests that are left.
pub async fn make(me: Process, files: Arc<CallFiles>, groups: Rc<[Rc<RankGroup>]>, library: Library) {
    let me = me.with_free_additions();
    let reader = CallReader::new(files, me.rank());
    let mut caller = Caller { me, reader, groups, library, requests: Requests::default() };
    if let Err(fault) = caller.run().await {
        caller.me.fail(*fault).await;
    }
}

struct Caller {
    me: Process,
    reader: CallReader,
    /// The communicators but the first, which has all ranks.
    groups: Rc<[Rc<RankGroup>]>,
    library: Library,
    requests: Requests,
}

impl Caller {
    async fn run(&mut self) -> Result<(), Box<Fault>> {
        while let Some((phase, call)) = self.reader.next()? {
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
            Call::Send { to, bytes, tag, request } => {
                let message = Message::new(bytes).tag(tag);
                match request {
                    None => self.me.send(to, message).await,
                    Some(name) => self.requests.push(name, Some(self.me.start_send(to, message).await)),
                }
            }
            Call::Receive { pattern, request: None } => {
                self.me.receive_where(pattern).await;
            }
            Call::Receive { pattern, request: Some(name) } => {
                self.requests.push(name, Some(self.me.start_receive(pattern).await));
            }
            Call::Wait(name) => {
                if let Some(operation) = self.requests.take(name) {
                    self.me.wait(operation).await;
                }
            }
            Call::WaitAny(names) => self.wait_any(&names).await,
            Call::Test(name) => self.test(name).await,
            Call::WaitAll => self.wait_all().await,
            Call::Collective { call, communicator } => {
                let group = (communicator as usize).checked_sub(1).map(|number| &self.groups[number]);
                let me = group.map_or_else(|| self.me.clone(), |group| self.me.within(group));
                call.run(&me, self.library).await;
            }
        }
    }

    async fn wait_any(&mut self, names: &[RequestName]) {
        let open = names.iter().filter_map(|name| Some((*name, self.requests.oldest(*name)?)));
        let (names, operations): (Vec<_>, Vec<_>) = open.unzip();
        if operations.is_empty() {
            return;
        }
        let first = self.me.wait_any(&operations).await;
        self.requests.take(names[first]);
        self.me.wait(operations[first]).await;
    }

    /// As in SimGrid, a request that is not complete is then behind the others of its name.
    async fn test(&mut self, name: RequestName) {
        let Some(operation) = self.requests.take(name) else { return };
        let is_complete = self.me.test(operation).await;
        if is_complete {
            self.me.wait(operation).await;
        }
        self.requests.push(name, (!is_complete).then_some(operation));
    }

    async fn wait_all(&mut self) {
        let operations = self.requests.take_all();
        self.me.wait_all(operations).await;
    }
}
