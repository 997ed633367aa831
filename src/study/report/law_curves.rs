//! The laws of speedup over the processors, drawn from the records of `parsim laws`.

use super::figures::chart;
use super::panels::Panels;
use super::plot::{LineChart, LineStyle, PlotLine, Scale};
use super::scaling::{amdahl_line, ideal_line};
use super::table::{capitalised, digits};
use crate::answer::{Record, Role};
use crate::model::laws::{amdahl, gustafson};

/// The key of the number of processors.
const PROCESSORS: &str = "p";

/// A panel of the picture.
struct LawPanel {
    title: &'static str,
    scale: Scale,
    /// The keys that it shows, with the names of their lines where several have values.
    keys: &'static [(&'static str, &'static str)],
}

const PANELS: [LawPanel; 4] = [
    LawPanel {
        title: "speedup",
        scale: Scale::Log10,
        keys: &[("speedup", "speedup"), ("scaled_speedup", "scaled speedup"), ("amdahl", "Amdahl")],
    },
    LawPanel { title: "efficiency", scale: Scale::Linear, keys: &[("efficiency", "")] },
    LawPanel { title: "serial fraction e (Karp-Flatt)", scale: Scale::Linear, keys: &[("karp_flatt", "")] },
    LawPanel { title: "serial share s (Gustafson)", scale: Scale::Linear, keys: &[("serial_share", "")] },
];

/// The records of one series.
struct LawSeries<'r> {
    /// The values of the axes other than p, such as `n = 256`.
    name: String,
    records: Vec<&'r Record>,
}

/// Returns charts of the speedup with the curve of its law and the ideal, of the efficiency, and of the serial fraction or
/// share, as far as the records have them. The law is Amdahl's for fixed and Gustafson's for growing work, by least
/// squares.
#[must_use]
pub fn law_curves(records: &[Record]) -> Panels {
    let series = series(records);
    let panels = PANELS.iter().map(|panel| drawn(panel, &series)).filter(|chart| !chart.lines.is_empty());
    let charts: Vec<LineChart> = panels.collect();
    let titles: Vec<_> = charts.iter().map(|chart| chart.title.clone()).collect();
    Panels { title: titles.join(", "), charts, has_whole: false }
}

fn series(records: &[Record]) -> Vec<LawSeries<'_>> {
    let mut series: Vec<LawSeries<'_>> = Vec::new();
    for record in records {
        let axes = record.quantities().iter().filter(|one| one.role == Role::Axis && one.key != PROCESSORS);
        let name = axes.map(|axis| format!("{} = {}", axis.key, axis.value)).collect::<Vec<_>>().join(", ");
        match series.iter_mut().find(|one| one.name == name) {
            Some(known) => known.records.push(record),
            None => series.push(LawSeries { name, records: vec![record] }),
        }
    }
    series
}

