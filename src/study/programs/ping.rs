//! A single message.

use super::{mean_distance, packets};
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::program::{InFlight, Message, Process};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::Bytes;
use serde::{Deserialize, Serialize};

/// A single message from rank 0 to rank 1. The program reports `message_s`, the time until rank 1 has received the
/// message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// The length of the message.
    pub bytes: Bytes,
}

impl Program for Ping {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(ping(process, self.bytes.count()))
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        packets(1.0, self.bytes.count(), packet_bytes) * mean_distance(ranks)
    }

    fn in_flight(&self, _ranks: u32) -> InFlight {
        InFlight { messages: 1.0, bytes: self.bytes.count() }
    }

    fn jobs(&self, _ranks: u32) -> f64 {
        0.0
    }

    fn phases(&self) -> &'static [Phase] {
        &["transfer"]
    }

    fn machine_faults(&self, _machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let fault = || Fault::new("ranks", "a ping needs two ranks", "give a number from 2 on");
        (layout.ranks() < 2).then(fault).into_iter().collect()
    }

    fn memory(&self, _rank: u32, _ranks: u32, _host: u32) -> Bytes {
        self.bytes
    }
}

async fn ping(me: Process, bytes: u64) {
    let start = me.now();
    me.phase("transfer");
    match me.rank() {
        0 => me.send(1, Message::new(bytes)).await,
        1 => {
            me.receive(0).await;
            me.report("message_s", me.elapsed(start).seconds());
        }
        _ => {}
    }
}
