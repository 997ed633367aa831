//! The report of one run as text and tables.

use super::counted;
use super::summary::number;
use super::table::{TextTable, decimals, digits, percent, unit_of_time};
use crate::analysis::{Breakdown, Parallelism, Residuals, Sample};
use crate::answer::Quantity;
use parsim_sim::trace::{Activity, Trace};
use std::fmt;

/// The human-readable report of one run: times for comparison, the distribution of the time, and the busiest parts.
pub struct RunReport<'r> {
    /// The subject of the run.
    pub title: String,
    /// The number of nodes; higher numbers of vertices are switches.
    pub nodes: u32,
    /// The trace.
    pub trace: &'r Trace,
    /// The breakdown of the time.
    pub breakdown: &'r Breakdown,
    /// The values to compare with simulated ones.
    pub compared: &'r [ReferenceValue],
    /// The makespans of all seeds, if there is more than one.
    pub sample: Option<Sample>,
    /// The statistics over all seeds of each value that the program reports, where there are any.
    pub reported: Vec<Option<Sample>>,
    /// The level in percent and the ends, in seconds, of the interval of a new measurement, if requested.
    pub interval: Option<(u8, Option<(f64, f64)>)>,
}

/// A value to compare with a simulated one.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceValue {
    /// The name of the value.
    pub title: String,
    /// The key of the value in a record.
    pub key: String,
    /// The simulated value with which this one is compared.
    pub beside: ReferenceTarget,
    /// The value, if it is known: in seconds if it is compared with the makespan, otherwise in the unit of the
    /// outcomes.
    pub value: Option<f64>,
    /// `true` if the value is withheld because it belongs to another machine or program.
    pub is_withheld: bool,
}

/// A simulated value with which another value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// The makespan; the other value is another prediction of it.
    Makespan,
    /// The makespan; the other value is a model of the scenario's own, which the simulation judges.
    OwnModel,
    /// The makespan; the other value is the measurement with which all predictions are compared.
    MeasuredMakespan,
    /// An outcome of the program; the other value is another prediction of it.
    Outcome(&'static str),
    /// The makespan; the other value is that of the same program on one rank, to which the speedup is relative.
    OneRank,
    /// A sum of outcomes of the program, which the other value validates.
    Outcomes(&'static [&'static str]),
}

impl ReferenceValue {
    /// Returns the same comparison without its value unless `belongs`: a value of another machine or program says
    /// nothing about this one.
    #[must_use]
    pub fn only_if(self, belongs: bool) -> Self {
        let is_withheld = self.value.is_some() && !belongs;
        Self { value: self.value.filter(|_| belongs), is_withheld, ..self }
    }

    /// Returns the simulated value that this one validates, if there is one.
    #[must_use]
    pub fn judged(&self, trace: &Trace) -> Option<f64> {
        match self.beside {
            ReferenceTarget::Makespan | ReferenceTarget::OwnModel | ReferenceTarget::OneRank => None,
            ReferenceTarget::MeasuredMakespan => Some(trace.makespan.seconds()),
            ReferenceTarget::Outcome(name) => trace.outcome(name),
            ReferenceTarget::Outcomes(names) => names.iter().map(|name| trace.outcome(name)).sum(),
        }
    }
}

impl fmt::Display for RunReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        writeln!(f, "{}", self.times())?;
        self.write_outcomes(f)?;
        self.write_parallelism(f)?;
        let unit = words(unit_of_time(self.trace.makespan.seconds()).1);
        writeln!(f, "Where the time went, in {unit}: by activity on average over the ranks and, in the last")?;
        writeln!(f, "column, on rank {} (the host's); each sums to the makespan.\n", self.trace.host)?;
        writeln!(f, "{}", self.phases())?;
        self.write_busiest(f)?;
        let counts = self.trace.counts;
        let (messages, hops) = (counted(counts.messages, "message"), counted(counts.packet_hops, "packet-hop"));
        writeln!(f, "{messages}, {hops}, {}", counted(counts.events, "event"))
    }
}

