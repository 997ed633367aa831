//! Reading of a tree into a type. If deserialisation fails, the tree is searched for all its faults.

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

/// Reads a tree as a value of a type, or returns all its faults.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(sources: &Sources, tree: &Tree) -> Result<T, Vec<SourceFault>> {
    let reader = ValueReader::new(tree, sources);
    T::deserialize(reader).map_err(|error| {
        let mut generator = generator();
        let schema = generator.root_schema_for::<T>();
        explained(reader, &schema, &TextChecks::of(&mut generator), error.at(tree))
    })
}

/// Returns a schema generator that collects the checks of texts.
fn generator() -> SchemaGenerator {
    SchemaSettings::default().with_transform(TextChecks::default()).into_generator()
}

/// Returns all faults of a tree that cannot be read because of `error`.
///
/// Checks that types perform during deserialisation are not in the schema, so their errors are added to those of the
/// schema walk.
fn explained(reader: ValueReader<'_>, schema: &Schema, checks: &TextChecks, error: ReadError) -> Vec<SourceFault> {
    let mut faults = faults_of(reader, &Types::new(schema.as_value(), checks));
    if faults.is_empty() || error.is_custom() {
        faults.push(error.into_fault(reader.tree));
    }
    faults
}

#[cfg(test)]
mod tests;
