//! A calibration in words.

use super::descents::DESCENTS;
use super::{
    Calibrated, CalibratedParameter, DescentCounts, DistinguishingRow, Identified, JudgedAlternative, Loss,
    MeasuredRow, TriedChoice, Verdict, with,
};
use crate::answer::Unit;
use crate::experiment::path_word;
use crate::report::{TextTable, counted, digits};
use parsim_sim::units::escaped;
use std::fmt::Write;
use std::path::Path;

/// The maximum number of candidates in the text.
const SHOWN: usize = 5;
/// The ratio of residuals to noise from which on the text warns of a misfit.
const MISFIT: f64 = 1.5;
/// The mean relative error from which on a fit describes nothing, regardless of the noise.
const NO_FIT: f64 = 0.25;
/// The least correlation that the text mentions.
const STRONG: f64 = 0.9;

/// The ratios of units that are easily confused, each with the factor by which a fit may hide it.
const CONFUSED: [(f64, f64); 3] = [(8.0, 1.25), (1e3, 5.0), (1e6, 10.0)];

/// Returns the sentence about residuals that are `misfit` times the noise, if noise does not explain them.
pub(super) fn misfit(misfit: Option<f64>, is_implausible: bool) -> Option<String> {
    let misfit = misfit.filter(|misfit| *misfit > MISFIT || is_implausible)?;
    Some(format!(
        "the residuals are {misfit:.1} times the stated noise: the model does not fit, or the noise is larger"
    ))
}

impl Calibrated {
    /// Returns the calibrated machine, with its origin in comments.
    #[must_use]
    pub fn machine_file(&self, case: &Path) -> String {
        self.origin(case) + &self.machine + "\n"
    }

