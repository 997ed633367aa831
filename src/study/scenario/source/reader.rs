//! The serde deserializer of a tree. Each method accepts only the kind of value that it is named after.

use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;

use super::number::{NumberValue, parse_number};
use super::place::Sources;
use super::read_error::ReadError;
use super::spelling::camel_case;
use super::tree::{Tree, TreeField, TreeValue};
use access::{Entries, ListAccess, RecordAccess, VariantAccess};

mod access;

/// A value of a tree, ready to be deserialised.
#[derive(Clone, Copy)]
pub(super) struct ValueReader<'a> {
    pub tree: &'a Tree,
    sources: &'a Sources,
    /// `true` if the name of the value was that of a variant and has been consumed.
    is_nameless: bool,
}

impl<'a> ValueReader<'a> {
    pub fn new(tree: &'a Tree, sources: &'a Sources) -> Self {
        Self { tree, sources, is_nameless: false }
    }

    pub fn child(self, tree: &'a Tree) -> Self {
        Self { tree, is_nameless: false, ..self }
    }

    /// Returns `true` if the value was typed on the command line, where names may be in kebab-case, or written by a
    /// program.
    pub fn is_typed(self) -> bool {
        self.sources.is_typed(self.tree.place)
    }

    /// Returns the name before the values, unless it was consumed as the name of a variant.
    pub fn name(self) -> Option<&'a str> {
        self.tree.name().filter(|_| !self.is_nameless)
    }

    pub fn text(self) -> Option<Cow<'a, str>> {
        match &self.tree.node {
            TreeValue::Text(text) => Some(text.into()),
            TreeValue::Name(name) if self.is_typed() => Some(name.into()),
            TreeValue::Char(letter) => Some(letter.to_string().into()),
            _ => None,
        }
    }

    /// Returns the fields of a record, whatever its name.
    pub fn fields(self) -> Option<&'a [TreeField]> {
        match &self.tree.node {
            TreeValue::Record { fields, .. } => Some(fields),
            TreeValue::Unit | TreeValue::Name(_) => Some(&[]),
            TreeValue::Tuple { items, .. } if items.is_empty() => Some(&[]),
            _ => None,
        }
    }

    /// Returns the values of a list.
    pub fn list(self) -> Option<&'a [Tree]> {
        match &self.tree.node {
            TreeValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the values of a variant that a program gives as one list.
    fn list_in(self, items: &'a [Tree]) -> Option<&'a [Tree]> {
        match items {
            [only] => self.child(only).list(),
            _ => None,
        }
    }

    /// Returns the entries of a map.
    pub fn map(self) -> Option<&'a [(Tree, Tree)]> {
        match &self.tree.node {
            TreeValue::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the values of a tuple, which may be written as a list.
    pub fn tuple(self) -> Option<&'a [Tree]> {
        match &self.tree.node {
            TreeValue::Tuple { items, .. } if self.is_typed() && self.is_nameless && self.list_in(items).is_some() => {
                self.list_in(items)
            }
            TreeValue::Tuple { items, .. } if self.name().is_none() => Some(items),
            TreeValue::List(items) => Some(items),
            TreeValue::Unit => Some(&[]),
            _ => None,
        }
    }

    /// Returns the name of a variant.
    pub fn variant(self) -> Option<&'a str> {
        match &self.tree.node {
            TreeValue::Option(None) => Some("None"),
            TreeValue::Option(Some(_)) => Some("Some"),
            TreeValue::Text(text) if self.is_typed() => Some(text),
            _ => self.name(),
        }
    }

    /// Returns the variant among `names` that `given` denotes.
    pub fn known<'n>(self, given: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> Option<&'n str> {
        let exact = names.clone().into_iter().find(|name| *name == given);
        exact.or_else(|| {
            let camel = camel_case(given).filter(|_| self.is_typed())?;
            names.into_iter().find(|name| *name == camel)
        })
    }

    /// Returns `true` if a variant is given values. Inherited fields do not count.
    pub fn has_values(self) -> bool {
        match &self.tree.node {
            TreeValue::Record { fields, .. } => !fields.iter().all(|field| field.inherited),
            TreeValue::Option(Some(_)) => true,
            TreeValue::Tuple { items, .. } => !items.is_empty(),
            _ => false,
        }
    }

    /// Returns the payload of a variant that has one.
    pub fn payload(self) -> Option<Self> {
        match &self.tree.node {
            TreeValue::Option(Some(inner)) => Some(self.child(inner)),
            TreeValue::Tuple { items, .. } if items.len() == 1 => Some(self.child(&items[0])),
            TreeValue::Tuple { .. } | TreeValue::Record { .. } => Some(self.nameless()),
            _ => None,
        }
    }

    /// Returns the fields of a struct variant.
    pub fn own_fields(self) -> Option<&'a [TreeField]> {
        match &self.tree.node {
            TreeValue::Record { .. } | TreeValue::Tuple { .. } => self.fields(),
            // A bare name leaves all fields at their defaults.
            TreeValue::Name(_) => Some(&[]),
            _ => None,
        }
    }

    /// Returns the same value with the name of its variant consumed.
    pub fn nameless(self) -> Self {
        Self { is_nameless: true, ..self }
    }

    fn boolean(self) -> Option<bool> {
        match self.tree.node {
            TreeValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    fn parse_number(self) -> Option<NumberValue> {
        match &self.tree.node {
            TreeValue::Number(text) => parse_number(text),
            _ => None,
        }
    }

    fn unsigned(self) -> Option<u64> {
        u64::try_from(self.parse_number()?.whole()?).ok()
    }

    fn signed(self) -> Option<i64> {
        i64::try_from(self.parse_number()?.whole()?).ok()
    }

    fn real(self) -> Option<f64> {
        self.parse_number().map(NumberValue::real)
    }

    fn items(self) -> Option<ListAccess<'a>> {
        self.list().map(|items| ListAccess::new(self, items))
    }

    fn entries(self) -> Option<Entries<'a>> {
        self.map().map(|entries| Entries::new(self, entries))
    }

    /// Returns the fields of a record with this name or without a name.
    fn structure(self, name: &str) -> Option<&'a [TreeField]> {
        self.fields().filter(|_| self.name().is_none_or(|given| given == name))
    }
}

