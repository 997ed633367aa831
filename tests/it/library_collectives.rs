//! Laws of the collective operations under the names of the libraries: they move the right data whatever the root, the
//! number of ranks and the kind of send, and in the rounds and bytes of their definitions.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of ranks are small"
)]
#![expect(clippy::many_single_char_names, reason = "they are those of the formulas")]

use super::collectives::{ideal, moved, output, run_on};
use parsim::Simulation;
use parsim::machine::{Allocation, Machine, Placement, Sends};
use parsim::network::{Network, Topology};
use parsim::program::Process;
use parsim::program::collective::CollectiveOperation;
use parsim::units::{PerByte, SimDuration};
use std::cell::Cell;
use std::rc::Rc;

/// All algorithms, as a scenario writes them.
const ALGORITHMS: &[&str] = &[
    "Broadcast(algorithm: Linear)",
    "Broadcast(algorithm: Chain())",
    "Broadcast(algorithm: Chain(chains: 3, segment: \"16 B\"))",
    "Broadcast(algorithm: Pipeline())",
    "Broadcast(algorithm: Pipeline(segment: \"16 B\"))",
    "Broadcast(algorithm: Binary())",
    "Broadcast(algorithm: Binary(segment: \"8 B\"))",
    "Broadcast(algorithm: SplitBinary())",
    "Broadcast(algorithm: SplitBinary(segment: \"8 B\"))",
    "Broadcast(algorithm: Kary(radix: 1))",
    "Broadcast(algorithm: Kary(radix: 3, segment: \"16 B\"))",
    "Broadcast(algorithm: Knomial(radix: 2, distances: Doubling))",
    "Broadcast(algorithm: Knomial(radix: 2, distances: Halving, segment: \"16 B\"))",
    "Broadcast(algorithm: Knomial(radix: 3, distances: Doubling, segment: \"8 B\"))",
    "Broadcast(algorithm: Knomial())",
    "Broadcast(algorithm: ScatterRecursiveDoublingAllGather)",
    "Broadcast(algorithm: ScatterRingAllGather)",
    "Broadcast(algorithm: Bine())",
    "Broadcast(algorithm: Bine(distances: Doubling, segment: \"16 B\"))",
    "Broadcast(algorithm: BineScatterAllGather)",
    "Broadcast(algorithm: Hierarchical(group: Ranks(3), between: Bine(), within: Pipeline(segment: \"8 B\")))",
    "Broadcast(algorithm: Hierarchical(group: Ranks(4), between: Linear, within: Hierarchical(group: Ranks(2), \
     between: Binomial, within: Knomial())))",
    "Broadcast(algorithm: Auto(OpenMpi))",
    "Broadcast(algorithm: Auto(Mpich))",
    "Broadcast(algorithm: Auto(SimGrid))",
    "Reduce(algorithm: Linear)",
    "Reduce(algorithm: Chain(chains: 3, segment: \"16 B\"))",
    "Reduce(algorithm: Pipeline())",
    "Reduce(algorithm: Pipeline(segment: \"8 B\"))",
    "Reduce(algorithm: Binary())",
    "Reduce(algorithm: Binary(segment: \"16 B\"))",
    "Reduce(algorithm: InOrderBinary())",
    "Reduce(algorithm: InOrderBinary(segment: \"8 B\"))",
    "Reduce(algorithm: Kary(radix: 3))",
    "Reduce(algorithm: Knomial())",
    "Reduce(algorithm: Knomial(radix: 2, segment: \"16 B\"))",
    "Reduce(algorithm: Knomial(radix: 3, distances: Doubling))",
    "Reduce(algorithm: Rabenseifner)",
    "Reduce(algorithm: ReduceScatterGather)",
    "Reduce(algorithm: Bine())",
    "Reduce(algorithm: Bine(distances: Doubling, segment: \"8 B\"))",
    "Reduce(algorithm: BineReduceScatterGather)",
    "Reduce(algorithm: Hierarchical(group: Ranks(3), within: Linear, between: Binomial))",
    "Reduce(algorithm: Auto(OpenMpi))",
    "Reduce(algorithm: Auto(Mpich))",
    "Reduce(algorithm: Auto(SimGrid))",
    "Reduce(algorithm: LinearNonBlocking)",
    "AllReduce(algorithm: RecursiveDoubling)",
    "AllReduce(algorithm: Linear)",
    "AllReduce(algorithm: NonOverlapping)",
    "AllReduce(algorithm: SegmentedRing())",
    "AllReduce(algorithm: SegmentedRing(segment: \"8 B\"))",
    "AllReduce(algorithm: Rabenseifner)",
    "AllReduce(algorithm: RabenseifnerWhole)",
    "AllReduce(algorithm: RecursiveMultiplying())",
    "AllReduce(algorithm: RecursiveMultiplying(radix: 3))",
    "AllReduce(algorithm: RecursiveMultiplying(radix: 4))",
    "AllReduce(algorithm: AllGatherReduce)",
    "AllReduce(algorithm: Bine)",
    "AllReduce(algorithm: BineReduceScatterAllGather)",
    "AllReduce(algorithm: Hierarchical(group: Ranks(3), reduce: Binomial, between: Ring, broadcast: Binary()))",
    "AllReduce(algorithm: Hierarchical(reduce: Binomial, between: RecursiveDoubling, broadcast: Binomial))",
    "AllReduce(algorithm: Auto(OpenMpi))",
    "AllReduce(algorithm: Auto(Mpich))",
    "AllReduce(algorithm: Auto(SimGrid))",
    "AllReduce(algorithm: LinearBinomial)",
    "ReduceScatter(algorithm: RecursiveHalving)",
    "ReduceScatter(algorithm: Linear)",
    "ReduceScatter(algorithm: NonOverlapping)",
    "ReduceScatter(algorithm: NonOverlappingBlock)",
    "ReduceScatter(algorithm: Butterfly)",
    "ReduceScatter(algorithm: RecursiveDoubling)",
    "ReduceScatter(algorithm: RecursiveDistanceDoubling)",
    "ReduceScatter(algorithm: Bine())",
    "ReduceScatter(algorithm: Bine(remap: Send))",
    "ReduceScatter(algorithm: Bine(remap: Blocks))",
    "ReduceScatter(algorithm: Auto(OpenMpi))",
    "ReduceScatter(algorithm: AutoBlock(OpenMpi))",
    "ReduceScatter(algorithm: Auto(Mpich))",
    "ReduceScatter(algorithm: Auto(SimGrid))",
    "ReduceScatter(algorithm: LinearNonBlocking)",
    "Gather(algorithm: Linear)",
    "Gather(algorithm: LinearSync())",
    "Gather(algorithm: LinearSync(first: \"16 B\"))",
    "Gather(algorithm: Knomial())",
    "Gather(algorithm: Knomial(radix: 3, distances: Doubling))",
    "Gather(algorithm: Bine())",
    "Gather(algorithm: Bine(distances: Doubling))",
    "Gather(algorithm: Hierarchical(group: Ranks(3), within: Linear, between: Binomial))",
    "Gather(algorithm: Auto(OpenMpi))",
    "Gather(algorithm: Auto(Mpich))",
    "Gather(algorithm: Auto(SimGrid))",
    "Gather(algorithm: LinearNonBlocking)",
    "Scatter(algorithm: Linear)",
    "Scatter(algorithm: LinearNonBlocking)",
    "Scatter(algorithm: Knomial())",
    "Scatter(algorithm: Knomial(radix: 3, distances: Doubling))",
    "Scatter(algorithm: Bine())",
    "Scatter(algorithm: Bine(distances: Doubling))",
    "Scatter(algorithm: Hierarchical(group: Ranks(3), between: Bine(), within: LinearNonBlocking))",
    "Scatter(algorithm: Auto(OpenMpi))",
    "Scatter(algorithm: Auto(Mpich))",
    "Scatter(algorithm: Auto(SimGrid))",
    "AllGather(algorithm: RecursiveDoubling)",
    "AllGather(algorithm: Linear)",
    "AllGather(algorithm: Bruck())",
    "AllGather(algorithm: Bruck(radix: 3))",
    "AllGather(algorithm: NeighborExchange)",
    "AllGather(algorithm: Sparbit)",
    "AllGather(algorithm: DirectMessaging)",
    "AllGather(algorithm: RecursiveDistanceHalving)",
    "AllGather(algorithm: Bine())",
    "AllGather(algorithm: Bine(remap: Send))",
    "AllGather(algorithm: Bine(remap: Blocks))",
    "AllGather(algorithm: BineAdjacent)",
    "AllGather(algorithm: Hierarchical(group: Ranks(3), gather: Linear, between: Ring, broadcast: Binomial))",
    "AllGather(algorithm: Hierarchical(group: Ranks(3), gather: Binomial, between: RecursiveDoubling, \
     broadcast: Linear))",
    "AllGather(algorithm: Auto(OpenMpi))",
    "AllGather(algorithm: Auto(Mpich))",
    "AllGather(algorithm: Auto(SimGrid))",
    "AllToAll(algorithm: PairwiseExchange)",
    "AllToAll(algorithm: Linear)",
    "AllToAll(algorithm: LinearSync())",
    "AllToAll(algorithm: LinearSync(outstanding: 2))",
    "AllToAll(algorithm: Scattered())",
    "AllToAll(algorithm: Scattered(batch: 3))",
    "AllToAll(algorithm: Bruck())",
    "AllToAll(algorithm: Bruck(radix: 3))",
    "AllToAll(algorithm: Bruck(radix: 4))",
    "AllToAll(algorithm: Bine)",
    "AllToAll(algorithm: Auto(OpenMpi))",
    "AllToAll(algorithm: Auto(Mpich))",
    "AllToAll(algorithm: Auto(SimGrid))",
    "Barrier(algorithm: Linear)",
    "Barrier(algorithm: DoubleRing)",
    "Barrier(algorithm: RecursiveDoubling)",
    "Barrier(algorithm: Bruck())",
    "Barrier(algorithm: Bruck(radix: 3))",
    "Barrier(algorithm: BinomialTree)",
    "Barrier(algorithm: Hierarchical(group: Ranks(3), within: Linear, between: RecursiveDoubling))",
    "Barrier(algorithm: Auto(OpenMpi))",
    "Barrier(algorithm: Auto(Mpich))",
    "Barrier(algorithm: Auto(SimGrid))",
];

