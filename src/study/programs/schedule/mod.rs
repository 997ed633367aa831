//! Programs given by schedules: sends, receives and computations of every rank, each of which begins when the
//! operations that it requires have ended.

mod beginning;
mod matching;
mod writing;

pub use beginning::FirstOperations;
pub use matching::{OperationPlace, is_determined, unmatched};
pub use parsim_sim::program::schedule::{
    ANY, Bounds, Edge, NodeKind, Operations, RankSchedule, Schedule, ScheduleNode, StoredSchedule, TAGS,
};
pub use writing::GoalText;

use super::file::ProgramFile;
use super::{Forecast, mean_distance, packets};
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::program::schedule::follow;
use parsim_sim::program::{Rehearsal, Starter};
use parsim_sim::units::{Bytes, SimDuration, real};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A program that executes the schedule of a file or a folder.
pub trait ScheduleSource {
    /// Returns the schedule.
    ///
    /// # Errors
    /// The first fault of the files.
    fn schedule(&self) -> Result<Arc<dyn StoredSchedule>, Fault>;

    /// Returns the unit of the schedule's computations.
    fn unit(&self) -> SimDuration;

    /// Returns the file or folder, with the name of the field that contains it.
    fn file(&self) -> (&'static str, &ProgramFile);

    /// Returns the place of an operation in the files, if it is known. The files are read again.
    fn place(&self, operation: OperationPlace) -> Option<String>;

    fn starter_of(&self) -> Starter<'_> {
        let (schedule, unit) = (self.schedule(), self.unit());
        let operations = schedule.map(|schedule| Rc::new(RefCell::new(schedule.open())));
        Box::new(move |me| match operations.clone() {
            Ok(operations) => Box::pin(follow(me, operations, unit)),
            Err(fault) => Box::pin(async move { me.fail(fault).await }),
        })
    }

    /// Returns the forecast of a rehearsed run.
    fn forecast_of(&self, rehearsal: &Rehearsal, ranks: u32, packet_bytes: u64) -> Forecast {
        let (hops, distance) = (self.hops(ranks, packet_bytes), mean_distance(ranks).max(1.0));
        let counted = Forecast::rough(hops, distance, self.turns());
        if rehearsal.is_complete() { counted.max(Forecast::seen(rehearsal)) } else { counted }
    }

