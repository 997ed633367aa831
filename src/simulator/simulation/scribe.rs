//! What the stage tells about the ranks, made into the entries of a diary.

use super::post_office::TaskKind;
use crate::machine::Machine;
use crate::node::processor::Stopwatch;
use crate::node::{Host, Work};
use crate::program::{Answer, Operation, Verb};
use crate::trace::{Activity, Diary, Doing, Entry, Loop, Service};
use rustc_hash::FxHashMap;

/// Keeps a diary while a run is played.
pub struct Scribe {
    entries: Vec<Entry>,
    /// What the process of each rank has asked for.
    doing: Vec<Doing>,
    /// Whether bytes move through memory, and how many, by operation.
    moves: FxHashMap<u32, (bool, f64)>,
    stopwatch: Stopwatch,
    host: Host,
}

impl Scribe {
    pub fn new(machine: &Machine, ranks: u32) -> Self {
        Self {
            entries: Vec::new(),
            doing: vec![Doing::Else; ranks as usize],
            moves: FxHashMap::default(),
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            host: machine.host.clone(),
        }
    }

    /// Bytes begin to move as an operation.
    pub fn moving(&mut self, operation: Operation, is_memory: bool, bytes: f64) {
        self.moves.insert(operation.0, (is_memory, bytes));
    }

    /// A process asks for something; `awaited` is what it waits for, if that is one operation.
    pub fn asked(&mut self, rank: u32, verb: &Verb, awaited: Option<TaskKind>) {
        self.doing[rank as usize] = match verb {
            Verb::Compute(work) => Doing::Computing { loops: self.loops(*work) },
            Verb::Operate(operations) => {
                let time = self.stopwatch.operations_time(*operations);
                Doing::Computing { loops: [time.ok().map(|time| ("operations", rounded(*operations), time)), None] }
            }
            Verb::Forward(bytes) => Doing::Forwarding { bytes: *bytes },
            Verb::Send(to, _) => Doing::Sending { to: *to },
            Verb::Wait(operation) => match (awaited, self.moves.get(&operation.0)) {
                (Some(TaskKind::Send { to }), _) => Doing::Sending { to },
                (Some(TaskKind::Move), Some((is_memory, bytes))) => {
                    Doing::Moving { is_memory: *is_memory, bytes: rounded(*bytes) }
                }
                _ => Doing::Else,
            },
            Verb::Barrier | Verb::NodeBarrier => Doing::AtBarrier,
            Verb::Input(bytes) => Doing::Transferring { is_input: true, bytes: *bytes, start: self.host.input.start },
            Verb::Output(bytes) => {
                Doing::Transferring { is_input: false, bytes: *bytes, start: self.host.output.start }
            }
            _ => Doing::Else,
        };
    }

    /// The loops of a computation; a module that takes no time is none.
    fn loops(&mut self, work: Work) -> [Option<Loop>; 2] {
        let mut loops = [None; 2];
        for (place, (module, iterations)) in loops.iter_mut().zip(work.row()) {
            // A processor that cannot compute it fails where it is asked to.
            let row = self.stopwatch.row_time(Work::new(module, iterations)).unwrap_or_default();
            *place = Some((module.field(), iterations * work.passes(), row * work.passes()));
        }
        loops
    }

    /// A process goes on with what it has asked for.
    pub fn answered(&mut self, rank: u32, answer: Option<&Answer>) {
        if let Some(Answer::Received(received)) = answer {
            self.doing[rank as usize] = Doing::Receiving { from: received.from, bytes: received.message.bytes };
        }
    }

    /// A rank has done this, apart from what exactly it was.
    pub fn booked(&mut self, entry: Entry) {
        if entry.begin < entry.end && entry.activity != Activity::Idle {
            self.entries.push(Entry { doing: self.doing[entry.rank as usize], ..entry });
        }
    }

    /// The diary, with what processors did for the communication.
    pub fn close(self, services: Vec<Service>) -> Diary {
        Diary { entries: self.entries, services }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "they are counted")]
fn rounded(share: f64) -> u64 {
    share.round() as u64
}
