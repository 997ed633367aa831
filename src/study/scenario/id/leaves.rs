//! The leaf values of any serialisable value, each hashed with its path.

use super::Sum;
use serde::ser::{self, Serialize};
use std::fmt::{self, Display};
use xxhash_rust::xxh3::xxh3_128;

/// Initial capacity for a path and its value, in bytes; sufficient for nearly all.
const MAX_PATHS: usize = 128;

/// Names that do not affect any result, by type and field. (Placements refer to levels by their names.)
const NAMES: [(&str, &str); 2] = [("Machine", "name"), ("Kernel", "name")];

/// Returns the sum of the hashes of all leaf values of `value`, which is located at `path`.
pub(super) fn sum(path: &str, value: &impl Serialize) -> Sum {
    let mut leaves = IdLeaves { path: Vec::with_capacity(MAX_PATHS), sum: 0 };
    let result = leaves.below(PathElement::Name(path), value);
    result.expect("whatever a scenario holds can be hashed");
    leaves.sum
}

struct IdLeaves {
    /// The unambiguous path from the root: for every step its kind, its length and its name.
    path: Vec<u8>,
    sum: Sum,
}

#[derive(Clone, Copy)]
enum PathElement<'n> {
    Name(&'n str),
    Index(u64),
}

/// The kind of a leaf value. Values of different kinds with the same bytes have different hashes.
#[derive(Clone, Copy)]
enum LeafKind {
    Nothing = 1,
    Whole,
    Real,
    Text,
    Variant,
    Length,
}

impl IdLeaves {
    fn below(&mut self, step: PathElement<'_>, value: &(impl Serialize + ?Sized)) -> Result<(), Never> {
        let length = self.path.len();
        match step {
            PathElement::Name(name) => {
                self.path.push(b'n');
                self.path.extend((name.len() as u64).to_le_bytes());
                self.path.extend(name.as_bytes());
            }
            PathElement::Index(index) => {
                self.path.push(b'i');
                self.path.extend(index.to_le_bytes());
            }
        }
        let result = value.serialize(&mut *self);
        self.path.truncate(length);
        result
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is the last that the methods of a serializer do")]
    fn leaf(&mut self, kind: LeafKind, value: &[u8]) -> Result<(), Never> {
        let length = self.path.len();
        self.path.push(b'=');
        self.path.push(kind as u8);
        self.path.extend(value);
        self.sum = self.sum.wrapping_add(xxh3_128(&self.path));
        self.path.truncate(length);
        Ok(())
    }

    fn whole(&mut self, value: i128) -> Result<(), Never> {
        self.leaf(LeafKind::Whole, &value.to_le_bytes())
    }
}

/// An error that does not occur; serde requires an error type.
#[derive(Debug)]
struct Never(String);

impl Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

macro_rules! whole_numbers {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, value: $type) -> Result<(), Never> {
            self.whole(i128::from(value))
        })*
    };
}

impl<'l> ser::Serializer for &'l mut IdLeaves {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = ElementHasher<'l>;
    type SerializeTuple = ElementHasher<'l>;
    type SerializeTupleStruct = ElementHasher<'l>;
    type SerializeTupleVariant = ElementHasher<'l>;
    type SerializeMap = ElementHasher<'l>;
    type SerializeStruct = FieldHasher<'l>;
    type SerializeStructVariant = FieldHasher<'l>;

    /// Selects the binary form, in which the file of a program is represented by its contents rather than by its name.
    fn is_human_readable(&self) -> bool {
        false
    }

    whole_numbers! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    }

    fn serialize_f32(self, value: f32) -> Result<(), Never> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Never> {
        // Zero has one hash, whatever its sign.
        let value = if value == 0.0 { 0.0 } else { value };
        self.leaf(LeafKind::Real, &value.to_bits().to_le_bytes())
    }

    fn serialize_char(self, value: char) -> Result<(), Never> {
        self.leaf(LeafKind::Text, value.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn serialize_str(self, value: &str) -> Result<(), Never> {
        self.leaf(LeafKind::Text, value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Never> {
        self.leaf(LeafKind::Text, value)
    }

    fn serialize_none(self) -> Result<(), Never> {
        self.leaf(LeafKind::Nothing, &[])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Never> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Never> {
        self.leaf(LeafKind::Nothing, &[])
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Never> {
        self.leaf(LeafKind::Nothing, &[])
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Never> {
        self.leaf(LeafKind::Variant, variant.as_bytes())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Never> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        self.leaf(LeafKind::Variant, variant.as_bytes())?;
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ElementHasher<'l>, Never> {
        Ok(ElementHasher { leaves: self, count: 0 })
    }

    fn serialize_tuple(self, _: usize) -> Result<ElementHasher<'l>, Never> {
        Ok(ElementHasher { leaves: self, count: 0 })
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<ElementHasher<'l>, Never> {
        Ok(ElementHasher { leaves: self, count: 0 })
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ElementHasher<'l>, Never> {
        self.leaf(LeafKind::Variant, variant.as_bytes())?;
        Ok(ElementHasher { leaves: self, count: 0 })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<ElementHasher<'l>, Never> {
        Ok(ElementHasher { leaves: self, count: 0 })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<FieldHasher<'l>, Never> {
        Ok(FieldHasher { leaves: self, owner: name })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<FieldHasher<'l>, Never> {
        self.leaf(LeafKind::Variant, variant.as_bytes())?;
        Ok(FieldHasher { leaves: self, owner: variant })
    }
}

/// Hashes the values of a list, or the keys and values of a map, by position.
struct ElementHasher<'l> {
    leaves: &'l mut IdLeaves,
    count: u64,
}

impl ElementHasher<'_> {
    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Never> {
        self.count += 1;
        self.leaves.below(PathElement::Index(self.count), value)
    }

    fn close(self) -> Result<(), Never> {
        self.leaves.leaf(LeafKind::Length, &self.count.to_le_bytes())
    }
}

macro_rules! items {
    ($($of:ident: $item:ident),*) => {
        $(impl ser::$of for ElementHasher<'_> {
            type Ok = ();
            type Error = Never;
            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                self.item(value)
            }
            fn end(self) -> Result<(), Never> {
                self.close()
            }
        })*
    };
}

items! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field
}

impl ser::SerializeMap for ElementHasher<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        self.item(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        self.item(value)
    }

    fn end(self) -> Result<(), Never> {
        self.close()
    }
}

/// Hashes the fields of a record by name.
struct FieldHasher<'l> {
    leaves: &'l mut IdLeaves,
    owner: &'static str,
}

macro_rules! fields {
    ($($of:ident),*) => {
        $(impl ser::$of for FieldHasher<'_> {
            type Ok = ();
            type Error = Never;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Never> {
                if NAMES.contains(&(self.owner, name)) {
                    return Ok(());
                }
                self.leaves.below(PathElement::Name(name), value)
            }
            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant }
