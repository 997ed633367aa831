//! The runs of candidates. Rounds of candidates that could be the best are run first, the most promising ones at the
//! beginning. Repetitions of those that may be as good as the best follow (successive halving: Jamieson and Talwalkar,
//! 2016).

use super::candidate::{Candidate, Standing};
use super::{Subject, Tuning, can_be_bound};
use crate::analysis::Sample;
use crate::experiment::calibration::{MeanMakespan, VariedCases};
use crate::experiment::cases::memory_budget::MemoryBudget;
use crate::experiment::cases::repetition::repetition;
use crate::experiment::cases::stopping::{is_sufficient, needs_another_run};
use crate::experiment::cases::workers::{case_at, catching_panics, machines_of};
use crate::experiment::{CaseError, StudyError, Workers};
use crate::scenario::{Case, CheckedScenario, Plan, Repeat};
use parsim_sim::simulation::{SimulationError, WallClock};
use rayon::prelude::*;
use std::borrow::Cow;

/// The number of candidates of a group that are run before the best so far is updated; fixed, so that the result does
/// not depend on the number of threads.
const ROUND: usize = 8;
/// The maximum number of candidates.
const MAX_CANDIDATES: usize = 100_000;

/// A simulation of a candidate.
struct CandidateRun {
    candidate: usize,
    scenario: CheckedScenario,
    run: u32,
}

/// A candidate with the makespan of one of its runs, in seconds.
type CandidateMakespan = (usize, Result<f64, SimulationError>);

/// A candidate with its interval, in seconds, if enough errors are known.
type CandidateInterval = (usize, Result<Option<(f64, f64)>, CaseError>);

/// The candidates of all groups, with the settings for running them.
struct Race<'a> {
    tuning: &'a Tuning<'a>,
    workers: Workers<'a>,
    room: MemoryBudget,
    repeat: Repeat,
    candidates: Vec<Candidate>,
    /// The indices of the candidates of each group.
    groups: Vec<Vec<usize>>,
    /// The reason why bounds are no longer trusted: a candidate ended before its bound.
    contradicted: Option<String>,
    /// The reason why a candidate has no interval: it cannot be run with another value of a parameter.
    unvaried: Option<String>,
}

/// The candidates after all runs.
pub struct RaceResult {
    /// The candidates by group, the best first.
    pub groups: Vec<Vec<Candidate>>,
    pub subject: Subject,
    /// The reason why times without contention are not lower bounds, if a run contradicted one.
    pub contradicted: Option<String>,
    /// A sentence about candidates that have no interval because they cannot be run with other values of parameters.
    pub unvaried: Option<String>,
}

/// Runs the candidates of `plan`.
pub fn run(tuning: &Tuning<'_>, plan: &Plan, is_bounded: bool, workers: Workers<'_>) -> Result<RaceResult, StudyError> {
    let candidates = candidates(plan)?;
    let scenarios = || candidates.iter().filter_map(|candidate| Some(&*candidate.case.as_ref()?.scenario));
    let first = scenarios().next().map(|first| (first.repeat, (first.program.name(), machines_of(scenarios()))));
    let Some((repeat, subject)) = first else {
        // Collecting the cases reports the faults of the first one with their places.
        return Err(plan.cases().err().map_or_else(StudyError::no_case, StudyError::from));
    };
    let groups = groups(&candidates, tuning.each);
    let mut race = Race {
        tuning,
        workers,
        room: MemoryBudget::of_this_computer(),
        repeat,
        candidates,
        groups,
        contradicted: None,
        unvaried: None,
    };
    workers.progress.begin(race.candidates.len() as u64);
    if is_bounded && tuning.margin.is_some() && !race.is_repeated() {
        race.bound()?;
    }
    race.run_contenders()?;
    if tuning.calibrated.is_some() {
        race.run_all_seeds()?;
    } else {
        race.repeat()?;
    }
    race.judge();
    race.find_intervals()?;
    workers.progress.end();
    let contradicted = race.contradicted.take();
    let unvaried = race.unvaried.take().map(|why| {
        format!(
            "Candidates that cannot be run with other values of the parameters have no interval; the first one: {why}."
        )
    });
    Ok(RaceResult { groups: race.into_groups(), subject, contradicted, unvaried })
}

