//! A parallel discrete-event simulation as a program: the continuous-time Ising spin system, after Overeinder and
//! Sloot, "Parallel Performance Evaluation through Critical Path Analysis", HPCN Europe 1995.

mod courier;
mod events;
mod lattice;
mod null_messages;
mod rank;
mod results;
#[cfg(test)]
mod tests;
mod time_warp;
mod wire;

use super::real;
use parsim_sim::fault::Fault;
use parsim_sim::node::{Module, Work};
use parsim_sim::program::Blocks;
use parsim_sim::program::Numerics;
use parsim_sim::program::{Message, MessagePattern, Process};
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use parsim_sim::units::{Bytes, SimDuration};
use rank::Rank;
use results::Results;
use serde::{Deserialize, Serialize};

/// Spins on a periodic square lattice, flipped one by one in continuous time (Metropolis), in parallel.
///
/// The lattice is cut into sub-lattices, one for each logical process, on a periodic grid as square as possible. A
/// spin that flips on a boundary is sent to the logical process on the other side. Ranks may hold several logical
/// processes, so that the same simulation runs on one rank as well. Every attempt to flip a spin draws its random
/// numbers by its own position, so the spins at the end are the same under every protocol and on any number of ranks.
///
/// It reports:
///
/// | outcome | is |
/// | --- | --- |
/// | `average_parallelism` | all work over the critical path: attempts take one unit, messages none; with the initialisation |
/// | `average_parallelism_flips` | the same, where only flips take time; without the initialisation |
/// | `critical_path_attempts`, `critical_path_flips` | the lengths of those paths |
/// | `attempts`, `flips` | those that were committed |
/// | `messages_per_flip` | updates of shadow boundaries for each of these flips, 4/n on average |
/// | `rollbacks`, `undone_events`, `anti_messages`, `executed_attempts` | what Time Warp did |
/// | `null_messages`, `gvt_rounds` | what the protocols cost in messages and synchronisation |
/// | `energy`, `magnetisation` | means per site, over virtual time from `warm_up` on; the energy over kT |
/// | `spins_unlike_sequential` | sites whose spin differs from the sequential simulation's at the end: 0 |
/// | `processes_unlike_sequential` | logical processes of which anything differs: spins, counts, sums, critical times: 0 |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ising {
    /// The number of sites along each side of a sub-lattice.
    pub sub_lattice: u32,
    /// The number of logical processes.
    pub processes: u32,
    /// The exchange energy J over the thermal energy kT.
    pub exchange: f64,
    /// The magnetic field B over kT; none unless given.
    #[serde(default)]
    pub field: f64,
    /// Mean number of attempts for each spin of a logical process: the length of the simulation.
    pub attempts: u32,
    /// Attempts for each spin before energy and magnetisation are observed; none unless given.
    #[serde(default)]
    pub warm_up: u32,
    /// The work of rank 0 before all others can begin, in attempts; none unless given.
    #[serde(default)]
    pub initialisation: u32,
    /// The synchronisation protocol.
    pub synchronisation: Synchronisation,
    /// The costs of the work.
    pub costs: Costs,
}

/// Protocol that keeps the order of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Synchronisation {
    /// One rank processes all events in their order.
    Sequential,
    /// Chandy, Misra and Bryant: events are processed when they are safe; null messages say when.
    NullMessages,
    /// Jefferson: events are processed at once and undone if they were too early.
    TimeWarp {
        /// The way of saving the state.
        saving: StateSaving,
        /// After how much time rank 0, unless it is idle, computes the global virtual time again.
        gvt_every: SimDuration,
    },
}

/// Way of saving the state before an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum StateSaving {
    /// The whole sub-lattice with its shadow boundaries is copied.
    Copy,
    /// Only what the event changes: one site.
    Incremental,
}

/// Costs of the work: floating-point operations (iterations of the module `Flop`), and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Operations of an attempt to flip a spin: random numbers, energy, event list.
    pub attempt: u32,
    /// Operations of the update of a shadow boundary.
    pub update: u32,
    /// Operations of putting any message together, beside what the machine's software costs.
    pub send: u32,
    /// Operations of taking any message in, beside what the machine's software costs.
    pub receive: u32,
    /// Operations of a rollback; restoring the state comes on top.
    pub rollback: u32,
    /// Operations of each event undone.
    pub undo: u32,
    /// The memory of a site: what a copy of the state moves, element by element (module `Buf`).
    pub site: Bytes,
    /// The length of a message.
    pub message: Bytes,
}

impl Ising {
    /// Returns the way of saving the state, if it is saved.
    const fn saving(&self) -> Option<StateSaving> {
        match self.synchronisation {
            Synchronisation::TimeWarp { saving, .. } => Some(saving),
            Synchronisation::Sequential | Synchronisation::NullMessages => None,
        }
    }

    /// The sites of a sub-lattice.
    const fn sites(&self) -> u64 {
        self.sub_lattice as u64 * self.sub_lattice as u64
    }

    /// The memory of the state of a logical process.
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
                faults.push(Fault::new(path, format!("{value} is no energy"), "give a finite number"));
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

    /// The spins are sent out and collected as numbers; of every attempt, the flip and its critical time are kept.
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

    /// Every attempt is computed, mostly more than once.
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
                let message = "the global virtual time would be computed all the time".to_owned();
                faults.push(Fault::new("synchronisation.gvt_every", message, "give a time above 0"));
            }
            _ => {}
        }
        faults
    }

    /// The sub-lattices; how many states are saved at a time is known only when it has run.
    fn memory(&self, rank: u32, ranks: u32, _host: u32) -> Bytes {
        let held = Blocks::new(u64::from(self.processes), ranks).count(rank);
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

/// The tag of a beginning, as against the messages of the simulation, which may overtake its many packets.
const BEGINNING: u32 = 0;

/// Rank 0 does the initialisation and sends every other rank its sub-lattices with their boundaries.
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
        let held = Blocks::new(u64::from(program.processes), me.ranks()).count(rank);
        me.send(rank, Message::new(held * program.state_bytes()).tag(BEGINNING)).await;
    }
}
