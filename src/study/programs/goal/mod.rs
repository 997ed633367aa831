//! Schedules in the Group Operation Assembly Language (Hoefler, Siebert, Lumsdaine, 2009): the input of LogGOPSim.

mod binary;
mod matching;
mod process;
mod schedule;
#[cfg(test)]
mod tests;
mod text;

use super::file::{FileCache, ProgramFile, open};
use super::{Forecast, mean_distance, packets, real};
use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::program::{Process, Program, RankFuture, Rehearsal, Starter};
use parsim_sim::units::SimDuration;
use schedule::{NodeKind, Schedule};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::sync::Arc;

/// A schedule of LogGOPSim: sends, receives and computations of every rank, each of which begins when those that it requires
/// have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The file, text or binary, relative to the scenario.
    pub file: ProgramFile,
    /// The unit of its computations.
    pub unit: SimDuration,
}

static SCHEDULES: FileCache<Schedule> = FileCache::new();

impl Goal {
    fn schedule(&self) -> Result<Arc<Schedule>, Fault> {
        SCHEDULES.get(self.file.path(), (), || self.read())
    }

    fn read(&self) -> Result<Schedule, Fault> {
        let name = self.file.name();
        let mut bytes = Vec::new();
        let read = open(self.file.path()).and_then(|mut file| file.read_to_end(&mut bytes));
        if let Err(error) = read {
            let message = format!("cannot read `{name}`: {error}");
            return Err(Fault::new("file", message, "the path is relative to the scenario"));
        }
        if bytes.starts_with(&binary::MAGIC) {
            return binary::parse(&bytes).map_err(|fault| {
                let message = format!("{name}, byte {}: {}", fault.at, fault.message);
                Fault::new("file", message, "write the file anew; it may be damaged")
            });
        }
        text::parse(&bytes).map_err(|fault| {
            let (line, column) = text::line_and_column(&bytes, fault.at);
            Fault::new("file", format!("{name}:{line}:{column}: {}", fault.message), fault.help)
        })
    }

    /// The computation that is too long in this unit, if there is one.
    fn too_long(&self, schedule: &Schedule) -> Option<Fault> {
        let nodes = schedule.ranks.iter().flat_map(|rank| &rank.nodes);
        let computations = nodes.filter(|node| node.kind == NodeKind::Compute);
        let longest = computations.map(|node| node.size).max().unwrap_or(0);
        if longest.checked_mul(self.unit.ps()).is_some() {
            return None;
        }
        let message = format!("a computation of {longest} times {} is longer than 213 days", self.unit);
        Some(Fault::new("unit", message, "give a smaller unit"))
    }

    /// The causes of the events of a run that was rehearsed.
    pub(super) fn forecast(&self, rehearsal: &Rehearsal, ranks: u32, packet_bytes: u64) -> Forecast {
        if rehearsal.is_complete() {
            return Forecast::seen(rehearsal);
        }
        let (hops, distance) = (self.packet_hops(ranks, packet_bytes), mean_distance(ranks).max(1.0));
        Forecast::rough(hops, distance, self.jobs(ranks))
    }
}

impl Program for Goal {
    fn start(&self, process: Process) -> RankFuture {
        self.starter(process.ranks(), process.host())(process)
    }

    fn starter(&self, _ranks: u32, _host: u32) -> Starter<'_> {
        let (schedule, unit) = (self.schedule(), self.unit);
        Box::new(move |me| match schedule.clone() {
            Ok(schedule) => Box::pin(process::follow(me, schedule, unit)),
            Err(fault) => Box::pin(async move { me.fail(fault).await }),
        })
    }

    fn packet_hops(&self, ranks: u32, packet_bytes: u64) -> f64 {
        let Ok(schedule) = self.schedule() else { return 0.0 };
        let nodes = schedule.ranks.iter().flat_map(|rank| &rank.nodes);
        let sends = nodes.filter(|node| node.kind == NodeKind::Send);
        sends.map(|send| packets(1.0, send.size, packet_bytes)).sum::<f64>() * mean_distance(ranks)
    }

    fn jobs(&self, _ranks: u32) -> f64 {
        let Ok(schedule) = self.schedule() else { return 0.0 };
        let nodes = schedule.ranks.iter().flat_map(|rank| &rank.nodes);
        real(nodes.filter(|node| node.kind == NodeKind::Compute).count() as u64)
    }

    fn faults(&self, _ranks: u32) -> Vec<Fault> {
        if self.unit == SimDuration::ZERO {
            return vec![Fault::new("unit", "computations would take no time", "give a time such as \"1 ns\"")];
        }
        match self.schedule() {
            Ok(schedule) => self.too_long(&schedule).into_iter().chain(matching::unmatched(&schedule)).collect(),
            Err(fault) => vec![fault],
        }
    }

    fn misfits(&self, _machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let Ok(schedule) = self.schedule() else { return Vec::new() };
        let (of_file, ranks) = (schedule.ranks.len(), layout.ranks());
        let misfit = || {
            let message = format!("`{}` has {of_file} ranks, and the scenario has {ranks}", self.file.name());
            Fault::new("ranks", message, format!("write `ranks: {of_file}`"))
        };
        (of_file != ranks as usize).then(misfit).into_iter().collect()
    }

    /// A run without time tells nothing where the order of messages decides who gets which.
    fn is_rehearsed(&self) -> bool {
        self.schedule().is_ok_and(|schedule| schedule.is_determined())
    }

    fn least_verbs(&self, _ranks: u32) -> u64 {
        let Ok(schedule) = self.schedule() else { return 0 };
        schedule.ranks.iter().map(|rank| rank.nodes.len() as u64).sum()
    }
}
