//! `parsim topology`: the metrics of a network, and a drawing of it.

use super::numbers::from;
use super::row_command::RowCommand;
use super::{Failure, OutputArguments, pictures};
use clap::Args;
use parsim_study::answer::Record;
use parsim_study::experiment::topology::DescribedTopology;
use parsim_study::experiment::{Recall, Setting, StudyError, read_setting};
use parsim_study::files::OutputClaims;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct TopologyArguments {
    /// The topology: with `--nodes` complete, ring, line, mesh2d, mesh3d, torus2d, torus3d, hypercube, binary-tree,
    /// fat-tree, ccc, hyper-x, dragonfly or dragonfly-plus; without it as in a scenario, such as 'HyperX(sides: [4, 8])'.
    #[arg(required_unless_present = "scenario", conflicts_with = "scenario")]
    name: Option<String>,
    /// The number of nodes of a topology given by its name; meshes, tori and `hyper-x` are then square or cubic, and
    /// dragonflies are balanced.
    #[arg(long, requires = "name", value_parser = from(0u32))]
    nodes: Option<u32>,
    /// The part of the network of a scenario that its ranks use, or the network of a machine.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Changes a value of the scenario; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting, requires = "scenario")]
    set: Vec<Setting>,
    /// Compares networks of equal cost, in which all routers together have this number of pins, divided evenly over
    /// their ports.
    #[arg(long, value_parser = from(1u32))]
    pins: Option<u32>,
    #[command(flatten)]
    output: OutputArguments,
    /// Draws the network into this file.
    #[arg(long, value_name = "FILE.svg", value_parser = pictures::svg, group = "picture", alias = "plot")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    lettering: pictures::LetteringArguments,
}

pub fn execute(arguments: &TopologyArguments) -> Result<(), Failure> {
    let subject = arguments.subject()?;
    let _folders = arguments.claims().inputs(&subject.files).check()?;
    arguments.output.print(subject.answer(arguments.pins))?;
    let Some(file) = &arguments.svg else { return Ok(()) };
    pictures::write(file, &arguments.lettering.on(subject.drawing()?))
}

impl TopologyArguments {
    fn subject(&self) -> Result<DescribedTopology, StudyError> {
        match &self.scenario {
            Some(path) => DescribedTopology::of_file(path, &self.set),
            None => DescribedTopology::named(self.name.as_deref().unwrap_or_default(), self.nodes),
        }
    }
}

impl RowCommand for TopologyArguments {
    fn claims(&self) -> OutputClaims {
        self.output.claims().output("--svg", self.svg.as_deref())
    }

    fn records(&self, _: Recall<'_>) -> Result<Vec<Record>, StudyError> {
        Ok(self.subject()?.answer(self.pins).records)
    }
}
