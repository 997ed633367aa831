//! Line charts as SVG. The same chart always gives the same bytes.

use super::lettering::{Lettered, distinct, title, wide_enough, without_folders};
use parsim_sim::units::escaped_lines;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Serialize;

mod scale;
#[cfg(test)]
mod tests;

pub(in crate::report) use scale::Positions;
pub use scale::Scale;
use scale::category_layout;

/// A line chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineChart {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The lines, in the order of the legend.
    pub lines: Vec<PlotLine>,
    /// A height to mark with a thin line, such as a ratio of 1.
    pub reference: Option<f64>,
}

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChartAxis {
    /// The quantity, with its unit in brackets.
    pub label: String,
    /// The scale of the values.
    pub scale: Scale,
    /// The names of the values 0, 1, 2, … of a horizontal axis whose values are not numbers; points over them are not
    /// joined.
    pub categories: Vec<String>,
}

impl ChartAxis {
    /// Creates an axis of numbers.
    #[must_use]
    pub fn new(label: impl Into<String>, scale: Scale) -> Self {
        Self { label: label.into(), scale, categories: Vec::new() }
    }

    /// Creates an axis of names.
    #[must_use]
    pub fn of_categories(label: impl Into<String>, categories: Vec<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, categories }
    }

    fn layout(&self, values: impl IntoIterator<Item = f64>) -> Positions {
        match self.categories.len() {
            0 => self.scale.layout(values, true),
            count => category_layout(count, 1),
        }
    }

    /// Returns the layout with only as many labels as do not cover each other within `room` pixels.
    fn thinned(&self, layout: Positions, room: usize) -> Positions {
        match self.categories.len() {
            0 => layout.thinned(room / LETTER, |position| self.scale.text(position).chars().count()),
            count => category_layout(count, self.stride(room)),
        }
    }

    /// Returns the number of categories from one label to the next: labels of many categories would cover each other.
    fn stride(&self, room: usize) -> usize {
        let stride = |letters: usize| (self.categories.len() * letters * LETTER).div_ceil(room).max(1);
        if stride(LEGIBLE.0) == 1 {
            return 1;
        }
        let longest = self.categories.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        stride(longest.clamp(LEGIBLE.0, LEGIBLE.1))
    }

    /// Returns the labels of the categories on an axis of `room` pixels.
    fn labels(&self, room: usize) -> Vec<String> {
        distinct(&without_folders(&self.categories), room * self.stride(room) / self.categories.len().max(1) / LETTER)
    }

    /// Returns the label at a position of an axis with these labels of its categories.
    fn text(&self, position: f64, labels: &[String]) -> String {
        let numbered = labels.iter().enumerate();
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 categories")]
        let here =
            numbered.map(|(index, name)| (index as f64, name)).find(|(index, _)| (index - position).abs() < 0.25);
        match here {
            Some((_, name)) => name.clone(),
            None if self.categories.is_empty() => self.scale.text(position),
            None => String::new(),
        }
    }
}

/// The width of a letter of a label in pixels, with a margin.
const LETTER: usize = 8;
/// The number of letters for which every label of a category has room, and the most for which labels are left out.
const LEGIBLE: (usize, usize) = (5, 12);

/// Returns the width between the margins of a plot, in pixels.
fn room(area: &Area<'_>) -> usize {
    area.dim_in_pixel().0.saturating_sub(SIDES).max(1) as usize
}

