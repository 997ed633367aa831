use proptest::prelude::*;

use super::super::Document;

fn faults(text: &str) -> Vec<(usize, usize, String)> {
    let faults = Document::from_text("x.ron", text).unwrap_err();
    faults.entries().into_iter().map(|entry| (entry.line.unwrap(), entry.column.unwrap(), entry.message)).collect()
}

fn fault(text: &str) -> (usize, usize, String) {
    let mut faults = faults(text);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.remove(0)
}

#[test]
fn a_forgotten_comma_stands_behind_the_value() {
    let (line, column, message) = fault("A(\n  a: 12\n  b: 2,\n)");
    assert_eq!((line, column, message.as_str()), (2, 7, "expected `,` before `b`"));
}

#[test]
fn a_quantity_without_quotes_is_explained() {
    let faults = Document::from_text("x", "A(rate: 20 Mbit/s, n: 2)").unwrap_err();
    assert!(faults.list[0].help.as_ref().unwrap().contains("\"20 Mbit/s\""), "{faults}");
}

#[test]
fn an_unclosed_bracket_stands_at_its_opening() {
    assert_eq!(fault("A(\n b: [1, 2,\n"), (2, 5, "this `[` is never closed".to_owned()));
    assert_eq!(fault("A(\n b: [1, 2\n)"), (3, 1, "`)` does not close the `[` of line 2".to_owned()));
}

/// The help says which bracket is missing, and where.
#[test]
fn a_forgotten_bracket_is_named() {
    let help = |text: &str| Document::from_text("x", text).unwrap_err().list[0].help.clone().unwrap();
    assert_eq!(help("A(b: [1, 2)"), "add a `]` before it");
    assert_eq!(help("A(b: B(c: 1], d: 2)"), "write `)` instead");
    assert_eq!(help("A(b: [1, 2, c: 3)"), "a list has no fields: close the `[` of line 1 with a `]` before this one");
    assert_eq!(help("A(b: {\"x\": 1 : 2})"), "separate values by `,`");
}

#[test]
fn a_text_without_end_and_an_empty_file() {
    assert_eq!(fault("A(a: \"x)").0, 1);
    assert_eq!(fault(" // only words\n").2, "there is no value: the text is empty");
    assert_eq!(fault("").2, "there is no value: the text is empty");
}

#[test]
fn several_mistakes_are_found_at_once() {
    let lines: Vec<_> = faults("A(\n a 1,\n b: ,\n c: 1,\n d: 12x,\n)").into_iter().map(|fault| fault.0).collect();
    assert_eq!(lines, [2, 3, 5]);
}

#[test]
fn a_field_given_twice_names_both_lines() {
    let (line, _, message) = fault("A(\n a: 1,\n b: 2,\n a: 3,\n)");
    assert_eq!((line, message.as_str()), (4, "field `a` is given twice: in line 2 and in line 4"));
}

#[test]
fn no_more_than_twenty_faults() {
    assert_eq!(faults(&format!("[\n{}]", "1 1,\n".repeat(500))).len(), 20);
}

#[test]
fn attributes_are_passed_over() {
    let document = Document::from_text("x", "#![enable(implicit_some)]\n#![type = \"x\"]\nA(a: 1)").unwrap();
    assert!(document.get("a").is_some());
}

/// A quadratic parser would take hours.
#[test]
fn a_megabyte_of_anything_ends() {
    let megabyte = 1 << 20;
    for unit in ["(", "[", ")", "a", "a ", "\"", "#", "/*", "[(", "{1,", "r#", "\\", "'", "A(a:", "() ", ",", "é", "0"]
    {
        for start in ["", "[", "A(", &format!("{})", "[".repeat(64))] {
            let text = format!("{start}{}", unit.repeat((megabyte - start.len()) / unit.len()));
            let result = Document::from_text("x", &text).map_err(|faults| faults.render(false));
            assert!(result.is_ok() || result.is_err_and(|shown| shown.len() < 100_000), "{start}{unit}");
        }
    }
}

#[test]
fn deep_nesting_is_a_fault() {
    assert_eq!(fault(&format!("{}{}", "[".repeat(65), "]".repeat(65))).2, "brackets are nested deeper than 64");
    assert!(Document::from_text("x", &format!("{}{}", "[".repeat(64), "]".repeat(64))).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn noise_never_panics(text in "[(\\[{:,a1\"'\\\\/*r#\u{e9}\n )\\]}A.-]{0,200}", any in ".{0,60}") {
        for text in [&text, &any] {
            if let Err(faults) = Document::from_text("x", text) {
                prop_assert!(!faults.list.is_empty());
                prop_assert!(faults.render(false).contains("x:"));
            }
        }
    }
}
