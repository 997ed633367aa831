//! A paired comparison of the cases in two stores, which shows the effect of a change.

use crate::analysis::Sample;
use crate::answer::{Answer, AnswerShape, Record, Role};
use crate::experiment::cases::outcome::keyed;
use crate::experiment::cases::recall::{Recall, state};
use crate::experiment::cases::repetition::run_series;
use crate::experiment::cases::workers::case_at;
use crate::experiment::cases::workers::{Keys, case_name};
use crate::experiment::sweep::unfinished::NAMED;
use crate::experiment::{StudyError, SweepPart};
use crate::report::table;
use crate::scenario::{CaseId, Cases, CheckedScenario, Plan};
use crate::store::{State, Store};
use parsim_sim::units::{PS_PER_S, real};

/// A scenario with its axes, and the store of its results.
#[derive(Clone, Copy)]
pub struct StoredPlan<'s> {
    /// The scenario.
    pub plan: &'s Plan,
    /// The store of its results.
    pub store: &'s Store,
}

/// The cases that both stores have, in pairs.
#[derive(Debug)]
pub struct Pairs {
    /// The pairs, in axis order.
    pub pairs: Vec<CasePair>,
    /// The cases that only one store has, or neither.
    unpaired: Unpaired,
}

/// The cases without a pair: all are counted, and the first ones are named.
#[derive(Debug, Default)]
struct Unpaired {
    named: Vec<String>,
    count: u64,
}

impl Unpaired {
    fn add(&mut self, words: impl FnOnce() -> String) {
        if self.named.len() < NAMED {
            self.named.push(words());
        }
        self.count += 1;
    }

    /// Returns one line per named case and the total, if there are any.
    fn lines(&self) -> Option<Vec<String>> {
        let Self { named, count } = self;
        let rest = count - named.len() as u64;
        let more = (rest > 0).then(|| format!("… and {rest} more"));
        let last = if *count == 1 { "one case has no pair".to_owned() } else { format!("{count} cases have no pair") };
        (*count > 0).then(|| named.iter().cloned().chain(more).chain([last]).collect())
    }
}

/// A case before and after a change, with the makespans of the seeds that both have.
#[derive(Debug)]
pub struct CasePair {
    keys: Keys,
    before: Stored,
    after: Stored,
}

/// The makespans of a case, in seconds, one for each seed.
#[derive(Debug)]
struct Stored {
    id: CaseId,
    makespans: Vec<f64>,
}

impl Pairs {
    /// Pairs the cases of `before` and `after` by their positions along the axes.
    ///
    /// # Errors
    /// Returns an error if the axes differ, if cases have faults, or if a store cannot be read.
    pub fn of(before: StoredPlan<'_>, after: StoredPlan<'_>) -> Result<Self, StudyError> {
        let (first, second) = (before.plan.unfold()?, after.plan.unfold()?);
        let (mut pairs, mut unpaired) = (Vec::new(), Unpaired::default());
        let part = SweepPart::default();
        let mut others = part.points(&second);
        for point in part.points(&first) {
            let (before, after) = (before.at(&first, point), others.next().map(|point| after.at(&second, point)));
            match (before, after) {
                (_, None) => return Err(different(Some(&first.keys(point)), None)),
                (before, Some(after)) if before.0 != after.0 => return Err(different(Some(&before.0), Some(&after.0))),
                ((keys, Ok(before)), Some((_, Ok(after)))) => pairs.push(CasePair::of(keys, before, after)),
                ((keys, before), Some((_, after))) => {
                    unpaired.add(|| {
                        let why = [("first", before.err()), ("second", after.err())];
                        let why =
                            why.into_iter().filter_map(|(which, why)| Some(format!("{} in the {which} store", why?)));
                        format!("{}: {}", case_name(&keys), why.collect::<Vec<_>>().join(", "))
                    });
                }
            }
        }
        if let Some(point) = others.next() {
            return Err(different(None, Some(&second.keys(point))));
        }
        before.store.check().and_then(|()| after.store.check())?;
        Ok(Self { pairs, unpaired })
    }

