//! `parsim schema`: what a file may say, derived from the types that read it.

use super::Failure;
use super::output::Destination;
use super::validate::Validation;
use clap::{Args, ValueEnum};
use parsim_sim::machine::Machine;
use parsim_sim::node::processor::Kernel;
use parsim_study::report::reference;
use parsim_study::scenario::Scenario;
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
            Self::Machine => schema_for!(Machine),
            Self::Kernel => schema_for!(Kernel),
            Self::Validation => schema_for!(Validation),
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

#[cfg(test)]
mod tests {
    use super::*;
    use boon::{Compiler, SchemaIndex, Schemas};
    use parsim_study::scenario::Plan;
    use parsim_study::scenario::source::Document;
    use serde_json::{Value, json};
    use std::path::{Path, PathBuf};

    /// The schema of a kind of file, ready to judge documents.
    struct Judge {
        schemas: Schemas,
        index: SchemaIndex,
    }

    impl Judge {
        fn of(kind: FileKind) -> Self {
            let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
            compiler.add_resource("schema.json", kind.schema().as_value().clone()).unwrap();
            let index = compiler.compile("schema.json", &mut schemas).unwrap();
            Self { schemas, index }
        }

        fn accepts(&self, document: &Value) -> Result<(), String> {
            self.schemas.validate(document, self.index).map_err(|error| format!("{error:#}"))
        }
    }

    fn files(folder: &str) -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).collect()
    }

    /// What a file means, with all that it names, as JSON: a struct is an object, a variant a text or an object with one
    /// key, a quantity a text.
    fn scenario(path: PathBuf) -> Value {
        let plan = Plan::new(Document::load(path).unwrap(), &[]).unwrap();
        serde_json::to_value(&*plan.base().unwrap().scenario).unwrap()
    }

    #[test]
    fn every_shipped_scenario_and_machine_satisfies_its_schema() {
        let judge = Judge::of(FileKind::Scenario);
        let scenarios = files("scenarios");
        assert!(scenarios.len() > 30);
        for path in scenarios {
            let document = scenario(path.clone());
            judge.accepts(&document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        let judge = Judge::of(FileKind::Machine);
        for path in files("scenarios/machines") {
            let document = serde_json::to_value(parsim_study::load_machine(&path).unwrap()).unwrap();
            judge.accepts(&document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }

    #[test]
    fn a_wrong_document_is_refused() {
        let judge = Judge::of(FileKind::Scenario);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/ping.ron");
        let right = scenario(path);
        assert_eq!(judge.accepts(&right), Ok(()));
        for (pointer, wrong) in [
            ("/ranks", json!("two")),
            ("/ranks", json!(-2)),
            ("/machine/network/switching", json!("Teleport")),
            ("/machine/network/switching", json!({"StoreAndForward": {}})),
            ("/machine/nodes/sending/overlap", json!("yes")),
            ("/machine/nodes/routing", json!({"per_packet": "1 us", "per_parcel": "1 us"})),
            ("/machine/network/links/per_packet", json!(7)),
            ("/program", json!({"Ping": {}})),
        ] {
            let mut document = right.clone();
            *document.pointer_mut(pointer).unwrap_or_else(|| panic!("there is a field at {pointer}")) = wrong.clone();
            assert!(judge.accepts(&document).is_err(), "{pointer}: {wrong}");
        }
    }
}
