//! The room that texts need in pictures, estimated by their letters.

use std::path::Path;

/// The largest number of letters of a title; a picture of that width can still be read.
const LONGEST_TITLE: usize = 120;
/// The margin of a title on either side, in pixels.
const MARGIN: u32 = 24;

/// The texts of a picture that a user chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lettering {
    /// The title in place of the picture's own; an empty one leaves it out.
    pub title: Option<String>,
    /// `true` if the names of lines and colours are left out.
    pub has_no_legend: bool,
}

/// A picture with a title and a legend.
pub trait Lettered: Sized {
    /// Returns the picture with another title.
    #[must_use]
    fn titled(self, title: String) -> Self;

    /// Returns the picture without its legend.
    #[must_use]
    fn without_legend(self) -> Self;

    /// Returns the picture with the chosen texts.
    #[must_use]
    fn lettered(self, lettering: &Lettering) -> Self {
        let titled = match &lettering.title {
            Some(title) => self.titled(title.clone()),
            None => self,
        };
        if lettering.has_no_legend { titled.without_legend() } else { titled }
    }
}

/// Shortens every `File("folder/name.ron")` in some names to `name`, unless different names would become the same.
pub(super) fn without_folders(names: &[String]) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| file_names(name)).collect();
    if doubles(names, &short).is_empty() { short } else { names.to_vec() }
}

/// Returns a text with every file by its name alone.
fn file_names(text: &str) -> String {
    let Some((before, (file, after))) =
        text.split_once("File(\"").and_then(|(before, rest)| Some((before, rest.split_once("\")")?)))
    else {
        return text.to_owned();
    };
    let name = Path::new(file).file_stem().and_then(|name| name.to_str()).unwrap_or(file);
    format!("{before}{name}{}", file_names(after))
}

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

/// Shortens the names of a list to at most `most` letters each, if there is room, so that different names stay different:
/// names that are the same without their middles show the place where they differ, or else their number in the list.
pub(super) fn distinct(names: &[String], most: usize) -> Vec<String> {
    let mut shown: Vec<String> = names.iter().map(|name| shortened(name, most)).collect();
    for distinguished in [at_difference as fn(&[String], usize, usize) -> String, numbered] {
        let doubles = doubles(names, &shown);
        for index in doubles {
            shown[index] = distinguished(names, index, most);
        }
    }
    shown
}

/// Returns the indices of the names that are shown like different ones.
fn doubles(names: &[String], shown: &[String]) -> Vec<usize> {
    let is_double =
        |index: &usize| (0..names.len()).any(|other| names[other] != names[*index] && shown[other] == shown[*index]);
    (0..names.len()).filter(is_double).collect()
}

/// Returns the part of a name that begins where it differs from all names that look like it when shortened.
fn at_difference(names: &[String], index: usize, most: usize) -> String {
    let letters: Vec<char> = names[index].chars().collect();
    let same = |other: &String| letters.iter().zip(other.chars()).take_while(|(own, other)| *own == other).count();
    let looks = shortened(&names[index], most);
    let is_alike = |other: &&String| **other != names[index] && shortened(other, most) == looks;
    let begin = names.iter().filter(is_alike).map(same).max().unwrap_or(0);
    let rest: String = letters[begin..].iter().collect();
    format!("…{}", shortened_end(&rest, most.saturating_sub(1)))
}

/// Shortens a text at its end.
fn shortened_end(text: &str, most: usize) -> String {
    if text.chars().count() <= most.max(2) {
        return text.to_owned();
    }
    text.chars().take(most.max(2) - 1).chain(['…']).collect()
}

/// Returns a name after its number in the list.
fn numbered(names: &[String], index: usize, most: usize) -> String {
    let number = format!("{}: ", index + 1);
    let room = most.saturating_sub(number.len());
    format!("{number}{}", shortened_end(&names[index], room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_without_their_folders_while_that_tells_them_apart() {
        let names = |texts: &[&str]| without_folders(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            names(&["machine = File(\"machines/a.ron\"), n = 8", "machine = File(\"../b.ron\"), n = 8"]),
            ["machine = a, n = 8", "machine = b, n = 8"]
        );
        let alike = ["File(\"x/a.ron\")", "File(\"y/a.ron\")"];
        assert_eq!(names(&alike), alike);
        assert_eq!(names(&["File(\"open", "p = 4"]), ["File(\"open", "p = 4"]);
    }

    #[test]
    fn a_long_title_widens_the_picture_and_a_longer_one_is_shortened() {
        let name = "a machine with a name of ".repeat(3);
        let text = format!("Execution time on {name}100 letters");
        assert_eq!((title(&text), wide_enough(900, &[(&text, 20)]) > 1000), (text.clone(), true));
        assert_eq!(wide_enough(900, &[("short", 20), ("short, too", 13)]), 900);
        let shown = title(&text.repeat(3));
        assert!(shown.chars().count() == 120 && shown.starts_with("Execution") && shown.ends_with("100 letters"));
        assert_eq!(shortened("LogNormal(0.01)", 8), "Log….01)");
        let names = ["Cyclic(over: \"node\", q: 8)", "Cyclic(over: \"socket\", q: 8)", "Packed(q: 8)", "Packed(q: 8)"];
        let names = names.map(str::to_owned);
        assert_eq!(distinct(&names, 8), ["…node\",…", "…socket…", "Pac…: 8)", "Pac…: 8)"]);
        let alike = ["abcd, 1, efgh", "abcd, 2, efgh", "abcd, 2"].map(str::to_owned);
        let shown = distinct(&alike, 5);
        assert!(shown[0] != shown[1] && shown[1] != shown[2] && shown[0] != shown[2], "{shown:?}");
        assert_eq!((shortened("News", 8), shortened("News", 1)), ("News".to_owned(), "N…s".to_owned()));
    }
}