/// The style in which the points of a line are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum LineStyle {
    /// Joined by a solid line, with a marker at each point.
    #[default]
    Solid,
    /// Joined by dashes, with a marker at each point.
    Dashed,
    /// Joined by dashes without markers, for a formula, which has no distinguished points.
    Formula,
    /// Markers only: values between measurements are unknown.
    Marks,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlotLine {
    /// The name of the line in the legend; lines with an empty name are left out of it.
    pub name: String,
    /// The points; those that a logarithmic axis cannot show are left out.
    pub points: Vec<(f64, f64)>,
    /// The index of the colour; lines about the same subject share one.
    pub hue: usize,
    /// The index of the marker.
    pub marker: usize,
    /// The index of the dashes of a dashed line among those of its colour.
    #[serde(skip_serializing_if = "is_first")]
    pub dash: usize,
    /// The style in which the points are drawn.
    pub style: LineStyle,
    /// Half the height of the error bar at each point; no error bars if empty.
    pub half_widths: Vec<f64>,
    /// The interval around each point that has one, drawn as a band behind the line; no band if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<Option<(f64, f64)>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde needs")]
const fn is_first(index: &usize) -> bool {
    *index == 0
}

impl PlotLine {
    /// Creates a solid line with the colour and the marker of number `index`.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>, index: usize) -> Self {
        Self {
            name: name.into(),
            points,
            hue: index,
            marker: index,
            dash: 0,
            style: LineStyle::Solid,
            half_widths: Vec::new(),
            band: Vec::new(),
        }
    }

    /// Sorts the points from left to right, because the values of an axis may be given in any order.
    #[must_use]
    pub fn along_axis(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_by(|one, other| self.points[*one].0.total_cmp(&self.points[*other].0));
        let half_widths = order.iter().filter_map(|place| self.half_widths.get(*place).copied()).collect();
        let band = order.iter().filter_map(|place| self.band.get(*place).copied()).collect();
        self.points = order.into_iter().map(|place| self.points[place]).collect();
        Self { half_widths, band, ..self }
    }
}

/// Values that an axis shows in addition to those of the lines, so that several charts have the same axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AxisExtent {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

/// A horizontal position with the ends of an interval.
type PlottedInterval = (f64, f64, f64);

/// The opacity of a band.
const BAND: f64 = 0.18;
const HEIGHT: u32 = 540;
const PLOT_WIDTH: u32 = 760;
/// The width of the margins and of the vertical axis.
const SIDES: u32 = 100;
const TITLE_HEIGHT: u32 = 52;
const LEGEND_STEP: i32 = 24;
pub(super) const FONT: &str = "Helvetica, Arial, sans-serif";
pub(super) const INK: RGBColor = RGBColor(38, 42, 48);
pub(super) const GRID: RGBColor = RGBColor(226, 229, 233);
pub(super) const AXIS: RGBColor = RGBColor(120, 126, 134);

/// Colours that can be distinguished with any colour vision: those of Okabe and Ito, and three of Tol's.
pub(super) const COLOURS: [RGBColor; 11] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(150, 110, 20),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
    RGBColor(136, 34, 85),
    RGBColor(51, 34, 136),
    RGBColor(153, 153, 51),
];

/// The lengths of dashes and gaps, which distinguish dashed lines of the same colour.
const DASHES: [(i32, i32); 4] = [(7, 5), (2, 3), (12, 3), (4, 9)];

/// Circle, square, triangle, diamond and inverted triangle, as outlines around a point.
pub(super) const MARKERS: [&[(i32, i32)]; 5] = [
    &[(-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2), (-4, -2)],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, -5), (5, 4), (-5, 4)],
    &[(0, -6), (5, 0), (0, 6), (-5, 0)],
    &[(0, 5), (5, -4), (-5, -4)],
];

pub(super) type Area<'s> = DrawingArea<SVGBackend<'s>, plotters::coord::Shift>;
pub(super) type Chart<'c, 's> = ChartContext<'c, SVGBackend<'s>, Cartesian2d<Positions, Positions>>;
pub(super) type DrawingResult = Result<(), Box<dyn std::error::Error>>;

/// Returns a drawing on white paper of this width and height as an SVG document.
///
/// # Panics
/// Never: writing to a string cannot fail.
pub(super) fn document(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> DrawingResult) -> String {
    let mut document = String::new();
    let drawn = || {
        let root = SVGBackend::with_string(&mut document, size).into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        root.present()?;
        Ok(())
    };
    let drawn: DrawingResult = drawn();
    drawn.expect("writing to a string cannot fail");
    escaped_lines(&document)
}

impl Lettered for LineChart {
    fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    fn without_legend(mut self) -> Self {
        self.lines.iter_mut().for_each(|line| line.name.clear());
        self
    }
}

impl LineChart {
    /// Returns the chart with files in the names of its lines by their names alone.
    #[must_use]
    pub fn with_short_names(mut self) -> Self {
        let names: Vec<String> = self.lines.iter().map(|line| line.name.clone()).collect();
        self.lines.iter_mut().zip(without_folders(&names)).for_each(|(line, name)| line.name = name);
        self
    }

