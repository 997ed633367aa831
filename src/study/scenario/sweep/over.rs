//! Axes given on the command line.

use std::str::FromStr;

/// An axis replaced or added on the command line: `--over name=v1,v2,…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The name of a declared axis, or the path of a field.
    pub name: String,
    /// The values as text.
    pub values: Vec<String>,
}

impl Override {
    /// Creates an override with values for the axis `name`, or for the field with the path `name`. A
    /// [`Plan`](super::Plan) rejects an override without values.
    #[must_use]
    pub fn new(name: &str, values: &[&str]) -> Self {
        Self { name: name.to_owned(), values: values.iter().map(|value| (*value).to_owned()).collect() }
    }
}

impl FromStr for Override {
    type Err = String;

    /// Parses `NAME=V1,V2,…`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, values) = assigned(text).ok_or_else(|| "write name=v1,v2".to_owned())?;
        let values = list(values);
        match values.iter().position(String::is_empty) {
            Some(index) => Err(format!("value {} is empty: write name=v1,v2", index + 1)),
            None => Ok(Self { name: name.to_owned(), values }),
        }
    }
}

/// Splits `NAME=VALUE` into its two sides.
#[must_use]
pub fn assigned(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty())
}

/// Splits values at commas, except commas within parentheses, brackets or quotes. Blanks around values do not count.
fn list(values: &str) -> Vec<String> {
    let (mut depth, mut quoted) = (0i32, false);
    let mut list = vec![String::new()];
    for character in values.chars() {
        match character {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                list.push(String::new());
                continue;
            }
            _ => {}
        }
        list.last_mut().expect("the list is never empty").push(character);
    }
    list.iter().map(|value| value.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Plan;
    use crate::scenario::source::Document;

    #[test]
    fn an_override_without_values_is_rejected() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/gauss-jordan-neighbour.ron");
        let document = Document::load(file).unwrap();
        let plan = |values: &[&str]| Plan::new(document.clone(), &[Override::new("p", values)]);
        assert!(plan(&["2"]).is_ok());
        assert_eq!(plan(&[]).err().unwrap().list[0].message, "`--over p` has no values");
    }

    #[test]
    fn commas_inside_a_value_do_not_separate() {
        assert_eq!(list("1,2"), ["1", "2"]);
        assert_eq!(list("A, B (1, 2) "), ["A", "B (1, 2)"]);
        assert!("p=1,,2".parse::<Override>().unwrap_err().starts_with("value 2 is empty"));
        assert_eq!(list("Shape(rows: 2, columns: 3),Whole"), ["Shape(rows: 2, columns: 3)", "Whole"]);
    }
}
