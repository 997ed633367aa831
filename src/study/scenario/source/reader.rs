//! The serde deserializer over a tree: what a type asks for, looked up in what the user wrote.

use serde::de::{DeserializeSeed, Deserializer, Error as _, Unexpected, Visitor};

use super::fault::Fault;
use super::number::{Figure, figure};
use super::read_error::ReadError;
use super::reading::{Run, Spot};
use super::spelling::{advice, camel_case, excerpt, list, nearest};
use super::stand_in::StandIn;
use super::tree::{Field, Node, Tree};
use access::{Entries, Entry, Fields, Items, Variant};
use std::collections::HashSet;

mod access;

type Names = &'static [&'static str];

/// What a type asks a deserializer for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Want {
    Any,
    Bool,
    Whole { wide: bool },
    Real,
    Char,
    Text,
    Unit(Option<&'static str>),
    Option,
    Newtype(&'static str),
    List,
    Tuple(Option<&'static str>, usize),
    Map,
    Struct(&'static str, Names),
    Enum(&'static str, Names),
    Ignored,
}

/// Implements `Deserializer` by one `read(want, visitor)`.
macro_rules! forward_to_read {
    () => {
        forward_to_read! {
            deserialize_any => Want::Any, deserialize_bool => Want::Bool,
            deserialize_i8 => Want::Whole { wide: false }, deserialize_i16 => Want::Whole { wide: false },
            deserialize_i32 => Want::Whole { wide: false }, deserialize_i64 => Want::Whole { wide: false },
            deserialize_u8 => Want::Whole { wide: false }, deserialize_u16 => Want::Whole { wide: false },
            deserialize_u32 => Want::Whole { wide: false }, deserialize_u64 => Want::Whole { wide: false },
            deserialize_i128 => Want::Whole { wide: true }, deserialize_u128 => Want::Whole { wide: true },
            deserialize_f32 => Want::Real, deserialize_f64 => Want::Real, deserialize_char => Want::Char,
            deserialize_str => Want::Text, deserialize_string => Want::Text,
            deserialize_bytes => Want::Any, deserialize_byte_buf => Want::Any,
            deserialize_option => Want::Option, deserialize_unit => Want::Unit(None),
            deserialize_seq => Want::List, deserialize_map => Want::Map,
            deserialize_identifier => Want::Text, deserialize_ignored_any => Want::Ignored,
        }

        fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, ReadError> {
            self.read(Want::Unit(Some(name)), visitor)
        }

        fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, ReadError> {
            self.read(Want::Newtype(name), visitor)
        }

        fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
            self.read(Want::Tuple(None, length), visitor)
        }

        fn deserialize_tuple_struct<V: Visitor<'de>>(
            self,
            name: &'static str,
            length: usize,
            visitor: V,
        ) -> Result<V::Value, ReadError> {
            self.read(Want::Tuple(Some(name), length), visitor)
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            name: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, ReadError> {
            self.read(Want::Struct(name, fields), visitor)
        }

        fn deserialize_enum<V: Visitor<'de>>(
            self,
            name: &'static str,
            variants: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, ReadError> {
            self.read(Want::Enum(name, variants), visitor)
        }
    };
    ($($method:ident => $want:expr),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.read($want, visitor)
        })+
    };
}
pub(super) use forward_to_read;

/// Reads one value of a tree.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    tree: &'a Tree,
    run: &'a Run<'a>,
    /// The name of the value was that of a variant and is already used up.
    nameless: bool,
}

impl<'a> Reader<'a> {
    pub fn new(tree: &'a Tree, run: &'a Run<'a>) -> Self {
        Self { tree, run, nameless: false }
    }

    fn child(self, tree: &'a Tree) -> Self {
        Self::new(tree, self.run)
    }

    fn spot(self) -> Spot {
        (self.tree.address(), None)
    }

    fn read<'de, V: Visitor<'de>>(self, want: Want, visitor: V) -> Result<V::Value, ReadError> {
        let value = match StandIn::for_spot(self.run, self.spot()) {
            Some(stand_in) => stand_in.read(want, visitor),
            None => self.deliver(want, visitor),
        };
        value.map_err(|error| error.at(self.spot()))
    }