impl RunReport<'_> {
    fn times(&self) -> TextTable {
        let measured = self.compared.iter().find(|one| one.beside == ReferenceTarget::MeasuredMakespan);
        let measured = measured.and_then(|one| one.value);
        let error = measured.map(|_| "error against measurement");
        let (unit, name) = unit_of_time(self.sample.map_or(self.trace.makespan.seconds(), |sample| sample.mean));
        let mut table = TextTable::new(["", words(name)].into_iter().chain(error));
        let mut row = |title: &str, seconds: Option<f64>, is_compared: bool| {
            let error = measured.map(|measured| match seconds.filter(|_| is_compared) {
                Some(seconds) => percent(Residuals::error(seconds, measured)) + " %",
                None => String::new(),
            });
            let seconds = seconds.map_or("none".to_owned(), |seconds| digits(seconds / unit));
            table.row([title.to_owned(), seconds].into_iter().chain(error));
        };
        match self.sample {
            None => row("simulated", Some(self.trace.makespan.seconds()), true),
            Some(sample) => {
                row(&format!("simulated, mean of {} seeds", sample.count), Some(sample.mean), true);
                row("  ± half its 95 % interval", Some(sample.interval), false);
                row("  standard deviation", Some(sample.deviation), false);
                row("  of the first seed, as is all that follows", Some(self.trace.makespan.seconds()), false);
            }
        }
        if let Some((percent, ends)) = self.interval {
            row(&format!("  {percent} % of new measurements: at least"), ends.map(|(low, _)| low), false);
            row("  at most", ends.map(|(_, high)| high), false);
        }
        for one in self.compared {
            match one.beside {
                _ if one.is_withheld => {}
                ReferenceTarget::Makespan | ReferenceTarget::OwnModel => row(&one.title, one.value, true),
                ReferenceTarget::MeasuredMakespan | ReferenceTarget::OneRank => row(&one.title, one.value, false),
                ReferenceTarget::Outcome(_) | ReferenceTarget::Outcomes(_) => {}
            }
        }
        table
    }

    fn write_outcomes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.trace.outcomes.is_empty() {
            return Ok(());
        }
        let over_seeds = self.sample.map(|sample| format!("mean of {} seeds", sample.count));
        let headings = over_seeds.iter().flat_map(|mean| [mean.as_str(), "± half its 95 % interval"]);
        let mut table = TextTable::new(["reported by the program", "value"].into_iter().chain(headings));
        for ((name, value), sample) in self.trace.outcomes.iter().zip(&self.reported) {
            let quantity = Quantity::new(*name, *value);
            let shown = |value: f64| number(quantity.unit, value);
            let means = sample.map_or_else(Default::default, |sample| [sample.mean, sample.interval].map(shown));
            let means = means.into_iter().filter(|_| over_seeds.is_some());
            table.row([quantity.name().to_owned(), shown(*value)].into_iter().chain(means));
        }
        writeln!(f, "{table}")?;
        match self.compared_outcomes() {
            Some(table) => writeln!(f, "{table}"),
            None => Ok(()),
        }
    }

    /// Writes the histogram of the degree of parallelism, for programs that compute critical times.
    fn write_parallelism(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parallelism) = Parallelism::of_units(&self.trace.critical_intervals) else { return Ok(()) };
        let mut table = TextTable::new(["active at once, delayed only by causality", "% of the time"]);
        for (active, share) in parallelism.histogram().into_iter().enumerate() {
            table.row([active.to_string(), format!("{:.1}", 100.0 * share)]);
        }
        writeln!(f, "{table}")
    }

    /// Returns the outcomes with their references, if there are any.
    fn compared_outcomes(&self) -> Option<TextTable> {
        let mut table = None;
        for one in self.compared {
            let names: &[&str] = match &one.beside {
                ReferenceTarget::Outcomes(names) => names,
                ReferenceTarget::Outcome(name) => std::slice::from_ref(name),
                ReferenceTarget::Makespan
                | ReferenceTarget::OwnModel
                | ReferenceTarget::MeasuredMakespan
                | ReferenceTarget::OneRank => continue,
            };
            let (Some(simulated), Some(value)) = (one.judged(self.trace), one.value) else { continue };
            let error = percent(Residuals::error(simulated, value)) + " %";
            let lines: Vec<_> = names.chunks(2).map(|names| names.join(" + ")).collect();
            let row = [one.title.clone(), digits(simulated), digits(value), error, lines.join(" +\n")];
            table.get_or_insert_with(|| TextTable::new(["", "simulated", "published", "error", "sum of"])).row(row);
        }
        table
    }

    /// Returns the accounts without columns and rows of zeros.
    fn phases(&self) -> TextTable {
        let accounts = &self.trace.accounts;
        let (unit, _) = unit_of_time(self.trace.makespan.seconds());
        let decimals = decimals(self.trace.makespan.seconds() / unit);
        let fixed = |seconds: f64| format!("{:.decimals$}", seconds / unit);
        let names = Activity::ALL.map(Activity::name);
        let host = format!("rank {}", self.trace.host);
        let mut table = TextTable::new(["phase"].into_iter().chain(names).chain([host.as_str()]));
        for share in &self.breakdown.phases {
            let mean = |activity| accounts.in_phase(share.of, activity).seconds() / f64::from(accounts.ranks());
            let means = Activity::ALL.map(mean);
            if means.into_iter().chain([share.seconds]).any(|seconds| seconds > 0.0) {
                table.row([share.of.to_owned()].into_iter().chain(means.map(fixed)).chain([fixed(share.seconds)]));
            }
        }
        let sums = self.breakdown.activities.iter().map(|share| fixed(share.seconds));
        let makespan = fixed(self.trace.makespan.seconds());
        table.row(["all".to_owned()].into_iter().chain(sums).chain([makespan]));
        table.without_zeros()
    }

    fn write_busiest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, utilization) = self.breakdown.busiest_rank;
        writeln!(f, "Busiest processor: rank {rank}, {:.1} % of the time", 100.0 * utilization)?;
        match self.breakdown.busiest_link.filter(|link| link.utilization > 0.0) {
            Some(link) => {
                let percent = 100.0 * link.utilization;
                let [from, to] = [link.from, link.to].map(|number| vertex(number, self.nodes));
                writeln!(f, "Busiest link: {from} to {to}, {percent:.1} % of the time")
            }
            None => writeln!(f, "Busiest link: none"),
        }
    }
}

/// Returns the vertex with this number in words, in a network with this many nodes.
pub fn vertex(number: u32, nodes: u32) -> String {
    format!("{} {number}", if number < nodes { "node" } else { "switch" })
}

/// Returns a unit of time as it is written in a heading.
fn words(unit: &'static str) -> &'static str {
    if unit == "s" { "seconds" } else { unit }
}
