//! Latency over the offered load.

use super::figures::TimeLine;
use super::plot::{ChartAxis, LineChart, LineStyle, PlotLine, Scale};

/// The kind of lines with mean latencies.
pub const MEAN: &str = "mean";
/// The kind of lines with 99th percentiles.
pub const P99: &str = "99th percentile";

/// Returns a chart of mean and 99th percentile over the load. Lines of one group share colour and marker, and the
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
        PlotLine {
            name,
            style: if is_mean { LineStyle::Solid } else { LineStyle::Dashed },
            ..PlotLine::new(String::new(), points, index)
        }
    };
    LineChart {
        title: format!("Latency of {program}: {MEAN} (solid) and {P99} (dashed)"),
        x: ChartAxis::new(axis, Scale::Linear),
        y: ChartAxis::new("Latency [us]", Scale::Log10),
        lines: lines.iter().map(line).collect(),
        reference: None,
    }
}

/// The results of a network at the loads that were simulated.
pub struct SaturationCurve {
    /// The name of the network; empty if there is only one.
    pub name: String,
    /// The offered loads, and the mean latencies in seconds.
    pub latencies: Vec<(f64, f64)>,
    /// The largest load at which the network is not saturated, if it saturates at all.
    pub saturated: Option<f64>,
}

/// Returns a chart of mean latencies over the load, with a dashed line at the load from which each network is
/// saturated.
#[must_use]
pub fn saturation_curves(program: &str, curves: &[SaturationCurve]) -> LineChart {
    let of_curve = |(index, curve): (usize, &SaturationCurve)| {
        let points: Vec<(f64, f64)> = curve.latencies.iter().map(|(load, seconds)| (*load, 1e6 * seconds)).collect();
        let heights = || points.iter().map(|(_, height)| *height).filter(|height| height.is_finite());
        let (low, high) = (heights().fold(f64::INFINITY, f64::min), heights().fold(0.0, f64::max));
        let mark = curve.saturated.map(|load| PlotLine {
            style: LineStyle::Dashed,
            ..PlotLine::new(String::new(), vec![(load, low), (load, high)], index)
        });
        [Some(PlotLine::new(curve.name.clone(), points, index)), mark].into_iter().flatten()
    };
    LineChart {
        title: format!("Latency of {program}: {MEAN} (solid) and saturation (dashed)"),
        x: ChartAxis::new("Offered load [flits per node and cycle]", Scale::Linear),
        y: ChartAxis::new("Latency [us]", Scale::Log10),
        lines: curves.iter().enumerate().flat_map(of_curve).collect(),
        reference: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::LineOrigin;

    #[test]
    fn a_dashed_line_marks_where_a_network_saturates() {
        let curve = |saturated| SaturationCurve {
            name: "ring".to_owned(),
            latencies: vec![(0.1, 1e-6), (0.3, 9e-6), (0.2, 2e-6)],
            saturated,
        };
        let chart = saturation_curves("Traffic", &[curve(Some(0.2)), curve(None)]);
        assert_eq!(chart.lines.len(), 3);
        assert!(
            chart.lines[1].style == LineStyle::Dashed
                && chart.lines[1].name.is_empty()
                && chart.lines[1].hue == chart.lines[0].hue
        );
        assert_eq!(chart.lines[1].points, [(0.2, 1.0), (0.2, 9.0)]);
    }

    #[test]
    fn a_group_is_named_once() {
        let line = |group: &str, kind: &str| TimeLine {
            group: group.to_owned(),
            kind: kind.to_owned(),
            origin: LineOrigin::Subject,
            points: vec![(0.1, 1e-7)],
            half_widths: Vec::new(),
            intervals: Vec::new(),
        };
        let lines = [line("ring", MEAN), line("ring", P99), line("ccc", MEAN), line("ccc", P99)];
        let chart = latency_load("traffic", "load", &lines);
        let names: Vec<&str> = chart.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["ring", "", "ccc", ""]);
        assert_eq!(chart.lines.iter().map(|line| line.hue).collect::<Vec<_>>(), [0, 0, 1, 1]);
    }
}
