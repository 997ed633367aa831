//! Space-time diagrams, and the number of processors at work over time, as SVG.

use super::activity_bars::{ActivityBar, RowBars};
use super::counted;
use super::frame::{Frame, FrameAxis};
use super::lettering::{Lettered, Lettering};
use super::plot::{COLOURS, Chart, DrawingResult, INK, Positions, Scale};
use crate::analysis::critical_path::{CriticalPath, EventArc, PathSpan, PieceKind, TimelinePiece};
use crate::analysis::{Parallelism, ProfileStep};
use parsim_sim::trace::events::MESSAGE;
use parsim_sim::units::SimDuration;
use plotters::prelude::*;

/// The part of a trace that a diagram shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagramWindow {
    /// The start of the time interval.
    pub from: SimDuration,
    /// The end of the time interval.
    pub until: SimDuration,
    /// The processes, from top to bottom.
    pub processes: Vec<u32>,
}

impl DiagramWindow {
    /// Returns a window that shows a whole trace.
    #[must_use]
    pub fn whole(path: &CriticalPath<'_>) -> Self {
        let until = path.length().max(SimDuration::from_ps(1));
        Self { from: SimDuration::ZERO, until, processes: (0..path.events().processes()).collect() }
    }
}

const WIDTH: u32 = 1300;
/// The smallest and the largest height of a row, in pixels.
const ROW: (u32, u32) = (5, 26);
const TALLEST: u32 = 1400;
const AROUND: u32 = 160;
/// The largest number of messages that are drawn; more would merge into one black area.
const MAX_MESSAGES: usize = 4000;
/// The largest number of pieces of the critical path that are drawn as a thick line.
const MAX_SPANS: usize = 500;
/// The kinds of activity in the order of their colours, which are those of `run_picture.js` in every picture.
const COLOURED_KINDS: [&str; 7] =
    ["computing", "system", "input_output", "sending", "loading", "ready", "shared_system"];
const PATH: RGBColor = RGBColor(200, 16, 46);
const MESSAGES: RGBColor = RGBColor(90, 96, 104);

/// A diagram of processes over time, with activities as bars, messages as arrows, and the critical path as a line over
/// them.
///
/// Every activity ends at its critical time, which in a recorded run is the actual time of its end.
pub struct SpaceTime<'p> {
    path: &'p CriticalPath<'p>,
    title: String,
    has_legend: bool,
    window: DiagramWindow,
    /// The row of each process; `None` if it is not shown.
    rows: Vec<Option<u32>>,
}

impl Lettered for SpaceTime<'_> {
    fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    fn without_legend(self) -> Self {
        Self { has_legend: false, ..self }
    }
}

type DiagramPoint = (f64, f64);

impl<'p> SpaceTime<'p> {
    /// Creates the diagram of the part of a trace that `window` shows.
    #[must_use]
    pub fn new(path: &'p CriticalPath<'p>, title: &str, window: DiagramWindow) -> Self {
        let mut rows = vec![None; path.events().processes() as usize];
        for (row, process) in (0..).zip(&window.processes) {
            if let Some(place) = rows.get_mut(*process as usize) {
                *place = Some(row);
            }
        }
        Self { path, title: title.to_owned(), has_legend: true, window, rows }
    }

