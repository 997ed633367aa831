//! The pictures of CS-RR-281, Figures 3 to 9, for any program.

use super::bottleneck::BottleneckCurve;
use super::horizontal_axis::HorizontalAxis;
use super::panels::{MAX_PANELS, Panels};
use super::plot::{ChartAxis, LineChart, LineStyle, MARKERS, PlotLine, Scale};
use super::table::capitalised;
use crate::analysis::{Component, Components, SubComponent};

/// A picture with the name of its file.
pub type NamedChart = (&'static str, LineChart);

/// Times along an axis: one line of a picture like Figures 3 and 4.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLine {
    /// The values of the other axes, such as `n = 256`; empty if there are none.
    pub group: String,
    /// The kind of the times, such as `simulated`.
    pub kind: String,
    /// The origin of the times.
    pub origin: LineOrigin,
    /// The points: the value of the axis, and the time in seconds.
    pub points: Vec<(f64, f64)>,
    /// Half the 95 % confidence interval of each time, in seconds; 0 if there is none.
    pub half_widths: Vec<f64>,
    /// The interval that should contain a new measurement of each time, in seconds, if there is one.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// The percentage of these intervals, if there are any.
    pub percent: Option<u8>,
}

impl TimeLine {
    /// Creates a line without intervals.
    #[must_use]
    pub fn new(group: &str, kind: &str, origin: LineOrigin, points: Vec<(f64, f64)>) -> Self {
        let (group, kind) = (group.to_owned(), kind.to_owned());
        Self { group, kind, origin, points, half_widths: Vec::new(), intervals: Vec::new(), percent: None }
    }

    /// Returns the name of the line among those of its group. Intervals are named where there are any.
    fn name(&self) -> String {
        match self.percent {
            Some(percent) => format!("{}, {percent} % interval", self.kind),
            None => self.kind.clone(),
        }
    }
}

/// The origin of a line of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrigin {
    /// Runs, or other results of the study itself.
    Subject,
    /// A model for comparison.
    Model,
    /// Measurements.
    Measurement,
}

impl LineOrigin {
    /// Returns the style of a line with this origin.
    #[must_use]
    pub const fn style(self) -> LineStyle {
        match self {
            Self::Subject => LineStyle::Solid,
            Self::Model => LineStyle::Formula,
            Self::Measurement => LineStyle::Marks,
        }
    }
}

/// Returns a chart of times of `program` (Figures 3 and 4). Groups differ in colour, and all lines in their markers, as
/// far as there are different ones. Models are dashed, those of one group each in its own way, and measurements are markers
/// only.
#[must_use]
pub fn times(program: &str, along: &HorizontalAxis, times: &[TimeLine]) -> NamedChart {
    let groups = numbered(times, |time| &time.group);
    let kinds = numbered(times, |time| &time.kind);
    let models: Vec<_> = times.iter().filter(|time| time.origin == LineOrigin::Model).cloned().collect();
    let models = numbered(&models, |time| &time.kind);
    let index = |names: &[&String], name: &String| names.iter().position(|other| *other == name).unwrap_or(0);
    // Lines beyond the last colour have the first ones again, with other markers.
    let stride = kinds.len() + usize::from(kinds.len() % MARKERS.len() == 0);
    let line = |time: &TimeLine| {
        let kind = index(&kinds, &time.kind);
        let (name, hue, dash) = match groups.len() {
            0 | 1 => (time.name(), kind, 0),
            _ => (format!("{}, {}", time.group, time.name()), index(&groups, &time.group), index(&models, &time.kind)),
        };
        PlotLine {
            name,
            points: time.points.clone(),
            hue,
            marker: stride * index(&groups, &time.group) + kind,
            dash,
            style: time.origin.style(),
            half_widths: time.half_widths.clone(),
            band: time.intervals.clone(),
        }
    };
    let title = format!("Execution time of {program}");
    let lines = times.iter().map(line).collect();
    ("figure-3-4-times.svg", chart_along(title, along, ("Time [s]", Scale::Log10), lines, None))
}

/// Returns the times as small multiples, one for each group, if there are several groups and several kinds of lines;
/// otherwise as one chart. The second value is the number of groups that are left out.
#[must_use]
pub fn times_by_group(program: &str, along: &HorizontalAxis, lines: &[TimeLine]) -> (Panels, usize) {
    let groups = numbered(lines, |time| &time.group);
    let kinds = numbered(lines, |time| &time.kind);
    let shown = &groups[..groups.len().min(MAX_PANELS)];
    let of_shown: Vec<_> = lines.iter().filter(|time| shown.contains(&&time.group)).cloned().collect();
    let (_, whole) = times(program, along, &of_shown);
    let left_out = groups.len() - shown.len();
    if shown.len() < 2 || kinds.len() < 2 {
        return (Panels::one(whole), left_out);
    }
    let hue = |kind: &String| kinds.iter().position(|other| *other == kind).unwrap_or(0);
    let panel = |group: &&String| {
        let own = of_shown.iter().filter(|time| &time.group == *group);
        let line = |time: &TimeLine| PlotLine {
            style: time.origin.style(),
            half_widths: time.half_widths.clone(),
            band: time.intervals.clone(),
            ..PlotLine::new(time.name(), time.points.clone(), hue(&time.kind))
        };
        let lines = own.map(line).collect();
        chart_along((*group).clone(), along, ("Time [s]", Scale::Log10), lines, None)
    };
    (Panels { title: whole.title, charts: shown.iter().map(panel).collect(), has_whole: false }, left_out)
}

