//! A parallel discrete-event simulation as a program: the continuous-time Ising spin system, after Overeinder and
//! Sloot, "Parallel Performance Evaluation through Critical Path Analysis", HPCN Europe 1995.

mod events;
mod lattice;
mod messenger;
mod null_messages;
mod rank;
mod results;
#[cfg(test)]
mod tests;
mod time_warp;
mod wire;

use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockPartition;
use parsim_sim::program::Numerics;
use parsim_sim::program::{Message, MessagePattern, Process};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, SimDuration, real};
use rank::Rank;
use results::Results;
use serde::{Deserialize, Serialize};

/// A parallel simulation of spins on a periodic square lattice that are flipped one by one in continuous time
/// (Metropolis).
///
/// The lattice is divided into sub-lattices, one for each logical process, on a periodic grid that is as square as
/// possible. A flip of a spin on a boundary is sent to the logical process on the other side. Ranks may hold several
/// logical processes, so the same simulation also runs on one rank. The random numbers of every attempt to flip a spin
/// are determined by the position of the attempt, so the final spins are the same under every protocol and on any
/// number of ranks.
///
/// The program reports:
///
/// | outcome | is |
/// | --- | --- |
/// | `average_parallelism` | total work over the critical path; attempts take one unit, messages none; with initialisation |
/// | `average_parallelism_flips` | the same, where only flips take time; without initialisation |
/// | `critical_path_attempts`, `critical_path_flips` | the lengths of these critical paths |
/// | `attempts`, `flips` | the committed attempts and flips |
/// | `messages_per_flip` | updates of shadow boundaries per committed flip, 4/n on average |
/// | `rollbacks`, `undone_events`, `anti_messages`, `executed_attempts` | counters of Time Warp |
/// | `null_messages`, `gvt_rounds` | messages and synchronisation of the protocols |
/// | `energy`, `magnetisation` | means per site over virtual time from `warm_up` on; the energy is divided by kT |
/// | `spins_unlike_sequential` | sites whose final spin differs from that of the sequential simulation: 0 |
/// | `processes_unlike_sequential` | logical processes with a difference in spins, counts, sums or critical times: 0 |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ising {
    /// Number of sites along each side of a sub-lattice.
    pub sub_lattice: u32,
    /// Number of logical processes.
    pub processes: u32,
    /// The exchange energy J over the thermal energy kT.
    pub exchange: f64,
    /// The magnetic field B over kT. 0 by default.
    #[serde(default)]
    pub field: f64,
    /// Mean number of attempts of a logical process, on all its spins together, which determines the length of the
    /// simulation.
    pub attempts: u32,
    /// Mean number of attempts of a logical process before energy and magnetisation are observed. 0 by default.
    #[serde(default)]
    pub warm_up: u32,
    /// Work of rank 0 before all other ranks can begin, in attempts. 0 by default.
    #[serde(default)]
    pub initialisation: u32,
    /// The synchronisation protocol.
    pub synchronisation: Synchronisation,
    /// The costs of the work.
    pub costs: Costs,
}

/// The protocol that keeps events in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Synchronisation {
    /// One rank processes all events in order.
    Sequential,
    /// The conservative protocol of Chandy, Misra and Bryant: events are processed when they are safe, which null
    /// messages announce.
    NullMessages,
    /// The optimistic protocol of Jefferson: events are processed at once and undone if they turn out to be premature.
    TimeWarp {
        /// The method of saving the state.
        saving: StateSaving,
        /// The time after which rank 0, unless it is idle, computes the global virtual time again.
        gvt_every: SimDuration,
    },
}

/// The method of saving the state before an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum StateSaving {
    /// The whole sub-lattice with its shadow boundaries is copied.
    Copy,
    /// Only the part that the event changes is saved: one site.
    Incremental,
}

/// Costs of the work, in floating-point operations (iterations of the module `Flop`) and in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Operations of an attempt to flip a spin: random numbers, energy and event list.
    pub attempt: u32,
    /// Operations of an update of a shadow boundary.
    pub update: u32,
    /// Operations for assembling a message, in addition to the costs of the machine's software.
    pub send: u32,
    /// Operations for processing a received message, in addition to the costs of the machine's software.
    pub receive: u32,
    /// Operations of a rollback, in addition to restoring the state.
    pub rollback: u32,
    /// Operations for each undone event.
    pub undo: u32,
    /// Memory of a site, which a copy of the state moves element by element (module `Buf`).
    pub site: Bytes,
    /// Length of a message.
    pub message: Bytes,
}

impl Ising {
    /// Returns the method of saving the state, or `None` if the state is not saved.
    const fn saving(&self) -> Option<StateSaving> {
        match self.synchronisation {
            Synchronisation::TimeWarp { saving, .. } => Some(saving),
            Synchronisation::Sequential | Synchronisation::NullMessages => None,
        }
    }

    /// Returns the number of sites of a sub-lattice.
    const fn sites(&self) -> u64 {
        self.sub_lattice as u64 * self.sub_lattice as u64
    }

