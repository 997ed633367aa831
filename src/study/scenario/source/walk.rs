//! The walk over a tree that finds every place at which it does not fit a type.

use super::fault::{Fault, MOST_SHOWN};
use super::read_error::in_words;
use super::reader::Reader;
use super::shape::{Kind, Record, Scalar, Shape, Types, Variant};
use super::spelling::{advice, excerpt, nearest};
use super::tree::{Field, Node, Segment, Tree};
use serde_json::Value;
use std::collections::HashSet;

/// All faults of the value at the reader, up to as many as are shown.
pub(super) fn faults_of(reader: Reader<'_>, types: &Types<'_>) -> Vec<Fault> {
    let mut walk = Walk { types, path: Vec::new(), faults: Vec::new() };
    walk.value(reader, &types.whole());
    walk.faults
}

struct Walk<'a> {
    types: &'a Types<'a>,
    path: Vec<Segment<'a>>,
    faults: Vec<Fault>,
}

impl<'a> Walk<'a> {
    fn has_room(&self) -> bool {
        self.faults.len() <= MOST_SHOWN
    }

    fn fault(&mut self, fault: Fault, help: Option<&str>) {
        let segments: Vec<_> = self.path.iter().map(ToString::to_string).collect();
        let fault = fault.on(&segments.join("."));
        self.faults.push(match help {
            Some(help) => fault.help(help),
            None => fault,
        });
    }

    fn misfit(&mut self, tree: &Tree, shape: &Shape<'_>) {
        let message = format!("expected {}, found {}", shape.words(), tree.words());
        self.fault(Fault::new(&message).at(tree.usual_place()), shape.advice(tree));
    }

    fn child(&mut self, segment: Segment<'a>, child: Reader<'a>, shape: &Shape<'a>) {
        if self.has_room() {
            self.path.push(segment);
            self.value(child, shape);
            self.path.pop();
        }
    }

    fn value(&mut self, reader: Reader<'a>, shape: &Shape<'a>) {
        if let (Node::Option(inner), true) = (&reader.tree.node, shape.is_optional) {
            if let Some(inner) = inner {
                self.value(reader.child(inner), shape);
            }
            return;
        }
        let found = match &shape.kind {
            Kind::Record(record) => self.structure(reader, shape.name, record),
            Kind::Variants(variants) => self.enumeration(reader, shape.name, variants),
            Kind::List(values) => reader.list().map(|items| self.list(reader, items, values)),
            Kind::Tuple(parts) => reader.tuple().map(|items| self.tuple(reader, items, parts)),
            Kind::Map(values) => reader.map().map(|entries| self.map(reader, entries, values)),
            Kind::Scalar(scalar) => self.scalar(reader, scalar),
            Kind::Anything => Some(()),
        };
        if found.is_none() {
            self.misfit(reader.tree, shape);
        }
    }

    fn list(&mut self, reader: Reader<'a>, items: &'a [Tree], values: &'a Value) {
        let shape = self.types.shape(values);
        for (index, item) in items.iter().enumerate() {
            self.child(Segment::Index(index), reader.child(item), &shape);
        }
    }

    fn tuple(&mut self, reader: Reader<'a>, items: &'a [Tree], parts: &'a [Value]) {
        if items.len() != parts.len() {
            let message = format!("expected {} values, found {}", parts.len(), items.len());
            self.fault(Fault::new(&message).at(reader.tree.usual_place()), None);
            return;
        }
        for (index, (item, part)) in items.iter().zip(parts).enumerate() {
            self.child(Segment::Index(index), reader.child(item), &self.types.shape(part));
        }
    }

    fn map(&mut self, reader: Reader<'a>, entries: &'a [(Tree, Tree)], values: &'a Value) {
        let shape = self.types.shape(values);
        for (key, value) in entries {
            if !self.has_room() {
                return;
            }
            if reader.child(key).text().is_none() {
                let message = format!("expected text in quotes, found {}", key.words());
                self.fault(Fault::new(&message).at(key.place), None);
            }
            self.child(key.as_segment(), reader.child(value), &shape);
        }
    }

    fn scalar(&mut self, reader: Reader<'a>, scalar: &Scalar<'a>) -> Option<()> {
        let text = match &reader.tree.node {
            Node::Name(name) if scalar.is_mixed() => Some(name.into()),
            _ => reader.text(),
        };
        match (text, &reader.tree.node) {
            (Some(text), _) if scalar.is("string") => self.text(reader.tree, scalar, &text),
            (_, Node::Number(text)) if scalar.takes_number(text) => {}
            (_, Node::Bool(_)) if scalar.is("boolean") => {}
            (_, Node::Record { fields, .. }) => self.fields(reader, "", scalar.record.as_ref()?, fields),
            _ => return None,
        }
        Some(())
    }

