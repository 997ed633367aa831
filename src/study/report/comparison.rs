//! Runs side by side, and the accounts of their ranks.

use super::record::Record;
use super::table::{TextTable, digits, percent, time, wrapped};
use crate::analysis::critical_path::{CriticalPath, PathPart};
use crate::analysis::{Accounting, Gain, PhaseBalance, RankTime};
use parsim_sim::trace::Recording;
use parsim_sim::units::SimDuration;
use std::fmt;

/// One of the runs that are compared.
pub struct ComparedRun {
    title: String,
    /// Key, what it is in words, and the value where there is one.
    values: Vec<(String, String, Option<f64>)>,
}

impl ComparedRun {
    /// Makes the comparison of a trace called `title`; `run` and `gain` where they are known.
    #[must_use]
    pub fn new(title: String, path: &CriticalPath<'_>, run: Option<&Recording>, gain: Option<Gain>) -> Self {
        let mut side = Self { title, values: Vec::new() };
        side.put("makespan_s", "makespan", run.map(|run| run.makespan.seconds()));
        side.put("sequential_s", "on one processor", gain.map(|gain| gain.sequential_s));
        side.put("speedup", "speedup", gain.map(|gain| gain.speedup));
        side.put("efficiency", "efficiency", gain.map(|gain| gain.efficiency));
        side.put("overhead_s", "parallel overhead p T − T(1)", gain.map(|gain| gain.overhead_s));
        side.put("critical_path_s", "critical path", Some(path.length().seconds()));
        side.put("average_parallelism", "average parallelism", path.average_parallelism());
        side.put("mean_active", "processors at work", path.mean_active());
        let composition = path.composition();
        for PathPart { of, time, .. } in &composition.kinds {
            side.time(&format!("path_{}_s", key(of)), &format!("path: {of}"), *time);
        }
        for PathPart { of, time, .. } in &composition.phases {
            side.time(&format!("path_phase_{}_s", key(of)), &format!("path: phase {of}"), *time);
        }
        if let Some(run) = run {
            side.account(&Accounting::of(&run.times, &path.overlaps()));
        }
        side
    }

    fn account(&mut self, accounting: &Accounting) {
        for (name, seconds) in accounting.mean() {
            self.put(
                &format!("mean_{name}_s"),
                &format!("mean of the ranks: {}", name.replace('_', "/")),
                Some(seconds),
            );
        }
        let words = "mean of the ranks: computation overlapped with own messages";
        self.put("mean_overlap_s", words, Some(accounting.mean_overlap_s()));
        self.put("imbalance", "imbalance of the computation", accounting.whole.imbalance);
        for phase in accounting.phases.iter().filter(|phase| phase.imbalance.is_some()) {
            let name = format!("imbalance_{}", key(&phase.phase));
            self.put(&name, &format!("imbalance of {}", phase.phase), phase.imbalance);
        }
    }

    fn put(&mut self, key: &str, words: &str, value: Option<f64>) {
        self.values.push((key.to_owned(), words.to_owned(), value));
    }

    fn time(&mut self, key: &str, words: &str, time: SimDuration) {
        self.put(key, words, Some(time.seconds()));
    }

    fn value(&self, key: &str) -> Option<f64> {
        self.values.iter().find(|(name, ..)| name == key).and_then(|(_, _, value)| *value)
    }
}

fn key(name: &str) -> String {
    if name.is_empty() { "unnamed".to_owned() } else { name.replace(' ', "_") }
}

/// The groups in which rows stand.
const PATH_BY_KIND: u8 = 1;
const PATH_BY_PHASE: u8 = 2;
/// As many causes of a difference as are told, and the least share of it that is one.
const CAUSES: usize = 3;
const LEAST_CAUSE: f64 = 0.05;

/// The group of a key: what both runs have, the path by kind and by phase, means of the ranks, imbalances.
fn group(key: &str) -> u8 {
    match key {
        _ if key.starts_with("path_phase_") => PATH_BY_PHASE,
        _ if key.starts_with("path_") => PATH_BY_KIND,
        _ if key.starts_with("mean_") && key.ends_with("_s") => 3,
        _ if key.starts_with("imbalance") => 4,
        _ => 0,
    }
}

/// Two runs side by side.
pub struct RunComparison {
    /// The one that the other is compared with.
    pub first: ComparedRun,
    /// The other.
    pub second: ComparedRun,
}

impl RunComparison {
    /// Keys and words of both, those of the first one first.
    fn rows(&self) -> Vec<(&str, &str)> {
        let mut rows: Vec<(&str, &str)> = Vec::new();
        for (key, words, _) in self.first.values.iter().chain(&self.second.values) {
            if !rows.iter().any(|(known, _)| known == key) {
                rows.push((key, words));
            }
        }
        rows
    }

    /// The difference, and what made it on the critical path, by phase and by activity.
    fn sentence(&self) -> Option<String> {
        let makespan = |side: &ComparedRun| side.value("makespan_s").or_else(|| side.value("critical_path_s"));
        let (a, b) = (makespan(&self.first)?, makespan(&self.second)?);
        let difference = b - a;
        if difference == 0.0 {
            return Some("A and B take the same time.".to_owned());
        }
        let percent = if a > 0.0 { format!(" ({} %)", percent(difference / a)) } else { String::new() };
        let (by, word) = (time(difference.abs()), if difference < 0.0 { "less" } else { "more" });
        let [phases, kinds] = [true, false].map(|is_phase| self.causes(difference, is_phase));
        let causes = [("phase", phases), ("activity", kinds)].into_iter().filter(|(_, causes)| !causes.is_empty());
        let causes = causes.map(|(what, causes)| format!(" On the critical path, by {what}: {causes}."));
        Some(format!("B takes {by} {word} than A{percent}.{}", causes.collect::<String>()))
    }

