//! Comparison of runs, and the accounts of their ranks.

use super::summary;
use super::table::{TextTable, digits, percent, time, wrapped};
use crate::analysis::critical_path::{CriticalPath, PathPart};
use crate::analysis::{Accounting, Gain, PhaseBalance, RankTime};
use crate::answer::{Quantity, Record};
use parsim_sim::trace::Recording;
use std::fmt;

/// The largest relative difference that is shown.
const LARGEST_DIFFERENCE: f64 = 100.0;

/// One of the runs that are compared.
pub struct ComparedRun {
    title: String,
    values: Vec<ComparedValue>,
}

/// A quantity of a run, which may be a quantity of the other run, too.
struct ComparedValue {
    quantity: Quantity,
    group: ValueGroup,
    /// The name of the quantity within its group.
    name: String,
}

/// The groups of quantities, in the order in which they are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ValueGroup {
    Whole,
    PathByKind,
    PathByPhase,
    Means,
    Imbalances,
}

impl ValueGroup {
    const fn words(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::PathByKind => "path: ",
            Self::PathByPhase => "path: phase ",
            Self::Means => "mean of the ranks: ",
            Self::Imbalances => "imbalance of ",
        }
    }
}

impl ComparedValue {
    fn words(&self) -> String {
        self.group.words().to_owned() + &self.name
    }
}

impl ComparedRun {
    /// Creates one side of a comparison for a trace called `title`, with `run` and `gain` if they are known.
    #[must_use]
    pub fn new(title: String, path: &CriticalPath<'_>, run: Option<&Recording>, gain: Option<Gain>) -> Self {
        let mut side = Self { title, values: Vec::new() };
        let whole = [
            ("makespan_s", "makespan", run.map(|run| run.makespan.seconds())),
            ("sequential_s", "on one processor", gain.map(|gain| gain.sequential_s)),
            ("speedup", "speedup", gain.map(|gain| gain.speedup)),
            ("efficiency", "efficiency", gain.map(|gain| gain.efficiency)),
            ("overhead_s", "parallel overhead p T − T(1)", gain.map(|gain| gain.overhead_s)),
            ("critical_path_s", "critical path", Some(path.length().seconds())),
            ("average_parallelism", "average parallelism", path.average_parallelism()),
            ("mean_active", "processors at work", path.mean_active()),
        ];
        for (key, name, value) in whole {
            side.put(ValueGroup::Whole, key, name, value);
        }
        let composition = path.composition();
        for PathPart { of, time, .. } in &composition.kinds {
            side.put(ValueGroup::PathByKind, &format!("path_{}_s", key(of)), of, Some(time.seconds()));
        }
        for PathPart { of, time, .. } in &composition.phases {
            side.put(ValueGroup::PathByPhase, &format!("path_phase_{}_s", key(of)), of, Some(time.seconds()));
        }
        if let Some(run) = run {
            side.account(&Accounting::of(&run.times, &path.overlaps()));
        }
        side
    }

    fn account(&mut self, accounting: &Accounting) {
        for (name, seconds) in accounting.mean() {
            self.put(ValueGroup::Means, &format!("mean_{name}_s"), activity(name), Some(seconds));
        }
        let words = "computing or loading while own messages are in transit";
        self.put(ValueGroup::Means, "mean_overlap_s", words, Some(accounting.mean_overlap_s()));
        self.put(ValueGroup::Imbalances, "imbalance", "computing", accounting.whole.imbalance);
        for phase in accounting.phases.iter().filter(|phase| phase.imbalance.is_some()) {
            let name = format!("imbalance_{}", key(&phase.phase));
            self.put(ValueGroup::Imbalances, &name, &phase.phase, phase.imbalance);
        }
    }

    fn put(&mut self, group: ValueGroup, key: &str, name: &str, value: Option<f64>) {
        self.values.push(ComparedValue {
            quantity: Quantity::new(key.to_owned(), value),
            group,
            name: name.to_owned(),
        });
    }

    fn value(&self, key: &str) -> Option<f64> {
        self.values.iter().find(|value| value.quantity.key == key)?.quantity.value.number()
    }
}

