//! The shares of phases, ranks and links on the critical path.

use crate::analysis::cost_chain::{ChainPlace, ChainStep};
use crate::experiment::gradient::{PricedPath, Variation};
use rustc_hash::FxHashMap;

/// The share of a phase, a rank or a link in the critical path: the elasticity of the makespan with respect to the time
/// spent there.
#[derive(Clone, Debug, PartialEq)]
pub struct PathShare {
    /// `phase`, `rank` or `link`.
    pub kind: &'static str,
    /// The name of the phase, rank or link.
    pub name: String,
    /// The share of the makespan.
    pub share: f64,
}

/// Returns the shares of all phases, ranks and links, the largest of each kind first.
pub fn shares(path: &PricedPath, base: &Variation) -> Vec<PathShare> {
    let rank = |step: &ChainStep| match step.place {
        ChainPlace::Processor(processor) => path.rank_on(processor).map(|rank| rank.to_string()),
        ChainPlace::Link(..) | ChainPlace::Machine => None,
    };
    let link = |step: &ChainStep| match step.place {
        ChainPlace::Link(from, to) => Some(format!("{from}-{to}")),
        ChainPlace::Processor(_) | ChainPlace::Machine => None,
    };
    let phase = |step: &ChainStep| (!step.phase.is_empty()).then(|| step.phase.to_owned());
    let makespan_s = base.makespan_s();
    let of = |kind, name: &dyn Fn(&ChainStep) -> Option<String>| sums(path.steps(), makespan_s, kind, name);
    [of("phase", &phase), of("rank", &rank), of("link", &link)].concat()
}

fn sums(
    steps: &[ChainStep],
    makespan_s: f64,
    kind: &'static str,
    name: &dyn Fn(&ChainStep) -> Option<String>,
) -> Vec<PathShare> {
    let mut sums: FxHashMap<String, f64> = FxHashMap::default();
    for (name, step) in steps.iter().filter_map(|step| Some((name(step)?, step))) {
        *sums.entry(name).or_default() += step.time.seconds();
    }
    let share = |(name, time_s)| PathShare { kind, name, share: time_s / makespan_s };
    let mut shares: Vec<_> = sums.into_iter().map(share).collect();
    shares.sort_by(|one, other| other.share.total_cmp(&one.share).then_with(|| one.name.cmp(&other.name)));
    shares
}
