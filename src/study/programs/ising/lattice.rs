//! The model: spins on a periodic lattice, divided into sub-lattices with shadow boundaries.

use super::Ising;
use parsim_sim::engine::{AddressedStream, Streams};
use parsim_sim::machine::near_square;
use rand::{Rng, RngExt};

/// A side of a sub-lattice, and of its shadow boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundarySide {
    /// The row before the first row.
    Above,
    /// The row after the last row.
    Below,
    /// The column before the first column.
    Left,
    /// The column after the last column.
    Right,
}

impl BoundarySide {
    pub const ALL: [Self; 4] = [Self::Above, Self::Below, Self::Left, Self::Right];

    /// Returns the side of the neighbour's shadow boundary that mirrors this boundary.
    const fn opposite(self) -> Self {
        match self {
            Self::Above => Self::Below,
            Self::Below => Self::Above,
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// Data shared by all logical processes: the model, the grid of sub-lattices and the end of the simulation.
#[derive(Clone, Debug)]
pub struct IsingModel {
    /// Number of sites along one side of a sub-lattice.
    pub n: usize,
    /// Exchange energy J over the thermal energy kT.
    pub exchange: f64,
    /// Magnetic field B over kT.
    pub field: f64,
    /// The virtual time of the end. On average, a site is picked once per unit of virtual time.
    pub end: f64,
    /// The virtual time from which energy and magnetisation are averaged.
    pub observed_from: f64,
    rows: usize,
    columns: usize,
}

impl IsingModel {
    /// Creates the model of a program.
    #[expect(clippy::cast_precision_loss, reason = "a sub-lattice has far fewer than 2^53 sites")]
    pub fn of(program: &Ising) -> Self {
        let (rows, columns) = near_square(program.processes);
        let n = program.sub_lattice as usize;
        let sites = (n * n) as f64;
        Self {
            n,
            exchange: program.exchange,
            field: program.field,
            end: f64::from(program.attempts) / sites,
            observed_from: f64::from(program.warm_up) / sites,
            rows: rows as usize,
            columns: columns as usize,
        }
    }

    /// Returns the number of logical processes.
    pub const fn processes(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns the logical process on the other side of a boundary.
    pub const fn neighbour(&self, process: usize, side: BoundarySide) -> usize {
        let (row, column) = (process / self.columns, process % self.columns);
        let (row, column) = match side {
            BoundarySide::Above => ((row + self.rows - 1) % self.rows, column),
            BoundarySide::Below => ((row + 1) % self.rows, column),
            BoundarySide::Left => (row, (column + self.columns - 1) % self.columns),
            BoundarySide::Right => (row, (column + 1) % self.columns),
        };
        row * self.columns + column
    }

    /// Returns the number of sites of a sub-lattice including its shadow boundaries.
    pub const fn state_sites(&self) -> usize {
        self.n * self.n + 4 * self.n
    }

    /// Returns the initial sub-lattices: random spins, and shadow boundaries that mirror them.
    pub fn beginning(&self, streams: Streams) -> Vec<SubLattice> {
        let alone = |process: usize| SubLattice::random(self, streams, process);
        let mut all: Vec<SubLattice> = (0..self.processes()).map(alone).collect();
        for process in 0..all.len() {
            for side in BoundarySide::ALL {
                let shown: Vec<i8> = {
                    let neighbour = &all[self.neighbour(process, side)];
                    (0..self.n).map(|at| neighbour.spins[self.boundary_site(side.opposite(), at)]).collect()
                };
                all[process].shadows[side as usize] = shown;
            }
        }
        for process in &mut all {
            process.tally.energy = process.total_energy(self);
            process.tally.magnetisation = process.spins.iter().map(|spin| i32::from(*spin)).sum();
        }
        all
    }

    /// Returns the index of the site at position `at` of a boundary.
    const fn boundary_site(&self, side: BoundarySide, at: usize) -> usize {
        match side {
            BoundarySide::Above => at,
            BoundarySide::Below => (self.n - 1) * self.n + at,
            BoundarySide::Left => at * self.n,
            BoundarySide::Right => at * self.n + self.n - 1,
        }
    }

    /// Returns the position of a site (row, column) on a boundary, if the site is on it.
    fn place_on(&self, side: BoundarySide, (row, column): (usize, usize)) -> Option<usize> {
        let last = self.n - 1;
        match side {
            BoundarySide::Above => (row == 0).then_some(column),
            BoundarySide::Below => (row == last).then_some(column),
            BoundarySide::Left => (column == 0).then_some(row),
            BoundarySide::Right => (column == last).then_some(row),
        }
    }
}

/// An attempt to flip a spin: the time since the last attempt, the site, and the threshold of acceptance.
///
/// Its random numbers are determined by its position in the stream of its logical process, so that an attempt that is
/// repeated after a rollback is the same.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    interval: f64,
    site: (usize, usize),
    threshold: f64,
}

/// A message about the flip of a spin on a boundary, which the neighbour's shadow boundary must mirror.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// The virtual time of the flip.
    pub time: f64,
    /// The logical process that owns the spin.
    pub from: usize,
    /// The logical process whose shadow boundary mirrors the spin.
    pub to: usize,
    /// The side of the shadow boundary.
    pub side: BoundarySide,
    /// The position on the shadow boundary.
    pub at: usize,
    /// The new spin.
    pub spin: i8,
    /// The critical times of the flip.
    pub critical: Critical,
}

/// Critical times, in attempts: the longest chain of work that has led to an event (Overeinder and Sloot 1995, equation
/// 1), computed during the simulation. Messages take no time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Critical {
    /// The critical time if every attempt takes one unit.
    pub attempts: f64,
    /// The critical time if every flip takes one unit and an unsuccessful attempt none.
    pub flips: f64,
}

impl Critical {
    /// Returns the maximum of both critical times: an event that depends on two others.
    pub const fn after(self, other: Self) -> Self {
        Self { attempts: self.attempts.max(other.attempts), flips: self.flips.max(other.flips) }
    }
}

/// The scalars of a logical process's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeState {
    /// Number of attempts so far, which is the position of the next attempt in the stream.
    pub attempts: u64,
    /// Number of attempts that flipped a spin.
    pub flips: u64,
    /// Number of messages caused by these flips.
    pub messages: u64,
    /// The virtual time of the next attempt.
    pub next: f64,
    /// The critical times of the last event.
    pub critical: Critical,
    /// Energy over kT. A bond across a boundary counts half on either side.
    energy: f64,
    /// Number of up spins minus number of down spins.
    magnetisation: i32,
    /// The virtual time up to which the integrals are computed.
    integrated: f64,
    /// The integral of the energy over virtual time.
    pub energy_integral: f64,
    /// The integral of the magnetisation over virtual time.
    pub magnetisation_integral: f64,
}

