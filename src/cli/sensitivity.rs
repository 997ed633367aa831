//! `parsim sensitivity`: the relative change of the makespan per percent of change of each parameter.

use super::notice::note;
use super::numbers::number;
use super::progress::Bar;
use super::{Failure, ScenarioArguments, overrides, pictures};
use clap::Args;
use parsim_study::answer::Answer;
use parsim_study::experiment::gradient::DerivativeMethod;
use parsim_study::experiment::sensitivity::VariedRun;
use parsim_study::experiment::{Workers, metadata};
use parsim_study::scenario::Case;
use std::num::NonZero;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SensitivityArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// The change of a parameter in percent, down and up, where its effect takes separate runs. By default the change
    /// is as small as rounding allows, and 1 % but at least one for whole numbers.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    step: Option<f64>,
    /// Changes each parameter separately, down and up, instead of evaluating the longest path of one run.
    #[arg(long)]
    exact: bool,
    /// Varies only the parameters that are this field or stand below it, such as `machine.nodes.sending`, and omits groups
    /// and faster parts, which consist of all their constants. May be repeated.
    #[arg(long, value_name = "PATH")]
    only: Vec<String>,
    /// Draws a tornado chart of the most influential parameters; with --of, the makespan over one of them.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    /// With --plot: the parameter over which the makespan is drawn, from a quarter of its value to four times its
    /// value.
    #[arg(long, value_name = "NAME", requires = "plot")]
    of: Option<String>,
    /// Number of runs in parallel; all cores by default.
    #[arg(short, long, value_parser = overrides::jobs)]
    jobs: Option<NonZero<usize>>,
}

/// Parses the change of a parameter.
fn percentage(text: &str) -> Result<f64, String> {
    number(text, |step| *step > 0.0 && *step <= 50.0, "a percentage above 0 and up to 50")
}

pub fn execute(arguments: &SensitivityArguments) -> Result<(), Failure> {
    let claims = |claims: parsim_study::files::OutputClaims| claims.output("--plot", arguments.plot.as_deref());
    let pool = Workers { jobs: arguments.jobs, ..Workers::default() }.pool(usize::MAX)?;
    arguments.common.answer(claims, |_, case| pool.install(|| arguments.answer(case)))
}

impl SensitivityArguments {
    fn answer(&self, case: &Case) -> Result<Answer, Failure> {
        let approach = DerivativeMethod {
            exact: self.exact,
            step: self.step.map(|percent| percent / 100.0),
            ..DerivativeMethod::default()
        };
        let run = VariedRun::of(&case.scenario)?.limited_to(&self.only)?;
        note(run.note_on_runs());
        let found = run.sensitivities(approach, &Bar::of_parameters());
        let answer = run.answer(&found, &metadata(&case.scenario, &case.settings));
        let Some(file) = &self.plot else { return Ok(answer) };
        let svg = match &self.of {
            Some(name) => self.lettering.on(run.curve(name)?).svg(),
            None => self.lettering.on(run.tornado(&found)).svg(),
        };
        Ok(answer.with_figure(file, &svg))
    }
}
