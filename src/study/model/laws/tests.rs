//! The laws compared with the worked values of the slides and with each other. `parsim validate speedup-laws` covers
//! the rest.

use super::isoefficiency::Algorithm;
use super::*;
use std::collections::HashMap;

/// Returns the rows of a validation file by column name.
fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').map(str::to_owned));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {} is no number", row[column]))
}

fn assert_close(left: f64, right: f64, relative: f64, what: &str) {
    assert!((left - right).abs() <= relative * right.abs().max(1e-300), "{what}: {left} is not {right}");
}

/// Slide 26: twice the machine yields 1.4 times the speedup.
#[test]
fn from_8_to_16_processors_the_speedup_grows_as_printed() {
    let growth = amdahl::speedup(0.1, 16.0) / amdahl::speedup(0.1, 8.0);
    assert_close(growth, 1.360_000_000_000_000_3, 1e-12, "growth");
    assert!((growth - 1.4).abs() < 0.05);
}

#[test]
fn the_metric_gives_back_the_speedup() {
    let rows = rows(include_str!("../../../../validation/speedup-laws/karp-flatt.csv"));
    assert_eq!(rows.len(), 15);
    for row in rows.iter().filter(|row| !row["psi_of_printed"].is_empty()) {
        let speedup = karp_flatt::speedup(number(row, "printed"), number(row, "p"));
        assert_close(speedup, number(row, "psi_of_printed"), 5e-5, &row["name"]);
    }
}

#[test]
fn the_laws_agree_on_random_programs() {
    let rows = rows(include_str!("../../../../validation/speedup-laws/random-programs.csv"));
    assert_eq!(rows.len(), 20);
    for row in &rows {
        let of = |column: &str| number(row, column);
        let parts = TimeParts { serial_s: of("sigma"), parallel_s: of("phi"), communication_s: of("kappa") };
        let p = of("p");
        let quiet = TimeParts { communication_s: 0.0, ..parts };
        let excess = parts.communication_s / ((p - 1.0) * parts.sequential_time_s());
        let values = [
            ("T1_s", parts.sequential_time_s()),
            ("amdahl", quiet.speedup(p)),
            ("amdahl", amdahl::speedup(gustafson::fraction_of_share(parts.serial_share(p), p), p)),
            ("iso_C", isoefficiency::constant(parts.efficiency(p))),
            ("T1_s", isoefficiency::constant(parts.efficiency(p)) * parts.total_overhead_s(p)),
        ];
        for (column, value) in values {
            assert_close(value, of(column), 1e-10, column);
        }
        let measured = karp_flatt::metric(parts.speedup(p), p) - karp_flatt::definition(&parts);
        assert!((measured - excess).abs() < 1e-12);
        let held = isoefficiency::efficiency(parts.total_overhead_s(p), parts.sequential_time_s());
        assert_close(held, parts.efficiency(p), 1e-12, "efficiency");
    }
}

#[test]
fn problems_that_hold_the_efficiency_hold_it() {
    let algorithms = [Algorithm::Reduction, Algorithm::Floyd, Algorithm::FiniteDifference];
    for (p, c) in [(4.0, 3.0), (16.0, 3.0), (64.0, 9.0), (256.0, 1.0), (1024.0, 3.0)] {
        for algorithm in algorithms {
            let n = algorithm.problem_size(c, p);
            assert_close(algorithm.scalability(c, p), algorithm.memory(n) / p, 1e-12, "memory");
            // The work and the total parallel overhead, with constants of one.
            let (work, overhead) = match algorithm {
                Algorithm::Reduction => (n, p * p.log2()),
                Algorithm::FiniteDifference => (n.powi(2), n * p.sqrt()),
                _ => (n.powi(3), p * n.powi(2) * p.log2()),
            };
            assert_close(isoefficiency::efficiency(overhead, work), c / (1.0 + c), 1e-12, "efficiency");
        }
    }
}

