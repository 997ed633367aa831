//! Communication of a process: messages, and the operations that it waits for.

use super::{
    Issue, IssuedWork, Message, MessagePattern, Notice, Operation, Process, RankGroup, Received, Reply, Verb, done,
    failure, if_counted, started,
};
use crate::trace::RESERVED_TAGS;

impl Process {
    /// Sends to rank `to` and waits until the send is complete in the sense of [`Sends`](crate::machine::Sends). The
    /// run ends with an error if there is no such rank.
    pub fn send(&self, to: u32, message: Message) -> impl Future<Output = ()> {
        let reserved = reserved("sends", Some(message.tag));
        self.ask(reserved.unwrap_or_else(|| self.sending(to, message, Verb::Send)), done)
    }

    /// Does the same as [`send`](Self::send) with a tag of collective operations.
    pub(crate) fn send_in_collective(&self, to: u32, message: Message) -> impl Future<Output = ()> {
        self.ask(self.sending(to, message, Verb::Send), done)
    }

    /// Waits for the first message from rank `from`. The run ends with an error if there is no such rank.
    pub fn receive(&self, from: u32) -> impl Future<Output = Message> {
        let pattern = MessagePattern { from: Some(from), tag: None };
        self.ask(self.receiving(pattern, Verb::Receive), |answer| received(answer).message)
    }

    /// Waits for the first message from any rank.
    pub fn receive_any(&self) -> impl Future<Output = Received> {
        self.receive_where(MessagePattern::default())
    }

    /// Waits for the first message that matches `pattern`.
    pub fn receive_where(&self, pattern: MessagePattern) -> impl Future<Output = Received> {
        self.receive_by(reserved("receives", pattern.tag), pattern)
    }

    /// Does the same as [`receive_where`](Self::receive_where) with a tag of collective operations.
    pub(crate) fn receive_in_collective(&self, from: u32, tag: u32) -> impl Future<Output = Received> {
        self.receive_by(None, MessagePattern::from(from).tag(tag))
    }

    fn receive_by(&self, fault: Option<Verb>, pattern: MessagePattern) -> impl Future<Output = Received> {
        let group = self.group.clone();
        let verb = fault.unwrap_or_else(|| self.receiving(pattern, Verb::Receive));
        self.ask(verb, move |answer| within(group.as_deref(), received(answer)))
    }

    /// Starts a send and returns immediately; several sends of one process proceed concurrently.
    pub fn start_send(&self, to: u32, message: Message) -> impl Future<Output = Operation> {
        let reserved = reserved("sends", Some(message.tag));
        self.ask(reserved.unwrap_or_else(|| self.sending(to, message, Verb::StartSend)), started)
    }

    /// Does the same as [`start_send`](Self::start_send) with a tag of collective operations.
    pub(crate) fn start_send_in_collective(&self, to: u32, message: Message) -> impl Future<Output = Operation> {
        self.ask(self.sending(to, message, Verb::StartSend), started)
    }

    /// Starts a receive and returns immediately.
    pub fn start_receive(&self, pattern: MessagePattern) -> impl Future<Output = Operation> {
        let reserved = reserved("receives", pattern.tag);
        self.ask(reserved.unwrap_or_else(|| self.receiving(pattern, Verb::StartReceive)), started)
    }

    /// Does the same as [`start_receive`](Self::start_receive) with a tag of collective operations.
    pub(crate) fn start_receive_in_collective(&self, from: u32, tag: u32) -> impl Future<Output = Operation> {
        self.ask(self.receiving(MessagePattern::from(from).tag(tag), Verb::StartReceive), started)
    }

    /// Waits until `operation` is complete. Returns the message if it was a receive.
    pub fn wait(&self, operation: Operation) -> impl Future<Output = Option<Received>> {
        let group = self.group.clone();
        self.ask(Verb::Wait(operation), move |answer| match answer {
            Reply::Received(received) => Some(within(group.as_deref(), received)),
            _ => None,
        })
    }

    /// Waits until all `operations` are complete.
    pub async fn wait_all(&self, operations: impl IntoIterator<Item = Operation>) {
        for operation in operations {
            self.wait(operation).await;
        }
    }

