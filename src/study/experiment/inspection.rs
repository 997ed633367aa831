//! Inspection of input files of any kind without a run.

use super::calibration::{CalibrationCase, Predictor};
use super::validation::{self, Commands};
use super::{References, Remarks, Setting, StudyError, set_all};
use crate::report::counted;
use crate::scenario::source::Document;
use crate::scenario::{Description, Inspection, Plan};
use parsim_sim::node::Module;
use parsim_sim::simulation::Estimate;
use std::path::Path;

/// The summary of a file without faults.
#[derive(Clone, Debug)]
pub struct InspectedFile {
    /// The contents of the file, in words.
    pub verdict: String,
    /// Remarks on the cases of the file, each in a sentence.
    pub remarks: Vec<String>,
}

impl From<String> for InspectedFile {
    fn from(verdict: String) -> Self {
        Self { verdict, remarks: Vec::new() }
    }
}

/// Checks a file for all its faults, with `settings` in place of its own base values. Tables of validations may query
/// `commands`. With `is_whole`, the programs of scenarios are rehearsed to their ends, not only at their beginnings.
///
/// # Errors
/// Returns an error for the faults, or if a filter leaves no case.
pub fn inspect(
    file: &Path,
    settings: &[Setting],
    commands: &dyn Commands,
    is_whole: bool,
) -> Result<InspectedFile, StudyError> {
    let mut document = Document::load(file)?;
    set_all(&mut document, settings)?;
    if document.root().name() == Some("Validation") {
        let folder = file.parent().unwrap_or(Path::new(""));
        return Ok(validation::inspect(&document, folder, commands)?.into());
    }
    if document.root().name() == Some("Calibration") {
        let (verdict, remarks) = CalibrationCase::of(&document)?.inspect(&document, file)?;
        return Ok(InspectedFile { remarks, ..verdict.into() });
    }
    if Predictor::is_in(&document) {
        let fit = Predictor::of(&document, file)?;
        return Ok(InspectedFile { remarks: fit.remarks().collect(), ..fit.verdict().into() });
    }
    Ok(match Description::read(document)? {
        Description::Scenario(plan) => {
            plan.base()?;
            References::load(plan.scenario(), file)?;
            return along_the_axes(&plan, is_whole);
        }
        Description::Machine(machine) => {
            format!("the machine {}, {}", machine.name, counted(machine.network.topology.nodes(), "node"))
        }
        Description::Processor(t800) => {
            format!("a processor of {}, {} cycles for a word of external memory", t800.clock, t800.external_cycles)
        }
        Description::Kernel(kernel) => format!("the kernel {}, {} lines", kernel.name, kernel.listing.len()),
        Description::Modules(modules) => {
            let names = Module::ALL.map(|module| modules.of(module).name.as_str());
            format!("the kernels {}", names.join(", "))
        }
    }
    .into())
}

/// Returns the number of cases, how many of them were checked, and a rough estimate of the total cost.
fn along_the_axes(plan: &Plan, is_whole: bool) -> Result<InspectedFile, StudyError> {
    let (mut estimates, mut remarks) = (Vec::new(), Remarks::default());
    let (mut abandoned, mut faults) = (None, Ok(()));
    let inspection = plan.unfold()?.inspect(|case| {
        estimates.push(case.scenario.estimate());
        remarks.see(&case.scenario);
        let requests = case.scenario.checked_requests();
        match requests {
            Some(_) if is_whole && faults.is_ok() => {
                faults = case.scenario.rehearsed_to_the_end(plan.document()).map(|whole| remarks.see(&whole));
            }
            _ => abandoned = abandoned.max(requests),
        }
    })?;
    faults?;
    if inspection.is_complete && inspection.checked == 0 {
        return Err(StudyError::no_case());
    }
    let verdict = words(&inspection, estimates.into_iter().sum());
    let remarks = remarks.all().into_iter().chain(abandoned.map(on_beginning)).collect();
    Ok(InspectedFile { verdict, remarks })
}

/// Returns the remark on programs of which only this number of requests was rehearsed.
fn on_beginning(requests: u64) -> String {
    let followed = match requests {
        0 => "were not followed".to_owned(),
        _ => format!("were followed only through the first {}", counted(requests, "request")),
    };
    format!(
        "note: the messages of the program {followed}, and ranks may wait for each other later: `parsim check --whole` \
         follows it to its end, as a run does"
    )
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
fn words(inspection: &Inspection, estimate: Estimate) -> String {
    let Inspection { cases, points, checked, is_complete } = *inspection;
    if is_complete {
        return format!("{}, {estimate}", counted(checked, "case"));
    }
    if checked == 0 {
        return format!(
            "up to {}; the filter excludes all that were checked, so there is no estimate",
            counted(points, "case")
        );
    }
    let estimate = estimate.times(cases.unwrap_or(points) as f64 / checked.max(1) as f64);
    let count = cases.map_or_else(|| format!("up to {points} cases"), |cases| format!("{cases} cases"));
    format!("{count}, of which {checked} were checked, {estimate}")
}
