//! Collective operations, written with the operations of a process like any user code.
//!
//! All ranks call an operation, and all ranks call operations in the same order. The algorithms are those of
//! `execution-time-topologies-collectives` and their common relatives.

mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod call;
mod cost;
mod gather;
mod group;
mod library;
mod local;
mod operation;
mod payload;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod transfer;
mod tree;

pub use all_gather::AllGather;
pub use all_reduce::AllReduce;
pub use all_to_all::AllToAll;
pub use barrier::Barrier;
pub use broadcast::{
    Broadcast, Children, Concurrency, Forward, NaiveBroadcast, NeighbourBroadcast, PipelinedBroadcast, SendOrder,
};
pub use call::CollectiveCall;
pub use gather::Gather;
pub use group::Group;
pub use library::{Distances, Grouping, Library, Numbers, Remap};
pub use local::{CallCosts, LocalCosts};
pub use operation::CollectiveOperation;
pub use payload::Payload;
pub use reduce::Reduce;
pub use reduce_scatter::ReduceScatter;
pub use scan::Scan;
pub use scatter::Scatter;

/// Returns the fault of an algorithm whose number of ranks must be a power of two.
fn power_of_two(algorithm: &str, ranks: u32) -> Option<String> {
    let fault = || format!("{algorithm} needs a power of two as the number of ranks, not {ranks}");
    (!ranks.is_power_of_two()).then(fault)
}

/// Returns the fault of a base or a number of children that is too small.
fn base(algorithm: &str, radix: u32, least: u32) -> Option<String> {
    (radix < least).then(|| format!("{algorithm} needs a radix of at least {least}, not {radix}"))
}

/// Returns the fault of an algorithm that needs the grid or the numbers of all ranks.
fn needs_all_ranks(algorithm: &str) -> String {
    format!("{algorithm} runs only among all ranks, not between or inside groups")
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

const fn four() -> u32 {
    4
}
