//! Reading a tree into a type: deserialised once, and looked through for all its faults where it does not fit.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::fault::SourceFault;
use super::place::Sources;
use super::read_error::ReadError;
use super::reader::ValueReader;
use super::shape::Types;
use super::tree::Tree;
use super::walk::faults_of;
use parsim_sim::units::TextChecks;

/// Reads a tree as a type, or finds all its faults.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(sources: &Sources, tree: &Tree) -> Result<T, Vec<SourceFault>> {
    let reader = ValueReader::new(tree, sources);
    T::deserialize(reader).map_err(|error| {
        let mut generator = generator();
        let schema = generator.root_schema_for::<T>();
        explained(reader, &schema, &TextChecks::of(&mut generator), error.at(tree))
    })
}

/// The generator of schemas that gathers the checks of texts.
fn generator() -> SchemaGenerator {
    SchemaSettings::default().with_transform(TextChecks::default()).into_generator()
}

/// All faults of a tree that cannot be read for `error`.
///
/// Checks of the types themselves are in no schema, so that their errors come beside those of the walk.
fn explained(reader: ValueReader<'_>, schema: &Schema, checks: &TextChecks, error: ReadError) -> Vec<SourceFault> {
    let mut faults = faults_of(reader, &Types::new(schema.as_value(), checks));
    if faults.is_empty() || error.is_custom() {
        faults.push(error.into_fault(reader.tree));
    }
    faults
}

#[cfg(test)]
mod tests;
