//! Tuned candidates as records, words and a figure.

use super::Tuned;
use super::candidate::{Candidate, Standing};
use crate::answer::{Answer, AnswerShape, QuantityValue, Record, Role};
use crate::experiment::{Keys, StudyError, keyed, metadata};
use crate::report::whiskers::{Whisker, Whiskers};
use crate::report::{TextTable, digits, time, wrapped};
use crate::scenario::AxisValue;

/// The maximum number of candidates of a group in a text table.
const LISTED: usize = 20;
/// The maximum number of candidates in a figure.
const DRAWN: usize = 60;

impl Tuned {
    /// Returns the candidates as records and in words.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let has_failed = self.groups.iter().flatten().any(|one| one.failure.is_some());
        let records = self.groups.iter().flat_map(|group| {
            let best = group.iter().find(|one| one.standing == Standing::Chosen);
            group.iter().map(move |one| self.record(one, best, has_failed))
        });
        let answer =
            Answer { shape: AnswerShape::Many, records: records.collect(), words: self.words(), ..Answer::default() };
        answer.with_words(&self.notes().iter().map(|note| wrapped(note) + "\n").collect::<String>())
    }

    /// Checks that a candidate of every group could be run.
    ///
    /// # Errors
    /// Returns the reason why none could.
    pub fn check(&self) -> Result<(), StudyError> {
        let is_hopeless = |group: &&Vec<Candidate>| group.iter().all(|one| one.standing == Standing::Failed);
        let Some(group) = self.groups.iter().find(is_hopeless) else { return Ok(()) };
        let reason = group.first().and_then(|one| one.failure.as_deref()).unwrap_or_default();
        let place = self.place(group);
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        Err(StudyError::failed(format_args!("{place}no candidate can be run; the first one: {reason}")))
    }

    /// Draws the candidates with their intervals.
    #[must_use]
    pub fn chart(&self) -> Whiskers {
        let is_drawn = |one: &&Candidate| one.makespan_s().is_some() || one.bound_s.is_some();
        let of_group = |group: &Vec<Candidate>| -> Vec<Whisker> {
            let best = group.iter().find(|one| one.standing == Standing::Chosen);
            let place = self.place(group);
            let drawn = group.iter().filter(is_drawn).take(DRAWN.div_ceil(self.groups.len()).max(1));
            drawn.filter_map(|one| self.whisker(one, &place, best?)).collect()
        };
        let whose = if self.each.is_empty() { "best one's" } else { "best one's of its group" };
        let of = if self.is_calibrated { "new measurements" } else { "means over seeds" };
        Whiskers {
            title: format!("{} on {}: {}", self.program, self.machine, self.tuned.join(", ")),
            axis: format!("time over the {whose}"),
            intervals: format!("{} % intervals of {of}", self.level.percent()),
            hollow: "without contention, not run".to_owned(),
            rows: self.groups.iter().flat_map(of_group).collect(),
            neutral: 1.0,
            has_legend: true,
        }
    }

    /// Returns the times of a candidate over the best time, or `None` if there is no such ratio.
    fn whisker(&self, one: &Candidate, place: &str, best: &Candidate) -> Option<Whisker> {
        let name = shown(&one.keys, &self.tuned);
        let bound = || ratio(one.bound_s?, best.makespan_s()?);
        let value = one.ratio_to(best).or_else(bound)?;
        // The ratio is that of the same seeds, which the interval surrounds.
        let scaled = |time: f64| Some(ratio(time, one.makespan_s()?)? * value);
        Some(Whisker {
            name: if place.is_empty() { name } else { format!("{place}: {name}") },
            value,
            interval: one.interval.and_then(|(low, high)| scaled(low).zip(scaled(high))),
            is_certain: one.makespan_s().is_some(),
            is_best: one.standing == Standing::Chosen,
        })
    }

    /// Returns the values of the axes in `each` for a group, in words.
    fn place(&self, group: &[Candidate]) -> String {
        group.first().map_or_else(String::new, |one| {
            let keys = one.keys.iter().filter(|(name, _)| self.each.contains(name));
            keys.map(|(name, value)| format!("{name} = {}", text(value.as_ref()))).collect::<Vec<_>>().join(", ")
        })
    }

    fn words(&self) -> String {
        let groups: Vec<_> = self.groups.iter().map(|group| self.group_words(group)).collect();
        format!("{} on {}\n\n{}", self.program, self.machine, groups.join("\n"))
    }

    fn group_words(&self, group: &[Candidate]) -> String {
        let place = self.place(group);
        let interval = format!("{} % interval", self.level.percent());
        let mut table = TextTable::new(self.tuned.iter().map(String::as_str).chain([
            "makespan",
            &interval,
            "without contention",
            "runs",
            "",
        ]));
        for one in group.iter().take(LISTED) {
            let values = self.tuned.iter().map(|name| text(value_of(&one.keys, name)));
            let interval =
                one.interval.map_or_else(String::new, |(low, high)| format!("{} to {}", time(low), time(high)));
            let bound = one.bound_s.map_or_else(String::new, time);
            let verdict =
                one.failure.as_ref().map_or_else(|| one.standing.name().to_owned(), |why| format!("failed: {why}"));
            let makespan = one.makespan_s().map_or_else(String::new, time);
            table.row(values.chain([makespan, interval, bound, one.makespans.len().to_string(), verdict]));
        }
        let more = group.len().saturating_sub(LISTED);
        let more = if more > 0 { format!("… and {more} more (--format csv lists all)\n") } else { String::new() };
        let heading = if place.is_empty() { String::new() } else { format!("{place}\n") };
        format!("{heading}{table}{more}{}", wrapped(&self.sentence(group)))
    }

    /// Describes the best candidate, and how certain the choice is.
    fn sentence(&self, group: &[Candidate]) -> String {
        let Some(best) = group.iter().find(|one| one.standing == Standing::Chosen) else {
            return "No candidate could be run.".to_owned();
        };
        if self.tuned.is_empty() {
            return "There is one candidate, and nothing to choose: give what is to be tuned by `--over`.\n".to_owned();
        }
        let count = |standing| group.iter().filter(|one| one.standing == standing).count();
        let (alike, left_out) = (count(Standing::NotToldApart), count(Standing::LeftOut));
        let name = shown(&best.keys, &self.tuned);
        let second = group.iter().find(|one| one.standing == Standing::Worse);
        let lead =
            second.and_then(|second| Some((second, second.makespan_s()?))).map_or_else(String::new, |(second, own)| {
                let longer = second
                    .ratio_to(best)
                    .map_or_else(|| time(own), |ratio| format!("{} %", digits(100.0 * (ratio - 1.0))));
                format!("; the next one that is worse takes {longer} longer")
            });
        let sure = match (alike, best.interval) {
            (0, Some(_)) => format!(" No other candidate may be as good, at {} % confidence.", self.level.percent()),
            (0, None) => String::new(),
            (1, _) => " One other cannot be told apart from it.".to_owned(),
            (alike, _) => format!(" {alike} others cannot be told apart from it."),
        };
        let left_out = match left_out {
            0 => String::new(),
            1 => " One was not run, since it takes longer even without contention.".to_owned(),
            _ => format!(" {left_out} were not run, since they take longer even without contention."),
        };
        format!("Best: {name}{lead}.{sure}{left_out}{}\n", failures(group))
    }

    fn record(&self, one: &Candidate, best: Option<&Candidate>, has_failed: bool) -> Record {
        let mut record = keyed(&one.keys);
        let makespan = one.makespan_s();
        record.put_as(Role::Simulated, "makespan_s", makespan);
        // The generic names for the interval of the makespan, the only time here.
        let (low, high) = one.interval.unzip();
        let percent = self.level.percent();
        record.put_as(Role::Spread, format!("low{percent}_s"), low);
        record.put_as(Role::Spread, format!("high{percent}_s"), high);
        record.put("chosen", QuantityValue::Flag(one.standing == Standing::Chosen));
        record.put("runs", one.makespans.len());
        record.put("standing", one.standing.name());
        record.put("excess", best.and_then(|best| Some(one.ratio_to(best)? - 1.0)));
        record.put("no_contention_s", one.bound_s);
        record.put_metadata(one.case.as_ref().map(|case| metadata(&case.scenario, &case.settings)));
        if has_failed {
            record.put_error(one.failure.as_deref());
        }
        record
    }

    fn notes(&self) -> Vec<String> {
        let held = (!self.held.is_empty()).then(|| {
            let names = self.held.join(", ");
            if self.tuned.is_empty() {
                return format!("Base values of {names}.");
            }
            format!("Base values of {names}; `--each {}` finds the best for each.", self.held.join(","))
        });
        let unbounded = self.unbounded.as_ref().map(|why| {
            let has_failed = self.groups.iter().flatten().any(|one| one.standing == Standing::Failed);
            let which = if has_failed { "that can be run " } else { "" };
            format!("Every candidate {which}was run: {why}.")
        });
        let has_intervals = self.groups.iter().flatten().any(|one| one.interval.is_some());
        let unsure = (!has_intervals && !self.is_calibrated).then(|| {
            "No intervals: give `--calibration CASE` of the machine, or `--set repeat=…` where runs differ by their seed."
                .to_owned()
        });
        let cautions = self.cautions.iter().cloned();
        held.into_iter().chain(unbounded).chain(cautions).chain(unsure).collect()
    }
}

