//! The grammar of scenarios, held against two other parsers of RON.

use parsim::scenario::source::Document;
use proptest::prelude::*;

const WORDS: [&str; 20] = [
    "(", ")", "[", "]", "{", "}", ",", ":", "a:", "A", "A(", "1", "-2.5e3", "\"x\"", "'c'", "true", "Some(", "None",
    "// c\n", "/* */",
];

/// Returns `true` if both grammars decide alike on the text of `words`.
///
/// `ron2` is the stricter oracle; where it rejects a text, `ron` decides: it allows a comma in `Some(1,)`.
fn decides_alike(words: &[&str]) -> bool {
    let text = words.join(" ");
    let ours = Document::from_text("x", &text);
    let oracle = || {
        ron2::ast::parse_document(&text).is_ok_and(|document| document.value.is_some())
            || ron::from_str::<ron::Value>(&text).is_ok()
    };
    match ours {
        Ok(_) => oracle() || is_more_than_ron(words),
        Err(faults) => faults.list.iter().all(|fault| fault.message.contains("twice")) || !oracle(),
    }
}

/// Returns `true` for `Some(a: 1)`, which is read as `Some((a: 1))`, and for `None(`, which the type rejects later.
fn is_more_than_ron(words: &[&str]) -> bool {
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('/')).collect();
    let pair = |pair: &[&str]| matches!(pair, ["Some(", "a:"] | ["None", "("]);
    let triple = |triple: &[&str]| matches!(triple, ["Some(", "A" | "true" | "None", ":"]);
    words.windows(2).any(pair) || words.windows(3).any(triple)
}

/// Every text of at most three words is decided alike.
#[test]
fn accepts_the_short_texts_that_ron_accepts() {
    for length in 0..=3 {
        for number in 0..WORDS.len().pow(length) {
            let words: Vec<_> = (0..length).map(|place| WORDS[number / WORDS.len().pow(place) % WORDS.len()]).collect();
            assert!(decides_alike(&words), "{words:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn accepts_the_texts_that_ron_accepts(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..12)) {
        prop_assert!(decides_alike(&words), "{words:?}");
    }
}