/// Returns the activities of a part of a rank's time in the words of a run. Keys have other names, which scripts know.
fn activity(part: &'static str) -> &'static str {
    match part {
        "computation" => "computing",
        "input_output" => "input/output",
        "communication" => "sending",
        "idle" => "blocked or idle",
        other => other,
    }
}

fn key(name: &str) -> String {
    if name.is_empty() { "unnamed".to_owned() } else { name.replace(' ', "_") }
}

/// The largest number of causes of a difference that are reported.
const CAUSES: usize = 3;
/// The smallest share of a difference that counts as one of its causes.
const MIN_CAUSE: f64 = 0.05;

/// Two runs that are compared with each other.
pub struct RunComparison {
    /// The run with which the other one is compared.
    pub first: ComparedRun,
    /// The other run.
    pub second: ComparedRun,
}

impl RunComparison {
    /// Returns the quantities of either run, each once, starting with those of the first run.
    fn rows(&self) -> Vec<&ComparedValue> {
        let mut rows: Vec<&ComparedValue> = Vec::new();
        for value in self.first.values.iter().chain(&self.second.values) {
            if !rows.iter().any(|known| known.quantity.key == value.quantity.key) {
                rows.push(value);
            }
        }
        rows
    }

    /// Returns the values of both runs.
    fn pair(&self, row: &ComparedValue) -> [Option<f64>; 2] {
        [&self.first, &self.second].map(|side| side.value(&row.quantity.key))
    }

    /// Returns a sentence about the difference and its causes on the critical path, by phase and by activity.
    fn sentence(&self) -> Option<String> {
        let makespan = |side: &ComparedRun| side.value("makespan_s").or_else(|| side.value("critical_path_s"));
        let (a, b) = (makespan(&self.first)?, makespan(&self.second)?);
        let difference = b - a;
        if difference == 0.0 {
            return Some("A and B take the same time.".to_owned());
        }
        let percent = if a > 0.0 { format!(" ({} %)", percent(difference / a)) } else { String::new() };
        let (by, word) = (time(difference.abs()), if difference < 0.0 { "less" } else { "more" });
        let [phases, kinds] =
            [ValueGroup::PathByPhase, ValueGroup::PathByKind].map(|group| self.causes(difference, group));
        let causes = [("phase", phases), ("activity", kinds)].into_iter().filter(|(_, causes)| !causes.is_empty());
        let causes = causes.map(|(what, causes)| format!(" On the critical path, by {what}: {causes}."));
        Some(format!("B takes {by} {word} than A{percent}.{}", causes.collect::<String>()))
    }

    /// Returns the parts of the critical path that differ most.
    fn causes(&self, difference: f64, group: ValueGroup) -> String {
        let part = |row: &ComparedValue| {
            let [a, b] = self.pair(row).map(|value| value.unwrap_or(0.0));
            (row.name.clone(), a, b)
        };
        let mut parts: Vec<_> = self.rows().into_iter().filter(|row| row.group == group).map(part).collect();
        parts.retain(|(_, a, b)| (b - a).abs() >= MIN_CAUSE * difference.abs());
        parts.sort_by(|(_, a, b), (_, c, d)| (d - c).abs().total_cmp(&(b - a).abs()));
        let shown = parts.into_iter().take(CAUSES).map(|(name, a, b)| {
            let sign = if b < a { "−" } else { "+" };
            format!("{name} {sign}{} ({} → {})", time((b - a).abs()), time(a), time(b))
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Returns the comparison as a flat object. The keys of the two sides begin with `a_` and `b_`, those of the
    /// difference b − a with `difference_`.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("a", self.first.title.as_str());
        record.put("b", self.second.title.as_str());
        for row in self.rows() {
            let (key, [a, b]) = (&row.quantity.key, self.pair(row));
            record.put(format!("a_{key}"), a);
            record.put(format!("b_{key}"), b);
            record.put(format!("difference_{key}"), a.zip(b).map(|(a, b)| b - a));
        }
        record
    }
}

impl fmt::Display for RunComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "A: {}\nB: {}\n", self.first.title, self.second.title)?;
        if let Some(sentence) = self.sentence() {
            writeln!(f, "{}\n", wrapped(&sentence))?;
        }
        let mut table = TextTable::new(["", "A", "B", "B − A", "%"]);
        let mut rows = self.rows();
        rows.sort_by_key(|row| row.group);
        for row in rows {
            let [a, b] = self.pair(row);
            if [a, b].into_iter().all(|value| value.is_none_or(|value| value == 0.0)) {
                continue;
            }
            let both = a.zip(b);
            let shown = |value: f64| summary::number(row.quantity.unit, value);
            let number = |value: Option<f64>| value.map_or_else(String::new, shown);
            let relative = both.filter(|(a, _)| *a != 0.0).map_or_else(String::new, |(a, b)| relative(b / a - 1.0));
            table.row([row.words(), number(a), number(b), number(both.map(|(a, b)| b - a)), relative]);
        }
        write!(f, "{table}")
    }
}

