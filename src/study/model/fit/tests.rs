//! Fits that recover the parameters from which the data were generated.

use super::*;
use crate::model::point_to_point::{PointToPoint, TimedMessage};
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn assert_close(left: f64, right: f64, relative: f64) {
    assert!((left - right).abs() <= relative * right.abs(), "{left} is not {right}");
}

/// y = 1 + 2 x at 0, 1, 2, 3 with residuals ±0.1 that are orthogonal to both columns: s² = 0.04 / 2.
#[test]
fn a_textbook_regression() {
    let x = vec![0.0, 1.0, 2.0, 3.0];
    let values = [1.1, 2.9, 4.9, 7.1];
    let fit = Regression::of(&[vec![1.0; 4], x], &values, Weighting::Absolute).unwrap();
    assert_close(fit.coefficients[0], 1.0, 1e-12);
    assert_close(fit.coefficients[1], 2.0, 1e-12);
    let variance: f64 = 0.04 / 2.0;
    let intervals = fit.intervals.as_ref().unwrap();
    // Sxx = 5, the mean of x is 1.5, t(2) = √(0.95² / (2 · 0.975 · 0.025)) = 4.303.
    let quantile = (0.95_f64.powi(2) / (2.0 * 0.975 * 0.025)).sqrt();
    assert_close(intervals[1], quantile * (variance / 5.0).sqrt(), 1e-9);
    assert_close(intervals[0], quantile * (variance * (0.25 + 2.25 / 5.0)).sqrt(), 1e-9);
    assert_close(fit.quality.root_mean_square, 0.1, 1e-9);
    assert_close(fit.quality.r_squared_adjusted.unwrap(), 1.0 - 0.04 / 20.04 * 3.0 / 2.0, 1e-9);
    let (value, interval) = fit.predict(&[1.0, 5.0]);
    assert_close(value, 11.0, 1e-12);
    assert_close(interval.unwrap(), quantile * (variance * (1.0 + 0.25 + 12.25 / 5.0)).sqrt(), 1e-9);
}

/// The shortcut by leverages agrees with leaving out each point and fitting again.
#[test]
fn leave_one_out_is_what_it_says() {
    let x = [1.0, 2.0, 4.0, 7.0, 9.0];
    let values = [3.1, 4.7, 9.6, 14.2, 19.9];
    for weighting in [Weighting::Absolute, Weighting::Relative] {
        let all = Regression::of(&[vec![1.0; 5], x.to_vec()], &values, weighting).unwrap();
        let squares = (0..5).map(|out| {
            let keep = |list: &[f64]| (0..5).filter(|index| *index != out).map(|index| list[index]).collect::<Vec<_>>();
            let rest = Regression::of(&[vec![1.0; 4], keep(&x)], &keep(&values), weighting).unwrap();
            (rest.predict(&[1.0, x[out]]).0 / values[out] - 1.0).powi(2)
        });
        assert_close(all.quality.leave_one_out.unwrap(), (squares.sum::<f64>() / 5.0).sqrt(), 1e-9);
    }
}

#[test]
fn what_the_points_do_not_determine_is_refused() {
    let same = Regression::of(&[vec![1.0; 3], vec![2.0; 3]], &[1.0, 2.0, 3.0], Weighting::Absolute);
    assert!(same.is_none());
    assert!(Regression::of(&[vec![1.0], vec![2.0]], &[1.0], Weighting::Absolute).is_none());
    assert!(Regression::of(&[vec![1.0; 2]], &[1.0, 0.0], Weighting::Relative).is_none());
    let exact = Regression::of(&[vec![1.0; 2], vec![1.0, 2.0]], &[1.0, 3.0], Weighting::Absolute).unwrap();
    assert!(exact.intervals.is_none() && exact.quality.leave_one_out.is_none());
    assert!(exact.predict(&[1.0, 3.0]).1.is_none());
}

#[test]
fn table_2_and_its_break_come_back() {
    let model = PointToPoint::PARSYTEC_SUPERCLUSTER;
    let lengths = [8.0, 40.0, 120.0, 240.0, 1032.0, 4104.0];
    let pairs = lengths.iter().flat_map(|bytes| [1.0, 2.0, 5.0, 22.0].map(|hops| (*bytes, hops)));
    let points: Vec<_> =
        pairs.map(|(bytes, hops)| TimedMessage { bytes, hops, seconds: model.time_s(bytes, hops) }).collect();
    for weighting in [Weighting::Absolute, Weighting::Relative] {
        for given in [None, Some(120.0)] {
            let fit = TwoRegimes::fit(&points, given, weighting).unwrap();
            assert_close(fit.break_bytes, 120.0, 0.0);
            for (fitted, table) in [(&fit.short, model.short), (&fit.long, model.long)] {
                let fitted = fitted.as_ref().unwrap().regime;
                assert_close(fitted.alpha_s, table.alpha_s, 1e-9);
                assert_close(fitted.delta_s_per_byte_hop, table.delta_s_per_byte_hop, 1e-9);
            }
            assert_close(fit.time_s(1032.0, 2.0).unwrap(), 1580.34e-6, 1e-9);
        }
    }
    let short: Vec<_> = points.iter().filter(|point| point.bytes <= 120.0).copied().collect();
    let alone = TwoRegimes::fit(&short, None, Weighting::Absolute).unwrap();
    assert!(alone.break_bytes.is_infinite() && alone.long.is_none());
    assert!(TwoRegimes::fit(&points[..4], None, Weighting::Absolute).is_none());
}