    /// Returns the diagram as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let count = u32::try_from(self.window.processes.len()).unwrap_or(u32::MAX);
        let row = (TALLEST / count.max(1)).clamp(ROW.0, ROW.1);
        let messages = self.messages();
        let shown = if messages.len() > MAX_MESSAGES { &[] } else { &messages[..] };
        let note = match messages.len() {
            0 => "no messages".to_owned(),
            many if shown.is_empty() => format!("{many} messages are not drawn: choose fewer ranks or a shorter time"),
            some if self.shows_path() => format!("{} as arrows, the critical path in red", counted(some, "message")),
            some => format!("{} as arrows; the critical path is elsewhere", counted(some, "message")),
        };
        let frame = Frame {
            title: self.title.clone(),
            note,
            legend: if self.has_legend { self.legend() } else { Vec::new() },
            size: (WIDTH, AROUND + row.saturating_mul(count)),
            x: time_axis(self.window.from, self.window.until),
            y: self.process_axis(count, row),
        };
        frame.svg(|chart| self.draw(chart, shown))
    }

    fn process_axis(&self, count: u32, row: u32) -> FrameAxis {
        // A label needs about 14 pixels.
        let stride = 14_u32.div_ceil(row).max(1) as usize;
        let processes = self.window.processes.clone();
        let marks = (0..count).step_by(stride).map(|row| f64::from(row) + 0.5).collect();
        let text = move |position: f64| {
            let row = (0_u32..).zip(&processes).find(|(row, _)| (f64::from(*row) + 0.5 - position).abs() < 0.25);
            row.map_or_else(String::new, |(_, process)| process.to_string())
        };
        let positions = Positions { range: f64::from(count)..0.0, marks };
        FrameAxis { positions, label: "Process".to_owned(), text: Box::new(text) }
    }

    /// Returns the kinds of activity that take time.
    fn kinds(&self) -> Vec<&str> {
        let events = self.path.events();
        let mut takes_time = vec![false; events.labels().len()];
        for event in 0..events.count() {
            let lasts = self.path.pieces(event).any(|piece| self.has_bar(&piece));
            takes_time[usize::from(events.get(event).label)] |= lasts;
        }
        let labels = events.labels().iter().zip(takes_time).filter(|(_, takes_time)| *takes_time);
        let mut kinds: Vec<&str> = Vec::new();
        for (label, _) in labels.filter(|(label, _)| label.kind != "idle" && label.kind != "blocked") {
            if !kinds.contains(&label.kind.as_str()) {
                kinds.push(&label.kind);
            }
        }
        kinds
    }

    /// Returns every kind with the index of its colour. Kinds of other programs have the remaining colours, or all.
    fn hues(&self) -> Vec<(&str, usize)> {
        let kinds = self.kinds();
        let fixed = |kind: &str| COLOURED_KINDS.iter().position(|known| *known == kind);
        let has_fixed = kinds.iter().any(|kind| fixed(kind).is_some());
        let mut others = if has_fixed { COLOURED_KINDS.len().. } else { 0.. };
        let hue = |kind| (kind, fixed(kind).unwrap_or_else(|| others.next().unwrap_or(0)));
        kinds.into_iter().map(hue).collect()
    }

    fn legend(&self) -> Vec<(String, RGBColor)> {
        let named = |kind: &str| if kind.is_empty() { "activity".to_owned() } else { kind.to_owned() };
        let kinds = self.hues().into_iter().map(|(kind, hue)| (named(kind), colour(hue)));
        let path = self.shows_path().then(|| ("critical path".to_owned(), PATH));
        kinds.chain(path).collect()
    }

    /// Returns whether a part of the critical path is in the window.
    fn shows_path(&self) -> bool {
        self.path.spans().any(|span| self.span(&span).is_some())
    }

    fn row(&self, process: u32) -> Option<f64> {
        self.rows[process as usize].map(f64::from)
    }

    fn draw(&self, chart: &mut Chart<'_, '_>, messages: &[(DiagramPoint, DiagramPoint)]) -> DrawingResult {
        self.draw_bars(chart)?;
        let lines = messages.iter().map(|(from, to)| PathElement::new(vec![*from, *to], MESSAGES.mix(0.55)));
        chart.draw_series(lines)?;
        chart.draw_series(messages.iter().map(|(_, to)| Circle::new(*to, 2, MESSAGES.filled())))?;
        let path: Vec<_> = self.path.spans().filter_map(|span| self.span(&span)).collect();
        // A path that changes ranks at nearly every pixel would cover the bars.
        let style = if path.len() > MAX_SPANS { PATH.mix(0.4).stroke_width(1) } else { PATH.stroke_width(2) };
        chart.draw_series(path.into_iter().map(|(from, to)| PathElement::new(vec![from, to], style)))?;
        Ok(())
    }

    fn draw_bars(&self, chart: &mut Chart<'_, '_>) -> DrawingResult {
        let (events, kinds) = (self.path.events(), self.hues());
        let of_label = |label: &parsim_sim::trace::events::Label| {
            kinds.iter().find(|(kind, _)| *kind == label.kind).map(|(_, hue)| *hue)
        };
        let hues: Vec<Option<usize>> = events.labels().iter().map(of_label).collect();
        let row = || RowBars::new(self.window.from, self.window.until);
        let mut rows: Vec<RowBars> = self.window.processes.iter().map(|_| row()).collect();
        let pieces = (0..events.count()).flat_map(|event| self.path.pieces(event));
        for TimelinePiece { event, from, to, .. } in pieces.filter(|piece| self.has_bar(piece)) {
            let entry = events.get(event);
            if let (Some(row), Some(hue)) = (self.rows[entry.process as usize], hues[usize::from(entry.label)]) {
                rows[row as usize].add(hue, from, to);
            }
        }
        let bars = (0_u32..).zip(rows).flat_map(|(row, bars)| bars.finish().into_iter().map(move |bar| (row, bar)));
        bars.into_iter().try_for_each(|(row, bar)| draw_bar(chart, row.into(), &bar))
    }

    /// Returns whether a piece of time has the colour of its event. Waits have one if their kind is a kind of wait.
    fn has_bar(&self, piece: &TimelinePiece) -> bool {
        match piece.kind {
            PieceKind::Activity => true,
            PieceKind::Wait => !self.path.events().label_of(piece.event).occupies(),
            PieceKind::Gap => false,
        }
    }

    fn messages(&self) -> Vec<(DiagramPoint, DiagramPoint)> {
        let events = self.path.events();
        let mut messages = Vec::new();
        for event in 0..events.count() {
            for antecedent in events.antecedents(event) {
                if events.way_of(antecedent).kind != MESSAGE {
                    continue;
                }
                let sent = self.path.critical(antecedent.event);
                let times = (sent, sent + antecedent.delay);
                let rows = (self.row(events.sender_of(antecedent)), self.row(events.get(event).process));
                messages.extend(self.line(times, rows));
            }
        }
        messages
    }

    fn span(&self, span: &PathSpan) -> Option<(DiagramPoint, DiagramPoint)> {
        let events = self.path.events();
        let row = self.row(events.get(span.event).process);
        let from = match span.through {
            EventArc::Activity => row,
            EventArc::Antecedent(antecedent) => self.row(events.sender_of(&antecedent)),
        };
        self.line((span.from, span.to), (from, row))
    }

    /// Returns the part of a line between the middles of two rows that is inside the window.
    fn line(
        &self,
        times: (SimDuration, SimDuration),
        rows: (Option<f64>, Option<f64>),
    ) -> Option<(DiagramPoint, DiagramPoint)> {
        let (first, last) = (self.window.from.seconds(), self.window.until.seconds());
        let (begin, end) = (times.0.seconds(), times.1.seconds());
        let (top, bottom) = (rows.0? + 0.5, rows.1? + 0.5);
        if end < first || begin > last {
            return None;
        }
        let height =
            |time: f64| if end > begin { (time - begin) / (end - begin) * (bottom - top) + top } else { bottom };
        let (left, right) = (begin.max(first), end.min(last));
        let from = if end > begin { (left, height(left)) } else { (left, top) };
        Some((from, (right, height(right))))
    }
}

