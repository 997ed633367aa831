//! The grammar of scenarios, held against another parser of RON.

use parsim::scenario::source::Document;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The strict parser of ron2 is the oracle: both accept the same short texts.
    #[test]
    fn accepts_what_ron2_accepts(words in prop::collection::vec(
        prop::sample::select(vec!["(", ")", "[", "]", "{", "}", ",", ":", "a:", "A", "A(", "1", "-2.5e3", "\"x\"", "'c'", "true", "Some(", "None", "// c\n", "/* */"]),
        0..12,
    )) {
        let text = words.join(" ");
        let ours = Document::from_text("x", &text);
        let known_difference = text.contains("Some (") || text.contains("{ ") || text.contains("None (") || text.contains("true (");
        let oracle = ron2::ast::parse_document(&text).is_ok_and(|document| document.value.is_some());
        let twice = ours.as_ref().is_err_and(|faults| faults.list.iter().all(|fault| fault.message.contains("twice")));
        prop_assert!(known_difference || twice || ours.is_ok() == oracle, "{text:?}: {ours:?}");
    }
}
