//! `parsim script`: a script that has an engine run a sweep in blocks of minutes, and may be submitted again.

mod text;

use super::output::Destination;
use super::overrides::setting;
use super::{CaseArguments, Failure};
use clap::{Args, ValueEnum};
use parsim_study::experiment::{ScenarioFile, Setting, StudyError, Workload};
use parsim_study::scenario::source::is_standard_input;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use text::{Blocks, quoted};

/// The most elements of an array that Slurm takes unless it is told otherwise (`MaxArraySize` is 1001).
const MOST_BLOCKS: u64 = 1000;

#[derive(Debug, Args)]
pub struct ScriptArguments {
    /// The scenario, a RON file.
    scenario: PathBuf,
    /// The program that runs the script.
    #[arg(long, value_enum)]
    engine: Engine,
    /// The folder of the results, which all nodes must see.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The time that a block of cases should take, roughly, as `plan` estimates it.
    #[arg(long, default_value = "30")]
    minutes: NonZero<u32>,
    /// The number of blocks, instead of as many as the time asks for; 1000 at most, and no more than there are cases.
    #[arg(long, value_name = "N", conflicts_with = "minutes")]
    blocks: Option<NonZero<u32>>,
    /// Changes a base value, in the machine file too; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// Replaces the seed, or the values of an axis over it.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    cases: CaseArguments,
    /// Has blocks run again what failed before.
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    destination: Destination,
}

/// A program that runs the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Slurm: `sbatch SCRIPT`.
    Slurm,
    /// `HyperQueue`: `sh SCRIPT`.
    Hq,
    /// PBS: `qsub SCRIPT`.
    Pbs,
    /// GNU parallel or, without it, xargs: `sh SCRIPT`.
    Parallel,
}

pub fn execute(arguments: &ScriptArguments) -> Result<(), Failure> {
    if is_standard_input(&arguments.scenario) {
        let message = "`-`: each block of a script reads the scenario again: give the name of its file";
        return Err(Failure::Usage(message.to_owned()));
    }
    let plan = arguments.file().plan()?;
    arguments.destination.claims().inputs(plan.files()).check()?;
    let load = Workload::of(&plan.unfold()?)?;
    arguments.destination.write(arguments.blocks(load)?.script(arguments.engine))
}

/// The path by which parsim is called, where it is part of another program, such as an interpreter.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Makes scripts call parsim by this path instead of that of the process.
pub fn call_by(path: PathBuf) {
    PROGRAM.get_or_init(|| path);
}

fn program() -> io::Result<PathBuf> {
    PROGRAM.get().map_or_else(std::env::current_exe, |path| Ok(path.clone()))
}

impl ScriptArguments {
    fn file(&self) -> ScenarioFile {
        let (path, set, over) = (self.scenario.clone(), self.set.clone(), self.cases.over.clone());
        ScenarioFile { path, set, seed: self.seed, over }
    }

    fn blocks(&self, load: Workload) -> Result<Blocks, Failure> {
        let folder = std::env::current_dir().map_err(|error| unknown("the folder at hand", &error))?;
        let program = program().map_err(|error| unknown("the path of parsim", &error))?;
        let threads = self.jobs().get() as u64;
        let by_time = || load.blocks(60 * u64::from(self.minutes.get()) * threads);
        let number = self.blocks.map_or_else(by_time, |blocks| load.cases.min(blocks.get().into()));
        Ok(Blocks {
            load,
            number: number.min(MOST_BLOCKS),
            threads,
            folder: path(&folder)?,
            program: path(&program)?,
            cases: self.words()?.join(" "),
            options: if self.retry_failed { " --retry-failed" } else { "" },
        })
    }

    /// The threads of a block: one unless `--jobs` says otherwise.
    fn jobs(&self) -> NonZero<usize> {
        self.cases.jobs.unwrap_or(NonZero::<usize>::MIN)
    }

    /// The words that say which cases are meant, for a shell.
    fn words(&self) -> Result<Vec<String>, Failure> {
        let mut words = vec![path(&self.scenario)?];
        words.extend(self.set.iter().map(|(path, value)| format!("--set {}", quoted(&format!("{path}={value}")))));
        words.extend(self.seed.map(|seed| format!("--seed {seed}")));
        let over = self.cases.over.iter();
        words
            .extend(over.map(|over| format!("--over {}", quoted(&format!("{}={}", over.name, over.values.join(","))))));
        words.push(format!("--store {}", path(&self.store)?));
        Ok(words)
    }
}

fn unknown(what: &str, error: &std::io::Error) -> Failure {
    StudyError::Failed(format!("{what}: {error}")).into()
}

/// A path as a word of a shell. One that begins with `-` is not taken for an option.
fn path(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().ok_or_else(|| Failure::Usage(format!("{}: give a path that is text", path.display())))?;
    Ok(quoted(&if text.starts_with('-') { format!("./{text}") } else { text.to_owned() }))
}
