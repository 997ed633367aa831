//! The lines around a fault, each cut to a window, so that a long line is never printed whole.

use annotate_snippets::{AnnotationKind, Element, Origin};
use std::ops::Range;

use super::place::{Place, Position, Sources};
use super::spelling::{printable, shortened};

const WINDOW: usize = 96;
const BEFORE: usize = 40;

/// An excerpt of a source text in which one place is marked.
#[derive(Debug)]
pub(super) struct Snippet {
    name: String,
    position: Position,
    first_line: usize,
    text: String,
    mark: Range<usize>,
    /// `true` if the excerpt starts at the beginning of the marked line, so that its columns are those of the file.
    is_whole: bool,
}

impl Snippet {
    pub fn cut(sources: &Sources, place: Place) -> Option<Self> {
        let source = sources.get(place.file)?;
        let text = source.text.as_str();
        let start = text.floor_char_boundary(place.start);
        let line = line_around(text, start);
        let position = sources.position(place);
        let mut shown = String::new();
        let above = (line.0 > 0).then(|| line_around(text, line.0 - 1));
        if let Some((from, to)) = above {
            shown += &window(&text[from..to]);
            shown.push('\n');
        }
        let (mark, is_whole) =
            marked(&mut shown, &text[line.0..line.1], start - line.0, place.end.saturating_sub(start));
        if line.1 < text.len() {
            let (from, to) = line_around(text, line.1 + 1);
            shown.push('\n');
            shown += &window(&text[from..to]);
        }
        let first_line = position.line - usize::from(above.is_some());
        Some(Self { name: shortened(&source.name, 300), position, first_line, text: shown, mark, is_whole })
    }

    /// Returns the place and the lines, with `label` at the mark.
    pub fn elements<'a>(&'a self, label: &'a str) -> Vec<Element<'a>> {
        let mark = AnnotationKind::Primary.span(self.mark.clone()).label(label);
        let lines =
            annotate_snippets::Snippet::source(&self.text).line_start(self.first_line).fold(false).annotation(mark);
        if self.is_whole {
            return vec![lines.path(&self.name).into()];
        }
        let Position { line, column } = self.position;
        vec![Origin::path(&self.name).line(line).char_column(column).into(), lines.into()]
    }
}

/// Returns the byte range of the line that contains the byte `at`, without its newline.
fn line_around(text: &str, at: usize) -> (usize, usize) {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    (start, end)
}

fn window(line: &str) -> String {
    shortened(line.trim_end_matches('\r'), WINDOW)
}

/// Appends a window of `line` around the marked bytes. Returns the range of the mark in `shown`, and whether the window
/// includes the beginning of the line.
fn marked(shown: &mut String, line: &str, start: usize, length: usize) -> (Range<usize>, bool) {
    let before: Vec<char> = line[..start].chars().rev().take(WINDOW).collect();
    let short = before.len() < WINDOW;
    let kept = if short { before.len() } else { BEFORE };
    shown.push_str(if short { "" } else { "…" });
    shown.extend(before[..kept].iter().rev().copied().map(printable));
    let mark = shown.len();
    let end = line.floor_char_boundary((start + length).min(line.len()));
    let inside = &line[start..end.max(start)];
    shown.extend(inside.trim_end_matches('\r').chars().take(WINDOW).map(printable));
    let end_of_mark = shown.len();
    let cut = inside.chars().nth(WINDOW).is_some();
    shown.push_str(&if cut {
        "…".to_owned()
    } else {
        shortened(line[end.max(start)..].trim_end_matches('\r'), WINDOW / 2)
    });
    (mark..end_of_mark, short)
}
