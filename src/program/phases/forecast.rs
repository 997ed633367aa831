//! A count of the packets that steps send, without taking them: for programs that are too long to be rehearsed.

use super::Phases;
use super::expression::Expression;
use super::scope::Scope;
use super::step::{Neighbours, Step};
use crate::program::expression::Value;

/// So many ranks, and rounds of a loop, stand for all of them.
const RANKS: u32 = 16;
const ROUNDS: u64 = 4;
/// So many steps are looked at for each rank.
const STEPS: u32 = 4_000;

/// The number of packets of all ranks, roughly: what only messages decide counts once.
pub(super) fn packets(program: &Phases, ranks: u32, packet_bytes: u64) -> f64 {
    let sample = ranks.min(RANKS);
    let rank = |place: u32| u32::try_from(u64::from(place) * u64::from(ranks) / u64::from(sample)).unwrap_or(0);
    let of_rank = |rank: u32| {
        let mut counter = Counter { scope: program.scope(rank, ranks, 0), ranks, packet_bytes, steps: 0 };
        counter.steps(&program.steps)
    };
    let counted: f64 = (0..sample).map(|place| of_rank(rank(place))).sum();
    counted / f64::from(sample) * f64::from(ranks)
}

struct Counter {
    scope: Scope,
    ranks: u32,
    packet_bytes: u64,
    steps: u32,
}

impl Counter {
    fn steps(&mut self, steps: &[Step]) -> f64 {
        steps.iter().map(|step| self.step(step)).sum()
    }

    fn step(&mut self, step: &Step) -> f64 {
        self.steps += 1;
        match step {
            _ if self.steps > STEPS => 0.0,
            Step::Phase { steps, .. } | Step::While { steps, .. } => self.steps(steps),
            Step::Repeat { times, index, steps } => self.repeat(times, index.as_deref(), steps),
            Step::When { condition, then, otherwise } => {
                let holds = condition.condition(&self.scope).unwrap_or(true);
                self.steps(if holds { then } else { otherwise })
            }
            Step::Send { bytes, .. } => self.message(bytes.bytes(&self.scope).unwrap_or(0)),
            Step::Exchange { with, bytes } => {
                let neighbours = if matches!(with, Neighbours::Grid | Neighbours::Torus) { 4.0 } else { 2.0 };
                neighbours * self.message(bytes.bytes(&self.scope).unwrap_or(0))
            }
            Step::Collective { bytes, .. } => {
                f64::from(self.ranks).log2().ceil() * self.message(bytes.bytes(&self.scope).unwrap_or(0))
            }
            Step::Compute { .. } | Step::Receive { .. } | Step::Input { .. } | Step::Output { .. } => 0.0,
        }
    }

    /// Some rounds, evenly spread, stand for all.
    fn repeat(&mut self, times: &Expression, index: Option<&str>, steps: &[Step]) -> f64 {
        let times = times.count(&self.scope).unwrap_or(0);
        let sample = if index.is_some() { times.min(ROUNDS) } else { times.min(1) };
        let mut packets = 0.0;
        for place in 0..sample {
            let round = times / sample * place;
            if let Some(index) = index {
                self.scope.declare(index, Value::Whole(i64::try_from(round).unwrap_or(i64::MAX)));
            }
            packets += self.steps(steps);
            if index.is_some() {
                self.scope.forget();
            }
        }
        packets * real(times) / real(sample.max(1))
    }

    fn message(&self, bytes: u64) -> f64 {
        real(bytes.div_ceil(self.packet_bytes).max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rough forecast")]
const fn real(count: u64) -> f64 {
    count as f64
}
