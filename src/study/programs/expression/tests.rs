use super::*;

const NAMES: [(&str, Value); 4] =
    [("p", Value::Whole(4)), ("rank", Value::Whole(1)), ("n", Value::Whole(7)), ("x", Value::Real(2.5))];

fn value(text: &str) -> Result<Value, String> {
    let place = |name: &str| NAMES.iter().position(|(known, _)| *known == name);
    let slot = |name: &str| place(name).map(|place| Binding::Slot(u16::try_from(place).unwrap()));
    let known = |name: &str| place(name).map(|place| Binding::Constant(NAMES[place].1));
    let formula = Formula::read(text).map_err(|fault| described(&fault))?;
    let names = || NAMES.iter().map(|(name, _)| *name);
    let with_slots = formula.bind(slot, names()).map_err(|fault| described(&fault))?;
    let folded = formula.bind(known, names()).map_err(|fault| described(&fault))?;
    let value = with_slots.evaluate(&NAMES.map(|(_, value)| value)).map_err(|fault| described(&fault));
    assert_eq!(folded.evaluate(&[]).map_err(|fault| described(&fault)), value, "{text} has another value when folded");
    value
}

fn described(fault: &ExpressionFault) -> String {
    format!("{:?} {} [{}]", fault.span.range(), fault.message, fault.help)
}

#[track_caller]
fn whole(text: &str, expected: i64) {
    assert_eq!(value(text), Ok(Value::Whole(expected)), "{text}");
}

#[track_caller]
fn real(text: &str, expected: f64) {
    assert_eq!(value(text), Ok(Value::Real(expected)), "{text}");
}

#[track_caller]
fn truth(text: &str, expected: bool) {
    assert_eq!(value(text), Ok(Value::Truth(expected)), "{text}");
}

/// Asserts that the fault of `text` has this range and mentions these words.
#[track_caller]
fn fault(text: &str, range: std::ops::Range<usize>, words: &[&str]) {
    let said = value(text).expect_err(text);
    assert!(said.starts_with(&format!("{range:?} ")), "{text}: {said}");
    for word in words {
        assert!(said.contains(word), "{text}: no `{word}` in {said}");
    }
}

#[test]
fn numbers() {
    whole("1_000", 1000);
    real("1e3", 1000.0);
    real("2.5e-1", 0.25);
    real(".5", 0.5);
    real("5.", 5.0);
    whole("9223372036854775807", i64::MAX);
    fault("9223372036854775808", 0..19, &["too large for a whole number", "9223372036854775808.0"]);
    fault("1e999", 0..5, &["too large"]);
    fault("2rank", 1..2, &["`r` follows the number 2", "2 * r"]);
    truth("true", true);
    real("TAU / PI", 2.0);
}

#[test]
fn operators_bind_as_documented() {
    whole("2 * p % 3", 2);
    whole("7 % p * 2", 6);
    whole("1 + 2 * p ^ 2", 33);
    whole("-p + 1", -3);
    whole("-2 ^ 2", -4);
    whole("2 ^ 3 ^ 2", 512);
    real("2 ^ -1", 0.5);
    whole("12 / p / 3", 1);
    whole("1 if p == 3 else 2 if p == 4 else 3", 2);
    whole("p - 1 if p > 3 else 0", 3);
    truth("p > 5 || p + 1 == 5 && p < 9", true);
    truth("not p == 4 or rank == 1", true);
    truth("not (p == 4 or rank == 1)", false);
    truth("!(p == 4) && true", false);
    truth("not not p == 4", true);
    truth("(p > 3) == (n > 3)", true);
    whole("{p} + 1", 5);
}

