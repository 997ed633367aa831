//! Values with their intervals, one below the other, as SVG.

use super::lettering::{Lettered, distinct, text_width, title, wide_enough};
use super::plot::{AXIS, Area, COLOURS, DrawingResult, GRID, document, font};
use super::table::digits;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A chart of dots with whiskers.
#[derive(Clone, Debug, PartialEq)]
pub struct Whiskers {
    /// The title.
    pub title: String,
    /// The name of the axis of the values.
    pub axis: String,
    /// The meaning of whiskers.
    pub intervals: String,
    /// The meaning of hollow dots.
    pub hollow: String,
    /// The values, from top to bottom.
    pub rows: Vec<Whisker>,
    /// The value without a difference, which is marked by a vertical line.
    pub neutral: f64,
    /// `true` if the meaning of colours and marks is written below the title.
    pub has_legend: bool,
}

impl Lettered for Whiskers {
    fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    fn without_legend(self) -> Self {
        Self { has_legend: false, ..self }
    }
}

/// A value with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Whisker {
    /// The name of the value.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The interval, if there is one.
    pub interval: Option<(f64, f64)>,
    /// `true` if the value is known; if it is only a bound, the dot is hollow.
    pub is_certain: bool,
    /// `true` if the value is the best one.
    pub is_best: bool,
}

const HEAD: i32 = 70;
const ROW: i32 = 24;
/// The least room for names, in pixels.
const LEFT: i32 = 400;
/// The length of the axis, and the room to the right of it, in pixels.
const LENGTH: i32 = 430;
const MARGIN: i32 = 100;
/// The room between a name and the axis, and on the other side of the name.
const BESIDE: i32 = 16;
const RADIUS: i32 = 5;
/// The colours of the best value and of all others, in words.
const LEGEND: &str = "blue: the best; orange: others";
/// The largest number of ticks of the axis.
const MARKS: f64 = 8.0;
/// The largest distance of the ends of intervals from the values, as a multiple of the extent of the values. Longer
/// intervals are cut off, with an arrow.
const BEYOND: f64 = 3.0;
/// The largest distance of a value from three quarters of the values, as a multiple of their extent. Larger values are at
/// the end of the axis, with an arrow: a single one would leave no room for the others.
const OUTLYING: f64 = 10.0;
/// The largest number of letters of a name.
const LETTERS: usize = 100;

impl Whiskers {
    /// Returns the chart as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let rows = u32::try_from(self.rows.len()).unwrap_or(0);
        let height = HEAD.unsigned_abs() + ROW.unsigned_abs() * (rows + 3);
        let least = (self.left() + LENGTH + MARGIN).unsigned_abs();
        let width = wide_enough(least, &[(&title(&self.title), 20), (&self.legend(), 13)]);
        document((width, height), |paper| self.draw(paper))
    }

    /// Returns the names of the values as they are shown.
    fn names(&self) -> Vec<String> {
        let names: Vec<String> = self.rows.iter().map(|row| row.name.clone()).collect();
        distinct(&names, LETTERS)
    }

    /// Returns the position of the axis, to the right of all names.
    fn left(&self) -> i32 {
        let widest = self.names().iter().map(|name| text_width(name, 13)).max().unwrap_or(0);
        LEFT.max(i32::try_from(widest).unwrap_or(LEFT) + 2 * BESIDE)
    }

    /// Returns the meaning of everything that is in the picture.
    fn legend(&self) -> String {
        if !self.has_legend {
            return String::new();
        }
        let scale = AxisEnds::of(self);
        let parts = [
            (self.rows.iter().any(|row| row.interval.is_some()), format!("whiskers: {}", self.intervals)),
            (self.rows.iter().any(|row| !row.is_certain), format!("hollow: {}", self.hollow)),
            (self.rows.iter().any(|row| !scale.shows(row.value)), "arrow: beyond the axis".to_owned()),
        ];
        let shown = parts.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, words)| words);
        [LEGEND.to_owned()].into_iter().chain(shown).collect::<Vec<_>>().join("; ")
    }

    fn draw(&self, root: &Area<'_>) -> DrawingResult {
        root.draw(&Text::new(title(&self.title), (24, 14), font(20)))?;
        root.draw(&Text::new(self.legend(), (24, 40), font(13)))?;
        let scale = AxisEnds::of(self);
        let bottom = HEAD + ROW * i32::try_from(self.rows.len()).unwrap_or(0);
        for value in scale.marks() {
            let x = scale.x(value);
            root.draw(&PathElement::new(vec![(x, HEAD), (x, bottom)], GRID))?;
            let below = font(12).pos(Pos::new(HPos::Center, VPos::Top));
            root.draw(&Text::new(digits(value), (x, bottom + 6), below))?;
        }
        let below = font(13).pos(Pos::new(HPos::Center, VPos::Top));
        root.draw(&Text::new(self.axis.clone(), (scale.left + LENGTH / 2, bottom + 6 + ROW), below))?;
        let neutral = scale.x(self.neutral);
        root.draw(&PathElement::new(vec![(neutral, HEAD), (neutral, bottom)], AXIS.stroke_width(2)))?;
        let mut y = HEAD + ROW / 2;
        for (row, name) in self.rows.iter().zip(self.names()) {
            row.draw(root, (y, &name), &scale)?;
            y += ROW;
        }
        Ok(())
    }
}

