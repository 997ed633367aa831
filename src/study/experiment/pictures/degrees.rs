//! The degree of parallelism that a program computes about itself.

use crate::analysis::Parallelism;
use crate::experiment::{Outcome, StudyError};
use crate::programs::Shipped;
use crate::report::space_time::ParallelismHistogram;
use crate::scenario::table::Table;
use std::path::Path;

/// The advice for programs that compute no critical times.
const ELSEWHERE: &str =
    "the program computes no critical times: `parsim critical-path --histogram` draws those of its run";

/// Checks, before a run, that a program computes critical times.
///
/// # Errors
/// Returns an error if the program does not.
pub fn check_critical_times(program: &Shipped) -> Result<(), StudyError> {
    let computes = matches!(program, Shipped::Ising(_));
    if computes { Ok(()) } else { Err(StudyError::Request(format!("--histogram: {ELSEWHERE}"))) }
}

/// Draws the degree of parallelism that a program has computed, beside published shares of the time, read from the
/// table `published`.
///
/// # Errors
/// Returns an error if the program computes no critical times, or if the table has faults.
pub fn degrees_of_parallelism(
    outcome: &Outcome,
    published: Option<&Path>,
    title: Option<&str>,
) -> Result<String, StudyError> {
    let parallelism = Parallelism::of_units(&outcome.trace.critical_intervals)
        .ok_or_else(|| StudyError::Request(format!("{}: {ELSEWHERE}", outcome.report().title)))?;
    let degrees = ParallelismHistogram {
        title: title.map_or_else(|| outcome.report().title, str::to_owned),
        note: format!("activities at once, if only causality delays them: on average {:.3}", parallelism.mean()),
        of: "Active at once".to_owned(),
        published: published.map_or(Ok(Vec::new()), shares)?,
    };
    Ok(degrees.svg(&parallelism))
}

/// The greatest number of simultaneous activities that is drawn.
const MAX_ACTIVE: f64 = 65536.0;

/// The column with the number of active units in a table of published shares.
const ACTIVE: &str = "active";
const SHARE: &str = "share";

fn shares(file: &Path) -> Result<Vec<(u32, f64)>, StudyError> {
    let table = Table::load(file)?;
    let columns = [table.column(ACTIVE)?, table.column(SHARE)?];
    if let Some(other) = table.columns().iter().find(|column| !columns.contains(column)) {
        return Err(table.failure(&format!("`{other}` is neither `{ACTIVE}` nor `{SHARE}`")).into());
    }
    table.need_values(&columns)?;
    table.need_numbers(&columns)?;
    table.need_different_points(&columns[..1])?;
    let shares = table.rows.iter().map(|row| {
        let active = row.number(ACTIVE).filter(|active| active.fract() == 0.0 && (0.0..=MAX_ACTIVE).contains(active));
        let active = active.ok_or_else(|| table.fault_in(row, ACTIVE, "give a whole number up to 65536"))?;
        let share = row.number(SHARE).filter(|share| (0.0..=1.0).contains(share));
        let share = share.ok_or_else(|| table.fault_in(row, SHARE, "give a share from 0 to 1"))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and at most 65536")]
        Ok((active as u32, share))
    });
    shares.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_shares_are_shares() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shares.csv");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            shares(&file)
        };
        assert_eq!(read("active,share\n1,0.13\n10,0.2\n").unwrap(), [(1, 0.13), (10, 0.2)]);
        for text in [
            "active,share\n1,13\n",
            "active,share\n99999,0.1\n",
            "active\n1\n",
            "active,share,x\n1,0.1,2\n",
            "active,share\n1,\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
