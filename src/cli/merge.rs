//! `parsim merge`: the rows of a sweep from a store, without running any case.

use super::store::{read, warn};
use super::sweep::Rows;
use super::{CaseArguments, Failure, ScenarioArguments};
use crate::cli::notice::{note, say};
use crate::cli::progress::Bar;
use clap::Args;
use parsim_study::experiment::{Part, Recall, References, StudyError, Unfinished, unfinished};
use parsim_study::store::State;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct MergeArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    #[command(flatten)]
    cases: CaseArguments,
    /// The folder of the results.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Writes the rows that there are, failed ones among them, even if cases are missing.
    #[arg(long)]
    partial: bool,
}

pub fn execute(arguments: &MergeArguments) -> Result<(), Failure> {
    let (common, bar) = (&arguments.common, Bar::default());
    let plan = common.plan(&arguments.cases.over)?;
    let cases = plan.unfold()?;
    if common.dumps(&cases)? {
        return Ok(());
    }
    let references = References::load(plan.scenario(), &common.scenario)?;
    common.claims(&plan).check()?;
    let store = read(&arguments.store)?;
    let workers = arguments.cases.workers(&bar, Recall::from(&store, false));
    let unfinished = unfinished(&cases, &references, &store, workers)?;
    warn(&store);
    for case in &unfinished {
        say(Some(case));
    }
    if !unfinished.is_empty() && !arguments.partial {
        return Err(Failure::Simulation(arguments.summary(&unfinished)));
    }
    let missing = unfinished.iter().filter(|case| case.state == State::Missing).map(|case| case.point);
    let part = Part::without(missing);
    let rows = Rows::written(&common.output, &cases, &part, None, &references, workers)?;
    store.check().map_err(StudyError::from)?;
    rows.finish()?;
    note((!unfinished.is_empty()).then(|| arguments.summary(&unfinished)));
    Ok(())
}

impl MergeArguments {
    fn summary(&self, unfinished: &[Unfinished]) -> String {
        let count = |state| unfinished.iter().filter(|case| case.state == state).count();
        let (missing, failed) = (count(State::Missing), count(State::Failed));
        format!(
            "{missing} missing, {failed} failed: `parsim sweep {} --store {}` with the same arguments runs what is missing, \
             with --retry-failed also what failed",
            self.common.scenario.display(),
            self.store.display()
        )
    }
}
