//! Several charts side by side in one picture.

use super::lettering::{Lettered, distinct, title, wide_enough, without_folders};
use super::plot::{Area, AxisExtent, DrawingResult, LineChart, PlotLine, document, font, notes};
use plotters::prelude::*;
use serde::Serialize;

/// Small multiples: charts side by side, with one legend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panels {
    /// The title of the whole picture.
    pub title: String,
    /// The charts, whose titles state their subjects. The title of a single chart is that of the picture.
    pub charts: Vec<LineChart>,
    /// `true` if the first line of each chart is the total of the others.
    pub has_whole: bool,
}

/// The largest number of panels that remain readable in one picture.
pub const MAX_PANELS: usize = 12;

const CELL: (u32, u32) = (430, 330);
const HEAD: u32 = 44;
const CELL_HEAD: u32 = 26;
/// The largest number of letters of the title of a panel.
const CELL_LETTERS: usize = 42;

impl Lettered for Panels {
    fn titled(self, title: String) -> Self {
        Self { title, ..self }
    }

    fn without_legend(self) -> Self {
        Self { charts: self.charts.into_iter().map(LineChart::without_legend).collect(), ..self }
    }
}

impl Panels {
    /// Creates a picture of one chart under its own title.
    #[must_use]
    pub fn one(chart: LineChart) -> Self {
        Self { title: chart.title.clone(), charts: vec![chart], has_whole: false }
    }

    /// Returns the picture as an SVG document. Files in titles and names of lines are shown by their names alone.
    #[must_use]
    pub fn svg(&self) -> String {
        self.with_short_names().drawn()
    }

    fn with_short_names(&self) -> Self {
        let mut short = self.clone();
        let names: Vec<String> =
            self.charts.iter().flat_map(|chart| &chart.lines).map(|line| line.name.clone()).collect();
        let lines = short.charts.iter_mut().flat_map(|chart| &mut chart.lines);
        lines.zip(without_folders(&names)).for_each(|(line, name)| line.name = name);
        let titles: Vec<String> = self.charts.iter().map(|chart| chart.title.clone()).collect();
        short.charts.iter_mut().zip(without_folders(&titles)).for_each(|(chart, title)| chart.title = title);
        short.title = without_folders(&[short.title]).remove(0);
        short
    }

    fn drawn(&self) -> String {
        if let [only] = &self.charts[..] {
            return LineChart { title: self.title.clone(), ..only.clone() }.svg();
        }
        let columns = self.columns();
        let rows = u32::try_from(self.charts.len()).unwrap_or(1).div_ceil(columns);
        let (legend, notes) = (self.legend(), notes(&self.charts));
        let (width, height) = (columns * CELL.0, HEAD + rows * CELL.1);
        let title = title(&self.title);
        let whole = wide_enough(width + legend.legend_width(&notes), &[(&title, 20)]);
        let size = (whole, height.max(HEAD + legend.legend_height(&notes)));
        document(size, |paper| {
            paper.draw(&Text::new(title, (24, 16), font(20)))?;
            let (_, below) = paper.split_vertically(HEAD);
            let (grid, beside) = below.split_horizontally(width);
            self.draw(&grid.margin(0, size.1 - HEAD - rows * CELL.1, 0, 0), (rows, columns))?;
            legend.draw_legend(&beside, &notes)
        })
    }

    fn draw(&self, grid: &Area<'_>, (rows, columns): (u32, u32)) -> DrawingResult {
        let shared = self.shared();
        let cells = grid.split_evenly((rows as usize, columns as usize));
        let titles: Vec<String> = self.charts.iter().map(|chart| chart.title.clone()).collect();
        let titles = distinct(&titles, CELL_LETTERS);
        for ((chart, title), cell) in self.charts.iter().zip(titles).zip(cells) {
            cell.draw(&Text::new(title, (24, 6), font(15)))?;
            let (_, plot) = cell.split_vertically(CELL_HEAD);
            chart.draw_plot(&plot, &shared)?;
        }
        Ok(())
    }

    fn columns(&self) -> u32 {
        match self.charts.len() {
            2 | 4 => 2,
            _ => 3,
        }
    }

    /// Returns the extent of the axes that all charts share, so that they can be compared; empty if they show different
    /// quantities.
    fn shared(&self) -> AxisExtent {
        let first = &self.charts[0];
        let lines = || self.charts.iter().flat_map(|chart| &chart.lines);
        if self.charts.iter().any(|chart| chart.y != first.y || chart.x != first.x) {
            return AxisExtent::default();
        }
        let x = lines().flat_map(|line| &line.points).map(|point| point.0).collect();
        AxisExtent { x, y: lines().flat_map(PlotLine::heights).collect() }
    }

    /// Returns a chart whose legend has every line of all charts once.
    fn legend(&self) -> LineChart {
        let mut lines: Vec<PlotLine> = Vec::new();
        for line in self.charts.iter().flat_map(|chart| &chart.lines) {
            if !lines.iter().any(|known| known.name == line.name) {
                lines.push(line.clone());
            }
        }
        LineChart { lines, ..self.charts[0].clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::{ChartAxis, Scale};

    fn chart(title: &str, y: f64) -> LineChart {
        LineChart {
            title: title.to_owned(),
            x: ChartAxis::new("p", Scale::Log2),
            y: ChartAxis::new("Time [s]", Scale::Log10),
            lines: vec![PlotLine::new("simulated", vec![(1.0, y), (4.0, y / 3.0)], 0)],
            reference: None,
        }
    }

    #[test]
    fn panels_share_axes_and_a_legend() {
        let panels = Panels {
            title: "a < b".to_owned(),
            charts: vec![chart("n = 1", 0.02), chart("n = 2", 9.0)],
            has_whole: false,
        };
        let svg = panels.svg();
        assert!(roxmltree::Document::parse(&svg).is_ok());
        assert_eq!(svg.matches("simulated").count(), 1);
        // The smallest time of the first panel is a tick of the second one, too.
        assert_eq!(svg.matches("0.005\n").count(), 2, "{svg}");
    }

    #[test]
    fn files_are_shown_by_their_names() {
        let chart = |file: &str| {
            let mut chart = chart(&format!("machine = File(\"machines/{file}.ron\"), n = 4"), 1.0);
            chart.lines[0].name = format!("File(\"machines/{file}.ron\"), simulated");
            chart
        };
        let charts = vec![chart("one"), chart("other")];
        let svg = Panels { title: "times".to_owned(), charts, has_whole: false }.svg();
        assert!(
            svg.contains("machine = one, n = 4") && svg.contains("other, simulated") && !svg.contains("File("),
            "{svg}"
        );
    }

    #[test]
    fn a_single_panel_is_its_chart() {
        assert_eq!(Panels::one(chart("n = 1", 1.0)).svg(), chart("n = 1", 1.0).svg());
    }
}
