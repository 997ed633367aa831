//! Weak scaling: the laws for times of work that grows with the number of processors.

use crate::answer::Record;
use crate::experiment::StudyError;
use crate::model::laws::{Base, ScaledPoint, SpeedupPoint, SpeedupSeries};
use crate::scenario::table::Table;

/// The efficiency from which on the times are rather those of fixed work.
const FIXED: f64 = 1.5;

/// The column of a sweep with the time of the same problem on one rank.
const ONE_RANK: &str = "one_rank_s";

/// The work on p processors, as time of the same problem on one processor.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkGrowth {
    /// The column `one_rank_s` if every row has it; otherwise p times the work on one processor.
    Simulated,
    /// This part of the time of the base, in seconds, is constant; the rest grows as p.
    Constant(f64),
    /// The column of this name.
    Column(String),
}

impl WorkGrowth {
    /// Returns the column of the work in `data`, in seconds, if there is one.
    ///
    /// # Errors
    /// The named column does not exist, or a row has no number there.
    pub(super) fn column(&self, data: &mut Table) -> Result<Option<String>, StudyError> {
        match self {
            Self::Constant(_) => Ok(None),
            Self::Column(name) => Ok(Some(data.quantity(Some(name))?)),
            Self::Simulated => {
                let column = data.column(ONE_RANK).ok();
                Ok(column.filter(|column| data.rows.iter().all(|row| row.number(column).is_some())))
            }
        }
    }

    /// Returns the part of the time of the base that is constant, in seconds.
    pub(super) const fn constant_s(&self) -> f64 {
        match self {
            Self::Constant(seconds) => *seconds,
            Self::Simulated | Self::Column(_) => 0.0,
        }
    }

    /// Checks that the constant part is within the time of the base.
    ///
    /// # Errors
    /// It is longer.
    pub(super) fn need_within(&self, base: Base) -> Result<(), StudyError> {
        let (part, whole) = (self.constant_s(), base.time_s());
        if part <= whole {
            return Ok(());
        }
        let message =
            format!("--constant-s {part}: {} is {whole} s, and the constant part is at most that", base.name());
        Err(StudyError::Request(message))
    }
}

/// Returns the laws at each point of a series.
pub fn laws(series: &SpeedupSeries, constant_s: f64) -> Vec<(SpeedupPoint, Record)> {
    let record = |(point, scaled): (SpeedupPoint, ScaledPoint)| {
        let mut record = Record::default();
        record.put("scaled_speedup", scaled.scaled_speedup);
        record.put("efficiency", scaled.efficiency);
        record.put("serial_share", scaled.serial_share);
        record.end_summary();
        record.put("base", series.base().name());
        record.put("base_s", series.base().time_s());
        (point, record)
    };
    series.laws().into_iter().zip(series.scaled(constant_s)).map(record).collect()
}

/// Describes a series by the laws. `column` has the work, if it is known.
pub fn sentences(series: &SpeedupSeries, beginning: &str, constant_s: f64, column: Option<&str>) -> String {
    let points = series.scaled(constant_s);
    let work = work(series.base(), constant_s, column);
    let at_end = points.last().map_or_else(String::new, |point| {
        format!(
            "; at p = {} the efficiency T({}) / T(p) is {:.4}",
            point.processors,
            series.base().processors(),
            point.efficiency
        )
    });
    let share = share(&points);
    format!("\n{beginning}weak scaling: {work}{at_end}{share}\n")
}

/// Describes the work on p processors.
fn work(base: Base, constant_s: f64, column: Option<&str>) -> String {
    let of_base = match base {
        Base::OneProcessor(_) => "p times that on one processor".to_owned(),
        Base::Sequential(_) => "p times that of the sequential program".to_owned(),
        Base::Processors { count, .. } => format!("p / {count} times that on {count} processors"),
    };
    match column {
        Some(column) => format!("the work is the time of the same problem on one processor, `{column}`"),
        None if constant_s > 0.0 => {
            format!("the work is taken to be {of_base}, except for {constant_s} s that are constant")
        }
        None => format!(
            "the work is taken to be {of_base}, which counts a constant part, such as serial work, p times: \
             `--constant-s` gives its time, or `compare: [OneRank]` in the scenario measures the work"
        ),
    }
}

/// Describes Gustafson's serial share.
fn share(points: &[ScaledPoint]) -> String {
    let shares = points.iter().filter_map(|point| point.serial_share);
    let (least, most) =
        shares.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, share| (ends.0.min(share), ends.1.max(share)));
    let is_fixed = points.iter().any(|point| point.efficiency >= FIXED);
    match (least, most) {
        _ if is_fixed => "; the times fall: if the work is fixed, leave out --weak".to_owned(),
        (least, most) if least > most => String::new(),
        (least, _) if least < -1e-9 => "; a serial share is negative: the scaled speedup is superlinear".to_owned(),
        (least, most) => {
            format!("; Gustafson's serial share, of the time on p processors, is {least:.4} to {most:.4}")
        }
    }
}
