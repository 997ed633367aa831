//! Default algorithms of libraries, by the number of ranks and the message length.

use crate::program::WORD;
use serde::{Deserialize, Serialize};

/// A library whose rules choose the algorithm. Rules that count elements assume words of 8 bytes, and operations are
/// assumed to commute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Library {
    /// The fixed rules of Open MPI 4.1.0 to 5.0.8, `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c`.
    OpenMpi,
    /// The rules of MPICH 4.1.2 among ranks without hierarchy, `maint/tuning/coll/mpir/generic.json`.
    Mpich,
    /// The defaults of SimGrid 3.32, `src/smpi/colls/smpi_default_selector.cpp`.
    SimGrid,
}

/// Returns the largest power of two that does not exceed a number.
pub(in crate::program::collective) const fn core(ranks: u32) -> u32 {
    1 << ranks.ilog2()
}

/// Returns whether there is less than a word for each of `ranks` ranks.
pub(in crate::program::collective) const fn fewer_words(bytes: u64, ranks: u32) -> bool {
    bytes / WORD < ranks as u64
}

/// Rules as pairs of an exclusive upper bound of the number of ranks and a list of pairs of an exclusive upper bound of
/// the message length in bytes and an algorithm.
pub(in crate::program::collective) type Rules = &'static [(u32, &'static [(u64, u8)])];

/// Returns the number by which Open MPI identifies the algorithm.
pub(in crate::program::collective) fn look_up(rules: Rules, ranks: u32, bytes: u64) -> u8 {
    let (_, by_size) =
        rules.iter().find(|(bound, _)| ranks < *bound).expect("the last rule is for any number of ranks");
    by_size.iter().find(|(bound, _)| bytes < *bound).map_or(0, |(_, algorithm)| *algorithm)
}

/// `coll_tuned_allreduce_algorithm`.
pub(in crate::program::collective) const ALLREDUCE: Rules = &[
    (4, &[(8, 4), (4096, 3), (8192, 4), (16_384, 3), (65_536, 4), (262_144, 5), (u64::MAX, 6)]),
    (8, &[(16, 4), (8192, 3), (u64::MAX, 6)]),
    (16, &[(8192, 3), (u64::MAX, 6)]),
    (32, &[(64, 5), (4096, 3), (u64::MAX, 6)]),
    (64, &[(128, 5), (u64::MAX, 6)]),
    (128, &[(262_144, 3), (u64::MAX, 6)]),
    (256, &[(131_072, 2), (262_144, 3), (u64::MAX, 6)]),
    (512, &[(4096, 2), (u64::MAX, 6)]),
    (2048, &[(2048, 2), (16_384, 3), (u64::MAX, 6)]),
    (4096, &[(2048, 2), (4096, 5), (16_384, 3), (u64::MAX, 6)]),
    (u32::MAX, &[(2048, 2), (16_384, 5), (32_768, 3), (u64::MAX, 6)]),
];

/// `coll_tuned_alltoall_algorithm`.
pub(in crate::program::collective) const ALLTOALL: Rules = &[
    (
        3,
        &[
            (2, 2),
            (4, 5),
            (16, 2),
            (64, 5),
            (256, 2),
            (4096, 5),
            (32_768, 2),
            (262_144, 4),
            (1_048_576, 5),
            (u64::MAX, 2),
        ],
    ),
    (8, &[(8192, 4), (16_384, 1), (65_536, 4), (524_288, 1), (1_048_576, 2), (u64::MAX, 1)]),
    (16, &[(262_144, 4), (u64::MAX, 1)]),
    (32, &[(4, 4), (512, 3), (8192, 4), (32_768, 1), (262_144, 4), (524_288, 1), (u64::MAX, 4)]),
    (64, &[(512, 3), (524_288, 1), (u64::MAX, 4)]),
    (128, &[(1024, 3), (2048, 1), (4096, 4), (262_144, 1), (u64::MAX, 2)]),
    (256, &[(1024, 3), (2048, 4), (262_144, 1), (u64::MAX, 2)]),
    (512, &[(1024, 3), (8192, 4), (32_768, 1), (u64::MAX, 2)]),
    (1024, &[(512, 3), (8192, 4), (16_384, 1), (131_072, 4), (262_144, 1), (u64::MAX, 2)]),
    (2048, &[(512, 3), (1024, 4), (2048, 1), (16_384, 4), (262_144, 1), (u64::MAX, 4)]),
    (4096, &[(1024, 3), (4096, 4), (8192, 1), (131_072, 4), (u64::MAX, 1)]),
    (u32::MAX, &[(2048, 3), (8192, 4), (16_384, 1), (32_768, 4), (65_536, 1), (u64::MAX, 4)]),
];

