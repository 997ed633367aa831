//! Weak scaling: the laws for times of work that grows with the number of processors.

use crate::answer::Record;
use crate::model::laws::{Base, ScaledPoint, SpeedupPoint, SpeedupSeries};

/// The efficiency from which on the times are rather those of fixed work.
const FIXED: f64 = 1.5;

/// Returns the laws at each point of a series.
pub fn laws(series: &SpeedupSeries) -> Vec<(SpeedupPoint, Record)> {
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
    series.laws().into_iter().zip(series.scaled()).map(record).collect()
}

/// Describes a series by the laws.
pub fn sentences(series: &SpeedupSeries, beginning: &str) -> String {
    let points = series.scaled();
    let work = match series.base() {
        Base::OneProcessor(_) => "p times that on one processor".to_owned(),
        Base::Sequential(_) => "p times that of the sequential program".to_owned(),
        Base::Processors { count, .. } => format!("p / {count} times that on {count} processors"),
    };
    let at_end = points.last().map_or_else(String::new, |point| {
        format!("; at p = {} the efficiency is {:.4}", point.processors, point.efficiency)
    });
    let shares = points.iter().filter_map(|point| point.serial_share);
    let (least, most) =
        shares.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, share| (ends.0.min(share), ends.1.max(share)));
    let is_fixed = points.iter().any(|point| point.efficiency >= FIXED);
    let share = match (least, most) {
        _ if is_fixed => "; the times fall: if the work is fixed, leave out --weak".to_owned(),
        (least, most) if least > most => String::new(),
        (least, _) if least < -1e-9 => "; a serial share is negative: the scaled speedup is superlinear".to_owned(),
        (least, most) => {
            format!("; Gustafson's serial share, of the time on p processors, is {least:.4} to {most:.4}")
        }
    };
    format!("\n{beginning}weak scaling: the work is taken to be {work}{at_end}{share}\n")
}
