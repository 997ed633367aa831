//! Speedup, efficiency and the serial fraction over the processors, compared with Amdahl's law.

use super::figures::{LineOrigin, TimeLine, chart};
use super::panels::Panels;
use super::plot::{LineChart, LineStyle, PlotLine, Scale};
use super::table::digits;
use crate::model::laws::{SeriesPoint, SpeedupSeries, amdahl};

/// A line of times that includes the time on one processor.
struct RelativeLine<'t> {
    line: &'t TimeLine,
    name: String,
    /// The speedups T(1) / T(p) with their numbers of processors p.
    speedups: Vec<(f64, f64)>,
    /// The index of the colour, which is that of the line's group.
    hue: usize,
}

/// The serial fraction of Amdahl's law, and the Karp-Flatt metric for each number of processors.
type Calibration = (f64, Vec<(f64, f64)>);

/// Returns the lines of simulated and measured times that include a time on one processor. Models are left out, because
/// their speedups show nothing that their times do not.
fn based(times: &[TimeLine]) -> Vec<RelativeLine<'_>> {
    let mut groups: Vec<&str> = times.iter().map(|time| time.group.as_str()).collect();
    groups.dedup();
    let based = times.iter().filter(|time| time.origin != LineOrigin::Model).filter_map(|line| {
        let base = line.points.iter().find(|point| (point.0 - 1.0).abs() < 1e-9)?.1;
        let words = [line.group.as_str(), line.kind.as_str()].into_iter().filter(|word| !word.is_empty());
        let speedups = line.points.iter().map(|(p, seconds)| (*p, base / seconds)).collect();
        let hue = groups.iter().position(|group| *group == line.group).unwrap_or(0);
        Some(RelativeLine { line, name: words.collect::<Vec<_>>().join(", "), speedups, hue })
    });
    based.collect()
}

impl RelativeLine<'_> {
    fn plotted(&self, quantity: impl Fn(f64, f64) -> f64) -> PlotLine {
        let points = self.speedups.iter().map(|(p, speedup)| (*p, quantity(*p, *speedup))).collect();
        PlotLine { style: self.line.origin.style(), ..PlotLine::new(self.name.clone(), points, self.hue) }
    }

    /// Returns the serial fraction f of Amdahl's law by least squares, and the Karp-Flatt metric for each number of
    /// processors. `None` if the fraction is not between 0 and 1: the law does not apply to superlinear speedups, or to
    /// problems that grow with p.
    fn calibrated(&self) -> Option<Calibration> {
        let point = |(processors, time_s): &(f64, f64)| SeriesPoint {
            processors: *processors,
            time_s: *time_s,
            components: Vec::new(),
        };
        let points = SpeedupSeries::new(self.line.points.iter().map(point).collect(), None)?.laws();
        let fractions: Vec<_> =
            points.iter().filter_map(|point| Some((point.processors, point.serial_fraction?))).collect();
        let speedups: Vec<_> = points.iter().map(|point| (point.processors, point.speedup)).collect();
        let fraction = amdahl::fitted_fraction(&speedups).filter(|fraction| (0.0..=1.0).contains(fraction))?;
        Some((fraction, fractions))
    }
}

