//! Scripts with which a job engine runs a sweep in blocks; they can be submitted again to resume.

use super::shell_words::path_word;
use crate::experiment::calibration::CalibrationRequest;
use crate::experiment::{ScenarioFile, StudyError, Workload};
use crate::report::counted;
use crate::scenario::source::is_standard_input;
use std::num::NonZero;
use std::path::Path;

/// The maximum number of elements of a Slurm array in its default configuration (`MaxArraySize` is 1001).
const MAX_BLOCKS: u64 = 1000;

/// A job engine that runs the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The number of blocks of a sweep, at most 1000 and at most the number of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCount {
    /// A fixed number of blocks.
    Number(NonZero<u32>),
    /// As many blocks as needed for each to take roughly this number of minutes.
    Minutes(NonZero<u32>),
}

/// A sweep in blocks, whose results are kept in a store.
#[derive(Clone, Debug)]
pub struct BlockedSweep<'s> {
    /// The scenario, which each block reads again.
    pub file: &'s ScenarioFile,
    /// The calibration that each block uses, if there is one.
    pub calibration: Option<&'s CalibrationRequest>,
    /// The folder of the store.
    pub store: &'s Path,
    /// `true` if blocks run failed cases again.
    pub retry_failed: bool,
    /// The number of blocks.
    pub count: BlockCount,
    /// The number of threads per block.
    pub threads: NonZero<usize>,
}

impl BlockedSweep<'_> {
    /// Returns the script for `engine`, which calls `program` in `folder`.
    ///
    /// # Errors
    /// Returns an error if a path is not valid UTF-8.
    pub fn script(&self, load: Workload, engine: Engine, folder: &Path, program: &Path) -> Result<String, StudyError> {
        let threads = self.threads.get() as u64;
        let number = match self.count {
            BlockCount::Number(number) => load.cases.min(number.get().into()),
            BlockCount::Minutes(minutes) => load.blocks(60 * u64::from(minutes.get()) * threads),
        };
        let blocks = ScriptBlocks {
            load,
            number: number.min(MAX_BLOCKS),
            threads,
            folder: path(folder)?,
            program: path(program)?,
            cases: self.words()?,
            options: if self.retry_failed { " --retry-failed" } else { "" },
        };
        Ok(blocks.script(engine))
    }

    /// Returns the shell words that select the cases.
    fn words(&self) -> Result<String, StudyError> {
        let calibration = self.calibration.map(|request| request.file.as_path());
        let files = [self.file.path.as_path(), self.store].into_iter().chain(calibration);
        files.map(path).try_for_each(|word| word.map(drop))?;
        Ok(self.file.shell_words(self.calibration.map(CalibrationRequest::shell_words), self.store))
    }
}

impl ScenarioFile {
    /// Checks that the file, and that of a calibration, can be read more than once.
    ///
    /// # Errors
    /// Returns an error for standard input.
    pub fn check_lasting(&self, calibration: Option<&CalibrationRequest>) -> Result<(), StudyError> {
        let calibration = calibration.map(|request| ("calibration", request.file.as_path()));
        let files = [("scenario", self.path.as_path())].into_iter().chain(calibration);
        let mut given_once = files.filter(|(_, file)| is_standard_input(file));
        given_once.next().map_or(Ok(()), |(what, _)| {
            let message = format!("`-`: each block of a script reads the {what} again: give the name of its file");
            Err(StudyError::Request(message))
        })
    }
}

/// Quotes a path as a shell word, if a script can contain it.
fn path(path: &Path) -> Result<String, StudyError> {
    let fault = || StudyError::Request(format!("{}: give a path in valid UTF-8", path.display()));
    path.to_str().map(|_| path_word(path)).ok_or_else(fault)
}

/// The blocks of a sweep, and the command for one of them. All texts are shell words.
struct ScriptBlocks {
    load: Workload,
    number: u64,
    /// The number of threads per block.
    threads: u64,
    /// The folder to which paths are relative.
    folder: String,
    program: String,
    /// The words that select the cases.
    cases: String,
    /// Further options of the sweep.
    options: &'static str,
}

