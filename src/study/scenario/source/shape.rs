//! The types into which a tree is read, as described by their JSON Schema.

use super::number::{NumberValue, parse_number};
use super::spelling::list;
use super::tree::{Tree, TreeField, TreeValue};
use parsim_sim::units::{TextCheck, TextChecks};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

const DEFINITIONS: &str = "#/$defs/";

/// All types of a schema.
pub(super) struct Types<'s> {
    root: &'s Value,
    checks: &'s TextChecks,
}

/// A type, or the content of a variant.
pub(super) struct TypeShape<'s> {
    /// The name before the values, or empty if there is none.
    pub name: &'s str,
    pub is_optional: bool,
    pub kind: ShapeKind<'s>,
}

pub(super) enum ShapeKind<'s> {
    Record(RecordShape<'s>),
    Variants(Vec<VariantShape<'s>>),
    List(&'s Value),
    Tuple(&'s [Value]),
    Map(&'s Value),
    Scalar(ScalarShape<'s>),
    Anything,
}

pub(super) struct RecordShape<'s> {
    fields: Option<&'s Map<String, Value>>,
    required: &'s [Value],
    /// `true` if other fields are allowed, too.
    is_open: bool,
}

pub(super) struct VariantShape<'s> {
    pub name: &'s str,
    pub content: Option<&'s Value>,
}

/// A scalar, or a value that its type parses from several kinds of scalars.
pub(super) struct ScalarShape<'s> {
    kinds: Vec<&'s str>,
    whole: RangeInclusive<i128>,
    /// The fields, if the value may also be a record.
    pub record: Option<RecordShape<'s>>,
    /// The description of the type in the schema.
    description: Option<&'s str>,
    pub check: Option<TextCheck>,
}

impl<'s> Types<'s> {
    pub fn new(root: &'s Value, checks: &'s TextChecks) -> Self {
        Self { root, checks }
    }

    pub fn whole(&self) -> TypeShape<'s> {
        self.shape(self.root)
    }

    /// Returns the shape of the values of a schema.
    pub fn shape(&self, mut schema: &'s Value) -> TypeShape<'s> {
        let mut name = None;
        let mut is_optional = false;
        loop {
            if let Some(reference) = schema["$ref"].as_str() {
                name = reference.strip_prefix(DEFINITIONS);
                schema = name.map_or(&Value::Null, |name| &self.root["$defs"][name]);
            } else if let Some(options) = schema["anyOf"].as_array() {
                let is_null = |option: &Value| option["type"] == "null";
                is_optional |= options.iter().any(is_null);
                schema = options.iter().find(|option| !is_null(option)).unwrap_or(&Value::Null);
            } else {
                break;
            }
        }
        let title = schema["title"].as_str();
        let check = name.or(title).and_then(|name| self.checks.of_type(name));
        is_optional |= kinds(schema).any(|kind| kind == "null");
        TypeShape { name: title.or(name).unwrap_or_default(), is_optional, kind: ShapeKind::of(schema, check) }
    }
}

impl<'s> ShapeKind<'s> {
    fn of(schema: &'s Value, check: Option<TextCheck>) -> Self {
        let variants: Vec<_> =
            items(schema, "enum").chain(items(schema, "oneOf")).flat_map(VariantShape::all).collect();
        if !variants.is_empty() {
            return Self::Variants(variants);
        }
        if let Some(parts) = schema["prefixItems"].as_array() {
            return Self::Tuple(parts);
        }
        let scalar = ScalarShape::of(schema, check);
        match (scalar.kinds.as_slice(), &schema["additionalProperties"]) {
            (["object"], values @ (Value::Object(_) | Value::Bool(true))) => Self::Map(values),
            (["object"], _) => Self::Record(RecordShape::of(schema, false)),
            ([], _) => Self::Anything,
            (["array"], _) => Self::List(&schema["items"]),
            _ => Self::Scalar(scalar),
        }
    }
}

impl<'s> RecordShape<'s> {
    fn of(schema: &'s Value, is_open: bool) -> Self {
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        Self { fields: schema["properties"].as_object(), required, is_open }
    }

    /// Returns `true` if a field is checked. Unknown fields are faults unless they are inherited or the record is open.
    pub fn checks(&self, field: &TreeField) -> bool {
        self.field(&field.name.text).is_some() || !(self.is_open || field.inherited)
    }

    pub fn field(&self, name: &str) -> Option<&'s Value> {
        self.fields?.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &'s str> + Clone {
        self.fields.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    pub fn required(&self) -> impl Iterator<Item = &'s str> {
        self.required.iter().filter_map(Value::as_str)
    }
}

impl<'s> VariantShape<'s> {
    /// Returns the variants of one alternative of a schema: a list of names, a name, or an object with one field.
    fn all(schema: &'s Value) -> Vec<Self> {
        let names = schema.as_str().or(schema["const"].as_str()).into_iter();
        let bare = names.chain(items(schema, "enum").filter_map(Value::as_str));
        let bare = bare.map(|name| Self { name, content: None });
        let full = schema["properties"].as_object().into_iter().flatten();
        bare.chain(full.map(|(name, content)| Self { name, content: Some(content) })).collect()
    }
}

impl<'s> ScalarShape<'s> {
    fn of(schema: &'s Value, check: Option<TextCheck>) -> Self {
        let kinds: Vec<_> = kinds(schema).filter(|kind| *kind != "null").collect();
        let speaks_for_itself = check.is_some() || kinds.len() > 1;
        let description = schema["description"].as_str().filter(|_| speaks_for_itself);
        let record = kinds.contains(&"object").then(|| RecordShape::of(schema, true));
        Self { kinds, whole: whole(schema), record, description, check }
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns `true` if the type accepts several kinds of values.
    pub fn is_mixed(&self) -> bool {
        self.kinds.len() > 1
    }

    /// Returns `true` if a text or a number is a value of the type.
    pub fn accepts(&self, tree: &Tree) -> bool {
        match &tree.node {
            TreeValue::Text(text) => self.is("string") && self.check.is_none_or(|check| check(text).is_ok()),
            TreeValue::Number(text) => self.takes_number(text),
            _ => false,
        }
    }

    pub fn takes_number(&self, text: &str) -> bool {
        match parse_number(text) {
            Some(NumberValue::Real(_)) => self.is("number"),
            Some(whole) if self.is("integer") || self.is_mixed() => {
                whole.whole().is_some_and(|value| self.whole.contains(&value))
            }
            Some(_) => self.is("number"),
            None => false,
        }
    }
}

impl TypeShape<'_> {
    /// Returns advice for a value with superfluous or missing quotes, or a superfluous `Some`.
    pub fn advice(&self, tree: &Tree) -> Option<&'static str> {
        match (&tree.node, &self.kind) {
            (TreeValue::Option(Some(_)), _) => Some("leave `Some` out"),
            (TreeValue::Text(text), ShapeKind::Variants(variants))
                if variants.iter().any(|variant| text.split('(').next() == Some(variant.name)) =>
            {
                Some("names are written without quotes")
            }
            (TreeValue::Text(text), ShapeKind::Scalar(scalar))
                if !scalar.is("string") && parse_number(text).is_some() =>
            {
                Some("numbers are written without quotes")
            }
            (TreeValue::Name(_), ShapeKind::Scalar(scalar)) if scalar.is("string") => Some("text is written in quotes"),
            _ => None,
        }
    }

    /// Returns `true` if the fields belong directly to a variant.
    pub fn is_nameless(&self) -> bool {
        self.name.is_empty()
    }

    /// Returns the written form of the values of a variant.
    pub fn form(&self) -> String {
        match &self.kind {
            ShapeKind::Record(record) if self.is_nameless() => {
                let fields: Vec<_> = record.names().map(|field| format!("{field}: …")).collect();
                fields.join(", ")
            }
            ShapeKind::Tuple(parts) => vec!["…"; parts.len()].join(", "),
            _ => "…".to_owned(),
        }
    }

    /// Returns a description of the type in words.
    pub fn words(&self) -> String {
        match &self.kind {
            ShapeKind::Record(_) if self.is_nameless() => "a record `(name: …)`".to_owned(),
            ShapeKind::Record(_) => format!("`{}(…)`", self.name),
            ShapeKind::Variants(variants) => format!("one of {}", list(variants.iter().map(|variant| variant.name))),
            ShapeKind::List(_) => "a list `[…]`".to_owned(),
            ShapeKind::Tuple(parts) => format!("a tuple of {} values", parts.len()),
            ShapeKind::Map(_) => "a map `{…}`".to_owned(),
            ShapeKind::Scalar(scalar) => scalar.words(),
            ShapeKind::Anything => "a value".to_owned(),
        }
    }
}

