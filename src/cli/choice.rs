//! Options whose value is one of a few names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser for a value that is one of several names; each name has a help text, which may be empty.
pub fn one_of<T: Clone + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, &'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let names = values.each_ref().map(|(name, meaning, _)| match *meaning {
        "" => PossibleValue::new(*name),
        meaning => PossibleValue::new(*name).help(meaning),
    });
    PossibleValuesParser::new(names).map(move |given| {
        let found = values.iter().find(|(name, ..)| *name == given);
        found.expect("the parser accepts only these names").2.clone()
    })
}
