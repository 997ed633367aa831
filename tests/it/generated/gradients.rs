//! Derivatives of the makespan on random scenarios, held against two-sided differences.
//!
//! ```console
//! PARSIM_GRADIENTS=1000 cargo test --release --test it generated::gradients -- --nocapture
//! ```

use super::dice::Dice;
use super::number;
use super::sample::Sample;
use parsim::experiment::gradient::{Derivative, DerivativeMethod, Gradient, Method, PricedPath, Slopes, Variation};
use parsim::experiment::run_recorded;
use parsim::scenario::source::Document;
use parsim::scenario::{CheckedScenario, Parameter, Plan};
use parsim::simulation::Detail;
use parsim::trace::{Recording, Transfer};
use std::collections::{BTreeMap, HashMap};

/// So many pairs of a scenario and a constant, unless `PARSIM_GRADIENTS` says how many.
const PAIRS: u64 = 45;
/// Constants with less effect are none.
const MIN_ELASTICITY: f64 = 1e-4;
/// A derivative is right to this share of it, beside what rounding to picoseconds may make of the difference.
const EXACT: f64 = 1e-6;

/// A derivative against the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Right,
    /// The makespan bends or jumps there, as the derivative says.
    Flagged,
    /// No two differences agree: the makespan jumps there, and has no derivative, as is said.
    Rough,
    Wrong,
}

struct Pair {
    verdict: Verdict,
    method: Method,
    has_contention: bool,
    words: String,
}