    /// Returns the chart as an SVG document.
    ///
    /// # Panics
    /// Never: writing to a string cannot fail.
    #[must_use]
    pub fn svg(&self) -> String {
        let notes = notes(std::slice::from_ref(self));
        let width = wide_enough(PLOT_WIDTH + self.legend_width(&notes), &[(&title(&self.title), 20)]);
        document((width, HEIGHT.max(TITLE_HEIGHT + self.legend_height(&notes))), |paper| self.draw(paper, &notes))
    }

    /// Returns `true` if the chart has points, and its axes can show none of them.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let mut points = self.lines.iter().flat_map(|line| &line.points).peekable();
        points.peek().is_some() && points.all(|point| !self.shows(point))
    }

    fn shows(&self, (x, y): &(f64, f64)) -> bool {
        self.x.scale.position(*x).is_some() && self.y.scale.position(*y).is_some()
    }

    fn draw(&self, root: &Area<'_>, notes: &[String]) -> DrawingResult {
        root.draw(&Text::new(title(&self.title), (24, 18), font(20)))?;
        let (_, below) = root.split_vertically(TITLE_HEIGHT);
        let (plot, legend) = below.split_horizontally(PLOT_WIDTH);
        self.draw_plot(&plot, &AxisExtent::default())?;
        self.draw_legend(&legend, notes)
    }

    pub(super) fn draw_plot(&self, area: &Area<'_>, shared: &AxisExtent) -> DrawingResult {
        let values = |pick: fn(&(f64, f64)) -> f64| self.lines.iter().flat_map(|line| &line.points).map(pick);
        let x_axis = self.x.layout(values(|point| point.0).chain(shared.x.iter().copied()));
        let heights = self.lines.iter().flat_map(PlotLine::heights);
        let y_axis = self.y.scale.layout(heights.chain(self.reference).chain(shared.y.iter().copied()), false);
        let (left, right, bottom) = (x_axis.range.start, x_axis.range.end, y_axis.range.start);
        let labels = self.x.labels(room(area));
        let mut chart = ChartBuilder::on(area)
            .margin_right(16)
            .margin_top(4)
            .margin_left(14)
            .x_label_area_size(48)
            .y_label_area_size(y_axis.label_area(70, |position| self.y.scale.text(position)))
            .build_cartesian_2d(self.x.thinned(x_axis, room(area)), y_axis)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .axis_desc_style(font(15))
            .label_style(font(14))
            .x_label_formatter(&|position| self.x.text(*position, &labels))
            .y_label_formatter(&|position| self.y.scale.text(*position))
            .draw()?;
        if let Some(height) = self.reference.and_then(|height| self.y.scale.position(height)) {
            let ends = vec![(left, height), (right, height)];
            chart.draw_series([PathElement::new(ends, AXIS.stroke_width(2))])?;
        }
        if self.is_blank() {
            let (width, height) = area.dim_in_pixel();
            let centre = [width, height].map(|side| i32::try_from(side / 2).unwrap_or(0));
            let style = font(14).pos(Pos::new(HPos::Center, VPos::Center));
            area.draw(&Text::new("no value above 0", (centre[0], centre[1]), style))?;
        }
        self.lines.iter().try_for_each(|line| self.draw_band(&mut chart, line, bottom))?;
        self.lines.iter().try_for_each(|line| self.draw_line(&mut chart, line))
    }

    /// Draws the band of a line. Where an interval ends below a logarithmic axis, the band ends at its `bottom`.
    fn draw_band(&self, chart: &mut Chart<'_, '_>, line: &PlotLine, bottom: f64) -> DrawingResult {
        let edge = |x: f64, y: f64| Some((self.x.scale.position(x)?, self.y.scale.position(y).unwrap_or(bottom)));
        for run in line.band_runs().filter(|_| self.joins(line)) {
            let lower = run.iter().filter_map(|(x, low, _)| edge(*x, *low));
            let upper = run.iter().rev().filter_map(|(x, _, high)| edge(*x, *high));
            let outline: Vec<_> = lower.chain(upper).collect();
            chart.draw_series([Polygon::new(outline, line.colour().mix(BAND))])?;
        }
        Ok(())
    }

    fn draw_line(&self, chart: &mut Chart<'_, '_>, line: &PlotLine) -> DrawingResult {
        let position = |(x, y): &(f64, f64)| Some((self.x.scale.position(*x)?, self.y.scale.position(*y)?));
        let points: Vec<_> = line.points.iter().filter_map(position).collect();
        let colour = line.colour();
        for (x, from, to) in line.bars().chain(self.lone_intervals(line)) {
            let ends = [(x, from), (x, to)];
            let ends: Vec<_> = ends.iter().filter_map(position).collect();
            chart.draw_series(
                ends.iter().map(|end| {
                    EmptyElement::at(*end) + PathElement::new(vec![(-4, 0), (4, 0)], colour.stroke_width(1))
                }),
            )?;
            chart.draw_series([PathElement::new(ends, colour.stroke_width(1))])?;
        }
        match line.style {
            _ if !self.joins(line) => {}
            LineStyle::Marks => {}
            LineStyle::Solid => drop(chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?),
            LineStyle::Dashed | LineStyle::Formula => {
                let (dash, gap) = line.dashes();
                chart.draw_series(DashedLineSeries::new(points.clone(), dash, gap, colour.stroke_width(2)))?;
            }
        }
        if !self.shows_markers(line) {
            return Ok(());
        }
        let marker = |point| EmptyElement::at(point) + Polygon::new(line.outline((0, 0)), colour.filled());
        chart.draw_series(points.into_iter().map(marker))?;
        Ok(())
    }

    /// Draws the names of the lines, and below them the notes.
    pub(super) fn draw_legend(&self, area: &Area<'_>, notes: &[String]) -> DrawingResult {
        let mut y = 18;
        for line in self.named() {
            let colour = line.colour();
            let later = line.later_strokes();
            let strokes: &[(i32, i32)] = match line.style {
                _ if !later.is_empty() => &later,
                LineStyle::Solid => &[(4, 34)],
                LineStyle::Dashed => &[(4, 13), (25, 34)],
                LineStyle::Formula => &[(4, 12), (15, 23), (26, 34)],
                LineStyle::Marks => &[],
            };
            if line.has_band() && self.joins(line) {
                area.draw(&Rectangle::new([(4, y - 7), (34, y + 7)], colour.mix(BAND).filled()))?;
            }
            for (from, to) in strokes {
                area.draw(&PathElement::new(vec![(*from, y), (*to, y)], colour.stroke_width(2)))?;
            }
            if self.shows_markers(line) {
                area.draw(&Polygon::new(line.outline((19, y)), colour.filled()))?;
            }
            let beside = font(14).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(line.name.clone(), (42, y), beside))?;
            y += LEGEND_STEP;
        }
        for note in notes {
            area.draw(&Text::new(note.clone(), (4, y), font(14).pos(Pos::new(HPos::Left, VPos::Center))))?;
            y += LEGEND_STEP;
        }
        Ok(())
    }

    /// Returns whether the points of a line are joined. There are no values between two categories.
    fn joins(&self, line: &PlotLine) -> bool {
        self.x.categories.is_empty() && line.style != LineStyle::Marks
    }

    /// Returns the intervals of a line that are no part of a band, which become error bars.
    fn lone_intervals(&self, line: &PlotLine) -> Vec<PlottedInterval> {
        let is_lone = |run: &Vec<PlottedInterval>| run.len() == 1 || !self.joins(line);
        line.band_runs().filter(is_lone).flatten().collect()
    }

    /// Returns whether a line needs markers. A single point, and points over categories, would be invisible without
    /// them.
    fn shows_markers(&self, line: &PlotLine) -> bool {
        line.style != LineStyle::Formula || line.points.len() < 2 || !self.x.categories.is_empty()
    }

    fn named(&self) -> impl Iterator<Item = &PlotLine> {
        self.lines.iter().filter(|line| !line.name.is_empty())
    }

    pub(super) fn legend_height(&self, notes: &[String]) -> u32 {
        let entries = self.named().count() + notes.len();
        LEGEND_STEP.unsigned_abs() * (1 + u32::try_from(entries).unwrap_or(100).min(100))
    }

    /// Returns a width for the longest name, with a margin for each letter.
    pub(super) fn legend_width(&self, notes: &[String]) -> u32 {
        let letters = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        let width = 62 + 8 * u32::try_from(letters).unwrap_or(100).min(100);
        wide_enough(width, &notes.iter().map(|note| (note.as_str(), 14)).collect::<Vec<_>>())
    }
}