/// Formats a relative difference in percent. Beyond a factor of 100, next to nothing is compared with something.
fn relative(difference: f64) -> String {
    if difference < LARGEST_DIFFERENCE { percent(difference) } else { format!("> {}", percent(LARGEST_DIFFERENCE)) }
}

/// Returns human-readable accounts of every rank and of every phase, and the gain over one rank.
#[must_use]
pub fn accounts(accounting: &Accounting, gain: Option<&Gain>) -> String {
    let (ranks, balance) = (rank_table(accounting), balance_table(accounting));
    let overlap = "overlap is computing or loading while a message from or to the rank is in transit";
    let gain = gain.map_or_else(String::new, |gain| format!("\n{}", gain_table(gain)));
    format!("\nThe time of every rank; {overlap}:\n\n{ranks}\n{balance}{gain}")
}

/// Returns the accounts of every rank as a table: the parts of its time, their sum, and the overlap, which is part of
/// computing.
#[must_use]
pub fn rank_table(accounting: &Accounting) -> TextTable {
    let parts = RankTime::default().parts().map(|(part, _)| activity(part));
    let mut table = TextTable::new(["rank"].into_iter().chain(parts).chain(["sum", "overlap"]));
    for (rank, account) in accounting.ranks.iter().enumerate() {
        let parts = account.parts().into_iter().map(|(_, part)| part).chain([account.total(), account.overlap]);
        table.row([rank.to_string()].into_iter().chain(parts.map(|part| time(part.seconds()))));
    }
    table.without_zeros()
}

/// Returns the accounts of every rank as keys, each with a list over the ranks, and the imbalance of each phase.
#[must_use]
pub fn rank_record(accounting: &Accounting) -> Record {
    let mut record = Record::default();
    for (place, (name, _)) in RankTime::default().parts().into_iter().enumerate() {
        let of = |rank: &RankTime| rank.parts()[place].1.seconds();
        if ["loading", "ready"].contains(&name) && accounting.ranks.iter().all(|rank| of(rank) == 0.0) {
            continue;
        }
        record.put(format!("rank_{name}_s"), accounting.ranks.iter().map(of).collect::<Vec<_>>());
    }
    let overlap = |rank: &RankTime| rank.overlap.seconds();
    record.put("rank_overlap_s", accounting.ranks.iter().map(overlap).collect::<Vec<_>>());
    record.put("imbalance", accounting.whole.imbalance);
    for phase in &accounting.phases {
        record.put(format!("imbalance_{}", key(&phase.phase)), phase.imbalance);
    }
    record
}

/// Returns the gain and the cost of parallel execution as keys, with `null` for unknown values.
#[must_use]
pub fn gain_record(gain: Option<Gain>) -> Record {
    let mut record = Record::default();
    record.put("sequential_s", gain.map(|gain| gain.sequential_s));
    record.put("speedup", gain.map(|gain| gain.speedup));
    record.put("efficiency", gain.map(|gain| gain.efficiency));
    record.put("overhead_s", gain.map(|gain| gain.overhead_s));
    record
}

/// Returns the gain and the cost of parallel execution as a table.
#[must_use]
pub fn gain_table(gain: &Gain) -> TextTable {
    let mut table = TextTable::new(["against one processor", ""]);
    table.row(["one processor takes".to_owned(), time(gain.sequential_s)]);
    table.row(["speedup".to_owned(), digits(gain.speedup)]);
    table.row(["efficiency".to_owned(), digits(gain.efficiency)]);
    table.row(["parallel overhead p T − T(1)".to_owned(), time(gain.overhead_s)]);
    table
}

/// Returns the balance of the computation of each phase as a table.
#[must_use]
pub fn balance_table(accounting: &Accounting) -> TextTable {
    let mut table = TextTable::new(["phase", "mean computing", "largest", "imbalance"]);
    let all = PhaseBalance { phase: "all".to_owned(), ..accounting.whole.clone() };
    for phase in accounting.phases.iter().chain([&all]).filter(|phase| phase.imbalance.is_some()) {
        let imbalance = phase.imbalance.map_or_else(String::new, digits);
        table.row([phase.phase.clone(), time(phase.mean_s), time(phase.largest_s), imbalance]);
    }
    table
}
