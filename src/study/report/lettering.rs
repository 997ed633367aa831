//! The room that texts need in pictures, estimated by their letters.

/// The largest number of letters of a title; a picture of that width can still be read.
const LONGEST_TITLE: usize = 120;
/// The margin of a title on either side, in pixels.
const MARGIN: u32 = 24;

/// Returns the width of a text in a font of this size, as given to `plotters`, in pixels; few texts are wider.
pub(super) fn text_width(text: &str, size: u32) -> u32 {
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX / 1000);
    // The font in the picture is smaller by a quarter, and a letter is less than three fifths of it wide.
    letters * size * 12 / 25
}

/// Returns the width of a picture: at least `width`, and enough for titles and notes, each with the size of its font.
pub(super) fn wide_enough(width: u32, texts: &[(&str, u32)]) -> u32 {
    texts.iter().map(|(text, size)| text_width(text, *size) + 2 * MARGIN).fold(width, u32::max)
}

/// Shortens a title that no picture would have room for.
pub(super) fn title(text: &str) -> String {
    shortened(text, LONGEST_TITLE)
}

/// Shortens a text by its middle to at most `most` letters. Names differ at their ends.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most.max(3) {
        return text.to_owned();
    }
    let kept = most.max(3) - 1;
    text.chars().take(kept / 2).chain(['…']).chain(text.chars().skip(length - (kept - kept / 2))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_widens_the_picture_and_a_longer_one_is_shortened() {
        let name = "a machine with a name of ".repeat(3);
        let text = format!("Execution time on {name}100 letters");
        assert_eq!((title(&text), wide_enough(900, &[(&text, 20)]) > 1000), (text.clone(), true));
        assert_eq!(wide_enough(900, &[("short", 20), ("short, too", 13)]), 900);
        let shown = title(&text.repeat(3));
        assert!(shown.chars().count() == 120 && shown.starts_with("Execution") && shown.ends_with("100 letters"));
        assert_eq!(shortened("LogNormal(0.01)", 8), "Log….01)");
        assert_eq!((shortened("News", 8), shortened("News", 1)), ("News".to_owned(), "N…s".to_owned()));
    }
}
