//! What a visitor is handed of lists, maps, records and variants, piece by piece.

use super::{Names, Reader};
use crate::scenario::source::read_error::ReadError;
use crate::scenario::source::stand_in::StandIn;
use crate::scenario::source::tree::{Field, Node, Tree};
use serde::de::{self, DeserializeSeed, Error as _, IntoDeserializer, Visitor};

/// The values of a list or tuple.
pub(super) struct Items<'a> {
    pub parent: Reader<'a>,
    pub items: std::slice::Iter<'a, Tree>,
}

impl<'a> Items<'a> {
    pub fn new(parent: Reader<'a>, items: &'a [Tree]) -> Self {
        Self { parent, items: items.iter() }
    }
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        self.items.next().map(|item| self.parent.child(item).seed(seed)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of a map.
pub(super) struct Entries<'a> {
    pub map: Reader<'a>,
    pub rest: std::slice::Iter<'a, (Tree, Tree)>,
    pub value: Option<&'a Tree>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let spot = self.map.spot();
        self.map.child(key).seed(seed).map(Some).map_err(|error| error.placed(key.place).moved(spot))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let value = self.value.take().ok_or_else(|| ReadError::custom("a value was asked for before its key"))?;
        self.map.child(value).seed(seed)
    }
}

/// What stands for a field.
#[derive(Clone, Copy)]
pub(super) enum Entry<'a> {
    Given(&'a Tree),
    Missing(&'static str),
}

/// The fields of a record, and stand-ins for those that are missing.
pub(super) struct Fields<'a> {
    pub record: Reader<'a>,
    pub entries: Vec<(&'a str, Entry<'a>)>,
    pub next: usize,
}

impl<'a> Fields<'a> {
    pub fn all(record: Reader<'a>, fields: &'a [Field]) -> Self {
        let entries = fields.iter().map(|field| (field.name.text.as_str(), Entry::Given(&field.value))).collect();
        Self { record, entries, next: 0 }
    }

    pub fn push(&mut self, name: &'a str, entry: Entry<'a>) {
        self.entries.push((name, entry));
    }

    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.0 == name)
    }

    fn stand_in<'de, S: DeserializeSeed<'de>>(&self, field: &'static str, seed: S) -> Result<S::Value, ReadError> {
        let spot = (self.record.tree.address(), Some(field));
        let stand_in = StandIn::for_spot(self.record.run, spot).ok_or_else(|| ReadError::missing_field(field))?;
        stand_in.seed(seed).map_err(|error| error.at(spot))
    }
}

impl<'de> de::MapAccess<'de> for Fields<'_> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        let Some((name, _)) = self.entries.get(self.next) else { return Ok(None) };
        seed.deserialize((*name).into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        self.next += 1;
        match self.entries[self.next - 1].1 {
            Entry::Given(tree) => self.record.child(tree).seed(seed),
            Entry::Missing(field) => self.stand_in(field, seed),
        }
    }
}

/// A variant and the values it was given.
pub(super) struct Variant<'a> {
    pub reader: Reader<'a>,
    pub variant: &'static str,
}

impl Variant<'_> {
    fn needs_values(&self, values: &str) -> ReadError {
        let variant = self.variant;
        ReadError::custom(format!("`{variant}` needs its values")).helped(&format!("write `{variant}({values})`"))
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'_> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        let variant = seed.deserialize(self.variant.into_deserializer())?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        match &self.reader.tree.node {
            Node::Record { fields, .. } if fields.iter().all(|field| field.inherited) => return Ok(()),
            Node::Record { .. } | Node::Option(Some(_)) => {}
            Node::Tuple { items, .. } if !items.is_empty() => {}
            _ => return Ok(()),
        }
        let error = ReadError::custom(format!("`{}` takes no values", self.variant));
        Err(error.helped(&format!("write `{}` alone", self.variant)))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        match &self.reader.tree.node {
            Node::Option(Some(inner)) => self.reader.child(inner).seed(seed),
            Node::Tuple { items, .. } if items.len() == 1 => self.reader.child(&items[0]).seed(seed),
            Node::Tuple { .. } | Node::Record { .. } => Reader { nameless: true, ..self.reader }.seed(seed),
            _ => Err(self.needs_values("…")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        match &self.reader.tree.node {
            Node::Tuple { items, .. } => self.reader.sequence(items, length, visitor),
            _ => Err(self.needs_values(&vec!["…"; length].join(", "))),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: Names, visitor: V) -> Result<V::Value, ReadError> {
        let given: &[Field] = match &self.reader.tree.node {
            Node::Record { fields, .. } => fields,
            Node::Tuple { items, .. } if items.is_empty() => &[],
            _ => {
                let fields: Vec<_> = fields.iter().map(|field| format!("{field}: …")).collect();
                return Err(self.needs_values(&fields.join(", ")));
            }
        };
        visitor.visit_map(self.reader.fields(self.variant, fields, given))
    }
}
