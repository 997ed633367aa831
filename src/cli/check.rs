//! `parsim check`: every fault of a file, without a run.

use super::Failure;
use crate::machine::Machine;
use crate::program::Program;
use crate::scenario::source::{Document, Node};
use crate::scenario::{Case, Plan, Scenario};
use clap::Args;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Scenario and machine files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

pub fn execute(arguments: &CheckArguments) -> Result<(), Failure> {
    let mut failures = 0;
    for file in &arguments.files {
        let _span = tracing::info_span!("check", file = %file.display()).entered();
        match verdict(file) {
            Ok(verdict) => writeln!(stdout(), "{}: {verdict}", file.display())?,
            Err(failure) => {
                failure.report();
                failures += 1;
            }
        }
    }
    match failures {
        0 => Ok(()),
        _ => Err(Failure::Usage(format!("{failures} of {} files have faults", arguments.files.len()))),
    }
}

fn verdict(file: &Path) -> Result<String, Failure> {
    let document = Document::load(file)?;
    if is_machine(&document) {
        let machine = Machine::load(file)?;
        return Ok(format!("the machine {}, {} nodes", machine.name, machine.network.topology.nodes()));
    }
    let plan = Plan::new(document, &[])?;
    plan.base()?;
    let cases = plan.cases()?;
    super::outcome::References::load(&plan.base()?.scenario, file)?;
    let effort: f64 = cases.iter().map(packet_hops).sum();
    Ok(format!("{} cases, some {effort:.0e} packet-hops", cases.len()))
}

/// Whether a file describes a machine and not a scenario.
pub fn is_machine(document: &Document) -> bool {
    matches!(&document.root().node, Node::Record { name: Some(name), .. } if name.text == "Machine")
}

/// A rough forecast of what a case costs.
fn packet_hops(case: &Case) -> f64 {
    let Scenario { machine, program, ranks, .. } = &case.scenario;
    program.packet_hops(*ranks, machine.network.switching.packet_bytes())
}
