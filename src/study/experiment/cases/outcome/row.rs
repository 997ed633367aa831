//! The row of an outcome: the order of its values, and their roles.

use super::Outcome;
use crate::analysis::{Parallelism, Residuals};
use crate::answer::{QuantityValue, Record, Role};
use crate::experiment::real_programs::PREDICTED;
use crate::programs::OVERLAP;
use crate::programs::phases::time_key;
use crate::report::{ReferenceTarget, ReferenceValue};
use crate::scenario::AxisValue;
use parsim_sim::fault::Fault;
use parsim_sim::network::topology::NAMES;

/// The capacity of a record: most rows have fewer columns.
const COLUMNS: usize = 32;
/// The key of the part of the machine that is in use.
const TOPOLOGY: &str = "topology_in_use";
/// The values of traffic whose means over the seeds are in rows, with the keys of the mean and of half its interval.
const TRAFFIC_MEANS: [[&str; 3]; 3] = [
    [
        "accepted_flits_per_node_cycle",
        "accepted_over_seeds_flits_per_node_cycle",
        "accepted_over_seeds_interval95_flits_per_node_cycle",
    ],
    ["latency_mean_s", "latency_mean_over_seeds_s", "latency_mean_over_seeds_interval95_s"],
    ["latency_p99_s", "latency_p99_over_seeds_s", "latency_p99_over_seeds_interval95_s"],
];

impl Outcome {
    /// Returns the values of the row in their order.
    pub(super) fn recorded_values(&self) -> Record {
        let mut record = keyed(&self.case.keys);
        self.put_makespan(&mut record);
        if self.case.scenario.repeat.until().is_some() {
            record.put("repeats", self.repeats());
        }
        self.put_traffic_means(&mut record);
        for (name, value) in &self.trace.outcomes {
            match self.reported(name).filter(|_| OVERLAP.contains(name)) {
                Some((mean, _)) => record.put(*name, mean),
                None => record.put_as(self.role_of_outcome(name), *name, *value),
            }
        }
        self.compared.iter().for_each(|one| self.put_compared(one, &mut record));
        if let Some(parallelism) = Parallelism::of_units(&self.trace.critical_intervals) {
            record.put_as(self.role_of_one_run(), "one_active_share", parallelism.share(1));
        }
        // A sweep over topologies shows their sizes in the summary.
        if self.compares_topologies() {
            record.put(TOPOLOGY, &*self.topology);
        }
        record.end_summary();
        record.put(TOPOLOGY, &*self.topology);
        self.put_breakdown(&mut record);
        record.put("messages", self.trace.counts.messages);
        if let Some(background) = self.trace.background {
            record.put("background_messages", background.messages);
            record.put("background_bytes", background.bytes);
        }
        record.put("packet_hops", self.trace.counts.packet_hops);
        record.put("events", self.trace.counts.events);
        record.put_metadata(self.identity.metadata(&self.case.settings));
        record
    }

    /// Adds the simulated makespan of the first run, and the statistics of all runs if there are several.
    fn put_makespan(&self, record: &mut Record) {
        let own = if self.sample.is_some() { Role::Spread } else { Role::Simulated };
        record.put_as(own, "makespan_s", self.trace.makespan.seconds());
        if let Some(sample) = self.sample {
            record.put_as(Role::Simulated, "makespan_mean_s", sample.mean);
            record.put_as(Role::Spread, "makespan_deviation_s", sample.deviation);
            record.put_as(Role::Spread, "makespan_interval95_s", sample.interval);
        }
        if let Some(interval) = self.interval {
            interval.level.put(record, "makespan_s", interval.ends);
        }
    }

    /// Adds the means of the values by which traffic is judged, if there are several seeds.
    fn put_traffic_means(&self, record: &mut Record) {
        if self.sample.is_none() || !self.case.scenario.program.is_traffic() {
            return;
        }
        for [name, mean, half_width] in TRAFFIC_MEANS {
            let (value, interval) = self.reported(name).unzip();
            record.put_as(Role::Spread, mean, value);
            record.put_as(Role::Spread, half_width, interval);
        }
    }

