//! The shipped programs, small.

use super::actions;
use super::dice::Dice;
use super::places::Part;
use super::sample::Sample;

/// Draws a program that so many ranks can run.
pub fn draw(dice: &mut Dice, sample: &mut Sample, part: &Part) {
    let ranks = sample.ranks;
    let numerics = dice.one_of(&["true", "false"]);
    let n = dice.between(2, 14);
    let program = match dice.between(1, 17) {
        1 if ranks > 1 => format!("Ping(bytes: \"{} B\")", dice.between(0, 500)),
        2 => gauss_jordan(dice, ranks, numerics),
        3 => format!("Compute(module: {}, iterations: {n}, rows: 3)", dice.one_of(&["Rsub", "Flop", "Inv", "Buf"])),
        4 if sample.field("links").contains("protocol") => "LinkRate()".to_owned(),
        5 => {
            let order = dice.one_of(&["SendFirst", "EvenSendFirst", "Concurrent", "ReceiveFirst"]);
            format!("RingShift(bytes: \"{} B\", rounds: {}, order: {order})", dice.between(0, 400), dice.between(1, 3))
        }
        6 => {
            let (operation, bytes) = (actions::collective(dice, ranks), dice.between(0, 300));
            let root = actions::root_field(operation, &dice.between(0, ranks - 1).to_string());
            format!("Collective(operation: {operation}, bytes: \"{bytes} B\"{root})")
        }
        7 => characteristic(dice),
        8 => format!("DotProduct(n: {n}, all_reduce: {}, numerics: {numerics})", all_reduce(dice, ranks)),
        9 => format!("Summa(n: {n}, panel: {}, numerics: {numerics})", dice.between(1, 4)),
        10 => format!("Lu(n: {n}, block: {}, numerics: {numerics})", dice.between(1, 4)),
        11 => {
            let is_cube = ranks.is_power_of_two() && 16 % ranks == 0 && dice.once_in(2);
            let algorithm = if is_cube { "Hypercube" } else { "Pairwise" };
            format!("Fft2d(n: 16, all_to_all: {algorithm}, numerics: {numerics})")
        }
        12 => format!("Reduction(n: {n}, reduce: {}, numerics: {numerics})", dice.one_of(&["Naive", "Binomial"])),
        13 => {
            let decomposition = dice.one_of(&["Rows", "Blocks"]);
            format!("Floyd(n: {n}, decomposition: {decomposition}, numerics: {numerics})")
        }
        14 => format!("FiniteDifference(n: {}, iterations: 2, numerics: {numerics})", n.max(ranks)),
        15 if part.is_single
            && !sample.field("links").contains("0 us/B")
            && !sample.field("end_links").contains("0 us/B") =>
        {
            traffic(dice, ranks)
        }
        16 => ising(dice, ranks),
        _ => format!("Reduction(n: {n}, reduce: Binomial)"),
    };
    sample.set("program", program);
}

fn gauss_jordan(dice: &mut Dice, ranks: u32, numerics: &str) -> String {
    let cube = if ranks.is_power_of_two() { "Hypercube" } else { "Binomial" };
    let broadcast = dice.one_of(&[
        "Naive(order: Ascending, sends: Sequential)",
        "Naive(order: Descending, sends: Concurrent)",
        "Neighbour(sends: Sequential, forward: WholeMessage, first: Trunk)",
        "Neighbour(sends: Concurrent, forward: PerPacket, first: Branch)",
        "Binomial",
        "Pipelined(segment: \"40 B\")",
        cube,
    ]);
    let barrier = dice.one_of(&["Never", "Ideal", "Tree", "Dissemination"]);
    let distribution = dice.one_of(&["BlockRows", "CyclicRows", "BlockColumns"]);
    let n = dice.between(1, 20);
    format!(
        "GaussJordan(n: {n}, broadcast: {broadcast}, barrier: {barrier}, distribution: {distribution}, numerics: {numerics})"
    )
}

fn all_reduce(dice: &mut Dice, ranks: u32) -> &'static str {
    let all = ["Ring", "ReduceBroadcast", "RecursiveDoubling", "ReduceScatterAllGather"];
    dice.one_of(if ranks.is_power_of_two() { &all } else { &all[..2] })
}

fn characteristic(dice: &mut Dice) -> String {
    let application = dice.one_of(&[
        "ScalarProduct",
        "MatrixMultiplication",
        "LinearEquations",
        "Fft",
        "Fftw",
        "Dimensionless(x: 0.5, c: Some(2.0), d: Logarithmic, beta1: Root)",
    ]);
    let mode = dice.one_of(&["BulkSynchronous", "FreeRunning", "Overlapped"]);
    let (rounds, chunks) = (dice.between(1, 3), dice.between(1, 3));
    format!("Characteristic(application: {application}, n: 20, mode: {mode}, rounds: {rounds}, chunks: {chunks})")
}

fn traffic(dice: &mut Dice, ranks: u32) -> String {
    let cube = if ranks.is_power_of_two() { "Shuffle" } else { "Tornado" };
    let squares: &[&str] = if ranks.isqrt().pow(2) == ranks { &["Transpose", "News"] } else { &["Tornado"] };
    let rotated = format!("Permutation({:?})", (0..ranks).map(|node| (node + 1) % ranks).collect::<Vec<_>>());
    let square = dice.one_of(squares);
    let pattern = dice.one_of(&[
        "Uniform",
        "HotSpot(node: 0, share: 0.5)",
        "HotSpots(nodes: [0], share: 0.5)",
        "BitComplement",
        cube,
        square,
        &rotated,
    ]);
    let process = dice.one_of(&["Poisson", "Bernoulli"]);
    let offered = dice.one_of(&["0.05", "0.4", "1.0"]);
    format!(
        "Traffic(pattern: {pattern}, offered: {offered}, packet: \"16 B\", process: {process}, warm_up: \"20 us\", \
         measured: \"300 us\", drain: \"5 ms\")"
    )
}

fn ising(dice: &mut Dice, ranks: u32) -> String {
    let parallel = dice.one_of(&[
        "NullMessages",
        "TimeWarp(saving: Copy, gvt_every: \"1 ms\")",
        "TimeWarp(saving: Incremental, gvt_every: \"300 us\")",
    ]);
    let synchronisation = if ranks == 1 { "Sequential" } else { parallel };
    format!(
        "Ising(sub_lattice: {}, processes: {}, exchange: 0.22, attempts: 5, synchronisation: {synchronisation}, \
         costs: Costs(attempt: 4, update: 1, send: 1, receive: 1, rollback: 1, undo: 1, site: \"1 B\", message: \"32 B\"))",
        dice.between(2, 4),
        ranks.max(4)
    )
}
