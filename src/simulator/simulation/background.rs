//! Background traffic during a run: messages that no process sends or receives.

use crate::engine::{Streams, unit_of_53_bits};
use crate::machine::{BACKGROUND_HANDLES, Completion, MessageId, OutgoingMessage, RankLocation, Transport};
use crate::program::BackgroundTraffic;
use crate::trace::BackgroundCounts;
use crate::units::{SimDuration, SimTime};
use rand_chacha::ChaCha8Rng;

/// The first handle and receive number of background traffic; lower numbers belong to processes.
const FIRST: u32 = BACKGROUND_HANDLES;

/// The sources of background traffic, and the state of the program that they depend on.
pub struct Background<'s> {
    description: &'s BackgroundTraffic,
    sources: Vec<BackgroundSource>,
    /// The owner, in the transport, of the timer of the first source.
    first_owner: u32,
    /// Sources that are suspended until the program makes progress.
    silent: Vec<u32>,
    /// The messages and loads of the program that are in flight.
    under_way: u64,
    counts: BackgroundCounts,
}

struct BackgroundSource {
    node: u32,
    dice: ChaCha8Rng,
}

/// A completion that concerns background traffic only.
pub enum BackgroundCompletion {
    /// A source's next message is due.
    Due(u32),
    /// A message has arrived or has been announced.
    Arrived(MessageId),
    /// The end of an operation, which requires no action.
    Nothing,
}

impl<'s> Background<'s> {
    /// Creates the sources on `nodes` nodes next to `ranks` ranks.
    pub fn new(description: &'s BackgroundTraffic, nodes: u32, ranks: u32, streams: Streams) -> Self {
        let source = |node: u32| BackgroundSource { node, dice: streams.stream("background", node.into()) };
        Self {
            sources: description.participants(nodes).into_iter().map(source).collect(),
            description,
            first_owner: ranks,
            silent: Vec::new(),
            under_way: 0,
            counts: BackgroundCounts::default(),
        }
    }

    /// Returns the number of timers, one for each source.
    pub fn owners(&self) -> u32 {
        u32::try_from(self.sources.len()).expect("nodes are counted in 32 bits")
    }

    pub const fn counts(&self) -> BackgroundCounts {
        self.counts
    }

    /// Schedules the first message of every source.
    pub fn begin(&mut self, transport: &mut Transport, now: SimTime) {
        (0..self.owners()).for_each(|source| self.wait(transport, now, source));
    }

    fn wait(&mut self, transport: &mut Transport, now: SimTime, source: u32) {
        // 1 − u is never zero, so its logarithm is finite and never positive.
        let log = (1.0 - unit_of_53_bits(&mut self.sources[source as usize].dice)).ln();
        transport.wait(now, self.first_owner + source, self.description.interval().scaled(-log));
    }

    /// Returns the completion as one of background traffic, or `None` if it belongs to the program.
    pub const fn classify(&self, completion: Completion) -> Option<BackgroundCompletion> {
        Some(match completion {
            Completion::TimerExpired { owner } if owner >= self.first_owner => {
                BackgroundCompletion::Due(owner - self.first_owner)
            }
            Completion::Delivered { message, handle } | Completion::Announced { message, handle }
                if handle >= FIRST =>
            {
                BackgroundCompletion::Arrived(message)
            }
            Completion::Sent { handle } if handle >= FIRST => BackgroundCompletion::Nothing,
            Completion::Arrived { receive } if receive >= FIRST => BackgroundCompletion::Nothing,
            _ => return None,
        })
    }

    /// Sends the next message of a source and schedules the one after it, a random interval later.
    pub fn send(&mut self, transport: &mut Transport, now: SimTime, source: u32) {
        let (count, bytes) = (self.owners(), self.description.bytes.count());
        let BackgroundSource { node, dice } = &mut self.sources[source as usize];
        let (from, to) = (*node, self.description.pattern.destination(source, count, dice));
        self.wait(transport, now, source);
        if to == source {
            return;
        }
        let location = |node| RankLocation { node, core: 0 };
        let locations = (location(from), location(self.sources[to as usize].node));
        self.counts.messages += 1;
        self.counts.bytes += bytes;
        let message = OutgoingMessage { bytes, again: false, handle: FIRST + source, cause: 0 };
        transport.send(now, locations, message);
    }

    /// Receives a message that has arrived.
    pub fn receive(transport: &mut Transport, now: SimTime, message: MessageId) {
        transport.accept(now, message, FIRST);
    }

    /// Returns whether no message or load of the program is in flight.
    pub const fn is_alone(&self) -> bool {
        self.under_way == 0
    }

    /// Suspends a source until the program makes progress.
    pub fn suspend(&mut self, source: u32) {
        self.silent.push(source);
    }

    /// Counts a message or load that the program has started.
    pub const fn count_program_operation(&mut self) {
        self.under_way += 1;
    }

    /// Handles a completion of the program: suspended sources send immediately.
    pub fn program_progressed(&mut self, transport: &mut Transport, now: SimTime, completion: Completion) {
        use Completion::{Announced, Arrived, BytesMoved, Delivered};
        if let Delivered { .. } | Announced { .. } | Arrived { .. } | BytesMoved { .. } = completion {
            self.under_way = self.under_way.saturating_sub(1);
        }
        for source in std::mem::take(&mut self.silent) {
            transport.wait(now, self.first_owner + source, SimDuration::ZERO);
        }
    }
}
