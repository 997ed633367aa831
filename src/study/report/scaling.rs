//! Speedup, efficiency and the serial fraction over the processors, compared with Amdahl's law.

use super::figures::{LineOrigin, TimeLine, chart};
use super::panels::Panels;
use super::plot::{LineChart, LineStyle, PlotLine, Scale};
use super::table::digits;
use crate::model::laws::{RequestedBase, SeriesPoint, SpeedupSeries, amdahl};

/// A line of times that includes the time on the processors of the base.
struct RelativeLine<'t> {
    line: &'t TimeLine,
    name: String,
    /// The speedups T(P) / T(p) with their numbers of processors p.
    speedups: Vec<(f64, f64)>,
    /// The index of the colour, which is that of the line's group.
    hue: usize,
}

/// The serial fraction of Amdahl's law, and the Karp-Flatt metric for each number of processors.
type Calibration = (f64, Vec<(f64, f64)>);

/// Returns P, the number of processors whose time is the base of speedups: 1 if any simulated or measured line has a
/// time there, and otherwise the smallest one at which the most lines have one.
fn base(times: &[TimeLine]) -> Option<f64> {
    let points = || shown(times).flat_map(|line| &line.points).map(|point| point.0);
    let lines_at = |p: f64| points().filter(|other| is_at(*other, p)).count();
    if lines_at(1.0) > 0 {
        return Some(1.0);
    }
    points().min_by(|one, other| lines_at(*other).cmp(&lines_at(*one)).then(one.total_cmp(other)))
}

/// Returns the lines of simulated and measured times. Models are left out, because their speedups show nothing that
/// their times do not.
fn shown(times: &[TimeLine]) -> impl Iterator<Item = &TimeLine> {
    times.iter().filter(|time| time.origin != LineOrigin::Model)
}

fn is_at(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// Returns the simulated and measured lines that include a time on `processors` processors.
fn based(times: &[TimeLine], processors: f64) -> Vec<RelativeLine<'_>> {
    let mut groups: Vec<&str> = times.iter().map(|time| time.group.as_str()).collect();
    groups.dedup();
    let based = shown(times).filter_map(|line| {
        let base = line.points.iter().find(|point| is_at(point.0, processors))?.1;
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
            work_s: None,
            components: Vec::new(),
        };
        let one = RequestedBase::Processors(1.0);
        let points = SpeedupSeries::new(self.line.points.iter().map(point).collect(), one)?.laws();
        let fractions: Vec<_> =
            points.iter().filter_map(|point| Some((point.processors, point.serial_fraction?))).collect();
        let speedups: Vec<_> = points.iter().map(|point| (point.processors, point.speedup)).collect();
        let fraction = amdahl::fitted_fraction(&speedups).filter(|fraction| (0.0..=1.0).contains(fraction))?;
        Some((fraction, fractions))
    }
}