/// Returns the lines of notes on a picture of these charts: what whiskers are, and how many points are left out.
pub(in crate::report) fn notes(charts: &[LineChart]) -> Vec<String> {
    let lines = || charts.iter().flat_map(|chart| chart.lines.iter().map(move |line| (chart, line)));
    let mut notes = Vec::new();
    if lines().any(|(_, line)| line.bars().next().is_some()) {
        notes.extend(["whiskers: 95 % intervals", "of the means"].map(str::to_owned));
    }
    if lines().any(|(chart, line)| !chart.lone_intervals(line).is_empty()) {
        notes.extend(["whiskers: intervals of", "predictions"].map(str::to_owned));
    }
    let points = lines().flat_map(|(chart, line)| line.points.iter().map(move |point| (chart, point)));
    let is_left_out =
        |(chart, point): &(&LineChart, &(f64, f64))| point.0.is_finite() && point.1.is_finite() && !chart.shows(point);
    let left_out = points.filter(is_left_out).count();
    if left_out > 0 {
        let points = if left_out == 1 { "point" } else { "points" };
        notes.extend([format!("{left_out} {points} of 0 not drawn:"), "the axis is logarithmic".to_owned()]);
    }
    notes
}

impl PlotLine {
    const fn colour(&self) -> RGBColor {
        COLOURS[self.hue % COLOURS.len()]
    }

