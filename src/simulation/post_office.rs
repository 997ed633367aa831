//! Messages between their sending and their receiving, and the operations that wait for them.

use crate::engine::Lists;
use crate::machine::MessageId;
use crate::program::{Message, Operation, Pattern, Received};
use crate::trace::{Activity, Delivery};
use crate::units::SimTime;

/// A table whose places are used again.
struct Slots<T> {
    places: Vec<Option<T>>,
    vacant: Vec<u32>,
}

impl<T> Slots<T> {
    const fn new() -> Self {
        Self { places: Vec::new(), vacant: Vec::new() }
    }

    fn put(&mut self, value: T) -> u32 {
        if let Some(place) = self.vacant.pop() {
            self.places[place as usize] = Some(value);
            return place;
        }
        self.places.push(Some(value));
        u32::try_from(self.places.len() - 1).expect("fewer than four thousand million at once")
    }

    fn get(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    fn peek(&self, place: u32) -> Option<&T> {
        self.places.get(place as usize)?.as_ref()
    }

    fn take(&mut self, place: u32) -> Option<T> {
        let value = self.places.get_mut(place as usize)?.take();
        if value.is_some() {
            self.vacant.push(place);
        }
        value
    }
}

/// What a process waits for, or could.
#[derive(Debug)]
pub struct Task {
    pub rank: u32,
    pub kind: TaskKind,
    pub state: TaskState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    Send {
        to: u32,
    },
    Receive(Pattern),
    /// Bytes on their way through what the cores of a node share.
    Move,
}

#[derive(Clone, Copy, Debug)]
pub enum TaskState {
    UnderWay,
    Done,
    /// The letter with this ticket has come.
    Received(u32),
}

impl TaskKind {
    /// What a process does while it waits for the task.
    pub const fn activity(self) -> Activity {
        match self {
            Self::Send { .. } => Activity::Sending,
            Self::Receive(_) | Self::Move => Activity::Blocked,
        }
    }
}

impl TaskState {
    pub const fn is_complete(self) -> bool {
        !matches!(self, Self::UnderWay)
    }
}

/// A message that is under way or waits to be received. It is kept until the receive has been ended
/// and the send is complete, whichever comes last.
struct Letter {
    from: u32,
    to: u32,
    sent: SimTime,
    message: Message,
    is_received: bool,
    sending: Option<Operation>,
}

/// A message has found its receiver.
pub struct Match {
    pub operation: Operation,
    pub ticket: u32,
    pub message: MessageId,
}

/// The messages and operations of all ranks.
pub struct PostOffice {
    letters: Slots<Letter>,
    tasks: Slots<Task>,
    /// Delivered messages that nobody has asked for, by receiving rank, in the order of arrival.
    inboxes: Lists<(u32, MessageId)>,
    /// Receives that no message has come for, by rank, in the order in which they were asked.
    receives: Lists<Operation>,
}

impl PostOffice {
    pub fn new(ranks: u32) -> Self {
        Self { letters: Slots::new(), tasks: Slots::new(), inboxes: Lists::new(ranks), receives: Lists::new(ranks) }
    }

    /// A send begins: its operation, and the ticket of the message.
    pub fn post(&mut self, now: SimTime, from: u32, to: u32, message: Message) -> (Operation, u32) {
        let task = Task { rank: from, kind: TaskKind::Send { to }, state: TaskState::UnderWay };
        let operation = Operation(self.tasks.put(task));
        let letter = Letter { from, to, sent: now, message, is_received: false, sending: Some(operation) };
        (operation, self.letters.put(letter))
    }

    /// A send is complete.
    pub fn sent(&mut self, ticket: u32) -> Operation {
        let letter = self.letters.get(ticket).expect("a letter is kept until its send is complete");
        let operation = letter.sending.take().expect("a send is complete once");
        if letter.is_received {
            self.letters.take(ticket);
        }
        self.task(operation).state = TaskState::Done;
        operation
    }

    /// Bytes begin to move.
    pub fn begin_move(&mut self, rank: u32) -> Operation {
        Operation(self.tasks.put(Task { rank, kind: TaskKind::Move, state: TaskState::UnderWay }))
    }