impl Whisker {
    fn draw(&self, root: &Area<'_>, (y, name): (i32, &str), scale: &AxisEnds) -> DrawingResult {
        let colour = COLOURS[usize::from(!self.is_best)];
        let beside = font(13).pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(name.to_owned(), (scale.left - BESIDE, y), beside))?;
        let mut end = scale.x(self.value) + RADIUS;
        if let Some((low, high)) = self.interval {
            let (from, to) = (scale.x(low), scale.x(high));
            root.draw(&PathElement::new(vec![(from, y), (to, y)], colour.stroke_width(2)))?;
            for (end, x, inwards) in [(low, from, RADIUS), (high, to, -RADIUS)] {
                let base = if scale.shows(end) { x } else { x + inwards };
                let tip = vec![(base, y - RADIUS), (x, y), (base, y + RADIUS)];
                root.draw(&PathElement::new(tip, colour.stroke_width(2)))?;
            }
            end = end.max(to);
        }
        let fill = if self.is_certain { colour.filled() } else { colour.stroke_width(2) };
        let x = scale.x(self.value);
        if scale.shows(self.value) {
            root.draw(&Circle::new((x, y), RADIUS, fill))?;
        } else {
            root.draw(&Polygon::new(vec![(x, y - RADIUS), (x + RADIUS, y), (x, y + RADIUS)], colour.filled()))?;
        }
        let value = font(12).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw(&Text::new(digits(self.value), (end + 6, y), value))?;
        Ok(())
    }
}

/// The values at the ends of the axis, and the position of its beginning.
struct AxisEnds {
    low: f64,
    high: f64,
    left: i32,
}

impl AxisEnds {
    fn of(chart: &Whiskers) -> Self {
        let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
        let limit = largest_shown(chart);
        let values = chart.rows.iter().map(|row| row.value.min(limit));
        let (least, most) = values.fold((chart.neutral, chart.neutral), wider);
        let room = if most > least { BEYOND * (most - least) } else { f64::INFINITY };
        let ends = chart.rows.iter().filter_map(|row| row.interval).flat_map(|(low, high)| [low, high]);
        let (low, high) = ends.map(|end| end.clamp(least - room, most + room)).fold((least, most), wider);
        Self { low, high: if high > low { high } else { low + 1.0 }, left: chart.left() }
    }

    /// Returns round values within the axis: multiples of 1, 2 or 5 times a power of ten.
    fn marks(&self) -> impl Iterator<Item = f64> {
        let least = (self.high - self.low) / MARKS;
        let decade = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter().find(|step| *step >= least);
        let step = step.unwrap_or(least);
        let (first, high) = ((self.low / step).ceil(), self.high);
        (0_u32..).map(move |mark| (first + f64::from(mark)) * step).take_while(move |value| *value <= high)
    }