#[test]
fn memory_limits_the_processors_that_hold_the_efficiency() {
    // C log₂ p = 10 at p = 1024; C² p log₂² p = 1024 at p = 32 … 33; C² always fits.
    assert_eq!(Algorithm::Reduction.largest_processors(1.0, 10.0, 1 << 20), Some(1024));
    assert_eq!(Algorithm::Floyd.largest_processors(1.0, 800.0, 1 << 20), Some(32));
    assert_eq!(Algorithm::FiniteDifference.largest_processors(3.0, 9.0, 1 << 20), Some(1 << 20));
    assert_eq!(Algorithm::FiniteDifference.largest_processors(3.1, 9.0, 1 << 20), None);
}

#[test]
fn slides_50_to_54_with_the_values_their_axes_fit() {
    let fixed = TimeParts { serial_s: 1.0, parallel_s: 20.0, communication_s: 0.0 };
    let work = ScaledWork { serial_s: 1.0, parallel_s: 20.0, communication: CommunicationLaw::None };
    assert!((fixed.speedup(256.0) - 19.478_260_869_565_22).abs() < 1e-9);
    assert!((fixed.speedup(f64::INFINITY) - 21.0).abs() < 1e-12);
    assert!((work.scaled_speedup(4096.0) - 81_921.0 / 21.0).abs() < 1e-9);
    let logarithmic = ScaledWork { communication: CommunicationLaw::Logarithmic(1.0), ..work };
    assert!((logarithmic.scaled_speedup(4096.0) - 81_921.0 / 33.0).abs() < 1e-9);
    let share = work.serial_s / (work.serial_s + work.parallel_s);
    assert!((work.scaled_speedup(64.0) - gustafson::scaled_speedup(share, 64.0)).abs() < 1e-9);
}

#[test]
fn the_knee_is_where_the_speedup_is_largest_and_moves_with_the_problem() {
    for growth in [CommunicationLaw::Logarithmic(0.37), CommunicationLaw::Linear(0.021)] {
        let speedup = |p: f64| growth.parts(3.0, 200.0, p).speedup(p);
        let largest = (1..2000).map(f64::from).max_by(|one, other| speedup(*one).total_cmp(&speedup(*other)));
        assert_eq!(knee(3.0, 200.0, growth), largest);
        assert_eq!(knee(0.0, 200.0, growth), largest);
        // Communication that is long even on one processor.
        assert_eq!(knee(3.0, 1e-6, growth), Some(1.0));
    }
    assert_eq!(knee(1.0, 20.0, CommunicationLaw::None), None);
    let shift = |growth: CommunicationLaw| growth.least_time(1000.0 * 8.0) / growth.least_time(1000.0);
    assert!((shift(CommunicationLaw::Logarithmic(1.0)) - 8.0).abs() < 1e-12);
    assert!((shift(CommunicationLaw::Linear(1.0)) - 8.0_f64.sqrt()).abs() < 1e-12);
}

const ONE: RequestedBase = RequestedBase::Processors(1.0);

fn points(speedups: &[(f64, f64)]) -> Vec<SeriesPoint> {
    let point = |&(processors, speedup): &(f64, f64)| SeriesPoint {
        processors,
        time_s: 100.0 / speedup,
        work_s: None,
        components: Vec::new(),
    };
    speedups.iter().map(point).collect()
}

#[test]
fn both_series_of_the_slides_get_their_verdict() {
    let first = [1.0, 1.82, 2.5, 3.08, 3.57, 4.0, 4.38, 4.71];
    let second = [1.0, 1.87, 2.61, 3.23, 3.73, 4.14, 4.46, 4.71];
    for (speedups, trend) in [(first, Trend::Constant), (second, Trend::Rising)] {
        let numbered: Vec<_> = (1..).map(f64::from).zip(speedups).collect();
        let series = SpeedupSeries::new(points(&numbered), ONE).unwrap();
        assert_eq!(series.verdict().unwrap().trend, trend);
        assert_eq!(series.knee(), None);
        assert_eq!(series.base(), Base::OneProcessor(100.0));
    }
}

