//! The tree of a document: RON values with their places.

use std::fmt;
use std::ops::Range;

use super::place::Place;
use super::spelling::excerpt;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The place of the value.
    pub place: Place,
    /// The content of the value.
    pub node: TreeValue,
}

/// The content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeValue {
    /// `()`
    Unit,
    /// `true` or `false`
    Bool(bool),
    /// A number as written, such as `1_000` or `0x10`.
    Number(String),
    /// `"text"`, stored without quotes and escapes.
    Text(String),
    /// `'c'`
    Char(char),
    /// `[a, b]`
    List(Vec<Tree>),
    /// `{key: value}`
    Map(Vec<(Tree, Tree)>),
    /// `None` or `Some(value)`
    Option(Option<Box<Tree>>),
    /// `Name(a: 1)` or `(a: 1)`
    Record {
        /// The name before the parenthesis.
        name: Option<Name>,
        /// The fields in the order in which they were written.
        fields: Vec<TreeField>,
    },
    /// `Name(1, 2)`, `Name()` or `(1, 2)`
    Tuple {
        /// The name before the parenthesis.
        name: Option<Name>,
        /// The values.
        items: Vec<Tree>,
    },
    /// A bare name: an enum variant without values.
    Name(String),
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// The place of the name.
    pub place: Place,
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeField {
    /// The name of the field.
    pub name: Name,
    /// The value of the field.
    pub value: Tree,
    /// `true` if the field was written for another variant, which a bare name has replaced. A variant that has such a
    /// field keeps it; other variants drop it.
    pub inherited: bool,
}

/// Returns the text in quotes, with escapes.
fn quoted(text: &str, quote: char) -> String {
    let mut written = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\r' => written.push_str("\\r"),
            '\\' => written.push_str("\\\\"),
            _ if letter == quote => written.extend(['\\', letter]),
            _ => written.push(letter),
        }
    }
    written.push(quote);
    written
}

impl Tree {
    /// Returns the place of some bytes of the text. Falls back to the place of the value if that is unknown because of
    /// escapes.
    pub(super) fn part(&self, part: Range<usize>) -> Place {
        let TreeValue::Text(text) = &self.node else { return self.place };
        let quotes = match (self.place.end - self.place.start).checked_sub(text.len()) {
            Some(0) => 0,
            Some(2) => 1,
            _ => return self.place,
        };
        let start = self.place.start + quotes + part.start;
        Place { start, end: (start + 1).max(start + part.len()), ..self.place }
    }

    /// Formats the value as RON on one line.
    #[must_use]
    pub fn to_ron(&self) -> String {
        let list = |items: &[Self]| items.iter().map(Self::to_ron).collect::<Vec<_>>().join(", ");
        let named = |name: &Option<Name>| name.as_ref().map_or("", |name| name.text.as_str()).to_owned();
        match &self.node {
            TreeValue::Unit => "()".to_owned(),
            TreeValue::Bool(value) => value.to_string(),
            TreeValue::Number(text) | TreeValue::Name(text) => text.clone(),
            TreeValue::Text(text) => quoted(text, '"'),
            TreeValue::Char(letter) => quoted(&letter.to_string(), '\''),
            TreeValue::List(items) => format!("[{}]", list(items)),
            TreeValue::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{}: {}", key.to_ron(), value.to_ron()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            TreeValue::Option(None) => "None".to_owned(),
            TreeValue::Option(Some(value)) => format!("Some({})", value.to_ron()),
            TreeValue::Record { name, fields } => {
                let written = fields.iter().filter(|field| !field.inherited);
                let fields = written.map(|field| format!("{}: {}", field.name.text, field.value.to_ron()));
                format!("{}({})", named(name), fields.collect::<Vec<_>>().join(", "))
            }
            TreeValue::Tuple { name, items } => format!("{}({})", named(name), list(items)),
        }
    }