    fn shows(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    #[expect(clippy::cast_possible_truncation, reason = "no value lies outside the picture")]
    fn x(&self, value: f64) -> i32 {
        let value = value.clamp(self.low, self.high);
        self.left + (f64::from(LENGTH) * (value - self.low) / (self.high - self.low)).round() as i32
    }
}

/// Returns the largest value that is shown at its place.
fn largest_shown(chart: &Whiskers) -> f64 {
    let mut values: Vec<f64> = chart.rows.iter().map(|row| row.value).collect();
    values.sort_by(f64::total_cmp);
    let Some((least, usual)) = values.first().zip(values.get(3 * values.len().saturating_sub(1) / 4)) else {
        return f64::INFINITY;
    };
    if usual > least { OUTLYING.mul_add(usual - least, *usual) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(rows: Vec<Whisker>) -> Whiskers {
        let [title, axis, intervals, hollow] = ["T", "ratio", "an interval", "a bound"].map(str::to_owned);
        Whiskers { title, axis, intervals, hollow, rows, neutral: 1.0, has_legend: true }
    }

    #[test]
    fn a_legend_explains_what_is_in_the_picture_and_long_names_have_room() {
        let row = Whisker { name: "Ring".to_owned(), value: 1.0, interval: None, is_certain: true, is_best: true };
        assert_eq!(chart(vec![row.clone()]).legend(), LEGEND);
        let bound = Whisker { is_certain: false, interval: Some((0.5, 2.0)), ..row.clone() };
        assert!(chart(vec![row.clone(), bound]).legend().ends_with("whiskers: an interval; hollow: a bound"));
        let name = "Hierarchical(reduce: Binomial, between: RecursiveDoubling, broadcast: Binomial)";
        let long = chart(vec![
            row,
            Whisker { name: name.to_owned(), value: 2.0, interval: None, is_certain: true, is_best: false },
        ]);
        assert!(long.left() > 500 && long.svg().contains(name) && long.svg().contains("ratio"));
    }

    #[test]
    fn marks_are_round() {
        let marks = |low, high| AxisEnds { low, high, left: LEFT }.marks().collect::<Vec<_>>();
        assert_eq!(marks(-1.421, 7.14), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(marks(0.0, 4.0), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
    }

    #[test]
    fn whiskers_reach_to_the_ends_of_intervals() {
        let row =
            |value, interval| Whisker { name: "Ring".to_owned(), value, interval, is_certain: true, is_best: true };
        let right = LEFT + LENGTH;
        let chart = chart(vec![row(1.0, Some((0.5, 1.5))), row(2.5, None)]);
        let svg = chart.svg();
        assert!(svg.contains("Ring") && svg.contains(&format!(r#"cx="{right}""#)), "{svg}");
        assert!(svg.contains(&format!(r#"points="{LEFT},82 615,82 ""#)), "{svg}");
        let rows = vec![row(1.0, Some((0.5, 900.0))), row(2.0, None)];
        let ends = AxisEnds::of(&Whiskers { rows, ..chart });
        assert_eq!((ends.low, ends.high, ends.shows(900.0), ends.x(900.0)), (0.5, 5.0, false, right));
    }

    #[test]
    fn a_value_far_from_the_others_is_cut_off_and_a_series_of_growing_ones_is_not() {
        let chart = |values: &[f64]| {
            let row = |value: &f64| Whisker {
                name: "Ring".to_owned(),
                value: *value,
                interval: None,
                is_certain: true,
                is_best: false,
            };
            chart(values.iter().map(row).collect())
        };
        let spoilt = chart(&[1.0, 1.25, 1.5, 100.0]);
        let high = |chart: &Whiskers| AxisEnds::of(chart).high;
        assert!((high(&spoilt) - 6.5).abs() < 1e-12);
        assert!(spoilt.svg().contains("others; arrow: beyond the axis"));
        for values in [&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0][..], &[1.0, 100.0]] {
            let chart = chart(values);
            assert!((high(&chart) - values[values.len() - 1]).abs() < 1e-12);
            assert!(!chart.svg().contains("arrow"));
        }
    }
}
