//! Collective operations among a subset of the ranks.

use super::payload::Payload;
use super::transfer::{receive, send, start_send};
use super::tree::{Binomial, Numbering};
use crate::program::process::Process;

/// An ordered subset of the ranks, such as a row of a grid. Members are identified by their places in this order.
#[derive(Clone, Debug)]
pub struct Group {
    members: Vec<u32>,
    place: u32,
}

impl Group {
    /// Creates the group of `members`, as seen by the process of one of them.
    ///
    /// # Panics
    /// If the process is not a member.
    #[must_use]
    pub fn new(me: &Process, members: Vec<u32>) -> Self {
        let place = (0..).zip(&members).find(|(_, member)| **member == me.rank());
        let (place, _) = place.expect("only a member sees its group");
        Self { members, place }
    }

    /// Returns the ranks, in order.
    #[must_use]
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// Returns the place of this process.
    #[must_use]
    pub const fn place(&self) -> u32 {
        self.place
    }

    /// Returns the places before and after this process.
    #[must_use]
    pub fn neighbours(&self) -> [Option<u32>; 2] {
        let behind = self.place + 1;
        [self.place.checked_sub(1), ((behind as usize) < self.members.len()).then_some(behind)]
    }

    /// Broadcasts the payload of the member at `root` along a binomial tree. All members call this and get the payload.
    pub async fn broadcast(&self, me: &Process, root: u32, own: Payload) -> Payload {
        let tree = self.tree(root);
        let payload = match tree.parent(self.place) {
            Some(parent) => receive(me, self.member(parent)).await,
            None => own,
        };
        for child in tree.children(self.place) {
            send(me, self.member(child), &payload).await;
        }
        payload
    }

    /// Combines the payloads of all members up a binomial tree. The member at `root` gets the result, the others
    /// `None`.
    pub async fn combine(
        &self,
        me: &Process,
        root: u32,
        own: Payload,
        with: impl Fn(Payload, Payload) -> Payload,
    ) -> Option<Payload> {
        let tree = self.tree(root);
        let mut result = own;
        for child in tree.children(self.place).rev() {
            result = with(result, receive(me, self.member(child)).await);
        }
        match tree.parent(self.place) {
            Some(parent) => {
                send(me, self.member(parent), &result).await;
                None
            }
            None => Some(result),
        }
    }

    /// Sends each payload to the member at its place while receiving one from each of `sources`, in their order.
    pub async fn exchange(&self, me: &Process, outgoing: &[(u32, Payload)], sources: &[u32]) -> Vec<Payload> {
        let mut under_way = Vec::new();
        for (place, payload) in outgoing {
            under_way.push(start_send(me, self.member(*place), payload).await);
        }
        let mut incoming = Vec::new();
        for source in sources {
            incoming.push(receive(me, self.member(*source)).await);
        }
        me.wait_all(under_way).await;
        incoming
    }

    fn tree(&self, root: u32) -> Binomial {
        let count = u32::try_from(self.members.len()).expect("ranks are counted in 32 bits");
        Binomial::new(root, count, Numbering::Shifted)
    }

    fn member(&self, place: u32) -> u32 {
        self.members[place as usize]
    }
}
