//! Suggestions for misspelt names.

/// Returns the known name nearest to a misspelt one, if one is near enough.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.chars().take(80).collect();
    let length = name.chars().count();
    let limit = if length < 3 { 0 } else { length / 3 };
    known
        .into_iter()
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

fn distance(name: &str, candidate: &str) -> usize {
    if fold(name) == fold(candidate) {
        return 0;
    }
    strsim::damerau_levenshtein(name, candidate)
}

fn fold(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        assert_eq!(nearest("bandwith", ["latency", "bandwidth"]), Some("bandwidth"));
        assert_eq!(nearest("row-major", ["RowMajor"]), Some("RowMajor"));
        assert_eq!(nearest("colour", ["latency"]), None);
    }
}
