//! Spelling suggestions, and formatting of user text for messages.

use parsim_sim::units::first_control;
pub(super) use parsim_sim::units::nearest;

/// Returns the advice for an unknown name: the nearest known name, or a list of all of them.
pub(in crate::scenario) fn advice<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(meant) = nearest(name, known.clone()) {
        return Some(format!("did you mean `{meant}`?"));
    }
    let list = list(known);
    (!list.is_empty()).then(|| format!("known here: {list}"))
}

/// Names from elsewhere for what a field here describes: the name, the field, and the help.
const SYNONYMS: [(&str, &str, &str); 3] = [
    ("bandwidth", "per_byte", "`per_byte` takes a rate, too: write `per_byte: \"12.5 GB/s\"`"),
    ("virtual_channels", "lanes", "did you mean `lanes`?"),
    ("vcs", "lanes", "did you mean `lanes`?"),
];

/// Returns the advice for an unknown field in a record with these fields.
pub(super) fn field_advice<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    let is_known = |field: &str| known.clone().into_iter().any(|one| one == field);
    match SYNONYMS.iter().find(|(word, field, _)| *word == name && is_known(field)) {
        Some((_, _, help)) => Some((*help).to_owned()),
        None => advice(name, known),
    }
}

/// The calls of MPI, without their prefix, and the steps that stand for them.
const CALLS: [(&str, &str); 17] = [
    ("Send", "Send"),
    ("Recv", "Receive"),
    ("Isend", "Isend"),
    ("Irecv", "Irecv"),
    ("Sendrecv", "Irecv, Send and Wait"),
    ("Wait", "Wait"),
    ("Waitany", "Waitany"),
    ("Waitall", "Waitall"),
    ("Test", "Test"),
    ("Barrier", "Collective(operation: Barrier(…), …)"),
    ("Bcast", "Collective(operation: Broadcast(…), …)"),
    ("Reduce", "Collective(operation: Reduce(…), …)"),
    ("Allreduce", "Collective(operation: AllReduce(…), …)"),
    ("Gather", "Collective(operation: Gather(…), …)"),
    ("Scatter", "Collective(operation: Scatter(…), …)"),
    ("Allgather", "Collective(operation: AllGather(…), …)"),
    ("Alltoall", "Collective(operation: AllToAll(…), …)"),
];

/// Returns the advice for an unknown variant of an enumeration with these variants.
pub(super) fn variant_advice<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    let first = |step: &'static str| step.split(['(', ',']).next().unwrap_or(step);
    let is_known = |step| known.clone().into_iter().any(|one| one == first(step));
    let call = name.strip_prefix("MPI_").unwrap_or(name);
    match CALLS.iter().find(|(own, step)| *own == call && is_known(step)) {
        Some((_, step)) => Some(format!("`{name}` is `{step}` here")),
        None => advice(name, known),
    }
}

/// Joins names to a list of at most thirty.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(30);
    names.truncate(30);
    let list = names.join(", ");
    if more == 0 { list } else { format!("{list} and {more} more") }
}

/// Converts kebab-case such as `store-and-forward` to `StoreAndForward`. Returns `None` if the text is not kebab-case.
pub(in crate::scenario) fn camel_case(kebab: &str) -> Option<String> {
    let lower = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let word = |word: &str| !word.is_empty() && word.chars().all(lower);
    let starts_well = kebab.starts_with(|first: char| first.is_ascii_lowercase());
    (starts_well && kebab.split('-').all(word)).then(|| kebab.split('-').map(capitalised).collect())
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_ascii_uppercase() + rest
}

/// Shortens a piece of user text for a message and replaces its control characters.
pub(super) fn excerpt(text: &str) -> String {
    shortened(text, 60)
}

pub(super) fn shortened(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).map(printable).collect();
    if text.chars().nth(limit).is_some() {
        short.push('…');
    }
    short
}

/// Returns the character, or a replacement if it would disturb a terminal.
pub(super) fn printable(letter: char) -> char {
    match letter {
        '\t' | '\n' => ' ',
        _ if first_control(letter.encode_utf8(&mut [0; 4])).is_some() => '\u{fffd}',
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kebab_becomes_camel() {
        assert_eq!(camel_case("store-and-forward").as_deref(), Some("StoreAndForward"));
        assert_eq!(camel_case("mesh2d").as_deref(), Some("Mesh2d"));
        for text in ["", "-a", "a--b", "A-b", "1a", "a b", "a-"] {
            assert_eq!(camel_case(text), None, "{text}");
        }
    }
}