    /// Reads the value with a seed; its own errors stand here.
    fn seed<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(self).map_err(|error| error.at(self.spot()))
    }

    fn deliver<'de, V: Visitor<'de>>(self, want: Want, visitor: V) -> Result<V::Value, ReadError> {
        match (want, &self.tree.node) {
            (Want::Option, _) => self.option(visitor),
            (Want::Newtype(name), _) => self.newtype(name, visitor),
            (Want::Struct(name, fields), _) => self.structure(name, fields, visitor),
            (Want::Enum(name, variants), _) => self.enumeration(name, variants, visitor),
            (Want::Tuple(name, length), _) => self.tuple(name, length, visitor),
            (Want::Ignored, _) | (Want::Unit(None), Node::Unit) => visitor.visit_unit(),
            (Want::Unit(Some(name)), Node::Name(given)) if given == name => visitor.visit_unit(),
            (Want::Text, Node::Name(word)) if self.is_typed() => visitor.visit_str(word),
            (_, Node::Number(text)) => self.number(want, text, visitor),
            (Want::Any, _)
            | (Want::List, Node::List(_))
            | (Want::Map, Node::Map(_))
            | (_, Node::Text(_) | Node::Bool(_) | Node::Char(_)) => self.any(visitor),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    /// Whether the value was typed on the command line, where names may be written in kebab-case.
    fn is_typed(self) -> bool {
        self.run.sources.is_typed(self.tree.place)
    }

    fn unexpected<'de>(self, visitor: &impl Visitor<'de>) -> ReadError {
        ReadError::invalid_type(Unexpected::Other(&self.tree.words()), visitor)
    }

    /// Hands over what stands here as what it looks like.
    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.tree.node {
            Node::Unit => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(*value),
            Node::Number(text) => self.number(Want::Any, text, visitor),
            Node::Text(text) | Node::Name(text) => visitor.visit_str(text),
            Node::Char(letter) => visitor.visit_char(*letter),
            Node::List(items) | Node::Tuple { items, .. } => visitor.visit_seq(Items::new(self, items)),
            Node::Map(entries) => visitor.visit_map(Entries { map: self, rest: entries.iter(), value: None }),
            Node::Option(_) => self.option(visitor),
            Node::Record { fields, .. } => visitor.visit_map(Fields::all(self, fields)),
        }
    }

    fn number<'de, V: Visitor<'de>>(self, want: Want, text: &str, visitor: V) -> Result<V::Value, ReadError> {
        let wide = matches!(want, Want::Whole { wide: true });
        match figure(text) {
            Some(Figure::Real(value)) => visitor.visit_f64(value),
            Some(Figure::Whole { negative, magnitude }) if matches!(want, Want::Real) => {
                visitor.visit_f64(real(negative, magnitude))
            }
            Some(Figure::Whole { negative: false, magnitude }) => match u64::try_from(magnitude) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) if wide => visitor.visit_u128(magnitude),
                Err(_) => Err(self.unexpected(&visitor)),
            },
            Some(Figure::Whole { magnitude, .. }) => match 0_i128.checked_sub_unsigned(magnitude) {
                Some(value) if wide => visitor.visit_i128(value),
                Some(value) => match i64::try_from(value) {
                    Ok(value) => visitor.visit_i64(value),
                    Err(_) => Err(self.unexpected(&visitor)),
                },
                None => Err(self.unexpected(&visitor)),
            },
            None => Err(self.unexpected(&visitor)),
        }
    }

    fn option<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.tree.node {
            Node::Option(None) => visitor.visit_none(),
            Node::Option(Some(inner)) => {
                let inner = self.child(inner);
                visitor.visit_some(inner).map_err(|error| error.at(inner.spot()))
            }
            _ => visitor.visit_some(self),
        }
    }

    fn newtype<'de, V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, ReadError> {
        if let Node::Tuple { name: given, items } = &self.tree.node
            && let [item] = items.as_slice()
            && !self.nameless
            && given.as_ref().is_none_or(|given| given.text == name)
        {
            let inner = self.child(item);
            return visitor.visit_newtype_struct(inner).map_err(|error| error.at(inner.spot()));
        }
        visitor.visit_newtype_struct(self)
    }

    fn tuple<'de, V: Visitor<'de>>(
        self,
        name: Option<&'static str>,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.tree.node {
            Node::Tuple { name: given, items } => {
                let known = self.nameless || given.as_ref().is_none_or(|given| Some(given.text.as_str()) == name);
                if known { self.sequence(items, length, visitor) } else { Err(self.unexpected(&visitor)) }
            }
            Node::List(items) => self.sequence(items, length, visitor),
            Node::Unit => self.sequence(&[], length, visitor),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    fn sequence<'de, V: Visitor<'de>>(
        self,
        items: &'a [Tree],
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if items.len() == length {
            return visitor.visit_seq(Items::new(self, items));
        }
        Err(ReadError::custom(format!("expected {length} values, found {}", items.len())))
    }

    fn structure<'de, V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: Names,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.tree.name() {
            Some(given) if given != name && !self.nameless => {
                let error = ReadError::custom(format!("expected `{name}`, found `{}`", excerpt(given)));
                let error = error.placed(self.tree.opening());
                let misspelt = nearest(given, [name]).is_some();
                if !misspelt {
                    return Err(error);
                }
                let help = format!("did you mean `{name}`?");
                self.run.record(self.tree, error.into_fault(self.tree).help(&help));
            }
            _ => {}
        }
        match &self.tree.node {
            Node::Record { fields: given, .. } => visitor.visit_map(self.fields(name, fields, given)),
            Node::Unit | Node::Name(_) => visitor.visit_map(self.fields(name, fields, &[])),
            Node::Tuple { items, .. } if items.is_empty() => visitor.visit_map(self.fields(name, fields, &[])),
            _ => Err(self.unexpected(&visitor)),
        }
    }

    /// The fields under their known names: unknown ones are recorded, misspelt ones read as what they mean.
    fn fields(self, owner: &str, known: Names, given: &'a [Field]) -> Fields<'a> {
        let mut fields = Fields::all(self, &[]);
        let is_given: HashSet<&str> = given.iter().map(|field| field.name.text.as_str()).collect();
        for field in given {
            let name = field.name.text.as_str();
            if known.contains(&name) {
                fields.push(name, Entry::Given(&field.value));
                continue;
            }
            if field.inherited || !self.run.has_room() {
                continue;
            }
            self.run.record(self.tree, unknown_field(field, owner, known));
            let free = known.iter().copied().filter(|name| !is_given.contains(name));
            if let Some(meant) = nearest(name, free)
                && !fields.has(meant)
            {
                fields.push(meant, Entry::Given(&field.value));
            }
        }
        for name in self.run.missing(self.tree.address()) {
            if !fields.has(name) {
                fields.push(name, Entry::Missing(name));
            }
        }
        fields
    }

    fn enumeration<'de, V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: Names,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let given = match &self.tree.node {
            Node::Option(None) => "None",
            Node::Option(Some(_)) => "Some",
            Node::Text(text) if self.is_typed() => text,
            _ => match self.tree.name() {
                Some(given) if !self.nameless => given,
                _ => return Err(self.no_variant(variants)),
            },
        };
        let variant = self.variant(given, name, variants)?;
        visitor.visit_enum(Variant { reader: self, variant })
    }

    fn no_variant(self, variants: Names) -> ReadError {
        let message = format!("expected one of {}, found {}", list(variants.iter().copied()), self.tree.words());
        match &self.tree.node {
            Node::Text(text) if variants.contains(&text.as_str()) => {
                ReadError::custom(message).helped("names stand without quotes")
            }
            _ => ReadError::custom(message),
        }
    }

    fn variant(self, given: &str, name: &str, variants: Names) -> Result<&'static str, ReadError> {
        let known = |wanted: &str| variants.iter().find(|variant| **variant == wanted).copied();
        if let Some(variant) = known(given) {
            return Ok(variant);
        }
        if self.is_typed()
            && let Some(variant) = camel_case(given).and_then(|camel| known(&camel))
        {
            return Ok(variant);
        }
        let message = format!("unknown variant `{}` of `{name}`", excerpt(given));
        let help = advice(given, variants.iter().copied()).unwrap_or_default();
        let error = ReadError::custom(message).helped(&help).placed(self.tree.opening());
        let Some(meant) = nearest(given, variants.iter().copied()) else { return Err(error) };
        self.run.record(self.tree, error.into_fault(self.tree));
        Ok(meant)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number too exact for a float is rounded, as everywhere")]
fn real(negative: bool, magnitude: u128) -> f64 {
    if negative { -(magnitude as f64) } else { magnitude as f64 }
}

fn unknown_field(field: &Field, owner: &str, known: Names) -> Fault {
    let name = &field.name.text;
    let fault = Fault::new(&format!("unknown field `{}` in `{owner}`", excerpt(name))).at(field.name.place);
    match advice(name, known.iter().copied()) {
        Some(help) => fault.help(&help),
        None => fault.help("it takes no fields"),
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    forward_to_read!();
}
