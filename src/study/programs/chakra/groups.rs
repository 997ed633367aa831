//! The groups of ranks named by collective operations, and the parts of such operations that all ranks have in common.

use super::collective::CollectiveKind;
use super::trace::TraceNode;
use rustc_hash::FxHashMap;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// Groups by name. The empty name, and `0` unless it is listed, denote all ranks.
#[derive(Debug)]
pub struct Groups {
    numbers: FxHashMap<String, u32>,
    members: Vec<Box<[u32]>>,
}

/// The members of groups by name. A name that is given twice is an error.
#[derive(Default)]
struct NamedGroups(BTreeMap<String, Box<[u32]>>);

impl<'de> Deserialize<'de> for NamedGroups {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct DistinctNames;
        impl<'de> Visitor<'de> for DistinctNames {
            type Value = NamedGroups;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a list of ranks for each group")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedGroups, A::Error> {
                let mut groups = BTreeMap::default();
                while let Some((name, members)) = map.next_entry::<String, _>()? {
                    if groups.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("the group `{name}` is listed twice")));
                    }
                    groups.insert(name, members);
                }
                Ok(NamedGroups(groups))
            }
        }
        source.deserialize_map(DistinctNames)
    }
}

/// A collective operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankCollective {
    pub group: u32,
    pub kind: CollectiveKind,
    pub bytes: u64,
    /// The root of the operation; the first member of its group if it has none.
    pub root: u32,
}

impl Groups {
    /// Parses a list of groups, such as `{"1": [0, 2]}`, of ranks below `ranks`.
    ///
    /// # Errors
    /// A message about the fault of the text.
    pub fn parse(text: Option<&[u8]>, ranks: u32) -> Result<Self, String> {
        let named = text.map_or_else(|| Ok(NamedGroups::default()), serde_json::from_slice);
        let NamedGroups(named) = named.map_err(|error| error.to_string())?;
        let mut groups = Self { numbers: FxHashMap::default(), members: vec![(0..ranks).collect()] };
        for (name, members) in named {
            let mut sorted = members.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != members.len() || members.is_empty() || sorted.last().is_some_and(|last| *last >= ranks) {
                return Err(format!("group `{name}` is not a list of distinct ranks from 0 to {}", ranks - 1));
            }
            groups.numbers.insert(name, u32::try_from(groups.members.len()).unwrap_or(u32::MAX));
            groups.members.push(members);
        }
        Ok(groups)
    }

    pub fn members(&self, group: u32) -> &[u32] {
        &self.members[group as usize]
    }

    pub const fn count(&self) -> usize {
        self.members.len()
    }

    /// Returns the collective operation of a node of a rank, or `None` if the node moves no data itself.
    ///
    /// # Errors
    /// A message about the fault of the node.
    pub fn collective(&self, node: &TraceNode, rank: u32) -> Result<Option<RankCollective>, String> {
        let (Some(kind), Some(bytes)) = (node.collective, node.bytes) else {
            // A node of the host only launches the operation.
            if node.is_of_host && node.collective.is_none() && node.bytes.is_none() {
                return Ok(None);
            }
            let lack = if node.collective.is_none() { "comm_type" } else { "comm_size" };
            return Err(format!("is a collective operation without `{lack}`"));
        };
        let kind = CollectiveKind::of(kind)
            .ok_or_else(|| format!("{kind} is not a kind of collective operation (`comm_type`)"))?;
        let named = node.group.as_deref().filter(|name| !name.is_empty());
        let group = match named {
            None => 0,
            Some(name) => match self.numbers.get(name) {
                Some(group) => *group,
                None if name == "0" => 0,
                None => return Err(format!("names the group `{name}`, which comm_group.json does not list")),
            },
        };
        if group == 0 && node.dimensions.contains(&false) {
            return Err(
                "takes part in some dimensions of a network only (`involved_dim`): name a group of ranks".to_owned()
            );
        }
        let members = self.members(group);
        if !members.contains(&rank) {
            return Err(format!("is of a group that rank {rank} is not in"));
        }
        // A source has no meaning in an operation without a root.
        let root = node.from.filter(|_| kind.has_root()).map_or(Ok(members[0]), |root| match u32::try_from(root) {
            Ok(root) if members.contains(&root) => Ok(root),
            _ => Err(format!("rank {root} is the root of a group that it is not in")),
        })?;
        Ok(Some(RankCollective { group, kind, bytes, root }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_listed_once() {
        let error = Groups::parse(Some(br#"{"1": [0, 1], "2": [0], "1": [1]}"#), 2).unwrap_err();
        assert!(error.starts_with("the group `1` is listed twice"), "{error}");
        assert_eq!(Groups::parse(Some(br#"{"1": [0, 1], "2": [0]}"#), 2).unwrap().count(), 3);
    }
}