/// `coll_tuned_barrier_algorithm`.
pub(in crate::program::collective) const BARRIER: Rules = &[
    (4, &[(u64::MAX, 3)]),
    (8, &[(u64::MAX, 1)]),
    (64, &[(u64::MAX, 3)]),
    (256, &[(u64::MAX, 4)]),
    (512, &[(u64::MAX, 6)]),
    (1024, &[(u64::MAX, 4)]),
    (4096, &[(u64::MAX, 6)]),
    (u32::MAX, &[(u64::MAX, 4)]),
];

/// `coll_tuned_bcast_algorithm`.
pub(in crate::program::collective) const BCAST: Rules = &[
    (
        4,
        &[
            (32, 3),
            (256, 5),
            (512, 3),
            (1024, 7),
            (32_768, 1),
            (131_072, 5),
            (262_144, 2),
            (524_288, 1),
            (1_048_576, 6),
            (u64::MAX, 5),
        ],
    ),
    (8, &[(64, 5), (128, 6), (2048, 5), (8192, 6), (1_048_576, 1), (u64::MAX, 2)]),
    (16, &[(8, 7), (64, 5), (4096, 7), (16_384, 5), (32_768, 6), (u64::MAX, 1)]),
    (32, &[(4096, 7), (1_048_576, 6), (u64::MAX, 8)]),
    (64, &[(2048, 6), (u64::MAX, 7)]),
    (128, &[(u64::MAX, 7)]),
    (256, &[(2, 6), (16_384, 5), (32_768, 1), (65_536, 5), (u64::MAX, 7)]),
    (1024, &[(16_384, 7), (32_768, 4), (u64::MAX, 7)]),
    (2048, &[(524_288, 7), (u64::MAX, 8)]),
    (4096, &[(262_144, 7), (u64::MAX, 8)]),
    (u32::MAX, &[(8192, 7), (16_384, 5), (262_144, 7), (u64::MAX, 8)]),
];

/// `coll_tuned_reduce_algorithm`.
pub(in crate::program::collective) const REDUCE: Rules = &[
    (4, &[(8, 7), (16, 4), (32, 3), (262_144, 1), (524_288, 3), (1_048_576, 2), (u64::MAX, 3)]),
    (8, &[(4096, 4), (65_536, 2), (262_144, 5), (524_288, 1), (1_048_576, 5), (u64::MAX, 1)]),
    (16, &[(8192, 4), (u64::MAX, 5)]),
    (32, &[(4096, 4), (u64::MAX, 5)]),
    (256, &[(u64::MAX, 5)]),
    (512, &[(8192, 5), (16_384, 6), (u64::MAX, 5)]),
    (2048, &[(u64::MAX, 5)]),
    (4096, &[(512, 5), (1024, 6), (8192, 5), (16_384, 6), (u64::MAX, 5)]),
    (u32::MAX, &[(16, 5), (32, 6), (1024, 5), (2048, 6), (8192, 5), (16_384, 6), (u64::MAX, 5)]),
];