/// Describes how many candidates of a group cannot be run, and why the first one cannot; empty if all can.
fn failures(group: &[Candidate]) -> String {
    let mut failed = group.iter().filter_map(|one| one.failure.as_deref());
    let Some(first) = failed.next() else { return String::new() };
    match failed.count() {
        0 => format!(" One cannot be run: {first}."),
        others => format!(" {} cannot be run; the first one: {first}.", others + 1),
    }
}

/// Returns a time over the best one, or `None` if that is 0 and the time is longer.
fn ratio(own: f64, best: f64) -> Option<f64> {
    if best > 0.0 { Some(own / best) } else { (own <= best).then_some(1.0) }
}

fn value_of<'k>(keys: &'k Keys, name: &str) -> Option<&'k AxisValue> {
    keys.iter().find(|(key, _)| key == name)?.1.as_ref()
}

fn text(value: Option<&AxisValue>) -> String {
    value.map_or_else(|| "?".to_owned(), ToString::to_string)
}

/// Returns the values of some axes, named if there are several.
fn shown(keys: &Keys, names: &[String]) -> String {
    if let [name] = names {
        return text(value_of(keys, name));
    }
    let pairs = names.iter().map(|name| format!("{name} = {}", text(value_of(keys, name))));
    pairs.collect::<Vec<_>>().join(", ")
}
