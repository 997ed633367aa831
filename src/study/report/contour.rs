//! Contour maps as SVG: a value over two axes, as colours with lines of equal value.

use super::lettering::{Lettered, title, wide_enough};
use super::plot::{AXIS, Area, ChartAxis, DrawingResult, Positions, Scale, document, font};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A value over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct ContourMap {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The quantity that the colours show.
    pub value: String,
    /// Ascending positions along the horizontal axis.
    pub xs: Vec<f64>,
    /// Ascending positions along the vertical axis.
    pub ys: Vec<f64>,
    /// The values: for each of `ys`, the values at `xs`.
    pub values: Vec<Vec<f64>>,
    /// The points to mark, each with its name.
    pub marks: Vec<(f64, f64, String)>,
    /// `true` if the colours and their values are left out.
    pub has_no_legend: bool,
}

impl Lettered for ContourMap {
    fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    fn without_legend(self) -> Self {
        Self { has_no_legend: true, ..self }
    }
}

const SIZE: (u32, u32) = (930, 560);
const LEGEND: u32 = 150;
const TITLE: u32 = 52;
/// Dark violet, blue, green, yellow: lighter means more, for readers with any colour vision.
const STOPS: [[f64; 3]; 5] =
    [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [94.0, 201.0, 98.0], [253.0, 231.0, 37.0]];

type MapChart<'c, 's> = ChartContext<'c, SVGBackend<'s>, Cartesian2d<Positions, Positions>>;
type ContourSegment = [(f64, f64); 2];

impl ContourMap {
    /// Returns the map as an SVG document.
    ///
    /// # Panics
    /// Never: writing to a string cannot fail.
    #[must_use]
    pub fn svg(&self) -> String {
        let width = wide_enough(SIZE.0, &[(&title(&self.title), 20)]);
        document((width, SIZE.1), |paper| self.draw(paper))
    }

    fn draw(&self, root: &Area<'_>) -> DrawingResult {
        root.draw(&Text::new(title(&self.title), (24, 18), font(20)))?;
        let (_, below) = root.split_vertically(TITLE);
        let (plot, legend) = below.split_horizontally(SIZE.0 - LEGEND);
        let levels = levels(self.most());
        let mut chart = ChartBuilder::on(&plot)
            .margin_right(16)
            .margin_left(14)
            .x_label_area_size(48)
            .y_label_area_size(70)
            .build_cartesian_2d(
                self.x.scale.layout(self.xs.iter().copied(), false),
                self.y.scale.layout(self.ys.iter().copied(), false),
            )?;
        self.draw_cells(&mut chart)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(AXIS)
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .axis_desc_style(font(15))
            .label_style(font(14))
            .x_label_formatter(&|position| self.x.scale.text(*position))
            .y_label_formatter(&|position| self.y.scale.text(*position))
            .draw()?;
        for level in &levels {
            self.draw_level(&mut chart, *level)?;
        }
        self.draw_marks(&mut chart)?;
        if self.has_no_legend { Ok(()) } else { self.draw_legend(&legend, &levels) }
    }