fn operation(text: &str) -> CollectiveOperation {
    ron::from_str(text).unwrap_or_else(|error| panic!("no operation {text}: {error}"))
}

/// Every kind of send with every root class and several lengths, among them none.
#[test]
fn every_algorithm_moves_the_right_data_to_any_number_of_ranks() {
    let mut machine = ideal("hypercube");
    for text in ALGORITHMS {
        let operation = operation(text);
        for ranks in 1..=20 {
            assert_eq!(operation.fault(ranks), None, "{text}");
            for (root, count, sends) in [
                (0, 5, Sends::UntilInjected),
                (ranks - 1, 1, Sends::Rendezvous),
                (ranks / 2, 64, Sends::Rendezvous),
                (1 % ranks, 17, Sends::UntilDelivered),
                (ranks / 3, 0, Sends::Buffered),
            ] {
                machine.sends = sends;
                let expected: Vec<_> = (0..ranks).map(|rank| output(&operation, rank, root, ranks, count)).collect();
                let moved = moved(&machine, &operation, root, ranks, count);
                assert_eq!(moved, expected, "{text}, {ranks} ranks, root {root}, {count} words");
            }
        }
    }
}

/// The time of operations one after the other, each with its length, on a LogGOPS machine.
fn time(operations: &[(&str, u64)], ranks: u32) -> SimDuration {
    let mut machine =
        parsim::load_machine(crate::repository("scenarios/machines/loggopsim-default.ron")).expect("a machine");
    machine.nodes.interface.as_mut().expect("an interface").overhead_per_byte =
        PerByte::new(SimDuration::from_ps(1000));
    let operations: Vec<_> = operations.iter().map(|(text, bytes)| (operation(text), *bytes)).collect();
    let program = move |me: Process| {
        let operations = operations.clone();
        async move {
            for (operation, bytes) in operations {
                operation.run(&me, 0, bytes, None).await;
            }
        }
    };
    Simulation::new(&machine, ranks).expect("a sound machine").run(&program).expect("it ends").makespan
}

