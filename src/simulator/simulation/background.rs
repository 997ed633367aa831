//! Background traffic at work: messages that no process sends or receives.

use crate::engine::Streams;
use crate::machine::{BACKGROUND_HANDLES, Completion, MessageId, Seat, Transport};
use crate::network::traffic::unit;
use crate::program::BackgroundTraffic;
use crate::trace::BackgroundCounts;
use crate::units::{SimDuration, SimTime};
use rand_chacha::ChaCha8Rng;

/// Handles and receives from this number on belong to no process.
const FIRST: u32 = BACKGROUND_HANDLES;

/// The sources of background traffic, and what they have to know of the program.
pub struct Background<'s> {
    description: &'s BackgroundTraffic,
    sources: Vec<BackgroundSource>,
    /// The owner, at the transport, of the timer of the first source.
    first_owner: u32,
    /// Sources that send nothing until the program goes on.
    silent: Vec<u32>,
    /// Messages and loads of the program that are under way.
    under_way: u64,
    counts: BackgroundCounts,
}

struct BackgroundSource {
    node: u32,
    dice: ChaCha8Rng,
}

/// Something that concerns background traffic alone.
pub enum OwnCompletion {
    /// It is time for the next message of a source.
    Due(u32),
    /// A message has come, or has been announced.
    Came(MessageId),
    /// An end that nobody waits for.
    Nothing,
}

impl<'s> Background<'s> {
    /// Sources on `nodes` nodes beside `ranks` ranks.
    pub fn new(description: &'s BackgroundTraffic, nodes: u32, ranks: u32, streams: Streams) -> Self {
        let source = |node: u32| BackgroundSource { node, dice: streams.stream("background", node.into()) };
        Self {
            sources: description.taking_part(nodes).into_iter().map(source).collect(),
            description,
            first_owner: ranks,
            silent: Vec::new(),
            under_way: 0,
            counts: BackgroundCounts::default(),
        }
    }

    /// The number of its timers.
    pub fn owners(&self) -> u32 {
        u32::try_from(self.sources.len()).expect("nodes are counted in 32 bits")
    }

    pub const fn counts(&self) -> BackgroundCounts {
        self.counts
    }

    /// All sources wait for the time of their first messages.
    pub fn begin(&mut self, transport: &mut Transport, now: SimTime) {
        (0..self.owners()).for_each(|source| self.wait(transport, now, source));
    }

    fn wait(&mut self, transport: &mut Transport, now: SimTime, source: u32) {
        // 1 − u is never zero, its logarithm never positive.
        let log = (1.0 - unit(&mut self.sources[source as usize].dice)).ln();
        transport.wait(now, self.first_owner + source, self.description.interval().scaled(-log));
    }

    /// The completion as one of the background's own, if it is none of the program's.
    pub const fn own(&self, completion: Completion) -> Option<OwnCompletion> {
        Some(match completion {
            Completion::TimeUp { owner } if owner >= self.first_owner => OwnCompletion::Due(owner - self.first_owner),
            Completion::Delivered { message, handle } | Completion::Announced { message, handle }
                if handle >= FIRST =>
            {
                OwnCompletion::Came(message)
            }
            Completion::Sent { handle } if handle >= FIRST => OwnCompletion::Nothing,
            Completion::Arrived { receive } if receive >= FIRST => OwnCompletion::Nothing,
            _ => return None,
        })
    }

    /// A source sends its next message; the one after it follows after a random time.
    pub fn send(&mut self, transport: &mut Transport, now: SimTime, source: u32) {
        let (count, bytes) = (self.owners(), self.description.bytes.count());
        let BackgroundSource { node, dice } = &mut self.sources[source as usize];
        let (from, to) = (*node, self.description.pattern.destination(source, count, dice));
        self.wait(transport, now, source);
        if to == source {
            return;
        }
        let seat = |node| Seat { node, core: 0 };
        let seats = (seat(from), seat(self.sources[to as usize].node));
        self.counts.messages += 1;
        self.counts.bytes += bytes;
        transport.send(now, seats, (bytes, false), FIRST + source, 0);
    }

    /// A message that has come is received.
    pub fn receive(transport: &mut Transport, now: SimTime, message: MessageId) {
        transport.accept(now, message, FIRST);
    }

    /// Returns whether nothing of the program is under way.
    pub const fn is_alone(&self) -> bool {
        self.under_way == 0
    }

    /// A source sends nothing until the program goes on.
    pub fn silence(&mut self, source: u32) {
        self.silent.push(source);
    }

    /// Something of the program has got under way.
    pub const fn program_begins(&mut self) {
        self.under_way += 1;
    }

    /// Something of the program is complete: silent sources send at once.
    pub fn program_goes_on(&mut self, transport: &mut Transport, now: SimTime, completion: Completion) {
        use Completion::{Announced, Arrived, Delivered, Moved};
        if let Delivered { .. } | Announced { .. } | Arrived { .. } | Moved { .. } = completion {
            self.under_way = self.under_way.saturating_sub(1);
        }
        for source in std::mem::take(&mut self.silent) {
            transport.wait(now, self.first_owner + source, SimDuration::ZERO);
        }
    }
}