    /// Returns what was fitted to which data, and how well, in comments.
    pub(super) fn origin(&self, case: &Path) -> String {
        let mut text = format!("// Calibrated by `parsim calibrate {}`.\n", escaped(&path_word(case)));
        let calibrates = |table: usize| self.rows.iter().any(|row| row.table == table && row.trains);
        for (_, table) in self.case.tables.iter().enumerate().filter(|(index, _)| calibrates(*index)) {
            let rows =
                table.train.as_ref().map_or_else(|| "all rows".to_owned(), |train| format!("the rows with {train}"));
            let apart =
                table.intervals.as_ref().map(|apart| format!(", without those with {apart},")).unwrap_or_default();
            let rows = rows + &apart;
            let _ = writeln!(text, "// {}: {rows} of {}", table.name, table.data.display());
        }
        let error = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), percents);
        let _ = writeln!(
            text,
            "// Mean error of the rows that calibrated {}, of others {}.",
            error(self.train_error()),
            error(self.held_out_error())
        );
        if !self.has_converged {
            text += "// The budget ended before the fit did.\n";
        }
        for chosen in self.choices.iter().take(1).filter(|choice| !choice.settings.is_empty()) {
            let _ = writeln!(text, "// With {}", chosen.words());
        }
        for parameter in &self.parameters {
            let (low, high) = parameter.interval95;
            let note = if parameter.is_determined { "" } else { ": not determined by the data" };
            let (value, low, high) = (digits(parameter.value), digits(low), digits(high));
            let _ = writeln!(text, "// {} = {value} {} ({low} to {high}){note}", parameter.path, parameter.unit);
        }
        text
    }

    fn interval_words(&self) -> String {
        let Some(intervals) = &self.intervals else { return String::new() };
        let percent = intervals.level.percent();
        let made_from = format!("{} errors of {}", intervals.conformal.count(), intervals.errors_from.words());
        if intervals.of_rows.iter().all(Option::is_none) {
            return format!("no {percent} % intervals: {made_from} are too few\n");
        }
        let judged = intervals.coverage(&self.rows);
        let width = judged.median_half_width.map_or_else(String::new, |width| format!(", median ±{}", percents(width)));
        let (covered, cells) = (judged.covered, judged.cells);
        let found = match judged.share() {
            Some(share) => {
                format!("{covered} of {cells} cells that took no part lie within ({:.0} %){width}", 100.0 * share)
            }
            None => "no cell is left to judge them".to_owned(),
        };
        let growth =
            self.case.intervals.growing.as_ref().map_or_else(String::new, |column| match intervals.conformal.growth {
                growth if growth > 0.0 => format!(", which grow as {column}^{growth:.2}"),
                _ => format!(", which do not grow with {column}"),
            });
        format!("{percent} % intervals from {made_from}{growth}: {found}\n")
    }

    /// Returns the answer in words.
    pub(super) fn words(&self) -> String {
        let mut text = self.parameter_table().to_string();
        text += &self.undetermined();
        text += &self.warnings();
        let strong = self.correlated().filter(|(.., value)| value.abs() >= STRONG);
        for (first, second, value) in strong {
            let _ = writeln!(text, "correlated: {first} and {second}, {value:+.2}");
        }
        text += &self.choice_words();
        text += &self.group_words();
        for (row, gain) in self.candidates.iter().take(SHOWN) {
            let at = place_of(&self.rows[*row]);
            let _ = writeln!(text, "a measurement at {at} would be informative: gain {gain:.2}");
        }
        if self.candidates.len() > SHOWN {
            text += &more_candidates(self.candidates.len());
        }
        let error = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), percents);
        let (fitted, others) = (error(self.train_error()), error(self.held_out_error()));
        let apart = self.rows.iter().filter(|row| row.sets_intervals).count();
        let apart = if apart > 0 { format!(", {apart} of which set the intervals") } else { String::new() };
        let _ = writeln!(text, "mean error: {fitted} of the rows that calibrated, {others} of the others{apart}");
        let shared = self.rows.iter().filter(|row| row.calibrates_elsewhere).count();
        if shared > 0 {
            let _ = writeln!(
                text,
                "{} of the others calibrated as rows of other tables, and do not count",
                counted(shared, "measurement")
            );
        }
        text += &self.interval_words();
        let _ = writeln!(
            text,
            "{} evaluations, {} more for the intervals{}; {} of {} descents ended at the best optimum{}",
            self.evaluations,
            self.interval_evaluations,
            self.slopes_only(),
            self.descents.at_best,
            self.descents.all,
            if self.has_converged { "" } else { "; the budget ended before the fit did" }
        );
        text
    }

    /// Says how many intervals the budget did not allow to check.
    fn slopes_only(&self) -> String {
        match self.not_followed {
            0 => String::new(),
            1 => ", whose budget left that of one parameter to slopes alone".to_owned(),
            several => format!(", whose budget left those of {several} parameters to slopes alone"),
        }
    }

    fn parameter_table(&self) -> TextTable {
        let mut table = TextTable::new(["parameter", "value", "95 % from", "to", "unit", "determined"]);
        for parameter in &self.parameters {
            let determined = if parameter.is_determined { "yes" } else { "no" };
            let (low, high) = parameter.interval95;
            table.row([
                &*parameter.path,
                &digits(parameter.value),
                &digits(low),
                &digits(high),
                &parameter.unit,
                determined,
            ]);
        }
        table
    }

    /// Describes, in sentences, which parameters the data do not determine.
    fn undetermined(&self) -> String {
        if !self.knows_noise {
            return "as many rows as parameters, and no `noise`: the accuracy of the values is unknown\n".to_owned();
        }
        let fits = !self.describes_nothing();
        let without = self.parameters.iter().filter(|parameter| !parameter.has_influence);
        let without = without.map(|parameter| {
            let (low, high) = parameter.interval95;
            let (low, high, path) = (digits(low), digits(high), &parameter.path);
            let reason = if fits { "fit the data as well" } else { "are as far from the data" };
            format!("not determined: {path}: all values from {low} to {high} {} {reason}\n", parameter.unit)
        });
        let is_combined =
            |parameter: &&CalibratedParameter| self.combinations.iter().any(|sum| sum.paths.contains(&parameter.path));
        let open = self.parameters.iter().filter(|parameter| !parameter.is_determined && parameter.has_influence);
        let open = open.filter(|parameter| !is_combined(parameter)).map(|parameter| {
            let (low, high) = parameter.interval95;
            let (low, high) = (digits(low), digits(high));
            let path = &parameter.path;
            format!(
                "not determined: {path}: from {low} to {high} {} another parameter may matter instead\n",
                parameter.unit
            )
        });
        let combined = self.combinations.iter().map(|combination| {
            let (low, high) = combination.interval95;
            let (value, low, high) = (digits(combination.value), digits(low), digits(high));
            format!(
                "determined is only the {} {} = {value} ({low} to {high})\n",
                combination.form.name(),
                combination.names
            )
        });
        without.chain(open).chain(combined).collect()
    }

    fn choice_words(&self) -> String {
        let tried = self.choices.iter().filter(|choice| !choice.settings.is_empty()).enumerate();
        tried.fold(String::new(), |mut text, (place, choice)| {
            let set = choice.words();
            if let Some(failure) = &choice.failure {
                let _ = writeln!(text, "with {set}: cannot be run: {failure}");
                return text;
            }
            let error = choice.train_error.map_or_else(|| "not reached by the budget".to_owned(), percents);
            let rank = match place {
                0 => " (chosen, with the parameters above)",
                _ if choice.is_as_good => " (not told apart from the chosen one)",
                _ => "",
            };
            let end = if choice.has_converged { "" } else { ", its budget ended before the fit did" };
            let _ = writeln!(text, "with {set}: mean error {error}{end}{rank}");
            text
        })
    }

    /// Warns of parameters at their bounds, of residuals that noise does not explain, and of worse optima.
    fn warnings(&self) -> String {
        // All values of a parameter without influence fit as well, so the data do not favour any.
        let at_bounds = self.parameters.iter().filter(|parameter| parameter.is_at_bound && parameter.has_influence);
        let at_bounds = at_bounds.map(|parameter| {
            format!("{} is at a bound of its range: the data may favour a value beyond it\n", parameter.path)
        });
        let misfit = misfit(self.misfit, self.is_implausible).map(|words| words + "\n");
        let is_off = self.misfit.is_none() && self.describes_nothing();
        let no_fit = is_off.then(|| {
            "the model does not fit: values and intervals of its parameters say little about the machine\n".to_owned()
        });
        let fits = misfit.into_iter().chain(no_fit).chain(self.unit_hint()).chain(self.noise_hints());
        at_bounds.chain(fits).chain(self.worse_ends()).chain(self.few_descents()).collect()
    }

    /// Warns if descents ended at worse optima, and if no two of them agree on the best one.
    fn worse_ends(&self) -> Option<String> {
        let DescentCounts { all, at_best, at_worse, .. } = self.descents;
        let agreed = match at_best {
            0 => ", and none at the best one, which was found when intervals were followed",
            1 => ", and only one at the best one",
            _ => "",
        };
        (at_worse > 0).then(|| {
            format!(
                "{at_worse} of {all} descents ended at worse optima{agreed}: a better one may be missed; another `seed` \
                 starts elsewhere\n"
            )
        })
    }

    /// Warns if the budget did not reach the descents from the best starting points.
    fn few_descents(&self) -> Option<String> {
        let ended = self.descents.first;
        (ended < DESCENTS).then(|| {
            format!(
                "only {ended} of the descents from the best {DESCENTS} starting points ended within the budget: a better \
                 optimum may be missed, and intervals may be too narrow; allow more by --runs\n"
            )
        })
    }

    /// Returns hints on absolute noise that exceeds all measured values of its table, perhaps because of its unit.
    fn noise_hints(&self) -> impl Iterator<Item = String> {
        let tables = self.case.tables.iter().enumerate().filter(|_| self.case.loss == Loss::Absolute);
        tables.filter_map(|(index, table)| {
            let noise = table.noise?;
            let of_it = self.rows.iter().filter(|row| row.table == index).filter_map(|row| row.reference);
            let largest = of_it.max_by(f64::total_cmp).filter(|largest| noise > *largest)?;
            let (name, key, noise, largest) = (&table.name, &table.simulated, digits(noise), digits(largest));
            let unit = if Unit::of_key(key).0 == Unit::Seconds { " s" } else { "" };
            Some(format!(
                "the noise of {name}, {noise}{unit}, exceeds all its measured values (up to {largest}{unit}): it is in the \
                 unit of `{key}`\n"
            ))
        })
    }

    /// Returns a hint if all simulated values differ from the measured ones by the same ratio of two units.
    fn unit_hint(&self) -> Option<String> {
        let known = self.rows.iter().zip(&self.values).filter(|(row, _)| row.trains);
        let ratios: Vec<f64> = known.filter_map(|(row, value)| Some((*value)? / row.reference?)).collect();
        let are_near = |factor: f64, most: f64| ratios.iter().all(|ratio| (ratio / factor).ln().abs() <= most.ln());
        let (factor, _) = CONFUSED
            .into_iter()
            .find(|(factor, most)| ratios.len() > 1 && (are_near(*factor, *most) || are_near(factor.recip(), *most)))?;
        let (more, less) = if ratios[0] > 1.0 { ("simulated", "measured") } else { ("measured", "simulated") };
        Some(format!(
            "all {more} values are about {factor} times the {less} ones: the unit of the measurements may be wrong\n"
        ))
    }

    /// Returns `true` if even the best fit is too poor to describe the data.
    fn describes_nothing(&self) -> bool {
        self.train_error().is_some_and(|error| error >= NO_FIT)
    }

    fn group_words(&self) -> String {
        if self.left_out.is_empty() {
            return String::new();
        }
        let mut table = TextTable::new(["left out", "", "error of the others", "of what was left out"]);
        let error = |value: Option<f64>| value.map_or_else(String::new, percents);
        for group in &self.left_out {
            table.row([group.axis.clone(), group.value.clone(), error(group.train_error), error(group.held_out_error)]);
        }
        table.to_string()
    }
}

