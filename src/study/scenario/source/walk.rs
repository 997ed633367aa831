//! A walk over a tree that finds every place at which the tree does not match a type.

use super::fault::{MAX_SHOWN, SourceFault};
use super::read_error::fault_of_message;
use super::reader::ValueReader;
use super::shape::{RecordShape, ScalarShape, ShapeKind, TypeShape, Types, VariantShape};
use super::spelling::{excerpt, field_advice, nearest, variant_advice};
use super::tree::{PathSegment, Tree, TreeField, TreeValue};
use serde_json::Value;
use std::collections::HashSet;

/// Returns all faults of the value, up to the number of faults that are shown.
pub(super) fn faults_of(reader: ValueReader<'_>, types: &Types<'_>) -> Vec<SourceFault> {
    let mut walk = SchemaWalk { types, path: Vec::new(), faults: Vec::new() };
    walk.value(reader, &types.whole());
    walk.faults
}

struct SchemaWalk<'a> {
    types: &'a Types<'a>,
    path: Vec<PathSegment<'a>>,
    faults: Vec<SourceFault>,
}

impl<'a> SchemaWalk<'a> {
    fn has_room(&self) -> bool {
        self.faults.len() <= MAX_SHOWN
    }

    fn fault(&mut self, fault: SourceFault, help: Option<&str>) {
        let segments: Vec<_> = self.path.iter().map(ToString::to_string).collect();
        let fault = fault.on(&segments.join("."));
        self.faults.push(match help {
            Some(help) => fault.help(help),
            None => fault,
        });
    }

    fn misfit(&mut self, tree: &Tree, shape: &TypeShape<'_>) {
        let message = format!("expected {}, found {}", shape.words(), tree.words());
        let advice = shape.advice(tree).map(str::to_owned).or_else(|| self.advice_on_variant(tree, shape));
        self.fault(SourceFault::new(&message).at(tree.usual_place()), advice.as_deref());
    }

