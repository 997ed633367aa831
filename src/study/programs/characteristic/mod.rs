//! Characteristic programs: the loads, computations and exchanges of an application, without its actual computation.

mod application;

pub use application::{Application, Dimensionless, Growth};

use super::packets;
use crate::model::kredel::Demand;
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::program::{Message, MessagePattern, Operation, Process};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use serde::{Deserialize, Serialize};

/// Phases of load, computation and exchange, equal on all ranks.
///
/// The operations and bytes of the [`Application`] are divided into equal shares. In each of `rounds` rounds every rank
/// loads and computes `chunks` chunks, and then exchanges its share of #x / β1 with the rank on the same core of the
/// next node. The q cores of a node thus send q #x / β1 over their interface, which is what the model charges. On a
/// single node, which has no partner, the bytes leave the node nevertheless, because the model charges them.
///
/// Loads take time if the cores of a node share a memory, exchanges if they share an interface. The program reports
/// `operations`, the operations #op of all ranks together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Characteristic {
    /// The application, which determines loads, computations and exchanges.
    pub application: Application,
    /// The problem size.
    pub n: u64,
    /// The synchronisation of the cores.
    pub mode: Mode,
    /// Number of exchanges. 1 by default.
    #[serde(default = "once")]
    pub rounds: u32,
    /// Number of chunks in a round. 1 by default.
    #[serde(default = "once")]
    pub chunks: u32,
}

/// The synchronisation between cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Mode {
    /// The cores of a node synchronise after every chunk, and all cores before and after every exchange.
    BulkSynchronous,
    /// Cores do not synchronise, except by the exchanged messages.
    FreeRunning,
    /// All cores synchronise before and after every exchange. The next chunk is loaded while one is computed (double
    /// buffering).
    Overlapped,
}

const fn once() -> u32 {
    1
}

impl Characteristic {
    /// Returns the demand of the whole problem on `nodes` nodes whose cores do `balance` operations per byte of memory.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a problem is far smaller than 2^53")]
    pub fn demand(&self, nodes: f64, balance: f64) -> Demand {
        self.application.demand(self.n as f64, nodes, balance)
    }

    /// Returns the number of bytes that a rank exchanges in a round: its share of #x / β1.
    #[must_use]
    pub fn exchanged_bytes(&self, nodes: f64, balance: f64) -> f64 {
        let exchanged = self.demand(nodes, balance).exchanged_bytes;
        exchanged / self.application.beta1(nodes) / f64::from(self.rounds)
    }
}

impl Program for Characteristic {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(characteristic(process, self.clone()))
    }

    fn faults(&self, _ranks: u32) -> Vec<Fault> {
        let counts = [("n", self.n), ("rounds", self.rounds.into()), ("chunks", self.chunks.into())];
        let empty = counts.into_iter().filter(|(_, count)| *count == 0);
        let fault = |(path, _)| Fault::new(path, "nothing would be computed".to_owned(), "give a number from 1 on");
        let mut faults: Vec<_> = empty.map(fault).collect();
        if let Application::Dimensionless(Dimensionless { x, c, .. }) = &self.application {
            let positive = |number: f64| number.is_finite() && number > 0.0;
            let given = [("application.x", positive(*x)), ("application.c", c.is_none_or(positive))];
            let wrong = given.into_iter().filter(|(_, good)| !good);
            faults.extend(wrong.map(|(path, _)| {
                Fault::new(path, "this is not a positive number".to_owned(), "give a number above 0")
            }));
        }
        faults
    }

    /// Requires the same number of ranks on every node, because a rank exchanges with the same core of the next node.
    fn machine_faults(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let per_node = layout.most_ranks_on_a_node();
        let is_apart = |rank: &u32| layout.node(*rank) != layout.node(rank - rank % per_node);
        let stray = (0..layout.ranks()).find(is_apart);
        let mut faults = Vec::new();
        if stray.is_some() || !layout.ranks().is_multiple_of(per_node) {
            let whose = stray.map_or_else(
                || format!("{} ranks are no multiple of {per_node}", layout.ranks()),
                |rank| format!("rank {rank} is not on the node of rank {}", rank - rank % per_node),
            );
            let message =
                format!("the program needs equally many ranks on every node, one node after the other: {whose}");
            faults.push(Fault::new(
                "placement",
                message,
                "give `Packed(ranks_per_node: …)` and a multiple of it as ranks",
            ));
        }
        if matches!(self.application, Application::Dimensionless(_)) && machine.nodes.balance().is_none() {
            let message = "the program needs cores with a rate of operations that share a memory";
            let help = "give `processor: FlopRate(…)` and a level with a shared `memory`";
            faults.push(Fault::new("machine.nodes", message, help));
        }
        faults
    }

    fn phases(&self) -> &'static [Phase] {
        &[LOAD, COMPUTE, EXCHANGE]
    }

    /// Counts a load and a computation for every chunk.
    fn jobs(&self, ranks: u32) -> f64 {
        2.0 * f64::from(self.rounds) * f64::from(self.chunks) * f64::from(ranks)
    }

    /// Counts the packets of every exchange as if each rank had a node, and a dimensionless application the balance 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a forecast; larger values saturate")]
    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let bytes = self.exchanged_bytes(f64::from(ranks), 1.0).round() as u64;
        packets(f64::from(ranks) * f64::from(self.rounds), bytes, packet_bytes)
    }
}