    /// Returns the values of a list; empty for other values.
    pub(in crate::scenario) fn items(&self) -> &[Self] {
        match &self.node {
            TreeValue::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the value of a field of a record.
    pub(in crate::scenario) fn field(&self, name: &str) -> Option<&Self> {
        let TreeValue::Record { fields, .. } = &self.node else { return None };
        fields.iter().find(|field| field.name.text == name).map(|field| &field.value)
    }

    /// Returns the children, each with the path segment that leads to it.
    pub(super) fn children(&self) -> Vec<(PathSegment<'_>, &Self)> {
        match &self.node {
            TreeValue::Option(Some(inner)) => vec![(PathSegment::Payload, inner)],
            TreeValue::Record { fields, .. } => {
                fields.iter().map(|field| (PathSegment::Name(&field.name.text), &field.value)).collect()
            }
            TreeValue::Tuple { items, .. } if items.len() == 1 => vec![(PathSegment::Payload, &items[0])],
            TreeValue::List(items) | TreeValue::Tuple { items, .. } => {
                items.iter().enumerate().map(|(index, item)| (PathSegment::Index(index), item)).collect()
            }
            TreeValue::Map(entries) => entries.iter().map(|(key, value)| (key.as_segment(), value)).collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn child_mut(&mut self, index: usize) -> Option<&mut Self> {
        match &mut self.node {
            TreeValue::Option(Some(inner)) if index == 0 => Some(inner),
            TreeValue::Record { fields, .. } => fields.get_mut(index).map(|field| &mut field.value),
            TreeValue::List(items) | TreeValue::Tuple { items, .. } => items.get_mut(index),
            TreeValue::Map(entries) => entries.get_mut(index).map(|entry| &mut entry.1),
            _ => None,
        }
    }

    /// Returns the paths of all fields below this value that are called `name`.
    pub(super) fn paths_of(&self, name: &str) -> Vec<String> {
        let mut paths = Vec::new();
        for (segment, child) in self.children() {
            paths.extend((segment == PathSegment::Name(name)).then(|| name.to_owned()));
            paths.extend(child.paths_of(name).into_iter().map(|path| match segment {
                PathSegment::Payload => path,
                _ => format!("{segment}.{path}"),
            }));
        }
        paths
    }

    /// Returns the leaf values at or below this value, each with the path that leads to it.
    pub(super) fn leaves(&self) -> Vec<(String, &Self)> {
        let children = self.children();
        if children.is_empty() {
            return vec![(String::new(), self)];
        }
        let mut leaves = Vec::new();
        for (segment, child) in children {
            for (path, leaf) in child.leaves() {
                // Paths omit the step into a payload, unless the payload is the leaf.
                let path = match (segment, path.as_str()) {
                    (PathSegment::Payload, "") => "0".to_owned(),
                    (PathSegment::Payload, _) => path,
                    (_, "") => segment.to_string(),
                    _ => format!("{segment}.{path}"),
                };
                leaves.push((path, leaf));
            }
        }
        leaves
    }

    /// Returns the number of values in the tree.
    pub(super) fn size(&self) -> usize {
        1 + self.children().into_iter().map(|(_, child)| child.size()).sum::<usize>()
    }

    /// Returns the child with this path segment, and the indices of the children that lead to it.
    pub(super) fn step(&self, segment: &str) -> Option<(Vec<usize>, &Self)> {
        if let TreeValue::List(items) = &self.node {
            // Lists may be long and are often walked element by element, so they are indexed directly.
            let index = segment.parse().ok()?;
            return items.get(index).map(|item| (vec![index], item));
        }
        for (index, (name, child)) in self.children().into_iter().enumerate() {
            if let PathSegment::Payload = name {
                let inner = child.step(segment).map(|(mut route, found)| {
                    route.insert(0, index);
                    (route, found)
                });
                return inner.or_else(|| (segment == "0").then(|| (vec![index], child)));
            }
            if name.is(segment) {
                return Some((vec![index], child));
            }
        }
        None
    }

    /// Returns the path to the value at `address`.
    pub(super) fn path_to(&self, address: usize) -> Option<String> {
        if self.address() == address {
            return Some(String::new());
        }
        self.children().into_iter().find_map(|(segment, child)| {
            let below = child.path_to(address)?;
            Some(match (segment, below.as_str()) {
                (PathSegment::Payload, _) => below,
                (_, "") => segment.to_string(),
                _ => format!("{segment}.{below}"),
            })
        })
    }

    /// Returns a number that identifies this value within its tree as long as the tree does not change.
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Returns the names of the fields of this value, looking through payloads.
    pub(super) fn field_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (segment, child) in self.children() {
            match segment {
                PathSegment::Payload => names.extend(child.field_names()),
                _ => names.push(segment.to_string()),
            }
        }
        names
    }

    /// Returns the place of the name before the parenthesis, or that of the opening bracket.
    pub(super) fn opening(&self) -> Place {
        match &self.node {
            TreeValue::Record { name: Some(name), .. } | TreeValue::Tuple { name: Some(name), .. } => name.place,
            TreeValue::Name(_) => self.place,
            _ => Place { end: self.place.end.min(self.place.start + 1), ..self.place },
        }
    }

    /// Returns the place that a fault of the whole value is shown at.
    pub(super) fn usual_place(&self) -> Place {
        match &self.node {
            TreeValue::Record { .. } | TreeValue::Tuple { .. } | TreeValue::List(_) | TreeValue::Map(_) => {
                self.opening()
            }
            _ => self.place,
        }
    }

    /// Returns a description of the value in words.
    pub(super) fn words(&self) -> String {
        match &self.node {
            TreeValue::Unit => "`()`".to_owned(),
            TreeValue::Bool(value) => format!("`{value}`"),
            TreeValue::Number(text) => format!("the number {}", excerpt(text)),
            TreeValue::Text(text) => format!("the text \"{}\"", excerpt(text)),
            TreeValue::Char(letter) => format!("the character '{}'", excerpt(&letter.to_string())),
            TreeValue::List(_) => "a list `[…]`".to_owned(),
            TreeValue::Map(_) => "a map `{…}`".to_owned(),
            TreeValue::Option(None) => "`None`".to_owned(),
            TreeValue::Option(Some(_)) => "`Some(…)`".to_owned(),
            TreeValue::Record { name: Some(name), .. } | TreeValue::Tuple { name: Some(name), .. } => {
                format!("`{}(…)`", excerpt(&name.text))
            }
            TreeValue::Record { .. } => "a record `(name: …)`".to_owned(),
            TreeValue::Tuple { .. } => "a tuple `(…)`".to_owned(),
            TreeValue::Name(name) => format!("the name `{}`", excerpt(name)),
        }
    }

    /// Returns `true` if the value has a name or is one: a variant or a struct.
    #[must_use]
    pub fn is_variant(&self) -> bool {
        self.name().is_some()
    }

    /// Returns the name of the struct or variant.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.node {
            TreeValue::Record { name, .. } | TreeValue::Tuple { name, .. } => {
                name.as_ref().map(|name| name.text.as_str())
            }
            TreeValue::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the path segment of the map entry that has this value as its key.
    pub(super) fn as_segment(&self) -> PathSegment<'_> {
        PathSegment::Name(match &self.node {
            TreeValue::Text(text) | TreeValue::Name(text) | TreeValue::Number(text) => text,
            TreeValue::Bool(true) => "true",
            TreeValue::Bool(false) => "false",
            _ => "?",
        })
    }
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PathSegment<'a> {
    /// The payload of a variant or of `Some`, which paths omit.
    Payload,
    Name(&'a str),
    Index(usize),
}

impl PathSegment<'_> {
    fn is(self, text: &str) -> bool {
        match self {
            Self::Payload => false,
            Self::Name(name) => name == text,
            Self::Index(index) => text.parse() == Ok(index),
        }
    }
}

impl fmt::Display for PathSegment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload => Ok(()),
            Self::Name(name) => f.write_str(name),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}
