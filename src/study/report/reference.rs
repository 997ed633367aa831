//! A reference page for every field of a file, generated from the schema of its types.

use serde_json::{Map, Value};
use std::fmt::Write;

const DEFINITIONS: &str = "#/$defs/";

/// Returns the reference page for `schema` as Markdown. `schema` is a JSON Schema whose descriptions are the comments
/// of the types. The page has the root first, then every type in the order of first mention, and then the quantities
/// that are written as texts.
#[must_use]
pub fn reference(schema: &Value) -> String {
    let page = Page { definitions: schema.get("$defs").and_then(Value::as_object) };
    let mut names = Vec::new();
    page.collect(schema, &mut names);
    let (texts, types): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| is_text(page.definition(name)));
    let title = text_of(schema, "title");
    let kind = title.to_lowercase();
    let mut out = format!("# Every field of a {kind}\n\n{}", INTRODUCTION.replace("KIND", &kind));
    page.section(&mut out, title, schema);
    for name in types {
        page.section(&mut out, name, page.definition(name));
    }
    out.push_str("\n## Quantities and expressions\n\n| type | how it is written |\n| --- | --- |\n");
    for name in texts {
        line(&mut out, &[&format!("<a id=\"{}\"></a>`{name}`", anchor(name)), &description(page.definition(name))]);
    }
    out
}

const INTRODUCTION: &str = "\
Derived from the types that read the file, by `parsim schema KIND --format markdown`; `parsim schema KIND` prints the same \
as JSON Schema. A field without a default must be given, and an unknown field is an error. Any value may be in a separate file: \
`File(\"machines/….ron\")`, relative to the file that names it. `Like(File(\"….ron\"), {\"path\": value})` is the same file with \
other values at these paths.\n";

/// Returns whether a type is a quantity, an expression or the like: a text without fixed alternatives.
fn is_text(schema: &Value) -> bool {
    let may_be_text = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        kind => kind.is_some_and(|kind| kind == "string"),
    };
    may_be_text && schema.get("enum").is_none()
}

struct Page<'a> {
    definitions: Option<&'a Map<String, Value>>,
}

impl<'a> Page<'a> {
    fn definition(&self, name: &str) -> &'a Value {
        self.definitions.and_then(|definitions| definitions.get(name)).unwrap_or(&Value::Null)
    }

    /// Collects the types that `schema` names, in depth-first order.
    fn collect(&self, schema: &'a Value, names: &mut Vec<&'a str>) {
        match schema {
            Value::Object(fields) => {
                for (key, value) in fields.iter().filter(|(key, _)| *key != "$defs") {
                    match referred(value).filter(|_| key == "$ref") {
                        Some(name) if !names.contains(&name) => {
                            names.push(name);
                            self.collect(self.definition(name), names);
                        }
                        Some(_) => {}
                        None => self.collect(value, names),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, names)),
            _ => {}
        }
    }

    /// Writes the section of one type: a table of its fields or of its variants.
    fn section(&self, out: &mut String, name: &str, schema: &Value) {
        let _ = write!(out, "\n## {name}\n\n{}\n", paragraphs(schema));
        self.fields(out, schema);
        let variants: Vec<_> = variants(schema).map(DescribedVariant::of).collect();
        if variants.is_empty() {
            if schema.get("properties").is_none() {
                let _ = write!(out, "\nIt is written as {}.\n", kind(schema));
            }
            return;
        }
        out.push_str("\n| one of | meaning |\n| --- | --- |\n");
        for variant in &variants {
            line(out, &[&form(variant), &variant.description]);
        }
        for variant in variants {
            if let Some(content) = variant.content.filter(|content| content.get("properties").is_some()) {
                let _ = write!(out, "\nThe fields of `{}`:\n", variant.name);
                self.fields(out, content);
            }
        }
    }

    fn fields(&self, out: &mut String, schema: &Value) {
        let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return };
        let required: Vec<_> = items(schema, "required").filter_map(Value::as_str).collect();
        out.push_str("\n| field | value | default | meaning |\n| --- | --- | --- | --- |\n");
        for (name, field) in fields {
            let default = match field.get("default") {
                _ if required.contains(&name.as_str()) => String::new(),
                Some(Value::Null) => "none".to_owned(),
                None => if is_nullable(field) { "none" } else { "optional" }.to_owned(),
                Some(default) => format!("`{}`", self.written(default, field)),
            };
            line(out, &[&format!("`{name}`"), &kind(field), &default, &description(field)]);
        }
    }

    /// Returns a default in RON notation: the name of a variant without quotes, names with values in braces.
    fn written(&self, value: &Value, field: &Value) -> String {
        match value {
            Value::Object(fields) if fields.is_empty() && field.get("additionalProperties").is_some() => {
                "{}".to_owned()
            }
            Value::String(text) if !self.has_variants(field) => format!("\"{text}\""),
            Value::String(name) => name.clone(),
            other => plain(other),
        }
    }

    fn has_variants(&self, field: &Value) -> bool {
        let name = field.get("$ref").and_then(referred);
        name.is_some_and(|name| variants(self.definition(name)).next().is_some())
    }
}

/// Returns the written form of a variant.
fn form(variant: &DescribedVariant) -> String {
    let name = &variant.name;
    match variant.content {
        None => format!("`{name}`"),
        Some(content) => match content.get("properties").and_then(Value::as_object) {
            Some(fields) => {
                let fields: Vec<_> = fields.keys().map(|field| format!("{field}: …")).collect();
                format!("`{name}({})`", fields.join(", "))
            }
            None => format!("`{name}(`{}`)`", kind(content)),
        },
    }
}

