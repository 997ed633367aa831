//! The logical processes of one rank: input, output and state queues, rollback and anti-messages (Jefferson, "Virtual
//! Time", ACM TOPLAS 7, 1985).

use super::lattice::{BoundarySide, IsingModel, StateChange, SubLattice, Update};
use std::collections::{BTreeMap, VecDeque};

/// The identity of a message: the time at which it takes effect, its sender, and the side of the receiver. An attempt
/// that is repeated sends under the same identity, but only after the anti-message has cancelled the message sent
/// first.
type EventName = (u64, usize, BoundarySide);

fn name(update: &Update) -> EventName {
    // Positive floating-point numbers have the same order as their bit patterns.
    (update.time.to_bits(), update.from, update.side)
}

/// A message between logical processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventMessage {
    /// The content of the message.
    pub update: Update,
    /// `true` if this is an anti-message, which cancels the message with this content.
    pub anti: bool,
}

/// A processed event, with the data needed to undo it.
struct Processed {
    time: f64,
    change: StateChange,
    cause: EventCause,
}

enum EventCause {
    /// An attempt, with the messages that it has sent (the output queue) and its critical time.
    Attempt { sent: Vec<Update>, critical: f64 },
    /// A message from the input queue.
    Message(Update),
}

/// A logical process.
struct LogicalProcess {
    lattice: SubLattice,
    /// The input queue: messages that have not been processed.
    pending: BTreeMap<EventName, Update>,
    /// The state and output queues: events that have been processed but not committed, in order of virtual time.
    processed: VecDeque<Processed>,
    /// The critical times at the ends of committed attempts.
    committed: Vec<f64>,
    /// The virtual time before which nothing can be undone.
    horizon: f64,
}

/// The rollback that an event or a message has caused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollbackCost {
    /// `true` if any event was undone.
    pub happened: bool,
    /// Number of events that were undone.
    pub undone: u64,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsingEventKind {
    /// An attempt to flip a spin.
    Attempt,
    /// A message that updates a shadow boundary.
    Update,
}

/// The logical processes of one rank, from which the earliest event is processed next.
pub struct EventQueue {
    model: IsingModel,
    /// The number of the first logical process; the others have consecutive numbers.
    first: usize,
    processes: Vec<LogicalProcess>,
    saves: bool,
    /// Messages for logical processes of other ranks.
    pub outgoing: Vec<EventMessage>,
    /// Number of rollbacks so far.
    pub rollbacks: u64,
    /// Number of undone events so far.
    pub undone: u64,
    /// Number of anti-messages so far, including those within the rank.
    pub anti_messages: u64,
    /// Number of attempts so far, including those undone.
    pub executed: u64,
}

impl EventQueue {
    /// Creates the logical processes `first` to `first + lattices.len() - 1`. Events can be undone only if the queue
    /// `saves`.
    pub fn new(model: &IsingModel, first: usize, lattices: Vec<SubLattice>, saves: bool) -> Self {
        let process = |lattice| LogicalProcess {
            lattice,
            pending: BTreeMap::new(),
            processed: VecDeque::new(),
            committed: Vec::new(),
            horizon: 0.0,
        };
        Self {
            model: model.clone(),
            first,
            processes: lattices.into_iter().map(process).collect(),
            saves,
            outgoing: Vec::new(),
            rollbacks: 0,
            undone: 0,
            anti_messages: 0,
            executed: 0,
        }
    }

    /// Returns the virtual time of the earliest unprocessed event, or infinity if there is none.
    pub fn next_time(&self) -> f64 {
        self.processes.iter().map(|process| process.next_time(&self.model)).fold(f64::INFINITY, f64::min)
    }

    /// Returns the earliest virtual time at which a logical process selected by `to` could be sent a message as a
    /// result of the attempts of this rank.
    pub fn promise(&self, to: impl Fn(usize) -> bool) -> f64 {
        let towards = |process: &LogicalProcess, number: usize| {
            let sides = BoundarySide::ALL.into_iter().filter(|side| to(self.model.neighbour(number, *side)));
            sides.map(|side| process.lattice.next_on_boundary(&self.model, side)).fold(f64::INFINITY, f64::min)
        };
        (self.first..)
            .zip(&self.processes)
            .map(|(number, process)| towards(process, number))
            .fold(f64::INFINITY, f64::min)
    }

    /// Processes the earliest event, or returns `None` if there is none.
    pub fn process_next(&mut self) -> Option<(IsingEventKind, RollbackCost)> {
        let earliest = |index: &usize| self.processes[*index].next_time(&self.model);
        let index = (0..self.processes.len()).min_by(|a, b| earliest(a).total_cmp(&earliest(b)))?;
        if earliest(&index).is_infinite() {
            return None;
        }
        let process = &mut self.processes[index];
        if !self.saves {
            process.horizon = process.next_time(&self.model);
        }
        let message = process.pending.first_key_value().map(|(_, update)| *update);
        let (kind, updates) = match message {
            Some(update) if update.time <= process.lattice.tally.next => {
                process.pending.pop_first();
                let change = process.lattice.show(&self.model, &update);
                if self.saves {
                    process.processed.push_back(Processed {
                        time: update.time,
                        change,
                        cause: EventCause::Message(update),
                    });
                }
                (IsingEventKind::Update, Vec::new())
            }
            _ => {
                let time = process.lattice.tally.next;
                let (change, updates) = process.lattice.make_attempt(&self.model);
                let critical = process.lattice.tally.critical.attempts;
                self.executed += 1;
                if self.saves {
                    let cause = EventCause::Attempt { sent: updates.clone(), critical };
                    process.processed.push_back(Processed { time, change, cause });
                } else {
                    process.committed.push(critical);
                }
                (IsingEventKind::Attempt, updates)
            }
        };
        Some((kind, self.dispatch(updates.into_iter().map(|update| EventMessage { update, anti: false }).collect())))
    }

