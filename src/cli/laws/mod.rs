//! `parsim laws`: the laws of speedup and closed forms of a contention-free network, for given numbers and for the
//! times of a sweep.

mod arguments;
mod numbers;

use super::pictures::PictureArguments;
use super::row_command::RowCommand;
use super::store::StoreArguments;
use super::{Failure, OutputArguments};
use arguments::{
    CollectiveArguments, GrowthArguments, IsoefficiencyArguments, Law, SeriesArguments, SwitchingArguments,
};
use clap::Args;
use numbers::distinct;
use parsim_study::answer::{Answer, Record};
use parsim_study::experiment::laws::{
    self, GrowingProblem, HeldQuantity, QuietMessage, SeriesColumns, SeriesWork, ShareOrSpeedup, WorkGrowth, WorkParts,
};
use parsim_study::experiment::{Recall, StudyError, files, set_all};
use parsim_study::files::OutputClaims;
use parsim_study::model::collectives::MessageCost;
use parsim_study::model::switching::Times;
use parsim_study::report::law_curves;
use parsim_study::scenario::source::Document;
use std::borrow::Cow;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "LAW")]
pub struct LawsArguments {
    /// The law to apply to given numbers.
    #[command(subcommand)]
    law: Option<Law>,
    #[command(flatten)]
    series: SeriesArguments,
    #[command(flatten)]
    output: OutputArguments,
}

impl LawsArguments {
    fn answer(&self, recall: Recall<'_>) -> Result<Answer, StudyError> {
        match &self.law {
            Some(law) => law.answer(recall),
            None => self.series.answer(recall),
        }
    }

    /// Returns the answer with its picture, if one is requested.
    fn drawn(&self, recall: Recall<'_>) -> Result<Answer, StudyError> {
        let answer = self.answer(recall)?;
        let picture = self.picture().filter(|_| self.growth().is_none());
        Ok(match picture.and_then(|picture| Some((picture, picture.plot.as_deref()?))) {
            Some((picture, file)) => {
                let svg = picture.lettering.on(law_curves(&answer.records)).svg();
                answer.with_figure(file, &svg)
            }
            None => answer,
        })
    }

    /// Returns the options of the picture; `None` for a law without one.
    fn picture(&self) -> Option<&PictureArguments> {
        match &self.law {
            None => Some(&self.series.picture),
            Some(Law::Speedup(law)) => Some(&law.picture),
            Some(Law::Amdahl(law)) => Some(&law.picture),
            Some(Law::Gustafson(law)) => Some(&law.picture),
            Some(Law::KarpFlatt(law)) => Some(&law.picture),
            Some(_) => self.growth().map(|growth| &growth.picture),
        }
    }

    /// Returns the options of a search for the size of a problem.
    const fn growth(&self) -> Option<&GrowthArguments> {
        match &self.law {
            Some(Law::HeldEfficiency(law)) => Some(&law.growth),
            Some(Law::FixedTime(law)) => Some(&law.growth),
            _ => None,
        }
    }

    /// Returns the store of the runs of a search or a sweep.
    pub fn store(&self) -> &StoreArguments {
        self.growth().map_or(&self.series.swept.store, |growth| &growth.store)
    }
}

pub fn execute(arguments: &LawsArguments) -> Result<(), Failure> {
    let _folders = arguments.claims().check()?;
    let answer = arguments.store().with(|recall| arguments.drawn(recall))?;
    arguments.output.print(answer)
}

impl Law {
    /// Returns the list over which the law is evaluated, and its option.
    fn list(&self) -> (&'static str, Cow<'_, [f64]>) {
        let over = |p: &[u32]| p.iter().copied().map(f64::from).collect();
        match self {
            Self::Speedup(law) => ("--p", (&law.p).into()),
            Self::Amdahl(law) => ("--p", (&law.p).into()),
            Self::Gustafson(law) => ("--p", (&law.p).into()),
            Self::KarpFlatt(law) => ("--p", (&law.p).into()),
            Self::Isoefficiency(law) => ("--p", (&law.p).into()),
            Self::Collective(law) => ("--p", (&law.p).into()),
            Self::Knee(law) => ("--scale", (&law.scale).into()),
            Self::Switching(law) => ("--links", (&law.links).into()),
            Self::HeldEfficiency(law) => ("--p", over(&law.growth.p)),
            Self::FixedTime(law) => ("--p", over(&law.growth.p)),
        }
    }

