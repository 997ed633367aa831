//! `parsim check`: every fault of a file, without a run.

use super::Failure;
use super::notice;
use super::notice::note;
use super::overrides::setting;
use super::question::Questions;
use clap::Args;
use parsim_sim::node::Module;
use parsim_sim::simulation::Estimate;
use parsim_study::experiment::calibration::CalibrationCase;
use parsim_study::experiment::{References, Remarks, Setting, StudyError, set_all, validation};
use parsim_study::report::counted;
use parsim_study::scenario::source::Document;
use parsim_study::scenario::{ChangedValues, Description, Inspection, Plan};
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Files of scenarios, machines, processors, kernels and validations.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Changes a value of every file; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = setting)]
    set: Vec<Setting>,
}

pub fn execute(arguments: &CheckArguments) -> Result<(), Failure> {
    let mut failures = 0;
    for file in &arguments.files {
        let _span = tracing::info_span!("check", file = %file.display()).entered();
        match verdict(file, &arguments.set) {
            Ok(verdict) => writeln!(stdout(), "{}: {verdict}", file.display())?,
            Err(failure) => {
                failure.report();
                failures += 1;
            }
        }
    }
    match failures {
        0 => Ok(()),
        _ => Err(Failure::Usage(format!(
            "{failures} of {} {}",
            counted(arguments.files.len(), "file"),
            if failures == 1 { "has faults" } else { "have faults" }
        ))),
    }
}

fn verdict(file: &Path, settings: &[Setting]) -> Result<String, Failure> {
    let mut document = Document::load(file)?;
    set_all(&mut document, settings)?;
    if document.root().name() == Some("Validation") {
        let folder = file.parent().unwrap_or(Path::new(""));
        return Ok(validation::inspect(&document, folder, &Questions)?);
    }
    if document.root().name() == Some("Calibration") {
        return Ok(CalibrationCase::of(&document)?.inspect(&document, file)?);
    }
    Ok(match Description::read(document)? {
        Description::Scenario(plan) => {
            plan.base()?;
            References::load(plan.scenario(), file)?;
            along_the_axes(&plan)?
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
    })
}

/// The number of cases, how many of them were checked, and roughly what all cost. On stderr stand the expressions whose
/// value has changed.
#[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
fn along_the_axes(plan: &Plan) -> Result<String, Failure> {
    let (mut estimates, mut changed, mut remarks) = (Vec::new(), ChangedValues::default(), Remarks::default());
    let cases = plan.unfold()?;
    changed.see_axes(plan, &cases);
    let inspection = cases.inspect(|case| {
        estimates.push(case.scenario.estimate());
        changed.see(&case.scenario);
        remarks.see(&case.scenario);
    })?;
    if let Some(notes) = changed.notes(plan.document()).filter(|_| !notice::is_quiet()) {
        notice::write(format_args!("{notes}\n"));
    }
    remarks.all().into_iter().for_each(|remark| note(Some(remark)));
    let Inspection { cases, points, checked, is_complete } = inspection;
    let estimate: Estimate = estimates.into_iter().sum();
    if is_complete && checked == 0 {
        return Err(StudyError::no_case().into());
    }
    if is_complete {
        return Ok(format!("{}, {estimate}", counted(checked, "case")));
    }
    if checked == 0 {
        return Ok(format!(
            "up to {}; the filter leaves none of those that were looked at, so that nothing is estimated",
            counted(points, "case")
        ));
    }
    let estimate = estimate.times(cases.unwrap_or(points) as f64 / checked.max(1) as f64);
    let count = cases.map_or_else(|| format!("up to {points} cases"), |cases| format!("{cases} cases"));
    Ok(format!("{count}, of which {checked} were checked, {estimate}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_file_is_good() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        for folder in ["", "machines", "processors", "kernels"] {
            let entries = std::fs::read_dir(root.join(folder)).unwrap();
            let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
            assert!(!files.is_empty(), "{folder}");
            for file in files {
                verdict(&file, &[]).unwrap_or_else(|failure| panic!("{}: {failure:?}", file.display()));
            }
        }
    }

    #[test]
    fn every_folder_of_the_validation_is_a_good_case() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("validation");
        let folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(folders.len(), 12);
        for folder in folders {
            let file = folder.join("case.ron");
            let verdict = verdict(&file, &[]).unwrap_or_else(|failure| panic!("{}: {failure:?}", file.display()));
            assert!(verdict.starts_with("a validation, ") && !verdict.ends_with(" 0 cells"), "{verdict}");
            let with_long = ["time-warp-ising", "cs-rr-281", "wormhole-mesh", "booksim2", "measured-collectives"];
            let has_long = with_long.iter().any(|name| folder.ends_with(name));
            assert_eq!(verdict.contains(" long,"), has_long, "{verdict}");
        }
    }

    #[test]
    fn a_faulty_kernel_is_refused_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/kernels");
        let text = std::fs::read_to_string(kernels.join("inv.ron")).unwrap().replace("fpdiv", "fpdvi");
        let file = folder.path().join("inv.ron");
        std::fs::write(&file, &text).unwrap();
        let Err(Failure::Faults(faults)) = verdict(&file, &[]) else { panic!("it is not refused") };
        let entry = &faults.entries()[0];
        assert!(entry.message.contains("did you mean `fpdiv`?"), "{}", entry.message);
        assert_eq!(text.lines().nth(entry.line.unwrap() - 1).unwrap().trim(), "\"fpdvi\",");
    }
}