/// MPICH scatters bytes even if there are fewer words than ranks (`bcast_intra_scatter_recursive_doubling_allgather.c` has
/// no other algorithm for this case, unlike Open MPI's).
#[test]
fn mpich_scatters_broadcasts_with_fewer_words_than_ranks() {
    const WORDS: u32 = 1537;
    let broadcast = |bytes| time(&[("Broadcast(algorithm: Auto(Mpich))", bytes)], 2048);
    let (few, enough) = (broadcast(8 * u64::from(WORDS)), broadcast(16_384));
    assert!(few <= enough && 2 * few.ps() > enough.ps(), "{few} {enough}");
    let machine =
        parsim::load_machine(crate::repository("scenarios/machines/loggopsim-default.ron")).expect("a machine");
    let wrong = Rc::new(Cell::new(0));
    for ranks in [2048, 1600] {
        let (wrong, operation) = (Rc::clone(&wrong), operation("Broadcast(algorithm: Auto(Mpich))"));
        let program = move |me: Process| {
            let (wrong, operation) = (Rc::clone(&wrong), operation.clone());
            async move {
                let words: Rc<[f64]> = (0..WORDS).map(f64::from).collect();
                let own = if me.rank() == 5 { Rc::clone(&words) } else { vec![0.0; WORDS as usize].into() };
                let received = operation.run(&me, 5, 8 * u64::from(WORDS), Some(own)).await;
                wrong.set(wrong.get() + u32::from(received != Some(words)));
            }
        };
        Simulation::new(&machine, ranks).expect("a sound machine").run(&program).expect("it ends");
    }
    assert_eq!(wrong.get(), 0);
}

/// A barrier of groups of one rank is that among their leaders, with its messages of four bytes or of none.
#[test]
fn barriers_among_leaders_send_what_they_send_alone() {
    for alone in ["Dissemination", "Bruck()", "RecursiveDoubling"] {
        let nested = format!("Barrier(algorithm: Hierarchical(group: Ranks(1), within: Linear, between: {alone}))");
        assert_eq!(time(&[(&nested, 0)], 4), time(&[(&format!("Barrier(algorithm: {alone})"), 0)], 4), "{alone}");
    }
}

/// `ompi_coll_base_reduce_scatter_block_basic_linear` calls the library's reduce and scatter, which choose in their turn.
#[test]
fn number_1_of_open_mpi_for_blocks_is_its_reduce_and_its_scatter() {
    for (ranks, block) in [(16, 524_288), (64, 131_072), (16, 8)] {
        let total = block * u64::from(ranks);
        let apart = [("Reduce(algorithm: Auto(OpenMpi))", total), ("Scatter(algorithm: Auto(OpenMpi))", block)];
        let together = ("ReduceScatter(algorithm: AutoBlock(OpenMpi))", block);
        assert_eq!(time(&[together], ranks), time(&apart, ranks), "{ranks} ranks, blocks of {block} B");
    }
}

/// Cost of an algorithm by its definition.
struct Cost {
    /// The longest chain of messages, where a rank sends one message a round and receives any number: at least and at most.
    rounds: [u64; 2],
    /// The bytes that all ranks send.
    bytes: Option<u64>,
    /// The bytes of the longest chain of messages, where a rank sends and receives any number at once.
    chain: Option<u64>,
}

const fn cost(rounds: u64, bytes: u64, chain: u64) -> Cost {
    Cost { rounds: [rounds, rounds], bytes: Some(bytes), chain: Some(chain) }
}

const fn rounds(rounds: u64, bytes: u64) -> Cost {
    Cost { rounds: [rounds, rounds], bytes: Some(bytes), chain: None }
}

const fn between(least: u64, most: u64, bytes: u64) -> Cost {
    Cost { rounds: [least, most], bytes: Some(bytes), chain: None }
}

/// The logarithm to base 2, rounded up.
fn up(p: u64) -> u64 {
    u64::from(p.next_power_of_two().trailing_zeros())
}

/// The logarithm to base 2, rounded down, the power of two, the ranks beyond it, and whether there are any.
fn core(p: u64) -> (u64, u64, u64, u64) {
    let s = u64::from(p.ilog2());
    (s, 1 << s, p - (1 << s), u64::from(!p.is_power_of_two()))
}

/// The children of each number of a tree, in the order in which they are sent to.
type Tree = Vec<Vec<usize>>;

/// Whoever has the message at the beginning of a step sends it in the step: `partners` of a number and a step.
fn grown(p: u64, steps: impl Iterator<Item = u64>, partners: impl Fn(i64, u64) -> Vec<i64>) -> Tree {
    let mut tree = vec![Vec::new(); p as usize];
    let mut have = vec![0];
    for step in steps {
        for number in have.clone() {
            for partner in partners(number, step) {
                if (0..p as i64).contains(&partner) && !have.contains(&partner) {
                    tree[number as usize].push(partner as usize);
                    have.push(partner);
                }
            }
        }
    }
    tree
}

fn nomial(p: u64, k: u64, halving: bool) -> Tree {
    let powers: Vec<u64> = std::iter::successors(Some(1), |unit| Some(unit * k)).take_while(|unit| *unit < p).collect();
    let partners = |number: i64, unit: u64| (1..k).map(|digit| number + (digit * unit) as i64).collect();
    if halving { grown(p, powers.into_iter().rev(), partners) } else { grown(p, powers.into_iter(), partners) }
}

/// De Sensi and others 2025: in step k an even rank sends ρ(k) behind, an odd one before, ρ(k) = Σ (−2)^j for j ≤ k.
fn bine(p: u64, halving: bool) -> Tree {
    let (s, q, r, _) = core(p);
    let partner = |number: i64, step: u64| {
        let rho: i64 = (0..=step).map(|bit| (-2_i64).pow(bit as u32)).sum();
        vec![(if number % 2 == 0 { number + rho } else { number - rho }).rem_euclid(q as i64)]
    };
    let mut tree = if halving { grown(q, (0..s).rev(), partner) } else { grown(q, 0..s, partner) };
    tree.resize(p as usize, Vec::new());
    (0..r as usize).for_each(|number| tree[number].push(number + q as usize));
    tree
}

fn complete(p: u64, k: u64) -> Tree {
    (0..p).map(|v| (k * v + 1..=k * v + k).filter(|child| *child < p).map(|child| child as usize).collect()).collect()
}