#[test]
fn hockney_and_loggp_come_back() {
    let transfer = |bytes: f64, messages: f64| {
        // L = 5 us, o = 2 us, O = 1 ns, g = 3 us, G = 10 ns.
        let seconds = 5e-6 + 4e-6 + messages * (bytes - 1.0) * 10e-9 + (messages - 1.0) * 3e-6;
        TimedTransfer { messages, overhead_s: Some(2e-6 + (bytes - 1.0) * 1e-9), ..TimedTransfer::new(bytes, seconds) }
    };
    let trains: Vec<_> = [1.0, 100.0, 5000.0].iter().flat_map(|l| [1.0, 2.0, 10.0].map(|m| transfer(*l, m))).collect();
    let fit = LogGp::fit(&trains, Weighting::Absolute).unwrap();
    let parameters = [fit.latency_s, fit.overhead_s, fit.overhead_per_byte_s, fit.gap_s, fit.gap_per_byte_s];
    for (fitted, exact) in parameters.into_iter().zip([5e-6, 2e-6, 1e-9, 3e-6, 10e-9]) {
        assert_close(fitted.unwrap(), exact, 1e-6);
    }
    // The receiver works for 10 ns per byte while they arrive, the sender for 1 ns: 5.5 ns on average.
    let shared = |one: &TimedTransfer| TimedTransfer { overhead_s: Some(2e-6 + (one.bytes - 1.0) * 5.5e-9), ..*one };
    let fit = LogGp::fit(&trains.iter().map(shared).collect::<Vec<_>>(), Weighting::Absolute).unwrap();
    assert_close(fit.overhead_per_byte_s.unwrap(), 1e-9, 1e-6);
    assert_close(fit.shared_overhead_per_byte_s.unwrap(), 5.5e-9, 1e-6);
    assert!(fit.intervals.latency_s.unwrap() < 1e-12 && fit.intervals.overhead_per_byte_s.unwrap() < 1e-15);
    let singles: Vec<_> =
        trains.iter().filter(|one| one.messages < 2.0).map(|one| TimedTransfer { overhead_s: None, ..*one }).collect();
    let fit = LogGp::fit(&singles, Weighting::Absolute).unwrap();
    assert_close(fit.end_to_end_s, 9e-6, 1e-9);
    assert!(fit.latency_s.is_none() && fit.overhead_s.is_none() && fit.gap_s.is_none());
    let fit = Hockney::fit(&singles, Weighting::Absolute).unwrap();
    assert_close(fit.startup_s, 9e-6 - 10e-9, 1e-9);
    assert_close(fit.rate_bytes_per_s().unwrap(), 1e8, 1e-9);
    assert_close(fit.half_length_bytes().unwrap(), 899.0, 1e-9);
}

/// Messages on a machine with L = 4 us, o = 2 us, O = 0.4 ns, g = 3 us, G = 2 ns, whose times vary by `noise`.
fn delayed_transfers(noise: f64) -> Vec<TimedTransfer> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut time = |bytes: f64, messages: f64, delay_s: f64| {
        let processor = 2e-6 + (bytes - 1.0) * 0.4e-9 + delay_s;
        let further = processor.max(3e-6 + (bytes - 1.0) * 2e-9);
        let seconds = 8e-6 + (bytes - 1.0) * 2e-9 + (messages - 1.0) * further;
        let seconds = seconds * (1.0 + noise * (2.0 * random.random::<f64>() - 1.0));
        TimedTransfer { messages, delay_s, ..TimedTransfer::new(bytes, seconds) }
    };
    let lengths = [1.0, 100.0, 1000.0, 4000.0, 16_000.0, 65_536.0];
    lengths.iter().flat_map(|bytes| [(1.0, 0.0), (17.0, 0.0), (17.0, 2e-3)].map(|(m, d)| time(*bytes, m, d))).collect()
}

