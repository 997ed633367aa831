//! The answers of `parsim sensitivity`, as records and in words.

use super::{
    ConstantGroup, ContinuousEffect, Effect, ParameterSensitivity, PathShare, Sensitivities, VariedRun, WhatIf,
    WholeVariation,
};
use crate::analysis::Elasticity;
use crate::answer::{QuantityValue, Record};
use crate::experiment::gradient::{Method, NoPath};
use crate::report::{TextTable, wrapped};
use crate::scenario::Repeat;
use std::fmt::Write as _;

/// The difference between both sides from which on a tie is shown.
const VISIBLE: f64 = 5e-4;

/// The note on derivatives that are valid only close to the value, or that share a method with such ones.
const LOCAL: &str = "a joint change of all such constants by a percent or two gives another derivative";

/// The note on secants that take the place of derivatives.
const JUMP: &str = "the makespan jumps close to the value: a secant over one per cent";

/// The note on derivatives of a makespan that is a staircase.
const STAIRCASE: &str = "routers act at the ticks of their clock, so that the makespan is a staircase: a secant";

/// The keys of all records, in order.
const KEYS: [&str; 21] = [
    "group",
    "value",
    "elasticity",
    "elasticity_left",
    "elasticity_right",
    "smaller",
    "change_smaller",
    "larger",
    "change_larger",
    "faster",
    "note",
    "tie",
    "method",
    "derivative_s",
    "unit",
    "linear_down",
    "linear_up",
    "tolerance_1",
    "tolerance_2",
    "tolerance_5",
    "rounding",
];
const TOLERANCES: [&str; 3] = ["tolerance_1", "tolerance_2", "tolerance_5"];

fn record(kind: &str, name: &str) -> Record {
    let mut record = Record::default();
    record.put("record", kind);
    record.put("name", name);
    for key in KEYS {
        record.put(key, QuantityValue::Missing);
    }
    record
}

pub fn records(answers: &Sensitivities) -> Vec<Record> {
    let findings = answers.findings.iter().map(of_finding);
    findings
        .chain(answers.shares.iter().map(of_share))
        .chain(answers.groups.iter().map(of_group))
        .chain(answers.what_ifs.iter().map(of_what_if))
        .collect()
}

/// Returns what limits the validity of the derivatives, if something does.
fn note(effect: &ContinuousEffect) -> Option<&'static str> {
    let notes = [(effect.is_staircase, STAIRCASE), (effect.slopes.is_jump, JUMP), (effect.slopes.is_local, LOCAL)];
    notes.into_iter().find(|(applies, _)| *applies).map(|(_, note)| note)
}

fn of_finding(finding: &ParameterSensitivity) -> Record {
    let parameter = finding.parameter;
    let mut record = record(if parameter.is_whole() { "whole_number" } else { "parameter" }, &parameter.name);
    record.put("group", finding.group);
    record.put("value", parameter.text.as_str());
    match &finding.effect {
        Ok(Effect::Continuous(effect)) => {
            record.put("note", note(effect));
            put_elasticity(&mut record, effect.elasticity);
            put_derivative(&mut record, effect);
            record.put("unit", parameter.si_unit());
        }
        Ok(Effect::Steps { smaller, larger }) => {
            record.put("smaller", smaller.as_ref().map(|smaller| smaller.value.as_str()));
            record.put("change_smaller", smaller.as_ref().and_then(|smaller| smaller.change.as_ref().ok().copied()));
            record.put("larger", larger.value.as_str());
            record.put("change_larger", larger.change.as_ref().ok().copied());
            record.put("note", reasons(smaller.iter().chain([larger])));
        }
        Err(why) => record.put("note", why.as_str()),
    }
    record
}

fn of_share(share: &PathShare) -> Record {
    let mut record = record(share.kind, &share.name);
    put_elasticity(&mut record, Elasticity { left: share.share, right: share.share });
    record.put("method", Method::Path.name());
    record
}

fn put_derivative(record: &mut Record, effect: &ContinuousEffect) {
    let ContinuousEffect { slopes, reach, .. } = effect;
    let is_tie = slopes.is_tie();
    record.put("tie", is_tie);
    record.put("method", slopes.method.name());
    let is_one = !is_tie && effect.elasticity.of_both_sides().is_some();
    record.put("derivative_s", is_one.then(|| slopes.mean()));
    record.put("linear_down", reach.down);
    record.put("linear_up", reach.up);
    for (key, tolerance) in TOLERANCES.into_iter().zip(reach.tolerances) {
        record.put(key, tolerance);
    }
    record.put("rounding", slopes.rounding);
}

fn of_group(group: &ConstantGroup) -> Record {
    let mut record = record("group", group.name);
    record.put("method", group.method.name());
    match &group.effect {
        Ok(elasticity) => put_elasticity(&mut record, *elasticity),
        Err(why) => record.put("note", why.as_str()),
    }
    record
}

fn of_what_if(answer: &WhatIf) -> Record {
    let mut record = record("what_if", &format!("{} twice as fast", answer.part));
    record.put("faster", answer.faster.as_ref().ok().copied());
    record.put("note", answer.faster.as_ref().err().cloned());
    record
}

