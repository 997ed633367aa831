//! Sequential access to the items of lists, maps, records and variants.

use super::ValueReader;
use crate::scenario::source::read_error::ReadError;
use crate::scenario::source::tree::{Tree, TreeField};
use serde::de::{self, DeserializeSeed, Deserializer as _, Error as _, IntoDeserializer as _, Visitor};

impl ValueReader<'_> {
    /// Reads the value with a seed, and attributes errors without a place to this value.
    fn seed<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(self).map_err(|error| error.at(self.tree))
    }
}

/// Access to the values of a list or tuple.
pub(super) struct ListAccess<'a> {
    parent: ValueReader<'a>,
    rest: std::slice::Iter<'a, Tree>,
}

impl<'a> ListAccess<'a> {
    pub fn new(parent: ValueReader<'a>, items: &'a [Tree]) -> Self {
        Self { parent, rest: items.iter() }
    }
}

impl<'de> de::SeqAccess<'de> for ListAccess<'_> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        self.rest.next().map(|item| self.parent.child(item).seed(seed)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Access to the entries of a map.
pub(super) struct Entries<'a> {
    map: ValueReader<'a>,
    rest: std::slice::Iter<'a, (Tree, Tree)>,
    value: Option<&'a Tree>,
}

impl<'a> Entries<'a> {
    pub fn new(map: ValueReader<'a>, entries: &'a [(Tree, Tree)]) -> Self {
        Self { map, rest: entries.iter(), value: None }
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        self.map.child(key).seed(seed).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        self.map.child(of_key(self.value.take())?).seed(seed)
    }
}

/// Access to the fields of a record.
pub(super) struct RecordAccess<'a> {
    record: ValueReader<'a>,
    rest: std::slice::Iter<'a, TreeField>,
    value: Option<&'a Tree>,
    /// The names of the fields that are passed on, or `None` for all fields.
    known: Option<&'static [&'static str]>,
}

impl<'a> RecordAccess<'a> {
    pub fn all(record: ValueReader<'a>, fields: &'a [TreeField]) -> Self {
        Self { record, rest: fields.iter(), value: None, known: None }
    }

    /// Creates access to the fields of a type with the fields `known`. Inherited fields that the type lacks are
    /// skipped.
    pub fn known(
        record: ValueReader<'a>,
        fields: &'a [TreeField],
        known: &'static [&'static str],
    ) -> Result<Self, ReadError> {
        let is_known = |field: &TreeField| field.inherited || known.contains(&field.name.text.as_str());
        match fields.iter().find(|field| !is_known(field)) {
            Some(field) => Err(ReadError::unknown_field(&field.name.text, known)),
            None => Ok(Self { known: Some(known), ..Self::all(record, fields) }),
        }
    }

    fn next(&mut self) -> Option<&'a str> {
        let known = self.known;
        let is_taken = |field: &&TreeField| known.is_none_or(|known| known.contains(&field.name.text.as_str()));
        let field = self.rest.find(is_taken)?;
        self.value = Some(&field.value);
        Some(&field.name.text)
    }
}

impl<'de> de::MapAccess<'de> for RecordAccess<'_> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        self.next().map(|name| seed.deserialize(name.into_deserializer())).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        self.record.child(of_key(self.value.take())?).seed(seed)
    }
}

fn of_key(value: Option<&Tree>) -> Result<&Tree, ReadError> {
    value.ok_or_else(|| ReadError::custom("a value was asked for before its key"))
}

/// A variant and the values that it was given.
pub(super) struct VariantAccess<'a> {
    pub reader: ValueReader<'a>,
    pub variant: &'static str,
}

impl VariantAccess<'_> {
    fn needs_values(&self) -> ReadError {
        ReadError::misfit(self.reader.tree, &"the values of a variant")
    }
}

impl<'de> de::EnumAccess<'de> for VariantAccess<'_> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        Ok((seed.deserialize(self.variant.into_deserializer())?, self))
    }
}

impl<'de> de::VariantAccess<'de> for VariantAccess<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        if self.reader.has_values() { Err(ReadError::misfit(self.reader.tree, &"a bare name")) } else { Ok(()) }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        self.reader.payload().ok_or_else(|| self.needs_values())?.seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.reader.nameless().deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let fields = self.reader.own_fields().ok_or_else(|| self.needs_values())?;
        visitor.visit_map(RecordAccess::known(self.reader, fields, known)?)
    }
}
