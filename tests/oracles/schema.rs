//! The files that are shipped, held against the JSON Schema of `parsim schema` by another implementation of it.

use boon::{Compiler, SchemaIndex, Schemas};
use parsim::scenario::Plan;
use parsim::scenario::source::Document;
use parsim::{Machine, Scenario, load_machine};
use schemars::{Schema, schema_for};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The schema of a kind of file, ready to judge documents.
struct Judge {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Judge {
    fn of(schema: &Schema) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("schema.json", schema.as_value().clone()).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    fn accepts(&self, document: &Value) -> Result<(), String> {
        self.schemas.validate(document, self.index).map_err(|error| format!("{error:#}"))
    }
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = repository(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).collect()
}

/// The meaning of a file, with all that it names, as JSON: a struct is an object, a variant a text or an object with
/// one key, a quantity a text.
fn scenario(path: PathBuf) -> Value {
    let plan = Plan::new(Document::load(path).unwrap(), &[]).unwrap();
    let mut document = serde_json::to_value(&**plan.base().unwrap().scenario).unwrap();
    // A scenario holds the machine that its description stands for; a file names the form of the description.
    let machine = document["machine"].take();
    document["machine"] = json!({ "Machine": machine });
    document
}

#[test]
fn every_shipped_scenario_and_machine_satisfies_its_schema() {
    let judge = Judge::of(&schema_for!(Scenario));
    let scenarios = files("scenarios");
    assert!(scenarios.len() > 30);
    for path in scenarios {
        let document = scenario(path.clone());
        judge.accepts(&document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let judge = Judge::of(&schema_for!(Machine));
    for path in files("scenarios/machines") {
        let document = serde_json::to_value(load_machine(&path).unwrap()).unwrap();
        judge.accepts(&document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn a_wrong_document_is_refused() {
    let judge = Judge::of(&schema_for!(Scenario));
    let path = repository("scenarios/ping.ron");
    let right = scenario(path);
    assert_eq!(judge.accepts(&right), Ok(()));
    for (pointer, wrong) in [
        ("/ranks", json!("two")),
        ("/ranks", json!(-2)),
        ("/machine/Machine/network/switching", json!("Teleport")),
        ("/machine/Machine/network/switching", json!({"StoreAndForward": {}})),
        ("/machine/Machine/nodes/sending/overlap", json!("yes")),
        ("/machine/Machine/nodes/routing", json!({"per_packet": "1 us", "per_parcel": "1 us"})),
        ("/machine/Machine/network/links/per_packet", json!(7)),
        ("/program", json!({"Ping": {}})),
    ] {
        let mut document = right.clone();
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("there is a field at {pointer}")) = wrong.clone();
        assert!(judge.accepts(&document).is_err(), "{pointer}: {wrong}");
    }
}