#[test]
fn a_metric_that_rises_and_falls_has_no_trend() {
    for fractions in [[0.2, 0.067, 0.143], [0.1, 0.2, 0.1], [0.1, 0.3, 0.2]] {
        let at = |(p, e): (f64, f64)| (p, 1.0 / (e + (1.0 - e) / p));
        let measured = [(1.0, 1.0)].into_iter().chain([2.0, 4.0, 8.0].into_iter().zip(fractions).map(at));
        let series = SpeedupSeries::new(points(&measured.collect::<Vec<_>>()), ONE).unwrap();
        assert_eq!(series.verdict().unwrap().trend, Trend::Mixed, "{fractions:?}");
    }
}

#[test]
fn parts_of_the_metric_sum_to_it_and_name_what_grows() {
    let at = |processors: f64| {
        let components = [("serial", 2.0), ("computing", 98.0 / processors), ("waiting", 0.1 * (processors - 1.0))];
        let components: Vec<_> = components.map(|(name, seconds)| (name.to_owned(), seconds)).into();
        SeriesPoint { processors, time_s: components.iter().map(|part| part.1).sum(), work_s: None, components }
    };
    let series = SpeedupSeries::new([64.0, 1.0, 8.0, 16.0, 32.0].map(at).into(), ONE).unwrap();
    for (law, (processors, parts)) in series.laws()[1..].iter().zip(series.parts()) {
        assert_close(law.processors, processors, 0.0, "processors");
        assert_close(parts.iter().map(|part| part.1).sum(), law.serial_fraction.unwrap(), 1e-12, "the sum");
        assert!(parts[1].1.abs() < 1e-12, "a component that divides evenly has no part");
    }
    let verdict = series.verdict().unwrap();
    assert_eq!((verdict.trend, verdict.growing[0].0.as_str()), (Trend::Rising, "waiting"));
    assert_eq!(series.knee(), Some(32.0));
    let sequential = SpeedupSeries::new(points(&[(2.0, 1.0), (4.0, 2.0)]), RequestedBase::Sequential(50.0)).unwrap();
    assert_close(sequential.laws()[0].speedup, 0.5, 1e-12, "speedup against a faster sequential program");
    assert_eq!(sequential.verdict().unwrap().growing, []);
    assert_eq!(SpeedupSeries::new(points(&[(2.0, 1.0)]), ONE), None);
}

#[test]
fn speedup_relative_to_several_processors_is_one_on_them() {
    let times = points(&[(256.0, 2.0), (64.0, 1.0), (128.0, 2.0)]);
    let series = SpeedupSeries::new(times.clone(), RequestedBase::Processors(64.0)).unwrap();
    let found: Vec<_> = series.laws().iter().map(|law| (law.processors, law.speedup, law.efficiency)).collect();
    assert_eq!(found, [(64.0, 1.0, 1.0), (128.0, 2.0, 1.0), (256.0, 2.0, 0.5)]);
    assert!(series.laws().iter().all(|law| law.serial_fraction.is_none()) && series.verdict().is_none());
    assert_eq!(series.base().name(), "T(64) of the program");
    assert_eq!(SpeedupSeries::new(times, RequestedBase::Processors(32.0)), None);
}

#[test]
fn the_fitted_fraction_is_the_one_of_the_law_and_the_mean_of_two() {
    let law = |f: f64| [1.0, 2.0, 8.0, 64.0].map(|p| (p, amdahl::speedup(f, p)));
    for f in [0.0, 0.01, 0.3, 1.0] {
        assert!((amdahl::fitted_fraction(&law(f)).unwrap() - f).abs() < 1e-12);
    }
    let both: Vec<_> = law(0.1).into_iter().chain(law(0.3)).collect();
    assert!((amdahl::fitted_fraction(&both).unwrap() - 0.2).abs() < 1e-12);
    assert_eq!(amdahl::fitted_fraction(&[(1.0, 1.0)]), None);
}

/// Times that do not shrink with p are no serial fraction.
#[test]
fn a_serial_fraction_is_at_most_one() {
    let meaning = |fractions: [f64; 3]| Trend::Constant.meaning(fractions.into_iter());
    assert!(meaning([1.04, 1.03, 1.04]).starts_with("e is above 1: all take longer than one processor"));
    assert!(meaning([0.2, 0.21, 0.2]).contains("a serial fraction of 0.2033"));
    assert!(meaning([0.99, 1.01, 1.0]).contains("serial fraction"));
    assert!(meaning([-0.001, -0.2, 0.2]).starts_with("e is negative"));
    let once = meaning([-0.001, 0.2, 0.2]);
    assert!(
        once.contains("serial fraction")
            && once.ends_with("e is below 0 at 1 of 3 p, where the speedup is superlinear")
    );
}