    fn most(&self) -> f64 {
        self.values.iter().flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// Returns the positions of the values along both axes.
    fn places(&self) -> (Vec<f64>, Vec<f64>) {
        let along = |axis: &ChartAxis, values: &[f64]| {
            values.iter().map(|value| axis.scale.position(*value).unwrap_or(0.0)).collect()
        };
        (along(&self.x, &self.xs), along(&self.y, &self.ys))
    }

    /// Draws each cell between four points in the colour of their mean.
    fn draw_cells(&self, chart: &mut MapChart<'_, '_>) -> DrawingResult {
        let (xs, ys) = self.places();
        let most = self.most();
        let mut cells = Vec::new();
        for (row, y) in ys.windows(2).enumerate() {
            for (column, x) in xs.windows(2).enumerate() {
                let corners = self.corners(row, column);
                let mean = corners.iter().sum::<f64>() / 4.0;
                let corners = [(x[0], y[0]), (x[1], y[1])];
                cells.push(Rectangle::new(corners, colour(mean / most).filled()));
            }
        }
        chart.draw_series(cells)?;
        Ok(())
    }

    /// Returns the values at the corners of a cell, in the order around it.
    fn corners(&self, row: usize, column: usize) -> [f64; 4] {
        let value = |row: usize, column: usize| self.values[row][column];
        [value(row, column), value(row, column + 1), value(row + 1, column + 1), value(row + 1, column)]
    }

    fn draw_level(&self, chart: &mut MapChart<'_, '_>, level: f64) -> DrawingResult {
        let segments = self.segments(level);
        let lines = segments.iter().map(|ends| PathElement::new(ends.to_vec(), WHITE.mix(0.85).stroke_width(1)));
        chart.draw_series(lines)?;
        if let Some(middle) = segments.get(segments.len() / 2) {
            let style = font(12).color(&WHITE).pos(Pos::new(HPos::Center, VPos::Center));
            chart.draw_series([Text::new(Scale::Linear.text(level), middle[0], style)])?;
        }
        Ok(())
    }

    /// Returns the line on which the value is `level`, as one segment for each cell with corners on either side of it.
    fn segments(&self, level: f64) -> Vec<ContourSegment> {
        let (xs, ys) = self.places();
        let mut segments = Vec::new();
        for (row, y) in ys.windows(2).enumerate() {
            for (column, x) in xs.windows(2).enumerate() {
                let values = self.corners(row, column);
                let places = [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])];
                let crossing = |side: usize| {
                    let (from, to) = (side, (side + 1) % 4);
                    let share = (level - values[from]) / (values[to] - values[from]);
                    let between = |from: f64, to: f64| share.mul_add(to - from, from);
                    ((values[from] < level) != (values[to] < level))
                        .then(|| (between(places[from].0, places[to].0), between(places[from].1, places[to].1)))
                };
                let crossings: Vec<_> = (0..4).filter_map(crossing).collect();
                segments.extend(crossings.chunks_exact(2).map(|ends| [ends[0], ends[1]]));
            }
        }
        segments
    }

    fn draw_marks(&self, chart: &mut MapChart<'_, '_>) -> DrawingResult {
        let most = self.xs.last().and_then(|x| self.x.scale.position(*x)).unwrap_or(0.0);
        for (x, y, name) in &self.marks {
            let (Some(x), Some(y)) = (self.x.scale.position(*x), self.y.scale.position(*y)) else { continue };
            let ring = EmptyElement::at((x, y)) + Circle::new((0, 0), 6, RED.stroke_width(3));
            chart.draw_series([ring])?;
            // The name points towards the middle of the picture, where there is room for it.
            let (side, aside) = if x > 0.5 * most { (HPos::Right, -9) } else { (HPos::Left, 9) };
            let beside = font(14).color(&RED).pos(Pos::new(side, VPos::Bottom));
            chart.draw_series([EmptyElement::at((x, y)) + Text::new(name.clone(), (aside, -5), beside)])?;
        }
        Ok(())
    }

    fn draw_legend(&self, area: &DrawingArea<SVGBackend<'_>, Shift>, levels: &[f64]) -> DrawingResult {
        const STEPS: i32 = 50;
        let (top, height) = (30, 400);
        let most = self.most();
        area.draw(&Text::new(self.value.clone(), (4, 6), font(14)))?;
        for step in 0..STEPS {
            let share = f64::from(step) / f64::from(STEPS - 1);
            let bottom = top + height - step * height / STEPS;
            area.draw(&Rectangle::new([(4, bottom - height / STEPS), (24, bottom)], colour(share).filled()))?;
        }
        for level in levels {
            let y = top + height - pixels(level / most * f64::from(height));
            area.draw(&Text::new(
                Scale::Linear.text(*level),
                (30, y),
                font(12).pos(Pos::new(HPos::Left, VPos::Center)),
            ))?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a picture has few pixels")]
fn pixels(length: f64) -> i32 {
    length.round() as i32
}

/// Returns up to twelve round values below `most`.
fn levels(most: f64) -> Vec<f64> {
    if most <= 0.0 {
        return Vec::new();
    }
    let power = 10f64.powf((most / 10.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| most / step <= 12.0);
    let step = step.unwrap_or(10.0 * power);
    (1..=12).map(|count| f64::from(count) * step).filter(|level| *level < most).collect()
}

/// Returns the colour at a share of the scale.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "colours are small positive numbers")]
fn colour(share: f64) -> RGBColor {
    let position = 4.0 * share.clamp(0.0, 1.0);
    let index = (position.floor() as usize).min(STOPS.len() - 2);
    let part = |part: usize| {
        let (low, high) = (STOPS[index][part], STOPS[index + 1][part]);
        (high - low).mul_add(position - f64::from(index as u32), low).round() as u8
    };
    RGBColor(part(0), part(1), part(2))
}

#[cfg(test)]
mod tests {
    use super::super::lettering::Lettering;
    use super::super::plot::Scale;
    use super::*;

    fn map() -> ContourMap {
        let axis = |label: &str, scale| ChartAxis::new(label, scale);
        ContourMap {
            title: "Speed-up".to_owned(),
            x: axis("Nodes p", Scale::Log2),
            y: axis("Cores q", Scale::Linear),
            value: "S".to_owned(),
            xs: vec![1.0, 2.0, 4.0],
            ys: vec![1.0, 2.0],
            values: vec![vec![0.0, 1.0, 2.0], vec![1.0, 2.0, 3.0]],
            marks: vec![(4.0, 2.0, "best".to_owned())],
            has_no_legend: false,
        }
    }

    #[test]
    fn a_map_is_the_same_bytes_every_time() {
        let svg = map().svg();
        assert_eq!(svg, map().svg());
        for text in ["Speed-up", "Nodes p", "Cores q", "best"] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }

    #[test]
    fn texts_of_a_map_can_be_chosen() {
        let texts = Lettering { title: Some("Mine".to_owned()), has_no_legend: true };
        let svg = map().lettered(&texts).svg();
        assert!(svg.contains("Mine") && !svg.contains("Speed-up") && svg.len() < map().svg().len());
    }

    #[test]
    fn a_line_runs_where_the_value_is() {
        // In the first cell, from (0, 1.5) to (0.5, 1) in positions (log₂ of nodes, cores).
        let segments = map().segments(0.5);
        assert_eq!(segments.len(), 1);
        let mut ends = segments[0];
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(ends, [(0.0, 1.5), (0.5, 1.0)]);
    }

    #[test]
    fn levels_are_round() {
        assert_eq!(levels(0.95).len(), 9);
        assert!((levels(0.95)[0] - 0.1).abs() < 1e-12);
        assert_eq!(levels(130.0), [20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
        assert!(levels(0.0).is_empty());
    }
}