/// Returns charts of the speedup T(1) / T(p) with the ideal and Amdahl's law, of the efficiency T(1) / (p T(p)), and of
/// the serial fraction that the runs show (Karp-Flatt), with a caption that says how the law is calibrated. Without a
/// time on one processor, speedup and efficiency are relative to the fewest processors P: T(P) / T(p) and
/// P T(P) / (p T(p)). `None` without a line. (Gustafson's law is about problems that grow with p.)
#[must_use]
pub fn scaling(program: &str, axis: &str, times: &[TimeLine]) -> Option<(Panels, String)> {
    let base = base(times)?;
    let lines = based(times, base);
    let most = lines.iter().flat_map(|line| &line.speedups).map(|point| point.0).fold(base, f64::max);
    let runs = lines.iter().filter(|line| line.line.origin == LineOrigin::Subject);
    let laws: Vec<_> = runs.filter_map(|line| Some((line, line.calibrated()?))).collect();
    let ideal = ideal_line([(base, 1.0), (most, most / base)]);
    let law = |(line, (fraction, _)): &(&RelativeLine<'_>, Calibration)| {
        let about = if line.line.group.is_empty() { String::new() } else { format!("{}, ", line.line.group) };
        amdahl_line(&about, *fraction, line.speedups.iter().map(|point| point.0), line.hue)
    };
    let speedups = lines.iter().map(|line| line.plotted(|_, speedup| speedup));
    let speedups = speedups.chain(laws.iter().map(law)).chain([ideal]).collect();
    let efficiencies = lines.iter().map(|line| line.plotted(|p, speedup| base * speedup / p)).collect();
    let fractions = laws.iter().map(|(line, (_, fractions))| PlotLine {
        style: LineStyle::Solid,
        ..PlotLine::new(line.name.clone(), fractions.clone(), line.hue)
    });
    let panel = |title: &str, y, lines, reference| chart(title.to_owned(), axis, y, lines, reference);
    let factor = if is_at(base, 1.0) { String::new() } else { format!("{base} ") };
    let efficiency = format!("Efficiency {factor}T({base}) / (p T(p))");
    let mut charts: Vec<LineChart> = vec![
        panel(&format!("Speedup T({base}) / T(p)"), ("Speedup", Scale::Log10), speedups, None),
        panel(&efficiency, ("Efficiency", Scale::Linear), efficiencies, Some(1.0)),
    ];
    if !laws.is_empty() {
        let title = "Serial fraction e (Karp-Flatt)";
        charts.push(panel(title, ("e", Scale::Linear), fractions.collect(), None));
    }
    let panels = Panels { title: format!("Scaling of {program}"), charts, has_whole: false };
    let left_out = left_out(shown(times).count() - lines.len(), base);
    let caption = if is_at(base, 1.0) {
        caption(laws.iter().map(|(line, (_, fractions))| (line.line.group.as_str(), fractions.len())))
    } else {
        format!(
            "There is no time on one processor: speedup T({base}) / T(p) and efficiency {base} T({base}) / (p T(p)) are relative \
             to the time on {base}. Amdahl's law and the serial fraction need T(1)."
        )
    };
    Some((panels, caption + &left_out))
}

/// Says how many lines are not shown because they have no time on the processors of the base.
fn left_out(count: usize, base: f64) -> String {
    match count {
        0 => String::new(),
        1 => format!(" One line is left out: it has no time at p = {base}."),
        count => format!(" {count} lines are left out: they have no time at p = {base}."),
    }
}

/// Returns the curve of Amdahl's law at these numbers of processors. `about` is the beginning of its name.
pub(super) fn amdahl_line(about: &str, fraction: f64, processors: impl Iterator<Item = f64>, hue: usize) -> PlotLine {
    let points = processors.map(|p| (p, amdahl::speedup(fraction, p))).collect();
    let name = format!("{about}Amdahl, f = {}", digits(fraction));
    PlotLine { style: LineStyle::Formula, ..PlotLine::new(name, points, hue) }
}

/// Returns the line of ideal speedups, from one of these points to the other.
pub(super) fn ideal_line(ends: [(f64, f64); 2]) -> PlotLine {
    PlotLine { style: LineStyle::Formula, ..PlotLine::new("ideal", ends.into(), IDEAL) }
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
         simulated points with p > 1: {}. A serial fraction e that stays constant behaves like serial work; where e rises, the total \
         parallel overhead p T(p) - T(1) grows faster than p - 1.",
        points.join(", ")
    )
}

/// Returns a chart of T(P) / T(p) for every line of times with a time on P processors, 1 or the fewest, where the
/// problem grows with p as described by `growth`. This ratio is not a speedup, since T(p) is the time of a different
/// problem; it remains 1 if the time does not change. `None` if there is no line.
#[must_use]
pub fn growing_problem(program: &str, axis: &str, growth: &str, times: &[TimeLine]) -> Option<(Panels, String)> {
    let base = base(times)?;
    let lines: Vec<_> = based(times, base).iter().map(|line| line.plotted(|_, ratio| ratio)).collect();
    let left_out = left_out(shown(times).count() - lines.len(), base);
    let caption = format!(
        "The problem grows with p: {growth}. This is no speedup, as T(p) is the time of a larger problem than T({base}): \
         where the work grows as p, 1 is ideal.{left_out}"
    );
    let ratio = format!("T({base}) / T(p)");
    let title = format!("{ratio} of {program}, a problem that grows");
    Some((Panels::one(chart(title, axis, (&ratio, Scale::Linear), lines, Some(1.0))), caption))
}
