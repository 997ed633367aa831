//! Scripts that have an engine run a sweep in blocks, and may be submitted again.

use super::{ScenarioFile, StudyError, Workload};
use crate::report::counted;
use crate::scenario::source::is_standard_input;
use std::num::NonZero;
use std::path::Path;

/// The most elements of an array that Slurm takes unless it is told otherwise (`MaxArraySize` is 1001).
const MOST_BLOCKS: u64 = 1000;

/// A program that runs the elements of an array.
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

/// The number of the blocks of a sweep; 1000 at most, and no more than there are cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCount {
    /// So many.
    Number(NonZero<u32>),
    /// As many as have each block take so many minutes, roughly.
    Minutes(NonZero<u32>),
}

/// A sweep in blocks, whose results are kept in a store.
#[derive(Clone, Debug)]
pub struct BlockedSweep<'s> {
    /// The scenario, which each block reads again.
    pub file: &'s ScenarioFile,
    /// The folder of the results.
    pub store: &'s Path,
    /// Has blocks run again what failed before.
    pub retry_failed: bool,
    /// The number of blocks.
    pub count: BlockCount,
    /// The threads of a block.
    pub threads: NonZero<usize>,
}

impl BlockedSweep<'_> {
    /// The script for `engine`, which calls `program` in `folder`.
    ///
    /// # Errors
    /// A path that is no text.
    pub fn script(&self, load: Workload, engine: Engine, folder: &Path, program: &Path) -> Result<String, StudyError> {
        let threads = self.threads.get() as u64;
        let number = match self.count {
            BlockCount::Number(number) => load.cases.min(number.get().into()),
            BlockCount::Minutes(minutes) => load.blocks(60 * u64::from(minutes.get()) * threads),
        };
        let blocks = ScriptBlocks {
            load,
            number: number.min(MOST_BLOCKS),
            threads,
            folder: path(folder)?,
            program: path(program)?,
            cases: self.words()?.join(" "),
            options: if self.retry_failed { " --retry-failed" } else { "" },
        };
        Ok(blocks.script(engine))
    }

    /// The words that say which cases are meant, for a shell.
    fn words(&self) -> Result<Vec<String>, StudyError> {
        let ScenarioFile { path: scenario, set, seed, over } = self.file;
        let mut words = vec![path(scenario)?];
        words.extend(set.iter().map(|(path, value)| format!("--set {}", quoted(&format!("{path}={value}")))));
        words.extend(seed.map(|seed| format!("--seed {seed}")));
        let over = over.iter().map(|over| quoted(&format!("{}={}", over.name, over.values.join(","))));
        words.extend(over.map(|over| format!("--over {over}")));
        words.push(format!("--store {}", path(self.store)?));
        Ok(words)
    }
}

impl ScenarioFile {
    /// Looks whether the file can be read again.
    ///
    /// # Errors
    /// That it is the standard input.
    pub fn check_lasting(&self) -> Result<(), StudyError> {
        let message = "`-`: each block of a script reads the scenario again: give the name of its file";
        if is_standard_input(&self.path) { Err(StudyError::Request(message.to_owned())) } else { Ok(()) }
    }
}

/// A path as a word of a shell. One that begins with `-` is not taken for an option.
fn path(path: &Path) -> Result<String, StudyError> {
    let fault = || StudyError::Request(format!("{}: give a path that is text", path.display()));
    let text = path.to_str().ok_or_else(fault)?;
    Ok(quoted(&if text.starts_with('-') { format!("./{text}") } else { text.to_owned() }))
}

/// The blocks of a sweep, and how one is run. All texts are words of a shell.
struct ScriptBlocks {
    load: Workload,
    number: u64,
    /// The threads of a block.
    threads: u64,
    /// The folder to which the paths are relative.
    folder: String,
    program: String,
    /// The words that say which cases are meant.
    cases: String,
    /// Further options of the sweep.
    options: &'static str,
}

impl ScriptBlocks {
    /// The script for `engine`.
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

    /// The comments at the head of the script: its cases, their cost, and the commands to submit it and to read the
    /// results.
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

    /// Goes to the folder of the paths; a script that runs itself remembers where it is.
    fn begin(&self, engine: Engine) -> String {
        let own = "SCRIPT=$(cd -- \"$(dirname -- \"$0\")\" && pwd)/$(basename -- \"$0\")\n";
        format!("{}cd -- {} || exit 1\n", if engine == Engine::Parallel { own } else { "" }, self.folder)
    }

    /// The command that runs one block; its rows are in the store.
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

    /// An array of PBS has two elements at least.
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

    /// The script runs itself for each block, by GNU parallel where it is. `PARALLEL` may name further options, such as
    /// `--sshloginfile`, `JOBS` the number of blocks at once.
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

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=,:+@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