/// The numbers of a level in turn below those of the level above.
fn levels(p: u64, k: u64) -> Tree {
    let mut tree = vec![Vec::new(); p as usize];
    let mut above = vec![0];
    let mut rest: std::collections::VecDeque<usize> = (1..p as usize).collect();
    while !rest.is_empty() {
        let level: Vec<usize> = rest.drain(..rest.len().min(above.len() * k as usize)).collect();
        for (index, child) in level.iter().enumerate() {
            let parent: usize = above[index % above.len()];
            tree[parent].push(*child);
        }
        above = level;
    }
    tree
}

/// Chains of consecutive numbers, the longer ones first.
fn chains(p: u64, count: u64) -> Tree {
    let mut tree = vec![Vec::new(); p as usize];
    let (others, count) = (p as usize - 1, (count as usize).min(p as usize - 1));
    let mut next = 1;
    for chain in 0..count {
        let length = others / count + usize::from(chain < others % count);
        tree[0].push(next);
        (next..next + length - 1).for_each(|number| tree[number].push(number + 1));
        next += length;
    }
    tree
}

/// Of a range, the last number is the root, the one before its left child; the first half of the others is to the right.
fn in_order(p: u64) -> Tree {
    fn below(tree: &mut Tree, first: usize, size: usize) {
        let root = first + size - 1;
        let right = if size > 2 { size / 2 } else { 0 };
        for (first, size) in [(first + right, size - 1 - right), (first, right)] {
            if size > 0 {
                tree[root].push(first + size - 1);
                below(tree, first, size);
            }
        }
    }
    let mut tree = vec![Vec::new(); p as usize];
    below(&mut tree, 0, p as usize);
    tree
}

fn depth(tree: &Tree, root: usize) -> u64 {
    tree[root].iter().map(|child| 1 + depth(tree, *child)).max().unwrap_or(0)
}

fn size(tree: &Tree, root: usize) -> u64 {
    1 + tree[root].iter().map(|child| size(tree, *child)).sum::<u64>()
}

/// Times at which each number has got the last of so many segments, and has sent it on.
fn down(tree: &Tree, segments: u64) -> Vec<[u64; 2]> {
    fn from(tree: &Tree, number: usize, arrivals: &[u64], times: &mut [[u64; 2]]) {
        let mut free = 0;
        let mut below = vec![Vec::new(); tree[number].len()];
        for arrival in arrivals {
            free = free.max(*arrival);
            for child in &mut below {
                free += 1;
                child.push(free);
            }
        }
        times[number] = [*arrivals.last().expect("a segment"), free];
        for (child, arrivals) in tree[number].iter().zip(below) {
            from(tree, *child, &arrivals, times);
        }
    }
    let mut times = vec![[0; 2]; tree.len()];
    from(tree, 0, &vec![0; segments as usize], &mut times);
    times
}

fn last(times: &[[u64; 2]]) -> u64 {
    times.iter().map(|[got, _]| *got).max().unwrap_or(0)
}

fn broadcast(tree: &Tree, m: u64, segment: u64) -> Cost {
    let segment = if segment == 0 { m } else { segment.min(m) };
    let (p, d) = (tree.len() as u64, depth(tree, 0));
    let chain = if d == 0 { 0 } else { m + (d - 1) * segment };
    cost(last(&down(tree, m.div_ceil(segment))), (p - 1) * m, chain)
}

fn reduce(tree: &Tree, root: usize, m: u64, segment: u64) -> Cost {
    let segment = if segment == 0 { m } else { segment.min(m) };
    let (p, d) = (tree.len() as u64, depth(tree, root));
    let chain = if d == 0 { 0 } else { m + (d - 1) * segment };
    cost(if d == 0 { 0 } else { d + m.div_ceil(segment) - 1 }, (p - 1) * m, chain)
}

/// Of the blocks of all subtrees but the whole.
fn blocks(tree: &Tree, b: u64) -> u64 {
    (1..tree.len()).map(|number| size(tree, number) * b).sum()
}

fn scatter(tree: &Tree, b: u64) -> Cost {
    rounds(last(&down(tree, 1)), blocks(tree, b))
}

fn gather(tree: &Tree, b: u64) -> Cost {
    rounds(depth(tree, 0), blocks(tree, b))
}

/// Messages that a rank sends with distances 1, k, k², …, and digits other than 0 of all numbers.
fn bruck(p: u64, k: u64) -> [u64; 2] {
    let powers = std::iter::successors(Some(1), |unit| Some(unit * k)).take_while(|unit| *unit < p);
    let sends = powers.map(|unit| (1..k).filter(|times| times * unit < p).count() as u64).sum();
    let digits = |mut number: u64| {
        let mut count = 0;
        while number > 0 {
            count += u64::from(!number.is_multiple_of(k));
            number /= k;
        }
        count
    };
    [sends, (0..p).map(digits).sum()]
}

/// The bytes of van de Geijn's scatter: the parts of a subtree, of which the last ones may be empty.
fn parts(p: u64, m: u64) -> u64 {
    let part = (m / 8).div_ceil(p) * 8;
    let tree = nomial(p, 2, true);
    let bytes = |number: u64| (part * (number + size(&tree, number as usize))).min(m) - (part * number).min(m);
    (1..p).map(bytes).sum()
}

fn split_binary(p: u64, m: u64) -> Cost {
    if p < 3 {
        return broadcast(&chains(p, 1), m, 0);
    }
    let times = down(&levels(p, 2), 1);
    let mut end = 0;
    for number in 1..p as usize {
        let even_end = p.is_multiple_of(2) && number as u64 == p - 1;
        let partner = if even_end {
            0
        } else if number % 2 == 1 {
            number + 1
        } else {
            number - 1
        };
        end = end.max(times[partner][1] + 1).max(times[number][0]);
    }
    rounds(end, (p - 1) * m)
}

/// Ranks, base → the power of the base, its exponent, the ranks beyond it, and how many of them one rank does the steps for.
fn power(p: u64, k: u64) -> (u64, u64, u64, u64) {
    let (mut q, mut e) = (1, 0);
    while q * k <= p {
        (q, e) = (q * k, e + 1);
    }
    (q, e, p - q, (p - q).min(k - 1))
}

fn multiplying(p: u64, k: u64, m: u64) -> Cost {
    let (q, e, guests, of_one) = power(p, k);
    let some = u64::from(guests > 0);
    cost((k - 1) * e + some + of_one, (q * e * (k - 1) + 2 * guests) * m, (e + 2 * some) * m)
}

