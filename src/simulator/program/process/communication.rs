//! Communication of a process: messages, and the operations that it waits for.

use super::{
    Issue, IssuedWork, Message, MessagePattern, Notice, Operation, Process, RankGroup, Received, Reply, Verb, done,
    failure, if_counted, started,
};

impl Process {
    /// Sends to rank `to` and waits until the send is complete in the sense of [`Sends`](crate::machine::Sends). The
    /// run ends with an error if there is no such rank.
    pub fn send(&self, to: u32, message: Message) -> impl Future<Output = ()> {
        let to = self.among_all(to);
        let counted = self.count_message(to, &message);
        self.ask(if_counted(counted, Verb::Send(to, message)), done)
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
        let group = self.group.clone();
        self.ask(self.receiving(pattern, Verb::Receive), move |answer| within(group.as_deref(), received(answer)))
    }

    /// Starts a send and returns immediately; several sends of one process proceed concurrently.
    pub fn start_send(&self, to: u32, message: Message) -> impl Future<Output = Operation> {
        let to = self.among_all(to);
        let counted = self.count_message(to, &message);
        self.ask(if_counted(counted, Verb::StartSend(to, message)), started)
    }

    /// Starts a receive and returns immediately.
    pub fn start_receive(&self, pattern: MessagePattern) -> impl Future<Output = Operation> {
        self.ask(self.receiving(pattern, Verb::StartReceive), started)
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
            [] => failure("waits for one of no operations".to_owned()),
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
        let counted = match &issue.work {
            IssuedWork::Send(to, message) => self.count_message(*to, message),
            IssuedWork::Compute(_) | IssuedWork::Receive(_) => Some(()),
        };
        self.ask(if_counted(counted, Verb::Issue(issue)), started)
    }

    /// Waits until an [issued](Self::issue) operation begins or ends. Returns all notices that have not been returned
    /// before.
    pub fn notices(&self) -> impl Future<Output = Vec<Notice>> {
        self.ask(Verb::Notices, |answer| match answer {
            Reply::Noticed(notices) => notices,
            other => unreachable!("notices were answered by {other:?}"),
        })
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