    /// Returns all values that the vertical axis has to show.
    pub(super) fn heights(&self) -> impl Iterator<Item = f64> + '_ {
        let bars = self.bars().chain(self.band_runs().flatten()).flat_map(|(_, from, to)| [from, to]);
        self.points.iter().map(|point| point.1).chain(bars)
    }

    fn has_band(&self) -> bool {
        self.band.iter().any(Option::is_some)
    }

    /// Returns the intervals of neighbouring points, interrupted where a point has none.
    fn band_runs(&self) -> impl Iterator<Item = Vec<PlottedInterval>> + '_ {
        let intervals: Vec<Option<PlottedInterval>> =
            self.points.iter().zip(&self.band).map(|((x, _), ends)| ends.map(|(low, high)| (*x, low, high))).collect();
        let runs: Vec<Vec<PlottedInterval>> =
            intervals.split(Option::is_none).map(|run| run.iter().copied().flatten().collect()).collect();
        runs.into_iter().filter(|run: &Vec<PlottedInterval>| !run.is_empty())
    }

    /// Returns the positions of the error bars, and their ends.
    fn bars(&self) -> impl Iterator<Item = PlottedInterval> + '_ {
        let bars = self.points.iter().zip(&self.half_widths);
        bars.filter(|(_, half)| **half > 0.0).map(|((x, y), half)| (*x, y - half, y + half))
    }

    fn outline(&self, (x, y): (i32, i32)) -> Vec<(i32, i32)> {
        MARKERS[self.marker % MARKERS.len()].iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
    }

    /// Returns the number of the dashes of a dashed line. Lines beyond the last colour have the first ones again.
    const fn dash_index(&self) -> usize {
        (self.hue / COLOURS.len() + self.dash) % DASHES.len()
    }

    /// Returns the lengths of the dashes and of the gaps of a dashed line.
    const fn dashes(&self) -> (i32, i32) {
        DASHES[self.dash_index()]
    }

    /// Returns the dashes in the legend of a dashed line whose colour is that of an earlier line; none for other lines.
    fn later_strokes(&self) -> Vec<(i32, i32)> {
        let is_later = self.dash_index() > 0 && matches!(self.style, LineStyle::Dashed | LineStyle::Formula);
        let (dash, gap) = self.dashes();
        let strokes = (4..34).step_by((dash + gap).unsigned_abs() as usize).filter(|_| is_later);
        strokes.map(|from| (from, (from + dash).min(34))).collect()
    }
}

pub(super) fn font(size: u32) -> TextStyle<'static> {
    (FONT, size).into_font().color(&INK)
}
