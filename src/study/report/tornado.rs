//! Tornado charts as SVG: the effects of constants in both directions, the largest at the top.

use super::lettering::{Lettered, distinct, title, wide_enough};
use super::plot::{AXIS, Area, COLOURS, DrawingResult, document, font};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A tornado chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Tornado {
    /// The title.
    pub title: String,
    /// The meaning of the bars.
    pub note: String,
    /// The meaning of the colours: of a smaller constant, and of a larger one; `None` if it is not written.
    pub key: Option<[String; 2]>,
    /// The constants, from top to bottom.
    pub bars: Vec<TornadoBar>,
}

/// The effects of one constant.
#[derive(Clone, Debug, PartialEq)]
pub struct TornadoBar {
    /// The name of the constant.
    pub name: String,
    /// The change of the result if the constant is smaller.
    pub smaller: f64,
    /// The change of the result if the constant is larger.
    pub larger: f64,
}

const WIDTH: u32 = 930;
const HEAD: i32 = 94;
const ROW: i32 = 26;
/// Half the thickness of a bar.
const HALF: i32 = 8;
/// The horizontal position of no change, and the length of the longest bar, in pixels.
const MIDDLE: i32 = 630;
const LONGEST: f64 = 160.0;
/// The position of the key, the side of its squares, and the distance of its entries, in pixels.
const KEY: (i32, i32) = (24, 66);
const SQUARE: i32 = 12;
const ENTRY: i32 = 130;
/// The largest number of letters of a name.
const LETTERS: usize = 52;

impl Lettered for Tornado {
    fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    fn without_legend(self) -> Self {
        Self { key: None, ..self }
    }
}

impl Tornado {
    /// Returns the chart as an SVG document.
    ///
    /// # Panics
    /// Never: writing to a string cannot fail.
    #[must_use]
    pub fn svg(&self) -> String {
        let rows = u32::try_from(self.bars.len()).unwrap_or(0);
        let height = HEAD.unsigned_abs() + ROW.unsigned_abs() * (rows + 1);
        let width = wide_enough(WIDTH, &[(&title(&self.title), 20), (&self.note, 13)]);
        document((width, height), |paper| self.draw(paper))
    }

    fn draw(&self, root: &Area<'_>) -> DrawingResult {
        root.draw(&Text::new(title(&self.title), (24, 14), font(20)))?;
        root.draw(&Text::new(self.note.clone(), (24, 40), font(13)))?;
        self.draw_key(root)?;
        let changes = self.bars.iter().flat_map(|bar| [bar.smaller.abs(), bar.larger.abs()]);
        let most = changes.fold(f64::MIN_POSITIVE, f64::max);
        let mut y = HEAD + ROW / 2;
        let names: Vec<String> = self.bars.iter().map(|bar| bar.name.clone()).collect();
        for (bar, name) in self.bars.iter().zip(distinct(&names, LETTERS)) {
            bar.draw(root, (y, &name), LONGEST / most)?;
            y += ROW;
        }
        root.draw(&PathElement::new(vec![(MIDDLE, HEAD), (MIDDLE, y - ROW / 2)], AXIS.stroke_width(2)))?;
        Ok(())
    }
}

impl Tornado {
    fn draw_key(&self, root: &Area<'_>) -> DrawingResult {
        let (mut x, y) = KEY;
        for (words, colour) in self.key.iter().flatten().zip(COLOURS) {
            root.draw(&Rectangle::new([(x, y), (x + SQUARE, y + SQUARE)], colour.filled()))?;
            let beside = font(13).pos(Pos::new(HPos::Left, VPos::Center));
            root.draw(&Text::new(words.clone(), (x + SQUARE + 6, y + SQUARE / 2), beside))?;
            x += ENTRY;
        }
        Ok(())
    }
}

impl TornadoBar {
    fn draw(&self, root: &Area<'_>, (y, name): (i32, &str), scale: f64) -> DrawingResult {
        let beside = font(13).pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(name.to_owned(), (MIDDLE - 220, y), beside))?;
        for (change, colour) in [(self.smaller, COLOURS[0]), (self.larger, COLOURS[1])] {
            let end = MIDDLE + pixels(change * scale);
            let corners = [(MIDDLE.min(end), y - HALF), (MIDDLE.max(end), y + HALF)];
            root.draw(&Rectangle::new(corners, colour.filled()))?;
            let (side, gap) = if change < 0.0 { (HPos::Right, -4) } else { (HPos::Left, 4) };
            let value = font(12).pos(Pos::new(side, VPos::Center));
            root.draw(&Text::new(format!("{change:+.3}"), (end + gap, y), value))?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a bar is no longer than the picture")]
fn pixels(length: f64) -> i32 {
    length.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_reach_to_both_sides() {
        let bar = TornadoBar { name: "machine.L".to_owned(), smaller: -0.5, larger: 1.0 };
        let key = Some(["less", "more"].map(str::to_owned));
        let svg = Tornado { title: "T".to_owned(), note: "n".to_owned(), key, bars: vec![bar] }.svg();
        assert!(svg.contains("less") && svg.contains("more"), "{svg}");
        let of = |left: i32, width: i32| format!(r#"x="{left}" y="99" width="{width}""#);
        assert!(svg.contains("machine.L") && svg.contains(&of(MIDDLE - 80, 80)), "{svg}");
        assert!(svg.contains(&of(MIDDLE, 160)) && svg.contains("+1.000") && svg.contains("-0.500"), "{svg}");
    }
}
