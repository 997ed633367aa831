//! Hierarchical operations: inside groups, among their leaders, and inside the groups again.

use super::buffer::{Buffer, Division};
use super::communicator::{Communicator, count};
use super::shape::{Distances, TreeShape};
use super::trees;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::pin::Pin;

/// A running operation and its result.
pub(in crate::program::collective) type OperationFuture<'a, T = ()> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// An operation on the whole message, from or to the place `root` if it has a root.
pub(in crate::program::collective) trait WholeMessageOperation {
    fn within<'a>(&'a self, comm: Communicator<'a>, root: u32, data: &'a mut Buffer) -> OperationFuture<'a>;
}

/// An operation on the parts of a message, with one part for each place.
pub(in crate::program::collective) trait PartwiseOperation {
    fn within<'a>(
        &'a self,
        comm: Communicator<'a>,
        root: u32,
        division: &'a Division,
        data: &'a mut Buffer,
    ) -> OperationFuture<'a>;
}

/// The ranks that form a group. The leader of a group is its lowest rank, or the root if it is a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Grouping {
    /// The ranks of a node.
    #[default]
    Node,
    /// This number of consecutive ranks, such as those of a socket.
    Ranks(u32),
}

impl Grouping {
    pub(in crate::program::collective) fn fault(self) -> Option<String> {
        (self == Self::Ranks(0)).then(|| "a group needs at least one rank".to_owned())
    }
}

/// The groups as seen by one of their members.
struct MemberGroups {
    /// The places sorted by group; those of group g begin at index `starts[g]`.
    places: Vec<u32>,
    starts: Vec<u32>,
    own: u32,
    root: u32,
}

impl MemberGroups {
    fn new(comm: Communicator<'_>, grouping: Grouping, root: u32) -> Self {
        let key = |place: u32| match grouping {
            Grouping::Node => comm.me().node_of(comm.rank(place)),
            Grouping::Ranks(ranks) => place / ranks,
        };
        let mut places: Vec<u32> = (0..comm.size()).collect();
        places.sort_by_key(|place| key(*place));
        let borders = (1..places.len()).filter(|index| key(places[index - 1]) != key(places[*index]));
        let starts: Vec<u32> = std::iter::once(0).chain(borders.map(count)).chain([comm.size()]).collect();
        let at = places.iter().position(|place| *place == comm.place()).expect("this rank is in a group");
        let own = count(starts.partition_point(|start| *start as usize <= at)) - 1;
        Self { places, starts, own, root }
    }

    fn count(&self) -> u32 {
        count(self.starts.len()) - 1
    }

    /// Returns the indices of the members of a group in `places`.
    fn range(&self, group: u32) -> Range<u32> {
        self.starts[group as usize]..self.starts[group as usize + 1]
    }

    fn members(&self, group: u32) -> &[u32] {
        let range = self.range(group);
        &self.places[range.start as usize..range.end as usize]
    }

    fn leader(&self, group: u32) -> u32 {
        let members = self.members(group);
        if members.contains(&self.root) { self.root } else { members[0] }
    }

    /// Returns the group of the root.
    fn root_group(&self) -> u32 {
        (0..self.count()).find(|group| self.members(*group).contains(&self.root)).expect("the root is in a group")
    }

    /// Returns the ranks of this rank's own group, and the place of the leader among them.
    fn inside(&self, comm: Communicator<'_>) -> (Vec<u32>, u32) {
        let members = self.members(self.own);
        let leader = self.leader(self.own);
        let place = members.iter().position(|place| *place == leader).expect("a leader is a member");
        (members.iter().map(|place| comm.rank(*place)).collect(), count(place))
    }

    /// Returns the ranks of all leaders, if this rank is a leader.
    fn leaders(&self, comm: Communicator<'_>) -> Option<Vec<u32>> {
        let leads = self.leader(self.own) == comm.place();
        leads.then(|| (0..self.count()).map(|group| comm.rank(self.leader(group))).collect())
    }
}

pub(in crate::program::collective) async fn broadcast(
    comm: Communicator<'_>,
    grouping: Grouping,
    [between, within]: [&dyn WholeMessageOperation; 2],
    root: u32,
    data: &mut Buffer,
) {
    let groups = MemberGroups::new(comm, grouping, root);
    let (inside, leader) = groups.inside(comm);
    if let Some(leaders) = groups.leaders(comm) {
        between.within(Communicator::of(comm.me(), &leaders), groups.root_group(), data).await;
    }
    within.within(Communicator::of(comm.me(), &inside), leader, data).await;
}

pub(in crate::program::collective) async fn reduce(
    comm: Communicator<'_>,
    grouping: Grouping,
    [within, between]: [&dyn WholeMessageOperation; 2],
    root: u32,
    data: &mut Buffer,
) {
    let groups = MemberGroups::new(comm, grouping, root);
    let (inside, leader) = groups.inside(comm);
    within.within(Communicator::of(comm.me(), &inside), leader, data).await;
    if let Some(leaders) = groups.leaders(comm) {
        between.within(Communicator::of(comm.me(), &leaders), groups.root_group(), data).await;
    }
}

