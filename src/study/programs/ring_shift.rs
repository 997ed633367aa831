//! A shift around a ring: the textbook's deadlock, and its cures.

use super::{at_least_one, packets};
use parsim_sim::fault::Fault;
use parsim_sim::program::{Message, Process};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::Bytes;
use serde::{Deserialize, Serialize};

/// Every rank passes a message to the next one, `rounds` times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingShift {
    /// The length of each message.
    pub bytes: Bytes,
    /// Number of rounds.
    pub rounds: u32,
    /// Order of send and receive on a rank.
    pub order: ShiftOrder,
}

/// Ranks that send before they receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum ShiftOrder {
    /// Everybody: a deadlock if a send waits for the receiver to ask.
    SendFirst,
    /// Nobody: always a deadlock.
    ReceiveFirst,
    /// Even ranks send first, odd ranks receive first.
    EvenSendFirst,
    /// Send and receive proceed side by side.
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
