//! The processors and interfaces of all ranks.

use crate::machine::IssueResources;
use crate::units::{SimDuration, SimTime};

/// The state of all processors and interfaces. Each rank has as many as any operation requires.
pub struct RankResources {
    cpus: u32,
    nics: u32,
    /// The time at which each resource becomes free. The resources are ordered by rank: its processors, then the
    /// sending and the receiving side of each interface.
    free: Vec<SimTime>,
    /// The communication work of the processors, by rank and processor.
    work: Vec<SoftwareWork>,
}

/// The work of a processor for communication.
#[derive(Clone, Copy, Default)]
struct SoftwareWork {
    /// The end of the latest piece of work.
    until: SimTime,
    /// The total work started so far.
    done: SimDuration,
}

impl RankResources {
    /// Creates the resources of `ranks` ranks whose operations use those up to `highest`.
    pub fn new(ranks: u32, highest: IssueResources) -> Self {
        let (cpus, nics) = (u32::from(highest.cpu) + 1, u32::from(highest.nic) + 1);
        let (all, processors) = (ranks as usize * (cpus + 2 * nics) as usize, ranks as usize * cpus as usize);
        Self { cpus, nics, free: vec![SimTime::START; all], work: vec![SoftwareWork::default(); processors] }
    }

    #[inline]
    pub const fn core(&self, rank: u32, cpu: u8) -> u32 {
        rank * (self.cpus + 2 * self.nics) + cpu as u32
    }

    #[inline]
    pub const fn sender(&self, rank: u32, nic: u8) -> u32 {
        self.core(rank, 0) + self.cpus + 2 * nic as u32
    }

    #[inline]
    pub const fn receiver(&self, rank: u32, nic: u8) -> u32 {
        self.sender(rank, nic) + 1
    }

    #[inline]
    pub fn free(&self, resource: u32) -> SimTime {
        self.free[resource as usize]
    }

    #[inline]
    pub fn occupy_until(&mut self, resource: u32, end: SimTime) {
        self.free[resource as usize] = end;
    }

    /// Occupies a processor with communication work.
    #[inline]
    pub fn communicate(&mut self, rank: u32, cpu: u8, now: SimTime, time: SimDuration) {
        let core = self.core(rank, cpu);
        self.free[core as usize] = now + time;
        let work = &mut self.work[(rank * self.cpus + u32::from(cpu)) as usize];
        work.until = now + time;
        work.done += time;
    }

    /// Returns the end of the communication work that a processor has started, or `now` if it has none left.
    #[inline]
    pub fn works_until(&self, rank: u32, cpu: u8, now: SimTime) -> SimTime {
        self.work[(rank * self.cpus + u32::from(cpu)) as usize].until.max(now)
    }

    /// Returns the time for which the first processor of a rank has worked for communication up to now.
    #[inline]
    pub fn worked(&self, rank: u32, now: SimTime) -> SimDuration {
        let work = &self.work[(rank * self.cpus) as usize];
        work.done - work.until.since(now)
    }
}