impl Identified {
    /// Returns the answer in words.
    pub(super) fn words(&self) -> String {
        let left_out = match &self.groups[..] {
            [] => format!("each of {} rows", self.folds),
            groups => format!("each value of {} ({} groups)", groups.join(", "), self.folds),
        };
        let mut text = format!("Errors of what took no part in the fit, {left_out} left out in turn:\n\n");
        text += &self.choice_table().to_string();
        text += "\n";
        for mechanism in &self.mechanisms {
            let (path, value) = &mechanism.setting;
            if mechanism.verdict == Verdict::CannotRun {
                let _ = writeln!(text, "{path} = {value}: cannot run");
                continue;
            }
            let error = mechanism.held_out_error.map_or_else(|| "not reached by the budget".to_owned(), percents);
            let _ = writeln!(text, "{path} = {value}: {} (least error {error})", mechanism.verdict.name());
        }
        text += &self.failure_words();
        text += &self.candidate_words();
        let end = if self.has_converged() { "" } else { "; a budget ended before its fit did" };
        let _ = writeln!(text, "{} evaluations{end}", self.evaluations);
        text
    }

    /// Says which alternatives cannot be run, and why.
    fn failure_words(&self) -> String {
        let failed = self.choices.iter().filter_map(|choice| Some((&choice.settings, choice.failure.as_ref()?)));
        failed.fold(String::new(), |text, (settings, failure)| {
            format!("{text}{} cannot be run: {failure}\n", with(settings))
        })
    }