    /// The parts of the critical path that differ most, in words.
    fn causes(&self, difference: f64, is_phase: bool) -> String {
        let is_part = |key: &str| group(key) == if is_phase { PATH_BY_PHASE } else { PATH_BY_KIND };
        let part = |(key, words): (&str, &str)| {
            let of = |side: &ComparedRun| side.value(key).unwrap_or(0.0);
            let name = words.trim_start_matches("path: ").trim_start_matches("phase ").to_owned();
            (name, of(&self.first), of(&self.second))
        };
        let mut parts: Vec<_> = self.rows().into_iter().filter(|(key, _)| is_part(key)).map(part).collect();
        parts.retain(|(_, a, b)| (b - a).abs() >= LEAST_CAUSE * difference.abs());
        parts.sort_by(|(_, a, b), (_, c, d)| (d - c).abs().total_cmp(&(b - a).abs()));
        let shown = parts.into_iter().take(CAUSES).map(|(name, a, b)| {
            let sign = if b < a { "−" } else { "+" };
            format!("{name} {sign}{} ({} → {})", time((b - a).abs()), time(a), time(b))
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// The comparison as a flat object: the keys of a side begin with `a_` and `b_`, those of the difference, b − a,
    /// with `difference_`.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("a", self.first.title.as_str());
        record.put("b", self.second.title.as_str());
        for (key, _) in self.rows() {
            let (a, b) = (self.first.value(key), self.second.value(key));
            record.put(&format!("a_{key}"), a);
            record.put(&format!("b_{key}"), b);
            record.put(&format!("difference_{key}"), a.zip(b).map(|(a, b)| b - a));
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
        rows.sort_by_key(|(key, _)| group(key));
        for (key, words) in rows {
            let (a, b) = (self.first.value(key), self.second.value(key));
            let both = a.zip(b);
            if [a, b].into_iter().all(|value| value.is_none_or(|value| value == 0.0)) {
                continue;
            }
            let shown = if key.ends_with("_s") { time } else { digits };
            let number = |value: Option<f64>| value.map_or_else(String::new, shown);
            let relative = both.filter(|(a, _)| *a != 0.0).map_or_else(String::new, |(a, b)| percent(b / a - 1.0));
            table.row([words.to_owned(), number(a), number(b), number(both.map(|(a, b)| b - a)), relative]);
        }
        write!(f, "{table}")
    }
}

/// The accounts of every rank as a table: `T_i` = computation + input and output + communication + system + idle, and the
/// overlap, which the computation contains.
#[must_use]
pub fn rank_table(accounting: &Accounting) -> TextTable {
    let columns = ["rank", "computation", "input/output", "communication", "system", "idle", "sum", "overlap"];
    let mut table = TextTable::new(columns);
    for (rank, account) in accounting.ranks.iter().enumerate() {
        let parts = account.parts().into_iter().map(|(_, part)| part).chain([account.total(), account.overlap]);
        table.row([rank.to_string()].into_iter().chain(parts.map(|part| time(part.seconds()))));
    }
    table.without_zeros()
}

/// The accounts of every rank as keys, each of which holds a list over the ranks, and the imbalance of each phase.
#[must_use]
pub fn rank_record(accounting: &Accounting) -> Record {
    let mut record = Record::default();
    for (place, (name, _)) in RankTime::default().parts().into_iter().enumerate() {
        let of = |rank: &RankTime| rank.parts()[place].1.seconds();
        record.put(&format!("rank_{name}_s"), accounting.ranks.iter().map(of).collect::<Vec<_>>());
    }
    let overlap = |rank: &RankTime| rank.overlap.seconds();
    record.put("rank_overlap_s", accounting.ranks.iter().map(overlap).collect::<Vec<_>>());
    record.put("imbalance", accounting.whole.imbalance);
    for phase in &accounting.phases {
        record.put(&format!("imbalance_{}", key(&phase.phase)), phase.imbalance);
    }
    record
}

/// Returns gain and cost of parallel execution as keys; `null` where they are not known.
#[must_use]
pub fn gain_record(gain: Option<Gain>) -> Record {
    let mut record = Record::default();
    record.put("sequential_s", gain.map(|gain| gain.sequential_s));
    record.put("speedup", gain.map(|gain| gain.speedup));
    record.put("efficiency", gain.map(|gain| gain.efficiency));
    record.put("overhead_s", gain.map(|gain| gain.overhead_s));
    record
}

/// Returns gain and cost of parallel execution as a table.
#[must_use]
pub fn gain_table(gain: &Gain) -> TextTable {
    let mut table = TextTable::new(["against one processor", ""]);
    table.row(["one processor takes".to_owned(), time(gain.sequential_s)]);
    table.row(["speedup".to_owned(), digits(gain.speedup)]);
    table.row(["efficiency".to_owned(), digits(gain.efficiency)]);
    table.row(["parallel overhead p T − T(1)".to_owned(), time(gain.overhead_s)]);
    table
}

/// The balance of the computation of each phase as a table.
#[must_use]
pub fn balance_table(accounting: &Accounting) -> TextTable {
    let mut table = TextTable::new(["phase", "mean computation", "largest", "imbalance"]);
    let all = PhaseBalance { phase: "all".to_owned(), ..accounting.whole.clone() };
    for phase in accounting.phases.iter().chain([&all]).filter(|phase| phase.imbalance.is_some()) {
        let imbalance = phase.imbalance.map_or_else(String::new, digits);
        table.row([phase.phase.clone(), time(phase.mean_s), time(phase.largest_s), imbalance]);
    }
    table
}
