//! Ten sizes of every kind: closed forms of counts, distances and bisections, compared with the graph and with formulas
//! of the literature (Dally and Towles, Principles and Practices of Interconnection Networks; Preparata and Vuillemin
//! 1981).

use super::metrics::degrees;
use super::{Arrangement, Topology};

/// The counts and distances of a graph, found by a search from some of its nodes.
#[derive(Debug, PartialEq)]
struct MeasuredCounts {
    links: u64,
    least_degree: u32,
    degree: u32,
    longest: u32,
    total_distance: u128,
}

/// Returns the counts by a breadth-first search from every node, or from the first one alone if all nodes are `alike`.
fn searched(topology: &Topology, alike: bool) -> MeasuredCounts {
    let nodes = topology.nodes();
    let begins = if alike { 1 } else { nodes };
    let (mut longest, mut total_distance) = (0, 0);
    for begin in 0..begins {
        for distance in topology.distances_from(begin).into_iter().take(nodes as usize) {
            longest = longest.max(distance);
            total_distance += u128::from(distance);
        }
    }
    with_counts(topology, longest, total_distance * u128::from(nodes / begins))
}

/// Returns the counts along the natural routes. In a dragonfly these cross one link between groups where a shorter
/// route may cross two.
fn along_routes(topology: &Topology) -> MeasuredCounts {
    let pairs = (0..topology.nodes()).flat_map(|from| (0..topology.nodes()).map(move |to| (from, to)));
    let length = |(from, to)| u32::try_from(topology.path(from, to).count() - 1).expect("a way is short");
    let (longest, total) = pairs
        .map(length)
        .fold((0, 0), |(longest, total), length| (u32::max(longest, length), total + u128::from(length)));
    with_counts(topology, longest, total)
}

fn with_counts(topology: &Topology, longest: u32, total_distance: u128) -> MeasuredCounts {
    let (least_degree, degree) = degrees(topology);
    MeasuredCounts { links: topology.links().count() as u64, least_degree, degree, longest, total_distance }
}

fn claimed(topology: &Topology) -> MeasuredCounts {
    let figures = topology.closed_form_metrics();
    MeasuredCounts {
        links: figures.links,
        least_degree: figures.least_degree,
        degree: figures.degree,
        longest: figures.longest,
        total_distance: figures.total_distance,
    }
}

/// Checks that the metrics of ten topologies are those of the graph, and their bisections those of `formula`.
fn check(
    ten: impl IntoIterator<Item = Topology>,
    search: fn(&Topology) -> MeasuredCounts,
    formula: fn(&Topology) -> Option<u64>,
) {
    let mut count = 0;
    for topology in ten {
        assert_eq!(claimed(&topology), search(&topology), "{topology:?}");
        let width = topology.metrics().bisection_width;
        if let Some(expected) = formula(&topology) {
            assert_eq!(width.exact(), Some(expected), "{topology:?}");
        }
        count += 1;
    }
    assert_eq!(count, 10);
}

fn all(topology: &Topology) -> MeasuredCounts {
    searched(topology, false)
}

const COUNTS: [u32; 10] = [2, 3, 5, 8, 16, 33, 64, 100, 128, 200];
const PLANES: [(u32, u32); 10] =
    [(2, 2), (2, 5), (3, 3), (4, 7), (5, 5), (8, 8), (8, 16), (11, 13), (16, 16), (20, 32)];
const SPACES: [(u32, u32, u32); 10] =
    [(2, 2, 2), (2, 3, 4), (3, 3, 3), (3, 4, 5), (4, 4, 4), (5, 5, 5), (4, 6, 8), (7, 7, 7), (8, 8, 8), (9, 10, 11)];