fn put_elasticity(record: &mut Record, elasticity: Elasticity) {
    record.put("elasticity", elasticity.of_both_sides());
    record.put("elasticity_left", elasticity.left);
    record.put("elasticity_right", elasticity.right);
}

/// Returns the reasons for missing makespans, if any are missing.
fn reasons<'v>(variations: impl Iterator<Item = &'v WholeVariation>) -> Option<String> {
    let reason = |step: &WholeVariation| step.change.as_ref().err().map(|why| format!("{}: {why}", step.value));
    let reasons: Vec<_> = variations.filter_map(reason).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

pub fn text(run: &VariedRun, answers: &Sensitivities) -> String {
    let (title, makespan_s) = (&run.title, run.base.makespan_s());
    let seeds =
        if run.seeds == Repeat::default() { String::new() } else { format!(", the mean of {} seeds", run.seeds) };
    let mut text = format!("{title}: {makespan_s} s{seeds}\n\n{}\n", constants(answers));
    let mut write = |line: String| writeln!(text, "{line}").expect("a text can be written to");
    write(wrapped(&methods(answers)) + "\n");
    for words in explained_differences(answers) {
        write(wrapped(words) + "\n");
    }
    for (kind, words) in [("phase", "Phases"), ("rank", "Ranks"), ("link", "Links")] {
        if let Some(line) = on_path(answers, kind, words) {
            write(wrapped(&line));
        }
    }
    if !run.is_limited() {
        write(format!(
            "All times and rates of a group together, in % per %:\n\n{}",
            groups(answers, run.base.scenario().program.has_own_times())
        ));
    }
    for WhatIf { part, faster } in &answers.what_ifs {
        match faster {
            Ok(faster) => write(format!("{part} twice as fast: {}", in_words(*faster))),
            Err(why) => write(format!("{part} twice as fast: {why}")),
        }
    }
    if let Some(table) = whole_numbers(answers) {
        write(format!("\nWhole numbers have no elasticity; the makespan with the next ones:\n\n{table}"));
    }
    let without = answers.findings.iter().filter(|one| one.elasticity().is_some() && !one.has_effect());
    let without: Vec<_> = without.map(|one| one.parameter.name.as_str()).collect();
    if !without.is_empty() {
        write(wrapped(&format!("Without effect: {}", without.join(", "))));
    }
    for line in not_varied(answers) {
        write(wrapped(&line));
    }
    text
}

/// Returns a line for each reason why constants are not varied.
fn not_varied(answers: &Sensitivities) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for finding in &answers.findings {
        let Err(why) = &finding.effect else { continue };
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(&finding.parameter.name),
            None => reasons.push((why, vec![&finding.parameter.name])),
        }
    }
    reasons.into_iter().map(|(why, names)| format!("Not varied ({why}): {}", names.join(", "))).collect()
}

const TIE: &str = "Where below and above differ, two paths of the run tie, or nearly so: a small change decides which of \
                   them is the longest, and the makespan bends or jumps. Neither number holds on the other side; a larger --step shows how far \
                   each one holds.";

const JUMPS: &str =
    "At a jump, the makespan changes at once close to the value: the numbers are secants over one per cent there.";

const TICKS: &str = "Routers act at the ticks of their clock, so that the makespan is a staircase. Its steps are not small \
                     beside the changes of the constants: the effects are those of secants, up to 10 % wide on either \
                     side, and known to less than two digits. Longer runs, or a larger --step, show more.";

const ROUNDING: &str = "Where below and above differ by `rounding`, the rounding of times to picoseconds or ticks explains the \
                        difference, and the effect lies between or near them. A larger --step leaves less of it.";

/// A difference between both sides that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// Two paths tie, or nearly so.
    Tie,
    /// No more than rounding explains.
    Rounding,
    /// The makespan jumps close to the value.
    Jump,
}

/// Returns the kind of the difference between both sides, if it is visible.
fn difference(effect: &ContinuousEffect) -> Option<Difference> {
    match (effect.slopes.is_jump, is_visible(effect.elasticity)) {
        (true, _) => Some(Difference::Jump),
        (false, true) if effect.slopes.is_tie() => Some(Difference::Tie),
        (false, true) => Some(Difference::Rounding),
        (false, false) => None,
    }
}

/// Returns the explanations of the differences that are shown.
fn explained_differences(answers: &Sensitivities) -> Vec<&'static str> {
    let shown: Vec<_> = answers.findings.iter().filter_map(|one| difference(one.continuous()?)).collect();
    let has_tie = shown.contains(&Difference::Tie) || answers.groups.iter().any(is_group_tie);
    let [has_rounding, has_jump] = [Difference::Rounding, Difference::Jump].map(|kind| shown.contains(&kind));
    let has_ticks = answers.findings.iter().any(|one| one.continuous().is_some_and(|effect| effect.is_staircase));
    [(has_tie, TIE), (has_jump, JUMPS), (has_rounding, ROUNDING), (has_ticks, TICKS)]
        .into_iter()
        .filter(|(is_shown, _)| *is_shown)
        .map(|one| one.1)
        .collect()
}

