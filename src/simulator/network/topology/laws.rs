//! Laws of every topology: links are symmetric, and routes are shortest paths along links.

use proptest::prelude::*;

use super::{Arrangement, Routes, Topology};

/// Generates regular topologies of every kind with a limited number of nodes.
pub(super) fn all_up_to(nodes: u32) -> Vec<Topology> {
    let cubes = (0..6).map(|dimension| Topology::Hypercube { dimension });
    let trees = (1..6).map(|levels| Topology::BinaryTree { levels });
    let fat = (2..=6).flat_map(|arity| (1..=5).map(move |levels| Topology::FatTree { arity, levels }));
    let cycles = (3..5).map(|dimension| Topology::CubeConnectedCycles { dimension });
    let all = rows_up_to(nodes)
        .chain(grids())
        .chain((1..=3).flat_map(ternary_fat_trees))
        .chain(concentrated())
        .chain(cubes)
        .chain(trees)
        .chain(fat)
        .chain(cycles);
    all.filter(|topology| topology.nodes() <= nodes).collect()
}

/// Generates chains, planes and spaces whose sides have at most this many nodes.
fn rows_up_to(nodes: u32) -> impl Iterator<Item = Topology> {
    let sides = 1..=nodes;
    let chains = sides
        .clone()
        .flat_map(|nodes| [Topology::Complete { nodes }, Topology::Line { nodes }, Topology::Ring { nodes }]);
    let planes = sides.clone().flat_map(move |rows| (1..=nodes).map(move |columns| (rows, columns)));
    let planes =
        planes.flat_map(|(rows, columns)| [Topology::Mesh2d { rows, columns }, Topology::Torus2d { rows, columns }]);
    let small = 1..=nodes.min(10);
    let spaces = small.clone().flat_map(move |layers| {
        let small = small.clone();
        small.clone().flat_map(move |rows| small.clone().map(move |columns| (layers, rows, columns)))
    });
    let spaces = spaces.flat_map(|(layers, rows, columns)| {
        [Topology::Mesh3d { layers, rows, columns }, Topology::Torus3d { layers, rows, columns }]
    });
    chains.chain(planes).chain(spaces)
}

/// Generates grids of several dimensions.
fn grids() -> impl Iterator<Item = Topology> {
    let lists = [vec![2, 3, 2, 3], vec![4, 2, 5], vec![1, 7], vec![3; 3], vec![6], vec![2; 5], vec![5, 4]];
    lists.into_iter().flat_map(|sides| {
        [Topology::Mesh { sides: sides.clone() }, Topology::Torus { sides: sides.clone() }, Topology::HyperX { sides }]
    })
}

/// Generates trees whose numbers of children and parents, less one, are the digits of a number in base 3.
fn ternary_fat_trees(levels: u32) -> impl Iterator<Item = Topology> {
    (0..9_u32.pow(levels)).map(move |code| {
        let digit = |place: u32| code / 3_u32.pow(place) % 3 + 1;
        let (children, parents) = ((0..levels).map(digit).collect(), (levels..2 * levels).map(digit).collect());
        Topology::ExtendedFatTree { children, parents }
    })
}

fn concentrated() -> impl Iterator<Item = Topology> {
    let routers = [
        Topology::Mesh2d { rows: 2, columns: 4 },
        Topology::Torus { sides: vec![3, 3] },
        Topology::FatTree { arity: 2, levels: 2 },
        Topology::Ring { nodes: 1 },
    ];
    routers.into_iter().flat_map(|routers| {
        (1..=3).map(move |nodes| Topology::Concentrated { nodes, routers: Box::new(routers.clone()) })
    })
}

/// Generates a connected graph: a random tree and more links, with some switches.
fn graphs() -> impl Strategy<Value = Topology> {
    let size = (1_u32..20, 0_u32..10);
    let links = (prop::collection::vec(any::<u32>(), 30), prop::collection::vec((any::<u32>(), any::<u32>()), 0..30));
    (size, links).prop_map(|((nodes, switches), (parents, more))| {
        let vertices = nodes + switches;
        let tree = (1..vertices).zip(parents).map(|(child, parent)| (parent % child, child));
        let more = more.into_iter().map(|(a, b)| (a % vertices, b % vertices)).filter(|(a, b)| a != b);
        let mut seen = std::collections::BTreeSet::new();
        let links: Vec<_> = tree.chain(more).filter(|(a, b)| seen.insert((*a.min(b), *a.max(b)))).collect();
        Topology::Graph { nodes, switches, degree: None, links: links.into(), classes: Vec::new() }
    })
}