/// The upper and the lower edge of the bars in a row.
const BARS: (f64, f64) = (0.14, 0.86);

fn draw_bar(chart: &mut Chart<'_, '_>, row: f64, bar: &ActivityBar) -> DrawingResult {
    let edge = |height: f64| row + BARS.1 - height * (BARS.1 - BARS.0);
    let corners = [(bar.from.seconds(), edge(bar.height.1)), (bar.to.seconds(), edge(bar.height.0))];
    chart.draw_series([Rectangle::new(corners, colour(bar.hue).filled())])?;
    Ok(())
}

const fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// Returns a unit in which the end of an axis is a number of convenient size.
fn unit(until: SimDuration) -> (f64, &'static str) {
    match until.seconds() {
        1.0.. => (1.0, "s"),
        1e-3.. => (1e3, "ms"),
        _ => (1e6, "µs"),
    }
}

fn time_axis(from: SimDuration, until: SimDuration) -> FrameAxis {
    let (factor, name) = unit(until);
    let (first, last) = (from.seconds(), until.seconds());
    let step = Scale::Linear.layout([(last - first) * factor], false).marks;
    let step = step.get(1).copied().unwrap_or(1.0) / factor;
    let mut marks = Vec::new();
    let mut mark = (first / step - 1e-9).ceil() * step;
    while mark <= last + 1e-9 * step {
        marks.push(mark);
        mark += step;
    }
    let text = move |position: f64| Scale::Linear.text(position * factor);
    let positions = Positions { range: first..last, marks };
    FrameAxis { positions, label: format!("Time [{name}]"), text: Box::new(text) }
}

fn number_axis(label: &str, most: f64) -> FrameAxis {
    let positions = Scale::Linear.layout([0.0, most], false);
    FrameAxis { positions, label: label.to_owned(), text: Box::new(|position| Scale::Linear.text(position)) }
}

/// The number of columns of a profile.
const COLUMNS: u32 = 650;

