//! Kernels whose cost is known for any number of iterations.

use super::account::{AccountingRule, Cost};
use super::assembly::Assembly;
use super::listing::Kernel;
use super::memory::MemoryLayout;
use super::t800::{KernelError, T800};
use super::timing::{TimedRun, time_kernel};
use crate::units::SimDuration;

/// Number of trips after which a loop counts as not periodic.
const SETTLING_TRIPS: u32 = 64;

/// A kernel whose cost on a T800 is known for any number of iterations.
///
/// The loop is run until two iterations begin in the same state; from then on every trip costs the same. A kernel
/// without a loop costs the same each time it is executed. A loop whose path or cycles may depend on its data, and any
/// loop behind a cache, is run in full for each number of trips, with all arrays zero.
///
/// ```
/// use parsim_sim::node::processor::{AccountingRule, Kernel, T800, TimedKernel};
/// let copy: Kernel = ron::from_str(r#"(
///     name: "copy",
///     placement: (workspace: OnChip, data: External, code: External),
///     locals: [
///         (name: "j", holds: Word(0)), (name: "n", holds: Trips),
///         (name: "x", holds: Address("x")), (name: "y", holds: Address("y")),
///     ],
///     arrays: [(name: "x", holds: Doubles(Trips)), (name: "y", holds: Doubles(Trips))],
///     iteration: At("loop"),
///     listing: [
///         "loop: ldl n; ldl j; gt; cj exit",
///         "      ldl j; ldl x; fpldnldbi",
///         "      ldl j; ldl y; wsubdb; fpstnldb",
///         "      ldl j; adc 1; stl j; j loop",
///         "exit:",
///     ],
/// )"#).unwrap();
/// let t800: T800 = ron::from_str(r#"(clock: "20 MHz", external_cycles: 4)"#).unwrap();
/// let timed = TimedKernel::new(&t800, &copy).unwrap();
/// let ten = timed.time(10, AccountingRule::Overlapped).unwrap();
/// let eleven = timed.time(11, AccountingRule::Overlapped).unwrap();
/// assert_eq!((eleven.ps() - ten.ps()) / 50_000, 57);
/// ```
#[derive(Clone, Debug)]
pub struct TimedKernel {
    processor: T800,
    assembly: Assembly,
    profile: Option<Profile>,
}

/// The cost of the first few numbers of iterations, and the cost of each further iteration.
#[derive(Clone, Debug)]
struct Profile {
    first: Vec<Cost>,
    further: Cost,
}

impl TimedKernel {
    /// Assembles a kernel and runs it until its iterations are periodic.
    ///
    /// # Errors
    /// If the processor or the listing is faulty, or the kernel faults.
    pub fn new(processor: &T800, kernel: &Kernel) -> Result<Self, KernelError> {
        processor.check()?;
        let listing = |faults| KernelError::Listing { name: kernel.name.clone(), faults };
        let assembly = kernel.assemble().map_err(listing)?;
        let mut timed = Self { processor: processor.clone(), assembly, profile: None };
        timed.profile = timed.settle()?;
        Ok(timed)
    }

    /// Returns the assembled kernel.
    #[must_use]
    pub const fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// Returns the cost of an iteration once iterations are periodic; `None` if this is not known.
    #[must_use]
    pub fn iteration(&self) -> Option<Cost> {
        self.profile.as_ref().map(|profile| profile.further)
    }

    /// Returns the cost of `iterations` iterations: for a loop, of one execution with this number of trips; for a
    /// kernel without a loop, of this number of executions.
    ///
    /// # Errors
    /// If the trips do not fit into memory, or the kernel faults.
    pub fn cost(&self, iterations: u64) -> Result<Cost, KernelError> {
        let trips = u32::try_from(iterations).map_err(|_| KernelError::Iterations { iterations })?;
        MemoryLayout::new(&self.assembly, trips)?;
        match &self.profile {
            Some(profile) => Ok(profile.cost(trips)),
            None => Ok(self.run(trips)?.cost),
        }
    }

    /// Returns the part of [`cost`](Self::cost) without the cost of entering and leaving the loop.
    ///
    /// # Errors
    /// As for [`cost`](Self::cost).
    pub fn inner_cost(&self, iterations: u64) -> Result<Cost, KernelError> {
        Ok(self.cost(iterations)? - self.cost(0)?)
    }

    /// Returns the time of `iterations` iterations as in [`cost`](Self::cost), rounded once.
    ///
    /// # Errors
    /// As for [`cost`](Self::cost).
    pub fn time(&self, iterations: u64, accounting: AccountingRule) -> Result<SimDuration, KernelError> {
        Ok(self.cost(iterations)?.account(accounting).total().time(self.processor.clock))
    }

    /// Runs the whole kernel with all arrays zero.
    ///
    /// # Errors
    /// If the trips do not fit into memory, or the kernel faults.
    pub fn run(&self, trips: u32) -> Result<TimedRun, KernelError> {
        Ok(time_kernel(&self.processor, &mut self.assembly.start(trips)?)?)
    }

    fn settle(&self) -> Result<Option<Profile>, KernelError> {
        if self.assembly.iteration().is_none() {
            return Ok(Some(Profile { first: vec![Cost::default()], further: self.run(0)?.cost }));
        }
        if self.processor.cache.is_some() || !self.assembly.is_regular() {
            return Ok(None);
        }
        let mut first = vec![self.run(0)?.cost];
        for trips in 1..=SETTLING_TRIPS {
            let played = self.run(trips)?;
            let before = first.last().copied().unwrap_or_default();
            first.push(played.cost);
            let further = settled(&played).filter(|further| before + *further == played.cost);
            if let Some(further) = further {
                return Ok(Some(Profile { first, further }));
            }
        }
        Ok(None)
    }
}

/// Returns the cost of the last iteration if the next one begins in the same state.
fn settled(played: &TimedRun) -> Option<Cost> {
    let [.., before, last] = played.arrivals.as_slice() else { return None };
    (before.pending == last.pending).then(|| last.cost - before.cost)
}

impl Profile {
    fn cost(&self, trips: u32) -> Cost {
        let known = self.first.len() - 1;
        let trips = trips as usize;
        self.first[trips.min(known)] + self.further * (trips.saturating_sub(known) as u64)
    }
}