/// Returns the type of a field as text.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(referred) {
        return format!("[{name}](#{})", anchor(name));
    }
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        let some = options.iter().find(|option| option.get("type").is_none_or(|kind| kind != "null"));
        return some.map(kind).unwrap_or_default();
    }
    if let Some(parts) = schema.get("prefixItems").and_then(Value::as_array) {
        let parts: Vec<_> = parts.iter().map(kind).collect();
        return format!("({})", parts.join(", "));
    }
    let kinds: Vec<_> = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(kind) => kind.as_str().into_iter().collect(),
        None => Vec::new(),
    };
    match kinds.iter().find(|kind| **kind != "null") {
        Some(&"array") => {
            format!("list of {}", schema.get("items").map(kind).unwrap_or_default())
        }
        Some(&"integer") => "whole number".to_owned(),
        Some(&"string") => "text".to_owned(),
        Some(&"boolean") => "`true` or `false`".to_owned(),
        Some(&"object") => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("names with {}", kind(values)),
            _ => "a name without fields".to_owned(),
        },
        Some(kind) => (*kind).to_owned(),
        None => "anything".to_owned(),
    }
}

/// A variant of an `enum`.
struct DescribedVariant<'a> {
    name: String,
    content: Option<&'a Value>,
    description: String,
}

impl<'a> DescribedVariant<'a> {
    fn of(schema: &'a Value) -> Self {
        let content = schema.get("properties").and_then(Value::as_object).and_then(|fields| fields.iter().next());
        let name = match content {
            Some((name, _)) => name.as_str(),
            None => schema.as_str().unwrap_or_else(|| text_of(schema, "const")),
        };
        Self { name: name.to_owned(), content: content.map(|(_, content)| content), description: description(schema) }
    }
}

/// Returns the variants of a type. In the schema, variants with comments are separate, and those without form a list.
fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    let (listed, single): (Vec<_>, Vec<_>) = items(schema, "oneOf").partition(|variant| variant.get("enum").is_some());
    let listed = listed.into_iter().flat_map(|variant| items(variant, "enum"));
    items(schema, "enum").chain(listed).chain(single)
}

/// Returns whether a field may be absent without a default taking its place.
fn is_nullable(field: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null" || kind.get("type").is_some_and(|kind| kind == "null");
    items(field, "anyOf").chain(items(field, "type")).any(is_null)
}

fn items<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn referred(value: &Value) -> Option<&str> {
    value.as_str().and_then(|text| text.strip_prefix(DEFINITIONS))
}

fn anchor(name: &str) -> String {
    name.to_lowercase()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Object(fields) => {
            let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}: {}", plain(value))).collect();
            format!("({})", fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn text_of<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the comment of a type with its paragraphs, but without examples in Rust.
fn paragraphs(schema: &Value) -> String {
    let outside = text_of(schema, "description").split("```").step_by(2).map(str::trim_end);
    without_links(&outside.collect::<String>())
}

/// Returns the comment of a field or variant on one line.
fn description(schema: &Value) -> String {
    without_links(text_of(schema, "description")).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text with links into the source replaced by their words.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, link) = rest.split_at(start);
        out.push_str(before);
        let end = link.find(']').filter(|end| is_link(&link[1..*end], &link[end + 1..]));
        let Some(end) = end else {
            out.push('[');
            rest = &link[1..];
            continue;
        };
        out.push_str(&link[1..end]);
        rest = &link[end + 1..];
        if let Some(target) = rest.strip_prefix('(') {
            rest = target.find(')').map_or("", |close| &target[close + 1..]);
        }
    }
    out.push_str(rest);
    out
}

/// Returns whether the words in brackets, together with the text after them, are a link into the source.
fn is_link(words: &str, after: &str) -> bool {
    after.starts_with('(') || (words.starts_with('`') && words.ends_with('`'))
}

/// Writes a row of a table.
fn line(out: &mut String, cells: &[&str]) {
    let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::{JsonSchema, schema_for};

    /// A box.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    #[serde(deny_unknown_fields)]
    struct Parcel {
        /// Level of filling | in it, see [`Content`].
        content: Content,
        /// Its labels, [if any](super::Parcel).
        #[serde(default)]
        labels: Vec<String>,
        /// Its owner.
        owner: Option<u32>,
    }

    /// Content of a box.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Content {
        /// Nothing.
        Empty,
        /// Number of apples.
        Apples(u32),
        /// A measured amount.
        Sand {
            /// Amount of sand.
            amount: parsim_sim::units::Bytes,
        },
    }

    #[test]
    fn a_page_tells_every_field_with_its_type_default_and_meaning() {
        let page = reference(schema_for!(Parcel).as_value());
        for line in [
            "# Every field of a parcel",
            "| `content` | [Content](#content) |  | Level of filling \\| in it, see `Content`. |",
            "| `labels` | list of text | `[]` | Its labels, if any. |",
            "| `owner` | whole number | none | Its owner. |",
            "| `Empty` | Nothing. |",
            "| `Apples(`whole number`)` | Number of apples. |",
            "| `Sand(amount: …)` | A measured amount. |",
            "| `amount` | [Bytes](#bytes) |  | Amount of sand. |",
            "| <a id=\"bytes\"></a>`Bytes` | a size with its unit, such as \"4 KiB\" |",
        ] {
            assert!(page.lines().any(|other| other == line), "{line} is not in\n{page}");
        }
    }
}
