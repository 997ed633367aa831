//! The stopping rule for the repetitions of a case.

use crate::analysis::Sample;
use crate::scenario::{Repeat, Until};

/// Returns `true` if a case needs a further run after those with these makespans, in seed order. The rule uses no other
/// information, so that the number of runs is the same on every computer and for every shard, thread and store.
pub fn needs_another_run(repeat: Repeat, makespans: &[f64]) -> bool {
    match repeat {
        Repeat::Times(_) => !is_sufficient(repeat, makespans),
        Repeat::Until(until) => {
            let runs = run_count(makespans);
            runs < until.at_most && !(is_checkpoint(until, runs) && is_sufficient(repeat, makespans))
        }
    }
}

/// Returns `true` if these makespans are as many, or as precise, as is requested. Whoever asks after every run instead
/// of at checkpoints stops by chance too early.
pub fn is_sufficient(repeat: Repeat, makespans: &[f64]) -> bool {
    let runs = run_count(makespans);
    match repeat {
        Repeat::Times(times) => runs >= times,
        Repeat::Until(until) => {
            let has_precision = || Sample::of(makespans).is_some_and(|sample| is_precise(until, &sample));
            runs >= until.at_most || (runs >= until.at_least && has_precision())
        }
    }
}

fn run_count(makespans: &[f64]) -> u32 {
    u32::try_from(makespans.len()).unwrap_or(u32::MAX)
}

/// Returns `true` if the precision is examined after `runs` runs.
fn is_checkpoint(until: Until, runs: u32) -> bool {
    let mut checkpoints = std::iter::successors(Some(until.at_least), |runs| Some(until.next_check(*runs)));
    checkpoints.find(|checkpoint| *checkpoint >= runs) == Some(runs)
}

/// Returns `true` if a sample has the requested precision.
pub fn is_precise(until: Until, sample: &Sample) -> bool {
    sample.interval <= until.relative_half_width * sample.mean
}

/// Reports the number of cases that reached the greatest number of runs before the requested precision, if there are
/// any.
pub fn note_on_imprecise(cases: usize) -> Option<String> {
    let cases_are = if cases == 1 {
        "the interval of one case is".to_owned()
    } else {
        format!("the intervals of {cases} cases are")
    };
    (cases > 0).then(|| {
        format!("note: {cases_are} wider than `relative_half_width` after `at_most` runs: give a larger `at_most`")
    })
}

/// Reports the number of cases that ended with packets of the measured time in flight, if there are any.
pub fn note_on_undelivered(cases: usize) -> Option<String> {
    let which = if cases == 1 { "one case".to_owned() } else { format!("{cases} cases") };
    (cases > 0).then(|| {
        format!(
            "note: in {which} packets that were injected in the measured time had not arrived by the end \
             (`undelivered_packets`): latencies are of the others, and are shorter; beyond saturation they grow with `drain`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::engine::Streams;
    use rand::Rng;
    use rand_distr::{Distribution, Exp1, StandardNormal};

    const fn until(relative_half_width: f64, at_least: u32, at_most: u32) -> Until {
        Until { relative_half_width, at_least, at_most }
    }

    /// Draws makespans until the rule stops.
    fn makespans(until: Until, mut draw: impl FnMut() -> f64) -> Vec<f64> {
        let mut makespans = Vec::new();
        while needs_another_run(Repeat::Until(until), &makespans) {
            makespans.push(draw());
        }
        makespans
    }

    #[test]
    fn a_case_ends_at_a_checkpoint() {
        let checkpoints = |until: Until| {
            let ends = |runs: &u32| is_checkpoint(until, *runs);
            (1..until.at_most).filter(ends).collect::<Vec<_>>()
        };
        assert_eq!(checkpoints(until(0.1, 10, 100)), [10, 15, 23, 35, 53, 80]);
        assert_eq!(makespans(until(0.01, 10, 100), || 3.0).len(), 10);
        let mut sign = 1.0;
        let wide = makespans(until(0.01, 10, 100), || {
            sign = -sign;
            2.0 + sign
        });
        assert_eq!(wide.len(), 100);
        assert_eq!(makespans(until(0.01, 2, 2), || 3.0).len(), 2);
    }

    /// Returns the fraction of samples of a known mean, 1, whose stated 95 % interval contains it.
    fn coverage<R: Rng>(until: Until, mut rng: R, draw: impl Fn(&mut R) -> f64) -> f64 {
        const SAMPLES: u32 = 4000;
        let holds = |sample: Sample| (sample.mean - 1.0).abs() <= sample.interval;
        let mut held = 0;
        for _ in 0..SAMPLES {
            held += u32::from(holds(Sample::of(&makespans(until, || draw(&mut rng))).unwrap()));
        }
        f64::from(held) / f64::from(SAMPLES)
    }

    /// Checks the coverage of the interval. Stopping when the interval happens to be narrow costs some coverage, more
    /// with fewer runs; skewed times cost more. The bounds are those stated in docs/stores.md.
    #[test]
    fn the_stated_interval_holds_the_mean_nearly_as_often_as_it_says() {
        let rng = |seed| Streams::new(seed).stream("test", 0);
        let normal = |deviation: f64| {
            move |rng: &mut _| -> f64 {
                let draw: f64 = StandardNormal.sample(rng);
                1.0 + deviation * draw
            }
        };
        let long = coverage(until(0.01, 10, 1000), rng(1), normal(0.1));
        let short = coverage(until(0.05, 10, 1000), rng(2), normal(0.1));
        let skewed = coverage(until(0.1, 10, 1000), rng(3), |rng| Exp1.sample(rng));
        let early = |at_least, seed| coverage(until(0.01, at_least, 1000), rng(seed), normal(0.1));
        let (four, two) = (early(4, 4), early(2, 5));
        println!("{long} {short} {skewed}; from four runs on {four}, from two on {two}");
        assert!((0.93..0.96).contains(&four) && (0.93..0.96).contains(&two), "{four} {two}");
        assert!((0.935..0.965).contains(&long), "{long}");
        assert!((0.91..0.96).contains(&short), "{short}");
        assert!((0.92..0.96).contains(&skewed), "{skewed}");
    }
}
