//! Latency over the offered load.

use super::figures::{TimeLine, numbered};
use super::horizontal_axis::HorizontalAxis;
use super::plot::{ChartAxis, LineChart, LineStyle, PlotLine, Scale};

/// The kind of lines with mean latencies.
pub const MEAN: &str = "mean";
/// The kind of lines with 99th percentiles.
pub const P99: &str = "99th percentile";

/// The kind of mean latencies at loads at which packets had not arrived by the end, which are those of the others.
pub const OF_ARRIVED: &str = "mean of arrived packets";

/// Returns a chart of mean and 99th percentile over the load. Lines of one group share colour and marker, and the
/// percentile is dashed. Means that lack packets are markers of another kind, which are not joined.
#[must_use]
pub fn latency_load(program: &str, along: &HorizontalAxis, lines: &[TimeLine]) -> LineChart {
    let groups = numbered(lines, |line| &line.group);
    let first_of_arrived = lines.iter().position(|line| line.kind == OF_ARRIVED);
    let line = |(place, time): (usize, &TimeLine)| {
        let index = groups.iter().position(|group| **group == time.group).unwrap_or(0);
        let (style, marker) = match time.kind.as_str() {
            MEAN => (LineStyle::Solid, index),
            OF_ARRIVED => (LineStyle::Marks, index + 1),
            _ => (LineStyle::Dashed, index),
        };
        let is_named = groups.len() == 1 || first_of_arrived == Some(place);
        let name = match style {
            _ if is_named => time.kind.clone(),
            LineStyle::Solid => time.group.clone(),
            _ => String::new(),
        };
        let points = time.points.iter().map(|(load, seconds)| (*load, 1e6 * seconds)).collect();
        PlotLine { name, marker, style, ..PlotLine::new(String::new(), points, index) }
    };
    LineChart {
        title: format!("Latency of {program}: {MEAN} (solid) and {P99} (dashed)"),
        x: along.chart_axis(Scale::Linear),
        y: ChartAxis::new("Latency [us]", Scale::Log10),
        lines: lines.iter().enumerate().map(line).collect(),
        reference: None,
    }
}

/// The results of a network at the loads that were simulated.
pub struct SaturationCurve {
    /// The name of the network; empty if there is only one, and for all seeds but the first.
    pub name: String,
    /// The number of the network, whose seeds have one colour.
    pub network: usize,
    /// The offered loads, and the mean latencies in seconds.
    pub latencies: Vec<(f64, f64)>,
    /// The largest load at which the network is not saturated, if it saturates at all.
    pub saturated: Option<f64>,
}

/// Returns a chart of mean latencies over the load, with dashes at the load from which each network is saturated. Latencies
/// beyond it, which depend on the measured time, are markers that are not joined.
#[must_use]
pub fn saturation_curves(program: &str, curves: &[SaturationCurve]) -> LineChart {
    let of_curve = |curve: &SaturationCurve| {
        let index = curve.network;
        let points: Vec<(f64, f64)> = curve.latencies.iter().map(|(load, seconds)| (*load, 1e6 * seconds)).collect();
        let heights = || points.iter().map(|(_, height)| *height).filter(|height| height.is_finite());
        let (low, high) = (heights().fold(f64::INFINITY, f64::min), heights().fold(0.0, f64::max));
        let unnamed = |style, points| PlotLine { style, ..PlotLine::new(String::new(), points, index) };
        let mark = curve.saturated.map(|load| unnamed(LineStyle::Formula, vec![(load, low), (load, high)]));
        let is_below = |point: &(f64, f64)| curve.saturated.is_none_or(|load| point.0 <= load);
        let (below, beyond): (Vec<_>, Vec<_>) = points.into_iter().partition(is_below);
        let beyond = Some(unnamed(LineStyle::Marks, beyond)).filter(|line| !line.points.is_empty());
        [Some(PlotLine::new(curve.name.clone(), below, index)), beyond, mark].into_iter().flatten()
    };
    let has_seeds = curves.windows(2).any(|pair| pair[0].network == pair[1].network);
    let seeds = if has_seeds { ", each seed alone" } else { "" };
    LineChart {
        title: format!("Latency of {program}: {MEAN} (solid), saturation (dashed) and beyond it (not joined){seeds}"),
        x: ChartAxis::new("Offered load [flits per node and cycle]", Scale::Linear),
        y: ChartAxis::new("Latency [us]", Scale::Log10),
        lines: curves.iter().flat_map(of_curve).collect(),
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
            network: 0,
            latencies: vec![(0.1, 1e-6), (0.3, 9e-6), (0.2, 2e-6)],
            saturated,
        };
        let chart = saturation_curves("Traffic", &[curve(Some(0.2)), curve(None)]);
        let styles: Vec<_> = chart.lines.iter().map(|line| line.style).collect();
        assert_eq!(styles, [LineStyle::Solid, LineStyle::Marks, LineStyle::Formula, LineStyle::Solid]);
        assert!(chart.lines[1..3].iter().all(|line| line.name.is_empty() && line.hue == chart.lines[0].hue));
        assert_eq!((chart.lines[0].points.len(), &chart.lines[1].points[..]), (2, &[(0.3, 9.0)][..]));
        assert_eq!(chart.lines[2].points, [(0.2, 1.0), (0.2, 9.0)]);
        assert!(chart.title.ends_with("each seed alone"));
    }

    #[test]
    fn means_that_lack_packets_are_not_joined() {
        let line = |group: &str, kind: &str| TimeLine::new(group, kind, LineOrigin::Subject, vec![(0.1, 1e-7)]);
        let lines = [line("ring", MEAN), line("ccc", MEAN), line("ring", OF_ARRIVED), line("ccc", OF_ARRIVED)];
        let chart = latency_load("traffic", &HorizontalAxis::default(), &lines);
        let drawn: Vec<_> = chart.lines.iter().map(|line| (line.name.as_str(), line.hue, line.style)).collect();
        let (solid, marks) = (LineStyle::Solid, LineStyle::Marks);
        assert_eq!(drawn, [("ring", 0, solid), ("ccc", 1, solid), (OF_ARRIVED, 0, marks), ("", 1, marks)]);
    }

    #[test]
    fn a_group_is_named_once() {
        let line = |group: &str, kind: &str| TimeLine::new(group, kind, LineOrigin::Subject, vec![(0.1, 1e-7)]);
        let lines = [line("ring", MEAN), line("ring", P99), line("ccc", MEAN), line("ccc", P99)];
        let chart = latency_load("traffic", &HorizontalAxis::default(), &lines);
        let names: Vec<&str> = chart.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["ring", "", "ccc", ""]);
        assert_eq!(chart.lines.iter().map(|line| line.hue).collect::<Vec<_>>(), [0, 0, 1, 1]);
    }
}