    /// Adds a reference value and the error against it.
    fn put_compared(&self, one: &ReferenceValue, record: &mut Record) {
        let role = match one.beside {
            ReferenceTarget::Makespan | ReferenceTarget::OwnModel => Role::Predicted,
            ReferenceTarget::MeasuredMakespan => Role::Measured,
            ReferenceTarget::OneRank | ReferenceTarget::Outcome(_) | ReferenceTarget::Outcomes(_) => Role::Detail,
        };
        record.put_as(role, one.key.clone(), one.value);
        let error = self.predicted_s(one).zip(one.value).map(|(simulated, value)| Residuals::error(simulated, value));
        match one.beside {
            ReferenceTarget::Makespan => {}
            ReferenceTarget::OneRank => record.put("speedup", one.value.map(|alone| alone / self.makespan_s().0)),
            ReferenceTarget::MeasuredMakespan => record.put_as(Role::Residual, "simulated_error", error),
            ReferenceTarget::OwnModel | ReferenceTarget::Outcome(_) => {
                record.put_as(Role::Error, format!("error_against_{}", one.key), error);
            }
            ReferenceTarget::Outcomes(_) => {
                record.put_as(Role::Error, one.key.replace("published", "error_of"), error);
            }
        }
    }

    /// Returns the simulated value that `one` is compared with; for the makespan, the mean.
    fn predicted_s(&self, one: &ReferenceValue) -> Option<f64> {
        match one.beside {
            ReferenceTarget::MeasuredMakespan | ReferenceTarget::OwnModel => Some(self.makespan_s().0),
            _ => one.judged(&self.trace),
        }
    }

    /// Adds the times of phases and activities, and the busiest rank and link.
    fn put_breakdown(&self, record: &mut Record) {
        for share in &self.breakdown.phases {
            let key = time_key(share.of);
            // A value that the program reports under the same key takes precedence.
            if record.get(key).is_none() {
                record.put(key, share.seconds);
            }
        }
        for share in &self.breakdown.activities {
            record.put(time_key(share.of.name()), share.seconds);
        }
        record.put("busiest_rank", self.breakdown.busiest_rank.0);
        record.put("busiest_rank_utilization", self.breakdown.busiest_rank.1);
        let link = self.breakdown.busiest_link;
        record.put("busiest_link", link.map(|link| format!("{}-{}", link.from, link.to)));
        record.put("busiest_link_utilization", link.map(|link| link.utilization));
    }

    fn role_of_outcome(&self, name: &str) -> Role {
        match name {
            PREDICTED => Role::Predicted,
            _ if self.is_of_one_run(name) => self.role_of_one_run(),
            _ => Role::Detail,
        }
    }

    /// Returns the role of values of the run with the first seed.
    const fn role_of_one_run(&self) -> Role {
        if self.sample.is_some() { Role::FirstSeed } else { Role::Detail }
    }

    /// Returns `true` if an axis varies the topology.
    fn compares_topologies(&self) -> bool {
        let keys = &self.case.keys;
        keys.iter().any(|(_, value)| matches!(value, Some(AxisValue::Text(name)) if NAMES.contains(&name.as_str())))
    }

    /// Returns a fault if the value of an axis is overwritten by another value of the row.
    pub(super) fn lost_axis(&self, record: &Record) -> Option<Fault> {
        let is_lost = |(name, value): &&(String, Option<AxisValue>)| {
            let own = QuantityValue::from(value.as_ref()).number();
            let written = record.quantity(name).filter(|written| written.role != Role::Axis);
            // A program may report the very number that the axis sets.
            written.is_some_and(|written| own.is_none() || written.value.number() != own)
        };
        let (name, _) = self.case.keys.iter().find(is_lost)?;
        let message = format!("the axis `{name}` has the name of another value of the row");
        Some(Fault::new("axes", message, "give the axis another name"))
    }
}

/// Returns a record that begins with the values of the axes.
#[must_use]
pub fn keyed(keys: &[(String, Option<AxisValue>)]) -> Record {
    let mut record = Record::with_capacity(COLUMNS);
    for (name, value) in keys {
        record.put_as(Role::Axis, name.clone(), value.as_ref());
    }
    record
}

impl From<&AxisValue> for QuantityValue {
    fn from(value: &AxisValue) -> Self {
        match value {
            AxisValue::Whole(whole) => Self::from(*whole),
            AxisValue::Real(real) => Self::from(*real),
            AxisValue::Text(text) => Self::from(text.as_str()),
        }
    }
}
