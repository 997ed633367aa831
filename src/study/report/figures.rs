//! The pictures of CS-RR-281, Figures 3 to 9, for any program.

use super::along::Along;
use super::bottleneck::BottleneckCurve;
use super::plot::{ChartAxis, LineChart, PlotLine, Scale};
use super::table::digits;
use crate::analysis::{Component, Components, SubComponent};
use crate::model::laws::{SeriesPoint, SpeedupPoint, SpeedupSeries, amdahl};

/// A picture and the name of its file.
pub type NamedChart = (&'static str, LineChart);

/// Times along an axis: one line of a picture like Figures 3 and 4.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLine {
    /// The values of the other axes, such as `n = 256`; empty if there are none.
    pub group: String,
    /// The kind of the times, such as `simulated`.
    pub kind: String,
    /// True if they were measured.
    pub is_measurement: bool,
    /// Value of the axis, and time in seconds.
    pub points: Vec<(f64, f64)>,
    /// Half the 95 % interval of each time, in seconds; 0 where there is none.
    pub half_widths: Vec<f64>,
}

/// Times of `program` beside each other (Figures 3 and 4): groups differ in colour, kinds in their
/// markers, and measurements are dashed.
#[must_use]
pub fn times(program: &str, along: &Along, times: &[TimeLine]) -> NamedChart {
    let groups = numbered(times, |time| &time.group);
    let kinds = numbered(times, |time| &time.kind);
    let index = |names: &[&String], name: &String| names.iter().position(|other| *other == name).unwrap_or(0);
    let line = |time: &TimeLine| {
        let marker = index(&kinds, &time.kind);
        let (name, hue) = match groups.len() {
            0 | 1 => (time.kind.clone(), marker),
            _ => (format!("{}, {}", time.group, time.kind), index(&groups, &time.group)),
        };
        PlotLine {
            name,
            points: time.points.clone(),
            hue,
            marker,
            dashed: time.is_measurement,
            half_widths: time.half_widths.clone(),
        }
    };
    let title = format!("Execution time of {program}");
    let lines = times.iter().map(line).collect();
    ("figure-3-4-times.svg", chart_along(title, along, ("Time [s]", Scale::Log10), lines, None))
}

/// T(1) / T(p) of a line of times: its name, its points, and whether it is measured.
type Based = (String, Vec<(f64, f64)>, bool);

/// T(1) / T(p) of every line of times with a time on one processor.
fn based(times: &[TimeLine]) -> impl Iterator<Item = Based> {
    times.iter().filter_map(|time| {
        let base = time.points.iter().find(|point| (point.0 - 1.0).abs() < 1e-9)?.1;
        let name = [time.group.as_str(), time.kind.as_str()].into_iter().filter(|word| !word.is_empty());
        let points: Vec<_> = time.points.iter().map(|(p, seconds)| (*p, base / seconds)).collect();
        Some((name.collect::<Vec<_>>().join(", "), points, time.is_measurement))
    })
}

/// Speedup and efficiency of every line of times with a time on one processor, T(1) / T(p) and T(1) / (p T(p)), beside
/// the ideal; no pictures where there is none.
#[must_use]
pub fn speedups(program: &str, axis: &str, times: &[TimeLine]) -> Vec<NamedChart> {
    let speedups: Vec<_> = based(times).collect();
    if speedups.is_empty() {
        return Vec::new();
    }
    let most = speedups.iter().flat_map(|(_, points, _)| points).map(|point| point.0).fold(1.0, f64::max);
    let line = |index, name: &String, points, dashed| PlotLine { dashed, ..PlotLine::new(name.clone(), points, index) };
    let lines = |of: fn((f64, f64)) -> (f64, f64)| {
        let own = speedups.iter().enumerate().map(move |(index, (name, points, dashed))| {
            line(index, name, points.iter().copied().map(of).collect(), *dashed)
        });
        own.collect::<Vec<_>>()
    };
    let ideal = PlotLine { dashed: true, ..PlotLine::new("ideal", vec![(1.0, 1.0), (most, most)], speedups.len()) };
    let with_ideal = lines(|point| point).into_iter().chain([ideal]).collect();
    let efficiency = lines(|(p, speedup)| (p, speedup / p));
    vec![
        (
            "speedup.svg",
            chart(format!("Speedup T(1) / T(p) of {program}"), axis, ("Speedup", Scale::Log10), with_ideal, None),
        ),
        (
            "efficiency.svg",
            chart(
                format!("Efficiency T(1) / (p T(p)) of {program}"),
                axis,
                ("Efficiency", Scale::Linear),
                efficiency,
                Some(1.0),
            ),
        ),
    ]
}