/// The change by an event, with the data needed to undo it.
#[derive(Clone, Copy, Debug)]
pub struct StateChange {
    tally: LatticeState,
    spin: Option<Spin>,
}

#[derive(Clone, Copy, Debug)]
enum Spin {
    Own(usize),
    Shadow { side: BoundarySide, at: usize, before: i8 },
}

/// The state of one logical process.
#[derive(Clone, Debug)]
pub struct SubLattice {
    process: usize,
    spins: Vec<i8>,
    shadows: [Vec<i8>; 4],
    /// The scalars of the state.
    pub tally: LatticeState,
    stream: AddressedStream,
}

impl SubLattice {
    fn random(model: &IsingModel, streams: Streams, process: usize) -> Self {
        let mut initial = streams.stream("initial spins", process as u64);
        let spins = (0..model.n * model.n).map(|_| if initial.next_u64() & 1 == 0 { -1 } else { 1 }).collect();
        let mut lattice = Self {
            process,
            spins,
            shadows: std::array::from_fn(|_| vec![0; model.n]),
            tally: LatticeState {
                attempts: 0,
                flips: 0,
                messages: 0,
                next: 0.0,
                critical: Critical::default(),
                energy: 0.0,
                magnetisation: 0,
                integrated: model.observed_from,
                energy_integral: 0.0,
                magnetisation_integral: 0.0,
            },
            stream: streams.addressed("attempts", process as u64),
        };
        lattice.tally.next = lattice.attempt(model, 0).interval;
        lattice
    }

    /// Returns the spins, row by row.
    pub fn spins(&self) -> &[i8] {
        &self.spins
    }

    /// Returns the attempt at a position of the stream. Intervals are exponential: each site has a clock of rate one.
    #[expect(clippy::cast_precision_loss, reason = "a sub-lattice has far fewer than 2^53 sites")]
    fn attempt(&self, model: &IsingModel, position: u64) -> Attempt {
        let mut drawn = self.stream.at(position);
        let uniform: f64 = drawn.random();
        Attempt {
            interval: -(1.0 - uniform).ln() / (model.n * model.n) as f64,
            site: (drawn.random_range(0..model.n), drawn.random_range(0..model.n)),
            threshold: drawn.random(),
        }
    }

    /// Returns the virtual time of the next attempt at a site of the boundary on this side, or infinity. This time does
    /// not depend on any spin; it is the lookahead of the simulation.
    pub fn next_on_boundary(&self, model: &IsingModel, side: BoundarySide) -> f64 {
        let mut time = self.tally.next;
        let mut position = self.tally.attempts;
        while time <= model.end {
            if model.place_on(side, self.attempt(model, position).site).is_some() {
                return time;
            }
            position += 1;
            time += self.attempt(model, position).interval;
        }
        f64::INFINITY
    }

