//! The communicators of a program: divisions of the ranks into groups.

use super::Phases;
use super::expression::Expression;
use super::scope::Scope;
use super::step::CommunicatorSplit;
use parsim_sim::fault::Fault;
use parsim_sim::program::{Grid, RankGroup};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A division of the ranks into groups, one per colour.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// For each rank the number of its group and its rank there, or `None` if it is in no group.
    places: Vec<Option<(u32, u32)>>,
    groups: Vec<Rc<RankGroup>>,
}

impl Split {
    /// Returns the group of a rank, and its rank there.
    pub fn of(&self, rank: u32) -> Option<(&Rc<RankGroup>, u32)> {
        let (group, place) = (*self.places.get(rank as usize)?)?;
        Some((&self.groups[group as usize], place))
    }

    /// Returns the sizes of the groups.
    pub fn sizes(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().map(|group| group.count())
    }

    fn new(ranks: u32, groups: BTreeMap<i64, Vec<(i64, u32)>>) -> Self {
        let mut split = Self { places: vec![None; ranks as usize], groups: Vec::new() };
        for (number, (_, mut members)) in (0..).zip(groups) {
            members.sort_unstable();
            for (place, (_, rank)) in (0..).zip(&members) {
                split.places[*rank as usize] = Some((number, place));
            }
            split.groups.push(Rc::new(RankGroup::new(members.into_iter().map(|(_, rank)| rank))));
        }
        split
    }
}

/// Returns the names of the variables for the rank in a communicator and for its size.
pub(super) fn names_in(communicator: &str) -> [String; 2] {
    [format!("{communicator}_rank"), format!("{communicator}_size")]
}

/// Returns the divisions of `program` on `ranks` ranks, of which `host` is connected to the host, sorted by name.
pub(super) fn splits(program: &Phases, ranks: u32, host: u32) -> (Vec<Split>, Vec<Fault>) {
    if program.communicators.is_empty() {
        return Default::default();
    }
    let grid = Grid::of(ranks);
    let scope = |rank| program.scope(rank, grid, host);
    let mut faults = Vec::new();
    let split = |(name, split): (&String, &CommunicatorSplit)| {
        let groups = groups(split, (0..ranks).map(scope));
        let path = format!("communicators.{name}");
        groups.map_or_else(
            |fault| {
                faults.push(fault.within(&path));
                Split::default()
            },
            |groups| Split::new(ranks, groups),
        )
    };
    (program.communicators.iter().map(split).collect(), faults)
}

/// Returns the keys and ranks of each colour.
fn groups(
    split: &CommunicatorSplit,
    scopes: impl Iterator<Item = Scope>,
) -> Result<BTreeMap<i64, Vec<(i64, u32)>>, Fault> {
    let mut groups: BTreeMap<i64, Vec<(i64, u32)>> = BTreeMap::new();
    for (rank, scope) in (0..).zip(scopes) {
        let at_rank = |fault: Fault| Fault { message: format!("rank {rank}: {}", fault.message), ..fault };
        let whole =
            |expression: &Expression, field: &str| expression.whole(&scope).map_err(|fault| at_rank(fault.at(field)));
        let color = whole(&split.color, "color")?;
        let key = split.key.as_ref().map_or(Ok(0), |key| whole(key, "key"))?;
        if color >= 0 {
            groups.entry(color).or_default().push((key, rank));
        }
    }
    Ok(groups)
}
