//! The definitions of an OTF2 archive, as printed by `otf2-print -G`.

use super::otf2_print::{CommunicatorDefinition, Definitions, digits, references};
use rustc_hash::FxHashMap;

/// The ranks of an archive and their communicators.
#[derive(Debug)]
pub struct Archive {
    pub definitions: Definitions,
    /// The ranks of each communicator, starting with communicator 1.
    pub communicators: Vec<Box<[u32]>>,
    /// The ranks, by location.
    pub ranks: FxHashMap<u32, u32>,
}

impl Archive {
    /// Parses the lines of the definitions.
    ///
    /// # Errors
    /// A message about a definition that is missing or invalid.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let (mut ticks, mut groups, mut used) = (None, FxHashMap::default(), Vec::new());
        let mut locations = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
            let (kind, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let number = digits(number).and_then(|number| u32::try_from(number).ok());
            match (kind, number) {
                (b"CLOCK_PROPERTIES", _) => ticks = text_after(line, b"Ticks per Seconds: ").and_then(leading),
                (b"GROUP", Some(number)) => {
                    let members = references(text_after(line, b"Members: ").unwrap_or_default());
                    if text_after(line, b"Type: ").is_some_and(|kind| kind.starts_with(b"COMM_LOCATIONS")) {
                        locations = members;
                    } else {
                        groups.insert(number, members);
                    }
                }
                (b"COMM", Some(number)) => {
                    let group = text_after(line, b"Group: ").and_then(|text| references(text).first().copied());
                    used.extend(group.map(|group| (number, group)));
                }
                _ => {}
            }
        }
        let ticks = ticks.filter(|ticks| *ticks > 0).ok_or("no ticks per second (`CLOCK_PROPERTIES`)")?;
        let ranks: FxHashMap<u32, u32> = locations.iter().copied().zip(0..).collect();
        if ranks.is_empty() {
            return Err("no locations of ranks (a `GROUP` of type COMM_LOCATIONS)".to_owned());
        }
        Self::linked(ticks, ranks, &groups, &used)
    }

    fn linked(
        ticks_per_second: u64,
        ranks: FxHashMap<u32, u32>,
        groups: &FxHashMap<u32, Vec<u32>>,
        used: &[(u32, u32)],
    ) -> Result<Self, String> {
        let mut definitions = Definitions { ticks_per_second, communicators: FxHashMap::default() };
        let mut communicators: Vec<Box<[u32]>> = Vec::new();
        for (communicator, group) in used {
            let locations =
                groups.get(group).ok_or_else(|| format!("no group {group} of communicator {communicator}"))?;
            let members: Option<Vec<u32>> = locations.iter().map(|location| ranks.get(location).copied()).collect();
            let members = members.ok_or_else(|| format!("group {group} has a member that is not a rank"))?;
            let is_all =
                members.len() == ranks.len() && members.iter().zip(0..).all(|(member, place)| *member == place);
            if !is_all {
                communicators.push(members.clone().into());
            }
            let number = if is_all { 0 } else { u32::try_from(communicators.len()).unwrap_or(u32::MAX) };
            definitions.communicators.insert(*communicator, CommunicatorDefinition { number, members: members.into() });
        }
        Ok(Self { definitions, communicators, ranks })
    }
}

/// Returns the text after a key.
fn text_after<'l>(line: &'l [u8], key: &[u8]) -> Option<&'l [u8]> {
    line.windows(key.len()).position(|text| text == key).map(|at| &line[at + key.len()..])
}

/// Returns the number at the beginning of a text.
fn leading(text: &[u8]) -> Option<u64> {
    digits(&text[..text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len())])
}
