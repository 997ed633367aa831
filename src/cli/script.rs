//! `parsim script`: a script that runs a sweep in blocks of minutes with an engine, and may be submitted again.

use super::calibration::{CalibrationArguments, calibrated};
use super::choice::one_of;
use super::notice::note;
use super::numbers::from;
use super::output::Destination;
use super::{CaseArguments, Failure, ValueArguments};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::experiment::calibration::{CalibratedScenario, CalibrationRequest, VariedCases};
use parsim_study::experiment::script::{BlockCount, BlockedSweep, Engine};
use parsim_study::experiment::{Recall, ScenarioFile, StudyError, Workload};
use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::OnceLock;

#[derive(Debug, Args)]
pub struct ScriptArguments {
    /// The scenario, a RON file.
    scenario: PathBuf,
    /// The engine that runs the script.
    #[arg(long, value_parser = engines())]
    engine: Engine,
    /// The folder of the results, which all nodes must share.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The approximate time of a block of cases in minutes, as `plan` estimates it.
    #[arg(long, default_value = "30", value_parser = from(NonZero::<u32>::MIN))]
    minutes: NonZero<u32>,
    /// The number of blocks, instead of one derived from the time; at most 1000, and at most the number of cases.
    #[arg(long, value_name = "N", conflicts_with = "minutes", value_parser = from(NonZero::<u32>::MIN))]
    blocks: Option<NonZero<u32>>,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    cases: CaseArguments,
    #[command(flatten)]
    calibration: CalibrationArguments,
    /// Makes blocks run failed cases again.
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    destination: Destination,
}

fn engines() -> impl TypedValueParser<Value = Engine> {
    one_of([
        ("slurm", "Slurm: `sbatch SCRIPT`", Engine::Slurm),
        ("hq", "HyperQueue: `sh SCRIPT`", Engine::Hq),
        ("pbs", "PBS: `qsub SCRIPT`", Engine::Pbs),
        ("parallel", "GNU parallel or, without it, xargs: `sh SCRIPT`", Engine::Parallel),
    ])
}

pub fn execute(arguments: &ScriptArguments) -> Result<(), Failure> {
    let file = arguments.values.file(&arguments.scenario, &arguments.cases.over);
    let calibration = arguments.calibration.request();
    file.check_lasting(calibration.as_ref())?;
    let plan = file.plan()?;
    drop(plan.unfold()?);
    let files = arguments.calibration.files();
    let _folders = arguments.destination.claims().inputs(plan.files()).inputs(files).check()?;
    let predictor = arguments.calibration.predictor([&plan], arguments.cases.jobs, Recall::NONE)?;
    let calibrated = calibrated(predictor.as_ref(), file.clone())?;
    let plan = calibrated.as_ref().map_or(&plan, CalibratedScenario::plan);
    let varied = calibrated.as_ref().map(CalibratedScenario::unfold).transpose()?;
    let load = Workload::of(&plan.unfold()?)?.times(varied.as_ref().map_or(1, VariedCases::runs));
    let folder = std::env::current_dir().map_err(|error| unknown("the current folder", &error))?;
    let program = program().map_err(|error| unknown("the path of parsim", &error))?;
    let sweep = arguments.sweep(&file, calibration.as_ref());
    arguments.destination.write(sweep.script(load, arguments.engine, &folder, &program)?)?;
    calibrated.iter().flat_map(CalibratedScenario::notes).for_each(|text| note(Some(text)));
    note(predictor.filter(|known| !known.is_kept()).map(|_| EACH_CALIBRATES));
    Ok(())
}

/// The note on a case that each block of a script fits.
const EACH_CALIBRATES: &str =
    "note: every block calibrates first: keep the fit by `parsim calibrate CASE --fit-out FIT.ron`, and give FIT.ron";

/// The path by which scripts call parsim if parsim is part of another program, for example an interpreter.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Makes scripts call parsim by this path instead of that of the process.
pub fn call_by(path: PathBuf) {
    PROGRAM.get_or_init(|| path);
}

fn program() -> io::Result<PathBuf> {
    PROGRAM.get().map_or_else(std::env::current_exe, |path| Ok(path.clone()))
}

impl ScriptArguments {
    /// Returns the sweep of a scenario; a block has one thread unless `--jobs` is given.
    fn sweep<'s>(&'s self, file: &'s ScenarioFile, calibration: Option<&'s CalibrationRequest>) -> BlockedSweep<'s> {
        let count = self.blocks.map_or(BlockCount::Minutes(self.minutes), BlockCount::Number);
        let threads = self.cases.jobs.unwrap_or(NonZero::<usize>::MIN);
        BlockedSweep { file, calibration, store: &self.store, retry_failed: self.retry_failed, count, threads }
    }
}

fn unknown(what: &str, error: &io::Error) -> Failure {
    StudyError::failed(format_args!("{what}: {error}")).into()
}