    /// Returns advice to name the variants that take a text or a number.
    fn advice_on_variant(&self, tree: &Tree, shape: &TypeShape<'_>) -> Option<String> {
        let ShapeKind::Variants(variants) = &shape.kind else { return None };
        let takes = |variant: &&VariantShape<'_>| match variant.content.map(|content| self.types.shape(content).kind) {
            Some(ShapeKind::Scalar(scalar)) => scalar.accepts(tree),
            _ => false,
        };
        let forms = variants.iter().filter(takes).map(|variant| format!("`{}({})`", variant.name, tree.to_ron()));
        let forms = forms.collect::<Vec<_>>().join(" or ");
        (!forms.is_empty()).then(|| format!("write {forms}"))
    }

    fn child(&mut self, segment: PathSegment<'a>, child: ValueReader<'a>, shape: &TypeShape<'a>) {
        if self.has_room() {
            self.path.push(segment);
            self.value(child, shape);
            self.path.pop();
        }
    }

    fn value(&mut self, reader: ValueReader<'a>, shape: &TypeShape<'a>) {
        if let (TreeValue::Option(inner), true) = (&reader.tree.node, shape.is_optional) {
            if let Some(inner) = inner {
                self.value(reader.child(inner), shape);
            }
            return;
        }
        let found = match &shape.kind {
            ShapeKind::Record(record) => self.structure(reader, shape.name, record),
            ShapeKind::Variants(variants) => self.enumeration(reader, shape.name, variants),
            ShapeKind::List(values) => reader.list().map(|items| self.list(reader, items, values)),
            ShapeKind::Tuple(parts) => reader.tuple().map(|items| self.tuple(reader, items, parts)),
            ShapeKind::Map(values) => reader.map().map(|entries| self.map(reader, entries, values)),
            ShapeKind::Scalar(scalar) => self.scalar(reader, scalar),
            ShapeKind::Anything => Some(()),
        };
        if found.is_none() {
            self.misfit(reader.tree, shape);
        }
    }

    fn list(&mut self, reader: ValueReader<'a>, items: &'a [Tree], values: &'a Value) {
        let shape = self.types.shape(values);
        for (index, item) in items.iter().enumerate() {
            self.child(PathSegment::Index(index), reader.child(item), &shape);
        }
    }

    fn tuple(&mut self, reader: ValueReader<'a>, items: &'a [Tree], parts: &'a [Value]) {
        if items.len() != parts.len() {
            let message = format!("expected {} values, found {}", parts.len(), items.len());
            self.fault(SourceFault::new(&message).at(reader.tree.usual_place()), None);
            return;
        }
        for (index, (item, part)) in items.iter().zip(parts).enumerate() {
            self.child(PathSegment::Index(index), reader.child(item), &self.types.shape(part));
        }
    }

    fn map(&mut self, reader: ValueReader<'a>, entries: &'a [(Tree, Tree)], values: &'a Value) {
        let shape = self.types.shape(values);
        for (key, value) in entries {
            if !self.has_room() {
                return;
            }
            if reader.child(key).text().is_none() {
                let message = format!("expected text in quotes, found {}", key.words());
                self.fault(SourceFault::new(&message).at(key.place), None);
            }
            self.child(key.as_segment(), reader.child(value), &shape);
        }
    }

    fn scalar(&mut self, reader: ValueReader<'a>, scalar: &ScalarShape<'a>) -> Option<()> {
        let text = match &reader.tree.node {
            TreeValue::Name(name) if scalar.is_mixed() => Some(name.into()),
            _ => reader.text(),
        };
        match (text, &reader.tree.node) {
            (Some(text), _) if scalar.is("string") => self.text(reader.tree, scalar, &text),
            (_, TreeValue::Number(text)) if scalar.takes_number(text) => {}
            (_, TreeValue::Bool(_)) if scalar.is("boolean") => {}
            (_, TreeValue::Record { name, fields }) => {
                let record = scalar.record.as_ref()?;
                let is_described = record.required().all(|name| fields.iter().any(|field| field.name.text == name));
                if name.is_some() && !is_described {
                    self.unquoted(reader.tree);
                } else {
                    self.fields(reader, "", record, fields);
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn unquoted(&mut self, tree: &Tree) {
        let fault = SourceFault::new("a value with parentheses is written as text").at(tree.usual_place());
        self.fault(fault, Some(&format!("put it in quotes: `{:?}`", excerpt(&tree.to_ron()))));
    }

    fn text(&mut self, tree: &Tree, scalar: &ScalarShape<'_>, text: &str) {
        if let Some(Err(message)) = scalar.check.map(|check| check(text)) {
            let (fault, part) = fault_of_message(&message);
            let place = part.map_or(tree.place, |part| tree.part(part));
            let help = fault.help.clone();
            self.fault(fault.at(place), help.as_deref());
        }
    }

    fn structure(&mut self, reader: ValueReader<'a>, name: &str, record: &RecordShape<'a>) -> Option<()> {
        if let Some(given) = reader.name().filter(|given| *given != name) {
            let fault = SourceFault::new(&format!("expected `{name}`, found `{}`", excerpt(given)));
            let meant = nearest(given, [name]).map(|name| format!("did you mean `{name}`?"));
            let help = meant.as_deref().or_else(|| use_of(given));
            self.fault(fault.at(reader.tree.opening()), help);
            if meant.is_none() {
                return Some(());
            }
        }
        let fields = reader.fields()?;
        self.fields(reader, name, record, fields);
        Some(())
    }

    /// Checks the fields of a record. A misspelt field is checked as the field that was probably meant.
    fn fields(&mut self, reader: ValueReader<'a>, owner: &str, record: &RecordShape<'a>, given: &'a [TreeField]) {
        let mut taken: HashSet<&str> = given.iter().map(|field| field.name.text.as_str()).collect();
        for field in given.iter().filter(|field| record.checks(field)) {
            if !self.has_room() {
                return;
            }
            let name = field.name.text.as_str();
            let mut known = record.field(name);
            if known.is_none() {
                let fault = SourceFault::new(&format!("unknown field `{}` in `{owner}`", excerpt(name)));
                let help =
                    given.iter().find_map(|map| within(map, name)).or_else(|| field_advice(name, record.names()));
                let help = help.unwrap_or_else(|| "it takes no fields".to_owned());
                self.fault(fault.at(field.name.place), Some(&help));
                let free = record.names().filter(|name| !taken.contains(name));
                let meant = nearest(name, free);
                taken.extend(meant);
                known = meant.and_then(|meant| record.field(meant));
            }
            if let Some(schema) = known {
                self.child(PathSegment::Name(name), reader.child(&field.value), &self.types.shape(schema));
            }
        }
        for name in record.required().filter(|name| !taken.contains(name)) {
            self.missing(reader.tree, name, record);
        }
    }

    fn missing(&mut self, tree: &Tree, field: &str, record: &RecordShape<'a>) {
        let message = match tree.name() {
            Some(name) => format!("field `{field}` is missing in `{}`", excerpt(name)),
            None => format!("field `{field}` is missing"),
        };
        let shape = record.field(field).map(|schema| self.types.shape(schema));
        let advice = match shape {
            Some(shape @ TypeShape { kind: ShapeKind::Variants(_), .. }) => {
                format!("add `{field}: …`, {}", shape.words())
            }
            _ => format!("add `{field}: …`"),
        };
        self.fault(SourceFault::new(&message).at(tree.opening()), Some(&advice));
    }

    fn enumeration(&mut self, reader: ValueReader<'a>, name: &str, variants: &[VariantShape<'a>]) -> Option<()> {
        let names = variants.iter().map(|variant| variant.name);
        // A text with other characters cannot be meant as a name.
        let given =
            reader.variant().filter(|given| given.chars().all(|one| one.is_alphanumeric() || "_-".contains(one)))?;
        let meant = reader.known(given, names.clone()).or_else(|| {
            let fault = SourceFault::new(&format!("unknown variant `{}` of `{name}`", excerpt(given)));
            self.fault(fault.at(reader.tree.opening()), variant_advice(given, names.clone()).as_deref());
            nearest(given, names)
        });
        if let Some(variant) = variants.iter().find(|variant| Some(variant.name) == meant) {
            self.variant(reader, variant);
        }
        Some(())
    }

    fn variant(&mut self, reader: ValueReader<'a>, variant: &VariantShape<'a>) {
        let name = variant.name;
        let Some(schema) = variant.content else {
            if reader.has_values() {
                let fault = SourceFault::new(&format!("`{name}` takes no values")).at(reader.tree.usual_place());
                self.fault(fault, Some(&format!("write `{name}` alone")));
            }
            return;
        };
        let shape = self.types.shape(schema);
        let found = match &shape.kind {
            ShapeKind::Record(record) if shape.is_nameless() => reader
                .own_fields()
                .filter(|_| !matches!(reader.tree.node, TreeValue::Name(_)) || record.required().next().is_none())
                .map(|fields| self.fields(reader, name, record, fields)),
            ShapeKind::Tuple(parts) => reader.nameless().tuple().map(|items| self.tuple(reader, items, parts)),
            _ => reader.payload().map(|payload| self.value(payload, &shape)),
        };
        if found.is_none() {
            let fault = SourceFault::new(&format!("`{name}` needs its values")).at(reader.tree.usual_place());
            self.fault(fault, Some(&format!("write `{name}({})`", shape.form())));
        }
    }
}

/// Returns the help on a name that is unknown as a field, but a key of the map in another field.
fn within(map: &TreeField, name: &str) -> Option<String> {
    let TreeValue::Map(entries) = &map.value.node else { return None };
    let is_key = |key: &Tree| matches!(&key.node, TreeValue::Text(text) if text == name);
    let field = &map.name.text;
    entries.iter().any(|(key, _)| is_key(key)).then(|| format!("`{field}` has it: `{field}.{name}`"))
}

/// Returns the help on a kind of file that is given where another kind is expected.
fn use_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "Scenario" => "this is a scenario: `parsim run` and `sweep` simulate it",
        "Machine" | "LogGOPS" => "this is a machine: a scenario names it as `machine: File(\"…\")`",
        "Node" => "these are the nodes of a machine, which names them as `nodes: File(\"…\")`: check the machine",
        "Network" => "this is the network of a machine, which names it as `network: File(\"…\")`: check the machine",
        "Calibration" => "this is the case of a calibration: `parsim calibrate` fits it",
        "Fit" => {
            "this is the fit of a calibration: `--calibration FILE` of `run`, `sweep`, `report` and `tune` uses it"
        }
        "Validation" => "this is the case of a validation: `parsim validate FOLDER` runs it",
        _ => return None,
    })
}