/// Count of the numbers of s bits that read the same backwards.
fn palindromes(s: u64) -> u64 {
    1 << s.div_ceil(2)
}

type Definition = fn(u64, u64) -> Cost;

/// Algorithm, and its cost for p ranks and m bytes: of the whole message, or of a block.
const DEFINITIONS: &[(&str, Definition)] = &[
    ("Broadcast(algorithm: Linear)", |p, m| cost(p - 1, (p - 1) * m, if p > 1 { m } else { 0 })),
    ("Broadcast(algorithm: Chain())", |p, m| broadcast(&chains(p, 4), m, 0)),
    ("Broadcast(algorithm: Chain(chains: 3, segment: \"128 B\"))", |p, m| broadcast(&chains(p, 3), m, 128)),
    ("Broadcast(algorithm: Pipeline())", |p, m| cost(p - 1, (p - 1) * m, (p - 1) * m)),
    ("Broadcast(algorithm: Pipeline(segment: \"128 B\"))", |p, m| broadcast(&chains(p, 1), m, 128)),
    ("Broadcast(algorithm: Binary())", |p, m| broadcast(&levels(p, 2), m, 0)),
    ("Broadcast(algorithm: Binary(segment: \"128 B\"))", |p, m| broadcast(&levels(p, 2), m, 128)),
    ("Broadcast(algorithm: SplitBinary())", split_binary),
    ("Broadcast(algorithm: Kary(radix: 3))", |p, m| broadcast(&complete(p, 3), m, 0)),
    ("Broadcast(algorithm: Knomial(radix: 2, distances: Doubling))", |p, m| Cost {
        rounds: [up(p), up(p)],
        ..broadcast(&nomial(p, 2, false), m, 0)
    }),
    ("Broadcast(algorithm: Knomial(radix: 2, distances: Halving))", |p, m| Cost {
        rounds: [up(p), up(p)],
        ..broadcast(&nomial(p, 2, true), m, 0)
    }),
    ("Broadcast(algorithm: Knomial())", |p, m| broadcast(&nomial(p, 4, true), m, 0)),
    ("Broadcast(algorithm: Knomial(radix: 3, distances: Doubling, segment: \"128 B\"))", |p, m| {
        broadcast(&nomial(p, 3, false), m, 128)
    }),
    ("Broadcast(algorithm: ScatterRecursiveDoublingAllGather)", |p, m| {
        let bytes = parts(p, m) + (p - 1) * m;
        if p.is_power_of_two() {
            return cost(2 * up(p), bytes, 2 * (m - m / p));
        }
        between(up(p) + 1, 3 * up(p), bytes)
    }),
    ("Broadcast(algorithm: ScatterRingAllGather)", |p, m| {
        let least = if p.is_power_of_two() { up(p) + p - 1 } else { p };
        between(least.min(up(p) + p - 1), up(p) + p - 1, parts(p, m) + (p - 1) * m)
    }),
    ("Broadcast(algorithm: Bine())", |p, m| broadcast(&bine(p, true), m, 0)),
    ("Broadcast(algorithm: Bine(distances: Doubling))", |p, m| broadcast(&bine(p, false), m, 0)),
    ("Broadcast(algorithm: BineScatterAllGather)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(2 * s + some, s * m / 2 + (q - 1) * m + r * m, 2 * (m - m / q) + some * m)
    }),
    ("Reduce(algorithm: Linear)", |p, m| cost(u64::from(p > 1), (p - 1) * m, if p > 1 { m } else { 0 })),
    ("Reduce(algorithm: LinearNonBlocking)", |p, m| cost(u64::from(p > 1), (p - 1) * m, if p > 1 { m } else { 0 })),
    ("Reduce(algorithm: Chain(chains: 3, segment: \"128 B\"))", |p, m| reduce(&chains(p, 3), 0, m, 128)),
    ("Reduce(algorithm: Pipeline(segment: \"128 B\"))", |p, m| reduce(&chains(p, 1), 0, m, 128)),
    ("Reduce(algorithm: Binary())", |p, m| reduce(&levels(p, 2), 0, m, 0)),
    ("Reduce(algorithm: InOrderBinary())", |p, m| {
        let tree = reduce(&in_order(p), p as usize - 1, m, 0);
        let more = u64::from(p > 1);
        cost(tree.rounds[0] + more, (p - 1 + more) * m, tree.chain.expect("a chain") + more * m)
    }),
    ("Reduce(algorithm: Kary(radix: 3))", |p, m| reduce(&complete(p, 3), 0, m, 0)),
    ("Reduce(algorithm: Knomial())", |p, m| reduce(&nomial(p, 4, true), 0, m, 0)),
    ("Reduce(algorithm: Knomial(radix: 2, distances: Doubling, segment: \"128 B\"))", |p, m| {
        reduce(&nomial(p, 2, false), 0, m, 128)
    }),
    ("Reduce(algorithm: Rabenseifner)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(2 * s + 2 * some, (q - 1) * m + s * m / 2 + r * m * 3 / 2, 2 * (m - m / q) + some * m)
    }),
    ("Reduce(algorithm: ReduceScatterGather)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(2 * s + some, (q - 1) * m + s * m / 2 + r * m, 2 * (m - m / q) + some * m)
    }),
    ("Reduce(algorithm: Bine())", |p, m| reduce(&bine(p, true), 0, m, 0)),
    ("Reduce(algorithm: Bine(distances: Doubling, segment: \"128 B\"))", |p, m| reduce(&bine(p, false), 0, m, 128)),
    ("Reduce(algorithm: BineReduceScatterGather)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(2 * s + some, (q - 1) * m + s * m / 2 + r * m, 2 * (m - m / q) + some * m)
    }),
    ("AllReduce(algorithm: RecursiveDoubling)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(s + 2 * some, (q * s + 2 * r) * m, (s + 2 * some) * m)
    }),
    ("AllReduce(algorithm: Linear)", |p, m| {
        let some = u64::from(p > 1);
        cost(some + p - 1, 2 * (p - 1) * m, 2 * some * m)
    }),
    ("AllReduce(algorithm: LinearBinomial)", |p, m| rounds(u64::from(p > 1) + up(p), 2 * (p - 1) * m)),
    ("AllReduce(algorithm: Ring)", |p, m| rounds(2 * (p - 1), 2 * (p - 1) * m)),
    ("AllReduce(algorithm: SegmentedRing(segment: \"128 B\"))", |p, m| {
        let phases = m.div_ceil(p).div_ceil(128);
        rounds((phases + 1) * (p - 1), 2 * (p - 1) * m)
    }),
    ("AllReduce(algorithm: Rabenseifner)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(2 * s + 3 * some, 2 * (q - 1) * m + r * m * 5 / 2, 2 * (m - m / q) + 2 * some * m)
    }),
    ("AllReduce(algorithm: RabenseifnerWhole)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(2 * s + 2 * some, 2 * (q - 1) * m + 2 * r * m, 2 * (m - m / q) + 2 * some * m)
    }),
    ("AllReduce(algorithm: RecursiveMultiplying(radix: 3))", |p, m| multiplying(p, 3, m)),
    ("AllReduce(algorithm: RecursiveMultiplying(radix: 4))", |p, m| multiplying(p, 4, m)),
    ("AllReduce(algorithm: AllGatherReduce)", |p, m| cost(p - 1, p * (p - 1) * m, if p > 1 { m } else { 0 })),
    ("AllReduce(algorithm: Bine)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(s + 2 * some, (q * s + 2 * r) * m, (s + 2 * some) * m)
    }),
    ("AllReduce(algorithm: BineReduceScatterAllGather)", |p, m| {
        let (s, q, r, some) = core(p);
        cost(2 * s + 2 * some, 2 * (q - 1) * m + 2 * r * m, 2 * (m - m / q) + 2 * some * m)
    }),
    ("ReduceScatter(algorithm: RecursiveHalving)", |p, b| {
        let (s, q, r, some) = core(p);
        rounds(s + 2 * some, (q - 1) * p * b + r * (p + 1) * b)
    }),
    ("ReduceScatter(algorithm: RecursiveDistanceDoubling)", |p, b| {
        let (s, q, r, some) = core(p);
        rounds(s + 2 * some, (q - 1) * p * b + r * (p + 1) * b)
    }),
    ("ReduceScatter(algorithm: Butterfly)", |p, b| {
        let (s, q, r, some) = core(p);
        let stay = palindromes(s);
        between(s + some, s + some + 2, (q - 1) * p * b + r * p * b + (p - stay) * b)
    }),
    ("ReduceScatter(algorithm: RecursiveDoubling)", |p, b| {
        let (s, q, r, some) = core(p);
        rounds(s + 2 * some, (q * s + 1 - q) * p * b + r * (p + 1) * b)
    }),
    ("ReduceScatter(algorithm: Ring)", |p, b| cost(p - 1, p * (p - 1) * b, (p - 1) * b)),
    ("ReduceScatter(algorithm: Pairwise)", |p, b| cost(p - 1, p * (p - 1) * b, (p - 1) * b)),
    ("ReduceScatter(algorithm: Linear)", |p, b| rounds(u64::from(p > 1) + p - 1, (p - 1) * p * b + (p - 1) * b)),
    ("ReduceScatter(algorithm: LinearNonBlocking)", |p, b| {
        rounds(u64::from(p > 1) + p - 1, (p - 1) * p * b + (p - 1) * b)
    }),
    ("ReduceScatter(algorithm: Bine())", |p, b| {
        let (s, q, r, some) = core(p);
        rounds(s + 2 * some, (q - 1) * p * b + r * (p + 1) * b)
    }),
    ("ReduceScatter(algorithm: Bine(remap: Blocks))", |p, b| {
        let (_, q, r, some) = core(p);
        rounds(q - 1 + 2 * some, (q - 1) * p * b + r * (p + 1) * b)
    }),
    ("Gather(algorithm: Linear)", |p, b| cost(u64::from(p > 1), (p - 1) * b, if p > 1 { b } else { 0 })),
    ("Gather(algorithm: LinearNonBlocking)", |p, b| cost(u64::from(p > 1), (p - 1) * b, if p > 1 { b } else { 0 })),
    ("Gather(algorithm: LinearSync())", |p, b| cost(if p > 1 { 2 * (p - 1) + 1 } else { 0 }, (p - 1) * b, (p - 1) * b)),
    ("Gather(algorithm: Knomial())", |p, b| gather(&nomial(p, 2, true), b)),
    ("Gather(algorithm: Knomial(radix: 3, distances: Doubling))", |p, b| gather(&nomial(p, 3, false), b)),
    ("Gather(algorithm: Bine())", |p, b| gather(&bine(p, true), b)),
    ("Gather(algorithm: Bine(distances: Doubling))", |p, b| gather(&bine(p, false), b)),
    ("Scatter(algorithm: Linear)", |p, b| rounds(p - 1, (p - 1) * b)),
    ("Scatter(algorithm: LinearNonBlocking)", |p, b| cost(p - 1, (p - 1) * b, if p > 1 { b } else { 0 })),
    ("Scatter(algorithm: Knomial())", |p, b| scatter(&nomial(p, 2, true), b)),
    ("Scatter(algorithm: Knomial(radix: 3, distances: Doubling))", |p, b| scatter(&nomial(p, 3, false), b)),
    ("Scatter(algorithm: Bine())", |p, b| scatter(&bine(p, true), b)),
    ("Scatter(algorithm: Bine(distances: Doubling))", |p, b| scatter(&bine(p, false), b)),
    ("AllGather(algorithm: RecursiveDoubling)", |p, b| {
        let most = if p.is_power_of_two() { up(p) } else { 2 * up(p) };
        between(up(p), most, p * (p - 1) * b)
    }),
    ("AllGather(algorithm: Bruck())", |p, b| cost(up(p), p * (p - 1) * b, (p - 1) * b)),
    ("AllGather(algorithm: Bruck(radix: 3))", |p, b| rounds(bruck(p, 3)[0], p * (p - 1) * b)),
    ("AllGather(algorithm: Ring)", |p, b| cost(p - 1, p * (p - 1) * b, (p - 1) * b)),
    ("AllGather(algorithm: NeighborExchange)", |p, b| {
        let even = p.is_multiple_of(2);
        cost(if even { p / 2 } else { p - 1 }, p * (p - 1) * b, (p - 1) * b)
    }),
    ("AllGather(algorithm: Sparbit)", |p, b| rounds(p - 1, p * (p - 1) * b)),
    ("AllGather(algorithm: DirectMessaging)", |p, b| cost(p - 1, p * (p - 1) * b, if p > 1 { b } else { 0 })),
    ("AllGather(algorithm: RecursiveDistanceHalving)", |p, b| {
        let (s, q, r, some) = core(p);
        rounds(s + 2 * some, (q - 1) * p * b + r * (p + 1) * b)
    }),
    ("AllGather(algorithm: Bine())", |p, b| {
        let (s, q, r, some) = core(p);
        rounds(s + 2 * some, (q - 1) * p * b + r * (p + 1) * b)
    }),
    ("AllGather(algorithm: Bine(remap: Blocks))", |p, b| {
        let (_, q, r, some) = core(p);
        rounds(q - 1 + 2 * some, (q - 1) * p * b + r * (p + 1) * b)
    }),
    ("AllGather(algorithm: BineAdjacent)", |p, b| {
        let (s, q, _, some) = core(p);
        let bytes = p.is_power_of_two().then_some((q - 1) * p * b);
        // Blocks that reach over the end of the ring are one more message, in any step but the first and the last.
        Cost { rounds: [s + some, 2 * s.max(1) - 1 + 2 * some], bytes, chain: None }
    }),
    ("AllToAll(algorithm: Pairwise)", |p, b| cost(p - 1, p * (p - 1) * b, (p - 1) * b)),
    ("AllToAll(algorithm: PairwiseExchange)", |p, b| cost(p - 1, p * (p - 1) * b, (p - 1) * b)),
    ("AllToAll(algorithm: Linear)", |p, b| cost(p - 1, p * (p - 1) * b, if p > 1 { b } else { 0 })),
    ("AllToAll(algorithm: LinearSync())", |p, b| cost(p - 1, p * (p - 1) * b, if p > 1 { b } else { 0 })),
    ("AllToAll(algorithm: LinearSync(outstanding: 2))", |p, b| between(p - 1, 2 * p, p * (p - 1) * b)),
    ("AllToAll(algorithm: Scattered(batch: 3))", |p, b| cost(p - 1, p * (p - 1) * b, (p - 1).div_ceil(3) * b)),
    ("AllToAll(algorithm: Bruck())", |p, b| rounds(up(p), p * bruck(p, 2)[1] * b)),
    ("AllToAll(algorithm: Bruck(radix: 4))", |p, b| rounds(bruck(p, 4)[0], p * bruck(p, 4)[1] * b)),
    ("AllToAll(algorithm: Bine)", |p, b| {
        let (s, _, _, some) = core(p);
        let bytes = p.is_power_of_two().then_some(p * p / 2 * s * b);
        Cost { rounds: [s + 2 * some; 2], bytes, chain: None }
    }),
    ("Barrier(algorithm: Linear)", |p, _| rounds(u64::from(p > 1) + p - 1, 0)),
    ("Barrier(algorithm: DoubleRing)", |p, _| rounds(if p > 1 { 2 * p } else { 0 }, 0)),
    ("Barrier(algorithm: RecursiveDoubling)", |p, _| {
        let (s, _, _, some) = core(p);
        rounds(s + 2 * some, 0)
    }),
    ("Barrier(algorithm: Bruck())", |p, _| rounds(up(p), 0)),
    ("Barrier(algorithm: Bruck(radix: 3))", |p, _| rounds(bruck(p, 3)[0], 0)),
    ("Barrier(algorithm: BinomialTree)", |p, _| rounds(depth(&nomial(p, 2, true), 0) + up(p), 0)),
];

