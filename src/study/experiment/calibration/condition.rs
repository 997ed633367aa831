//! Conditions over the columns of a table.

use crate::programs::expression::{Formula, Value};
use crate::scenario::AxisValue;

/// A condition over the columns of a table, such as `p <= 16 && nodes == "2x2x2"`.
#[derive(Clone)]
pub struct RowCondition {
    formula: Formula,
    /// The comparisons with text literals.
    texts: Vec<TextComparison>,
}

/// A column, and the text literal that it is compared with.
type TextComparison = (String, String);

/// A fault of a condition, and the help for it.
type ConditionFault = (String, String);

/// Returns the name in the formula that stands for a comparison with a text literal.
fn stand_in(index: usize) -> String {
    format!("text_comparison_{index}")
}

impl RowCondition {
    /// Parses a condition over `columns`.
    ///
    /// # Errors
    /// Returns a fault of the text and the help for it.
    pub fn read(text: &str, columns: &[String]) -> Result<Self, ConditionFault> {
        let (plain, texts) = without_texts(text)?;
        let formula = Formula::read(&plain).map_err(|fault| (fault.message, fault.help))?;
        if !formula.is_truth() {
            let help = "compare something, such as `p <= 16`";
            return Err(("it is a number, not a condition".to_owned(), help.to_owned()));
        }
        let known = |name: &str| columns.iter().any(|column| column == name);
        let stand_ins = (0..texts.len()).map(stand_in).collect::<Vec<_>>();
        let plain_names = formula.names().map(|(name, _)| name).filter(|name| !Formula::is_constant(name));
        let mut columns_used = plain_names
            .filter(|name| !stand_ins.iter().any(|own| own == name))
            .chain(texts.iter().map(|text| &*text.0));
        let unknown = columns_used.find(|name| !known(name)).map(ToOwned::to_owned);
        drop(columns_used);
        if let Some(unknown) = unknown {
            return Err((format!("there is no column `{unknown}`"), format!("there are: {}", columns.join(", "))));
        }
        Ok(Self { formula, texts })
    }

    /// Returns `true` if the condition is true for these column values.
    ///
    /// # Errors
    /// Returns the reason why the condition cannot be evaluated.
    pub fn holds<'v>(&self, value: impl Fn(&str) -> Option<&'v AxisValue>) -> Result<bool, String> {
        let equal: Vec<bool> = self
            .texts
            .iter()
            .map(|(column, text)| value(column).is_some_and(|value| value.to_string() == *text))
            .collect();
        let compared = |name: &str| (0..equal.len()).find(|index| stand_in(*index) == name);
        let number = |name: &str| match compared(name) {
            Some(index) => Some(Value::Whole(equal[index].into())),
            None => value(name)?.as_value(),
        };
        let text = self.formula.names().find(|(name, _)| !Formula::is_constant(name) && number(name).is_none());
        if let Some((name, _)) = text {
            return Err(format!(
                "`{name}` is not a number here: compare it with a quoted text, such as `{name} == \"…\"`"
            ));
        }
        let value = self.formula.value(number).map_err(|fault| fault.message)?;
        Ok(value == Value::Truth(true))
    }
}

/// Replaces every comparison of a column with a quoted text literal by a comparison of its [stand-in](stand_in) with 0
/// or 1. Returns the new text and the comparisons.
fn without_texts(text: &str) -> Result<(String, Vec<TextComparison>), ConditionFault> {
    let wrong = |message: &str| (message.to_owned(), "compare a column with it: `nodes == \"2x2x2\"`".to_owned());
    let (mut plain, mut texts) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, quoted)) = rest.split_once('"') {
        let (literal, after) = quoted.split_once('"').ok_or_else(|| wrong("a text does not end"))?;
        let compared = before.trim_end();
        let (column, sign) = ["==", "!="]
            .into_iter()
            .find_map(|sign| Some((compared.strip_suffix(sign)?.trim_end(), sign)))
            .ok_or_else(|| wrong("a text is neither equal nor unequal to something before it"))?;
        let start = column.rfind(|letter: char| !(letter.is_alphanumeric() || "_.".contains(letter)));
        let start = start.map_or(0, |at| at + column[at..].chars().next().map_or(1, char::len_utf8));
        if column[start..].is_empty() {
            return Err(wrong("a text is compared with no column"));
        }
        let truth = if sign == "==" { "1" } else { "0" };
        for part in [&column[..start], "(", &stand_in(texts.len()), " == ", truth, ")"] {
            plain.push_str(part);
        }
        texts.push((column[start..].to_owned(), literal.to_owned()));
        rest = after;
    }
    Ok((plain + rest, texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> Result<bool, String> {
        let row = [("p", AxisValue::Whole(8)), ("nodes", AxisValue::Text("2x2x2".to_owned()))];
        let columns: Vec<_> = row.iter().map(|(name, _)| (*name).to_owned()).collect();
        let condition = RowCondition::read(text, &columns).map_err(|(what, _)| what)?;
        condition.holds(|name| row.iter().find(|(column, _)| *column == name).map(|(_, value)| value))
    }

    #[test]
    fn numbers_and_texts_are_compared() {
        for (text, expected) in [
            ("p <= 8", true),
            ("nodes == \"2x2x2\"", true),
            ("nodes != \"2x2x2\"", false),
            ("not (nodes == \"4x4x4\") && p > 4", true),
            ("nodes==\"4x4x4\"||nodes==\"2x2x2\"", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_rejected() {
        for text in ["p + 1", "q == 1", "nodes == 2", "nodes == \"2", "\"2\" == nodes", "nodes < \"2\"", "== \"2\"", ""]
        {
            assert!(holds(text).is_err(), "{text}");
        }
    }
}
