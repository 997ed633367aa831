//! Detours: interruptions of a processor by the operating system.
//!
//! Petrini, Kerbyson, Pakin (2003) found them to limit a large machine; the parameters are those with which Ferreira,
//! Bridges, Brightwell (2008) and Hoefler, Schneider, Lumsdaine (2010) describe them.

use super::noise::exponential_variate;
use crate::engine::{AbortCheck, Streams, unit_of_32_bits};
use crate::fault::Fault;
use crate::units::{SimDuration, SimTime};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// A source of detours. During a detour the processor does nothing for the program: computations and communication
/// software, whichever it interrupts or delays, take that much longer. Memories, network interfaces and hardware
/// routers go on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Detour {
    /// The time from the start of one detour to the start of the next, or its mean; at least 1 us.
    pub every: SimDuration,
    /// The duration of a detour, or its mean. If several sources interrupt a processor at once, their detours come one
    /// after the other.
    pub takes: SimDuration,
    /// The distribution of the times between starts; `Fixed` unless given.
    #[serde(default, skip_serializing_if = "DetourVariation::is_default")]
    pub intervals: DetourVariation,
    /// The distribution of the durations; `Fixed` unless given.
    #[serde(default, skip_serializing_if = "DetourVariation::is_default")]
    pub durations: DetourVariation,
    /// The relation between the detours of different processors; `Random` unless given.
    #[serde(default, skip_serializing_if = "DetourPhase::is_default")]
    pub phase: DetourPhase,
}

/// The distribution of a time between detours, or of their durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DetourVariation {
    /// Always the same time.
    #[default]
    Fixed,
    /// Exponentially distributed.
    Exponential,
}

/// The relation between the detours of different processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DetourPhase {
    /// Every processor draws its own: the detours of different processors are independent.
    #[default]
    Random,
    /// All processors are interrupted at the same instants (coscheduling).
    Synchronised,
}

impl DetourVariation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Draws a time with this mean; a fixed one needs no random numbers.
    fn draw(self, mean: SimDuration, rng: &mut ChaCha8Rng) -> SimDuration {
        match self {
            Self::Fixed => mean,
            Self::Exponential => mean.scaled(exponential_variate(rng)),
        }
    }
}

impl DetourPhase {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by serde")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Detour {
    /// Shorter intervals than those of any operating system would make a run arbitrarily long.
    const SHORTEST_INTERVAL: SimDuration = SimDuration::from_us(1);

    /// Creates detours at regular intervals, with a phase of their own on each processor.
    #[must_use]
    pub fn new(every: SimDuration, takes: SimDuration) -> Self {
        let (intervals, durations, phase) =
            (DetourVariation::default(), DetourVariation::default(), DetourPhase::default());
        Self { every, takes, intervals, durations, phase }
    }

    /// Returns the share of its time that a processor spends in these detours.
    #[must_use]
    pub fn duty_cycle(&self) -> f64 {
        self.takes.seconds() / self.every.seconds()
    }

    /// Returns all faults of the sources of detours of a processor, by their indices.
    #[must_use]
    pub fn faults(sources: &[Self]) -> Vec<Fault> {
        let is_short = |source: &Self| source.every < Self::SHORTEST_INTERVAL;
        let short = sources.iter().enumerate().filter(|(_, source)| is_short(source)).map(|(index, source)| {
            let message = format!("a detour every {} is more than any operating system makes", source.every);
            Fault::new(&format!("{index}.every"), message, format!("give at least {}", Self::SHORTEST_INTERVAL))
        });
        let mut faults: Vec<_> = short.collect();
        let share: f64 = sources.iter().map(Self::duty_cycle).sum();
        if faults.is_empty() && share >= 1.0 {
            let message = format!("the detours take {share} of a processor's time, and leave nothing for the program");
            faults.push(Fault::new("", message, "give a larger `every`, or a smaller `takes`"));
        }
        faults
    }
}

/// Number of detours between two checks whether the run is to be aborted, a fraction of a second.
const PASSES_PER_CHECK: u32 = 1 << 16;

