//! One run in words and tables.

use super::table::{Table, decimals, digits, percent};
use crate::analysis::{Breakdown, Residuals, Sample};
use crate::trace::{Activity, Trace};
use crate::units::SimDuration;
use std::fmt;

/// One run, for people: the times side by side, where the time went, what was busiest.
pub struct RunReport<'r> {
    /// What was run, in words.
    pub title: String,
    /// What happened.
    pub trace: &'r Trace,
    /// Where the time went.
    pub breakdown: &'r Breakdown,
    /// What the simulated time is set beside.
    pub compared: &'r [Compared],
    /// The makespans of all seeds, if there is more than one.
    pub sample: Option<Sample>,
}

/// A time beside the simulated one.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What it is, in words.
    pub title: String,
    /// Its key in a record.
    pub key: String,
    /// The time in seconds, where there is one.
    pub seconds: Option<f64>,
    /// Whether it was measured, so that others are judged by it.
    pub is_measurement: bool,
}

impl fmt::Display for RunReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        writeln!(f, "{}", self.times())?;
        writeln!(f, "Where the time went, in seconds: by activity on average over the ranks and, in the last")?;
        writeln!(f, "column, on rank {} (the host's); each sums to the makespan.\n", self.trace.host)?;
        writeln!(f, "{}", self.phases())?;
        self.write_busiest(f)?;
        let counts = self.trace.counts;
        writeln!(f, "{} messages, {} packet-hops, {} events", counts.messages, counts.packet_hops, counts.events)
    }
}

impl RunReport<'_> {
    fn times(&self) -> Table {
        let measured = self.compared.iter().find(|one| one.is_measurement).and_then(|one| one.seconds);
        let mut table = Table::new(["", "seconds", "error against measurement"]);
        let mut row = |title: &str, seconds: Option<f64>, judged: bool| {
            let error = measured.zip(seconds).filter(|_| judged);
            let error = error.map(|(measured, seconds)| percent(Residuals::error(seconds, measured)) + " %");
            table.row([title.to_owned(), seconds.map_or("none".to_owned(), digits), error.unwrap_or_default()]);
        };
        row("simulated", Some(self.trace.makespan.seconds()), true);
        if let Some(sample) = self.sample {
            row("simulated, mean of all seeds", Some(sample.mean), true);
            row("  standard deviation", Some(sample.deviation), false);
            row("  half 95 % interval of the mean", Some(sample.interval), false);
        }
        for one in self.compared {
            row(&one.title, one.seconds, !one.is_measurement);
        }
        for (name, value) in &self.trace.outcomes {
            row(name, Some(*value), false);
        }
        table
    }

    fn phases(&self) -> Table {
        let accounts = &self.trace.accounts;
        let names = Activity::ALL.map(Activity::name);
        let host = format!("rank {}", self.trace.host);
        let decimals = decimals(self.trace.makespan.seconds());
        let fixed = |seconds: f64| format!("{seconds:.decimals$}");
        let mut table = Table::new(["phase"].into_iter().chain(names).chain([host.as_str()]));
        for share in &self.breakdown.phases {
            let mean = |activity| {
                let each = (0..accounts.ranks()).map(|rank| accounts.account(rank, share.of).get(activity));
                each.sum::<SimDuration>().seconds() / f64::from(accounts.ranks())
            };
            let cells = Activity::ALL.map(|activity| fixed(mean(activity)));
            table.row([share.of.to_owned()].into_iter().chain(cells).chain([fixed(share.seconds)]));
        }
        let sums = self.breakdown.activities.iter().map(|share| fixed(share.seconds));
        let makespan = fixed(self.trace.makespan.seconds());
        table.row(["all".to_owned()].into_iter().chain(sums).chain([makespan]));
        table
    }

    fn write_busiest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, utilization) = self.breakdown.busiest_rank;
        writeln!(f, "Busiest processor: rank {rank}, {:.1} % of the time", 100.0 * utilization)?;
        match self.breakdown.busiest_link {
            Some(link) => {
                let percent = 100.0 * link.utilization;
                writeln!(f, "Busiest link: node {} to node {}, {percent:.1} % of the time", link.from, link.to)
            }
            None => writeln!(f, "Busiest link: there is none"),
        }
    }
}