#[test]
fn division_is_exact_or_floored() {
    real("7 / 2", 3.5);
    whole("6 / 2", 3);
    real("6.0 / 2", 3.0);
    whole("7 div 2", 3);
    whole("-7 div 2", -4);
    whole("7 div -2", -4);
    whole("-7 % 2", 1);
    whole("7 % -2", -1);
    whole("7.5 div 2", 3);
    whole("-7.5 div 2", -4);
    real("7.5 % 2", 1.5);
    real("-7.5 % 2", 0.5);
    for text in ["n / 0", "n div 0", "n % 0", "n / 0.0", "n div 0.0", "x % 0"] {
        fault(text, 0..text.len(), &["by 0"]);
    }
    whole("0 if n == 7 else n / 0", 0);
}

#[test]
fn whole_numbers_neither_wrap_nor_turn_real() {
    for text in [
        "9223372036854775807 + 1",
        "-9223372036854775807 - 2",
        "9223372036854775807 * 2",
        "10 ^ 19",
        "(-9223372036854775807 - 1) div -1",
        "(-9223372036854775807 - 1) / -1",
        "-(-9223372036854775807 - 1)",
        "abs(-9223372036854775807 - 1)",
    ] {
        fault(text, 0..text.len(), &["no value"]);
    }
    whole("(-1) ^ 9223372036854775807", -1);
    whole("1 ^ 9223372036854775807", 1);
    for text in
        ["1e308 * 10", "sqrt(-1)", "ln(0)", "0 ^ -1", "(-8) ^ 0.5", "log2(-p)", "asin(2)", "exp(1000)", "floor(1e300)"]
    {
        fault(text, 0..text.len(), &["no value"]);
    }
}

#[test]
fn comparisons_are_exact_and_an_error_in_one_is_an_error() {
    truth("rank < sqrt(p)", true);
    truth("rank < log2(p)", true);
    truth("floor(7 / 2) == 3", true);
    truth("floor(3) != 3", false);
    truth("9007199254740993 == 9007199254740992.0", false);
    truth("9007199254740993 > 9007199254740992.0", true);
    fault("1 < n / 0", 4..9, &["divides 7 by 0"]);
    fault("sqrt(0 - p) != 1", 0..11, &["sqrt(-4) has no value"]);
    truth("p > 9 && n / 0 > 1", false);
    truth("p < 9 || n / 0 > 1", true);
}

#[test]
fn functions_with_whole_values() {
    for (text, expected) in [
        ("floor(3.7)", 3),
        ("floor(-3.5)", -4),
        ("floor(n)", 7),
        ("ceil(3.2)", 4),
        ("ceil(n)", 7),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("trunc(-3.7)", -3),
        ("abs(-3)", 3),
        ("signum(-2.5)", -1),
        ("signum(0.0)", 0),
        ("min(p, n, 5)", 4),
        ("max(p, n, 5)", 7),
        ("max(n, 6.5)", 7),
        ("bitxor(6, 2 ^ rank)", 4),
        ("bitand(6, 3)", 2),
        ("bitor(6, 3)", 7),
        ("fract(3)", 0),
    ] {
        whole(text, expected);
    }
    fault("bitxor(2.5, 1)", 0..14, &["no value"]);
}

#[test]
fn functions_with_real_values() {
    for (text, expected) in [
        ("abs(-2.5)", 2.5),
        ("min(x, 3)", 2.5),
        ("sqrt(p)", 2.0),
        ("cbrt(27)", 3.0),
        ("log2(8)", 3.0),
        ("log10(1000)", 3.0),
        ("ln(1)", 0.0),
        ("log(1)", 0.0),
        ("exp(0)", 1.0),
        ("sin(0)", 0.0),
        ("cos(0)", 1.0),
        ("tan(0)", 0.0),
        ("asin(0)", 0.0),
        ("acos(1)", 0.0),
        ("atan(0)", 0.0),
        ("atan2(0, 1)", 0.0),
        ("sinh(0)", 0.0),
        ("cosh(0)", 1.0),
        ("tanh(0)", 0.0),
        ("asinh(0)", 0.0),
        ("acosh(1)", 0.0),
        ("atanh(0)", 0.0),
        ("fract(2.5)", 0.5),
        ("to_float(3)", 3.0),
    ] {
        real(text, expected);
    }
}