/// The detours of one processor, in order: what remains of them as its time passes.
pub(crate) struct DetourSequence {
    sources: Vec<DetourSource>,
    /// The first detour that has not been passed.
    next: DetourInterval,
    /// The check of the run, if it has one.
    abort: Option<AbortCheck>,
}

/// A detour of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetourInterval {
    pub begin: SimTime,
    pub end: SimTime,
}

/// Detours of a processor that have been passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PassedDetours {
    /// The time that they take together.
    pub taken: SimDuration,
    /// The end of the last one; the start of the run if there is none.
    pub until: SimTime,
}

struct DetourSource {
    detour: Detour,
    /// The instant at which the next detour is due.
    due: SimTime,
    rng: ChaCha8Rng,
}

impl DetourSource {
    /// Creates the source with this index, as processor `processor` finds it at the start of the run.
    fn new((index, detour): (usize, Detour), streams: Streams, processor: u64) -> Self {
        let entity = match detour.phase {
            DetourPhase::Random => processor,
            DetourPhase::Synchronised => u64::MAX,
        };
        let mut rng = streams.stream(&format!("detours {index}"), entity);
        let first = match detour.intervals {
            DetourVariation::Fixed => detour.every.scaled(unit_of_32_bits(&mut rng)),
            DetourVariation::Exponential => detour.intervals.draw(detour.every, &mut rng),
        };
        Self { detour, due: SimTime::START + first, rng }
    }

    /// Returns the rest of the detour that is in progress when the run starts: at regular intervals, the one before the
    /// first.
    fn rest(&mut self) -> SimDuration {
        match self.detour.intervals {
            DetourVariation::Fixed => {
                let passed = self.detour.every - self.due.since(SimTime::START);
                self.detour.durations.draw(self.detour.takes, &mut self.rng).saturating_sub(passed)
            }
            DetourVariation::Exponential => SimDuration::ZERO,
        }
    }

    /// Returns the number of detours from the one that is due on that begin by `by` and before `ends`, which each puts off,
    /// if they come one by one at regular intervals; the one behind them is due before `other`.
    fn regular(&self, by: SimTime, ends: SimTime, other: SimTime) -> u64 {
        let Detour { every, takes, intervals, durations, .. } = self.detour;
        let is_fixed = [intervals, durations] == [DetourVariation::Fixed; 2];
        if !is_fixed || takes >= every || self.due > by || self.due >= ends || self.due >= other {
            return 0;
        }
        let within = by.since(self.due).ps() / every.ps() + 1;
        let before_ends = ends.since(self.due).ps().div_ceil((every - takes).ps());
        within.min(before_ends).min((other.since(self.due).ps() - 1) / every.ps())
    }

    /// Returns the duration of the detour that is due, and lets the next one be due.
    fn pass(&mut self) -> SimDuration {
        self.due += self.detour.intervals.draw(self.detour.every, &mut self.rng);
        self.detour.durations.draw(self.detour.takes, &mut self.rng)
    }
}

/// A processor that the operating system interrupts.
#[derive(Clone, Copy)]
pub struct InterruptedProcessor {
    pub node: u32,
    pub core: u32,
    /// The number of the processor of a rank on the core.
    pub cpu: u8,
}

impl DetourSequence {
    /// Creates the detours of a processor.
    pub fn new(detours: &[Detour], streams: Streams, of: InterruptedProcessor) -> Self {
        let InterruptedProcessor { node, core, cpu } = of;
        // A node has at most 2^24 cores.
        let processor = u64::from(node) << 32 | u64::from(core) << 8 | u64::from(cpu);
        let source = |detour: (usize, &Detour)| DetourSource::new((detour.0, *detour.1), streams, processor);
        let mut sources: Vec<_> = detours.iter().enumerate().map(source).collect();
        let rest: SimDuration = sources.iter_mut().map(DetourSource::rest).sum();
        let next = DetourInterval { begin: SimTime::START, end: SimTime::START + rest };
        Self { sources, next, abort: None }
    }

    /// Ends a computation early if the run is to be aborted: it may have any number of detours.
    pub fn abort_on(&mut self, check: AbortCheck) {
        self.abort = Some(check);
    }

    /// Returns the bytes of the detours of a processor, if there are any.
    pub const fn memory(detours: &[Detour]) -> usize {
        if detours.is_empty() { 0 } else { size_of::<Self>() + detours.len() * size_of::<DetourSource>() }
    }

    /// Passes the detours that begin by `by` and before `ends`, which each of them puts off.
    pub fn pass_all(&mut self, by: SimTime, ends: SimTime) -> PassedDetours {
        let mut passed = PassedDetours::default();
        while self.pass_some(by, ends, &mut passed) && !self.is_aborted() {}
        passed
    }

    /// Passes up to [`PASSES_PER_CHECK`] detours. Returns whether more may follow.
    fn pass_some(&mut self, by: SimTime, ends: SimTime, passed: &mut PassedDetours) -> bool {
        for _ in 0..PASSES_PER_CHECK {
            if self.next.begin > by || self.next.begin >= ends + passed.taken {
                return false;
            }
            passed.until = self.next.end;
            passed.taken += self.next.end.since(self.next.begin);
            self.pass_regular(by, ends, passed);
            self.pass();
        }
        true
    }

    fn is_aborted(&self) -> bool {
        self.abort.as_ref().is_some_and(|check| check.must_abort(self.next.begin))
    }

    /// Passes, in one step, the detours of one source that follow the first one, while no others come between them.
    fn pass_regular(&mut self, by: SimTime, ends: SimTime, passed: &mut PassedDetours) {
        let Some(first) = (0..self.sources.len()).min_by_key(|index| self.sources[*index].due) else { return };
        let others = self.sources.iter().enumerate().filter(|(index, _)| *index != first);
        let other = others.map(|(_, source)| source.due).min().unwrap_or(SimTime::END);
        let source = &mut self.sources[first];
        let count = if source.due < passed.until { 0 } else { source.regular(by, ends + passed.taken, other) };
        if let Some(before) = count.checked_sub(1) {
            let Detour { every, takes, .. } = source.detour;
            passed.until = source.due + every * before + takes;
            passed.taken += takes * count;
            source.due += every * count;
        }
    }

    /// Passes the first detour. The following one begins when it is due, but not before the end of this one.
    fn pass(&mut self) {
        if let Some(source) = self.sources.iter_mut().min_by_key(|source| source.due) {
            let begin = source.due.max(self.next.end);
            self.next = DetourInterval { begin, end: begin + source.pass() };
        }
    }