/// T(1) / T(p) of every line of times with a time on one processor, where the problem grows with p as `growth` says:
/// no speedup, since T(p) is the time of another problem. It stays 1 if the time does. `None` where there is no line.
#[must_use]
pub fn growing_problem(program: &str, axis: &str, growth: &str, times: &[TimeLine]) -> Option<(String, NamedChart)> {
    let line =
        |(index, (name, points, dashed)): (usize, Based)| PlotLine { dashed, ..PlotLine::new(name, points, index) };
    let lines: Vec<_> = based(times).enumerate().map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let caption = format!(
        "T(1) / T(p) of {program}, whose problem grows with p: {growth}. It is no speedup, as T(p) is the time of a \
         larger problem than T(1): where the work grows as p, 1 is ideal"
    );
    let title = format!("T(1) / T(p) of {program}, a problem that grows");
    Some((caption, ("growing-problem.svg", chart(title, axis, ("T(1) / T(p)", Scale::Linear), lines, Some(1.0)))))
}

/// The speedups of each simulated line of times with a time on one processor beside Amdahl's law with the serial
/// fraction of the line, with a caption that says how it is calibrated, and the Karp-Flatt metric of every point. None
/// where the fraction is not between 0 and 1. (Gustafson's law is about problems that grow with p.)
#[must_use]
pub fn laws(program: &str, axis: &str, times: &[TimeLine]) -> Vec<(String, NamedChart)> {
    times
        .iter()
        .filter(|time| time.kind == "simulated")
        .filter_map(|time| laws_of(program, axis, time))
        .flatten()
        .collect()
}

fn laws_of(program: &str, axis: &str, time: &TimeLine) -> Option<Vec<(String, NamedChart)>> {
    let line = Calibrated::by(time)?;
    let about = if time.group.is_empty() { program.to_owned() } else { format!("{program}, {}", time.group) };
    let figure =
        |file, title: &str, y, lines, reference| (file, chart(format!("{title} ({about})"), axis, y, lines, reference));
    let (linear, logarithmic) = (Scale::Linear, Scale::Log10);
    let speedup = line.beside_laws(|_, speedup| speedup);
    let efficiency = line.beside_laws(|p, speedup| speedup / p);
    let fractions = vec![PlotLine::new("simulated", line.fractions.clone(), 0)];
    Some(vec![
        (
            format!("{about}: speedup against Amdahl's law. {}", line.calibration()),
            figure("laws-speedup.svg", "Speedup and Amdahl's law", ("Speedup", logarithmic), speedup, None),
        ),
        (
            format!("{about}: efficiency against Amdahl's law, calibrated in the same way"),
            figure("laws-efficiency.svg", "Efficiency and Amdahl's law", ("Efficiency", linear), efficiency, Some(1.0)),
        ),
        (
            format!(
                "{about}: the serial fraction e determined by experiment (Karp-Flatt) at each simulated point: constant where the loss behaves like serial work, rising where the overhead grows faster than p"
            ),
            figure("karp-flatt.svg", "Serial fraction determined by experiment", ("e", linear), fractions, None),
        ),
    ])
}

/// A line of times, and the law that is calibrated on it.
struct Calibrated {
    points: Vec<SpeedupPoint>,
    /// The Karp-Flatt metric by processors.
    fractions: Vec<(f64, f64)>,
    /// The serial fraction f of Amdahl's law.
    fraction: f64,
}

impl Calibrated {
    /// `None` without a time on one processor, and where the fraction is not between 0 and 1: superlinear speedups, and
    /// problems that grow with p, are outside the law.
    fn by(time: &TimeLine) -> Option<Self> {
        let point = |(processors, time_s): &(f64, f64)| SeriesPoint {
            processors: *processors,
            time_s: *time_s,
            components: Vec::new(),
        };
        let points = SpeedupSeries::new(time.points.iter().map(point).collect(), None)?.laws();
        let fractions: Vec<_> =
            points.iter().filter_map(|point| Some((point.processors, point.serial_fraction?))).collect();
        let speedups: Vec<_> = points.iter().map(|point| (point.processors, point.speedup)).collect();
        let fraction = amdahl::fitted_fraction(&speedups).filter(|fraction| (0.0..=1.0).contains(fraction))?;
        Some(Self { points, fractions, fraction })
    }

    /// Describes the calibration in words.
    fn calibration(&self) -> String {
        format!(
            "Amdahl: 1 / (f + (1 - f) / p), f = {} by least squares of T(p) / T(1) over the {} simulated points with p > 1.",
            digits(self.fraction),
            self.fractions.len(),
        )
    }

