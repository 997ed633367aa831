//! The text of a script.

use super::Engine;
use parsim_study::experiment::Workload;
use parsim_study::report::counted;

/// The blocks of a sweep, and how one is run. All texts are words of a shell.
pub struct Blocks {
    pub load: Workload,
    pub number: u64,
    /// The threads of a block.
    pub threads: u64,
    /// The folder to which the paths are relative.
    pub folder: String,
    pub program: String,
    /// The words that say which cases are meant.
    pub cases: String,
    /// Further options of the sweep.
    pub options: &'static str,
}

impl Blocks {
    /// The script for `engine`.
    pub fn script(&self, engine: Engine) -> String {
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
pub fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=,:+@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
