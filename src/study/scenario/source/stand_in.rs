//! Stand-ins: a deserializer that makes up any value a type asks for.
//!
//! It takes the place of a faulty value, so that a type can be read to its end and further faults be met.
//! Nothing it makes up is ever handed to a caller: a reading with a stand-in in it has a fault.

use std::cell::RefCell;

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, Visitor};

use super::read_error::ReadError;
use super::reader::{Want, forward_to_read};
use super::reading::{Run, Spot};

const TEXTS: [&str; 16] = [
    "",
    "1",
    "a",
    "1 us",
    "1 B",
    "1 us/B",
    "1 Mbit/s",
    "1 B/s",
    "1 Hz",
    "1 flop",
    "1 Mflop/s",
    "1 cycles",
    "1 MHz",
    "1 %",
    "a=1",
    "1x1",
];
const WHOLES: [u64; 4] = [1, 0, 2, 64];
const REALS: [f64; 3] = [1.0, 0.0, 0.5];
const DEEPEST: usize = 40;
const MOST_TRIES: usize = 80;

/// Which of its possible values a stand-in has taken, at each point where it had a choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    taken: Vec<(usize, usize)>,
    made: usize,
    tries: usize,
    /// What it can be, if it is one of some variants.
    variants: &'static [&'static str],
}

impl Choices {
    fn choose(&mut self, number: usize) -> usize {
        if self.made == self.taken.len() {
            self.taken.push((0, number));
        }
        self.made += 1;
        self.taken[self.made - 1].0
    }

    /// Turns to the next combination: the last choice made is the one that did not do.
    pub fn advance(&mut self) -> bool {
        self.tries += 1;
        self.taken.truncate(self.made);
        while let Some((choice, number)) = self.taken.pop() {
            if choice + 1 < number {
                self.taken.push((choice + 1, number));
                return self.tries <= MOST_TRIES;
            }
        }
        false
    }
}

/// Makes up the value at a faulty spot.
pub(super) struct StandIn<'a> {
    run: &'a Run<'a>,
    spot: Spot,
    choices: RefCell<Choices>,
}

impl<'a> StandIn<'a> {
    /// A stand-in where the spot is faulty.
    pub fn for_spot(run: &'a Run<'a>, spot: Spot) -> Option<Self> {
        let choices = RefCell::new(Choices { made: 0, ..run.choices(spot)? });
        Some(Self { run, spot, choices })
    }

    pub fn read<'de, V: Visitor<'de>>(self, want: Want, visitor: V) -> Result<V::Value, ReadError> {
        let value = Part { choices: &self.choices, depth: 0 }.read(want, visitor);
        self.run.keep(self.spot, self.choices.into_inner());
        value
    }

    pub fn seed<'de, S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        let value = seed.deserialize(Part { choices: &self.choices, depth: 0 });
        let choices = self.choices.into_inner();
        self.run.name_variants(self.spot, choices.variants);
        self.run.keep(self.spot, choices);
        value
    }
}

/// A value inside a stand-in.
#[derive(Clone, Copy)]
struct Part<'a> {
    choices: &'a RefCell<Choices>,
    depth: usize,
}

impl Part<'_> {
    fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn choose<T: Copy>(self, values: &[T]) -> Result<T, ReadError> {
        if values.is_empty() {
            return Err(ReadError::custom("there is nothing to choose from"));
        }
        let choice = self.choices.borrow_mut().choose(values.len());
        values.get(choice).copied().ok_or_else(|| ReadError::custom("there are not as many choices as before"))
    }

    fn read<'de, V: Visitor<'de>>(self, want: Want, visitor: V) -> Result<V::Value, ReadError> {
        if self.depth > DEEPEST {
            return Err(ReadError::custom("the type has no end"));
        }
        if let (0, Want::Enum(_, variants)) = (self.depth, &want) {
            self.choices.borrow_mut().variants = variants;
        }
        match want {
            Want::Bool => visitor.visit_bool(false),
            Want::Whole { .. } => visitor.visit_u64(self.choose(&WHOLES)?),
            Want::Real => visitor.visit_f64(self.choose(&REALS)?),
            Want::Char => visitor.visit_char('a'),
            Want::Text => visitor.visit_str(self.choose(&TEXTS)?),
            Want::Any => self.any(visitor),
            Want::Unit(_) | Want::Ignored => visitor.visit_unit(),
            Want::Option => visitor.visit_none(),
            Want::Newtype(_) => visitor.visit_newtype_struct(self.inner()),
            Want::List => self.items(visitor, &[0, 1, 2]),
            Want::Tuple(..) | Want::Struct(..) => self.items(visitor, &[usize::MAX]),
            Want::Map => visitor.visit_map(de::value::MapDeserializer::new(std::iter::empty::<(&str, &str)>())),
            Want::Enum(_, variants) => visitor.visit_enum(Made { part: self.inner(), variant: self.choose(variants)? }),
        }
    }

    /// For a type that takes whatever comes: a number, nothing, or one of the texts.
    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let kinds: Vec<usize> = (0..TEXTS.len() + 2).collect();
        match self.choose(&kinds)? {
            0 => visitor.visit_u64(1),
            1 => visitor.visit_unit(),
            text => visitor.visit_str(TEXTS[text - 2]),
        }
    }

    fn items<'de, V: Visitor<'de>>(self, visitor: V, lengths: &[usize]) -> Result<V::Value, ReadError> {
        let left = if let [length] = lengths { *length } else { self.choose(lengths)? };
        visitor.visit_seq(Parts { part: self.inner(), left })
    }
}

impl<'de> Deserializer<'de> for Part<'_> {
    type Error = ReadError;

    forward_to_read!();
}

/// As many made-up values as are asked for, up to a number.
struct Parts<'a> {
    part: Part<'a>,
    left: usize,
}

impl<'de> de::SeqAccess<'de> for Parts<'_> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(self.part).map(Some)
    }
}

/// A made-up variant.
struct Made<'a> {
    part: Part<'a>,
    variant: &'static str,
}

impl<'de> de::EnumAccess<'de> for Made<'_> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        let variant = seed.deserialize(self.variant.into_deserializer())?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for Made<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(self.part)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.part.items(visitor, &[usize::MAX])
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, ReadError> {
        self.part.items(visitor, &[usize::MAX])
    }
}