fn regular() -> impl Strategy<Value = Topology> {
    let side = 1_u32..9;
    prop_oneof![
        (1_u32..40).prop_map(|nodes| Topology::Complete { nodes }),
        (1_u32..80).prop_map(|nodes| Topology::Line { nodes }),
        (1_u32..80).prop_map(|nodes| Topology::Ring { nodes }),
        (1_u32..12, 1_u32..12).prop_map(|(rows, columns)| Topology::Mesh2d { rows, columns }),
        (1_u32..12, 1_u32..12).prop_map(|(rows, columns)| Topology::Torus2d { rows, columns }),
        (side.clone(), side.clone(), side.clone())
            .prop_map(|(layers, rows, columns)| { Topology::Mesh3d { layers, rows, columns } }),
        (side.clone(), side.clone(), side).prop_map(|(layers, rows, columns)| Topology::Torus3d {
            layers,
            rows,
            columns
        }),
        (0_u32..9).prop_map(|dimension| Topology::Hypercube { dimension }),
        (1_u32..9).prop_map(|levels| Topology::BinaryTree { levels }),
        (2_u32..5, 1_u32..5).prop_map(|(arity, levels)| Topology::FatTree { arity, levels }),
        (3_u32..7).prop_map(|dimension| Topology::CubeConnectedCycles { dimension }),
        sides().prop_map(|sides| Topology::Mesh { sides }),
        sides().prop_map(|sides| Topology::Torus { sides }),
        sides().prop_map(|sides| Topology::HyperX { sides }),
        extended_fat_trees(),
        (1_u32..5, 1_u32..5, 1_u32..5).prop_map(|(nodes, rows, columns)| Topology::Concentrated {
            nodes,
            routers: Box::new(Topology::Torus2d { rows, columns }),
        }),
    ]
}

fn sides() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1_u32..5, 1..5)
}

fn extended_fat_trees() -> impl Strategy<Value = Topology> {
    prop::collection::vec((1_u32..5, 1_u32..4), 1..5).prop_map(|levels| {
        let (children, parents) = levels.into_iter().unzip();
        Topology::ExtendedFatTree { children, parents }
    })
}

fn topologies() -> impl Strategy<Value = Topology> {
    prop_oneof![4 => regular(), 1 => graphs()]
}

fn with_ends() -> impl Strategy<Value = (Topology, u32, u32)> {
    (topologies(), any::<u32>(), any::<u32>()).prop_map(|(topology, from, to)| {
        let (from, to) = (from % topology.vertices(), to % topology.nodes());
        (topology, from, to)
    })
}