/// Returns the sides of grids of four to six dimensions.
fn sides() -> [Vec<u32>; 10] {
    [
        vec![2; 4],
        vec![3; 4],
        vec![2, 3, 2, 3],
        vec![4, 4, 4, 4],
        vec![4, 3, 5, 2],
        vec![2; 5],
        vec![3, 2, 4, 2, 3],
        vec![3; 5],
        vec![2; 6],
        vec![4, 3, 4, 2, 3, 2],
    ]
}

/// Returns the number of links across the middle of the longest side of a mesh, if that is even.
fn across(sides: &[u32], rings: bool) -> Option<u64> {
    let (longest, nodes) = (*sides.iter().max()?, sides.iter().map(|side| u64::from(*side)).product::<u64>());
    let twice = if rings && longest > 2 { 2 } else { 1 };
    longest.is_multiple_of(2).then_some(twice * nodes / u64::from(longest))
}

#[test]
fn ten_complete_networks_lines_and_rings() {
    check(COUNTS.map(|nodes| Topology::Complete { nodes }), all, |topology| {
        Some(u64::from(topology.nodes()).pow(2) / 4)
    });
    check(COUNTS.map(|nodes| Topology::Line { nodes }), all, |_| Some(1));
    check(COUNTS.map(|nodes| Topology::Ring { nodes }), all, |topology| {
        Some(if topology.nodes() == 2 { 1 } else { 2 })
    });
}

#[test]
fn ten_meshes_and_tori_of_two_and_three_dimensions() {
    check(PLANES.map(|(rows, columns)| Topology::Mesh2d { rows, columns }), all, |topology| match topology {
        Topology::Mesh2d { rows, columns } => across(&[*rows, *columns], false),
        _ => None,
    });
    check(PLANES.map(|(rows, columns)| Topology::Torus2d { rows, columns }), all, |topology| match topology {
        Topology::Torus2d { rows, columns } => across(&[*rows, *columns], true),
        _ => None,
    });
    check(SPACES.map(|(layers, rows, columns)| Topology::Mesh3d { layers, rows, columns }), all, |topology| {
        match topology {
            Topology::Mesh3d { layers, rows, columns } => across(&[*layers, *rows, *columns], false),
            _ => None,
        }
    });
    check(SPACES.map(|(layers, rows, columns)| Topology::Torus3d { layers, rows, columns }), all, |topology| {
        match topology {
            Topology::Torus3d { layers, rows, columns } => across(&[*layers, *rows, *columns], true),
            _ => None,
        }
    });
}

#[test]
fn ten_grids_of_more_dimensions() {
    check(sides().map(|sides| Topology::Mesh { sides }), all, |topology| match topology {
        Topology::Mesh { sides } => across(sides, false),
        _ => None,
    });
    check(sides().map(|sides| Topology::Torus { sides }), all, |topology| match topology {
        Topology::Torus { sides } => across(sides, true),
        _ => None,
    });
    check(sides().map(|sides| Topology::HyperX { sides }), all, |_| None);
}

#[test]
fn ten_hypercubes_and_binary_trees() {
    let cubes = (1..=10).map(|dimension| Topology::Hypercube { dimension });
    check(cubes, all, |topology| Some(u64::from(topology.nodes()) / 2));
    let trees = (1..=10).map(|levels| Topology::BinaryTree { levels });
    check(trees, all, |topology| Some(u64::from(topology.nodes() > 1)));
}

/// The largest has 49,152 nodes, all of which are alike. The bisection is known from dimension 3 on (Manabe et al.
/// 1984).
#[test]
fn ten_cube_connected_cycles() {
    let cycles = (3..=12).map(|dimension| Topology::CubeConnectedCycles { dimension });
    check(
        cycles,
        |topology| searched(topology, true),
        |topology| match topology {
            Topology::CubeConnectedCycles { dimension } => Some(1 << (dimension - 1)),
            _ => None,
        },
    );
}

