//! The time of a lone message by constants, on machines whose messages are not chains of services: those of network
//! interfaces, and those of unequal links or routes that differ.
//!
//! The time is piecewise linear in all times and inverse rates, and doubles with them: it is the sum of each constant
//! times its derivative (Euler). All constants grow by the same small part, one after the other; the share of a constant
//! is what the time grows by in its turn. Where the slower of two equal constants counts, the first one has it all.

use super::alone;
use crate::experiment::StudyError;
use crate::model::message::CostItem;
use crate::scenario::source::{Document, SourceFault};
use crate::scenario::{CheckedScenario, Dimension, Parameter, Scenario};
use parsim_sim::trace::Delivery;
use parsim_sim::units::{SimDuration, SimTime};

/// The factors by which times are multiplied, before and after they grow by a small part. Large ones, so that rounding to
/// picoseconds does not matter; rates divided by them have few digits.
const SLOWER: [f64; 2] = [500.0, 512.0];
/// The part of a rate that is lost when it is scaled, at most.
const ROUNDED: f64 = 1e-6;
/// The constants of links come before those of interfaces, which are often as fast.
const FIRST: &str = "machine.network.";

/// Returns the costs of the message of `delivery`, sent at the beginning of an otherwise idle run of the machine of
/// `scenario`, and the name of the further time, if there is any.
///
/// # Errors
/// Returns the errors of the runs, or an error if the costs are more than the time.
pub fn items(
    scenario: &CheckedScenario,
    delivery: Delivery,
) -> Result<(Vec<CostItem>, Option<&'static str>), StudyError> {
    let delivery = Delivery { sent: SimTime::START, ..delivery };
    let mut document = scenario.to_document()?;
    let constants = constants(&document);
    let slow_down = |document: &mut Document, constant: &Parameter, factor: f64| {
        constant.slow_down_finely(document, factor).map_err(|fault: SourceFault| document.faults(vec![fault]))
    };
    for constant in &constants {
        slow_down(&mut document, constant, SLOWER[0])?;
    }
    let mut before = time_in(&document, delivery)?;
    let unrounded = before / SLOWER[0];
    let mut items = Vec::new();
    for constant in &constants {
        slow_down(&mut document, constant, SLOWER[1])?;
        let now = time_in(&document, delivery)?;
        items.extend(item(constant, (now - before) / (SLOWER[1] - SLOWER[0])));
        before = now;
    }
    balanced(items, unrounded, alone(scenario, delivery)?)
}

/// Returns the times and rates of the machine, those of the network first.
fn constants(document: &Document) -> Vec<Parameter> {
    let is_constant =
        |one: &Parameter| one.name.starts_with("machine.") && one.dimension != Dimension::None && one.number() != 0.0;
    let constants = Parameter::all(document).into_iter().filter(is_constant);
    let (first, others): (Vec<_>, Vec<_>) = constants.partition(|one| one.name.starts_with(FIRST));
    first.into_iter().chain(others).collect()
}

/// Returns the time of the message on the machine of `document`, in picoseconds.
#[expect(clippy::cast_precision_loss, reason = "a time of less than 2^53 ps")]
fn time_in(document: &Document, delivery: Delivery) -> Result<f64, StudyError> {
    let scenario: Scenario = document.read()?;
    Ok(alone(&scenario, delivery)?.ps() as f64)
}

/// Returns the item of a constant whose share of the time is `ps` picoseconds; `None` if it has none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and rounded")]
fn item(constant: &Parameter, ps: f64) -> Option<CostItem> {
    let per_unit = match constant.dimension {
        Dimension::Rate if constant.si_unit() == "bit/s" => 8e12 / (constant.number() * constant.si_factor()),
        Dimension::Rate => 1e12 / (constant.number() * constant.si_factor()),
        _ => constant.number(),
    };
    let time = SimDuration::from_ps(ps.round().max(0.0) as u64);
    let is_name = |part: &&str| part.parse::<usize>().is_err();
    let name: Vec<_> = constant.name.rsplit('.').filter(is_name).take(2).collect();
    let what = name.into_iter().rev().collect::<Vec<_>>().join(" ").replace('_', " ");
    (time > SimDuration::ZERO).then(|| CostItem {
        what: what.into(),
        constant: Some(constant.name.clone().into()),
        count: (ps / per_unit).round() as u64,
        time,
    })
}

/// Adds what the rounding of every packet to picoseconds has made of the `unrounded` time, in picoseconds, to the largest
/// item, so that they sum to the `whole` time. Names what the items lack, if they do not make up the unrounded time.
#[expect(clippy::cast_precision_loss, reason = "times of less than 2^53 ps")]
fn balanced(
    mut items: Vec<CostItem>,
    unrounded: f64,
    whole: SimDuration,
) -> Result<(Vec<CostItem>, Option<&'static str>), StudyError> {
    let sum: SimDuration = items.iter().map(|item| item.time).sum();
    let (beyond, rounding) = (sum.ps() as f64 - unrounded, items.len() as f64 + ROUNDED * unrounded);
    if beyond > rounding {
        let message = "the time of the message is no sum of what the constants contribute: its route, or an order, \
                       changes with them";
        return Err(StudyError::Request(message.to_owned()));
    }
    if beyond < -rounding {
        return Ok((items, Some("not proportional to a constant")));
    }
    if let Some(largest) = items.iter_mut().max_by_key(|item| item.time) {
        largest.time = (largest.time + whole).saturating_sub(sum);
    }
    Ok((items, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_sum_to_the_time_or_lack_a_part_or_are_too_many() {
        let item = |ps| CostItem { what: "".into(), constant: None, count: 1, time: SimDuration::from_ps(ps) };
        let of = |unrounded| balanced(vec![item(700), item(300)], unrounded, SimDuration::from_ps(1002));
        let (items, remainder) = of(1001.4).unwrap();
        assert_eq!((items[0].time.ps(), items[1].time.ps(), remainder), (702, 300, None));
        assert!(of(1010.0).unwrap().1.is_some());
        assert!(matches!(of(990.0), Err(StudyError::Request(_))));
    }
}