/// Returns charts of the speedup T(1) / T(p) with the ideal and Amdahl's law, of the efficiency T(1) / (p T(p)), and of
/// the serial fraction that the runs show (Karp-Flatt), with a caption that says how the law is calibrated. `None` if
/// no line has a time on one processor. (Gustafson's law is about problems that grow with p.)
#[must_use]
pub fn scaling(program: &str, axis: &str, times: &[TimeLine]) -> Option<(Panels, String)> {
    let lines = based(times);
    let most = lines.iter().flat_map(|line| &line.speedups).map(|point| point.0).fold(1.0, f64::max);
    if lines.is_empty() {
        return None;
    }
    let runs = lines.iter().filter(|line| line.line.origin == LineOrigin::Subject);
    let laws: Vec<_> = runs.filter_map(|line| Some((line, line.calibrated()?))).collect();
    let ideal = PlotLine { style: LineStyle::Formula, ..PlotLine::new("ideal", vec![(1.0, 1.0), (most, most)], IDEAL) };
    let law = |(line, (fraction, _)): &(&RelativeLine<'_>, Calibration)| {
        let points = line.speedups.iter().map(|(p, _)| (*p, amdahl::speedup(*fraction, *p))).collect();
        let about = if line.line.group.is_empty() { String::new() } else { format!("{}, ", line.line.group) };
        let name = format!("{about}Amdahl, f = {}", digits(*fraction));
        PlotLine { style: LineStyle::Formula, ..PlotLine::new(name, points, line.hue) }
    };
    let speedups = lines.iter().map(|line| line.plotted(|_, speedup| speedup));
    let speedups = speedups.chain(laws.iter().map(law)).chain([ideal]).collect();
    let efficiencies = lines.iter().map(|line| line.plotted(|p, speedup| speedup / p)).collect();
    let fractions = laws.iter().map(|(line, (_, fractions))| PlotLine {
        style: LineStyle::Solid,
        ..PlotLine::new(line.name.clone(), fractions.clone(), line.hue)
    });
    let panel = |title: &str, y, lines, reference| chart(title.to_owned(), axis, y, lines, reference);
    let mut charts: Vec<LineChart> = vec![
        panel("Speedup T(1) / T(p)", ("Speedup", Scale::Log10), speedups, None),
        panel("Efficiency T(1) / (p T(p))", ("Efficiency", Scale::Linear), efficiencies, Some(1.0)),
    ];
    if !laws.is_empty() {
        let title = "Serial fraction e (Karp-Flatt)";
        charts.push(panel(title, ("e", Scale::Linear), fractions.collect(), None));
    }
    let panels = Panels { title: format!("Scaling of {program}"), charts, has_whole: false };
    Some((panels, caption(laws.iter().map(|(line, (_, fractions))| (line.line.group.as_str(), fractions.len())))))
}

/// The index of a colour that no group has before the seventh.
const IDEAL: usize = 7;

fn caption<'l>(laws: impl Iterator<Item = (&'l str, usize)>) -> String {
    let points = laws.map(|(group, points)| match group {
        "" => points.to_string(),
        _ => format!("{points} ({group})"),
    });
    let points: Vec<_> = points.collect();
    if points.is_empty() {
        return "Relative to the time on one processor. Amdahl's law does not hold here: no serial fraction between 0 and 1 \
                fits."
            .to_owned();
    }
    format!(
        "Relative to the time on one processor. Amdahl's law 1 / (f + (1 - f) / p) with f by least squares of T(p) / T(1) over the \
         simulated points with p > 1: {}. A serial fraction e that stays constant behaves like serial work; one that rises, like \
         overhead that grows faster than p.",
        points.join(", ")
    )
}

/// Returns a chart of T(1) / T(p) for every line of times with a time on one processor, where the problem grows with p
/// as described by `growth`. This ratio is not a speedup, since T(p) is the time of a different problem; it remains 1
/// if the time does not change. `None` if there is no line.
#[must_use]
pub fn growing_problem(program: &str, axis: &str, growth: &str, times: &[TimeLine]) -> Option<(Panels, String)> {
    let lines: Vec<_> = based(times).iter().map(|line| line.plotted(|_, ratio| ratio)).collect();
    if lines.is_empty() {
        return None;
    }
    let caption = format!(
        "The problem grows with p: {growth}. This is no speedup, as T(p) is the time of a larger problem than T(1): where \
         the work grows as p, 1 is ideal."
    );
    let title = format!("T(1) / T(p) of {program}, a problem that grows");
    Some((Panels::one(chart(title, axis, ("T(1) / T(p)", Scale::Linear), lines, Some(1.0))), caption))
}