/// Defines deserializer methods that pass the result of a getter to a method of the visitor.
macro_rules! hand_over {
    ($($method:ident: $find:ident => $visit:ident),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.$find() {
                Some(value) => visitor.$visit(value),
                None => Err(ReadError::misfit(self.tree, &visitor)),
            }
        })+
    };
}

impl<'de> Deserializer<'de> for ValueReader<'_> {
    type Error = ReadError;

    hand_over! {
        deserialize_bool: boolean => visit_bool,
        deserialize_i8: signed => visit_i64, deserialize_i16: signed => visit_i64,
        deserialize_i32: signed => visit_i64, deserialize_i64: signed => visit_i64,
        deserialize_u8: unsigned => visit_u64, deserialize_u16: unsigned => visit_u64,
        deserialize_u32: unsigned => visit_u64, deserialize_u64: unsigned => visit_u64,
        deserialize_f32: real => visit_f64, deserialize_f64: real => visit_f64,
        deserialize_seq: items => visit_seq, deserialize_map: entries => visit_map,
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.text() {
            Some(text) => visitor.visit_str(&text),
            None => Err(ReadError::misfit(self.tree, &visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let inner = match &self.tree.node {
            TreeValue::Option(None) => return visitor.visit_none(),
            TreeValue::Option(Some(inner)) => self.child(inner),
            _ => self,
        };
        visitor.visit_some(inner).map_err(|error| error.at(inner.tree))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        match self.tuple().filter(|items| items.len() == length) {
            Some(items) => visitor.visit_seq(ListAccess::new(self, items)),
            None => Err(ReadError::misfit(self.tree, &visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.structure(name) {
            Some(given) => visitor.visit_map(RecordAccess::known(self, given, known)?),
            // Some records may also be written as a number.
            None => match self.unsigned() {
                Some(number) => visitor.visit_u64(number),
                None => Err(ReadError::misfit(self.tree, &visitor)),
            },
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.variant().and_then(|given| self.known(given, variants.iter().copied())) {
            Some(variant) => visitor.visit_enum(VariantAccess { reader: self, variant }),
            None => Err(ReadError::misfit(self.tree, &visitor)),
        }
    }

    /// Deserialises the value according to its own kind.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.tree.node {
            TreeValue::Unit => visitor.visit_unit(),
            TreeValue::Bool(value) => visitor.visit_bool(*value),
            TreeValue::Number(_) => match (self.parse_number(), self.unsigned(), self.signed()) {
                (Some(NumberValue::Real(value)), ..) => visitor.visit_f64(value),
                (_, Some(value), _) => visitor.visit_u64(value),
                (_, _, Some(value)) => visitor.visit_i64(value),
                _ => Err(ReadError::misfit(self.tree, &visitor)),
            },
            TreeValue::Text(text) | TreeValue::Name(text) => visitor.visit_str(text),
            TreeValue::Char(letter) => visitor.visit_char(*letter),
            TreeValue::List(items) | TreeValue::Tuple { items, .. } => visitor.visit_seq(ListAccess::new(self, items)),
            TreeValue::Map(entries) => visitor.visit_map(Entries::new(self, entries)),
            TreeValue::Option(_) => self.deserialize_option(visitor),
            TreeValue::Record { fields, .. } => visitor.visit_map(RecordAccess::all(self, fields)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple_struct identifier
    }
}