impl ScriptBlocks {
    /// Returns the script for `engine`.
    fn script(&self, engine: Engine) -> String {
        let directives = match engine {
            Engine::Slurm => self.slurm(),
            Engine::Pbs => self.pbs(),
            Engine::Hq | Engine::Parallel => String::new(),
        };
        let start = match engine {
            Engine::Pbs if self.number == 1 => format!("{}\n", self.block("1/1")),
            Engine::Slurm | Engine::Pbs => format!("{}\n", self.block(&format!("auto/{}", self.number))),
            Engine::Hq => self.hq(),
            Engine::Parallel => self.parallel(),
        };
        format!("#!/bin/sh\n{directives}{}{}{start}", self.remarks(engine), self.begin(engine))
    }

    /// Returns the comments at the head of the script: the cases, their cost, and the commands that submit the script
    /// and read the results.
    fn remarks(&self, engine: Engine) -> String {
        let Workload { cases, cpu_s, is_open } = self.load;
        let minutes = cpu_s / 60.0;
        let estimate = if is_open { "at least" } else { "about" };
        let submit = match engine {
            Engine::Slurm => "sbatch",
            Engine::Pbs => "qsub",
            Engine::Hq | Engine::Parallel => "sh",
        };
        format!(
            "# {cases} cases, {estimate} {minutes:.1} minutes of CPU time, in {} of {}.\n\
             # Submit it with `{submit}`, and again until this succeeds: what has been run is not run again.\n\
             #   parsim merge {} --format csv\n",
            counted(self.number, "block"),
            counted(self.threads, "thread"),
            self.cases.replace('\n', "\n# ")
        )
    }

    /// Changes to the folder of the paths; a script that runs itself first determines its own path.
    fn begin(&self, engine: Engine) -> String {
        let own = "SCRIPT=$(cd -- \"$(dirname -- \"$0\")\" && pwd)/$(basename -- \"$0\")\n";
        format!("{}cd -- {} || exit 1\n", if engine == Engine::Parallel { own } else { "" }, self.folder)
    }

    /// Returns the command that runs one block; its rows are kept in the store only.
    fn block(&self, shard: &str) -> String {
        format!("{} --shard {shard} > /dev/null", self.sweep())
    }

    fn sweep(&self) -> String {
        let Self { program, cases, threads, options, .. } = self;
        format!("{program} sweep {cases} --jobs {threads} --quiet{options}")
    }

    fn slurm(&self) -> String {
        format!(
            "#SBATCH --job-name=parsim\n#SBATCH --array=1-{}\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task={}\n\
             #SBATCH --requeue\n#SBATCH --open-mode=append\n",
            self.number, self.threads
        )
    }

    /// Omits the array for a single block, since a PBS array has at least two elements.
    fn pbs(&self) -> String {
        let array = if self.number > 1 { format!("#PBS -J 1-{}\n", self.number) } else { String::new() };
        format!("#PBS -N parsim\n{array}#PBS -l select=1:ncpus={}\n#PBS -r y\n", self.threads)
    }

    fn hq(&self) -> String {
        format!(
            "hq submit --name parsim --array 1-{number} --cpus {} --stdout none -- \\\n    {} --shard auto/{number}\n",
            self.threads,
            self.sweep(),
            number = self.number
        )
    }

    /// Returns the body of a script that runs itself for each block, by GNU parallel if it is installed and by xargs
    /// otherwise. `PARALLEL` may contain further options such as `--sshloginfile`, and `JOBS` is the number of
    /// concurrent blocks.
    fn parallel(&self) -> String {
        let Self { number, threads, .. } = self;
        let block = self.block(&format!("\"$1\"/{number}"));
        format!(
            "if [ $# -gt 0 ]; then\n    {block}\n    exit\nfi\n\
             JOBS=${{JOBS:-$(( ($(getconf _NPROCESSORS_ONLN) + {threads} - 1) / {threads} ))}}\n\
             if parallel --version 2> /dev/null | grep -q '^GNU'; then\n    \
             seq {number} | parallel --will-cite --quote --jobs \"$JOBS\" sh \"$SCRIPT\" {{}}\n\
             else\n    seq {number} | xargs -n 1 -P \"$JOBS\" sh \"$SCRIPT\"\nfi\n"
        )
    }
}
