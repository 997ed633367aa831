//! `parsim schema`: the format of input files, derived from the types that read them.

use super::Failure;
use super::choice::one_of;
use super::output::Destination;
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_sim::node::processor::Kernel;
use parsim_study::experiment::calibration::CalibrationCase;
use parsim_study::experiment::validation::Validation;
use parsim_study::report::reference;
use parsim_study::scenario::{MachineForm, Scenario};
use schemars::{Schema, schema_for};

#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The kind of file.
    #[arg(value_parser = kinds(), default_value = "scenario")]
    kind: FileKind,
    /// The form of the schema: JSON Schema, or a page in Markdown.
    #[arg(long, value_parser = forms(), default_value = "json")]
    format: SchemaForm,
    #[command(flatten)]
    destination: Destination,
}

/// A function that returns the schema of a kind of file.
type FileKind = fn() -> Schema;

fn kinds() -> impl TypedValueParser<Value = FileKind> {
    one_of([
        ("scenario", "A scenario, with all that it can name", (|| schema_for!(Scenario)) as FileKind),
        ("machine", "A machine", || schema_for!(MachineForm)),
        ("kernel", "A kernel", || schema_for!(Kernel)),
        ("validation", "The `case.ron` of a validation", || schema_for!(Validation)),
        ("calibration", "The case of a calibration", || schema_for!(CalibrationCase)),
    ])
}

/// A function that formats a schema as text.
type SchemaForm = fn(&Schema) -> String;

fn forms() -> impl TypedValueParser<Value = SchemaForm> {
    one_of([
        ("json", "", (|schema| format!("{:#}\n", schema.as_value())) as SchemaForm),
        ("markdown", "", |schema| reference(schema.as_value())),
    ])
}

pub fn execute(arguments: &SchemaArguments) -> Result<(), Failure> {
    arguments.destination.write((arguments.format)(&(arguments.kind)()))
}