fn is_visible(elasticity: Elasticity) -> bool {
    (elasticity.left - elasticity.right).abs() > VISIBLE.max(0.01 * elasticity.size())
}

fn is_group_tie(group: &ConstantGroup) -> bool {
    group.effect.as_ref().is_ok_and(|elasticity| is_visible(*elasticity))
}

/// Describes the methods by which the derivatives were found.
fn methods(answers: &Sensitivities) -> String {
    let constants = || answers.findings.iter().filter_map(ParameterSensitivity::continuous);
    let by = |method| constants().filter(|effect| effect.slopes.method == method).count();
    match (by(Method::Path), by(Method::Rerun)) {
        (0, _) => format!("All by runs with other values{}", why_by_runs(answers.no_path)),
        (path, 0) => format!("All {path} by the longest path of one run, verified by further runs."),
        (path, rerun) => format!(
            "{path} constants by the longest path of one run, verified by further runs; {rerun} by runs with other values."
        ),
    }
}

/// Returns the reason why all derivatives are found by runs, after a colon or a comma.
fn why_by_runs(no_path: Option<NoPath>) -> String {
    match no_path {
        Some(NoPath::NotRequested) => ", as --exact requests.".to_owned(),
        Some(why) => format!(": {why}."),
        None => ": none of these constants is on the longest path of the run.".to_owned(),
    }
}

/// Lists the largest shares of the critical path.
fn on_path(answers: &Sensitivities, kind: &str, words: &str) -> Option<String> {
    const SHOWN: usize = 6;
    let shares: Vec<_> = answers.shares.iter().filter(|share| share.kind == kind).collect();
    let named = |share: &&PathShare| format!("{} {:.4}", share.name, share.share);
    let first: Vec<_> = shares.iter().take(SHOWN).map(named).collect();
    let more = shares.len().saturating_sub(SHOWN);
    let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
    (!first.is_empty()).then(|| format!("{words} on the path, in % per %: {}{rest}", first.join(", ")))
}

fn constants(answers: &Sensitivities) -> TextTable {
    let mut table = TextTable::new(["parameter", "value", "group", "% per % below", "above", "", "by", "+1 % at"]);
    for finding in answers.findings.iter().filter(|finding| finding.has_effect()) {
        let Some(effect) = finding.continuous() else { continue };
        let parameter = finding.parameter;
        let [left, right, _] = sides(effect.elasticity);
        let tie = match difference(effect) {
            None => "",
            Some(Difference::Tie) => "tie",
            Some(Difference::Rounding) => "rounding",
            Some(Difference::Jump) => "jump",
        };
        let method = effect.slopes.method.name().to_owned();
        let tolerance = effect.reach.tolerances[0].map_or_else(String::new, |by| format!("{:+.3} %", 100.0 * by));
        let group = finding.group.to_owned();
        table.row([
            parameter.name.clone(),
            parameter.text.clone(),
            group,
            left,
            right,
            tie.to_owned(),
            method,
            tolerance,
        ]);
    }
    table
}

fn sides(elasticity: Elasticity) -> [String; 3] {
    let tie = if is_visible(elasticity) { "tie" } else { "" };
    [format!("{:+.4}", elasticity.left), format!("{:+.4}", elasticity.right), tie.to_owned()]
}

fn groups(answers: &Sensitivities, has_own_times: bool) -> TextTable {
    let mut table = TextTable::new(["group", "below", "above", ""]);
    let mut sum = Elasticity { left: 0.0, right: 0.0 };
    for group in &answers.groups {
        match &group.effect {
            Ok(elasticity) => {
                sum = Elasticity { left: sum.left + elasticity.left, right: sum.right + elasticity.right };
                table.row([group.name.to_owned()].into_iter().chain(sides(*elasticity)));
            }
            Err(why) => table.row([group.name, "", "", why]),
        }
    }
    let [left, right, _] = sides(sum);
    let rest = if has_own_times { " and times that the program gives itself" } else { "" };
    table.row([format!("sum, 1 without ties{rest}"), left, right, String::new()]);
    table
}

fn in_words(faster: f64) -> String {
    let slower = if faster < 0.995 { ": slower, by a tie or by contention" } else { "" };
    format!("{faster:.2} × as fast{slower}")
}

fn whole_numbers(answers: &Sensitivities) -> Option<TextTable> {
    let mut table = None;
    for finding in &answers.findings {
        let Ok(Effect::Steps { smaller, larger }) = &finding.effect else { continue };
        let shown = |step: &WholeVariation| {
            step.change.as_ref().map_or_else(|_| "–".to_owned(), |change| format!("{:+.2} %", 100.0 * change))
        };
        let row = [
            finding.parameter.name.clone(),
            finding.parameter.text.clone(),
            smaller.as_ref().map_or("–".to_owned(), |smaller| smaller.value.clone()),
            smaller.as_ref().map_or("–".to_owned(), shown),
            larger.value.clone(),
            shown(larger),
        ];
        let columns = ["whole number", "value", "smaller", "makespan", "larger", "makespan"];
        table.get_or_insert_with(|| TextTable::new(columns)).row(row);
    }
    table
}
