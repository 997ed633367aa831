//! The few lines around a fault, each cut to a window, so that a long line is never printed whole.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::place::{Place, Position, Sources};
use super::spelling::{printable, shortened};

const WINDOW: usize = 96;
const BEFORE: usize = 40;

/// A piece of a source in which one place is marked.
#[derive(Debug)]
pub(super) struct Snippet {
    name: String,
    position: Position,
    first_line: usize,
    text: String,
    label: (usize, usize),
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
        let label = marked(&mut shown, &text[line.0..line.1], start - line.0, place.end.saturating_sub(start));
        if line.1 < text.len() {
            let (from, to) = line_around(text, line.1 + 1);
            shown.push('\n');
            shown += &window(&text[from..to]);
        }
        let first_line = position.line - usize::from(above.is_some());
        Some(Self { name: shortened(&source.name, 300), position, first_line, text: shown, label })
    }

    pub fn label(&self) -> SourceSpan {
        self.label.into()
    }
}

/// The bytes of the line that holds a byte, without its newline.
fn line_around(text: &str, at: usize) -> (usize, usize) {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    (start, end)
}

fn window(line: &str) -> String {
    shortened(line.trim_end_matches('\r'), WINDOW)
}

/// Appends the window of a line around the marked bytes; returns where the mark is and how long.
fn marked(shown: &mut String, line: &str, start: usize, length: usize) -> (usize, usize) {
    let before: Vec<char> = line[..start].chars().rev().take(WINDOW).collect();
    let short = before.len() < WINDOW;
    let kept = if short { before.len() } else { BEFORE };
    shown.push_str(if short { "" } else { "…" });
    shown.extend(before[..kept].iter().rev().copied().map(printable));
    let mark = shown.len();
    let end = line.floor_char_boundary((start + length).min(line.len()));
    let inside = &line[start..end.max(start)];
    shown.extend(inside.trim_end_matches('\r').chars().take(WINDOW).map(printable));
    let length = shown.len() - mark;
    let cut = inside.chars().nth(WINDOW).is_some();
    shown.push_str(&if cut {
        "…".to_owned()
    } else {
        shortened(line[end.max(start)..].trim_end_matches('\r'), WINDOW / 2)
    });
    (mark, length)
}

impl SourceCode for Snippet {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let alone = before == 0 && after == 0;
        let (start, end) = if alone { (span.offset(), span.offset() + span.len()) } else { (0, self.text.len()) };
        let bytes = self.text.as_bytes().get(start..end).ok_or(MietteError::OutOfBounds)?;
        let line = if alone { self.position.line } else { self.first_line };
        let column = if alone { self.position.column - 1 } else { 0 };
        let lines = bytes.split(|&byte| byte == b'\n').count();
        let span = (start, end - start).into();
        Ok(Box::new(MietteSpanContents::new_named(self.name.clone(), bytes, span, line - 1, column, lines)))
    }
}