/// Residuals are relative to the whole times, most of which are the computations, and these times are as noisy as all
/// others.
#[test]
fn noisy_delays_are_fitted_with_the_weights_of_the_whole_times() {
    let fit = LogGp::fit(&delayed_transfers(0.0), Weighting::Relative).unwrap();
    let parameters = [fit.latency_s, fit.overhead_s, fit.overhead_per_byte_s, fit.gap_s, fit.gap_per_byte_s];
    for (fitted, exact) in parameters.into_iter().zip([4e-6, 2e-6, 0.4e-9, 3e-6, 2e-9]) {
        assert_close(fitted.unwrap(), exact, 1e-6);
    }
    let transfers = delayed_transfers(0.002);
    let fit = LogGp::fit(&transfers, Weighting::Relative).unwrap();
    for (fitted, exact) in [(Some(fit.end_to_end_s), 8e-6), (fit.gap_s, 3e-6), (fit.gap_per_byte_s, 2e-9)] {
        assert_close(fitted.unwrap(), exact, 0.002);
    }
    // The overhead depends on which short messages wait for their interface, and the data do not tell it.
    let LogGpIntervals { end_to_end_s, latency_s, overhead_s, gap_s, .. } = fit.intervals;
    assert!(end_to_end_s.is_some() && latency_s.is_none() && overhead_s.is_none() && gap_s.unwrap() < 0.1e-6);
    assert!(fit.quality.points == transfers.len() && fit.quality.largest_error < 0.003, "{:?}", fit.quality);
}

const fn factor(numerator: u8, denominator: u8, logarithm: u8) -> Factor {
    Factor { numerator, denominator, logarithm }
}

fn search(parameters: &[&str], weighting: Weighting) -> NormalFormSearch {
    let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
    NormalFormSearch { parameters, terms: 1, strong_scaling: None, weighting }
}

/// A form of `terms` with coefficients such that every term equals the constant at `first`. Farther on the terms
/// dominate; otherwise no data with 5 % noise could distinguish p^(1/4) from log₂² p.
fn form(terms: &[&[Factor]], first: &[f64]) -> NormalForm {
    let parameters = ["p", "n"][..first.len()].iter().map(|name| (*name).to_owned()).collect();
    let term = |factors: &&[Factor]| Term {
        coefficient: super::normal_form::product(factors, first).recip(),
        factors: factors.to_vec(),
    };
    NormalForm { parameters, constant: 1.0, terms: terms.iter().map(term).collect() }
}

/// Values of `form` with 5 % noise, five at each of `points`.
fn noisy(form: &NormalForm, points: &[Vec<f64>], seed: u64) -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let repeated = points.iter().flat_map(|point| std::iter::repeat_n(point, 5));
    let noisy = repeated.map(|point| {
        // The sum of twelve uniform numbers is approximately normal.
        let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        Observation { point: point.clone(), value: form.at(point) * (1.0 + 0.05 * normal) }
    });
    noisy.collect()
}

/// Twenty forms with five measurements at each point: p = 2 … 4096, and n = 64 … 4096 with two parameters.
#[test]
fn the_generating_form_comes_back_from_noisy_data() {
    let one = [
        factor(1, 4, 0),
        factor(1, 3, 0),
        factor(1, 2, 0),
        factor(2, 3, 0),
        factor(3, 4, 0),
        factor(1, 1, 0),
        factor(5, 4, 0),
        factor(3, 2, 0),
        factor(2, 1, 0),
        factor(3, 1, 0),
        factor(0, 1, 2),
        factor(1, 2, 1),
        factor(1, 1, 1),
        factor(1, 1, 2),
    ];
    let processors: Vec<f64> = (1..=12).map(|exponent| f64::from(1 << exponent)).collect();
    let points: Vec<_> = processors.iter().map(|p| vec![*p]).collect();
    for (seed, factor) in (1..).zip(one) {
        let exact = form(&[&[factor]], &[2.0]);
        let found = search(&["p"], Weighting::Relative).fit(&noisy(&exact, &points, seed)).unwrap();
        assert_eq!(factors(&found.form), factors(&exact), "{exact} was found as {}", found.form);
    }
    let two: [&[&[Factor]]; 6] = [
        &[&[factor(1, 1, 0), factor(1, 1, 0)]],
        &[&[factor(1, 2, 0), factor(2, 1, 0)]],
        &[&[factor(0, 1, 1), factor(1, 1, 0)]],
        &[&[factor(1, 1, 0), Factor::ONE], &[Factor::ONE, factor(2, 1, 0)]],
        &[&[factor(1, 2, 0), Factor::ONE], &[Factor::ONE, factor(1, 1, 1)]],
        &[&[factor(2, 1, 0), Factor::ONE], &[Factor::ONE, factor(3, 2, 0)]],
    ];
    let sizes: Vec<f64> = (6..=12).map(|exponent| f64::from(1 << exponent)).collect();
    let points: Vec<_> =
        processors.iter().step_by(2).flat_map(|p| sizes.iter().map(|n| vec![*p, *n]).collect::<Vec<_>>()).collect();
    for (seed, terms) in (15..).zip(two) {
        let exact = form(terms, &[2.0, 64.0]);
        let found = search(&["p", "n"], Weighting::Relative).fit(&noisy(&exact, &points, seed)).unwrap();
        assert_eq!(factors(&found.form), factors(&exact), "{exact} was found as {}", found.form);
    }
}

