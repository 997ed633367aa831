//! Places of values: spans of bytes in a table of source texts.

use super::named_files::NamedFiles;
use std::sync::Arc;

/// A span of bytes in one of the [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The index of the source text.
    pub file: usize,
    /// The index of the first byte.
    pub start: usize,
    /// The index of the byte after the last.
    pub end: usize,
}

impl Place {
    /// Returns the place from the start of this one to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { end: other.end.max(self.end), ..self }
    }
}

/// A line and a column, both counted from one. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A text that was read: a file, or a `--set` on the command line.
#[derive(Debug)]
pub struct SourceText {
    /// The name of the text, as the user gave it.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// `true` if the text was typed on the command line or written by a program.
    pub typed: bool,
    /// The place that the text stands for, if it is the value of an axis or the result of an expression in a file.
    pub origin: Option<Place>,
}

/// Values that the user did not write and that may cause faults at other places.
#[derive(Debug)]
struct SuspectValues {
    /// The beginning of the names of their texts: the option that gives the values.
    option: String,
    /// The values, in words.
    words: String,
}

/// The table of all texts that were read. Cloning is cheap after `share`.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    shared: Arc<Vec<Arc<SourceText>>>,
    own: Vec<Arc<SourceText>>,
    /// Values that may have caused faults at other places.
    suspect: Option<Arc<SuspectValues>>,
    /// The files that texts may name.
    pub(super) files: NamedFiles,
}

impl Sources {
    /// Creates an empty table whose texts may name `files`.
    pub(super) fn naming(files: NamedFiles) -> Self {
        Self { files, ..Self::default() }
    }

    /// Adds a text and returns the place of the whole text.
    pub fn add(&mut self, source: SourceText) -> Place {
        let place = Place { file: self.count(), start: 0, end: source.text.len() };
        self.own.push(Arc::new(source));
        place
    }

    /// Returns the number of texts.
    pub(super) fn count(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// Makes clones share the texts that the table contains now.
    pub(in crate::scenario) fn share(&mut self) {
        let own = std::mem::take(&mut self.own);
        Arc::make_mut(&mut self.shared).extend(own);
    }

    /// Returns the source text with this index, if it exists.
    #[must_use]
    pub fn get(&self, file: usize) -> Option<&SourceText> {
        let source = self.shared.get(file).or_else(|| self.own.get(file - self.shared.len()));
        source.map(AsRef::as_ref)
    }

    /// Returns all source texts in the order in which they were read.
    pub fn iter(&self) -> impl Iterator<Item = &SourceText> {
        self.shared.iter().chain(&self.own).map(AsRef::as_ref)
    }

    /// Returns the text at a place, or the empty string if there is none.
    #[must_use]
    pub fn text(&self, place: Place) -> &str {
        self.get(place.file).and_then(|source| source.text.get(place.start..place.end)).unwrap_or("")
    }

    /// Returns the line and column at which a place starts.
    #[must_use]
    pub fn position(&self, place: Place) -> Position {
        let text = self.get(place.file).map_or("", |source| source.text.as_str());
        position_in(text, place.start)
    }

    /// Returns the place in a file for which the text of a place stands, or else the place itself.
    pub(super) fn origin(&self, place: Place) -> Place {
        self.get(place.file).and_then(|source| source.origin).unwrap_or(place)
    }

    /// Makes [`suspicion`](Self::suspicion) name the values of `option`, which `words` list.
    pub(super) fn suspect(&mut self, option: &str, words: &str) {
        self.suspect = Some(SuspectValues { option: format!("{option} "), words: words.to_owned() }.into());
    }

    /// Returns the values that may have caused a fault at `place`, in words, unless it is the place of one of them.
    pub(super) fn suspicion(&self, place: Option<Place>) -> Option<&str> {
        let suspect = self.suspect.as_ref()?;
        let source = place.and_then(|place| self.get(place.file));
        let is_own = source.is_some_and(|source| source.typed && source.name.starts_with(&suspect.option));
        (!is_own).then_some(&*suspect.words)
    }

    pub(super) fn is_typed(&self, place: Place) -> bool {
        self.get(place.file).is_some_and(|source| source.typed)
    }
}

/// Returns the line and column of a byte of a text.
pub(super) fn position_in(text: &str, byte: usize) -> Position {
    let before = &text[..text.floor_char_boundary(byte)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: 1 + before.bytes().filter(|&byte| byte == b'\n').count(),
        column: 1 + before[line_start..].chars().count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(position_in("é\néé(x", 7), Position { line: 2, column: 3 });
        assert_eq!(position_in("", 9), Position { line: 1, column: 1 });
    }
}