/// Lines with their names.
type NamedPoints = Vec<(String, Vec<(f64, f64)>)>;

/// Returns the total time of each curve with its components, or with their parts, as small multiples; `None` if there
/// are fewer than two to distinguish. The titles are the names of the curves.
#[must_use]
pub fn composition(title: &str, curves: &[(&str, &BottleneckCurve)], of_parts: bool) -> Option<Panels> {
    let named = |curve: &BottleneckCurve| -> NamedPoints {
        let whole = ("the whole time".to_owned(), curve.points_of(|known| Some(known.total_s)));
        let all: Vec<_> = if of_parts {
            parts(curve)
        } else {
            let shown = Component::ALL.into_iter().filter(|component| curve.shows(*component));
            let component = |one: Component| (one.title().to_owned(), curve.points_of(|known| known.component_s(one)));
            shown.map(component).collect()
        };
        [whole].into_iter().chain(all).collect()
    };
    let all: Vec<_> = curves.iter().take(MAX_PANELS).map(|(name, curve)| (*name, *curve, named(curve))).collect();
    // A line has the same colour in all panels.
    let mut known: Vec<String> = Vec::new();
    for (name, points) in all.iter().flat_map(|(_, _, lines)| lines) {
        if points.iter().any(|point| point.1 > 0.0) && !known.contains(name) {
            known.push(name.clone());
        }
    }
    let panel = |(group, curve, lines): &(&str, &BottleneckCurve, NamedPoints)| {
        let found = |name: &String| lines.iter().find(|(other, _)| other == name);
        let lines = known.iter().enumerate().filter_map(|(index, name)| {
            let (_, points) = found(name)?;
            Some(PlotLine::new(name.clone(), points.clone(), index))
        });
        chart_along((*group).to_owned(), &curve.axis, ("Time [s]", Scale::Log10), lines.collect(), None)
    };
    // The total and its only part would be the same line twice.
    let panels = Panels { title: title.to_owned(), charts: all.iter().map(panel).collect(), has_whole: true };
    (known.len() > 2).then_some(panels)
}

/// Returns the different names of lines, in the order of their first ones.
pub(super) fn numbered(times: &[TimeLine], name: impl Fn(&TimeLine) -> &String) -> Vec<&String> {
    let mut names: Vec<&String> = Vec::new();
    for time in times {
        if !names.contains(&name(time)) {
            names.push(name(time));
        }
    }
    names
}

/// Returns the figures of one curve, each with the name of its file.
#[must_use]
pub fn components(curve: &BottleneckCurve) -> Vec<NamedChart> {
    let [components, percentages, b_ratios] = by_component(curve);
    vec![components, percentages, b_ratios, ratios(curve), breakdown(curve)]
}

/// Returns Figures 5 to 7, with a line for each component.
fn by_component(curve: &BottleneckCurve) -> [NamedChart; 3] {
    let of_component = |quantity: fn(&Components, Component) -> Option<f64>| {
        let shown = Component::ALL.into_iter().filter(|component| curve.shows(*component));
        let named = shown.map(|component| {
            (capitalised(component.title()), curve.points_of(|components| quantity(components, component)))
        });
        lines(named)
    };
    let percent = |components: &Components, component| components.share(component).map(|share| 100.0 * share);
    let times = of_component(Components::component_s);
    let times = figure(curve, "Components of the execution time", ("Time [s]", Scale::Log10), times, None);
    let shares = of_component(percent);
    let shares = figure(curve, "Shares of the components", ("Share [%]", Scale::Linear), shares, None);
    let b_ratios = of_component(Components::b_ratio);
    let title = "B-ratios: each component by all others";
    let b_ratios = figure(curve, title, ("B-ratio", Scale::Log10), b_ratios, Some(1.0));
    [("figure-5-components.svg", times), ("figure-6-percentages.svg", shares), ("figure-7-b-ratios.svg", b_ratios)]
}

/// Returns Figure 8.
fn ratios(curve: &BottleneckCurve) -> NamedChart {
    let quantities: [fn(&Components) -> Option<f64>; 2] =
        [Components::communication_to_computation, Components::memory_to_processing];
    let titles = curve.titles_of_ratios();
    let lines =
        lines(titles.into_iter().zip(quantities).map(|(name, ratio)| (capitalised(name), curve.points_of(ratio))));
    let title = capitalised(&titles.join(", "));
    ("figure-8-ratios.svg", figure(curve, &title, ("Ratio", Scale::Log10), lines, Some(1.0)))
}

