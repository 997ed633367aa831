//! Choices made by the simulation, judged by measured times.

use super::cell::Cell;
use super::description::{MeasuredChoice, Validation};
use crate::answer::Record;
use crate::report::TextTable;

/// The largest regret of a good choice.
const GOOD: f64 = 0.05;

/// The judged choices by one prediction.
pub struct JudgedChoice {
    name: String,
    /// The key of the prediction or baseline whose least value chooses.
    key: String,
    is_baseline: bool,
    /// `true` if some of the cells calibrated parameters.
    calibrated: bool,
    /// The regrets in ascending order: the measured time of the chosen way, relative to the least measured time, minus
    /// 1. If several ways have the same least predicted time, their regrets are averaged.
    regrets: Vec<f64>,
    /// The mean fraction of the chosen ways that are good.
    good: f64,
    /// Number of choices with several ways of the same least predicted time.
    ties: usize,
    /// The mean regret of a random choice.
    at_random: f64,
    /// The position of the worst choice.
    worst: String,
}

/// The cells of the alternative ways to do one task.
type TaskCells<'c> = Vec<&'c Cell>;

/// Judges the choices of a validation: first those among cells that calibrated nothing, then the others.
pub fn judged_choices(validation: &Validation, cells: &[Cell]) -> Vec<JudgedChoice> {
    let judged = validation.choices.iter().flat_map(|choice| {
        let (calibrated, held_out): (Vec<_>, Vec<_>) =
            ways(choice, cells).into_iter().partition(|ways| ways.iter().any(|cell| cell.calibrates));
        [(held_out, false), (calibrated, true)].map(|(ways, calibrated)| of_ways(choice, &ways, calibrated))
    });
    judged.flatten().collect()
}

/// Groups the cells of a choice by the task that they perform; a task with a single way is no choice.
fn ways<'c>(choice: &MeasuredChoice, cells: &'c [Cell]) -> Vec<TaskCells<'c>> {
    let mut groups: Vec<TaskCells<'_>> = Vec::new();
    for cell in cells.iter().filter(|cell| choice.tables.contains(&cell.table)) {
        let does_the_same = |other: &&Cell| choice.among.iter().all(|axis| other.at(axis) == cell.at(axis));
        match groups.iter_mut().find(|group| does_the_same(&group[0])) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Judges the choices by the simulation, and by each baseline.
fn of_ways(choice: &MeasuredChoice, ways: &[TaskCells<'_>], calibrated: bool) -> Vec<JudgedChoice> {
    let Some(first) = ways.first().map(|ways| ways[0]) else { return Vec::new() };
    let simulated = first.judged.iter().take(1).map(|(key, _)| (key, false));
    let baselines = first.baselines.iter().map(|(key, _)| (key, true));
    let judged = |(key, is_baseline): (&String, bool)| of_key(choice, ways, key, is_baseline, calibrated);
    simulated.chain(baselines).filter_map(judged).collect()
}

fn of_key(
    choice: &MeasuredChoice,
    ways: &[TaskCells<'_>],
    key: &str,
    is_baseline: bool,
    calibrated: bool,
) -> Option<JudgedChoice> {
    let mut regrets: Vec<(f64, String)> = Vec::new();
    let (mut good, mut ties) = (Vec::new(), 0);
    for group in ways {
        let chosen = chosen(group, key)?;
        ties += usize::from(chosen.len() > 1);
        let of_ways: Vec<f64> = chosen.iter().map(|cell| regret(cell, group)).collect();
        good.push(mean(of_ways.iter().map(|regret| if *regret <= GOOD { 1.0 } else { 0.0 })));
        let (worst, _) = chosen.iter().zip(&of_ways).max_by(|one, other| one.1.total_cmp(other.1))?;
        regrets.push((mean(of_ways.iter().copied()), place(worst)));
    }
    regrets.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all = ways.iter().map(|group| mean(group.iter().map(|cell| regret(cell, group))));
    Some(JudgedChoice {
        name: choice.name.clone(),
        key: key.to_owned(),
        is_baseline,
        calibrated,
        at_random: mean(all),
        worst: regrets.last()?.1.clone(),
        good: mean(good.into_iter()),
        ties,
        regrets: regrets.into_iter().map(|(regret, _)| regret).collect(),
    })
}

/// Returns the ways with the least predicted time; `None` if a way has no prediction.
fn chosen<'c>(ways: &[&'c Cell], key: &str) -> Option<TaskCells<'c>> {
    let predicted = ways.iter().map(|cell| Some((cell.value(key)?, *cell))).collect::<Option<Vec<_>>>()?;
    let least = predicted.iter().map(|(time, _)| *time).min_by(f64::total_cmp)?;
    let is_least = |time: f64| time.total_cmp(&least).is_eq();
    Some(predicted.into_iter().filter(|(time, _)| is_least(*time)).map(|(_, cell)| cell).collect())
}

/// Returns the labels of a way; the fields by which it is simulated would make the line too long.
fn place(chosen: &Cell) -> String {
    let labels = chosen.keys.iter().filter(|(name, _)| !name.contains('.'));
    let labels = labels.filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
    labels.collect::<Vec<_>>().join(" ")
}

