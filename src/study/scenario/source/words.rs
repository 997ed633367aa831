//! Words of plain files, with their places. They are separated by spaces, commas or `=`; `#` begins a comment.

use super::place::{Place, Sources};

/// A word of a plain file, with its place.
#[derive(Clone, Copy)]
pub struct Word<'t> {
    pub text: &'t str,
    pub place: Place,
}

/// Returns the words of each line that is not empty.
pub fn lines(sources: &Sources, whole: Place) -> Vec<Vec<Word<'_>>> {
    let text = sources.get(whole.file).map_or("", |source| &source.text[whole.start..whole.end]);
    let mut start = whole.start;
    let words = text.split_inclusive('\n').map(|line| {
        let at = start;
        start += line.len();
        words(line.split('#').next().unwrap_or(line), Place { start: at, ..whole })
    });
    words.filter(|words| !words.is_empty()).collect()
}

fn words(line: &str, at: Place) -> Vec<Word<'_>> {
    let word = |text: &'_ str| text.as_ptr() as usize - line.as_ptr() as usize;
    let texts = line.split(|letter: char| letter.is_whitespace() || ",=".contains(letter));
    let placed = texts.filter(|text| !text.is_empty()).map(|text| {
        let start = at.start + word(text);
        Word { text, place: Place { start, end: start + text.len(), ..at } }
    });
    placed.collect()
}