fn factors(form: &NormalForm) -> Vec<&[Factor]> {
    form.terms.iter().map(|term| term.factors.as_slice()).collect()
}

#[test]
fn two_terms_and_strong_scaling() {
    let processors = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let time = |p: f64| (100.0 + 3.0 * p + 0.5 * p * p) / p;
    let observations: Vec<_> = processors.iter().map(|p| Observation { point: vec![*p], value: time(*p) }).collect();
    let search = NormalFormSearch { terms: 2, strong_scaling: Some(0), ..search(&["p"], Weighting::Relative) };
    let found = search.fit(&observations).unwrap();
    assert_eq!(factors(&found.form), [[factor(1, 1, 0)], [factor(2, 1, 0)]]);
    assert_close(found.predict(&[256.0]).0, time(256.0), 1e-6);
    assert!(search.fit(&[Observation { point: vec![1.0], value: -1.0 }]).is_none());
}

#[test]
fn constant_data_ask_for_a_constant_and_forms_are_written() {
    let observations: Vec<_> = (1..6).map(|x| Observation { point: vec![f64::from(x)], value: 7.0 }).collect();
    let found = search(&["p"], Weighting::Absolute).fit(&observations).unwrap();
    assert!(found.form.terms.is_empty());
    let form = form(&[&[factor(3, 2, 1), Factor::ONE], &[factor(1, 1, 0), factor(0, 1, 2)]], &[4.0, 2.0]);
    assert_eq!(form.to_string(), "1.0000e0 + 6.2500e-2 p^(3/2) log2(p) + 2.5000e-1 p log2(n)^2");
    assert_eq!(ron::from_str::<NormalForm>(&form.to_ron()).unwrap(), form);
}

/// With absolute residuals, the rounding of large values is an error of small ones, which a second term reduces.
#[test]
fn a_term_below_rounding_is_dropped() {
    let observations = [
        (128.0, 20_390_256.406_990_416),
        (512.0, 1_358_954_496.999_999_9),
        (32.0, 258_032.831_018_469_88),
        (16.0, 26_008.978_835_445_17),
        (8.0, 2_304.999_999_999_999),
        (7.0, 1_414.153_757_530_236_8),
        (3.0, 48.028_521_880_740_83),
    ]
    .map(|(p, value)| Observation { point: vec![p], value });
    let search = NormalFormSearch { terms: 2, ..search(&["p"], Weighting::Absolute) };
    let found = search.fit(&observations).unwrap();
    assert_eq!(factors(&found.form), [[factor(8, 3, 2)]]);
    assert_eq!(found.regression.coefficients.len(), 2);
}

/// The first value is so small that its relative residual alone determines the constant of any form.
#[test]
fn a_point_that_determines_a_coefficient_alone_is_left_out_of_the_error() {
    let observation = |n: f64| Observation { point: vec![n], value: 1e-9 * n.powi(3) };
    let observations = [10.0, 1000.0, 2000.0, 4000.0].map(observation);
    let found = search(&["n"], Weighting::Relative).fit(&observations).unwrap();
    assert_eq!(factors(&found.form), [[factor(3, 1, 0)]]);
    assert_eq!(found.regression.quality.decisive, [0]);
    assert!(found.regression.quality.leave_one_out.unwrap() < 1e-9);
}

/// Times of whole packets are on the long plane, and that of one full packet is on both: the packet is not cut.
#[test]
fn of_equal_breaks_the_longest_is_found() {
    let model = PointToPoint::PARSYTEC_SUPERCLUSTER;
    let short = |bytes: f64, hops: f64| model.short.time_s(bytes, hops);
    let long = |bytes: f64, hops: f64| short(120.0, hops) + (bytes - 120.0) / 120.0 * (160e-6 + 6.5e-6 * hops);
    let time = |bytes: f64, hops: f64| if bytes <= 120.0 { short(bytes, hops) } else { long(bytes, hops) };
    let pairs = [1.0, 40.0, 80.0, 120.0, 240.0, 480.0, 960.0].map(|bytes| [1.0, 2.0, 5.0].map(|hops| (bytes, hops)));
    let points: Vec<_> = pairs
        .as_flattened()
        .iter()
        .map(|(bytes, hops)| TimedMessage { bytes: *bytes, hops: *hops, seconds: time(*bytes, *hops) })
        .collect();
    for weighting in [Weighting::Absolute, Weighting::Relative] {
        assert_close(TwoRegimes::fit(&points, None, weighting).unwrap().break_bytes, 120.0, 0.0);
    }
}