/// Returns the excess of a way's measured time over the best one, relative to the best one.
fn regret(chosen: &Cell, ways: &[&Cell]) -> f64 {
    let best = ways.iter().map(|cell| cell.reference).fold(f64::INFINITY, f64::min);
    chosen.reference / best - 1.0
}

#[expect(clippy::cast_precision_loss, reason = "there are some hundred")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

impl JudgedChoice {
    /// Returns the least regret that at least `percent` % of the choices do not exceed.
    fn quantile(&self, percent: usize) -> f64 {
        let rank = (self.regrets.len() * percent).div_ceil(100);
        self.regrets[rank.max(1) - 1]
    }

    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "choice");
        record.put("table", self.name.as_str());
        record.put("prediction", self.key.as_str());
        record.put("is_baseline", self.is_baseline);
        record.put("calibrated", self.calibrated);
        record.put("choices", self.regrets.len());
        record.put("ties", self.ties);
        record.put("within_5_percent", self.good);
        record.put("regret_median", self.quantile(50));
        record.put("regret_90th_percentile", self.quantile(90));
        record.put("regret_max", self.quantile(100));
        record.put("regret_at_random_mean", self.at_random);
        record.put("worst_point", self.worst.as_str());
        record
    }
}

/// Returns the choices as a text table.
pub fn choice_table(choices: &[JudgedChoice]) -> TextTable {
    let columns =
        ["choice", "by", "choices", "ties", "within 5 %", "median", "90 %", "max", "at random, mean", "worst point"];
    let mut table = TextTable::new(columns);
    for choice in choices {
        let baseline = if choice.is_baseline { "baseline: " } else { "" };
        let calibrated = if choice.calibrated { ", calibrated" } else { "" };
        let shown = |part: f64| format!("{:.1}", 100.0 * part);
        table.row([
            choice.name.clone(),
            [baseline, &choice.key, calibrated].concat(),
            choice.regrets.len().to_string(),
            choice.ties.to_string(),
            shown(choice.good),
            shown(choice.quantile(50)),
            shown(choice.quantile(90)),
            shown(choice.quantile(100)),
            shown(choice.at_random),
            choice.worst.clone(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Unit;
    use crate::scenario::AxisValue;

    fn cell(bytes: u64, algorithm: &str, measured: f64, simulated: f64, calibrates: bool) -> Cell {
        let key = |name: &str, value: &str| (name.to_owned(), Some(AxisValue::parse(value)));
        Cell {
            table: "measured".to_owned(),
            unit: Unit::Seconds,
            calibrates,
            reference: measured,
            judged: vec![("collective_s".to_owned(), Some(simulated))],
            baselines: Vec::new(),
            keys: vec![key("bytes", &bytes.to_string()), key("algorithm", algorithm)],
            fitted: None,
        }
    }

    /// One of four tasks calibrated, and one has a single algorithm. The choice is right in one of the others, and takes
    /// 50 % too long in the last.
    #[test]
    fn the_chosen_way_is_set_beside_the_best() {
        let cells = [
            cell(8, "ring", 2.0, 2.2, false),
            cell(8, "tree", 1.0, 1.3, false),
            cell(64, "ring", 2.0, 2.0, false),
            cell(64, "tree", 3.0, 1.9, false),
            cell(512, "ring", 4.0, 4.0, true),
            cell(512, "tree", 5.0, 6.0, false),
            cell(4096, "ring", 9.0, 9.0, false),
        ];
        let choice = MeasuredChoice {
            name: "algorithm".to_owned(),
            tables: vec!["measured".to_owned()],
            among: vec!["bytes".to_owned()],
        };
        let groups = ways(&choice, &cells);
        assert_eq!(groups.len(), 3);
        let judged = of_ways(&choice, &groups[..2], false).remove(0);
        assert_eq!(judged.regrets, [0.0, 0.5]);
        assert_eq!((judged.good, judged.quantile(50), judged.quantile(90), judged.ties), (0.5, 0.0, 0.5, 0));
        assert!((judged.at_random - 0.375).abs() < 1e-12, "{}", judged.at_random);
        assert!(judged.worst.contains("bytes=64"), "{}", judged.worst);
        assert!(of_ways(&choice, &[], true).is_empty());
    }

    /// Two ways have the least simulated time; one is the best and one takes twice as long. The order of the rows must
    /// not matter.
    #[test]
    fn ways_that_are_simulated_alike_share_a_choice() {
        let cells = [("tree", 1.0), ("ring", 2.0), ("chain", 1.5)];
        let mut cells = cells.map(|(name, measured)| cell(8, name, measured, measured.clamp(1.5, 1.8), false));
        cells[1].judged[0].1 = Some(1.5);
        cells[2].judged[0].1 = Some(1.9);
        let choice = MeasuredChoice {
            name: "a".to_owned(),
            tables: vec!["measured".to_owned()],
            among: vec!["bytes".to_owned()],
        };
        for _ in 0..2 {
            let judged = of_ways(&choice, &ways(&choice, &cells), false).remove(0);
            assert_eq!((&judged.regrets[..], judged.good, judged.ties), (&[0.5][..], 0.5, 1));
            assert!(judged.worst.contains("ring"), "{}", judged.worst);
            cells.reverse();
        }
    }
}
