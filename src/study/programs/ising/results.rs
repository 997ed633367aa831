//! The results of a simulation, collected on rank 0 and compared with those of the sequential simulation.

use super::Ising;
use super::events::EventQueue;
use super::lattice::IsingModel;
use super::rank::Rank;
use super::wire::index;
use parsim_sim::program::{Message, Process};
use std::rc::Rc;

/// The tag of the results.
const TAG: u32 = 2;

/// The results of one logical process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessResults {
    scalars: [f64; SCALARS],
    spins: Vec<f64>,
    /// The critical times at the ends of the attempts.
    attempts: Vec<f64>,
}

impl ProcessResults {
    /// Returns the number of spins that differ.
    #[expect(clippy::float_cmp, reason = "spins are 1 and -1")]
    fn unlike((one, other): (&Self, &Self)) -> usize {
        one.spins.iter().zip(&other.spins).filter(|(a, b)| a != b).count()
    }
}

const SCALARS: usize = 7;

/// The results of all logical processes, in order, with the sums of the counters of all ranks.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub found: Vec<ProcessResults>,
    counters: [f64; COUNTERS],
}

const COUNTERS: usize = 6;

impl Results {
    /// Returns the results of one rank.
    #[expect(clippy::cast_precision_loss, reason = "events are counted far below 2^53")]
    pub async fn of(rank: Rank) -> Self {
        let Rank { queue, courier, null_messages, rounds, .. } = rank;
        let counts =
            [queue.rollbacks, queue.undone, queue.anti_messages, queue.executed, null_messages, u64::from(rounds)];
        courier.finish().await;
        Self { counters: counts.map(|count| count as f64), found: found(queue) }
    }

    /// Returns the results of the sequential simulation.
    fn sequential(me: &Process, program: &Ising) -> Vec<ProcessResults> {
        let model = IsingModel::of(program);
        let mut lattices = model.beginning(me.streams());
        for lattice in &mut lattices {
            lattice.tally.critical.attempts = f64::from(program.initialisation);
        }
        let mut queue = EventQueue::new(&model, 0, lattices, false);
        while queue.process_next().is_some() {}
        found(queue)
    }

    /// Collects the results of all ranks on rank 0.
    pub async fn gather(mut self, me: &Process, program: &Ising) -> Option<Self> {
        if me.rank() != 0 {
            let bytes = program.sites() * program.costs.site.count() * self.found.len() as u64;
            me.send(0, Message::new(bytes).tag(TAG).values(Some(self.encode()))).await;
            return None;
        }
        for rank in 1..me.ranks() {
            let values = me
                .receive_where(parsim_sim::program::MessagePattern { from: Some(rank), tag: Some(TAG) })
                .await
                .message
                .values;
            if let Some(values) = values {
                self.append(&values);
            }
        }
        Some(self)
    }

    fn encode(&self) -> Rc<[f64]> {
        let mut values = self.counters.to_vec();
        for one in &self.found {
            values.extend(one.scalars);
            #[expect(clippy::cast_precision_loss, reason = "attempts are counted far below 2^53")]
            values.push(one.attempts.len() as f64);
            values.extend(&one.spins);
            values.extend(&one.attempts);
        }
        Rc::from(values)
    }

    fn append(&mut self, values: &[f64]) {
        let spins = self.found[0].spins.len();
        let (counters, mut rest) = values.split_at(COUNTERS);
        for (sum, counter) in self.counters.iter_mut().zip(counters) {
            *sum += counter;
        }
        while let Some((scalars, behind)) = rest.split_first_chunk::<SCALARS>() {
            let (count, behind) = (index(behind[0]), &behind[1..]);
            let (one, behind) = behind.split_at(spins);
            let (attempts, behind) = behind.split_at(count);
            self.found.push(ProcessResults { scalars: *scalars, spins: one.to_vec(), attempts: attempts.to_vec() });
            rest = behind;
        }
    }

    /// Reports the results under the names documented for [`Ising`].
    #[expect(clippy::cast_precision_loss, reason = "a lattice has far fewer than 2^53 sites")]
    pub fn report(&self, me: &Process, program: &Ising) {
        let model = IsingModel::of(program);
        let sum = |scalar: usize| self.found.iter().map(|one| one.scalars[scalar]).sum::<f64>();
        let longest = |scalar: usize| self.found.iter().map(|one| one.scalars[scalar]).fold(0.0, f64::max);
        let [attempts, flips, messages] = [sum(ATTEMPTS), sum(FLIPS), sum(MESSAGES)];
        let [length, length_flips] = [longest(CRITICAL), longest(CRITICAL_FLIPS)];
        let work = f64::from(program.initialisation) + attempts;
        me.report("average_parallelism", work / length);
        me.report("average_parallelism_flips", flips / length_flips);
        me.report("critical_path_attempts", length);
        me.report("critical_path_flips", length_flips);
        me.report("attempts", attempts);
        me.report("flips", flips);
        me.report("messages_per_flip", messages / flips);
        let names = ["rollbacks", "undone_events", "anti_messages", "executed_attempts", "null_messages", "gvt_rounds"];
        for (name, counter) in names.into_iter().zip(self.counters) {
            me.report(name, counter);
        }
        let observed = (model.end - model.observed_from) * (program.sites() * u64::from(program.processes)) as f64;
        me.report("energy", sum(ENERGY) / observed);
        me.report("magnetisation", sum(MAGNETISATION) / observed);
        let sequential = Self::sequential(me, program);
        me.report(
            "spins_unlike_sequential",
            self.found.iter().zip(&sequential).map(ProcessResults::unlike).sum::<usize>() as f64,
        );
        me.report("processes_unlike_sequential", {
            self.found.iter().zip(&sequential).filter(|(one, other)| one != other).count() as f64
        });
        if program.initialisation > 0 {
            me.critical_interval(0.0, f64::from(program.initialisation));
        }
        for end in self.found.iter().flat_map(|one| &one.attempts) {
            me.critical_interval(end - 1.0, *end);
        }
    }
}

/// The indices of the scalars.
const ATTEMPTS: usize = 0;
const FLIPS: usize = 1;
const MESSAGES: usize = 2;
const CRITICAL: usize = 3;
const CRITICAL_FLIPS: usize = 4;
const ENERGY: usize = 5;
const MAGNETISATION: usize = 6;

#[expect(clippy::cast_precision_loss, reason = "events are counted far below 2^53")]
fn found(queue: EventQueue) -> Vec<ProcessResults> {
    let one = |(lattice, attempts): (super::lattice::SubLattice, Vec<f64>)| {
        let tally = &lattice.tally;
        ProcessResults {
            scalars: [
                tally.attempts as f64,
                tally.flips as f64,
                tally.messages as f64,
                tally.critical.attempts,
                tally.critical.flips,
                tally.energy_integral,
                tally.magnetisation_integral,
            ],
            spins: lattice.spins().iter().map(|spin| f64::from(*spin)).collect(),
            attempts,
        }
    };
    queue.finish().into_iter().map(one).collect()
}