    fn hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let Ok(schedule) = self.schedule() else { return 0.0 };
        let bounds = schedule.bounds();
        if bounds.longest_message <= packet_bytes {
            return real(bounds.sends) * mean_distance(ranks).max(1.0);
        }
        let mut sent = 0.0;
        schedule.open().each(&mut |_, node| {
            if node.kind == NodeKind::Send {
                sent += packets(1.0, node.size, packet_bytes);
            }
        });
        sent * mean_distance(ranks).max(1.0)
    }

    /// Returns the number of beginnings and ends of operations, not including the events of their messages.
    fn turns(&self) -> f64 {
        2.0 * real(self.operations())
    }

    fn operations(&self) -> u64 {
        self.schedule().map_or(0, |schedule| schedule.bounds().operations)
    }

    /// Returns the memory of the schedule and of the state of its operations, per rank.
    fn memory_of_a_rank(&self, ranks: u32) -> f64 {
        self.schedule().map_or(0.0, |schedule| real(schedule.memory()) / f64::from(ranks))
    }

    fn schedule_faults(&self) -> Vec<Fault> {
        if self.unit() == SimDuration::ZERO {
            return vec![Fault::new("unit", "computations would take no time", "give a time such as \"1 ns\"")];
        }
        match self.schedule() {
            Ok(schedule) => {
                let too_long = self.too_long(&schedule);
                let place = |operation| self.place(operation);
                too_long.into_iter().chain(unmatched(&mut *schedule.open(), self.file().0, place)).collect()
            }
            Err(fault) => vec![fault],
        }
    }

    /// Returns a fault if the longest computation is too long in this unit.
    fn too_long(&self, schedule: &Arc<dyn StoredSchedule>) -> Option<Fault> {
        let longest = schedule.bounds().longest_computation;
        if longest.checked_mul(self.unit().ps()).is_some() {
            return None;
        }
        let place = self.place_of_largest(schedule, NodeKind::Compute, longest);
        let message = format!("{place}a computation of {longest} times {} is longer than 213 days", self.unit());
        Some(Fault::new(self.file().0, message, "correct the file, or give a smaller unit"))
    }

    /// Returns a fault if the packets of the longest message cannot be counted on a machine.
    fn too_large(&self, schedule: &Arc<dyn StoredSchedule>, machine: &Machine) -> Option<Fault> {
        let (longest, switching) = (schedule.bounds().longest_message, &machine.network.switching);
        if longest <= switching.longest_message() {
            return None;
        }
        let place = self.place_of_largest(schedule, NodeKind::Send, longest);
        let packet = Bytes::new(switching.packet_bytes());
        let message =
            format!("{place}a message of {longest} B, but a message has at most 2^32 - 1 packets of {packet}");
        Some(Fault::new(self.file().0, message, "correct the file, or give larger packets"))
    }

    /// Returns the place of an operation of some kind and size in the files, with a colon behind it; empty if it is
    /// unknown.
    fn place_of_largest(&self, schedule: &Arc<dyn StoredSchedule>, kind: NodeKind, size: u64) -> String {
        let is_largest = |_, node: &ScheduleNode| node.kind == kind && node.size == size;
        let operation = matching::last(&mut *Arc::clone(schedule).open(), is_largest);
        operation.and_then(|operation| self.place(operation)).map_or_else(String::new, |place| format!("{place}: "))
    }

    /// Returns the faults of the schedule on a machine with a number of ranks.
    fn faults_on(&self, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let Ok(schedule) = self.schedule() else { return Vec::new() };
        self.other_ranks(&schedule, layout).into_iter().chain(self.too_large(&schedule, machine)).collect()
    }

    fn other_ranks(&self, schedule: &Arc<dyn StoredSchedule>, layout: &Layout) -> Option<Fault> {
        let (of_file, ranks) = (schedule.ranks(), layout.ranks());
        let misfit = || {
            let message = format!("`{}` has {of_file} ranks, and the scenario has {ranks}", self.file().1.name());
            Fault::new("ranks", message, format!("write `ranks: {of_file}`"))
        };
        (of_file != ranks).then(misfit)
    }

    /// Returns `true` if the schedule determines which message each receive gets. Otherwise a rehearsal is meaningless,
    /// because without simulated time the arrival order of messages is unknown.
    fn is_determined(&self) -> bool {
        self.schedule().is_ok_and(|schedule| is_determined(&mut *schedule.open()))
    }
}

macro_rules! scheduled_program {
    ($program:ty) => {
        impl $program {
            /// Returns the forecast of a rehearsed run.
            pub(super) fn forecast(
                &self,
                rehearsal: &parsim_sim::program::Rehearsal,
                ranks: u32,
                packet_bytes: u64,
            ) -> super::Forecast {
                self.forecast_of(rehearsal, ranks, packet_bytes)
            }
        }

        impl parsim_sim::program::Program for $program {
            fn start(&self, process: parsim_sim::program::Process) -> parsim_sim::program::RankFuture {
                self.starter_of()(process)
            }

            fn starter(&self, _ranks: u32, _host: u32) -> parsim_sim::program::Starter<'_> {
                self.starter_of()
            }

            fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
                self.hops(ranks, packet_bytes)
            }

            fn jobs(&self, _ranks: u32) -> f64 {
                self.turns()
            }

            fn rank_memory(&self, ranks: u32) -> f64 {
                self.memory_of_a_rank(ranks)
            }

            fn faults(&self, _ranks: u32) -> Vec<parsim_sim::fault::Fault> {
                self.schedule_faults()
            }

            fn machine_faults(
                &self,
                machine: &parsim_sim::machine::Machine,
                layout: &parsim_sim::machine::Layout,
            ) -> Vec<parsim_sim::fault::Fault> {
                self.faults_on(machine, layout)
            }

            fn schedule(
                &self,
            ) -> Option<(std::sync::Arc<dyn super::schedule::StoredSchedule>, parsim_sim::units::SimDuration)> {
                Some((super::schedule::ScheduleSource::schedule(self).ok()?, self.unit()))
            }

            fn place_of(&self, rank: u32, number: u32) -> Option<String> {
                self.place((rank, number))
            }

            fn is_rehearsed(&self) -> bool {
                self.is_determined()
            }

            fn expected_verbs(&self, _ranks: u32) -> u64 {
                self.operations()
            }
        }
    };
}

pub(super) use scheduled_program;
