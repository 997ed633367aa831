//! A validation as text.

use super::cell::Cell;
use super::choice::{JudgedChoice, choice_table};
use super::description::{MeasuredTable, Validation};
use super::fit::{PointToPointFit, fit_table};
use super::summary::Summary;
use crate::analysis::Residuals;
use crate::report::{TextTable, digits, percent};

/// Describes every cell, the summaries, the choices, the fits, and the data used for calibration.
pub fn text(
    validation: &Validation,
    cells: &[Cell],
    summaries: &[Summary],
    choices: &[JudgedChoice],
    fits: &[PointToPointFit],
) -> String {
    let mut text = format!("{}\n", validation.title);
    for table in &validation.tables {
        text += &["\n", &table.name, ", errors in percent of the reference `", &table.reference, "`\n\n"].concat();
        text += &cell_table(table, cells).to_string();
    }
    text += "\nErrors in percent over the held-out cells; calibrated ones are excluded unless marked (RMSE in the unit of the quantity)\n\n";
    text += &summary_table(summaries).to_string();
    text += &notes(validation);
    if !choices.is_empty() {
        text += "\nChoices by the least simulated time: how much longer than the best the chosen way was measured, in percent\n\n";
        text += &choice_table(choices).to_string();
    }
    if !fits.is_empty() {
        text += "\nEquation (4) fitted to simulated pings, beside Table 2\n\n";
        text += &fit_table(fits).to_string();
    }
    text += if validation.calibrated_on.is_empty() && cells.iter().any(|cell| cell.calibrates) {
        "\nThe cells so marked calibrated the parameters.\n"
    } else if validation.calibrated_on.is_empty() {
        "\nNo point is declared to have calibrated the parameters.\n"
    } else {
        "\nCalibrated on, and therefore no validation:\n"
    };
    for source in &validation.calibrated_on {
        text += &["  ", source, "\n"].concat();
    }
    text
}

/// Explains the tolerances and missing baselines: each sentence once, with its tables.
fn notes(validation: &Validation) -> String {
    let judged = validation.tables.iter().flat_map(|table| {
        [&table.tolerance, &table.calibration_tolerance].into_iter().flatten().map(|tolerance| (&table.name, tolerance))
    });
    let totals = validation.totals.iter().filter_map(|total| Some((&total.name, total.tolerance.as_ref()?)));
    let kinds = judged.chain(totals).map(|(name, tolerance)| {
        let reason = tolerance.kind.reason().map_or(String::new(), |reason| format!(": {reason}"));
        (tolerance.kind.name().to_owned() + &reason, name.as_str())
    });
    let bare = validation.tables.iter().filter_map(|table| Some((table.no_baseline.clone()?, table.name.as_str())));
    let heading = |heading, notes: String| if notes.is_empty() { notes } else { format!("\n{heading}:\n{notes}") };
    heading("Tolerances", grouped(kinds)) + &heading("No baseline", grouped(bare))
}

/// Returns a line for each distinct sentence, with the names to which it applies.
fn grouped<'n>(notes: impl Iterator<Item = (String, &'n str)>) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (sentence, name) in notes {
        match groups.iter_mut().find(|(other, _)| *other == sentence) {
            Some((_, names)) => names.push(name),
            None => groups.push((sentence, vec![name])),
        }
    }
    let line = |(sentence, names): &(String, Vec<&str>)| ["  ", sentence, " (", &names.join("; "), ")\n"].concat();
    groups.iter().map(line).collect()
}

/// Returns the subject of a summary.
fn subject(summary: &Summary) -> String {
    let left_out = summary.left_out.as_ref().map_or(String::new(), |left_out| format!(", {left_out} left out"));
    let calibrated = if summary.calibrated { ", calibrated" } else { "" };
    let baseline = if summary.is_baseline { "baseline: " } else { "" };
    [baseline, &summary.shown_key(), &left_out, calibrated].concat()
}

/// Returns the mean error of the best baseline, and whether it is beaten.
fn against_baseline(summary: &Summary) -> String {
    let Some(mean) = summary.best_baseline.as_ref().and_then(|best| best.residuals.mean_absolute()) else {
        return String::new();
    };
    let shown = |mean: f64| format!("{:.2}", 100.0 * mean);
    let is_equal = summary.residuals.mean_absolute().map(shown) == Some(shown(mean));
    let verdict = match summary.beats_baseline() {
        _ if is_equal => "equal",
        Some(true) => "beaten",
        _ => "NOT BEATEN",
    };
    format!("{}, {verdict}", shown(mean))
}

fn summary_table(summaries: &[Summary]) -> TextTable {
    let mut table = TextTable::new([
        "table",
        "prediction",
        "cells",
        "mean",
        "max",
        "signed mean",
        "SMAPE",
        "RMSE",
        "worst point",
        "tolerated mean",
        "max",
        "verdict",
        "best baseline",
    ]);
    for summary in summaries {
        let shown = |error: Option<f64>| error.map_or(String::new(), |error| format!("{:.2}", 100.0 * error));
        let limit = |limit: Option<Option<f64>>| limit.flatten().map_or(String::new(), |limit| limit.to_string());
        table.row([
            summary.table.clone(),
            subject(summary),
            summary.residuals.count().to_string(),
            shown(summary.residuals.mean_absolute()),
            shown(summary.residuals.max_absolute()),
            summary.residuals.mean().map_or(String::new(), percent),
            shown(summary.residuals.symmetric_mean_absolute()),
            summary.root_mean_square.map_or(String::new(), digits),
            summary.worst.clone().unwrap_or_default(),
            limit(summary.tolerance.as_ref().map(|tolerance| tolerance.mean_percent)),
            limit(summary.tolerance.as_ref().map(|tolerance| tolerance.max_percent)),
            summary.verdict().to_owned(),
            against_baseline(summary),
        ]);
    }
    table
}

fn cell_table(table: &MeasuredTable, cells: &[Cell]) -> TextTable {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.table == table.name).collect();
    let keys = own.first().map_or(&[][..], |cell| &cell.keys);
    let judged = [&table.simulated].into_iter().chain(&table.predictions);
    let shown = |key: &String| own.first().map_or_else(|| key.clone(), |cell| cell.key_of(key));
    let columns = judged.flat_map(|key| [shown(key), "%".to_owned()]);
    let reference = own.first().map_or("reference", |cell| cell.reference_key()).to_owned();
    let mut rows = TextTable::new(
        keys.iter().map(|(name, _)| name.clone()).chain([reference]).chain(columns).chain([String::new()]),
    );
    for cell in own {
        let axes = cell.shown_axes();
        let values = cell.judged.iter().flat_map(|(_, seconds)| match seconds {
            Some(seconds) => [digits(*seconds), percent(Residuals::error(*seconds, cell.reference))],
            None => [String::new(), String::new()],
        });
        let mark = if cell.calibrates { "calibrates" } else { "" };
        rows.row(axes.chain([digits(cell.reference)]).chain(values).chain([mark.to_owned()]));
    }
    rows
}