#[test]
fn every_function_rejects_truth_values_and_other_numbers_of_arguments() {
    for function in &functions::FUNCTIONS {
        let name = function.name;
        let arguments = vec!["p > 1"; function.least].join(", ");
        fault(&format!("{name}({arguments})"), name.len() + 1..name.len() + 6, &["truth value"]);
        let none = format!("{name}()");
        fault(&none, 0..none.len(), &["0 arguments", &function.usage()]);
        if function.most < 3 {
            let many = format!("{name}(1, 2, 3)");
            fault(&many, 0..many.len(), &["3 arguments"]);
        }
    }
}

#[test]
fn types_are_checked_before_anything_is_computed() {
    fault("p + (p > 1)", 4..11, &["`+` needs a number", "1 if (p > 1) else 0"]);
    fault("p == true", 5..9, &["needs a number"]);
    fault("(p > 1) == 1", 11..12, &["needs a truth value"]);
    fault("p && n > 1", 0..1, &["needs a truth value", "p != 0"]);
    fault("1 if p else 2", 5..6, &["condition", "p != 0"]);
    fault("1 if p > 1 else true", 2..4, &["one side"]);
    fault("!p", 1..2, &["truth value"]);
    fault("-(p > 1)", 1..8, &["needs a number"]);
    assert!(Formula::read("p < 3").unwrap().is_truth());
    assert!(!Formula::read("p if p < 3 else 3").unwrap().is_truth());
}

#[test]
fn faults_say_where_and_what_would_be_right() {
    fault("p = 4", 2..3, &["`==`"]);
    fault("p > 1 & n > 1", 6..7, &["`&&`"]);
    fault("p > 1 | n > 1", 6..7, &["`||`"]);
    fault("1 < p < 5", 6..7, &["chained", "a < b && b < c"]);
    fault("rnak + 1", 0..4, &["no `rnak`", "did you mean `rank`"]);
    fault("sqr(p)", 0..3, &["no function `sqr`", "did you mean `sqrt`", "floor"]);
    fault("p mod 2", 2..5, &["`%`"]);
    fault("rank XOR 1", 5..8, &["bitxor(a, b)"]);
    fault("p > 1 AND n > 1", 6..9, &["`and`"]);
    fault("sqrt p", 5..6, &["sqrt(p"]);
    fault("p ** 2", 2..4, &["`^`"]);
    fault("p // 2", 2..4, &["`div`"]);
    fault("(p + 1", 0..1, &["never closed"]);
    fault("p + 1)", 5..6, &["remove it"]);
    fault("p +", 3..3, &["missing at the end"]);
    fault("", 0..0, &["empty"]);
    fault("* 2", 0..1, &["expected"]);
    fault("1 if p > 2", 2..4, &["no `else`"]);
    fault("p $ 2", 2..3, &["not an operator"]);
    fault("1 + not p > 2", 4..7, &["brackets"]);
    fault("{p", 0..1, &["{name}"]);
    fault("min(1, 2", 3..4, &["never closed"]);
}

#[test]
fn long_and_deep_expressions_are_rejected() {
    fault(&"1+".repeat(3000), 0..0, &["too long"]);
    assert!(value(&format!("{}1", "1+".repeat(390))).is_ok());
    for text in ["(".repeat(300), "-".repeat(300), "2^".repeat(300), "1 if true else ".repeat(100)] {
        assert!(value(&text).unwrap_err().contains("nested"), "{text}");
    }
}

#[test]
fn a_fault_can_be_carried_as_text() {
    let fault = Formula::read("p = 1").unwrap_err();
    assert_eq!(ExpressionFault::from_text(&fault.to_text()), Some(fault));
    assert_eq!(ExpressionFault::from_text("expected a number"), None);
}
