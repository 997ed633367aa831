//! A frame for pictures: a title, a note, a colour legend and two axes, to draw into.

use super::lettering::{title, wide_enough};
use super::plot::{AXIS, Area, Chart, DrawingResult, GRID, Positions, document, font};
use plotters::prelude::*;

/// The frame of a picture.
pub struct Frame {
    /// The title.
    pub title: String,
    /// Further information, in a smaller line below the title.
    pub note: String,
    /// The names of the colours.
    pub legend: Vec<(String, RGBColor)>,
    /// The width and the height in pixels.
    pub size: (u32, u32),
    /// The horizontal axis.
    pub x: FrameAxis,
    /// The vertical axis.
    pub y: FrameAxis,
}

/// An axis of a picture.
pub struct FrameAxis {
    /// The range of the axis and its ticks.
    pub positions: Positions,
    /// The quantity, with its unit in brackets.
    pub label: String,
    /// The label of a tick.
    pub text: Box<dyn Fn(f64) -> String>,
}

const HEAD: u32 = 84;
const LETTER: i32 = 9;

impl Frame {
    /// Returns the picture as an SVG document; `draw` draws the area between the axes.
    pub fn svg(self, draw: impl FnOnce(&mut Chart<'_, '_>) -> DrawingResult) -> String {
        let of_legend = self
            .legend
            .iter()
            .map(|(name, _)| 36 + LETTER.unsigned_abs() * u32::try_from(name.chars().count()).unwrap_or(0))
            .sum::<u32>()
            + 24;
        let texts = [(&*title(&self.title), 20), (&*self.note, 13)];
        let width = wide_enough(self.size.0.max(of_legend), &texts);
        document((width, self.size.1), |paper| self.draw(paper, draw))
    }

    fn draw(self, root: &Area<'_>, draw: impl FnOnce(&mut Chart<'_, '_>) -> DrawingResult) -> DrawingResult {
        root.draw(&Text::new(title(&self.title), (24, 14), font(20)))?;
        root.draw(&Text::new(self.note.clone(), (24, 40), font(13)))?;
        let mut left = 24;
        for (name, colour) in &self.legend {
            root.draw(&Rectangle::new([(left, 64), (left + 14, 76)], colour.filled()))?;
            root.draw(&Text::new(name.clone(), (left + 19, 62), font(14)))?;
            left += 36 + LETTER * i32::try_from(name.chars().count()).unwrap_or(0);
        }
        let (_, below) = root.split_vertically(HEAD);
        let (x_text, y_text) = (self.x.text, self.y.text);
        let mut chart = ChartBuilder::on(&below)
            .margin_right(18)
            .margin_top(6)
            .margin_left(14)
            .x_label_area_size(48)
            .y_label_area_size(self.y.positions.label_area(64, &y_text))
            .build_cartesian_2d(self.x.positions, self.y.positions)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .axis_desc_style(font(15))
            .label_style(font(13))
            .x_label_formatter(&|position| x_text(*position))
            .y_label_formatter(&|position| y_text(*position))
            .draw()?;
        draw(&mut chart)
    }
}