#[test]
fn derivatives_are_those_of_two_sided_differences() {
    let wanted = number("PARSIM_GRADIENTS", PAIRS);
    let first = number("PARSIM_FIRST_SAMPLE", 0);
    let (mut pairs, mut free): (Vec<Pair>, u64) = (Vec::new(), 0);
    for sample in first..first + 60 * wanted {
        // A third of them, at least, has packets that wait for those of other messages.
        if let Some(pair) = pair(sample).filter(|pair| pair.has_contention || 3 * free < 2 * wanted) {
            free += u64::from(!pair.has_contention);
            pairs.push(pair);
        }
        if pairs.len() as u64 == wanted {
            break;
        }
    }
    let mut counts: BTreeMap<_, u64> = BTreeMap::new();
    for pair in &pairs {
        *counts.entry((pair.method.name(), pair.has_contention, pair.verdict)).or_default() += 1;
    }
    let words = |verdict| pairs.iter().filter(move |pair| pair.verdict == verdict).map(|pair| pair.words.as_str());
    words(Verdict::Flagged).chain(words(Verdict::Rough)).for_each(|words| println!("flagged: {words}"));
    println!("{counts:?}");
    let wrong: Vec<_> = words(Verdict::Wrong).collect();
    assert!(wrong.is_empty(), "{} of {wanted} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    let [right, rough] = [Verdict::Right, Verdict::Rough].map(|verdict| words(verdict).count());
    let with_derivative = pairs.len() - rough;
    assert!(
        pairs.len() as u64 == wanted && 10 * right >= 9 * with_derivative,
        "{right} of {with_derivative} are right"
    );
}

/// A sample and one of its constants that has an effect, if there is one.
fn pair(number: u64) -> Option<Pair> {
    let scenario = scenario(&Sample::new(number))?;
    let base = Variation::of(&scenario).ok().filter(|base| base.makespan_s() > 1e-6)?;
    let gradient = Gradient::of(&base, DerivativeMethod::default(), |_| true);
    let mut constants: Vec<_> = gradient.derivatives.iter().filter_map(effective(&base)).collect();
    if constants.is_empty() {
        return None;
    }
    let chosen = Dice::new(number).between(0, u32::try_from(constants.len() - 1).ok()?);
    let (parameter, slopes) = constants.swap_remove(chosen as usize);
    let roundings = gradient.path.as_ref().map_or_else(|_| base.pieces(), PricedPath::roundings);
    let difference = difference(&base, &parameter, roundings);
    let words = format!("sample {number}, {}: {slopes:?}, difference {difference:?}", parameter.name);
    let verdict = verdict(&slopes, difference);
    Some(Pair { verdict, method: slopes.method, has_contention: has_contention(&scenario), words })
}

fn scenario(sample: &Sample) -> Option<CheckedScenario> {
    let document = Document::from_text("sample.ron", &sample.ron()).ok()?;
    let scenario = Plan::new(document, &[]).ok()?.base().ok()?.into_scenario();
    // Beside detours, the effects are secants.
    let has_derivatives = !scenario.program.is_traffic() && scenario.machine.nodes.detours.is_empty();
    has_derivatives.then_some(scenario)
}

/// The constants that have an effect, with the derivatives by them.
fn effective(base: &Variation) -> impl Fn(&Derivative<'_>) -> Option<(Parameter, Slopes)> {
    let makespan_s = base.makespan_s();
    move |one| {
        let slopes = one.slopes.clone().ok()?;
        let value = one.parameter.number() * one.parameter.si_factor();
        let size = slopes.left.abs().max(slopes.right.abs()) * value.abs() / makespan_s;
        (size >= MIN_ELASTICITY).then(|| (one.parameter.clone(), slopes))
    }
}

fn verdict(slopes: &Slopes, difference: Option<(f64, f64)>) -> Verdict {
    let is_right =
        |(found, bound): (f64, f64)| (slopes.mean() - found).abs() <= EXACT * found.abs() + bound + slopes.rounding;
    // Of a coarse one, the answer says that rounding or ticks leave less than two digits.
    match (difference, slopes.is_flagged() || slopes.is_coarse()) {
        (Some(difference), _) if is_right(difference) => Verdict::Right,
        (_, false) => Verdict::Wrong,
        (Some(_), true) => Verdict::Flagged,
        (None, true) => Verdict::Rough,
    }
}

/// The derivative by a two-sided difference whose steps are halved until two agree, with one of a much smaller step, too: two large
/// ones may agree by chance. And what rounding may have made of it.
fn difference(base: &Variation, parameter: &Parameter, roundings: f64) -> Option<(f64, f64)> {
    const SMALLER: i32 = 4;
    let at = |halvings: i32| {
        let step = 0.5_f64.powi(halvings);
        let [below, above] = [1.0 - step, 1.0 + step].map(|factor| parameter.scaled(factor));
        let change = parameter.si_change(above) - parameter.si_change(below);
        let [below_s, above_s] = [below, above].map(|number| base.makespan_with(parameter, number).ok());
        Some(((above_s? - below_s?) / change, roundings * 1e-12 / change.abs()))
    };
    let agree = |one: f64, (found, bound): (f64, f64)| (found - one).abs() <= 0.1 * EXACT * found.abs() + bound;
    let mut last: Option<f64> = None;
    for halvings in 5..20 {
        let found = at(halvings)?;
        if last.is_some_and(|last| agree(last, found)) && agree(found.0, at(halvings + SMALLER)?) {
            return Some(found);
        }
        last = Some(found.0);
    }
    None
}

/// True if a packet begins to hold a channel when one of another message leaves it.
fn has_contention(scenario: &CheckedScenario) -> bool {
    let mut bytes = Vec::new();
    if run_recorded(scenario, Detail::LINKS, Box::new(&mut bytes)).is_err() {
        return false;
    }
    let Ok(recording) = Recording::read(&bytes[..]) else { return false };
    let mut channels: HashMap<(u32, u32, u32), Vec<&Transfer>> = HashMap::new();
    for transfer in &recording.transfers {
        channels.entry((transfer.from, transfer.to, transfer.channel)).or_default().push(transfer);
    }
    let waits = |pair: &[&Transfer]| pair[0].event != pair[1].event && pair[1].first == pair[0].end();
    channels.values_mut().any(|transfers| {
        transfers.sort_by_key(|transfer| transfer.first);
        transfers.windows(2).any(waits)
    })
}