impl ScalarShape<'_> {
    fn words(&self) -> String {
        match (self.description, self.kinds.first()) {
            (Some(description), _) => description.to_owned(),
            (None, Some(&"integer")) => format!("a whole number from {} to {}", self.whole.start(), self.whole.end()),
            (None, Some(&"number")) => "a number".to_owned(),
            (None, Some(&"boolean")) => "`true` or `false`".to_owned(),
            _ => "text in quotes".to_owned(),
        }
    }
}

/// Returns the integers that a schema allows; the range always fits `i64` or `u64`.
fn whole(schema: &Value) -> RangeInclusive<i128> {
    let format = schema["format"].as_str().unwrap_or_default();
    let values = |bits: &str| 1_i128 << bits.parse().unwrap_or(64).min(64);
    let (least, most) = match (format.strip_prefix("uint"), format.strip_prefix("int")) {
        (Some(bits), _) => (0, values(bits) - 1),
        (_, Some(bits)) => (-values(bits) / 2, values(bits) / 2 - 1),
        _ => (i64::MIN.into(), u64::MAX.into()),
    };
    let bound = |key: &str| schema[key].as_i64().map(i128::from);
    bound("minimum").unwrap_or(least)..=bound("maximum").unwrap_or(most)
}

fn kinds(schema: &Value) -> impl Iterator<Item = &str> {
    schema["type"].as_str().into_iter().chain(items(schema, "type").filter_map(Value::as_str))
}

fn items<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    schema[key].as_array().into_iter().flatten()
}