/// Returns the candidates in axis order.
fn candidates(plan: &Plan) -> Result<Vec<Candidate>, StudyError> {
    let cases = plan.unfold()?;
    let mut candidates = Vec::new();
    for point in cases.points() {
        if !cases.holds(point)? {
            continue;
        }
        if candidates.len() == MAX_CANDIDATES {
            let message = format!("there are more than {MAX_CANDIDATES} candidates: give fewer values");
            return Err(StudyError::Request(message));
        }
        let case = case_at(&cases, point).map(Cow::into_owned).map_err(|(_, error)| error.to_string());
        candidates.push(Candidate::new(cases.keys(point), point, case));
    }
    Ok(candidates)
}

/// Groups candidates with the same values of the axes `each`.
fn groups(candidates: &[Candidate], each: &[String]) -> Vec<Vec<usize>> {
    let place = |candidate: &Candidate| -> Vec<_> {
        candidate.keys.iter().filter(|(name, _)| each.contains(name)).map(|(_, value)| value.clone()).collect()
    };
    let mut groups: Vec<(Vec<_>, Vec<usize>)> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let place = place(candidate);
        match groups.iter_mut().find(|(known, _)| *known == place) {
            Some((_, members)) => members.push(index),
            None => groups.push((place, vec![index])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

impl Race<'_> {
    fn is_repeated(&self) -> bool {
        self.repeat != Repeat::default()
    }

    /// Simulates the candidates without contention to find their lower bounds.
    fn bound(&mut self) -> Result<(), StudyError> {
        let off = self.tuning.plan_without_contention()?;
        let is_bounded = |one: &Candidate| one.case.as_ref().is_some_and(|case| can_be_bound(&case.scenario.machine));
        let jobs = self.first_runs(&off, is_bounded)?;
        for (candidate, result) in self.results(&jobs)? {
            self.candidates[candidate].bound_s = result.ok();
        }
        Ok(())
    }

    /// Returns the first runs of the chosen candidates under another plan, without those that it cannot run.
    fn first_runs(&self, plan: &Plan, is_chosen: impl Fn(&Candidate) -> bool) -> Result<Vec<CandidateRun>, StudyError> {
        let cases = plan.unfold()?;
        let chosen = self.candidates.iter().enumerate().filter(|(_, one)| one.is_open() && is_chosen(one));
        let job = |(candidate, one): (usize, &Candidate)| {
            let case = case_at(&cases, one.point).ok()?.into_owned();
            Some(CandidateRun { candidate, scenario: case.into_scenario(), run: 0 })
        };
        Ok(chosen.filter_map(job).collect())
    }

    /// Runs candidates in order of their lower bounds, until no other candidate can be the best.
    fn run_contenders(&mut self) -> Result<(), StudyError> {
        let runs = if self.is_repeated() { 2 } else { 1 };
        loop {
            let batch: Vec<usize> = self.groups.iter().flat_map(|group| self.next_of(group)).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let jobs: Vec<CandidateRun> =
                batch.iter().flat_map(|index| (0..runs).filter_map(|run| self.job(*index, run))).collect();
            self.run(&jobs)?;
            self.test_bounds();
            self.workers.progress.advance(batch.len() as u64, 0);
        }
    }

    /// Stops trusting bounds if a run ended before its bound.
    fn test_bounds(&mut self) {
        const ROUNDING: f64 = 1e-9;
        let ends_before = |one: &Candidate| {
            let times = one.makespan_s().zip(one.bound_s);
            times.is_some_and(|(makespan, bound)| makespan < bound * (1.0 - ROUNDING))
        };
        if self.candidates.iter().any(ends_before) {
            let message = "a candidate ends sooner with contention than without, which is no bound then";
            self.contradicted = Some(message.to_owned());
        }
    }

    /// Returns the candidates of a group for the next round.
    fn next_of(&self, group: &[usize]) -> Vec<usize> {
        let best = group.iter().filter_map(|index| self.candidates[*index].makespan_s()).min_by(f64::total_cmp);
        let most = best.zip(self.tuning.margin).map_or(f64::INFINITY, |(best, margin)| best * (1.0 + margin));
        let bound = |index: &usize| self.candidates[*index].bound_s.unwrap_or(0.0);
        let is_possible = |index: &&usize| {
            let one = &self.candidates[**index];
            let may_be_best = self.contradicted.is_some() || bound(index) <= most;
            one.is_open() && one.makespans.is_empty() && may_be_best
        };
        let mut open: Vec<usize> = group.iter().filter(is_possible).copied().collect();
        open.sort_by(|one, other| bound(one).total_cmp(&bound(other)));
        open.truncate(ROUND);
        open
    }

    fn job(&self, candidate: usize, run: u32) -> Option<CandidateRun> {
        let case: &Case = self.candidates[candidate].case.as_ref()?;
        Some(CandidateRun { candidate, scenario: (*case.scenario).clone(), run })
    }

    /// Runs jobs and keeps their makespans.
    fn run(&mut self, jobs: &[CandidateRun]) -> Result<(), StudyError> {
        for (candidate, result) in self.results(jobs)? {
            let one = &mut self.candidates[candidate];
            match result {
                Ok(makespan) => one.makespans.push(makespan),
                Err(error) => one.failure = Some(error.to_string()),
            }
        }
        Ok(())
    }

    /// Returns the makespans of jobs, in order.
    fn results(&self, jobs: &[CandidateRun]) -> Result<Vec<CandidateMakespan>, StudyError> {
        let (recall, room) = (self.workers.recall, &self.room);
        let makespan = |job: &CandidateRun| {
            let _place = room.enter(job.scenario.estimate().memory_bytes);
            let runs = recall.runs();
            let trace = catching_panics(|| match job.run {
                0 => runs.run(&job.scenario),
                run => repetition(&job.scenario, run, WallClock::begin(), &runs),
            });
            (job.candidate, trace.map(|trace| trace.makespan.seconds()))
        };
        Ok(self.workers.pool(jobs.len())?.install(|| jobs.par_iter().map(makespan).collect()))
    }

    /// Runs the candidates with all seeds of the scenario. Seeds do not tell which intervals of a calibration overlap,
    /// and those of a mean over fewer seeds would not be those of a sweep.
    fn run_all_seeds(&mut self) -> Result<(), StudyError> {
        loop {
            let next =
                |index: usize| self.runs_up_to(index, self.repeat.least().max(self.candidates[index].runs() + 1));
            let needs_another = |index: &usize| needs_another_run(self.repeat, &self.candidates[*index].makespans);
            let open = (0..self.candidates.len()).filter(|index| self.has_run(*index));
            let jobs: Vec<CandidateRun> = open.filter(needs_another).flat_map(next).collect();
            if jobs.is_empty() {
                return Ok(());
            }
            self.run(&jobs)?;
        }
    }

    /// Returns `true` if a candidate has run and none of its runs has failed.
    fn has_run(&self, index: usize) -> bool {
        let one = &self.candidates[index];
        one.is_open() && !one.makespans.is_empty()
    }

    /// Repeats the candidates that may be the best with doubling numbers of seeds, and drops those shown to be worse.
    /// All candidates of a group that are left have the same seeds, so that they can be compared by pairs.
    fn repeat(&mut self) -> Result<(), StudyError> {
        let mut runs = 2;
        while self.is_repeated() {
            self.drop_beaten();
            runs = (2 * runs).min(self.repeat.most());
            let racing = self.groups.iter().map(|group| self.racing(group));
            let undecided = racing.filter(|racing| racing.len() > 1 && !self.are_sufficient(racing));
            let jobs: Vec<CandidateRun> = undecided.flatten().flat_map(|index| self.runs_up_to(index, runs)).collect();
            if jobs.is_empty() {
                break;
            }
            self.run(&jobs)?;
        }
        Ok(())
    }

    /// Returns `true` if each of these candidates has as many runs, or as precise a mean, as is requested.
    fn are_sufficient(&self, racing: &[usize]) -> bool {
        racing.iter().all(|index| is_sufficient(self.repeat, &self.candidates[*index].makespans))
    }

    /// Returns the runs that a candidate lacks to have `runs` of them.
    fn runs_up_to(&self, index: usize, runs: u32) -> Vec<CandidateRun> {
        (self.candidates[index].runs()..runs).filter_map(|run| self.job(index, run)).collect()
    }

    /// Returns the candidates of a group that are still in the race, the best first.
    fn racing(&self, group: &[usize]) -> Vec<usize> {
        let mean = |index: &usize| self.candidates[*index].makespan_s();
        let is_racing = |index: &&usize| self.has_run(**index) && !self.candidates[**index].is_beaten;
        let mut racing: Vec<usize> = group.iter().filter(is_racing).copied().collect();
        racing.sort_by(|one, other| mean(one).partial_cmp(&mean(other)).expect("all have run"));
        racing
    }

    /// Drops candidates from the worse half of each group if their makespans exceed those of the best one, paired by
    /// seed, by more than chance explains.
    fn drop_beaten(&mut self) {
        for group in 0..self.groups.len() {
            let (racing, level) = (self.racing(&self.groups[group]), self.level(&self.groups[group]));
            let Some((best, _)) = racing.split_first() else { continue };
            for index in &racing[racing.len().div_ceil(2)..] {
                self.candidates[*index].is_beaten = !self.is_as_good(*index, *best, level);
            }
        }
    }

    /// Returns the confidence level of a single comparison: that all comparisons of a group, of each candidate with the
    /// best one at every number of seeds, are right has a probability of 90 % (Bonferroni).
    fn level(&self, group: &[usize]) -> f64 {
        let looks = self.repeat.most().max(2).next_power_of_two().ilog2();
        let others = group.iter().filter(|index| self.has_run(**index)).count().saturating_sub(1).max(1);
        let others = f64::from(u32::try_from(others).unwrap_or(u32::MAX));
        1.0 - 0.1 / (f64::from(looks) * others)
    }

    /// Judges the candidates of every group against its best one.
    fn judge(&mut self) {
        for index in 0..self.candidates.len() {
            let one = &mut self.candidates[index];
            if one.failure.is_some() {
                one.standing = Standing::Failed;
            } else if !one.makespans.is_empty() {
                one.standing = Standing::Worse;
            }
        }
        for group in 0..self.groups.len() {
            let (racing, level) = (self.racing(&self.groups[group]), self.level(&self.groups[group]));
            let Some((&best, others)) = racing.split_first() else { continue };
            for index in others {
                if self.is_as_good(*index, best, level) {
                    self.candidates[*index].standing = Standing::NotToldApart;
                }
            }
            self.candidates[best].standing = Standing::Chosen;
        }
        for one in self.candidates.iter_mut().filter(|one| one.is_open()) {
            let sample = Sample::of(&one.makespans);
            one.interval = sample.and_then(|sample| {
                let half = sample.interval_90()?;
                Some((sample.mean - half, sample.mean + half))
            });
        }
    }

    /// Returns `true` if one candidate may be as good as another: with repetitions at this confidence level, otherwise
    /// if both take equally long.
    fn is_as_good(&self, index: usize, best: usize, level: f64) -> bool {
        let (one, best) = (&self.candidates[index], &self.candidates[best]);
        match one.difference_from(best).and_then(|difference| Some(difference.mean - difference.interval_at(level)?)) {
            Some(least) => least <= 0.0,
            None => one.makespan_s() == best.makespan_s(),
        }
    }

    /// Computes the intervals of a calibrated machine; candidates whose interval overlaps that of the best one are not
    /// told apart.
    fn find_intervals(&mut self) -> Result<(), StudyError> {
        let Some(calibrated) = &self.tuning.calibrated else { return Ok(()) };
        let varied = calibrated.unfold()?;
        for (candidate, interval) in self.intervals(&varied)? {
            match interval {
                Ok(interval) => self.candidates[candidate].interval = interval,
                Err(error) => _ = self.unvaried.get_or_insert_with(|| error.to_string()),
            }
        }
        for group in &self.groups {
            let best = group.iter().find(|index| self.candidates[**index].standing == Standing::Chosen);
            let Some((_, high)) = best.and_then(|index| self.candidates[*index].interval) else { continue };
            for index in group {
                let one = &mut self.candidates[*index];
                if one.standing == Standing::Worse && one.interval.is_some_and(|(low, _)| low <= high) {
                    one.standing = Standing::NotToldApart;
                }
            }
        }
        Ok(())
    }

    /// Returns the intervals of the candidates that were run.
    fn intervals(&self, varied: &VariedCases<'_>) -> Result<Vec<CandidateInterval>, StudyError> {
        let is_run = |one: &(usize, &Candidate)| one.1.is_open() && !one.1.makespans.is_empty();
        let run: Vec<(usize, &Candidate)> = self.candidates.iter().enumerate().filter(is_run).collect();
        let interval = |(candidate, one): &(usize, &Candidate)| {
            let memory = one.case.as_ref().map_or(0, |case| case.scenario.estimate().memory_bytes);
            let _place = self.room.enter(memory);
            let makespan = MeanMakespan { seconds: one.makespan_s().unwrap_or_default(), runs: one.runs() };
            let keys = one.case.as_ref().map_or(&[][..], |case| &case.keys);
            (*candidate, catching_panics(|| varied.interval(one.point, keys, makespan, self.workers.recall)))
        };
        Ok(self.workers.pool(run.len())?.install(|| run.par_iter().map(interval).collect()))
    }

    /// Returns the candidates of each group, ordered by standing and time.
    fn into_groups(self) -> Vec<Vec<Candidate>> {
        let Self { candidates, groups, .. } = self;
        let is_run = |one: &Candidate| one.standing < Standing::LeftOut;
        let class = |one: &Candidate| if is_run(one) { Standing::Chosen } else { one.standing };
        let ordered = |members: &Vec<usize>| {
            let members: Vec<&Candidate> = members.iter().map(|index| &candidates[*index]).collect();
            let best = members.iter().find(|one| one.standing == Standing::Chosen);
            // Those with fewer seeds than the best one are compared with the same seeds of it.
            let excess = |one: &Candidate| Some(one.difference_from(best?)?.mean);
            let time = |one: &Candidate| excess(one).or(one.bound_s).unwrap_or(f64::INFINITY);
            let mut order: Vec<usize> = (0..members.len()).collect();
            order.sort_by(|one, other| {
                let (one, other) = (members[*one], members[*other]);
                class(one).cmp(&class(other)).then(time(one).total_cmp(&time(other)))
            });
            order
        };
        let orders: Vec<Vec<usize>> = groups.iter().map(ordered).collect();
        let mut candidates: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
        let in_order = |(members, order): (Vec<usize>, Vec<usize>)| -> Vec<Candidate> {
            order.into_iter().filter_map(|place| candidates[members[place]].take()).collect()
        };
        groups.into_iter().zip(orders).map(in_order).collect()
    }
}
