//! The bars of a row of a space-time diagram. The area of each colour is that of its time, also where activities are
//! too short to be drawn one by one.

use parsim_sim::units::SimDuration;

/// The number of columns for activities that are too short for bars of their own; a column is wider than a pixel.
const COLUMNS: u64 = 1000;
/// The number of columns from which on an activity has a bar of its own: the pixels of its ends hardly matter there.
const LONG: u64 = 6;
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

/// The bars of a row. Activities are added in the order of time. Each of those that last for some columns has a bar; of
/// the others, each column shows which parts of its time they take, on top of each other.
pub struct RowBars {
    from: SimDuration,
    until: SimDuration,
    /// The width of a column.
    column: SimDuration,
    current: CurrentColumn,
    /// The last columns, which have not become bars yet.
    last: Option<StackedColumns>,
    bars: Vec<ActivityBar>,
}

/// The column in which the last activity ends.
#[derive(Default)]
struct CurrentColumn {
    number: u64,
    /// The time of short activities, by colour.
    short: Vec<(usize, SimDuration)>,
    /// The ends of long activities that take a part of the column: colour, beginning and end.
    ends: Vec<(usize, SimDuration, SimDuration)>,
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
        Self { from, until, column, current: CurrentColumn::default(), last: None, bars: Vec::new() }
    }

    /// Adds an activity.
    pub fn add(&mut self, hue: usize, begin: SimDuration, end: SimDuration) {
        let (begin, end) = (begin.max(self.from), end.min(self.until));
        if begin >= end {
        } else if end - begin < self.column * LONG {
            self.add_short(hue, begin, end);
        } else {
            self.add_long(hue, begin, end);
        }
    }

    /// Returns the number of the column at an instant.
    fn number_at(&self, time: SimDuration) -> u64 {
        (time - self.from).ps() / self.column.ps()
    }

    /// Returns the beginning of a column.
    fn beginning_of(&self, number: u64) -> SimDuration {
        self.from + self.column * number
    }

    /// Goes to a column, and turns what is in the one before into bars.
    fn go_to(&mut self, number: u64) {
        if self.current.number != number {
            self.end_column();
            self.current.number = number;
        }
    }

    /// Returns the bars.
    pub fn finish(mut self) -> Vec<ActivityBar> {
        self.end_column();
        self.end_columns();
        self.bars
    }

    /// Adds a bar over the whole columns, and the ends that share a column with other activities.
    fn add_long(&mut self, hue: usize, begin: SimDuration, end: SimDuration) {
        let (first, last) = (self.number_at(begin), self.number_at(end));
        let from = if self.beginning_of(first) == begin { begin } else { self.beginning_of(first + 1) };
        let to = self.beginning_of(last);
        self.add_end(hue, begin, from);
        self.add_bar(hue, from, to);
        self.add_end(hue, to, end);
    }

    fn add_bar(&mut self, hue: usize, from: SimDuration, to: SimDuration) {
        let height = (0.0, 1.0);
        match self.bars.last_mut() {
            Some(last) if last.hue == hue && last.to == from && last.height == height => last.to = to,
            _ => self.bars.push(ActivityBar { hue, from, to, height }),
        }
    }

    fn add_end(&mut self, hue: usize, from: SimDuration, to: SimDuration) {
        if from < to {
            self.go_to(self.number_at(from));
            self.current.ends.push((hue, from, to));
        }
    }

    fn add_short(&mut self, hue: usize, mut begin: SimDuration, end: SimDuration) {
        while begin < end {
            let number = self.number_at(begin);
            self.go_to(number);
            let within = end.min(self.beginning_of(number + 1));
            add_time(&mut self.current.short, hue, within - begin);
            begin = within;
        }
    }

    /// Turns the activities of the current column into heights, or into bars if only long ones end there.
    fn end_column(&mut self) {
        let CurrentColumn { number: column, short: mut times, ends } = std::mem::take(&mut self.current);
        if times.is_empty() {
            for (hue, from, to) in ends {
                self.add_bar(hue, from, to);
            }
            return;
        }
        for (hue, from, to) in ends {
            add_time(&mut times, hue, to - from);
        }
        times.sort_unstable_by_key(|(hue, _)| *hue);
        let mut sum = SimDuration::ZERO;
        let edges = times.into_iter().map(|(hue, time)| {
            sum += time;
            (hue, sum.ratio(HEIGHTS, 1).ratio(1, self.column.ps()).ps())
        });
        let edges: Vec<(usize, u64)> = edges.collect();
        let (from, to) = (self.beginning_of(column), self.beginning_of(column + 1));
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

fn add_time(times: &mut Vec<(usize, SimDuration)>, hue: usize, time: SimDuration) {
    match times.iter_mut().find(|(known, _)| *known == hue) {
        Some((_, known)) => *known += time,
        None => times.push((hue, time)),
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
        let shown = bars([(0, 100, 900), (0, 900, 2000), (1, 2000, 2800), (0, 3000, 4000)]);
        assert_eq!(shown, [bar(0, 100, 2000), bar(1, 2000, 2800), bar(0, 3000, 4000)]);
        let mut shown = bars([(0, 150, 1030)]);
        shown.sort_by_key(|bar| bar.from);
        assert_eq!(shown, [bar(0, 150, 200), bar(0, 200, 1000), bar(0, 1000, 1030)]);
    }

    /// Checks that a row without waits has no gaps where long and short activities share a column.
    #[test]
    fn a_column_of_long_and_short_activities_is_full() {
        let row = bars([(0, 0, 1030), (1, 1030, 1060), (2, 1060, 2000)]);
        let at = |time: u64| -> f64 {
            let there = row.iter().filter(|bar| (bar.from..bar.to).contains(&us(time)));
            there.map(|bar| bar.height.1 - bar.height.0).sum()
        };
        assert!([10, 1010, 1040, 1090, 1100, 1990].iter().all(|time| (at(*time) - 1.0).abs() < 1e-9), "{row:?}");
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