fn drawn(panel: &LawPanel, series: &[LawSeries<'_>]) -> LineChart {
    let shown: Vec<_> =
        panel.keys.iter().filter(|(key, _)| series.iter().any(|one| !one.points(key).is_empty())).collect();
    let lines = series.iter().enumerate().flat_map(|(number, one)| {
        let shown = &shown;
        let line = move |(place, (key, kind)): (usize, &&(&str, &str))| {
            let names = [one.name.as_str(), if shown.len() > 1 || one.name.is_empty() { kind } else { "" }];
            let name = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ");
            let style = if *key == "amdahl" { LineStyle::Formula } else { LineStyle::Solid };
            PlotLine { style, ..PlotLine::new(name, one.points(key), number * shown.len() + place) }
        };
        shown.iter().enumerate().map(line).collect::<Vec<_>>()
    });
    let lines: Vec<_> = lines.filter(|line| !line.points.is_empty()).collect();
    let is_of_speedup = panel.keys.len() > 1;
    let laws = series.iter().enumerate().filter(|_| is_of_speedup).filter_map(|(hue, one)| one.law(hue));
    let ideal = series.iter().filter(|_| is_of_speedup).find_map(LawSeries::ideal);
    let lines = lines.into_iter().chain(laws.collect::<Vec<_>>()).chain(ideal).collect();
    let title = match shown[..] {
        [(_, kind)] if !kind.is_empty() => kind,
        _ => panel.title,
    };
    let y = capitalised(title.split(" (").next().unwrap_or_default());
    chart(capitalised(title), "Processors p", (&y, panel.scale), lines, None)
}

impl LawSeries<'_> {
    /// Returns the values of a quantity by the number of processors, where both are finite numbers.
    fn points(&self, key: &str) -> Vec<(f64, f64)> {
        let point = |record: &&Record| Some((record.number(PROCESSORS)?, record.number(key)?));
        self.records.iter().filter_map(point).filter(|(p, value)| p.is_finite() && value.is_finite()).collect()
    }

    /// Returns the curve of the law that fits the speedups best; `None` for the values of a law itself, and for speedups
    /// that are relative to the time on several processors.
    fn law(&self, hue: usize) -> Option<PlotLine> {
        let about = if self.name.is_empty() { String::new() } else { format!("{}, ", self.name) };
        let has = |key: &str| !self.points(key).is_empty();
        let (fixed, scaled) = (self.points("speedup"), self.points("scaled_speedup"));
        if has("karp_flatt") && !has("amdahl") {
            let fraction = amdahl::fitted_fraction(&fixed).filter(|fraction| (0.0..=1.0).contains(fraction))?;
            return Some(amdahl_line(&about, fraction, fixed.iter().map(|point| point.0), hue));
        }
        if !has("serial_share") || has("serial_fraction_of_scaled_work") {
            return None;
        }
        let share = gustafson::fitted_share(&scaled).filter(|share| (0.0..=1.0).contains(share))?;
        let points = scaled.iter().map(|(p, _)| (*p, gustafson::scaled_speedup(share, *p))).collect();
        let name = format!("{about}Gustafson, s = {}", digits(share));
        Some(PlotLine { style: LineStyle::Formula, ..PlotLine::new(name, points, hue) })
    }

    /// Returns the line of an efficiency of one; for growing work only from one processor on.
    fn ideal(&self) -> Option<PlotLine> {
        let (fixed, efficiencies) = (self.points("speedup"), self.points("efficiency"));
        let scaled = self.points("scaled_speedup");
        let per_processor = match (fixed.last(), efficiencies.last()) {
            (Some((p, speedup)), Some((_, efficiency))) => speedup / efficiency / p,
            _ if self.points("serial_share").is_empty() => return None,
            _ => 1.0,
        };
        let places = || fixed.iter().chain(&scaled).map(|point| point.0);
        let ends = [places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max)];
        Some(ideal_line(ends.map(|p| (p, p * per_processor))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(p: u32, values: &[(&'static str, f64)]) -> Record {
        let mut record = Record::default();
        record.put_as(Role::Axis, PROCESSORS, p);
        for (key, value) in values {
            record.put(*key, *value);
        }
        record
    }

    #[test]
    fn speedups_are_drawn_with_their_law_and_the_ideal() {
        let of = |p: u32| {
            let speedup = amdahl::speedup(0.1, f64::from(p));
            record(p, &[("speedup", speedup), ("efficiency", speedup / f64::from(p)), ("karp_flatt", 0.1)])
        };
        let panels = law_curves(&[1, 2, 8].map(of));
        let names: Vec<_> = panels.charts[0].lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["speedup", "Amdahl, f = 0.1000", "ideal"]);
        assert_eq!(panels.title, "Speedup, Efficiency, Serial fraction e (Karp-Flatt)");
        let law = &panels.charts[0].lines;
        assert!(law[0].points.iter().zip(&law[1].points).all(|(run, law)| (run.1 - law.1).abs() < 1e-9));
        assert_eq!(law[2].points, [(1.0, 1.0), (8.0, 8.0)]);
    }

    #[test]
    fn scaled_speedups_are_drawn_with_the_law_of_gustafson() {
        let of = |p: u32| {
            let speedup = gustafson::scaled_speedup(0.1, f64::from(p));
            record(p, &[("scaled_speedup", speedup), ("efficiency", 1.0), ("serial_share", 0.1)])
        };
        let panels = law_curves(&[1, 4, 64].map(of));
        let names: Vec<_> = panels.charts[0].lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["scaled speedup", "Gustafson, s = 0.1000", "ideal"]);
        assert_eq!((panels.charts.len(), panels.charts[0].title.as_str()), (3, "Scaled speedup"));
    }

    #[test]
    fn relative_speedups_have_no_law() {
        let of = |p: u32| record(p, &[("speedup", f64::from(p) / 4.0), ("efficiency", 1.0)]);
        let panels = law_curves(&[4, 8].map(of));
        assert_eq!(panels.charts[0].lines.len(), 2);
        assert_eq!(panels.charts[0].lines[1].points, [(4.0, 1.0), (8.0, 2.0)]);
    }
}
