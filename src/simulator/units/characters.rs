//! Characters that control the device that displays them, which names must not contain.

use std::borrow::Cow;

/// Returns whether a character controls a terminal or the direction of text, ends a line, or is not allowed in XML.
const fn steers(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}'
    )
}

/// Returns the first control character of `text`: one of the control characters (C0, C1), of the marks and overrides of
/// text direction, or of the line separators.
#[must_use]
pub fn first_control(text: &str) -> Option<char> {
    text.chars().find(|character| steers(*character))
}

/// Returns `text` with control characters escaped as in `\u{1b}`.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if first_control(text).is_none() {
        return Cow::Borrowed(text);
    }
    let character = |one: char| if steers(one) { one.escape_unicode().to_string() } else { one.to_string() };
    Cow::Owned(text.chars().map(character).collect())
}

/// Returns a text of several lines with control characters escaped, except line feeds and tabs.
#[must_use]
pub fn escaped_lines(text: &str) -> String {
    let is_kept = |character: char| matches!(character, '\n' | '\t');
    text.split_inclusive(is_kept)
        .map(|piece| match piece.strip_suffix(is_kept) {
            Some(line) => format!("{}{}", escaped(line), &piece[line.len()..]),
            None => escaped(piece).into_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_found_and_written_out() {
        for (text, shown) in [
            ("a\u{1b}[31m", "a\\u{1b}[31m"),
            ("\u{202e}evil", "\\u{202e}evil"),
            ("a\nb\u{9b}", "a\\u{a}b\\u{9b}"),
            ("\u{2066}", "\\u{2066}"),
        ] {
            assert!(first_control(text).is_some() && first_control(shown).is_none());
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(escaped_lines("a\tb\u{1b}\nc\n"), "a\tb\\u{1b}\nc\n");
        for plain in ["", "Parsytec GCel-512, 2 µs × 3", "名前", "<script>&\"'"] {
            assert_eq!((first_control(plain), escaped(plain)), (None, Cow::Borrowed(plain)));
        }
    }
}