/// Returns the mean number of processors at work in words, and what it excludes.
fn mean_at_work(path: &CriticalPath<'_>) -> String {
    let loads = if path.has_loads() { " (memory loads are waits)" } else { "" };
    path.mean_active().map_or(String::new(), |mean| format!(", on average {mean:.3}{loads}"))
}

/// Draws the number of processors at work over time: for each column, the mean and the maximum.
#[must_use]
pub fn profile(path: &CriticalPath<'_>, title: &str, lettering: &Lettering) -> String {
    let length = path.length().max(SimDuration::from_ps(1));
    let mut columns = vec![(0.0, 0); COLUMNS as usize];
    let edge = |column: u32| length.ratio(column.into(), COLUMNS.into());
    let mut column = 0;
    path.profile(|ProfileStep { from, to, active }| {
        let mut from = from;
        while from < to {
            while column + 1 < COLUMNS && edge(column + 1) <= from {
                column += 1;
            }
            let end = if column + 1 < COLUMNS { to.min(edge(column + 1)) } else { to };
            let (work, most) = &mut columns[column as usize];
            *work += (end - from).seconds() * f64::from(active);
            *most = (*most).max(active);
            from = end;
        }
    });
    let most = columns.iter().map(|column| column.1).max().unwrap_or(0);
    let legend = vec![("most at once".to_owned(), LIGHT), ("mean".to_owned(), COLOURS[0])];
    let frame = Frame {
        title: lettering.title.as_deref().unwrap_or(title).to_owned(),
        note: format!("processors at work over time{}", mean_at_work(path)),
        legend: if lettering.has_no_legend { Vec::new() } else { legend },
        size: (WIDTH, 480),
        x: time_axis(SimDuration::ZERO, length),
        y: number_axis("Processors at work", most.into()),
    };
    let bar = |column: u32, height: f64, colour: RGBColor| {
        Rectangle::new([(edge(column).seconds(), 0.0), (edge(column + 1).seconds(), height)], colour.filled())
    };
    let mean = |column: u32| columns[column as usize].0 / (edge(column + 1) - edge(column)).seconds();
    frame.svg(|chart| {
        chart.draw_series((0..COLUMNS).map(|column| bar(column, columns[column as usize].1.into(), LIGHT)))?;
        chart.draw_series((0..COLUMNS).map(|column| bar(column, mean(column), COLOURS[0])))?;
        Ok(())
    })
}

const LIGHT: RGBColor = RGBColor(190, 217, 236);

/// Draws the share of the time for which each number of processors is at work.
#[must_use]
pub fn histogram(path: &CriticalPath<'_>, title: &str) -> String {
    let mean = mean_at_work(path);
    let degrees = ParallelismHistogram {
        title: title.to_owned(),
        note: format!("degree of parallelism: share of the time for which each number of processors is at work{mean}"),
        of: "Processors at work".to_owned(),
        published: Vec::new(),
    };
    degrees.svg(&path.parallelism())
}

/// A histogram of a degree of parallelism.
pub struct ParallelismHistogram {
    /// The title.
    pub title: String,
    /// Further information, in a smaller line below the title.
    pub note: String,
    /// The quantity that is counted.
    pub of: String,
    /// Published shares of the time by degree, drawn beside the simulated ones.
    pub published: Vec<(u32, f64)>,
}