/// Returns Figure 9.
fn breakdown(curve: &BottleneckCurve) -> NamedChart {
    let parts = parts(curve).into_iter().map(|(name, points)| (capitalised(&name), points));
    let (title, y) = ("Breakdown of the execution time", ("Time [s]", Scale::Log10));
    ("figure-9-breakdown.svg", figure(curve, title, y, lines(parts), None))
}

/// Returns the parts of the components of a curve, with other communication by phase where several phases have any.
fn parts(curve: &BottleneckCurve) -> NamedPoints {
    let by_phase: NamedPoints = curve
        .communication_by_phase()
        .into_iter()
        .map(|(phase, points)| (format!("communication in {phase}"), points))
        .collect();
    let part = |part: SubComponent| match part {
        SubComponent::OtherCommunication if !by_phase.is_empty() => by_phase.clone(),
        part => vec![(part.title().to_owned(), curve.points_of(|known| known.part_s(part)))],
    };
    SubComponent::ALL.into_iter().flat_map(part).collect()
}

/// Returns a figure of a curve, whose title states the subject `what`.
fn figure(
    curve: &BottleneckCurve,
    what: &str,
    y: (&str, Scale),
    lines: Vec<PlotLine>,
    reference: Option<f64>,
) -> LineChart {
    chart_along(format!("{what} ({})", curve.title), &curve.axis, y, lines, reference)
}

pub(super) fn chart(
    title: String,
    x: &str,
    y: (&str, Scale),
    lines: Vec<PlotLine>,
    reference: Option<f64>,
) -> LineChart {
    let lines: Vec<_> = lines.into_iter().map(PlotLine::along_axis).collect();
    let scale = Scale::fitting(lines.iter().flat_map(|line| &line.points).map(|point| point.0));
    LineChart { title, x: ChartAxis::new(x, scale), y: ChartAxis::new(y.0, y.1), lines, reference }
}

fn chart_along(
    title: String,
    along: &HorizontalAxis,
    y: (&str, Scale),
    lines: Vec<PlotLine>,
    reference: Option<f64>,
) -> LineChart {
    let mut chart = chart(title, &along.label, y, lines, reference);
    chart.x = along.chart_axis(chart.x.scale);
    chart
}

/// Returns the lines that have a positive value.
fn lines(named: impl IntoIterator<Item = (String, Vec<(f64, f64)>)>) -> Vec<PlotLine> {
    let visible = named.into_iter().filter(|(_, points)| points.iter().any(|point| point.1 > 0.0));
    visible.enumerate().map(|(index, (name, points))| PlotLine::new(name, points, index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::COLOURS;
    use std::collections::HashSet;

    #[test]
    fn lines_beyond_the_colours_have_other_markers() {
        let line = |group: usize, kind: &str, origin| TimeLine {
            group: format!("n = {group}"),
            kind: kind.to_owned(),
            origin,
            points: vec![(1.0, 1.0), (2.0, 1.0)],
            half_widths: Vec::new(),
            intervals: Vec::new(),
            percent: None,
        };
        let all: Vec<_> = (0..40).map(|group| line(group, "simulated", LineOrigin::Subject)).collect();
        let (_, chart) = times("a program", &HorizontalAxis::default(), &all);
        let looks: HashSet<_> = chart.lines.iter().map(|line| (line.hue % COLOURS.len(), line.marker % 5)).collect();
        assert_eq!(looks.len(), all.len());
        let few = [line(0, "simulated", LineOrigin::Subject), line(1, "simulated", LineOrigin::Subject)];
        let measured = few.clone().map(|line| TimeLine { kind: "measured".to_owned(), ..line });
        let (_, chart) = times("a program", &HorizontalAxis::default(), &[few, measured].concat());
        let markers: HashSet<_> = chart.lines.iter().map(|line| line.marker % MARKERS.len()).collect();
        assert_eq!(markers.len(), 4);
    }

    #[test]
    fn models_of_one_group_differ_in_their_dashes() {
        let line =
            |group: &str, kind: &str| TimeLine::new(group, kind, LineOrigin::Model, vec![(1.0, 1.0), (2.0, 1.0)]);
        let lines = [line("n = 1", "one"), line("n = 1", "two"), line("n = 2", "one"), line("n = 2", "two")];
        let (_, chart) = times("a program", &HorizontalAxis::default(), &lines);
        let looks: HashSet<_> = chart.lines.iter().map(|line| (line.hue, line.dash)).collect();
        assert_eq!(looks.len(), 4);
    }

    #[test]
    fn intervals_are_named_where_there_are_any() {
        let line = TimeLine::new("", "simulated", LineOrigin::Subject, vec![(1.0, 1.0)]);
        let with = TimeLine { intervals: vec![Some((0.5, 2.0))], percent: Some(90), ..line.clone() };
        let (_, chart) = times("a program", &HorizontalAxis::default(), &[line, with]);
        let names: Vec<_> = chart.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["simulated", "simulated, 90 % interval"]);
    }
}