const LOAD: Phase = "load";
const COMPUTE: Phase = "compute";
const EXCHANGE: Phase = "exchange";

/// The share of one rank in the work.
struct RankShare {
    chunk_bytes: f64,
    chunk_operations: f64,
    exchanged_bytes: f64,
}

async fn characteristic(me: Process, program: Characteristic) {
    let per_node = me.ranks_per_node();
    // Only dimensionless applications depend on the balance, and their check guarantees that there is one.
    let balance = me.balance().unwrap_or(1.0);
    let nodes = f64::from(me.ranks() / per_node);
    let demand = program.demand(nodes, balance);
    let chunks = f64::from(me.ranks()) * f64::from(program.rounds) * f64::from(program.chunks);
    let share = RankShare {
        chunk_bytes: demand.bytes / chunks,
        chunk_operations: demand.operations / chunks,
        exchanged_bytes: program.exchanged_bytes(nodes, balance),
    };
    for _ in 0..program.rounds {
        match program.mode {
            Mode::Overlapped => prefetched(&me, &share, program.chunks).await,
            mode => one_by_one(&me, &share, program.chunks, mode == Mode::BulkSynchronous).await,
        }
        me.phase(EXCHANGE);
        if program.mode == Mode::FreeRunning {
            exchange(&me, &share, per_node).await;
        } else {
            me.barrier().await;
            exchange(&me, &share, per_node).await;
            me.barrier().await;
        }
    }
    if me.rank() == me.host() {
        me.report("operations", demand.operations);
    }
}

/// Loads and computes the chunks one after another.
async fn one_by_one(me: &Process, share: &RankShare, chunks: u32, together: bool) {
    for _ in 0..chunks {
        me.phase(LOAD);
        me.load(share.chunk_bytes).await;
        me.phase(COMPUTE);
        me.operate(share.chunk_operations).await;
        if together {
            me.node_barrier().await;
        }
    }
}

/// Loads each chunk while the chunk before it is computed.
async fn prefetched(me: &Process, share: &RankShare, chunks: u32) {
    me.phase(LOAD);
    let mut loading: Option<Operation> = Some(me.start_load(share.chunk_bytes).await);
    for chunk in 1..=chunks {
        me.phase(LOAD);
        if let Some(loading) = loading.take() {
            me.wait(loading).await;
        }
        if chunk < chunks {
            loading = Some(me.start_load(share.chunk_bytes).await);
        }
        me.phase(COMPUTE);
        me.operate(share.chunk_operations).await;
    }
}

/// Sends to the same core of the next node, and receives from the same core of the previous one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a message is a whole number of bytes")]
async fn exchange(me: &Process, share: &RankShare, per_node: u32) {
    if share.exchanged_bytes <= 0.0 {
        return;
    }
    if me.ranks() == per_node {
        return me.leave_node(share.exchanged_bytes).await;
    }
    let (rank, ranks) = (me.rank(), me.ranks());
    let bytes = share.exchanged_bytes.round() as u64;
    let sending = me.start_send((rank + per_node) % ranks, Message::new(bytes)).await;
    me.receive_where(MessagePattern { from: Some((rank + ranks - per_node) % ranks), tag: None }).await;
    me.wait(sending).await;
}