/// The time of an operation in nanoseconds, and the bytes that all ranks send.
fn measured(
    machine: &Machine,
    topology: Topology,
    operation: &CollectiveOperation,
    ranks: u32,
    bytes: u64,
) -> [u64; 2] {
    let sent = Rc::new(Cell::new(0));
    let program = {
        let (sent, operation) = (Rc::clone(&sent), operation.clone());
        move |me: Process| {
            let (sent, operation) = (Rc::clone(&sent), operation.clone());
            async move {
                operation.run(&me, 0, bytes, None).await;
                sent.set(sent.get() + me.tally().message_bytes);
            }
        }
    };
    let trace = run_on(machine, topology, ranks, &program);
    [trace.makespan.ps() / 1000, sent.get()]
}

/// The ideal machine where a message takes its sender so many nanoseconds and its links so many for a byte.
fn with_costs(start_ns: u64, byte_ns: u64) -> Machine {
    let mut machine = ideal("hypercube");
    machine.nodes.sending.per_packet = SimDuration::from_ps(1000 * start_ns);
    machine.network.links.per_byte = Some(PerByte::new(SimDuration::from_ps(1000 * byte_ns)));
    machine
}

#[test]
fn every_algorithm_has_the_rounds_and_bytes_of_its_definition() {
    let [starts, bytes_alone] = [with_costs(1, 0), with_costs(0, 1)];
    for (text, definition) in DEFINITIONS {
        let operation = operation(text);
        for ranks in (1..=9).chain([12, 15, 16, 17, 33, 64]) {
            for bytes in [512, 1536, 51_200] {
                let place = format!("{text}, {ranks} ranks, {bytes} B");
                let expected = definition(u64::from(ranks), bytes);
                let complete = || Topology::Complete { nodes: ranks };
                let [rounds, sent] = measured(&starts, complete(), &operation, ranks, bytes);
                let [least, most] = expected.rounds;
                assert!((least..=most).contains(&rounds), "{place}: {rounds} rounds, not {least} to {most}");
                if let Some(expected) = expected.bytes {
                    assert_eq!(sent, expected, "bytes of {place}");
                }
                if let Some(expected) = expected.chain {
                    let [chain, _] = measured(&bytes_alone, complete(), &operation, ranks, bytes);
                    assert_eq!(chain, expected, "chain of {place}");
                }
            }
        }
    }
}