    /// A `quantity` of the processors and the speedup, of the points themselves and by the law.
    fn beside_laws(&self, quantity: impl Fn(f64, f64) -> f64) -> Vec<PlotLine> {
        let over = |speedup: &dyn Fn(&SpeedupPoint) -> f64| {
            self.points.iter().map(|point| (point.processors, quantity(point.processors, speedup(point)))).collect()
        };
        let law = |name: String, points, index| PlotLine { dashed: true, ..PlotLine::new(name, points, index) };
        let amdahl = over(&|point| amdahl::speedup(self.fraction, point.processors));
        vec![
            PlotLine::new("simulated", over(&|point| point.speedup), 0),
            law(format!("Amdahl, f = {}", digits(self.fraction)), amdahl, 1),
        ]
    }
}

/// The whole execution time beside its computation and its communication.
#[must_use]
pub fn execution_communication(curve: &BottleneckCurve) -> NamedChart {
    let named = [
        ("Execution", curve.points_of(|known| Some(known.total_s))),
        ("Computation", curve.points_of(|known| known.component_s(Component::Computation))),
        ("Communication", curve.points_of(|known| known.component_s(Component::Communication))),
    ];
    let lines = lines(named.map(|(name, points)| (name.to_owned(), points)));
    let title = format!("Execution and communication ({})", curve.title);
    ("execution-communication.svg", chart_along(title, &curve.axis, ("Time [s]", Scale::Log10), lines, None))
}

fn numbered(times: &[TimeLine], name: impl Fn(&TimeLine) -> &String) -> Vec<&String> {
    let mut names: Vec<&String> = Vec::new();
    for time in times {
        if !names.contains(&name(time)) {
            names.push(name(time));
        }
    }
    names
}

/// The figures of one curve, each with the name of its file.
#[must_use]
pub fn components(curve: &BottleneckCurve) -> Vec<NamedChart> {
    let [components, percentages, b_ratios] = by_component(curve);
    vec![components, percentages, b_ratios, ratios(curve), breakdown(curve)]
}

/// Figures 5 to 7: a line for each component.
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

/// Figure 8.
fn ratios(curve: &BottleneckCurve) -> NamedChart {
    let ratios = [
        ("Communication to computation", curve.points_of(Components::communication_to_computation)),
        ("Memory to processing", curve.points_of(Components::memory_to_processing)),
    ];
    let lines = lines(ratios.map(|(name, points)| (name.to_owned(), points)));
    let title = "Communication to computation, memory to processing";
    ("figure-8-ratios.svg", figure(curve, title, ("Ratio", Scale::Log10), lines, Some(1.0)))
}

/// Figure 9.
fn breakdown(curve: &BottleneckCurve) -> NamedChart {
    let parts = SubComponent::ALL
        .into_iter()
        .map(|part| (capitalised(part.title()), curve.points_of(|components| components.part_s(part))));
    let (title, y) = ("Breakdown of the execution time", ("Time [s]", Scale::Log10));
    ("figure-9-breakdown.svg", figure(curve, title, y, lines(parts), None))
}

/// A figure of a curve, with `what` it shows in its title.
fn figure(
    curve: &BottleneckCurve,
    what: &str,
    y: (&str, Scale),
    lines: Vec<PlotLine>,
    reference: Option<f64>,
) -> LineChart {
    chart_along(format!("{what} ({})", curve.title), &curve.axis, y, lines, reference)
}

fn chart(title: String, x: &str, y: (&str, Scale), lines: Vec<PlotLine>, reference: Option<f64>) -> LineChart {
    let lines: Vec<_> = lines.into_iter().map(PlotLine::along_axis).collect();
    let scale = Scale::fitting(lines.iter().flat_map(|line| &line.points).map(|point| point.0));
    LineChart { title, x: ChartAxis::new(x, scale), y: ChartAxis::new(y.0, y.1), lines, reference }
}

fn chart_along(
    title: String,
    along: &Along,
    y: (&str, Scale),
    lines: Vec<PlotLine>,
    reference: Option<f64>,
) -> LineChart {
    let mut chart = chart(title, &along.label, y, lines, reference);
    if !along.categories.is_empty() {
        chart.x = ChartAxis::of_categories(&along.label, along.categories.clone());
    }
    chart
}

/// The lines that have something to show.
fn lines(named: impl IntoIterator<Item = (String, Vec<(f64, f64)>)>) -> Vec<PlotLine> {
    let visible = named.into_iter().filter(|(_, points)| points.iter().any(|point| point.1 > 0.0));
    visible.enumerate().map(|(index, (name, points))| PlotLine::new(name, points, index)).collect()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
