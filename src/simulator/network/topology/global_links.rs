//! Links between the groups of a dragonfly.

use serde::{Deserialize, Serialize};

/// The order in which the links between groups are assigned to the routers of a group (Hastings et al., Comparing
/// global link arrangements for dragonfly networks, IEEE CLUSTER 2015). The first links of a group belong to its first
/// router, the next ones to its second router, and so on. The variants say to which of `g` groups link k of group i
/// leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Arrangement {
    /// Link k leads to the k-th of the other groups: to group k if k is below i, otherwise to group k + 1.
    #[default]
    Absolute,
    /// Link k leads to group i + k + 1, modulo g.
    Relative,
    /// The links lead to groups i + 1, i − 1, i + 2, i − 2 and so on, modulo g.
    Circulant,
}

/// The links of one group to all others, in as many complete rounds as there are links for; the remaining ones are
/// unconnected.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlobalLinks {
    pub(super) groups: u32,
    pub(super) per_group: u32,
    pub(super) arrangement: Arrangement,
}

impl GlobalLinks {
    fn others(self) -> u32 {
        self.groups.saturating_sub(1)
    }

    /// Returns the number of links between two groups.
    pub(super) fn between_two(self) -> u32 {
        self.per_group.checked_div(self.others()).unwrap_or(0)
    }

    /// Returns the number of links between all groups.
    pub(super) fn all(self) -> u64 {
        u64::from(self.groups) * u64::from(self.others()) / 2 * u64::from(self.between_two())
    }

    /// Returns the group at the other end of link `index` of `group`, and the number of the link there.
    pub(super) fn far(self, group: u32, index: u32) -> Option<(u32, u32)> {
        let round = index.checked_div(self.others()).filter(|round| *round < self.between_two())?;
        let there = self.other(group, index % self.others());
        Some((there, self.toward(there, group, round)))
    }

    /// Returns the number, in `group`, of the link of `round` to the group `there`.
    pub(super) fn toward(self, group: u32, there: u32, round: u32) -> u32 {
        let ahead = (there + self.groups - group) % self.groups;
        let place = match self.arrangement {
            Arrangement::Absolute => there - u32::from(there > group),
            Arrangement::Relative => ahead - 1,
            Arrangement::Circulant if 2 * ahead <= self.groups => 2 * (ahead - 1),
            Arrangement::Circulant => 2 * (self.groups - ahead) - 1,
        };
        round * self.others() + place
    }

    fn other(self, group: u32, place: u32) -> u32 {
        let ahead = match self.arrangement {
            Arrangement::Absolute => return place + u32::from(place >= group),
            Arrangement::Relative => place + 1,
            Arrangement::Circulant if place.is_multiple_of(2) => place / 2 + 1,
            Arrangement::Circulant => self.groups - place.div_ceil(2),
        };
        (group + ahead) % self.groups
    }
}

/// Returns the fault of `groups` groups of `routers` routers with `globals` links to other groups each: some groups
/// have no link between them, or the links cannot be numbered.
pub(super) fn global_links_fault(groups: u32, routers: u32, globals: u32) -> Option<String> {
    let (links, others) = (u64::from(routers) * u64::from(globals), u64::from(groups - 1));
    if links > u64::from(u32::MAX) {
        return Some(format!("`globals` gives a group {links} links: fewer than 2^32 can be numbered"));
    }
    (links < others)
        .then(|| format!("`globals` gives a group {links} links to others: {groups} groups need at least {others}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_back_and_every_group_has_as_many_to_each_other() {
        for (groups, per_group) in (2..9).flat_map(|groups| (groups - 1..20).map(move |links| (groups, links))) {
            for arrangement in [Arrangement::Absolute, Arrangement::Relative, Arrangement::Circulant] {
                let links = GlobalLinks { groups, per_group, arrangement };
                let mut joined = vec![0; groups as usize];
                for index in 0..per_group {
                    let Some((there, back)) = links.far(0, index) else { continue };
                    assert_eq!(links.far(there, back), Some((0, index)), "{links:?}");
                    joined[there as usize] += 1;
                }
                assert!(joined[1..].iter().all(|count| *count == links.between_two()), "{links:?} {joined:?}");
            }
        }
    }

    #[test]
    fn five_groups_in_every_arrangement() {
        let order = |arrangement| {
            let links = GlobalLinks { groups: 5, per_group: 4, arrangement };
            (0..4).map(|index| links.far(1, index).unwrap().0).collect::<Vec<_>>()
        };
        assert_eq!(order(Arrangement::Absolute), [0, 2, 3, 4]);
        assert_eq!(order(Arrangement::Relative), [2, 3, 4, 0]);
        assert_eq!(order(Arrangement::Circulant), [2, 0, 3, 4]);
    }
}