impl ParallelismHistogram {
    /// Returns the picture as an SVG document.
    #[must_use]
    pub fn svg(&self, parallelism: &Parallelism) -> String {
        let shares = parallelism.histogram();
        let published = self.published.iter();
        let most = shares.iter().chain(published.clone().map(|(_, share)| share)).copied().fold(0.0, f64::max);
        let last = published.map(|(degree, _)| degree + 1).max().unwrap_or(0);
        let degrees = f64::from(u32::try_from(shares.len()).unwrap_or(u32::MAX).max(last));
        let mut x = number_axis(&self.of, degrees - 0.5);
        x.positions.range = -0.5..degrees - 0.5;
        x.positions.marks.retain(|mark| *mark < degrees && mark.fract() == 0.0);
        let named = |name: &str, index| (name.to_owned(), colour(index));
        let (legend, middle) = if self.published.is_empty() {
            (Vec::new(), 0.4)
        } else {
            (vec![named("simulated", 0), named("published", 1)], 0.0)
        };
        let frame = Frame {
            title: self.title.clone(),
            note: self.note.clone(),
            legend,
            size: (900, 480),
            x,
            y: number_axis("Share of the time [%]", 100.0 * most),
        };
        let bar = |degree: u32, (from, to): (f64, f64), share: f64, hue: usize| {
            let place = f64::from(degree);
            Rectangle::new([(place + from, 0.0), (place + to, 100.0 * share)], colour(hue).filled())
        };
        frame.svg(|chart| {
            chart.draw_series((0_u32..).zip(&shares).map(|(degree, share)| bar(degree, (-0.4, middle), *share, 0)))?;
            chart.draw_series(self.published.iter().map(|(degree, share)| bar(*degree, (0.0, 0.4), *share, 1)))?;
            chart.draw_series([PathElement::new(vec![(-0.5, 0.0), (degrees - 0.5, 0.0)], INK.stroke_width(1))])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::read_table;

    const TABLE: &str = "id,process,clock,service_s,antecedents,kind\n1,0,1,2,,work\n2,1,1,1,,work\n3,1,2,0,1:0.5,receive\n4,1,3,3,,work\n";

    #[test]
    fn a_diagram_shows_bars_messages_and_the_path() {
        let events = read_table(TABLE.as_bytes()).unwrap();
        let path = CriticalPath::of(&events).unwrap();
        let whole = SpaceTime::new(&path, "A & B", DiagramWindow::whole(&path)).svg();
        assert!(whole.contains("A &amp; B") && whole.contains("1 message as arrows") && whole.contains("Time [s]"));
        assert_eq!(whole.matches("<circle").count(), 1);
        assert_eq!(whole, SpaceTime::new(&path, "A & B", DiagramWindow::whole(&path)).svg());
        let late = DiagramWindow { from: SimDuration::from_us(4_000_000), ..DiagramWindow::whole(&path) };
        assert!(SpaceTime::new(&path, "late", late).svg().contains("no messages"));
        let first = DiagramWindow { processes: vec![1], ..DiagramWindow::whole(&path) };
        assert!(SpaceTime::new(&path, "one", first).svg().contains("no messages"));
    }

    #[test]
    fn waits_with_a_colour_are_bars() {
        let table = "id,process,clock,service_s,antecedents,kind\n1,0,1,1,,computing\n2,0,2,0,1:2,loading\n\
                     3,0,3,1,,computing\n4,0,4,0,3:1,blocked\n";
        let events = read_table(table.as_bytes()).unwrap();
        let path = CriticalPath::of(&events).unwrap();
        let seconds = |event| {
            let pieces: Vec<_> = path.pieces(event).map(|piece| (piece.from.seconds(), piece.to.seconds())).collect();
            pieces[0]
        };
        assert_eq!([0, 1, 2, 3].map(seconds), [(0.0, 1.0), (1.0, 3.0), (3.0, 4.0), (4.0, 5.0)]);
        let svg = SpaceTime::new(&path, "loads", DiagramWindow::whole(&path)).svg();
        let of_colour = |index: usize| {
            let RGBColor(red, green, blue) = colour(index);
            svg.matches(&format!("fill=\"#{red:02X}{green:02X}{blue:02X}\"")).count()
        };
        // Besides the legend, two computations and a load; the blocked process is a gap.
        assert_eq!((of_colour(0), of_colour(4)), (3, 2), "{svg}");
        assert!(histogram(&path, "loads").contains("(memory loads are waits)"));
    }

    #[test]
    fn published_shares_stand_beside_the_others() {
        let parallelism = Parallelism::of_units(&[(0.0, 1.0), (0.0, 2.0)]).unwrap();
        let mut degrees = ParallelismHistogram {
            title: "two".to_owned(),
            note: String::new(),
            of: "active".to_owned(),
            published: Vec::new(),
        };
        let alone = degrees.svg(&parallelism);
        degrees.published = vec![(1, 0.3), (4, 0.1)];
        let beside = degrees.svg(&parallelism);
        assert!(!alone.contains("published") && beside.contains("published"));
        assert_eq!(beside.matches("<rect").count(), alone.matches("<rect").count() + 4);
    }

    #[test]
    fn profile_and_histogram_of_nothing_are_pictures() {
        let events = parsim_sim::trace::events::Events::default();
        let path = CriticalPath::of(&events).unwrap();
        for svg in [
            profile(&path, "none", &Lettering::default()),
            histogram(&path, "none"),
            SpaceTime::new(&path, "none", DiagramWindow::whole(&path)).svg(),
        ] {
            assert!(svg.ends_with("</svg>\n"), "{svg}");
        }
    }
}