    fn text(&mut self, tree: &Tree, scalar: &Scalar<'_>, text: &str) {
        if let Some(Err(message)) = scalar.check.map(|check| check(text)) {
            let (fault, part) = in_words(&message);
            let place = part.map_or(tree.place, |part| tree.part(part));
            let help = fault.help.clone();
            self.fault(fault.at(place), help.as_deref());
        }
    }

    fn structure(&mut self, reader: Reader<'a>, name: &str, record: &Record<'a>) -> Option<()> {
        if let Some(given) = reader.name().filter(|given| *given != name) {
            let fault = Fault::new(&format!("expected `{name}`, found `{}`", excerpt(given)));
            let meant = nearest(given, [name]).map(|name| format!("did you mean `{name}`?"));
            self.fault(fault.at(reader.tree.opening()), meant.as_deref());
            if meant.is_none() {
                return Some(());
            }
        }
        let fields = reader.fields()?;
        self.fields(reader, name, record, fields);
        Some(())
    }

    /// The fields of a record: misspelt ones are read as what they mean.
    fn fields(&mut self, reader: Reader<'a>, owner: &str, record: &Record<'a>, given: &'a [Field]) {
        let mut taken: HashSet<&str> = given.iter().map(|field| field.name.text.as_str()).collect();
        for field in given.iter().filter(|field| record.looks_at(field)) {
            if !self.has_room() {
                return;
            }
            let name = field.name.text.as_str();
            let mut known = record.field(name);
            if known.is_none() {
                let fault = Fault::new(&format!("unknown field `{}` in `{owner}`", excerpt(name)));
                let help = advice(name, record.names()).unwrap_or_else(|| "it takes no fields".to_owned());
                self.fault(fault.at(field.name.place), Some(&help));
                let free = record.names().filter(|name| !taken.contains(name));
                let meant = nearest(name, free);
                taken.extend(meant);
                known = meant.and_then(|meant| record.field(meant));
            }
            if let Some(schema) = known {
                self.child(Segment::Name(name), reader.child(&field.value), &self.types.shape(schema));
            }
        }
        for name in record.required().filter(|name| !taken.contains(name)) {
            self.missing(reader.tree, name, record);
        }
    }

    fn missing(&mut self, tree: &Tree, field: &str, record: &Record<'a>) {
        let message = match tree.name() {
            Some(name) => format!("field `{field}` is missing in `{}`", excerpt(name)),
            None => format!("field `{field}` is missing"),
        };
        let shape = record.field(field).map(|schema| self.types.shape(schema));
        let advice = match shape {
            Some(shape @ Shape { kind: Kind::Variants(_), .. }) => format!("add `{field}: …`, {}", shape.words()),
            _ => format!("add `{field}: …`"),
        };
        self.fault(Fault::new(&message).at(tree.opening()), Some(&advice));
    }

    fn enumeration(&mut self, reader: Reader<'a>, name: &str, variants: &[Variant<'a>]) -> Option<()> {
        let names = variants.iter().map(|variant| variant.name);
        let given = reader.variant()?;
        let meant = reader.known(given, names.clone()).or_else(|| {
            let fault = Fault::new(&format!("unknown variant `{}` of `{name}`", excerpt(given)));
            self.fault(fault.at(reader.tree.opening()), advice(given, names.clone()).as_deref());
            nearest(given, names)
        });
        if let Some(variant) = variants.iter().find(|variant| Some(variant.name) == meant) {
            self.variant(reader, variant);
        }
        Some(())
    }

    fn variant(&mut self, reader: Reader<'a>, variant: &Variant<'a>) {
        let name = variant.name;
        let Some(schema) = variant.content else {
            if reader.has_values() {
                let fault = Fault::new(&format!("`{name}` takes no values")).at(reader.tree.usual_place());
                self.fault(fault, Some(&format!("write `{name}` alone")));
            }
            return;
        };
        let shape = self.types.shape(schema);
        let found = match &shape.kind {
            Kind::Record(record) if shape.is_nameless() => {
                reader.own_fields().map(|fields| self.fields(reader, name, record, fields))
            }
            Kind::Tuple(parts) => reader.nameless().tuple().map(|items| self.tuple(reader, items, parts)),
            _ => reader.payload().map(|payload| self.value(payload, &shape)),
        };
        if found.is_none() {
            let fault = Fault::new(&format!("`{name}` needs its values")).at(reader.tree.usual_place());
            self.fault(fault, Some(&format!("write `{name}({})`", shape.form())));
        }
    }
}
