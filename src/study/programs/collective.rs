//! A single collective operation, whose duration is measured.

use super::packets;
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::node::processor::{Stopwatch, Work};
use parsim_sim::program::collective::{CollectiveOperation, LocalCosts};
use parsim_sim::program::mean_distance;
use parsim_sim::program::{InFlight, Process};
use parsim_sim::program::{Program, RankFuture, Starter};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, SimDuration};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A collective operation that all ranks begin at the same instant. The program reports `collective_s`, the time until
/// the last rank has ended the operation, averaged over the repetitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// The operation to measure.
    pub operation: CollectiveOperation,
    /// The size m of the operation; see [`CollectiveOperation`].
    pub bytes: Bytes,
    /// The rank that sends or collects. Rank 0 by default.
    #[serde(default)]
    pub root: u32,
    /// Number of repetitions. 1 by default.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// Costs of the MPI library on each node in addition to messages. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalCosts>,
}

const fn once() -> u32 {
    1
}

impl Collective {
    /// Returns a lower bound on the number of packets: a quarter of the estimate where an estimate is possible, and two
    /// events for each message that is certain, which leaves its sender and arrives at its receiver.
    pub(super) fn least_packets(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let (bytes, times) = (self.bytes.count(), f64::from(self.repetitions));
        let certain = 2.0 * times * self.operation.least_messages(ranks, bytes);
        if certain == 0.0 || self.operation.depends_on_nodes() {
            return certain;
        }
        certain.max(self.packets(ranks, packet_bytes) / 4.0)
    }

    fn packets(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let messages = self.operation.messages(ranks, self.bytes.count()) * f64::from(self.repetitions);
        packets(messages, self.operation.message_bytes(ranks, self.bytes.count()), packet_bytes)
    }
}

impl Program for Collective {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(measure(process, Rc::new(self.clone())))
    }

    fn starter(&self, _ranks: u32, _host: u32) -> Starter<'_> {
        let shared = Rc::new(self.clone());
        Box::new(move |process| Box::pin(measure(process, Rc::clone(&shared))))
    }

    fn phases(&self) -> &'static [Phase] {
        &["collective"]
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        self.packets(ranks, packet_bytes) * mean_distance(ranks)
    }

    fn jobs(&self, _ranks: u32) -> f64 {
        0.0
    }

    fn in_flight(&self, ranks: u32) -> InFlight {
        self.operation.in_flight(ranks, self.bytes.count())
    }

    fn rank_memory(&self, ranks: u32) -> f64 {
        self.operation.rank_memory(ranks)
    }

    fn memory(&self, _rank: u32, ranks: u32, _host: u32) -> Bytes {
        Bytes::new(self.operation.memory(self.bytes.count(), ranks))
    }

    fn machine_faults(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        if !self.operation.adds() || self.bytes.count() == 0 || layout.ranks() < 2 {
            return Vec::new();
        }
        let addition = Stopwatch::new(&machine.nodes.processor).rows(Work::flops(1).into());
        let fault = |error| {
            let message = format!("the operation adds numbers, which the processors cannot do: {error}");
            Fault::new(
                "machine.nodes.processor",
                message,
                "describe what an addition takes, such as FlopRate(\"1 Gflop/s\")",
            )
        };
        addition.err().map(fault).into_iter().collect()
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let fault = |path: &str, message: String, help: &str| Fault::new(path, message, help);
        let mut faults = Vec::new();
        if let Some(message) = self.operation.fault(ranks) {
            faults.push(fault("operation", message, "give another number of ranks or another algorithm"));
        }
        if self.root >= ranks {
            let message = format!("the root is rank {}, but there are {ranks} ranks", self.root);
            faults.push(fault("root", message, &format!("give a rank from 0 to {}", ranks - 1)));
        }
        if self.root != 0 && !self.operation.has_root() {
            let message = format!("{} has no root", self.operation.name());
            faults.push(fault("root", message, "leave `root` out"));
        }
        if let Some(cost) = self.local.as_ref().and_then(LocalCosts::without_effect) {
            let message = format!("`{cost}` has no effect where additions and copies are up to the machine");
            faults.push(fault(&format!("local.{cost}"), message, "give `thread_per_byte`, too, or leave it out"));
        }
        if self.repetitions == 0 {
            faults.push(fault("repetitions", "nothing would be measured".to_owned(), "give a number from 1 on"));
        }
        faults
    }
}

/// This is not an `async fn`, because that would store its arguments twice, for up to a million ranks.
#[expect(clippy::manual_async_fn, reason = "an `async fn` is larger by its arguments")]
fn measure(mut me: Process, collective: Rc<Collective>) -> impl Future<Output = ()> {
    async move {
        me.phase("collective");
        if let Some(costs) = collective.local.clone() {
            let local = collective.operation.call_costs(costs);
            me = me.with_local_costs(&Rc::new(local));
        }
        let mut total = SimDuration::ZERO;
        for _ in 0..collective.repetitions {
            me.barrier().await;
            let start = me.now();
            if let Some(call) = me.local_call() {
                me.compute_for(call).await;
            }
            collective.operation.run(&me, collective.root, collective.bytes.count(), None).await;
            me.barrier().await;
            total += me.elapsed(start);
        }
        if me.rank() == 0 {
            me.report("collective_s", total.seconds() / f64::from(collective.repetitions));
        }
    }
}
