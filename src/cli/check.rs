//! `parsim check`: all faults of files, without a run.

use super::Failure;
use super::notice::note;
use super::row_command_line::RowCommands;
use clap::Args;
use parsim_study::experiment::{Setting, inspect, read_setting};
use parsim_study::report::counted;
use std::io::{Write, stdout};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Files of scenarios, machines, processors, kernels, validations and calibrations.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Changes a value of every file; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set: Vec<Setting>,
    /// Follows the messages of every program to its end, however long it is, and not only at its beginning.
    #[arg(long)]
    whole: bool,
}

pub fn execute(arguments: &CheckArguments) -> Result<(), Failure> {
    let mut failures = 0;
    for file in &arguments.files {
        let _span = tracing::info_span!("check", file = %file.display()).entered();
        match inspect(file, &arguments.set, &RowCommands, arguments.whole) {
            Ok(inspected) => {
                inspected.remarks.into_iter().for_each(|remark| note(Some(remark)));
                writeln!(stdout(), "{}: {}", file.display(), inspected.verdict)?;
            }
            Err(error) => {
                Failure::from(error).report();
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

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_study::experiment::StudyError;
    use std::path::Path;

    fn verdict(file: &Path, settings: &[Setting]) -> Result<String, StudyError> {
        inspect(file, settings, &RowCommands, false).map(|inspected| inspected.verdict)
    }

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
        assert_eq!(folders.len(), 13);
        for folder in folders {
            let file = folder.join("case.ron");
            let verdict = verdict(&file, &[]).unwrap_or_else(|failure| panic!("{}: {failure:?}", file.display()));
            assert!(verdict.starts_with("a validation, ") && !verdict.ends_with(" 0 cells"), "{verdict}");
            let with_long = [
                "time-warp-ising",
                "cs-rr-281",
                "wormhole-mesh",
                "booksim2",
                "measured-collectives",
                "fugaku-all-lengths",
            ];
            let has_long = with_long.iter().any(|name| folder.ends_with(name));
            assert_eq!(verdict.contains(" long,"), has_long, "{verdict}");
        }
    }

    #[test]
    fn faults_of_the_tables_of_a_case_stand_in_the_case() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (ring, folder) = (root.join("scenarios/ring-shift.ron"), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("data.csv"), "p,measured_s\n4,1\n").unwrap();
        let validation = "Validation(title: \"t\", calibrated_on: [], totals: [], tables: [(name: \"t\",\n";
        let calibration = "Calibration(parameters: [(path: \"machine.network.links.per_byte\", from: \"0.1 us/B\", to: \"9 us/B\")], tables: [(name: \"t\",\n";
        let table = "scenario: \"RING\",\ndata: \"data.csv\",\nsimulated: \"makespan_s\", reference: \"measured_s\",\n";
        let table = table.replace("RING", ring.to_str().unwrap());
        for (begin, end, reference) in [(validation, "no_baseline: \"a test\")])", 3), (calibration, ")])", 4)] {
            for (from, to, line) in
                [("ring-shift", "missing", 2), ("data.csv", "missing.csv", 3), ("measured_s", "x_s", reference)]
            {
                let file = folder.path().join("case.ron");
                std::fs::write(&file, format!("{begin}{}{end}", table.replace(from, to))).unwrap();
                let faults = match verdict(&file, &[]) {
                    Err(StudyError::Faults(faults)) => faults,
                    other => panic!("{other:?}"),
                };
                let entry = faults.entries().remove(0);
                assert_eq!((entry.file.as_deref(), entry.line), (file.to_str(), Some(line)), "{entry:?}");
            }
        }
    }

    /// A program of 100 rounds that deadlocks at its end, and one of 100,000.
    #[test]
    fn only_the_beginning_of_a_long_program_is_followed_unless_asked() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let machine = root.join("scenarios/machines/small-cluster.ron");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("late.ron");
        let check = |rounds: u32, is_whole| {
            let steps = format!(
                "Repeat(times: \"{rounds}\", index: \"i\", steps: [Send(to: \"1 - rank\", bytes: \"1 B\"), \
                 Receive(from: \"1 - rank\")]), Receive(from: \"1 - rank\")"
            );
            let program = format!("Phases(parameters: {{}}, steps: [{steps}])");
            let text = format!(
                "Scenario(machine: File({machine:?}), ranks: 2, placement: RowMajor, program: {program}, seed: 1)"
            );
            std::fs::write(&file, text).unwrap();
            inspect(&file, &[], &RowCommands, is_whole).map(|inspected| inspected.remarks)
        };
        assert!(matches!(check(100, false), Err(StudyError::Faults(_))));
        let remarks = check(100_000, false).unwrap();
        assert!(remarks.iter().any(|remark| remark.contains("only through the first 12500 requests")), "{remarks:?}");
        assert!(matches!(check(100_000, true), Err(StudyError::Faults(_))));
    }

    #[test]
    fn rows_that_do_not_calibrate_matter_only_to_calibrate() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/measured-collectives");
        let inspected = inspect(&root.join("mechanism-shape.ron"), &[], &RowCommands, false).unwrap();
        assert!(inspected.verdict.starts_with("a calibration, "), "{}", inspected.verdict);
        assert!(inspected.remarks[0].starts_with("note: `identify` can run this case"), "{:?}", inspected.remarks);
    }

    #[test]
    fn a_faulty_kernel_is_refused_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/kernels");
        let text = std::fs::read_to_string(kernels.join("inv.ron")).unwrap().replace("fpdiv", "fpdvi");
        let file = folder.path().join("inv.ron");
        std::fs::write(&file, &text).unwrap();
        let Err(StudyError::Faults(faults)) = verdict(&file, &[]) else { panic!("it is not refused") };
        let entry = &faults.entries()[0];
        assert!(entry.message.contains("did you mean `fpdiv`?"), "{}", entry.message);
        assert_eq!(text.lines().nth(entry.line.unwrap() - 1).unwrap().trim(), "\"fpdvi\",");
    }
}
