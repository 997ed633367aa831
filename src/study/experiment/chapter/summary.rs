//! The summary of a chapter: the question, the result, its accuracy, its limits, and possible improvements.

use super::history::ShownRun;
use super::{in_role, values};
use crate::analysis::Residuals;
use crate::answer::{Record, Role};
use crate::experiment::bottleneck::CurveCases;
use crate::experiment::cases::workers::machines_of;
use crate::experiment::pictures::curves::{CurveAxis, SIMULATED};
use crate::report::figures::{LineOrigin, TimeLine};
use crate::report::latency_load::MEAN;
use crate::report::{Statement, counted, digits, percent, time};
use crate::scenario::{Case, Plan};

/// The results from which the sentences are made.
pub(super) struct SummaryInput<'f> {
    pub(super) base: &'f Case,
    /// Number of cases.
    pub(super) cases: usize,
    pub(super) axis: &'f CurveAxis,
    /// A description of how the problem grows along the axis, if it does.
    pub(super) growth: Option<String>,
    /// `true` if the axis varies the ranks.
    pub(super) is_over_ranks: bool,
    pub(super) times: &'f [TimeLine],
    pub(super) rows: &'f [Record],
    pub(super) curves: &'f [CurveCases],
    /// The run that is shown individually.
    pub(super) chosen: Option<&'f ShownRun<'f>>,
    /// The parts that would speed the largest case up, in a sentence.
    pub(super) improvements: Option<String>,
}

/// The maximum number of groups that are named individually.
const MAX_NAMED: usize = 4;

