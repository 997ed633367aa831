//! Scenarios with values from the command line.

use super::numbers::number;
use super::{Failure, ScenarioArguments, ValueArguments};
use parsim_study::answer::Answer;
use parsim_study::experiment::{ScenarioFile, Shard};
use parsim_study::files::{ClaimedFolders, OutputClaims};
use parsim_study::scenario::{Case, Cases, Override, Plan};
use std::num::NonZero;
use std::path::Path;

impl ValueArguments {
    /// Returns the scenario in a file with these values, and with axes that replace its own.
    pub fn file(&self, path: &Path, over: &[Override]) -> ScenarioFile {
        let (path, set, over) = (path.to_owned(), self.set.clone(), over.to_vec());
        ScenarioFile { path, set, seed: self.seed, over, ..ScenarioFile::default() }
    }
}

impl ScenarioArguments {
    /// Returns the claims of the command: the file of `-o` as output, and the files of `plan` as inputs.
    pub fn claims(&self, plan: &Plan) -> OutputClaims {
        self.output.claims().inputs(plan.files())
    }

    /// Returns the plan of the scenario with the values and axes of the command line.
    pub fn plan(&self, over: &[Override]) -> Result<Plan, Failure> {
        Ok(self.file(over).plan()?)
    }

    /// Returns the scenario with the values and axes of the command line.
    pub fn file(&self, over: &[Override]) -> ScenarioFile {
        self.values.file(&self.scenario, over)
    }

    /// Prints the answer for the base values of a scenario, or these values themselves with `--dump-config`.
    pub fn answer(
        &self,
        claims: impl FnOnce(OutputClaims) -> OutputClaims,
        answer: impl FnOnce(&Plan, &Case) -> Result<Answer, Failure>,
    ) -> Result<(), Failure> {
        let plan = self.plan(&[])?;
        let case = plan.base()?;
        if self.dump_config {
            return self.output.write(format_args!("{}\n", case.scenario.to_ron()));
        }
        let _folders = claims(self.claims(&plan)).check()?;
        self.output.print(answer(&plan, &case)?)
    }

    /// Checks the outputs before the command works for long; folders that it creates are removed with the result. A
    /// resolved scenario is no answer, and has a file of any name.
    pub fn check(&self, claims: &OutputClaims) -> Result<Option<ClaimedFolders>, Failure> {
        Ok((!self.dump_config).then(|| claims.check()).transpose()?)
    }

    /// Prints the resolved scenarios of all cases if `--dump-config` is given; returns whether it is.
    pub fn dump_config(&self, cases: &Cases<'_>) -> Result<bool, Failure> {
        if !self.dump_config {
            return Ok(false);
        }
        let mut output = self.output.raw()?;
        for point in cases.points() {
            if cases.holds(point)? {
                output.words(format_args!("{}\n", cases.case(point)?.scenario.to_ron()))?;
            }
        }
        output.finish()?;
        Ok(true)
    }
}

/// Parses a shard: its number, or `auto` to query the environment of the array engine.
pub fn shard(text: &str) -> Result<Shard, String> {
    Shard::read_or_ask(text, |name| std::env::var(name).ok())
}

/// Parses a number of threads.
pub fn jobs(text: &str) -> Result<NonZero<usize>, String> {
    number(text, |_: &NonZero<usize>| true, "a number from 1 on")
}