    /// Returns a record for each pair and a summary record.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let mut records: Vec<_> = self.pairs.iter().map(CasePair::record).collect();
        let words = format!("{}{}", table(&records), self.words());
        records.push(self.summary());
        Answer { shape: AnswerShape::Mixed, ..Answer::many(records, &words) }
    }

    /// Checks that every case has a pair.
    ///
    /// # Errors
    /// Returns an error that lists the cases without one.
    pub fn check(&self) -> Result<(), StudyError> {
        self.unpaired.lines().map_or(Ok(()), |lines| Err(StudyError::Failed(lines)))
    }

    fn summary(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "summary");
        let count = |is: fn(f64) -> bool| self.pairs.iter().filter(|pair| is(pair.difference().mean)).count();
        record.put("cases", self.pairs.len());
        record.put("faster", count(|difference| difference < 0.0));
        record.put("slower", count(|difference| difference > 0.0));
        let ratio = self.ratio();
        record.put("ratio", ratio.map(|ratio| ratio.mean.exp()));
        let ratio = ratio.filter(|ratio| ratio.count > 1);
        record.put("ratio_low95", ratio.map(|ratio| (ratio.mean - ratio.interval).exp()));
        record.put("ratio_high95", ratio.map(|ratio| (ratio.mean + ratio.interval).exp()));
        record
    }

    /// Returns statistics of the logarithm of the ratio of makespans, second over first; `None` if a makespan is zero
    /// or there are no pairs.
    fn ratio(&self) -> Option<Sample> {
        let logarithm = |pair: &CasePair| {
            let (before, after) = pair.means();
            Some((after / before).ln()).filter(|ratio| ratio.is_finite())
        };
        Sample::of(&self.pairs.iter().map(logarithm).collect::<Option<Vec<_>>>()?)
    }

    fn words(&self) -> String {
        let Some(Sample { count, mean, interval, .. }) = self.ratio() else { return String::new() };
        let percent = |logarithm: f64| 100.0 * logarithm.exp();
        let range = if count > 1 {
            format!(" (95 % interval {:.3} to {:.3} %)", percent(mean - interval), percent(mean + interval))
        } else {
            String::new()
        };
        let cases = if count > 1 { format!(", geometric mean of {count} cases") } else { String::new() };
        format!("\nthe second takes {:.3} % of the time of the first{range}{cases}\n", percent(mean))
    }
}

impl StoredPlan<'_> {
    /// Returns the stored case at a point, or the reason why it is not available.
    fn at(self, cases: &Cases<'_>, point: u64) -> (Keys, Result<Stored, String>) {
        let case = match case_at(cases, point) {
            Ok(case) => case.into_owned(),
            Err((keys, error)) => return (keys, Err(error.to_string())),
        };
        let stored = self.stored(&case.scenario);
        (case.keys, stored)
    }

    fn stored(self, scenario: &CheckedScenario) -> Result<Stored, String> {
        match state(self.store, scenario) {
            State::Found => {
                let runs = Recall::from(self.store, false).runs();
                let series = run_series(scenario, &runs).map_err(|error| error.to_string())?;
                Ok(Stored { id: scenario.id(), makespans: series.makespans })
            }
            state => Err(state.name().to_owned()),
        }
    }
}

impl CasePair {
    /// Pairs a case with itself after a change. Makespans of seeds that only one of them has would make a difference
    /// where there is none.
    fn of(keys: Keys, mut before: Stored, mut after: Stored) -> Self {
        let common = before.makespans.len().min(after.makespans.len());
        before.makespans.truncate(common);
        after.makespans.truncate(common);
        Self { keys, before, after }
    }

    /// Returns the mean makespans, in seconds.
    fn means(&self) -> (f64, f64) {
        let mean = |stored: &Stored| Sample::of(&stored.makespans).map_or(f64::NAN, |sample| sample.mean);
        (mean(&self.before), mean(&self.after))
    }