/// With κ = log₂ p, e rises, though κ grows more slowly than p: what grows faster than p − 1 is T₀ = p κ.
#[test]
fn a_rising_serial_fraction_is_about_the_total_parallel_overhead() {
    let at = |p: f64| (p, CommunicationLaw::Logarithmic(1.0).parts(0.0, 100.0, p).speedup(p));
    let series = SpeedupSeries::new(points(&[1.0, 4.0, 16.0, 64.0].map(at)), ONE).unwrap();
    for law in &series.laws()[1..] {
        let overhead_s = law.processors * law.time_s - 100.0;
        assert_close(law.serial_fraction.unwrap() * (law.processors - 1.0) * 100.0, overhead_s, 1e-9, "T_0");
    }
    let fractions = series.laws().into_iter().filter_map(|law| law.serial_fraction);
    let meaning = series.verdict().unwrap().trend.meaning(fractions);
    assert!(meaning.starts_with("e rises: the total parallel overhead T_0 = p T(p) - T(1) grows faster than p - 1"));
}

/// A tenth of the time on p processors is serial: the law of Gustafson and Barsis gives back its share.
#[test]
fn work_that_grows_with_the_processors_has_a_scaled_speedup() {
    let scaled = |p: f64| (p, gustafson::scaled_speedup(0.1, p) / p);
    let series = SpeedupSeries::new(points(&[scaled(1.0), scaled(4.0), scaled(16.0)]), ONE).unwrap();
    for point in series.scaled(0.0) {
        let speedup = gustafson::scaled_speedup(0.1, point.processors);
        assert_close(point.scaled_speedup, speedup, 1e-12, "the scaled speedup");
        assert_close(point.efficiency, speedup / point.processors, 1e-12, "T(1) / T(p)");
        assert!(point.serial_share.is_none_or(|share| (share - 0.1).abs() < 1e-12));
    }
    let relative = SpeedupSeries::new(points(&[(64.0, 1.0), (128.0, 0.8)]), RequestedBase::Processors(64.0)).unwrap();
    let [_, last] = relative.scaled(0.0)[..] else { panic!() };
    assert_eq!((last.efficiency, last.scaled_speedup, last.serial_share), (0.8, 1.6, None));
}

/// σ = 10 s is constant, φ = 90 s grows with p: the time is the same on any number of processors.
#[test]
fn constant_work_is_counted_once_in_a_scaled_speedup() {
    let times = || points(&[(1.0, 1.0), (4.0, 1.0), (64.0, 1.0)]);
    let law = |p: f64| gustafson::scaled_speedup(0.1, p);
    let check = |points: Vec<ScaledPoint>| {
        for point in points {
            assert_close(point.scaled_speedup, law(point.processors), 1e-12, "the scaled speedup");
            assert!(point.serial_share.is_none_or(|share| (share - 0.1).abs() < 1e-12));
        }
    };
    check(SpeedupSeries::new(times(), ONE).unwrap().scaled(10.0));
    let known = times().into_iter().map(|point| SeriesPoint { work_s: Some(10.0 + 90.0 * point.processors), ..point });
    let known: Vec<_> = known.collect();
    check(SpeedupSeries::new(known.clone(), ONE).unwrap().scaled(0.0));
    let relative = SpeedupSeries::new(known, RequestedBase::Processors(4.0)).unwrap().scaled(0.0);
    assert_close(relative[2].scaled_speedup, law(64.0) / law(4.0), 1e-12, "relative to four processors");
    let relative = SpeedupSeries::new(times(), RequestedBase::Processors(4.0)).unwrap().scaled(10.0);
    assert_close(relative[2].scaled_speedup, law(64.0) / law(4.0), 1e-12, "relative to four processors");
}
