//! Latency over the offered load.

use super::figures::TimeLine;
use super::plot::{ChartAxis, LineChart, PlotLine, Scale};

/// The kind of a line of mean latencies.
pub const MEAN: &str = "mean";
/// The kind of a line of 99th percentiles.
pub const P99: &str = "99th percentile";

/// Mean and 99th percentile over the load; lines of one group share colour and marker, and the
/// percentile is dashed.
#[must_use]
pub fn latency_load(program: &str, axis: &str, lines: &[TimeLine]) -> LineChart {
    let mut groups: Vec<&str> = lines.iter().map(|line| line.group.as_str()).collect();
    groups.dedup();
    let line = |time: &TimeLine| {
        let is_mean = time.kind == MEAN;
        let index = groups.iter().position(|group| *group == time.group).unwrap_or(0);
        let name = match (groups.len(), is_mean) {
            (1, _) => time.kind.clone(),
            (_, true) => time.group.clone(),
            (_, false) => String::new(),
        };
        let points = time.points.iter().map(|(load, seconds)| (*load, 1e6 * seconds)).collect();
        PlotLine { name, dashed: !is_mean, ..PlotLine::new(String::new(), points, index) }
    };
    LineChart {
        title: format!("Latency of {program}: {MEAN} (solid) and {P99} (dashed)"),
        x: ChartAxis::new(axis, Scale::Linear),
        y: ChartAxis::new("Latency [us]", Scale::Log10),
        lines: lines.iter().map(line).collect(),
        reference: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_once() {
        let line = |group: &str, kind: &str| TimeLine {
            group: group.to_owned(),
            kind: kind.to_owned(),
            is_measurement: false,
            points: vec![(0.1, 1e-7)],
            half_widths: Vec::new(),
        };
        let lines = [line("ring", MEAN), line("ring", P99), line("ccc", MEAN), line("ccc", P99)];
        let chart = latency_load("traffic", "load", &lines);
        let names: Vec<&str> = chart.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["ring", "", "ccc", ""]);
        assert_eq!(chart.lines.iter().map(|line| line.hue).collect::<Vec<_>>(), [0, 0, 1, 1]);
    }
}
