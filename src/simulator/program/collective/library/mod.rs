//! The algorithms of Open MPI, MPICH and FJMPI, each written once in terms of a communicator, a buffer and a tree or
//! butterfly.
//!
//! A rank computes the information about other ranks in the step that needs it. Without values, a rank stores only
//! lengths.

#![expect(clippy::cast_possible_truncation, reason = "a part of a 32-bit number fits in 32 bits")]
#![expect(clippy::single_range_in_vec_init, reason = "a message consists of ranges, often of one")]
#![expect(clippy::similar_names, reason = "sent and received data have similar names")]

pub(super) mod barriers;
pub(super) mod bruck;
pub(super) mod buffer;
pub(super) mod butterfly;
pub(super) mod communicator;
pub(super) mod decision;
pub(super) mod exchanges;
pub(super) mod hierarchy;
pub(super) mod lane;
pub(super) mod multiplying;
pub(super) mod rings;
pub(super) mod shape;
pub(super) mod torus;
pub(super) mod trees;

pub use decision::Library;
pub use exchanges::Remap;
pub use hierarchy::Grouping;
pub use lane::Numbers;
pub use shape::Distances;