    /// Evaluates the law.
    fn answer(&self, recall: Recall<'_>) -> Result<Answer, StudyError> {
        let (option, list) = self.list();
        distinct(option, &list)?;
        Ok(match self {
            Self::Speedup(law) => {
                WorkParts::new(law.serial_s, law.parallel_s, (law.communication)(law.communication_s)).speedups(&law.p)
            }
            Self::Amdahl(law) => laws::amdahl(share(law.serial_fraction, law.speedup), &law.p),
            Self::Gustafson(law) => laws::gustafson(share(law.serial_share, law.speedup), &law.p),
            Self::KarpFlatt(law) => laws::karp_flatt(&law.p, &law.speedup)?,
            Self::Isoefficiency(law) => law.answer(),
            Self::Knee(law) => {
                WorkParts::new(law.serial_s, law.parallel_s, (law.communication)(law.communication_s)).knees(&law.scale)
            }
            Self::HeldEfficiency(law) => law.growth.answer(HeldQuantity::Efficiency(law.efficiency), recall)?,
            Self::FixedTime(law) => law.growth.answer(HeldQuantity::Seconds(law.time_s), recall)?,
            Self::Switching(law) => law.answer()?,
            Self::Collective(law) => law.answer(),
        })
    }
}

/// Returns the one of the two options that is given.
fn share(share: Option<f64>, speedup: Option<f64>) -> ShareOrSpeedup {
    share.map_or_else(|| ShareOrSpeedup::Speedup(speedup.unwrap_or(f64::NAN)), ShareOrSpeedup::Share)
}

impl IsoefficiencyArguments {
    fn answer(&self) -> Answer {
        let constant = self.constant.or_else(|| self.efficiency.map(laws::isoefficiency_constant));
        let constant = constant.expect("the command line has one of the two");
        laws::isoefficiency(self.algorithm, constant, self.memory, &self.p)
    }
}

impl SwitchingArguments {
    fn answer(&self) -> Result<Answer, StudyError> {
        let times = Times { startup_s: self.startup_s, hop_s: self.per_hop_s, byte_s: self.per_byte_s };
        let (bytes, packets, flit_bytes) = (self.bytes, self.packets, self.flit_bytes);
        QuietMessage { times, bytes, packets, flit_bytes }.answer(&self.links)
    }
}

impl CollectiveArguments {
    fn answer(&self) -> Answer {
        let costs = MessageCost { start_s: self.startup_s, per_byte_s: self.per_byte_s };
        laws::collective(costs, self.bytes, &self.p)
    }
}

impl GrowthArguments {
    fn answer(&self, kept: HeldQuantity, recall: Recall<'_>) -> Result<Answer, StudyError> {
        let mut document = Document::load(&self.scenario)?;
        set_all(&mut document, &self.set)?;
        let (processors, size, largest) = (self.p.clone(), self.size.clone(), self.largest);
        let growth = GrowingProblem { document, processors, size, largest }.search(kept, recall)?;
        let PictureArguments { plot, lettering } = &self.picture;
        Ok(growth.answer().with_drawing(plot.as_deref(), || lettering.on(growth.chart()).svg()))
    }
}

impl SeriesArguments {
    /// Evaluates the laws at every point, and interprets every series.
    fn answer(&self, recall: Recall<'_>) -> Result<Answer, StudyError> {
        let Some(path) = &self.data else {
            let message =
                "give a law, for example `parsim laws amdahl`, or times with `--data`; see `parsim laws --help`";
            return Err(StudyError::Request(message.to_owned()));
        };
        let (time, processors, components) = (self.time.clone(), self.processors.clone(), self.components.clone());
        let ignored = self.ignore.clone();
        let (work, base) = (self.work(), self.base);
        SeriesColumns { time, processors, sequential_s: self.sequential_s, base, components, ignored, work }
            .answer(self.swept.table(path, recall)?)
    }
}

impl SeriesArguments {
    /// Returns the work on more processors.
    fn work(&self) -> SeriesWork {
        match (&self.work, self.constant_s) {
            _ if !self.weak => SeriesWork::Fixed,
            (Some(column), _) => SeriesWork::Scaled(WorkGrowth::Column(column.clone())),
            (None, Some(seconds)) => SeriesWork::Scaled(WorkGrowth::Constant(seconds)),
            (None, None) => SeriesWork::Scaled(WorkGrowth::Simulated),
        }
    }
}

impl RowCommand for LawsArguments {
    fn has_store(&self) -> bool {
        self.store().is_given()
    }

    fn claims(&self) -> OutputClaims {
        let series = self.series.data.iter().flat_map(|data| self.series.swept.files(data));
        let claims = self.output.claims().inputs(series);
        let claims = self
            .growth()
            .into_iter()
            .fold(claims, |claims, growth| claims.inputs(files(&growth.scenario, &growth.set)));
        claims.output("--plot", self.picture().and_then(|picture| picture.plot.as_deref()))
    }

    fn records(&self, recall: Recall<'_>) -> Result<Vec<Record>, StudyError> {
        Ok(self.answer(recall)?.records)
    }
}
