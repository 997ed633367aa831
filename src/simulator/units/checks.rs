//! Checks of text values, gathered together with the schema of their types.

use schemars::transform::Transform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};
use std::borrow::Cow;

/// A check that returns the reason why a text is not a value of a type.
pub type TextCheck = fn(&str) -> Result<(), String>;

/// The checks of the types in a schema whose values are texts.
///
/// The checks are attached to a schema generator as a transform that changes nothing. Each type adds its own check when
/// it generates its schema, so that no central list is needed.
#[derive(Clone, Debug, Default)]
pub struct TextChecks(Vec<(Cow<'static, str>, TextCheck)>);

impl Transform for TextChecks {
    fn transform(&mut self, _: &mut Schema) {}
}

impl TextChecks {
    /// Takes the checks that types have added to a generator.
    pub fn of(generator: &mut SchemaGenerator) -> Self {
        Self::within(generator).map(std::mem::take).unwrap_or_default()
    }

    /// Adds the check of `T` to a generator that gathers checks.
    pub fn add<T: DeserializeOwned + JsonSchema>(generator: &mut SchemaGenerator) {
        if let Some(Self(checks)) = Self::within(generator) {
            let check = |text: &str| match T::deserialize(StrDeserializer::<Error>::new(text)) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.to_string()),
            };
            checks.push((T::schema_name(), check));
        }
    }

    /// Returns the check of the type with this name.
    #[must_use]
    pub fn of_type(&self, name: &str) -> Option<TextCheck> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, check)| *check)
    }

    fn within(generator: &mut SchemaGenerator) -> Option<&mut Self> {
        generator.transforms_mut().find_map(|transform| transform.downcast_mut())
    }
}