/// `coll_tuned_reduce_scatter_algorithm`.
pub(in crate::program::collective) const REDUCE_SCATTER: Rules = &[
    (4, &[(65_536, 3), (131_072, 4), (u64::MAX, 3)]),
    (8, &[(8, 1), (262_144, 2), (u64::MAX, 3)]),
    (32, &[(262_144, 2), (u64::MAX, 3)]),
    (64, &[(64, 1), (2048, 2), (524_288, 4), (u64::MAX, 3)]),
    (128, &[(256, 1), (512, 2), (2048, 4), (4096, 2), (u64::MAX, 4)]),
    (256, &[(256, 1), (512, 2), (u64::MAX, 4)]),
    (512, &[(256, 1), (1024, 2), (u64::MAX, 4)]),
    (1024, &[(512, 1), (2048, 2), (8192, 4), (16_384, 2), (u64::MAX, 4)]),
    (2048, &[(512, 1), (4096, 2), (16_384, 4), (32_768, 2), (u64::MAX, 4)]),
    (4096, &[(512, 1), (4096, 2), (u64::MAX, 4)]),
    (u32::MAX, &[(1024, 1), (8192, 2), (u64::MAX, 4)]),
];

/// `coll_tuned_reduce_scatter_block_algorithm`.
pub(in crate::program::collective) const REDUCE_SCATTER_BLOCK: Rules = &[
    (4, &[(4, 2), (8, 4), (16, 3), (128, 4), (256, 3), (4096, 4), (8192, 3), (131_072, 4), (u64::MAX, 1)]),
    (8, &[(8, 3), (32, 2), (256, 4), (8192, 3), (16_384, 4), (1_048_576, 3), (u64::MAX, 1)]),
    (16, &[(4, 1), (32, 3), (128, 4), (524_288, 3), (4_194_304, 1), (u64::MAX, 4)]),
    (32, &[(32, 1), (524_288, 3), (2_097_152, 1), (4_194_304, 3), (u64::MAX, 4)]),
    (u32::MAX, &[(4, 3), (16, 1), (65_536, 4), (262_144, 1), (u64::MAX, 4)]),
];

/// `coll_tuned_allgather_algorithm`.
pub(in crate::program::collective) const ALLGATHER: Rules = &[
    (3, &[(u64::MAX, 6)]),
    (32, &[(u64::MAX, 3)]),
    (64, &[(1024, 3), (65_536, 5), (u64::MAX, 4)]),
    (128, &[(512, 3), (65_536, 5), (u64::MAX, 4)]),
    (256, &[(512, 3), (131_072, 5), (524_288, 4), (1_048_576, 5), (u64::MAX, 4)]),
    (512, &[(32, 3), (128, 2), (1024, 3), (131_072, 5), (524_288, 4), (1_048_576, 5), (u64::MAX, 4)]),
    (1024, &[(64, 3), (256, 2), (2048, 3), (u64::MAX, 5)]),
    (2048, &[(4, 3), (8, 2), (16, 3), (32, 2), (256, 3), (512, 2), (4096, 3), (u64::MAX, 5)]),
    (4096, &[(32, 2), (128, 3), (512, 2), (4096, 3), (u64::MAX, 5)]),
    (u32::MAX, &[(2, 3), (8, 2), (16, 3), (512, 2), (4096, 3), (u64::MAX, 5)]),
];

/// `coll_tuned_gather_algorithm`.
pub(in crate::program::collective) const GATHER: Rules = &[
    (4, &[(2, 3), (4, 1), (32_768, 2), (65_536, 1), (131_072, 2), (u64::MAX, 3)]),
    (8, &[(1024, 2), (8192, 1), (32_768, 2), (262_144, 1), (u64::MAX, 3)]),
    (256, &[(u64::MAX, 2)]),
    (512, &[(2048, 2), (8192, 1), (u64::MAX, 2)]),
    (u32::MAX, &[(u64::MAX, 2)]),
];

/// `coll_tuned_scatter_algorithm`.
pub(in crate::program::collective) const SCATTER: Rules = &[
    (4, &[(2, 3), (131_072, 1), (262_144, 3), (u64::MAX, 1)]),
    (8, &[(2048, 2), (4096, 1), (8192, 2), (32_768, 1), (1_048_576, 3), (u64::MAX, 1)]),
    (16, &[(16_384, 2), (1_048_576, 3), (u64::MAX, 1)]),
    (32, &[(16_384, 2), (32_768, 1), (u64::MAX, 3)]),
    (64, &[(512, 2), (8192, 3), (16_384, 2), (u64::MAX, 3)]),
    (u32::MAX, &[(512, 2), (u64::MAX, 3)]),
];
