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
    Plan::new(document, &[]).unwrap().base().unwrap().scenario
}

/// Every time counts once: Σ c dT/dc = T over times, -T over rates.
#[test]
fn the_derivatives_by_all_times_make_up_the_makespan() {
    let base = Variation::of(&scenario("gauss-jordan-neighbour.ron", &[("program.n", "48"), ("ranks", "8")])).unwrap();
    let gradient = Gradient::of(&base, |_| true);
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
    // 64 ranks in a tree: a whole number of latencies.
    assert!(name == "machine.L" && (slopes.right - slopes.right.round()).abs() < 1e-6 && slopes.right > 1.0);
}
