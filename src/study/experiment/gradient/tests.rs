use super::*;
use crate::scenario::Plan;
use crate::scenario::source::Document;
use std::path::Path;

fn scenario(file: &str, settings: &[(&str, &str)]) -> CheckedScenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let mut document = Document::load(path).unwrap();
    for (path, value) in settings {
        document.set(path, value).unwrap();
    }
    Plan::new(document, &[]).unwrap().base().unwrap().into_scenario()
}

/// Checks that every time counts once: Σ c dT/dc = T over times, and −T over rates.
#[test]
fn the_derivatives_by_all_times_make_up_the_makespan() {
    let base = Variation::of(&scenario("gauss-jordan-neighbour.ron", &[("program.n", "48"), ("ranks", "8")])).unwrap();
    let gradient = Gradient::of(&base, DerivativeMethod::default(), |_| true);
    let shares = gradient.derivatives.iter().filter_map(|one| {
        let value = one.parameter.number() * one.parameter.si_factor();
        let sign = if one.parameter.dimension == crate::scenario::Dimension::Rate { -1.0 } else { 1.0 };
        one.slopes.as_ref().ok().map(|slopes| sign * value * slopes.right)
    });
    let sum: f64 = shares.sum();
    assert!((sum / gradient.makespan_s - 1.0).abs() < 1e-3, "{sum} s of {} s", gradient.makespan_s);
}

#[test]
fn a_tree_of_messages_pays_for_whole_latencies() {
    let checked = scenario("loggops-collectives.ron", &[("program.bytes", "1 kB")]);
    let slopes = derivatives(&checked, |name| name == "machine.L").unwrap();
    let [(name, Ok(slopes))] = &slopes[..] else { panic!("one constant is wanted: {slopes:?}") };
    // The critical path of a tree of 64 ranks contains a whole number of latencies.
    assert!(name == "machine.L" && (slopes.right - slopes.right.round()).abs() < 1e-6 && slopes.right > 1.0);
}

/// Checks that the path and runs on both sides agree, on machines whose services are itemised.
#[test]
fn a_path_gives_what_runs_on_both_sides_give() {
    let cases = [
        ("gauss-jordan-neighbour.ron", &[("program.n", "24"), ("ranks", "4")][..]),
        ("ring-shift.ron", &[]),
        ("switching.ron", &[]),
        ("collective.ron", &[]),
        ("master-worker.ron", &[]),
    ];
    for (file, settings) in cases {
        let base = Variation::of(&scenario(file, settings)).unwrap();
        let of = |approach| Gradient::of(&base, approach, |_| true);
        let (by_path, by_reruns) =
            (of(DerivativeMethod::default()), of(DerivativeMethod { exact: true, ..DerivativeMethod::default() }));
        for (one, other) in by_path.derivatives.iter().zip(&by_reruns.derivatives) {
            let (Ok(path), Ok(rerun)) = (&one.slopes, &other.slopes) else { continue };
            let bound = 1e-6 * rerun.mean().abs() + path.rounding + rerun.rounding;
            assert!((path.mean() - rerun.mean()).abs() <= bound, "{file}, {}: {path:?}, {rerun:?}", one.parameter.name);
        }
        let is_known = |one: &&Derivative<'_>| one.slopes.as_ref().is_ok_and(|slopes| slopes.method == Method::Path);
        assert!(by_path.derivatives.iter().filter(is_known).count() > 2, "{file}");
    }
}