    /// Returns the size of the state of a logical process, in bytes.
    const fn state_bytes(&self) -> u64 {
        (self.sites() + 4 * self.sub_lattice as u64).saturating_mul(self.costs.site.count())
    }

    fn number_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (path, value) in
            [("sub_lattice", self.sub_lattice), ("processes", self.processes), ("attempts", self.attempts)]
        {
            if value == 0 {
                faults.push(Fault::new(path, "nothing would be simulated".to_owned(), "give a number from 1 on"));
            }
        }
        for (path, value) in [("exchange", self.exchange), ("field", self.field)] {
            if !value.is_finite() {
                faults.push(Fault::new(path, format!("{value} is not an energy"), "give a finite number"));
            }
        }
        if self.warm_up >= self.attempts {
            let message = "nothing would be observed".to_owned();
            faults.push(Fault::new("warm_up", message, "give fewer attempts than the simulation has"));
        }
        faults
    }
}

impl Program for Ising {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(run(process, self.clone()))
    }

    fn phases(&self) -> &'static [Phase] {
        &["setup", "simulation", "results"]
    }

    /// Accounts for the distribution and collection of the spins as numbers, and for the flip and the critical time of
    /// every attempt.
    fn numerics(&self, _ranks: u32) -> Numerics {
        const OF_A_SITE: f64 = 17.0;
        const OF_A_PROCESS: f64 = 400.0;
        const OF_AN_ATTEMPT: f64 = 45.0;
        const OPERATIONS_OF_AN_ATTEMPT: f64 = 300.0;
        let (processes, sites) = (f64::from(self.processes), real(self.sites()));
        let attempts = f64::from(self.attempts) * processes;
        Numerics {
            bytes: processes * (OF_A_PROCESS + OF_A_SITE * sites) + OF_AN_ATTEMPT * attempts,
            operations: OPERATIONS_OF_AN_ATTEMPT * attempts + processes * sites,
        }
    }

    /// Counts every attempt twice, because most are computed more than once.
    fn jobs(&self, _ranks: u32) -> f64 {
        2.0 * f64::from(self.attempts) * f64::from(self.processes)
    }

    fn packet_hops(&self, ranks: u32, _packet_bytes: u64) -> f64 {
        let flips = f64::from(self.attempts) * f64::from(self.processes);
        if ranks == 1 { 0.0 } else { 4.0 * flips / f64::from(self.sub_lattice.max(1)) }
    }

    fn faults(&self, ranks: u32) -> Vec<Fault> {
        let mut faults = self.number_faults();
        if ranks > self.processes {
            let message = format!("{} logical processes cannot be spread over {ranks} ranks", self.processes);
            faults.push(Fault::new("processes", message, "give at least one logical process for each rank"));
        }
        match self.synchronisation {
            Synchronisation::Sequential if ranks > 1 => {
                let message = format!("a sequential simulation runs on one rank, not on {ranks}");
                faults.push(Fault::new("synchronisation", message, "set ranks to 1, or take a parallel protocol"));
            }
            Synchronisation::TimeWarp { gvt_every: SimDuration::ZERO, .. } => {
                let message = "the global virtual time would be computed continuously".to_owned();
                faults.push(Fault::new("synchronisation.gvt_every", message, "give a time above 0"));
            }
            _ => {}
        }
        faults
    }

    /// Returns the memory of the sub-lattices. The number of states that are saved at once is not known in advance.
    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        let held = BlockPartition::new(u64::from(self.processes), ranks).count(rank);
        Bytes::new(held.saturating_mul(self.state_bytes()))
    }
}

async fn run(me: Process, program: Ising) {
    me.phase("setup");
    set_up(&me, &program).await;
    me.phase("simulation");
    let mut rank = Rank::new(&me, &program);
    match program.synchronisation {
        Synchronisation::TimeWarp { gvt_every, .. } => time_warp::simulate(&mut rank, gvt_every).await,
        Synchronisation::Sequential | Synchronisation::NullMessages => null_messages::simulate(&mut rank).await,
    }
    me.phase("results");
    if let Some(results) = Results::of(rank).await.gather(&me, &program).await {
        results.report(&me, &program);
    }
}

/// The tag of the initial state, which distinguishes it from messages of the simulation that may overtake its packets.
const BEGINNING: u32 = 0;

/// Performs the initialisation on rank 0, and sends every other rank its sub-lattices with their boundaries.
async fn set_up(me: &Process, program: &Ising) {
    if me.rank() != 0 {
        me.receive_where(MessagePattern { from: Some(0), tag: Some(BEGINNING) }).await;
        return;
    }
    if program.initialisation > 0 && program.costs.attempt > 0 {
        let attempt = Work::new(Module::Flop, u64::from(program.costs.attempt));
        me.compute(attempt.rows(u64::from(program.initialisation))).await;
    }
    for rank in 1..me.ranks() {
        let held = BlockPartition::new(u64::from(program.processes), me.ranks()).count(rank);
        me.send(rank, Message::new(held * program.state_bytes()).tag(BEGINNING)).await;
    }
}