impl SummaryInput<'_> {
    pub(super) fn statements(&self, plan: &Plan, cases: &[Case]) -> Vec<Statement> {
        let statements = [
            ("Asked", vec![self.requested(plan, cases)]),
            ("Result", self.results()),
            ("How good", self.accuracy()),
            ("What limits", self.limits()),
            ("What would help", self.improvements.clone().into_iter().collect()),
        ];
        let told = statements.into_iter().filter(|(_, sentences)| !sentences.is_empty());
        told.map(|(label, sentences)| Statement { label, sentences }).collect()
    }

    fn requested(&self, plan: &Plan, cases: &[Case]) -> String {
        let scenario = &self.base.scenario;
        let axes: Vec<_> = plan
            .axes()
            .map(|axis| {
                let values = values(&axis.name, cases);
                let is_number = |value: &String| value.parse::<f64>().is_ok();
                match &values[..] {
                    [first, _, _, _, .., last] if is_number(first) && is_number(last) => {
                        format!("{} from {first} to {last} ({} values)", axis.name, values.len())
                    }
                    [_, _, _, _, ..] => format!("{} values of {}", values.len(), axis.name),
                    few => format!("{} = {}", axis.name, few.join(", ")),
                }
            })
            .collect();
        let over = if axes.is_empty() { String::new() } else { format!(": {}", axes.join("; ")) };
        let machines = if cases.is_empty() {
            scenario.machine.name.clone()
        } else {
            machines_of(cases.iter().map(|case| &*case.scenario))
        };
        format!("{} of {} on {machines}{over}.", counted(self.cases, "case"), scenario.program.name())
    }

    /// Describes the times of each group.
    fn results(&self) -> Vec<String> {
        if self.axis.name.is_empty() || self.cases == 1 {
            return self.rows.last().and_then(single).into_iter().collect();
        }
        let is_subject = |line: &&TimeLine| {
            line.origin == LineOrigin::Subject && (line.kind == MEAN || line.kind.starts_with(SIMULATED))
        };
        let lines: Vec<_> = self.times.iter().filter(is_subject).collect();
        let named = lines.iter().take(MAX_NAMED).filter_map(|line| self.line(line));
        let rest = lines.len().saturating_sub(MAX_NAMED);
        let rest = (rest > 0).then(|| format!("{} more in the results.", counted(rest, "curve")));
        named.chain(rest).chain(self.fastest(&lines)).collect()
    }

    /// Names the fastest groups at both ends of the axis, if groups differ in kind: for each of their sizes, because the
    /// smallest problem is always the fastest.
    fn fastest(&self, lines: &[&TimeLine]) -> Vec<String> {
        let mut sizes: Vec<String> = Vec::new();
        for line in lines {
            let size = parts_of(&line.group, true);
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        let of_size = |size: &String| {
            lines.iter().copied().filter(|line| parts_of(&line.group, true) == *size).collect::<Vec<_>>()
        };
        sizes.iter().take(MAX_NAMED).filter_map(|size| self.fastest_of(size, &of_size(size))).collect()
    }

    /// Names the fastest group of one size at both ends of the axis.
    fn fastest_of(&self, size: &str, lines: &[&TimeLine]) -> Option<String> {
        let is_kind = |line: &&TimeLine| !parts_of(&line.group, false).is_empty();
        let places = || lines.iter().flat_map(|line| &line.points).map(|point| point.0);
        let ends = [places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max)];
        if lines.len() < 2 || ends[0] >= ends[1] || !lines.iter().all(is_kind) {
            return None;
        }
        let best = |place: f64| {
            let at = |line: &&TimeLine| {
                line.points.iter().find(|point| point.0.total_cmp(&place).is_eq()).map(|point| point.1)
            };
            let found: Vec<_> = lines.iter().filter_map(|line| Some((at(line)?, &line.group))).collect();
            let (seconds, group) = *found.iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
            let ties = found.iter().filter(|(other, _)| other.total_cmp(&seconds).is_eq()).count() - 1;
            let ties = if ties > 0 { format!(" and {ties} more") } else { String::new() };
            let (name, place) = (&self.axis.name, self.axis.along.text(place));
            let kind = parts_of(group, false);
            Some(format!("at {name} = {place} {} with {kind}{ties}", time(seconds)))
        };
        let of_all = if size.is_empty() { "Least of all".to_owned() } else { format!("With {size}, least of all") };
        Some(format!("{of_all} {}; {}.", best(ends[0])?, best(ends[1])?))
    }

    fn line(&self, line: &TimeLine) -> Option<String> {
        let known = || line.points.iter().filter(|point| point.1.is_finite());
        let least = known().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let most = known().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let group = if line.group.is_empty() { String::new() } else { format!("{}: ", line.group) };
        // Without a time on one processor, speedup and efficiency are relative to the fewest processors.
        let is_one = |point: &(f64, f64)| (point.0 - 1.0).abs() < 1e-9;
        let base = known().min_by(|a, b| a.0.total_cmp(&b.0)).filter(|_| self.is_over_ranks && self.growth.is_none());
        let at =
            |point: &(f64, f64)| format!("{} at {} = {}", time(point.1), self.axis.name, self.axis.along.text(point.0));
        Some(match base {
            _ if known().count() == 1 => format!("{group}{}.", at(least)),
            _ if time(least.1) == time(most.1) => format!("{group}{} for every {}.", time(least.1), self.axis.name),
            Some(base) if least.0 > base.0 || is_one(base) => {
                let speedup = base.1 / least.1;
                let (factor, efficiency) = (digits(speedup), digits(100.0 * speedup * base.0 / least.0));
                let (begin, kind) = if is_one(base) {
                    (format!("{} on one processor", time(base.1)), "efficiency")
                } else {
                    (at(base), "relative efficiency")
                };
                format!("{group}{begin}; least {}, {factor} times as fast ({kind} {efficiency} %).", at(least))
            }
            _ => format!("{group}least {}, most {}.", at(least), at(most)),
        })
    }

    /// Describes the errors against measurements of the simulation and of the models in the comparison.
    fn accuracy(&self) -> Vec<String> {
        let judged = |roles: [Role; 2]| errors(self.rows, roles);
        let against_measured = judged([Role::Simulated, Role::Predicted]);
        let (own, others): (Vec<_>, Vec<_>) = against_measured.into_iter().partition(|error| error.is_simulation);
        if let Some(own) = own.first() {
            let measured = counted(own.relative.count(), "measured case");
            let mut sentences = vec![format!(
                "Against {measured} the simulation errs by {}. Those that calibrated the machine, if any, judge nothing; \
                 `parsim validate` keeps them apart.",
                own.in_words()
            )];
            if !others.is_empty() {
                let words = others.iter().map(|other| format!("{} by {}", other.name, other.in_words_of_cases()));
                sentences.push(format!(
                    "The models beside it err against the same measurements: {}.",
                    words.collect::<Vec<_>>().join("; ")
                ));
            }
            return sentences;
        }
        let models = deviations(self.rows);
        if models.is_empty() {
            return vec!["There is nothing to compare with: the scenario names no measurement and no model in `compare`, or none that applies to these cases.".to_owned()];
        }
        let words = models.iter().map(|model| format!("{} by {}", model.name, model.in_words_of_cases()));
        vec![format!(
            "Nothing was measured here. The simulation deviates from {}.",
            words.collect::<Vec<_>>().join("; from ")
        )]
    }

    /// Names the bottleneck at the end of the last curve, and the positions where it changes.
    fn limits(&self) -> Vec<String> {
        if self.base.scenario.program.is_traffic() {
            return Vec::new();
        }
        let named =
            |group: &CurveCases| if group.name.is_empty() { String::new() } else { format!("{}: ", group.name) };
        let end =
            self.curves.last().and_then(|group| Some(format!("{}{}", named(group), group.curve.verdict_at_end()?)));
        let changes =
            self.curves.iter().take(MAX_NAMED).flat_map(|group| {
                group.curve.changes().into_iter().map(move |change| format!("{}{change}", named(group)))
            });
        end.into_iter().chain(changes).collect()
    }
}

