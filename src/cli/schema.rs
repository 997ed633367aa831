//! `parsim schema`: what a file may say, derived from the types that read it.

use super::Failure;
use super::output::Destination;
use clap::{Args, ValueEnum};
use parsim_sim::node::processor::Kernel;
use parsim_study::experiment::calibration::CalibrationCase;
use parsim_study::experiment::validation::Validation;
use parsim_study::report::reference;
use parsim_study::scenario::{MachineForm, Scenario};
use schemars::{Schema, schema_for};

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The kind of file.
    #[arg(value_enum, default_value = "scenario")]
    kind: FileKind,
    /// The form of the schema: JSON Schema, or a page to read.
    #[arg(long, value_enum, default_value = "json")]
    format: SchemaFormat,
    #[command(flatten)]
    destination: Destination,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FileKind {
    /// A scenario, with all that it can name.
    Scenario,
    /// A machine.
    Machine,
    /// A kernel.
    Kernel,
    /// The `case.ron` of a validation.
    Validation,
    /// The case of a calibration.
    Calibration,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaFormat {
    Json,
    Markdown,
}

impl FileKind {
    fn schema(self) -> Schema {
        match self {
            Self::Scenario => schema_for!(Scenario),
            Self::Machine => schema_for!(MachineForm),
            Self::Kernel => schema_for!(Kernel),
            Self::Validation => schema_for!(Validation),
            Self::Calibration => schema_for!(CalibrationCase),
        }
    }
}

pub fn execute(arguments: &SchemaArguments) -> Result<(), Failure> {
    let schema = arguments.kind.schema();
    let text = match arguments.format {
        SchemaFormat::Json => format!("{:#}\n", schema.as_value()),
        SchemaFormat::Markdown => reference(schema.as_value()),
    };
    arguments.destination.write(text)
}
