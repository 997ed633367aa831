//! What the stage tells about the ranks, made into the entries of a diary.

use crate::machine::Machine;
use crate::node::processor::Stopwatch;
use crate::node::{Host, Work};
use crate::program::{Answer, Verb};
use crate::trace::{Activity, Diary, Doing, Entry, Loop, Service};

/// Keeps a diary while a run is played.
pub struct Scribe {
    entries: Vec<Entry>,
    /// What the process of each rank has asked for.
    doing: Vec<Doing>,
    stopwatch: Stopwatch,
    host: Host,
}

impl Scribe {
    pub fn new(machine: &Machine, ranks: u32) -> Self {
        Self {
            entries: Vec::new(),
            doing: vec![Doing::Else; ranks as usize],
            stopwatch: Stopwatch::new(&machine.nodes.processor),
            host: machine.host.clone(),
        }
    }

    /// A process asks for something.
    pub fn asked(&mut self, rank: u32, verb: &Verb) {
        self.doing[rank as usize] = match verb {
            Verb::Compute(work) => Doing::Computing { loops: self.loops(*work) },
            Verb::Operate(operations) => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "they are counted")]
                let count = operations.round() as u64;
                let time = self.stopwatch.operations_time(*operations);
                Doing::Computing { loops: [time.ok().map(|time| ("operations", count, time)), None] }
            }
            Verb::Send(to, message) => Doing::Sending { to: *to, bytes: message.bytes },
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