proptest! {
    #[test]
    fn links_lead_back((topology, _, _) in with_ends()) {
        prop_assert_eq!(topology.faults(), Vec::<String>::new());
        for vertex in 0..topology.vertices() {
            let mut neighbours: Vec<u32> = topology.links_at(vertex).map(|(_, to, _)| to).collect();
            for (port, to, there) in topology.links_at(vertex) {
                prop_assert!(to < topology.vertices() && to != vertex);
                prop_assert!(there < topology.ports());
                prop_assert_eq!(topology.neighbour(to, there), Some((vertex, port)));
            }
            prop_assert_eq!(topology.neighbour(vertex, topology.ports()), None);
            let links = neighbours.len();
            neighbours.sort_unstable();
            neighbours.dedup();
            prop_assert_eq!(neighbours.len(), links, "no link twice");
        }
    }

    #[test]
    fn every_step_of_a_route_comes_closer((topology, from, to) in with_ends()) {
        let truth = topology.distances_from(to);
        let path: Vec<u32> = topology.path(from, to).collect();
        prop_assert_eq!(path.last(), Some(&to));
        for (left, at) in path.iter().rev().enumerate() {
            prop_assert_eq!(truth[*at as usize] as usize, left);
        }
        if from < topology.nodes() {
            prop_assert!(truth[from as usize] <= topology.closed_form_metrics().longest);
        }
    }

    #[test]
    fn a_course_is_the_straight_part_of_the_route((topology, from, to) in with_ends()) {
        prop_assume!(from != to);
        let (port, vertices) = topology.course(from, to);
        prop_assert_eq!(Routes::of(&topology).course(from, to), (port, vertices));
        let path: Vec<u32> = topology.path(from, to).collect();
        prop_assert!(vertices > 0 && (vertices as usize) < path.len());
        for at in &path[..vertices as usize] {
            prop_assert_eq!(topology.route(*at, to), port);
        }
    }

    #[test]
    fn distance_is_that_of_the_graph((topology, from, _) in with_ends()) {
        for (to, truth) in (0..).zip(topology.distances_from(from)) {
            prop_assert_eq!(topology.distance(from, to), truth, "to {}", to);
            prop_assert_eq!(topology.distance(to, from), truth, "from {}", to);
        }
    }

    #[test]
    fn a_drawing_has_room_for_every_vertex(topology in topologies()) {
        let layout = topology.layout();
        prop_assert_eq!(layout.len(), topology.vertices() as usize);
        for (index, a) in layout.iter().enumerate().take(100) {
            prop_assert!(a.0.is_finite() && a.1.is_finite());
            for b in &layout[..index] {
                prop_assert!((a.0 - b.0).hypot(a.1 - b.1) > 0.05, "{:?} and {:?}", a, b);
            }
        }
    }

    #[test]
    fn names_lead_back(topology in regular()) {
        let named = Topology::from_name(topology.name(), topology.nodes());
        if let Ok(named) = named {
            prop_assert_eq!((named.name(), named.nodes()), (topology.name(), topology.nodes()));
        }
    }

    #[test]
    fn bounds_are_in_order(topology in graphs()) {
        let metrics = topology.metrics();
        prop_assert!(metrics.bisection_width.lower() <= metrics.bisection_width.upper());
        prop_assert!(metrics.node_connectivity <= metrics.arc_connectivity);
        prop_assert!(metrics.arc_connectivity <= metrics.least_degree);
        prop_assert!(metrics.average_distance <= f64::from(metrics.diameter));
    }
}

#[test]
fn a_scenario_can_name_every_kind() {
    let written = [
        "Mesh2d(rows: 3, columns: 4)",
        "FatTree(arity: 2, levels: 6)",
        "Torus(sides: [4, 4, 4, 3, 2])",
        "HyperX(sides: [4, 6])",
        "ExtendedFatTree(children: [16, 16], parents: [1, 8])",
        "Dragonfly(groups: 9, routers: 4, nodes: 2, globals: 2)",
        "DragonflyPlus(groups: 5, leaves: 3, spines: 2, nodes: 2, globals: 2, arrangement: Circulant)",
        "Concentrated(nodes: 4, routers: Parallel(links: 2, of: Mesh2d(rows: 4, columns: 4)))",
        "Graph(nodes: 3, links: [(0, 1), (1, 2)])",
        "Graph(nodes: 2, switches: 1, degree: Some(4), links: [(0, 2), (1, 2)])",
    ];
    for text in written {
        let topology: Topology = ron::from_str(text).expect(text);
        assert_eq!(topology.faults(), Vec::<String>::new());
        let again = ron::to_string(&topology).expect("a topology can be written");
        assert_eq!(ron::from_str::<Topology>(&again), Ok(topology));
    }
    assert!(ron::from_str::<Topology>("Mesh2d(rows: 3, columns: 4, layers: 1)").is_err());
}

const TOO_LARGE: &str = "the topology has more than 2^31 = 2147483648 vertices";

fn faults(topology: &Topology) -> String {
    topology.faults().join("; ")
}

