//! The checks of texts, gathered with the schema of the types that are written as texts.

use schemars::transform::Transform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};
use std::borrow::Cow;

/// Says why a text is no value of a type.
pub type TextCheck = fn(&str) -> Result<(), String>;

/// The checks of the types of a schema whose values are texts.
///
/// It rides along with a generator of schemas as a transform that changes nothing; a type adds its own check where it
/// makes its schema, so that no list has to know it.
#[derive(Clone, Debug, Default)]
pub struct TextChecks(Vec<(Cow<'static, str>, TextCheck)>);

impl Transform for TextChecks {
    fn transform(&mut self, _: &mut Schema) {}
}

impl TextChecks {
    /// Takes the checks that the types of a generator have added.
    pub fn of(generator: &mut SchemaGenerator) -> Self {
        Self::within(generator).map(std::mem::take).unwrap_or_default()
    }

    /// Adds the check of `T` to those of a generator that gathers them.
    pub fn add<T: DeserializeOwned + JsonSchema>(generator: &mut SchemaGenerator) {
        if let Some(Self(checks)) = Self::within(generator) {
            let check = |text: &str| match T::deserialize(StrDeserializer::<Error>::new(text)) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.to_string()),
            };
            checks.push((T::schema_name(), check));
        }
    }

    /// The check of the type of that name.
    #[must_use]
    pub fn of_type(&self, name: &str) -> Option<TextCheck> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, check)| *check)
    }

    fn within(generator: &mut SchemaGenerator) -> Option<&mut Self> {
        generator.transforms_mut().find_map(|transform| transform.downcast_mut())
    }
}
