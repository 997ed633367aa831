//! A shift around a ring: the textbook deadlock, and its remedies.

use super::{at_least_one, packets};
use parsim_sim::fault::Fault;
use parsim_sim::program::{Message, Process};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::Bytes;
use serde::{Deserialize, Serialize};

/// A shift around a ring: every rank passes a message to the next one, `rounds` times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingShift {
    /// The length of each message.
    pub bytes: Bytes,
    /// Number of rounds.
    pub rounds: u32,
    /// The order of send and receive on a rank.
    pub order: ShiftOrder,
}

/// The order of send and receive on the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum ShiftOrder {
    /// All ranks send first: a deadlock if a send waits for its receive to be posted.
    SendFirst,
    /// All ranks receive first: always a deadlock.
    ReceiveFirst,
    /// Even ranks send first, odd ranks receive first.
    EvenSendFirst,
    /// Send and receive proceed concurrently.
    Concurrent,
}

impl Program for RingShift {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(shift(process, self.clone()))
    }

    fn faults(&self, _ranks: u32) -> Vec<Fault> {
        at_least_one("rounds", self.rounds.into())
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        packets(f64::from(ranks) * f64::from(self.rounds), self.bytes.count(), packet_bytes)
    }

    fn jobs(&self, _ranks: u32) -> f64 {
        0.0
    }

    fn phases(&self) -> &'static [Phase] {
        &["shift"]
    }

    fn memory(&self, _rank: u32, _ranks: u32, _host: u32) -> Bytes {
        Bytes::new(self.bytes.count().saturating_mul(2))
    }
}

async fn shift(me: Process, ring: RingShift) {
    me.phase("shift");
    let next = (me.rank() + 1) % me.ranks();
    let previous = (me.rank() + me.ranks() - 1) % me.ranks();
    for _ in 0..ring.rounds {
        let message = Message::new(ring.bytes.count());
        let send_first = match ring.order {
            ShiftOrder::SendFirst => true,
            ShiftOrder::ReceiveFirst => false,
            ShiftOrder::EvenSendFirst => me.rank().is_multiple_of(2),
            ShiftOrder::Concurrent => {
                let sending = me.start_send(next, message).await;
                me.receive(previous).await;
                me.wait(sending).await;
                continue;
            }
        };
        if send_first {
            me.send(next, message).await;
            me.receive(previous).await;
        } else {
            me.receive(previous).await;
            me.send(next, message).await;
        }
    }
}