    /// They have moved.
    pub fn moved(&mut self, operation: Operation) {
        self.task(operation).state = TaskState::Done;
    }

    /// The record of a message that is delivered now and has not been received yet.
    pub fn delivery(&mut self, ticket: u32, now: SimTime) -> Delivery {
        let letter = self.letters.get(ticket).expect("a letter is kept until it is received");
        Delivery { from: letter.from, to: letter.to, bytes: letter.message.bytes, sent: letter.sent, delivered: now }
    }

    /// A message has been delivered; it meets the first receive that it fits.
    pub fn delivered(&mut self, ticket: u32, message: MessageId) -> Option<Match> {
        let letter = self.letters.get(ticket).expect("a letter is kept until it is received");
        let Letter { from, to, message: Message { tag, .. }, .. } = *letter;
        let tasks = &self.tasks;
        let Some(operation) = self.receives.take_first(to, |operation| pattern(tasks, *operation).fits(from, tag))
        else {
            self.inboxes.push_back(to, (ticket, message));
            return None;
        };
        self.task(operation).state = TaskState::Received(ticket);
        Some(Match { operation, ticket, message })
    }

    /// A receive begins; it takes the first message that fits, if one is there.
    pub fn receive(&mut self, rank: u32, pattern: Pattern) -> (Operation, Option<Match>) {
        let task = Task { rank, kind: TaskKind::Receive(pattern), state: TaskState::UnderWay };
        let operation = Operation(self.tasks.put(task));
        let letters = &self.letters;
        let found = self.inboxes.take_first(rank, |(ticket, _)| {
            let letter = letters.peek(*ticket).expect("a letter is kept until it is received");
            pattern.fits(letter.from, letter.message.tag)
        });
        let Some((ticket, message)) = found else {
            self.receives.push_back(rank, operation);
            return (operation, None);
        };
        self.task(operation).state = TaskState::Received(ticket);
        (operation, Some(Match { operation, ticket, message }))
    }

    /// Ends a complete operation; what it has received, if it was a receive.
    pub fn end(&mut self, operation: Operation) -> Option<Received> {
        let task = self.tasks.take(operation.0).expect("an operation is ended once");
        let TaskState::Received(ticket) = task.state else { return None };
        let letter = self.letters.get(ticket).expect("a letter is kept until its receive is ended");
        if letter.sending.is_some() {
            letter.is_received = true;
            return Some(Received { from: letter.from, message: letter.message.clone() });
        }
        self.letters.take(ticket).map(|Letter { from, message, .. }| Received { from, message })
    }

    /// An operation that has not been ended, if `rank` has begun it.
    pub fn find(&mut self, rank: u32, operation: Operation) -> Option<&Task> {
        self.tasks.get(operation.0).filter(|task| task.rank == rank).map(|task| &*task)
    }

    /// The rank whose operation this is.
    pub fn rank(&mut self, operation: Operation) -> u32 {
        self.task(operation).rank
    }

    /// What an operation waits for, in words, and the rank that it waits for.
    pub fn describe(&mut self, operation: Operation) -> (String, Option<u32>) {
        match self.task(operation).kind {
            TaskKind::Send { to } => (format!("waits to send to rank {to}"), Some(to)),
            TaskKind::Move => ("waits for its memory or its interface".to_owned(), None),
            TaskKind::Receive(Pattern { from, tag }) => {
                let from_words = from.map_or("any rank".to_owned(), |rank| format!("rank {rank}"));
                let tag_words = tag.map_or(String::new(), |tag| format!(" a message with tag {tag}"));
                (format!("waits to receive{tag_words} from {from_words}"), from)
            }
        }
    }

    fn task(&mut self, operation: Operation) -> &mut Task {
        self.tasks.get(operation.0).expect("an operation is kept until it is ended")
    }
}

fn pattern(tasks: &Slots<Task>, operation: Operation) -> Pattern {
    match tasks.peek(operation.0).expect("an operation is kept until it is ended").kind {
        TaskKind::Receive(pattern) => pattern,
        TaskKind::Send { .. } | TaskKind::Move => unreachable!("only receives wait for messages"),
    }
}
