//! Faults of a scenario, and how they are displayed.

use std::collections::HashSet;
use std::fmt;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Level, Renderer};
use serde::Serialize;

use super::place::{Place, Position, Sources};
use super::snippet::Snippet;
use super::spelling::shortened;

/// A fault of a document: its place, a message and possibly advice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceFault {
    /// The place of the fault, if it has one.
    pub place: Option<Place>,
    /// The path of the value, such as `machine.network`; empty for the whole document.
    pub path: String,
    /// The fault, in a sentence.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl SourceFault {
    /// Creates a fault without a place.
    #[must_use]
    pub fn new(message: &str) -> Self {
        Self { place: None, path: String::new(), message: shortened(message, 600), help: None }
    }

    /// Sets the place of the fault.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place: Some(place), ..self }
    }

    /// Sets the path of the value at fault.
    #[must_use]
    pub fn on(self, path: &str) -> Self {
        Self { path: shortened(path, 200), ..self }
    }

    /// Adds advice on how to correct the fault.
    #[must_use]
    pub fn help(self, help: &str) -> Self {
        Self { help: Some(shortened(help, 1000)), ..self }
    }

    /// Adds the values that may have caused the fault to its advice, unless it has them.
    fn suspect(&mut self, values: Option<&str>) {
        let Some(values) = values else { return };
        self.help = match self.help.take() {
            Some(help) if help.ends_with(values) => Some(help),
            Some(help) => Some(format!("{help}; {values}")),
            None => Some(values.to_owned()),
        };
    }
}

impl fmt::Display for SourceFault {
    /// Writes the message and the remedy; the place needs the source, which [`Faults`] have.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

impl std::error::Error for SourceFault {}

/// Maximum number of faults that are shown.
pub(super) const MAX_SHOWN: usize = 50;
/// Maximum width of a line of a displayed fault.
const WIDTH: usize = 110;

/// The faults of a document, sorted by file and place, with the source texts in which they are shown.
#[derive(Clone)]
pub struct Faults {
    /// The source texts.
    pub sources: Sources,
    /// The faults; never empty.
    pub list: Vec<SourceFault>,
}

/// A fault as plain values, for JSON output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultEntry {
    /// The name of the file, if the fault has a place in one.
    pub file: Option<String>,
    /// The line, counted from one.
    pub line: Option<usize>,
    /// The column in characters, counted from one.
    pub column: Option<usize>,
    /// The path of the value.
    pub path: String,
    /// The fault, in a sentence.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl Faults {
    /// Places the faults in files where they are about values of these, sorts them by file and place, drops duplicates,
    /// and keeps no more than can be corrected at once.
    #[must_use]
    pub fn new(sources: Sources, mut list: Vec<SourceFault>) -> Self {
        for place in list.iter_mut().filter_map(|fault| fault.place.as_mut()) {
            *place = sources.origin(*place);
        }
        for fault in &mut list {
            fault.suspect(sources.suspicion(fault.place));
        }
        list.sort_by_key(|fault| fault.place.map(|place| (place.file, place.start)));
        let mut seen = HashSet::new();
        list.retain(|fault| seen.insert((fault.place, fault.message.clone())));
        if list.len() > MAX_SHOWN {
            list.truncate(MAX_SHOWN);
            list.push(SourceFault::new("there are more faults: correct these first"));
        }
        Self { sources, list }
    }

    /// Returns the faults as plain values.
    #[must_use]
    pub fn entries(&self) -> Vec<FaultEntry> {
        self.list.iter().map(|fault| self.entry(fault)).collect()
    }

    /// Formats the faults for people to read: the place, the lines, the message and the advice of each.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Unicode).term_width(WIDTH);
        let shown = self.list.iter().map(|fault| self.show(&renderer, fault) + "\n");
        shown.collect::<Vec<_>>().join("\n")
    }

    fn show(&self, renderer: &Renderer, fault: &SourceFault) -> String {
        let snippet = fault.place.and_then(|place| Snippet::cut(&self.sources, place));
        let label = if fault.path.is_empty() { "here" } else { &fault.path };
        let lines = snippet.iter().flat_map(|snippet| snippet.elements(label));
        let help = fault.help.iter().map(|help| Level::HELP.message(help).into());
        renderer.render(&[Level::ERROR.primary_title(&fault.message).elements(lines.chain(help))])
    }

    fn entry(&self, fault: &SourceFault) -> FaultEntry {
        let position = fault.place.map(|place| self.sources.position(place));
        FaultEntry {
            file: fault.place.and_then(|place| self.sources.get(place.file)).map(|source| source.name.clone()),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
            path: fault.path.clone(),
            message: fault.message.clone(),
            help: fault.help.clone(),
        }
    }

    fn line(&self, fault: &SourceFault) -> String {
        let source = fault.place.and_then(|place| Some((place, self.sources.get(place.file)?)));
        let Some((place, source)) = source else { return fault.message.clone() };
        let Position { line, column } = self.sources.position(place);
        format!("{}:{line}:{column}: {}", source.name, fault.message)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.list.iter().map(|fault| self.line(fault)).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Debug for Faults {
    /// Writes what [`render`](Self::render) returns, without colours and without the whole texts of the sources, so
    /// that an error returned by `main` can be read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for Faults {}

#[cfg(test)]
mod tests {
    use super::super::Document;

    #[test]
    fn a_fault_is_shown_with_its_lines() {
        let document = Document::from_text("scenarios/x.ron", "A(\n  é: 1, speed: 12,\n)").unwrap();
        let fault = document.fault_at("speed", "too slow", Some("take 13"));
        let shown = document.faults(vec![fault]).render(false);
        for wanted in ["scenarios/x.ron:2:16", "too slow", "take 13", "é: 1, speed: 12,", "2 │"] {
            assert!(shown.contains(wanted), "{shown}");
        }
        assert!(!shown.contains('\u{1b}'));
    }

    #[test]
    fn a_fault_of_what_is_missing_stands_at_its_parent() {
        let document = Document::from_text("x.ron", "A(b: B(c: 1))").unwrap();
        let faults = document.faults(vec![document.fault_at("b.d.e", "wanted", None)]);
        assert_eq!(faults.to_string(), "x.ron:1:6: wanted");
    }

    #[test]
    fn a_long_line_is_cut_to_a_window() {
        let text = format!("[{}\"\u{1b}[31m\", {}]", "1, ".repeat(100_000), "2, ".repeat(100_000));
        let shown = Document::from_text("x.ron", &text).unwrap_err().render(false);
        assert!(shown.len() < 1500 && shown.contains("x.ron:1:300002"), "{shown}");
        assert!(!shown.contains('\u{1b}'));
    }

    #[test]
    fn an_error_of_main_can_be_read() {
        let document = Document::from_text("x.ron", "A(b: 1)").unwrap();
        let faults = document.faults(vec![document.fault_at("b", "too small", Some("take 2"))]);
        let shown = format!("{faults:?}");
        assert_eq!(shown, faults.render(false).trim_end());
        assert!(shown.starts_with("error: too small\n") && shown.ends_with("help: take 2"), "{shown}");
    }

    #[test]
    fn faults_become_json() {
        let faults = Document::from_text("x.ron", "[1").unwrap_err();
        let json = serde_json::to_string(&faults.entries()).unwrap();
        assert!(json.starts_with(r#"[{"file":"x.ron","line":1,"column":1,"path":"","message":"this `[`"#), "{json}");
    }
}