/// Rounds α, and the longest chain β: each is a bound below, whatever the network; their sum is one above where nothing is
/// in the way.
#[test]
fn no_algorithm_is_faster_than_its_closed_form_without_contention() {
    const ALPHA: u64 = 100;
    const BETA: u64 = 2;
    let machine = with_costs(ALPHA, BETA);
    for (text, definition) in DEFINITIONS {
        let operation = operation(text);
        for (ranks, bytes) in [(16, 512), (13, 1536), (16, 51_200)] {
            let Cost { rounds: [least, most], chain, .. } = definition(u64::from(ranks), bytes);
            let bound = (least * ALPHA).max(chain.unwrap_or(0) * BETA);
            for name in parsim::network::topology::NAMES {
                let nodes = if name == "binary-tree" { ranks * 2 - 1 } else { ranks };
                let Ok(topology) = Topology::from_name(name, nodes) else { continue };
                let [time, _] = measured(&machine, topology, &operation, ranks, bytes);
                assert!(time >= bound, "{text} on {name}, {ranks} ranks, {bytes} B: {time} ns, not {bound} ns");
            }
            if let Some(chain) = chain {
                let complete = Topology::Complete { nodes: ranks };
                let [time, _] = measured(&machine, complete, &operation, ranks, bytes);
                let bound = most * ALPHA + chain * BETA;
                assert!(time <= bound, "{text}, {ranks} ranks, {bytes} B: {time} ns, not {bound} ns");
            }
        }
    }
}