/// The relative errors of one prediction.
struct Errors {
    name: String,
    is_simulation: bool,
    relative: Residuals,
}

impl Errors {
    fn in_words(&self) -> String {
        let [mean, most] = [self.relative.mean_absolute(), self.relative.max_absolute()]
            .map(|error| error.map_or(String::new(), |error| percent(error).trim_start_matches('+').to_owned()));
        if self.relative.count() == 1 { format!("{mean} %") } else { format!("{mean} % on average, {most} % at most") }
    }

    fn in_words_of_cases(&self) -> String {
        format!("{} ({})", self.in_words(), counted(self.relative.count(), "case"))
    }
}

/// Returns those values of a group that are numbers or quantities, which are sizes, or the others, which are kinds.
fn parts_of(group: &str, are_sizes: bool) -> String {
    let is_size = |part: &str| {
        let value = part.split_once(" = ").map_or("", |(_, value)| value);
        value.split(' ').next().is_some_and(|number| number.parse::<f64>().is_ok())
    };
    let mut depth = 0_i32;
    // Commas within brackets belong to a value.
    let parts = group.split(|letter: char| {
        depth += i32::from("([{".contains(letter)) - i32::from(")]}".contains(letter));
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| is_size(part) == are_sizes).collect::<Vec<_>>().join(", ")
}

/// Collects the errors against the measurements, by prediction.
fn errors(rows: &[Record], roles: [Role; 2]) -> Vec<Errors> {
    let found = rows.iter().flat_map(|row| {
        let measured = in_role(row, Role::Measured).find_map(|one| one.value.number());
        let judged = row.summary().filter(move |one| roles.contains(&one.role));
        judged.filter_map(move |one| {
            let error = Residuals::error(one.value.number()?, measured?);
            Some((one.name().to_owned(), one.role == Role::Simulated, error))
        })
    });
    gathered(found)
}

/// Collects the deviations of the simulation from each model, where nothing was measured.
fn deviations(rows: &[Record]) -> Vec<Errors> {
    let found = rows.iter().flat_map(|row| {
        let simulated = in_role(row, Role::Simulated).find_map(|one| one.value.number());
        let of_times = in_role(row, Role::Predicted).filter_map(move |one| {
            Some((one.name().to_owned(), false, Residuals::error(simulated?, one.value.number()?)))
        });
        let of_others = in_role(row, Role::Error).filter_map(|one| {
            let name = one.key.trim_start_matches("error_against_").trim_start_matches("error_of_").to_owned();
            Some((name, false, one.value.number()?))
        });
        of_times.chain(of_others)
    });
    gathered(found)
}

fn gathered(found: impl Iterator<Item = (String, bool, f64)>) -> Vec<Errors> {
    let mut by_name: Vec<(String, bool, Vec<f64>)> = Vec::new();
    for (name, is_simulation, error) in found {
        match by_name.iter_mut().find(|(other, ..)| *other == name) {
            Some((_, _, errors)) => errors.push(error),
            None => by_name.push((name, is_simulation, vec![error])),
        }
    }
    let errors = by_name.into_iter().map(|(name, is_simulation, errors)| Errors {
        name: name.replace('_', " "),
        is_simulation,
        relative: errors.into_iter().collect(),
    });
    errors.collect()
}

/// States the time of the only case.
fn single(row: &Record) -> Option<String> {
    let simulated = in_role(row, Role::Simulated).find_map(|one| one.value.number())?;
    Some(format!("It takes {}.", time(simulated)))
}
