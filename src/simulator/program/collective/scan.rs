//! To each rank the sum of the messages of all ranks up to it.

use super::payload::Payload;
use super::transfer::{receive, send, start_send};
use crate::program::process::Process;
use serde::{Deserialize, Serialize};

/// Algorithm that forms the prefix sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Scan {
    /// From each rank to the next.
    Chain,
    /// In step k each rank sends its sum to the one 2^k further (Hillis, Steele 1986).
    RecursiveDoubling,
}

impl Scan {
    /// Adds `own` of all ranks up to this one, itself included. All ranks call it.
    pub async fn run(self, me: &Process, own: Payload) -> Payload {
        match self {
            Self::Chain => chain(me, own).await,
            Self::RecursiveDoubling => recursive_doubling(me, own).await,
        }
    }
}

async fn chain(me: &Process, own: Payload) -> Payload {
    let mut sum = own;
    if me.rank() > 0 {
        sum = receive(me, me.rank() - 1).await.plus(me, &sum).await;
    }
    if me.rank() + 1 < me.ranks() {
        send(me, me.rank() + 1, &sum).await;
    }
    sum
}

async fn recursive_doubling(me: &Process, own: Payload) -> Payload {
    let mut sum = own;
    let mut distance = 1;
    while distance < me.ranks() {
        let mut sending = None;
        if me.rank() + distance < me.ranks() {
            sending = Some(start_send(me, me.rank() + distance, &sum).await);
        }
        if me.rank() >= distance {
            sum = receive(me, me.rank() - distance).await.plus(me, &sum).await;
        }
        me.wait_all(sending).await;
        distance *= 2;
    }
    sum
}