    /// Says by how much the predictions of the alternatives differ that are not refuted, where they differ most.
    fn candidate_words(&self) -> String {
        let line = |candidate: &DistinguishingRow| {
            let (at, spread) = (place_of(&candidate.row), percents(candidate.spread));
            format!("of a measurement at {at}, predictions would differ by {spread}\n")
        };
        let mut text: String = self.candidates.iter().take(SHOWN).map(line).collect();
        if self.candidates.len() > SHOWN {
            text += &more_candidates(self.candidates.len());
        }
        text
    }

    fn choice_table(&self) -> TextTable {
        let fields = self.choices.first().map_or(&[][..], |alternative| &alternative.settings);
        let errors = ["left out", "fitted", "worse by", "95 % from", "to", "times", "95 % from", "to", "constants", ""];
        let mut table = TextTable::new(fields.iter().map(|(path, _)| path.as_str()).chain(errors));
        let shown = |error: Option<f64>| error.map_or_else(|| "–".to_owned(), percents);
        for alternative in &self.choices {
            let interval = alternative.interval95();
            let times = |place: usize| alternative.ratio().map_or_else(|| "–".to_owned(), |ratio| digits(ratio[place]));
            let errors = [
                shown(alternative.held_out_error),
                shown(alternative.train_error),
                shown(alternative.difference.map(|(mean, _)| mean)),
                shown(interval.map(|(low, _)| low)),
                shown(interval.map(|(_, high)| high)),
                times(0),
                times(1),
                times(2),
                alternative.constants.to_string(),
                format!("{}{}", alternative.verdict.name(), alternative.end()),
            ];
            table.row(alternative.settings.iter().map(|(_, value)| value.clone()).chain(errors));
        }
        table
    }
}

impl JudgedAlternative {
    /// Says that the budget ended before the fit, if it did.
    fn end(&self) -> &'static str {
        let is_cut_off = !self.has_converged && self.failure.is_none();
        if is_cut_off { " (its budget ended before its fit)" } else { "" }
    }
}

impl TriedChoice {
    /// Returns the settings in words.
    pub(super) fn words(&self) -> String {
        self.settings.iter().map(|(path, value)| format!("{path} = {value}")).collect::<Vec<_>>().join(", ")
    }
}

/// Describes a row by the values of its columns.
fn place_of(row: &MeasuredRow) -> String {
    row.columns().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Says that the text does not have all candidates.
fn more_candidates(all: usize) -> String {
    format!("(the best {SHOWN} of {all} candidates; --format jsonl has all)\n")
}

/// Formats a mean absolute error as a percentage.
fn percents(error: f64) -> String {
    format!("{:.2} %", 100.0 * error)
}