    /// Makes the next attempt. Returns its change, and the updates for the neighbours.
    ///
    /// The criterion is that of Metropolis: a flip that lowers the energy is accepted; one that raises it by ΔE is
    /// accepted with probability exp(−ΔE/kT).
    pub fn make_attempt(&mut self, model: &IsingModel) -> (StateChange, Vec<Update>) {
        let Attempt { site, threshold, .. } = self.attempt(model, self.tally.attempts);
        let time = self.tally.next;
        let before = self.tally;
        self.integrate(model, time);
        let index = site.0 * model.n + site.1;
        let difference =
            2.0 * f64::from(self.spins[index]) * (model.exchange * self.sum_around(model, site) + model.field);
        let flips = difference <= 0.0 || threshold < (-difference).exp();
        self.tally.attempts += 1;
        self.tally.next = time + self.attempt(model, self.tally.attempts).interval;
        self.tally.critical.attempts += 1.0;
        if !flips {
            return (StateChange { tally: before, spin: None }, Vec::new());
        }
        self.tally.flips += 1;
        self.tally.critical.flips += 1.0;
        let share = self.own_share(model, site);
        self.tally.energy += 2.0 * f64::from(self.spins[index]) * (model.exchange * share + model.field);
        self.tally.magnetisation -= 2 * i32::from(self.spins[index]);
        self.spins[index] = -self.spins[index];
        let updates = self.updates(model, site, time);
        self.tally.messages += updates.len() as u64;
        (StateChange { tally: before, spin: Some(Spin::Own(index)) }, updates)
    }

    /// Returns the updates for the neighbours after a flip of the spin at a site; there are two if the site is in a
    /// corner.
    fn updates(&self, model: &IsingModel, site: (usize, usize), time: f64) -> Vec<Update> {
        let spin = self.spins[site.0 * model.n + site.1];
        let update = |side: BoundarySide| {
            Some(Update {
                time,
                from: self.process,
                to: model.neighbour(self.process, side),
                side: side.opposite(),
                at: model.place_on(side, site)?,
                spin,
                critical: self.tally.critical,
            })
        };
        BoundarySide::ALL.into_iter().filter_map(update).collect()
    }

    /// Updates the shadow boundary with the new spin of a neighbour.
    pub fn show(&mut self, model: &IsingModel, update: &Update) -> StateChange {
        let before = self.tally;
        self.integrate(model, update.time);
        self.tally.critical = self.tally.critical.after(update.critical);
        let inside = self.spins[model.boundary_site(update.side, update.at)];
        let shown = &mut self.shadows[update.side as usize][update.at];
        let change = Spin::Shadow { side: update.side, at: update.at, before: *shown };
        self.tally.energy -= 0.5 * model.exchange * f64::from(inside) * f64::from(update.spin - *shown);
        *shown = update.spin;
        StateChange { tally: before, spin: Some(change) }
    }

    /// Undoes a change. Changes must be undone in reverse order.
    pub fn undo(&mut self, change: StateChange) {
        self.tally = change.tally;
        match change.spin {
            Some(Spin::Own(index)) => self.spins[index] = -self.spins[index],
            Some(Spin::Shadow { side, at, before }) => self.shadows[side as usize][at] = before,
            None => {}
        }
    }

    /// Completes the integrals at the end of the simulation.
    pub fn finish(&mut self, model: &IsingModel) {
        self.integrate(model, model.end);
    }

    fn integrate(&mut self, model: &IsingModel, time: f64) {
        let tally = &mut self.tally;
        if time <= model.observed_from {
            return;
        }
        let span = time - tally.integrated;
        tally.energy_integral += span * tally.energy;
        tally.magnetisation_integral += span * f64::from(tally.magnetisation);
        tally.integrated = time;
    }

    fn neighbours(&self, model: &IsingModel, (row, column): (usize, usize)) -> [(i8, bool); 4] {
        let n = model.n;
        let own = |row: usize, column: usize| (self.spins[row * n + column], true);
        let shadow = |side: BoundarySide, at: usize| (self.shadows[side as usize][at], false);
        [
            if row == 0 { shadow(BoundarySide::Above, column) } else { own(row - 1, column) },
            if row + 1 == n { shadow(BoundarySide::Below, column) } else { own(row + 1, column) },
            if column == 0 { shadow(BoundarySide::Left, row) } else { own(row, column - 1) },
            if column + 1 == n { shadow(BoundarySide::Right, row) } else { own(row, column + 1) },
        ]
    }

    fn sum_around(&self, model: &IsingModel, site: (usize, usize)) -> f64 {
        self.neighbours(model, site).into_iter().map(|(spin, _)| f64::from(spin)).sum()
    }

    /// Returns the sum of the spins around a site. Spins beyond the boundary count half, because their bonds are shared
    /// with a neighbour.
    fn own_share(&self, model: &IsingModel, site: (usize, usize)) -> f64 {
        let weigh = |(spin, own): (i8, bool)| f64::from(spin) * if own { 1.0 } else { 0.5 };
        self.neighbours(model, site).into_iter().map(weigh).sum()
    }

    /// Returns −J Σ s s' − B Σ s over kT. Every inner bond is counted from both ends, hence the factor of one half.
    fn total_energy(&self, model: &IsingModel) -> f64 {
        let of_site = |index: usize| {
            let spin = f64::from(self.spins[index]);
            let around = self.sum_around(model, (index / model.n, index % model.n));
            -spin * (0.5 * model.exchange * around + model.field)
        };
        (0..self.spins.len()).map(of_site).sum()
    }
}