#[test]
fn topologies_that_are_too_large_are_faults() {
    let tree = |children: &[u32], parents: &[u32]| Topology::ExtendedFatTree {
        children: children.to_vec(),
        parents: parents.to_vec(),
    };
    for topology in [
        Topology::Torus2d { rows: 1 << 16, columns: 1 << 16 },
        Topology::Mesh3d { layers: u32::MAX, rows: u32::MAX, columns: u32::MAX },
        Topology::Hypercube { dimension: 4_000_000_000 },
        Topology::BinaryTree { levels: 33 },
        Topology::FatTree { arity: 1000, levels: 1000 },
        Topology::CubeConnectedCycles { dimension: 30 },
        Topology::Complete { nodes: u32::MAX },
        Topology::Mesh { sides: vec![1 << 20; 3] },
        tree(&[u32::MAX; 40], &[u32::MAX; 40]),
        dragonfly(1 << 30, 1 << 29),
    ] {
        assert_eq!(faults(&topology), TOO_LARGE, "{topology:?}");
    }
    assert_eq!(faults(&Topology::Hypercube { dimension: 31 }), "");
}

fn multiplied(links: u32, of: Topology) -> Topology {
    Topology::Parallel { links, of: Box::new(of) }
}

fn grouped(nodes: u32, routers: Topology) -> Topology {
    Topology::Concentrated { nodes, routers: Box::new(routers) }
}

#[test]
fn nested_topologies_that_are_too_large_are_faults_as_the_inner_ones_are() {
    let cube = |dimension| Topology::Hypercube { dimension };
    for topology in [
        multiplied(2, cube(32)),
        multiplied(8, cube(65537)),
        grouped(4, Topology::FatTree { arity: 100_000, levels: 2 }),
        grouped(1, cube(31)),
        grouped(1, multiplied(1, grouped(1, cube(40)))),
    ] {
        assert_eq!(faults(&topology), TOO_LARGE, "{topology:?}");
    }
    assert_eq!(faults(&multiplied(0, cube(32))), format!("`links` is 0: it must be at least 1; {TOO_LARGE}"));
}

#[test]
fn vertices_with_too_many_ports_are_faults() {
    let ring = || Topology::Ring { nodes: 4 };
    let two =
        |globals| Topology::Dragonfly { groups: 2, routers: 1, nodes: 1, globals, arrangement: Arrangement::Absolute };
    let plus = Topology::DragonflyPlus {
        groups: 2,
        leaves: 1,
        spines: 1,
        nodes: 1,
        globals: u32::MAX,
        arrangement: Arrangement::Absolute,
    };
    for (topology, ports) in [
        (multiplied(2_000_000_000, ring()), 4_000_000_000_u64),
        (multiplied(4_000_000_000, ring()), 8_000_000_000),
        (multiplied(4, two(1 << 30)), (1 << 32) + 4),
        (grouped(1, multiplied(1 << 30, ring())), (1 << 31) + 1),
        (two(u32::MAX), 1 << 32),
        (plus, 1 << 32),
    ] {
        let expected = format!("a vertex has {ports} ports: at most 2^31 = 2147483648 can be numbered");
        assert_eq!(faults(&topology), expected, "{topology:?}");
    }
    assert_eq!(faults(&multiplied(1 << 30, ring())), "");
}

const fn dragonfly(groups: u32, globals: u32) -> Topology {
    Topology::Dragonfly { groups, routers: 4, nodes: 2, globals, arrangement: Arrangement::Absolute }
}

#[test]
fn impossible_parameters_are_faults() {
    assert_eq!(
        faults(&Topology::Mesh3d { layers: 0, rows: 2, columns: 0 }),
        "`layers` is 0: it must be at least 1; `columns` is 0: it must be at least 1"
    );
    assert_eq!(faults(&Topology::CubeConnectedCycles { dimension: 2 }), "`dimension` is 2: it must be at least 3");
    assert_eq!(
        faults(&Topology::FatTree { arity: 1, levels: 0 }),
        "`arity` is 1: it must be at least 2; `levels` is 0: it must be at least 1"
    );
    assert_eq!(faults(&Topology::BinaryTree { levels: 0 }), "`levels` is 0: it must be at least 1");
    assert_eq!(faults(&Topology::Torus { sides: vec![] }), "`sides` is empty: give at least one length");
    assert_eq!(faults(&Topology::HyperX { sides: vec![3, 0] }), "`sides` has a 0: every length must be at least 1");
    let uneven = Topology::ExtendedFatTree { children: vec![2, 2], parents: vec![1] };
    assert_eq!(faults(&uneven), "`parents` has 1 numbers and `children` 2: give both for every level");
    assert_eq!(faults(&dragonfly(10, 2)), "`globals` gives a group 8 links to others: 10 groups need at least 9");
}