/// On nodes with several ranks the group of a hierarchical operation is the node, and only leaders send between nodes.
#[test]
fn hierarchical_operations_cross_between_nodes_as_their_leaders_do() {
    for (text, crossing) in [
        ("Broadcast(algorithm: Hierarchical(between: Binomial, within: Binomial))", 3),
        ("Reduce(algorithm: Hierarchical(within: Binomial, between: Binomial))", 3),
        ("AllReduce(algorithm: Hierarchical(reduce: Binomial, between: RecursiveDoubling, broadcast: Binomial))", 8),
        ("Gather(algorithm: Hierarchical(within: Linear, between: Linear))", 12),
        ("AllGather(algorithm: Hierarchical(gather: Linear, between: Ring, broadcast: Binomial))", 4 * 12),
    ] {
        let operation = operation(text);
        let crossed = Rc::new(Cell::new(0));
        let program = {
            let (crossed, operation) = (Rc::clone(&crossed), operation.clone());
            move |me: Process| {
                let (crossed, operation) = (Rc::clone(&crossed), operation.clone());
                async move {
                    operation.run(&me, 5, 100, None).await;
                    crossed.set(crossed.get() + me.tally().exchanged_bytes);
                }
            }
        };
        let machine = with_costs(100, 2);
        let network = Network { topology: Topology::Complete { nodes: 4 }, ..machine.network.clone() };
        let machine = Machine { network, ..machine };
        let nodes = (0..16).map(|rank| rank % 4).collect();
        let allocation = Allocation::new(&machine, 16).placement(Placement::Explicit(nodes));
        Simulation::on(&allocation).expect("a sound machine").run(&program).expect("a run that ends");
        assert_eq!(crossed.get(), crossing * 100, "{text}");
    }
}

/// The operations on a torus with given sides, and their rounds and bytes with m bytes.
fn on_torus(sides: &[u32], ports: u64, m: u64) -> Vec<(String, u64, u64)> {
    let p: u64 = sides.iter().map(|side| u64::from(*side)).product();
    let (s, rings) = (up(p), sides.iter().map(|side| u64::from(*side) - 1).sum::<u64>());
    let all = [
        ("AllReduce(algorithm: TorusDoubling", s * ports, p * s * m),
        ("AllReduce(algorithm: TorusHalving", 2 * s * ports, 2 * (p - 1) * m),
        ("AllReduce(algorithm: TorusRings", 2 * rings * ports, 2 * (p - 1) * m),
        ("ReduceScatter(algorithm: ByDimensions", s * ports, p * (p - 1) * m),
        ("AllGather(algorithm: ByDimensions", s * ports, p * (p - 1) * m),
        ("Broadcast(algorithm: TorusTree", s * ports, (p - 1) * m),
        ("Broadcast(algorithm: TorusScatterAllGather", 0, (p - 1) * m + s * m / 2),
        ("Reduce(algorithm: TorusTree", 0, (p - 1) * m),
        ("Reduce(algorithm: TorusReduceScatterGather", 0, (p - 1) * m + s * m / 2),
        ("Gather(algorithm: TorusTree", 0, p * s * m / 2),
        ("Scatter(algorithm: TorusTree", 0, p * s * m / 2),
        ("AllGather(algorithm: TorusRings", rings * ports, p * (p - 1) * m),
        ("ReduceScatter(algorithm: TorusRings", rings * ports, p * (p - 1) * m),
    ];
    all.into_iter()
        .flat_map(|(name, rounds, bytes)| {
            let more: &[&str] = match name {
                "Gather(algorithm: TorusTree" | "Scatter(algorithm: TorusTree" => {
                    &[", distances: Doubling", ", numbers: Binary", ""]
                }
                "AllGather(algorithm: ByDimensions" => &[", remap: Permute", ", remap: Send", ""],
                _ if name.contains("Rings") || name.contains("TorusScatterAllGather") => &[""],
                _ => &[", numbers: Binary", ""],
            };
            more.iter()
                .map(move |more| (format!("{name}(shape: {sides:?}, ports: {ports}{more}))"), rounds, bytes))
                .filter(|(text, ..)| !text.contains("Send"))
        })
        .collect()
}

#[test]
fn algorithms_for_a_torus_go_through_its_dimensions() {
    let mut machine = ideal("hypercube");
    let starts = with_costs(1, 0);
    for sides in [&[8][..], &[4, 4], &[2, 8], &[2, 4, 2], &[4, 4, 4]] {
        let ranks: u32 = sides.iter().product();
        for ports in [1, 2, 3, 6] {
            for (text, rounds, bytes) in on_torus(sides, ports, 49_152) {
                let operation = operation(&text);
                assert_eq!(operation.fault(ranks), None, "{text}");
                assert!(operation.fault(ranks + 1).is_some(), "{text}");
                for (root, count, sends) in
                    [(0, 64, Sends::UntilInjected), (ranks - 1, 5, Sends::Rendezvous), (ranks / 3, 0, Sends::Buffered)]
                {
                    machine.sends = sends;
                    let expected: Vec<_> =
                        (0..ranks).map(|rank| output(&operation, rank, root, ranks, count)).collect();
                    assert_eq!(moved(&machine, &operation, root, ranks, count), expected, "{text}, root {root}");
                }
                let complete = Topology::Complete { nodes: ranks };
                let [time, sent] = measured(&starts, complete, &operation, ranks, 49_152);
                assert_eq!(sent, bytes, "{text}");
                assert!(rounds == 0 || time == rounds, "{text}: {time} rounds, not {rounds}");
            }
        }
    }
}