    /// Returns the difference of the makespans, second minus first, seed by seed. Runs with the same seed draw the same
    /// random numbers.
    fn difference(&self) -> Sample {
        let pairs = self.before.makespans.iter().zip(&self.after.makespans);
        let ps_per_s = real(PS_PER_S);
        // Times are whole picoseconds; smaller differences are rounding errors of seconds, not noise.
        let differences: Vec<_> = pairs.map(|(before, after)| ((after - before) * ps_per_s).round()).collect();
        let Sample { mean, deviation, interval, count } = Sample::of(&differences).expect("a case has a run");
        Sample { mean: mean / ps_per_s, deviation: deviation / ps_per_s, interval: interval / ps_per_s, count }
    }

    fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "case");
        record.append(keyed(&self.keys));
        let ((before, after), difference) = (self.means(), self.difference());
        record.put_as(Role::Simulated, "a_makespan_s", before);
        record.put_as(Role::Simulated, "b_makespan_s", after);
        record.put("difference_makespan_s", difference.mean);
        let several = (difference.count > 1).then_some(difference.interval);
        record.put("difference_makespan_interval95_s", several);
        record.put("relative_difference", Some(difference.mean / before).filter(|relative| relative.is_finite()));
        record.put("seeds", difference.count);
        record.end_summary();
        record.put("a_id", self.before.id.to_string());
        record.put("b_id", self.after.id.to_string());
        record
    }
}

/// Returns the error for two scenarios whose axes have different values.
fn different(first: Option<&Keys>, second: Option<&Keys>) -> StudyError {
    let shown = |keys: Option<&Keys>| keys.map_or("no further case".to_owned(), case_name);
    StudyError::Request(format!(
        "the axes differ: {} versus {}: give both the same values",
        shown(first),
        shown(second)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{CheckedScenario, Scenario};

    fn pair(before: &[f64], after: &[f64]) -> CasePair {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/ring-shift.ron");
        let scenario: CheckedScenario = Scenario::load(path).unwrap();
        let stored = |makespans: &[f64]| Stored { id: scenario.id(), makespans: makespans.to_vec() };
        CasePair::of(Keys::new(), stored(before), stored(after))
    }

    /// Checks that noise common to both runs with a seed does not widen the interval of their difference.
    #[test]
    fn the_noise_that_both_have_cancels() {
        let record = pair(&[1.0, 5.0, 9.0], &[1.5, 5.5, 9.5]).record();
        assert_eq!(record.number("difference_makespan_s"), Some(0.5));
        assert_eq!(record.number("difference_makespan_interval95_s"), Some(0.0));
        assert_eq!(record.number("relative_difference"), Some(0.1));
        let rounded = pair(&[0.1, 0.2, 0.3], &[0.3, 0.4, 0.5]).record();
        assert_eq!(rounded.number("difference_makespan_interval95_s"), Some(0.0));
        let alone = pair(&[1.0], &[2.0, 3.0]).record();
        assert_eq!((alone.number("seeds"), alone.number("difference_makespan_interval95_s")), (Some(1.0), None));
    }

    /// Checks that further seeds of one side change nothing: neither the means nor the ratio.
    #[test]
    fn seeds_that_only_one_side_has_do_not_count() {
        let unequal = pair(&[1.0, 2.0], &[1.0, 2.0, 9.0, 9.0]);
        let record = unequal.record();
        assert_eq!(record.number("b_makespan_s"), Some(1.5));
        let pairs = Pairs { pairs: vec![unequal], unpaired: Unpaired::default() };
        assert_eq!(pairs.summary().number("ratio"), Some(1.0));
    }

    #[test]
    fn all_cases_together_have_the_geometric_mean() {
        let pairs = Pairs { pairs: vec![pair(&[1.0], &[2.0]), pair(&[4.0], &[2.0])], unpaired: Unpaired::default() };
        let summary = pairs.summary();
        assert!((summary.number("ratio").unwrap() - 1.0).abs() < 1e-12);
        assert!(summary.number("ratio_low95").unwrap() < 0.01 && summary.number("ratio_high95").unwrap() > 100.0);
        assert_eq!((summary.number("faster"), summary.number("slower")), (Some(1.0), Some(1.0)));
    }
}