    /// Accepts a message. A late message or an anti-message may cause a rollback.
    pub fn accept(&mut self, message: EventMessage) -> RollbackCost {
        self.dispatch(vec![message])
    }

    /// Delivers messages for this rank, including all that result from them, and collects those for other ranks.
    fn dispatch(&mut self, messages: Vec<EventMessage>) -> RollbackCost {
        let mut total = RollbackCost::default();
        let mut messages = VecDeque::from(messages);
        while let Some(message) = messages.pop_front() {
            let to = message.update.to;
            if !self.holds(to) {
                self.outgoing.push(message);
                continue;
            }
            let process = &mut self.processes[to - self.first];
            let (undone, taken_back) = process.deliver(message);
            self.anti_messages += taken_back.len() as u64;
            messages.extend(taken_back.into_iter().map(|update| EventMessage { update, anti: true }));
            if undone > 0 {
                self.rollbacks += 1;
                self.undone += undone;
                total = RollbackCost { happened: true, undone: total.undone + undone };
            }
        }
        total
    }

    fn holds(&self, process: usize) -> bool {
        (self.first..self.first + self.processes.len()).contains(&process)
    }

    /// Commits the events before the global virtual time (fossil collection) and returns their number.
    pub fn commit(&mut self, global: f64) -> u64 {
        self.processes.iter_mut().map(|process| process.commit(global)).sum()
    }

    /// Returns the logical processes at the end, in order: their sub-lattices, and the critical times at the ends of
    /// their attempts.
    pub fn finish(mut self) -> Vec<(SubLattice, Vec<f64>)> {
        self.commit(f64::INFINITY);
        for process in &mut self.processes {
            process.lattice.finish(&self.model);
        }
        self.processes.into_iter().map(|process| (process.lattice, process.committed)).collect()
    }
}

impl Processed {
    /// Returns `true` if this is the message `first`, or a message of the same time that follows it. Messages of the
    /// same time have a fixed order, too, so that rounding errors of sums do not depend on arrival times.
    fn is_message_from(&self, first: &Update) -> bool {
        matches!(&self.cause, EventCause::Message(update) if name(update) >= name(first) && self.time >= first.time)
    }
}

impl LogicalProcess {
    fn next_time(&self, model: &IsingModel) -> f64 {
        let attempt = self.lattice.tally.next;
        let message = self.pending.first_key_value().map_or(f64::INFINITY, |(_, update)| update.time);
        let earliest = attempt.min(message);
        if earliest > model.end { f64::INFINITY } else { earliest }
    }

    /// Inserts a message into the input queue, or annihilates it with its anti-message. Returns the number of events
    /// that had to be undone, and the messages that are cancelled as a result.
    ///
    /// # Panics Panics if the message arrives twice, is too late to undo the events after it, or cancels a message that
    /// has not arrived. This cannot happen, because messages of one sender arrive in order, and none is before the
    /// global virtual time.
    fn deliver(&mut self, message: EventMessage) -> (u64, Vec<Update>) {
        let time = message.update.time;
        assert!(
            time >= self.horizon,
            "a message came behind what can be undone, {}: {:?}",
            self.horizon,
            message.update
        );
        if !message.anti {
            let rolled_back =
                self.roll_back(|processed| processed.time > time || processed.is_message_from(&message.update));
            let double = self.pending.insert(name(&message.update), message.update);
            assert!(double.is_none(), "a message came twice: {:?}", message.update);
            return rolled_back;
        }
        if self.pending.remove(&name(&message.update)).is_some() {
            return (0, Vec::new());
        }
        let rolled_back =
            self.roll_back(|processed| processed.time > time || processed.is_message_from(&message.update));
        let annihilated = self.pending.remove(&name(&message.update));
        assert!(annihilated.is_some(), "an anti-message has no message to take back: {:?}", message.update);
        rolled_back
    }

    /// Undoes the last events as long as `is_late` is true for them.
    fn roll_back(&mut self, is_late: impl Fn(&Processed) -> bool) -> (u64, Vec<Update>) {
        let mut undone = 0;
        let mut taken_back = Vec::new();
        while let Some(processed) = self.processed.pop_back_if(|processed| is_late(processed)) {
            undone += 1;
            self.lattice.undo(processed.change);
            match processed.cause {
                EventCause::Attempt { sent, .. } => taken_back.extend(sent),
                EventCause::Message(update) => drop(self.pending.insert(name(&update), update)),
            }
        }
        (undone, taken_back)
    }

    fn commit(&mut self, global: f64) -> u64 {
        let mut committed = 0;
        self.horizon = global;
        while let Some(processed) = self.processed.pop_front_if(|processed| processed.time < global) {
            committed += 1;
            if let EventCause::Attempt { critical, .. } = processed.cause {
                self.committed.push(critical);
            }
        }
        committed
    }
}