    /// Waits until one of `operations` is complete. Returns the index of the first to complete, or the lowest index if
    /// several are complete already. The operation still has to be [waited](Self::wait) for, which then takes no time.
    /// The run ends with an error if there are no `operations`.
    pub fn wait_any(&self, operations: &[Operation]) -> impl Future<Output = usize> {
        let verb = match operations {
            [] => failure("calls wait_any with an empty list".to_owned()),
            _ => Verb::WaitAny(operations.to_vec()),
        };
        self.ask(verb, |answer| match answer {
            Reply::Ready(index) => index,
            other => unreachable!("wait_any was answered {other:?}"),
        })
    }

    /// Returns whether `operation` is complete. It still has to be [waited](Self::wait) for, which then takes no time.
    pub fn test(&self, operation: Operation) -> impl Future<Output = bool> {
        self.ask(Verb::Test(operation), |answer| match answer {
            Reply::Tested(complete) => complete,
            other => unreachable!("a test was answered {other:?}"),
        })
    }

    /// Issues an operation and returns immediately. [`notices`](Self::notices) report its beginning and its end, and it
    /// need not be waited for. The ranks that it names are those among all ranks.
    pub fn issue(&self, issue: Issue) -> impl Future<Output = Operation> {
        let (counted, reserved) = match &issue.work {
            IssuedWork::Send(to, message) => (self.count_message(*to, message), reserved("sends", Some(message.tag))),
            IssuedWork::Receive(pattern) => (Some(()), reserved("receives", pattern.tag)),
            IssuedWork::Compute(_) => (Some(()), None),
        };
        self.ask(reserved.unwrap_or_else(|| if_counted(counted, Verb::Issue(issue))), started)
    }

    /// Waits until an [issued](Self::issue) operation begins or ends. Returns all notices that have not been returned
    /// before.
    pub fn notices(&self) -> impl Future<Output = Vec<Notice>> {
        self.ask(Verb::Notices, |answer| match answer {
            Reply::Noticed(notices) => notices,
            other => unreachable!("notices were answered by {other:?}"),
        })
    }

    /// Returns the request to send `message`, and counts it.
    fn sending(&self, to: u32, message: Message, verb: impl FnOnce(u32, Message) -> Verb) -> Verb {
        let to = self.among_all(to);
        if_counted(self.count_message(to, &message), verb(to, message))
    }

    /// Returns the request to receive what `pattern` matches, or a failure if it names a sender that does not exist.
    fn receiving(&self, pattern: MessagePattern, verb: impl FnOnce(MessagePattern) -> Verb) -> Verb {
        match pattern.from {
            Some(from) if from >= self.ranks() => {
                failure(format!("receives from rank {from}, but the ranks are 0 to {}", self.ranks() - 1))
            }
            from => verb(MessagePattern { from: from.map(|from| self.among_all(from)), ..pattern }),
        }
    }

    fn count_message(&self, to: u32, message: &Message) -> Option<()> {
        let nodes = &self.context.nodes;
        let leaves = nodes.get(to as usize) != nodes.get(self.rank as usize);
        self.count(|tally| {
            let add = |sum: u64, counts: bool| sum.checked_add(if counts { message.bytes } else { 0 });
            tally.message_bytes = add(tally.message_bytes, to != self.rank)?;
            tally.exchanged_bytes = add(tally.exchanged_bytes, leaves)?;
            Some(())
        })
    }
}

/// Returns the failure of a process that uses a tag of collective operations, if it does.
fn reserved(does: &str, tag: Option<u32>) -> Option<Verb> {
    let tag = tag.filter(|tag| *tag >= RESERVED_TAGS)?;
    let end = u32::MAX;
    let range = format!("{RESERVED_TAGS} to {end} are those of collective operations");
    Some(failure(format!("{does} with tag {tag}, but the tags {range}")))
}

fn received(answer: Reply) -> Received {
    match answer {
        Reply::Received(received) => received,
        other => unreachable!("a receive was answered {other:?}"),
    }
}

/// Converts the sender of a message to a rank of the group.
fn within(group: Option<&RankGroup>, received: Received) -> Received {
    match group.and_then(|group| group.place(received.from)) {
        Some(from) => Received { from, ..received },
        None => received,
    }
}