#[test]
fn ten_fat_trees() {
    let trees = [(2, 1), (2, 3), (2, 6), (2, 8), (3, 2), (3, 4), (4, 2), (4, 4), (6, 3), (8, 3)];
    check(trees.map(|(arity, levels)| Topology::FatTree { arity, levels }), all, |topology| match topology {
        Topology::FatTree { arity, .. } => arity.is_multiple_of(2).then(|| u64::from(topology.nodes()) / 2),
        _ => None,
    });
    let trees = [
        (vec![4, 4], vec![1, 2]),
        (vec![4, 4], vec![2, 4]),
        (vec![16, 32], vec![1, 8]),
        (vec![3, 5], vec![1, 1]),
        (vec![2, 2, 2], vec![1, 2, 2]),
        (vec![4, 6, 8], vec![1, 2, 3]),
        (vec![8, 8, 4], vec![1, 4, 4]),
        (vec![5], vec![1]),
        (vec![3, 4, 5, 2], vec![2, 1, 3, 2]),
        (vec![12, 6], vec![1, 12]),
    ];
    check(trees.map(|(children, parents)| Topology::ExtendedFatTree { children, parents }), all, |_| None);
}

/// Returns networks of ten sizes, with the arrangements of global links in rotation.
fn arranged<S: Copy>(sizes: [S; 10], network: fn(S, Arrangement) -> Topology) -> impl Iterator<Item = Topology> {
    let arrangements = [Arrangement::Absolute, Arrangement::Relative, Arrangement::Circulant].into_iter().cycle();
    sizes.into_iter().zip(arrangements).map(move |(size, arrangement)| network(size, arrangement))
}

#[test]
fn ten_dragonflies() {
    let sizes = [
        (3, 2, 1, 1),
        (5, 2, 2, 2),
        (7, 3, 1, 2),
        (9, 4, 2, 2),
        (9, 8, 1, 1),
        (4, 6, 2, 1),
        (13, 4, 3, 3),
        (19, 6, 2, 3),
        (25, 6, 1, 4),
        (33, 8, 1, 4),
    ];
    let dragonflies = arranged(sizes, |(groups, routers, nodes, globals), arrangement| Topology::Dragonfly {
        groups,
        routers,
        nodes,
        globals,
        arrangement,
    });
    check(dragonflies, along_routes, |_| None);
}

#[test]
fn ten_dragonflies_plus() {
    let sizes = [
        (2, 1, 1, 1, 1),
        (3, 2, 2, 2, 1),
        (3, 2, 2, 3, 2),
        (5, 2, 2, 2, 2),
        (5, 4, 4, 2, 1),
        (9, 2, 4, 2, 2),
        (9, 4, 4, 4, 2),
        (17, 4, 4, 2, 4),
        (6, 3, 5, 2, 1),
        (21, 5, 5, 2, 4),
    ];
    let dragonflies = arranged(sizes, |(groups, leaves, spines, nodes, globals), arrangement| {
        Topology::DragonflyPlus { groups, leaves, spines, nodes, globals, arrangement }
    });
    check(dragonflies, along_routes, |_| None);
}

#[test]
fn ten_concentrated_and_ten_parallel_ones() {
    let of = || {
        PLANES
            .into_iter()
            .take(5)
            .map(|(rows, columns)| Topology::Mesh2d { rows, columns })
            .chain(PLANES.into_iter().take(5).map(|(rows, columns)| Topology::Torus2d { rows, columns }))
    };
    let concentrated = of().zip([1, 2, 3, 4, 5].into_iter().cycle());
    let concentrated =
        concentrated.map(|(routers, nodes)| Topology::Concentrated { nodes, routers: Box::new(routers) });
    check(concentrated, all, |_| None);
    let parallel = of().zip([2, 3, 4].into_iter().cycle());
    check(parallel.map(|(of, links)| Topology::Parallel { links, of: Box::new(of) }), all, |topology| match topology {
        Topology::Parallel { links, of } => of.metrics().bisection_width.exact().map(|width| width * u64::from(*links)),
        _ => None,
    });
}
