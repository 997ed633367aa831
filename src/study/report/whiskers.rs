//! Values with their intervals, one below the other, as SVG.

use super::lettering::{distinct, title, wide_enough};
use super::plot::{AXIS, Area, COLOURS, DrawingResult, GRID, document, font};
use super::table::digits;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A chart of dots with whiskers.
#[derive(Clone, Debug, PartialEq)]
pub struct Whiskers {
    /// The title.
    pub title: String,
    /// The meaning of dots and whiskers.
    pub note: String,
    /// The values, from top to bottom.
    pub rows: Vec<Whisker>,
    /// The value without a difference, which is marked by a vertical line.
    pub neutral: f64,
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

const WIDTH: u32 = 930;
const HEAD: i32 = 70;
const ROW: i32 = 24;
const LEFT: i32 = 400;
const RIGHT: i32 = 830;
const RADIUS: i32 = 5;
/// The largest number of ticks of the axis.
const MARKS: f64 = 8.0;
/// The largest distance of the ends of intervals from the values, as a multiple of the extent of the values. Longer
/// intervals are cut off, with an arrow.
const BEYOND: f64 = 3.0;
/// The largest distance of a value from three quarters of the values, as a multiple of their extent. Larger values are at
/// the end of the axis, with an arrow: a single one would leave no room for the others.
const OUTLYING: f64 = 10.0;
/// The largest number of letters of a name.
const LETTERS: usize = 52;

impl Whiskers {
    /// Returns the chart as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let rows = u32::try_from(self.rows.len()).unwrap_or(0);
        let height = HEAD.unsigned_abs() + ROW.unsigned_abs() * (rows + 2);
        let width = wide_enough(WIDTH, &[(&title(&self.title), 20), (&self.full_note(), 13)]);
        document((width, height), |paper| self.draw(paper))
    }

    /// Returns the note, with the meaning of arrows if there are any.
    fn full_note(&self) -> String {
        let scale = AxisEnds::of(self);
        let is_cut = self.rows.iter().any(|row| !scale.shows(row.value));
        if is_cut { format!("{}; arrow: beyond the axis", self.note) } else { self.note.clone() }
    }

    fn draw(&self, root: &Area<'_>) -> DrawingResult {
        root.draw(&Text::new(title(&self.title), (24, 14), font(20)))?;
        root.draw(&Text::new(self.full_note(), (24, 40), font(13)))?;
        let scale = AxisEnds::of(self);
        let bottom = HEAD + ROW * i32::try_from(self.rows.len()).unwrap_or(0);
        for value in scale.marks() {
            let x = scale.x(value);
            root.draw(&PathElement::new(vec![(x, HEAD), (x, bottom)], GRID))?;
            let below = font(12).pos(Pos::new(HPos::Center, VPos::Top));
            root.draw(&Text::new(digits(value), (x, bottom + 6), below))?;
        }
        let neutral = scale.x(self.neutral);
        root.draw(&PathElement::new(vec![(neutral, HEAD), (neutral, bottom)], AXIS.stroke_width(2)))?;
        let mut y = HEAD + ROW / 2;
        let names: Vec<String> = self.rows.iter().map(|row| row.name.clone()).collect();
        for (row, name) in self.rows.iter().zip(distinct(&names, LETTERS)) {
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
        root.draw(&Text::new(name.to_owned(), (LEFT - 16, y), beside))?;
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

/// The values at the ends of the axis.
struct AxisEnds {
    low: f64,
    high: f64,
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
        Self { low, high: if high > low { high } else { low + 1.0 } }
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
        LEFT + (f64::from(RIGHT - LEFT) * (value - self.low) / (self.high - self.low)).round() as i32
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

    #[test]
    fn marks_are_round() {
        let marks = |low, high| AxisEnds { low, high }.marks().collect::<Vec<_>>();
        assert_eq!(marks(-1.421, 7.14), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(marks(0.0, 4.0), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]);
    }

    #[test]
    fn whiskers_reach_to_the_ends_of_intervals() {
        let row =
            |value, interval| Whisker { name: "Ring".to_owned(), value, interval, is_certain: true, is_best: true };
        let rows = vec![row(1.0, Some((0.5, 1.5))), row(2.5, None)];
        let chart = Whiskers { title: "T".to_owned(), note: "n".to_owned(), rows, neutral: 1.0 };
        let svg = chart.svg();
        assert!(svg.contains("Ring") && svg.contains(&format!(r#"cx="{RIGHT}""#)), "{svg}");
        assert!(svg.contains(&format!(r#"points="{LEFT},82 615,82 ""#)), "{svg}");
        let rows = vec![row(1.0, Some((0.5, 900.0))), row(2.0, None)];
        let ends = AxisEnds::of(&Whiskers { rows, ..chart });
        assert_eq!((ends.low, ends.high, ends.shows(900.0), ends.x(900.0)), (0.5, 5.0, false, RIGHT));
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
            let rows = values.iter().map(row).collect();
            Whiskers { title: "T".to_owned(), note: "n".to_owned(), rows, neutral: 1.0 }
        };
        let spoilt = chart(&[1.0, 1.25, 1.5, 100.0]);
        let high = |chart: &Whiskers| AxisEnds::of(chart).high;
        assert!((high(&spoilt) - 6.5).abs() < 1e-12);
        assert!(spoilt.svg().contains("n; arrow: beyond the axis"));
        for values in [&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0][..], &[1.0, 100.0]] {
            let chart = chart(values);
            assert!((high(&chart) - values[values.len() - 1]).abs() < 1e-12);
            assert!(!chart.svg().contains("arrow"));
        }
    }
}