    /// Returns the end of `work` that the processor begins at `start`, and passes all detours until then. Work that
    /// takes no time is not delayed.
    pub fn end_of(&mut self, start: SimTime, work: SimDuration) -> SimTime {
        if work == SimDuration::ZERO {
            return start;
        }
        let ends = start.max(self.pass_all(start, SimTime::END).until) + work;
        ends + self.pass_all(SimTime::END, ends).taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> SimDuration {
        SimDuration::from_us(us)
    }

    fn sequence(detours: &[Detour], seed: u64, node: u32) -> DetourSequence {
        DetourSequence::new(detours, Streams::new(seed), InterruptedProcessor { node, core: 0, cpu: 0 })
    }

    /// Returns the detours until `end`.
    fn until(detours: &[Detour], node: u32, end: SimTime) -> Vec<DetourInterval> {
        let mut sequence = sequence(detours, 1, node);
        let next = |sequence: &mut DetourSequence| {
            sequence.pass();
            Some(sequence.next).filter(|next| next.begin < end)
        };
        std::iter::from_fn(|| next(&mut sequence)).collect()
    }

    #[test]
    fn detours_come_at_their_intervals_with_a_phase_of_each_processor() {
        let detours = [Detour::new(us(1000), us(25))];
        let end = SimTime::START + us(10_000);
        let (one, other) = (until(&detours, 0, end), until(&detours, 1, end));
        assert_eq!(one.len(), 10);
        assert!(one.iter().zip(&other).all(|(one, other)| one.begin != other.begin));
        assert!(one.windows(2).all(|pair| pair[1].begin.since(pair[0].begin) == us(1000)));
        assert!(one.iter().all(|detour| detour.end.since(detour.begin) == us(25)));
        let together = [Detour { phase: DetourPhase::Synchronised, ..detours[0] }];
        assert_eq!(until(&together, 0, end), until(&together, 1, end));
    }

    /// Over all phases, a lone computation takes 1 / (1 − duty cycle) of its time, and the mean rest of a detour that is
    /// in progress when it begins.
    #[test]
    fn the_mean_slowdown_is_that_of_the_duty_cycle() {
        let exponential = DetourVariation::Exponential;
        let regular = Detour::new(us(1000), us(100));
        for (detour, rest) in [
            (regular, 5.0),
            (Detour { durations: exponential, ..regular }, 10.0),
            (Detour { intervals: exponential, ..regular }, 0.0),
        ] {
            let work = us(3700);
            let end = |seed| sequence(&[detour], seed, 0).end_of(SimTime::START, work).seconds();
            let mean = (0..20_000).map(end).sum::<f64>() / 2e4;
            let expected = work.seconds() / (1.0 - detour.duty_cycle()) + rest * 1e-6;
            assert!((mean / expected - 1.0).abs() < 2e-3, "{detour:?}: {mean} instead of {expected}");
        }
    }

    /// Passes detours one after the other.
    fn pass_in_turn(sequence: &mut DetourSequence, by: SimTime, ends: SimTime) -> PassedDetours {
        let mut passed = PassedDetours::default();
        while sequence.next.begin <= by && sequence.next.begin < ends + passed.taken {
            passed.until = sequence.next.end;
            passed.taken += sequence.next.end.since(sequence.next.begin);
            sequence.pass();
        }
        passed
    }

    #[test]
    fn regular_detours_that_are_counted_are_those_that_are_passed_in_turn() {
        let exponential = DetourVariation::Exponential;
        let (often, seldom) = (Detour::new(us(7), us(2)), Detour::new(us(1003), us(90)));
        let tick = Detour { phase: DetourPhase::Synchronised, ..Detour::new(us(14), SimDuration::from_ps(1)) };
        for sources in [
            vec![often],
            vec![often, tick],
            vec![seldom, often],
            vec![often, Detour { intervals: exponential, ..seldom }],
            vec![Detour { durations: exponential, ..often }, tick, seldom],
        ] {
            for seed in 0..20 {
                let (mut counted, mut in_turn) = (sequence(&sources, seed, 0), sequence(&sources, seed, 0));
                for step in 0..300 {
                    let (by, ends) = (step * step * (seed + 1) % 9973, step * 31 + step * step * 17 % 401);
                    let [by, ends] = [by, ends].map(|at| SimTime::START + SimDuration::from_ns(at * 100));
                    for by in [by, SimTime::END] {
                        let expected = pass_in_turn(&mut in_turn, by, ends);
                        assert_eq!(counted.pass_all(by, ends), expected, "{sources:?}, {seed}, {step}");
                        assert_eq!(counted.next, in_turn.next, "{sources:?}, {seed}, {step}");
                    }
                }
            }
        }
    }

    #[test]
    fn work_in_parts_ends_with_work_in_one() {
        let detours =
            [Detour::new(us(70), us(9)), Detour { phase: DetourPhase::Synchronised, ..Detour::new(us(50), us(20)) }];
        let (mut in_parts, mut in_one) = (sequence(&detours, 3, 7), sequence(&detours, 3, 7));
        let ends = (0..1000).fold(SimTime::START, |now, _| in_parts.end_of(now, us(3)));
        assert_eq!(ends, in_one.end_of(SimTime::START, us(3000)));
        assert_eq!(in_one.end_of(ends, SimDuration::ZERO), ends);
    }

    #[test]
    fn detours_leave_time_for_the_program() {
        let faults = |every, takes| Detour::faults(&[Detour::new(us(10), us(4)), Detour::new(every, takes)]);
        assert!(faults(us(10), us(5)).is_empty());
        assert!(faults(us(10), us(6))[0].message.contains("leave nothing"));
        assert_eq!(faults(SimDuration::from_ns(999), us(0))[0].path, "1.every");
    }
}
