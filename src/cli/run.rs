//! `parsim run`: a run of the base values of a scenario.

use super::calibration::{CalibrationArguments, references};
use super::failure::each;
use super::notice::note;
use super::store::StoreArguments;
use super::{Failure, ScenarioArguments, pictures};
use clap::Args;
use parsim_sim::simulation::Detail;
use parsim_study::experiment::calibration::{CalibratedScenario, Predictor};
use parsim_study::experiment::topology::drawing;
use parsim_study::experiment::{
    FormulaValues, MatchedPoints, Outcome, References, Remarks, ScenarioFile, StudyError, check_critical_times,
    degrees_of_parallelism,
};
use parsim_study::files::{OutputClaims, create, create_with};
use parsim_study::report::{HeatMap, write_accounts, write_sources};
use parsim_study::scenario::Case;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// Draws the network with the utilization of every link into this file.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    heat_map: Option<PathBuf>,
    /// Records the activities of every rank and their causes into this file, for `critical-path` and `compare`; only
    /// the first seed is recorded.
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    trace: Option<PathBuf>,
    /// Also records the transfers over every link, as trains of packets with their causes.
    #[arg(long, requires = "trace")]
    transfers: bool,
    /// Also records the times at which processors work for the communication, packet by packet, which takes longer. Without
    /// it, pictures show this work at the end of the waits for messages.
    #[arg(long, requires = "trace")]
    work: bool,
    /// Draws the share of the time for each number of concurrent activities if only causality delays them, for programs
    /// that compute critical times, for example `Ising`.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture")]
    histogram: Option<PathBuf>,
    /// Published shares of the time to draw in the same histogram: a CSV file with the columns `active` and `share`.
    #[arg(long, value_name = "FILE.csv", requires = "histogram")]
    published: Option<PathBuf>,
    /// Writes the injected and accepted load and the latencies of every source of traffic.
    #[arg(long, value_name = "FILE.csv", value_parser = pictures::csv, conflicts_with = "store")]
    sources: Option<PathBuf>,
    /// Writes the end time of every rank and its time in each activity, in picoseconds; of the first seed.
    #[arg(long, value_name = "FILE.csv", value_parser = pictures::csv)]
    accounts: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
    #[command(flatten)]
    calibration: CalibrationArguments,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn execute(arguments: &RunArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&[])?;
    let _folders = common.check(&arguments.claims(common.claims(&plan)))?;
    arguments.check_figures(&plan.base()?)?;
    let predictor = arguments.store.with(|recall| arguments.calibration.predictor([&plan], None, recall))?;
    let calibrated = arguments.calibrated(predictor.as_ref())?;
    let plan = calibrated.as_ref().map_or(Ok(plan), |calibrated| calibrated.file().plan())?;
    let case = plan.base()?;
    if common.dump_config {
        return common.output.write(format_args!("{}\n", plan.to_ron(&case)));
    }
    let references = references(calibrated.as_ref(), &case.scenario, &common.scenario)?;
    // A run that does not end may be explained by what is remarked.
    let remark = |_: &Failure| Remarks::on([&*case.scenario]).all().into_iter().for_each(|text| note(Some(text)));
    let mut outcome = arguments.outcome(&case, &references).inspect_err(remark)?;
    if let Some(calibrated) = &calibrated {
        outcome = arguments.store.with(|recall| Ok(calibrated.with_interval_of_base(outcome, recall)?))?;
    }
    let mut answer = outcome.answer();
    let mut matched = MatchedPoints::none(&references);
    matched.add(&case.keys);
    answer.notes.extend(matched.note_on_columns());
    answer.notes.extend(references.notes_on_repetitions());
    let mut formulas = FormulaValues::none(&references);
    formulas.add(&case);
    answer.notes.extend(formulas.notes());
    answer.notes.extend(references.note_on_one_rank(&case));
    answer.notes.extend(calibrated.iter().flat_map(CalibratedScenario::notes));
    common.output.print(answer)?;
    arguments.draw(&case, &outcome)
}

impl RunArguments {
    /// Sets the values of a calibration, if there is one.
    fn calibrated<'p>(&self, predictor: Option<&'p Predictor>) -> Result<Option<CalibratedScenario<'p>>, StudyError> {
        let base_values = |file: &ScenarioFile| Ok(file.plan()?.holding(|_| false));
        predictor.map(|known| CalibratedScenario::new(known, self.common.file(&[]), base_values)).transpose()
    }

    /// Runs the case, and records it if requested.
    fn outcome(&self, case: &Case, references: &References) -> Result<Outcome, Failure> {
        let Some(file) = &self.trace else {
            return Ok(self.store.with(|recall| Ok(Outcome::of(case, references, recall)?))?);
        };
        let detail = Detail { transfers: self.transfers, work: self.work };
        create_with(file, |sink| Outcome::recorded(case, references, detail, Box::new(sink)).map_err(Failure::from))
    }

    fn claims(&self, claims: OutputClaims) -> OutputClaims {
        claims
            .inputs(&self.published)
            .inputs(self.calibration.files())
            .output("--trace", self.trace.as_deref())
            .output("--heat-map", self.heat_map.as_deref())
            .output("--histogram", self.histogram.as_deref())
            .output("--sources", self.sources.as_deref())
            .output("--accounts", self.accounts.as_deref())
    }

    /// Checks that the program provides the data of the requested files.
    fn check_figures(&self, case: &Case) -> Result<(), Failure> {
        let program = &case.scenario.program;
        if self.sources.is_some() && !program.is_traffic() {
            return Err(Failure::Usage("--sources: only Traffic has sources that inject packets".to_owned()));
        }
        if self.histogram.is_some() {
            check_critical_times(program)?;
        }
        Ok(())
    }

    /// Draws the requested pictures. The answer has been written before, so that a failing picture does not affect it.
    fn draw(&self, case: &Case, outcome: &Outcome) -> Result<(), Failure> {
        let heat_map = self.heat_map.iter().map(|file| {
            let drawing = drawing(&outcome.report().title, &case.scenario.layout().topology)?;
            pictures::write(file, &self.lettering.on(HeatMap::new(drawing, &outcome.trace)))
        });
        let histogram = self.histogram.iter().map(|file| {
            let title = self.lettering.texts().title;
            let picture = degrees_of_parallelism(outcome, self.published.as_deref(), title.as_deref())?;
            Ok(create(file, |sink| sink.write_all(picture.as_bytes()))?)
        });
        let sources =
            self.sources.iter().map(|file| Ok(create(file, |sink| write_sources(&outcome.trace.sources, sink))?));
        let accounts = self.accounts.iter().map(|file| Ok(create(file, |sink| write_accounts(&outcome.trace, sink))?));
        each(heat_map.chain(histogram).chain(sources).chain(accounts))
    }
}
