//! A validation for people.

use super::cell::Cell;
use super::description::{MeasuredTable, Validation};
use super::fit::{PointToPointFit, fit_table};
use super::summary::Summary;
use crate::analysis::Residuals;
use crate::report::{Table, digits, percent};

/// Every cell, the summaries, the fits, and what calibrated.
pub fn text(validation: &Validation, cells: &[Cell], summaries: &[Summary], fits: &[PointToPointFit]) -> String {
    let mut text = format!("{}\n", validation.title);
    for table in &validation.tables {
        text += &["\n", &table.name, ", errors in percent of the reference `", &table.reference, "`\n\n"].concat();
        text += &cell_table(table, cells).to_string();
    }
    text += "\nErrors in percent over the cells that calibrated nothing, unless they are called calibrated (RMSE in the unit of the quantity)\n\n";
    text += &summary_table(summaries).to_string();
    if !fits.is_empty() {
        text += "\nEquation (4) fitted to simulated pings, beside Table 2\n\n";
        text += &fit_table(fits).to_string();
    }
    text += if validation.calibrated_on.is_empty() {
        "\nNo point is declared to have calibrated the parameters.\n"
    } else {
        "\nCalibrated on, and therefore no validation:\n"
    };
    for source in &validation.calibrated_on {
        text += &["  ", source, "\n"].concat();
    }
    text
}

fn summary_table(summaries: &[Summary]) -> Table {
    let mut table = Table::new([
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
    ]);
    for summary in summaries {
        let shown = |error: Option<f64>| error.map_or(String::new(), |error| format!("{:.2}", 100.0 * error));
        let limit = |limit: Option<Option<f64>>| limit.flatten().map_or(String::new(), |limit| limit.to_string());
        table.row([
            summary.table.clone(),
            summary.key.clone() + if summary.calibrated { ", calibrated" } else { "" },
            summary.residuals.count().to_string(),
            shown(summary.residuals.mean_absolute()),
            shown(summary.residuals.max_absolute()),
            summary.residuals.mean().map_or(String::new(), percent),
            shown(summary.residuals.symmetric_mean_absolute()),
            summary.root_mean_square.map_or(String::new(), digits),
            summary.worst.clone().unwrap_or_default(),
            limit(summary.tolerance.map(|tolerance| tolerance.mean_percent)),
            limit(summary.tolerance.map(|tolerance| tolerance.max_percent)),
            summary.verdict().to_owned(),
        ]);
    }
    table
}

fn cell_table(table: &MeasuredTable, cells: &[Cell]) -> Table {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.table == table.name).collect();
    let keys: Vec<String> = own.first().map(|cell| cell.axis_names()).unwrap_or_default();
    let judged = [&table.simulated].into_iter().chain(&table.predictions);
    let columns = judged.flat_map(|key| [key.clone(), "%".to_owned()]);
    let mut rows =
        Table::new(keys.iter().cloned().chain(["reference".to_owned()]).chain(columns).chain([String::new()]));
    for cell in own {
        let axes = keys.iter().map(|key| cell.shown(key));
        let values = cell.judged.iter().flat_map(|(_, seconds)| match seconds {
            Some(seconds) => [digits(*seconds), percent(Residuals::error(*seconds, cell.reference))],
            None => [String::new(), String::new()],
        });
        let mark = if cell.calibrates { "calibrates" } else { "" };
        rows.row(axes.chain([digits(cell.reference)]).chain(values).chain([mark.to_owned()]));
    }
    rows
}