pub(in crate::program::collective) async fn all_reduce(
    comm: Communicator<'_>,
    grouping: Grouping,
    [reduce, between, broadcast]: [&dyn WholeMessageOperation; 3],
    data: &mut Buffer,
) {
    let groups = MemberGroups::new(comm, grouping, 0);
    let (inside, leader) = groups.inside(comm);
    let inside = Communicator::of(comm.me(), &inside);
    reduce.within(inside, leader, data).await;
    if let Some(leaders) = groups.leaders(comm) {
        between.within(Communicator::of(comm.me(), &leaders), 0, data).await;
    }
    broadcast.within(inside, leader, data).await;
}

pub(in crate::program::collective) async fn barrier(
    comm: Communicator<'_>,
    grouping: Grouping,
    [within, between]: [&dyn WholeMessageOperation; 2],
) {
    let groups = MemberGroups::new(comm, grouping, 0);
    let (inside, leader) = groups.inside(comm);
    let inside = Communicator::of(comm.me(), &inside);
    let mut nothing = Buffer::empty(0);
    within.within(inside, 0, &mut nothing).await;
    if let Some(leaders) = groups.leaders(comm) {
        between.within(Communicator::of(comm.me(), &leaders), 0, &mut nothing).await;
    }
    trees::broadcast_in_turn(inside, TreeShape::Nomial(2, Distances::Halving), leader, &mut nothing).await;
}

/// Blocks in the order of the groups, so that those of a group are consecutive.
struct GroupedBlocks {
    order: Buffer,
    groups: Division,
    /// The blocks of this rank's own group.
    own: Division,
    start: u64,
}

impl GroupedBlocks {
    fn new(groups: &MemberGroups, division: &Division, data: &Buffer) -> Self {
        let block = division.start(1);
        let lengths: Vec<u64> =
            (0..groups.count()).map(|group| block * u64::from(groups.range(group).len() as u32)).collect();
        let own = groups.range(groups.own);
        let mut order = Buffer::empty(data.bytes());
        order.put((0..division.parts()).map(|part| division.one(part)), &data.take(ranges(groups, division)));
        Self {
            order,
            groups: Division::listed(&lengths),
            start: block * u64::from(own.start),
            own: Division::even(block, own.end - own.start),
        }
    }

    /// Returns the part of this rank's own group as a separate message.
    fn inside(&self) -> Buffer {
        Buffer::full(&self.order.numbered(self.start..self.start + self.own.total()))
    }

    fn put_inside(&mut self, inside: &Buffer) {
        let range = self.start..self.start + self.own.total();
        self.order.put_numbers(&range, inside.all().as_deref());
    }
}

fn ranges(groups: &MemberGroups, division: &Division) -> Vec<Range<u64>> {
    groups.places.iter().map(|place| division.one(*place)).collect()
}

pub(in crate::program::collective) async fn gather(
    comm: Communicator<'_>,
    grouping: Grouping,
    [within, between]: [&dyn PartwiseOperation; 2],
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let groups = MemberGroups::new(comm, grouping, root);
    let (inside, leader) = groups.inside(comm);
    let mut grouped = GroupedBlocks::new(&groups, division, data);
    let mut part = grouped.inside();
    within.within(Communicator::of(comm.me(), &inside), leader, &grouped.own, &mut part).await;
    grouped.put_inside(&part);
    if let Some(leaders) = groups.leaders(comm) {
        let leaders = Communicator::of(comm.me(), &leaders);
        between.within(leaders, groups.root_group(), &grouped.groups, &mut grouped.order).await;
    }
    data.put(ranges(&groups, division), &grouped.order.take([0..division.total()]));
}

pub(in crate::program::collective) async fn scatter(
    comm: Communicator<'_>,
    grouping: Grouping,
    [between, within]: [&dyn PartwiseOperation; 2],
    root: u32,
    division: &Division,
    data: &mut Buffer,
) {
    let groups = MemberGroups::new(comm, grouping, root);
    let (inside, leader) = groups.inside(comm);
    let mut grouped = GroupedBlocks::new(&groups, division, data);
    if let Some(leaders) = groups.leaders(comm) {
        let leaders = Communicator::of(comm.me(), &leaders);
        between.within(leaders, groups.root_group(), &grouped.groups, &mut grouped.order).await;
    }
    let mut part = grouped.inside();
    within.within(Communicator::of(comm.me(), &inside), leader, &grouped.own, &mut part).await;
    let place = groups
        .members(groups.own)
        .iter()
        .position(|place| *place == comm.place())
        .expect("a rank is a member of its group");
    let own = part.numbers(&grouped.own.one(count(place)));
    *data = Buffer::part(division, comm.place(), &super::super::payload::Payload::new(division.start(1), own));
}

pub(in crate::program::collective) async fn all_gather(
    comm: Communicator<'_>,
    grouping: Grouping,
    gather: &dyn PartwiseOperation,
    between: &dyn PartwiseOperation,
    broadcast: &dyn WholeMessageOperation,
    division: &Division,
    data: &mut Buffer,
) {
    let groups = MemberGroups::new(comm, grouping, 0);
    let (list, leader) = groups.inside(comm);
    let inside = Communicator::of(comm.me(), &list);
    let mut grouped = GroupedBlocks::new(&groups, division, data);
    let mut part = grouped.inside();
    gather.within(inside, leader, &grouped.own, &mut part).await;
    grouped.put_inside(&part);
    if let Some(leaders) = groups.leaders(comm) {
        between.within(Communicator::of(comm.me(), &leaders), 0, &grouped.groups, &mut grouped.order).await;
    }
    broadcast.within(inside, leader, &mut grouped.order).await;
    data.put(ranges(&groups, division), &grouped.order.take([0..division.total()]));
}
