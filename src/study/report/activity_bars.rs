//! The bars of a row of a space-time diagram. The area of each colour is that of its time, also where activities are
//! too short to be drawn one by one.

use parsim_sim::units::SimDuration;

/// The number of columns for activities that are too short for bars of their own; a column is wider than a pixel.
const COLUMNS: u64 = 1000;
/// The number of heights of a bar. Columns of the same heights are one bar.
const HEIGHTS: u64 = 16;

/// A bar of one colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivityBar {
    /// The index of the colour.
    pub hue: usize,
    /// The left end.
    pub from: SimDuration,
    /// The right end.
    pub to: SimDuration,
    /// The lower and the upper edge, as parts of the height of the row.
    pub height: (f64, f64),
}

/// The bars of a row. Activities are added in the order of time. Each of those that last for a column or longer has a
/// bar; of the others, each column shows which parts of its time they take, on top of each other.
pub struct RowBars {
    from: SimDuration,
    until: SimDuration,
    /// The width of a column.
    column: SimDuration,
    /// The short activities of the current column: its number, and the time of each colour.
    short: (u64, Vec<(usize, SimDuration)>),
    /// The last columns, which have not become bars yet.
    last: Option<StackedColumns>,
    bars: Vec<ActivityBar>,
}

/// Columns side by side in which short activities have the same heights.
struct StackedColumns {
    /// The upper edges by colour, from the lowest one on.
    edges: Vec<(usize, u64)>,
    from: SimDuration,
    to: SimDuration,
}

impl RowBars {
    /// Creates a row without bars that shows the time between two instants.
    pub fn new(from: SimDuration, until: SimDuration) -> Self {
        let column = (until - from).ratio(1, COLUMNS).max(SimDuration::from_ps(1));
        Self { from, until, column, short: (0, Vec::new()), last: None, bars: Vec::new() }
    }

    /// Adds an activity.
    pub fn add(&mut self, hue: usize, begin: SimDuration, end: SimDuration) {
        let (begin, end) = (begin.max(self.from), end.min(self.until));
        if begin >= end {
        } else if end - begin < self.column {
            self.add_short(hue, begin, end);
        } else {
            self.add_long(hue, begin, end);
        }
    }

    /// Returns the bars.
    pub fn finish(mut self) -> Vec<ActivityBar> {
        self.end_column();
        self.end_columns();
        self.bars
    }

    fn add_long(&mut self, hue: usize, from: SimDuration, to: SimDuration) {
        let height = (0.0, 1.0);
        match self.bars.last_mut() {
            Some(last) if last.hue == hue && last.to == from && last.height == height => last.to = to,
            _ => self.bars.push(ActivityBar { hue, from, to, height }),
        }
    }

    fn add_short(&mut self, hue: usize, mut begin: SimDuration, end: SimDuration) {
        while begin < end {
            let column = (begin - self.from).ps() / self.column.ps();
            if self.short.0 != column {
                self.end_column();
                self.short.0 = column;
            }
            let within = end.min(self.from + self.column * (column + 1));
            match self.short.1.iter_mut().find(|(known, _)| *known == hue) {
                Some((_, time)) => *time += within - begin,
                None => self.short.1.push((hue, within - begin)),
            }
            begin = within;
        }
    }

    /// Turns the short activities of the current column into heights.
    fn end_column(&mut self) {
        let (column, mut times) = (self.short.0, std::mem::take(&mut self.short.1));
        times.sort_unstable_by_key(|(hue, _)| *hue);
        let mut sum = SimDuration::ZERO;
        let edges = times.into_iter().map(|(hue, time)| {
            sum += time;
            (hue, sum.ratio(HEIGHTS, 1).ratio(1, self.column.ps()).ps())
        });
        let edges: Vec<(usize, u64)> = edges.collect();
        let (from, to) = (self.from + self.column * column, self.from + self.column * (column + 1));
        match &mut self.last {
            Some(last) if last.edges == edges && last.to == from => last.to = to,
            _ => {
                self.end_columns();
                self.last = Some(StackedColumns { edges, from, to });
            }
        }
    }

    /// Turns the last columns, which have the same heights, into bars.
    #[expect(clippy::cast_precision_loss, reason = "heights are few")]
    fn end_columns(&mut self) {
        let Some(StackedColumns { edges, from, to }) = self.last.take() else { return };
        let mut below = 0;
        for (hue, above) in edges {
            let height = (below as f64 / HEIGHTS as f64, above as f64 / HEIGHTS as f64);
            if above > below {
                self.bars.push(ActivityBar { hue, from, to: to.min(self.until), height });
            }
            below = above;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> SimDuration {
        SimDuration::from_us(us)
    }

    fn bars(activities: impl IntoIterator<Item = (usize, u64, u64)>) -> Vec<ActivityBar> {
        let mut row = RowBars::new(us(0), us(100_000));
        for (hue, from, to) in activities {
            row.add(hue, us(from), us(to));
        }
        row.finish()
    }

    #[test]
    fn a_long_activity_is_a_bar_and_touching_ones_of_a_colour_are_one() {
        let bar = |hue, from, to| ActivityBar { hue, from: us(from), to: us(to), height: (0.0, 1.0) };
        let shown = bars([(0, 50, 300), (0, 300, 1000), (1, 1000, 1200), (0, 1300, 1500)]);
        assert_eq!(shown, [bar(0, 50, 1000), bar(1, 1000, 1200), bar(0, 1300, 1500)]);
    }

    /// Checks that waits between short activities do not take their colour.
    #[test]
    fn the_area_of_a_colour_is_its_time() {
        let row =
            bars((0..2000).flat_map(|index| [(1, 50 * index, 50 * index + 5), (2, 50 * index + 30, 50 * index + 43)]));
        let area = |hue: usize| -> f64 {
            let of_hue = row.iter().filter(|bar| bar.hue == hue);
            of_hue.map(|bar| (bar.to - bar.from).seconds() * (bar.height.1 - bar.height.0)).sum()
        };
        let share = |hue| area(hue) / us(100_000).seconds();
        assert_eq!(
            (row.len(), (share(1) - 0.1).abs() < 0.04, (share(2) - 0.26).abs() < 0.04),
            (2, true, true),
            "{row:?}"
        );
    }
}
