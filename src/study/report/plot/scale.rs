//! Scales of axes, and the positions of their ticks.

use crate::report::lettering::text_width;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use serde::Serialize;
use std::ops::Range;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Scale {
    /// Linear, starting from 0 if no value is below.
    Linear,
    /// Logarithmic, with ticks at powers of two.
    Log2,
    /// Logarithmic, with ticks at 1, 2 and 5 of every power of ten, or at more multiples if these are few.
    Log10,
}

/// The range of positions along an axis, and the positions of its ticks.
pub(in crate::report) struct Positions {
    pub(in crate::report) range: Range<f64>,
    pub(in crate::report) marks: Vec<f64>,
}

impl Ranged for Positions {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, position: &f64, pixels: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(position, pixels)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The bold points are the labelled ticks; light points in between would be clutter.
        if hint.weight().allow_light_points() { Vec::new() } else { self.marks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl Positions {
    /// Returns the width, at least `least`, of an area for the labels of a vertical axis and for its name, in pixels.
    pub(in crate::report) fn label_area(&self, least: u32, text: impl Fn(f64) -> String) -> u32 {
        let widths = self.marks.iter().map(|mark| text_width(&text(*mark), LABEL));
        widths.fold(least, |most, width| most.max(NAME + width))
    }

    /// Returns the same range with only as many ticks as have room for their labels. `room` and `length` are in letters.
    pub(super) fn thinned(mut self, room: usize, length: impl Fn(f64) -> usize) -> Self {
        let longest = self.marks.iter().map(|mark| length(*mark)).max().unwrap_or(0);
        let stride = (self.marks.len() * longest).div_ceil(room.max(1)).max(1);
        self.marks = self.marks.into_iter().step_by(stride).collect();
        self
    }
}

/// The size of the font of labels.
const LABEL: u32 = 14;
/// The width of the name of a vertical axis with its margins and the tick, in pixels.
const NAME: u32 = 32;

impl Scale {
    /// Returns a logarithmic scale to the base 2 if it spreads `values` better, as for numbers of processors; otherwise
    /// a linear one.
    #[must_use]
    pub fn fitting(values: impl IntoIterator<Item = f64>) -> Self {
        let (least, most) = bounds(values);
        if least > 0.0 && most >= 4.0 * least { Self::Log2 } else { Self::Linear }
    }

    /// Returns the position of a value along the axis; `None` if it has none.
    pub(in crate::report) fn position(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear => value.is_finite().then_some(value),
            _ if value <= 0.0 || !value.is_finite() => None,
            Self::Log2 => Some(value.log2()),
            Self::Log10 => Some(value.log10()),
        }
    }

    /// Returns the range of positions to show, and the positions of the ticks.
    pub(in crate::report) fn layout(self, values: impl IntoIterator<Item = f64>, pad: bool) -> Positions {
        let (mut least, mut most) = bounds(values.into_iter().filter_map(|value| self.position(value)));
        if least > most {
            (least, most) = (0.0, 1.0);
        }
        match self {
            Self::Linear => linear_layout(least, most, pad),
            Self::Log2 => log2_layout(least, most),
            Self::Log10 => log10_layout(least, most),
        }
    }

    /// Returns the value at a position as text.
    pub(in crate::report) fn text(self, position: f64) -> String {
        let value = match self {
            Self::Linear => position,
            Self::Log2 => position.exp2(),
            Self::Log10 => 10f64.powf(position),
        };
        // Whole numbers are exact; others have six digits, so that 0.1 + 0.2 is written as 0.3.
        let is_exact = value.fract() == 0.0 && value.abs() < LARGE;
        let digits = if is_exact { value.to_string() } else { format!("{value:.5e}") };
        let shown: f64 = digits.parse().expect("a printed number can be read");
        if shown == 0.0 { "0".to_owned() } else { shown.to_string() }
    }
}

/// Numbers from here on have more digits than a label has room for.
const LARGE: f64 = 1e12;

fn bounds(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(start, |(least, most), value| (least.min(value), most.max(value)))
}

fn linear_layout(least: f64, most: f64, pad: bool) -> Positions {
    let bottom = least.min(0.0);
    let span = if most > bottom { most - bottom } else { 1.0 };
    let rough = span / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let (lowest, highest) = ((bottom / step).floor(), ((bottom + span) / step - 1e-9).ceil());
    let margin = if pad { 0.02 * span } else { 0.0 };
    Positions {
        range: lowest * step - margin..highest * step + margin,
        marks: whole(lowest, highest, 1.0).map(|number| number * step).collect(),
    }
}

/// Returns the layout of an axis with a position for each of `count` categories, and a mark at every `stride`-th.
pub(super) fn category_layout(count: usize, stride: usize) -> Positions {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    Positions { range: -0.5..f64::from(count) - 0.5, marks: (0..count).step_by(stride).map(f64::from).collect() }
}

fn log2_layout(least: f64, most: f64) -> Positions {
    let margin = 0.03 * (most - least).max(1.0);
    let stride = ((most - least) / 12.0).ceil().max(1.0);
    Positions {
        range: least - margin..most + margin,
        marks: whole((least - 1e-9).ceil(), (most + 1e-9).floor(), stride).collect(),
    }
}

/// The least number of ticks of a logarithmic axis.
const TICKS: usize = 5;
/// The distances of ticks, as parts of a power of ten, of axes on which its multiples 1, 2 and 5 are too few.
const CLOSER: [f64; 10] = [1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

fn log10_layout(least: f64, most: f64) -> Positions {
    // A single height is in the middle.
    let (least, most) = if most - least < 1e-9 { (least - 0.1, most + 0.1) } else { (least, most) };
    let digits: &[f64] = if most - least <= 3.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let multiples =
        |step: f64| (0..).map(move |index| 1.0 + f64::from(index) * step).take_while(|digit| *digit < 9.9995);
    let closer = CLOSER.iter().map(|step| multiples(*step).collect());
    let mut layouts = std::iter::once(digits.to_vec()).chain(closer).map(|digits| layout_at(&digits, least, most));
    layouts.find(|layout| layout.marks.len() >= TICKS).unwrap_or_else(|| layout_at(digits, least, most))
}

/// Returns the layout of a logarithmic axis with ticks at these multiples of powers of ten.
fn layout_at(digits: &[f64], least: f64, most: f64) -> Positions {
    let decades = whole(least.floor() - 1.0, most.ceil() + 1.0, 1.0);
    let marks: Vec<f64> = decades.flat_map(|decade| digits.iter().map(move |digit| decade + digit.log10())).collect();
    let below = marks.iter().copied().filter(|mark| *mark <= least + 1e-9).fold(f64::NEG_INFINITY, f64::max);
    let above = marks.iter().copied().filter(|mark| *mark >= most - 1e-9).fold(f64::INFINITY, f64::min);
    let range = if below < above { below..above } else { below..above + 0.3 };
    let marks = marks.into_iter().filter(|mark| *mark >= range.start && *mark <= range.end).collect();
    Positions { range, marks }
}

/// Returns the whole numbers from `first` to `last` in steps of `step`.
fn whole(first: f64, last: f64, step: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(first), move |number| Some(number + step)).take_while(move |number| *number <= last)
}
