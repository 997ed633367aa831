//! The data of a run with picosecond resolution.

use super::pack::Packed;
use super::scene::{Scene, numbered};
use crate::analysis::critical_path::{CriticalPath, EventArc, PieceKind, TimelinePiece};
use parsim_sim::trace::events::MESSAGE;
use parsim_sim::trace::{Recording, Transfer};
use parsim_sim::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// All activities, messages and transfers of a run, with times in picoseconds, packed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Exact {
    /// The kind and the phase of activities, by number.
    labels: Vec<(String, String)>,
    /// For each rank: the number of its activities, and the length and the label of each.
    activities: Packed,
    /// The number of messages, then the messages in the order of their ends: the time since the previous end, the
    /// delay, the sender and the receiver.
    messages: Packed,
    /// The properties that transfers share: packets, gap, time, time on the link, bytes, and whether it is an
    /// acknowledgement (1).
    shapes: Vec<(u32, u64, u64, u64, u32, u8)>,
    /// The number of channels, then for each its link and its number of transfers. For each transfer: the time since
    /// the end of the previous one, its shape, the sending rank, and the vertex of its destination.
    transfers: Packed,
    /// The number of pieces of the critical path, then for each piece: its length, its sort (0 for an activity, 1 for a
    /// message, 2 for another cause), its rank, the rank from which it comes, and its label.
    path: Packed,
    /// `true` if the recording has transfers.
    has_transfers: bool,
}

/// The numbers of labels, by kind and phase.
#[derive(Default)]
struct Labels {
    list: Vec<(String, String)>,
    numbers: FxHashMap<(String, String), u64>,
}

impl Labels {
    fn number(&mut self, kind: &str, phase: &str) -> u64 {
        let label = (kind.to_owned(), phase.to_owned());
        let next = self.list.len() as u64;
        let list = &mut self.list;
        *self.numbers.entry(label).or_insert_with_key(|label| {
            list.push(label.clone());
            next
        })
    }
}

impl Exact {
    /// Creates the data of the run whose critical path is `path`.
    pub fn of(path: &CriticalPath<'_>, run: Option<&Recording>, scene: &Scene) -> Self {
        let mut labels = Labels::default();
        let mut exact = Self {
            activities: activities(path, &mut labels),
            messages: messages(path),
            path: critical(path, &mut labels),
            ..Self::default()
        };
        if let Some(run) = run.filter(|run| !run.transfers.is_empty() && scene.ends().next().is_some()) {
            exact.add_transfers(run);
        }
        Self { labels: labels.list, ..exact }
    }

    /// Returns the length of the packed data in bytes.
    pub fn bytes(&self) -> usize {
        [&self.activities, &self.messages, &self.transfers, &self.path].map(Packed::len).iter().sum()
    }

    fn add_transfers(&mut self, run: &Recording) {
        let numbers = numbered(run);
        let mut channels: BTreeMap<(usize, u32), Vec<&Transfer>> = BTreeMap::new();
        for transfer in &run.transfers {
            if let Some(link) = numbers.get(&transfer.direction()) {
                channels.entry((*link, transfer.channel)).or_default().push(transfer);
            }
        }
        let mut shapes: FxHashMap<_, u64> = FxHashMap::default();
        self.has_transfers = true;
        self.transfers.put(channels.len() as u64);
        for ((link, _), transfers) in channels {
            self.transfers.put(link as u64);
            self.transfers.put(transfers.len() as u64);
            let mut free = SimTime::START;
            for transfer in transfers {
                let next = self.shapes.len() as u64;
                let shape = *shapes.entry(shape(transfer)).or_insert_with_key(|shape| {
                    self.shapes.push(*shape);
                    next
                });
                self.transfers.put(transfer.first.since(free).ps());
                self.transfers.put(shape);
                self.transfers.put(run.events.get(transfer.event).process);
                self.transfers.put(transfer.destination);
                free = transfer.end();
            }
        }
    }
}

fn shape(transfer: &Transfer) -> (u32, u64, u64, u64, u32, u8) {
    let Transfer { packets, gap, time, on_wire, bytes, is_acknowledge, .. } = *transfer;
    (packets, gap.ps(), time.ps(), on_wire.ps(), bytes, is_acknowledge.into())
}

/// Returns the activities of each process, including waits, without gaps from time zero on.
fn activities(path: &CriticalPath<'_>, labels: &mut Labels) -> Packed {
    let events = path.events();
    let mut of_process: Vec<Vec<(SimDuration, u64)>> = vec![Vec::new(); events.processes() as usize];
    let mut add = |process: u32, length: SimDuration, label: u64| {
        let pieces = &mut of_process[process as usize];
        match pieces.last_mut() {
            Some((last, same)) if *same == label => *last += length,
            _ if length > SimDuration::ZERO => pieces.push((length, label)),
            _ => {}
        }
    };
    for TimelinePiece { event, kind, from, to, .. } in (0..events.count()).flat_map(|event| path.pieces(event)) {
        let label = events.label_of(event);
        let name = if kind == PieceKind::Gap { "waiting" } else { label.kind.as_str() };
        add(events.get(event).process, to - from, labels.number(name, &label.phase));
    }
    let mut packed = Packed::default();
    for pieces in of_process {
        packed.put(pieces.len() as u64);
        for (length, label) in pieces {
            packed.put(length.ps());
            packed.put(label);
        }
    }
    packed
}

/// A message: the time of its receipt, its delay, and the sending and the receiving rank.
type MessageRow = (SimDuration, SimDuration, u32, u32);

fn messages(path: &CriticalPath<'_>) -> Packed {
    let events = path.events();
    let mut messages: Vec<MessageRow> = Vec::new();
    for event in 0..events.count() {
        for antecedent in events.antecedents(event) {
            if events.way_of(antecedent).kind == MESSAGE && antecedent.delay > SimDuration::ZERO {
                // The message may have arrived long before the receive ends, because other causes can be later.
                let received = path.critical(antecedent.event) + antecedent.delay;
                let sender = events.sender_of(antecedent);
                messages.push((received, antecedent.delay, sender, events.get(event).process));
            }
        }
    }
    messages.sort_unstable();
    let mut packed = Packed::default();
    packed.put(messages.len() as u64);
    let mut before = SimDuration::ZERO;
    for (received, delay, from, to) in messages {
        packed.put((received - before).ps());
        packed.put(delay.ps());
        packed.put(from);
        packed.put(to);
        before = received;
    }
    packed
}

fn critical(path: &CriticalPath<'_>, labels: &mut Labels) -> Packed {
    let events = path.events();
    let mut packed = Packed::default();
    let spans: Vec<_> = path.spans().filter(|span| span.to > span.from).collect();
    packed.put(spans.len() as u64);
    for span in spans {
        let process = events.get(span.event).process;
        let label = events.label_of(span.event);
        let (sort, from, kind) = match &span.through {
            EventArc::Activity => (0_u32, process, label.kind.as_str()),
            EventArc::Antecedent(antecedent) => {
                let way = events.way_of(antecedent);
                let sort = if way.kind == MESSAGE { 1 } else { 2 };
                (sort, events.sender_of(antecedent), way.kind.as_str())
            }
        };
        packed.put((span.to - span.from).ps());
        packed.put(sort);
        packed.put(process);
        packed.put(from);
        packed.put(labels.number(kind, &label.phase));
    }
    packed
}
