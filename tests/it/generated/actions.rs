//! Random programs in steps, whose actions could happen one after the other: they end under every kind of send.
//!
//! Messages carry numbers. A receiver that gets another number than its turn says fails, so that no message may
//! overtake another one of the same sender, receiver and tag.

use super::dice::Dice;

/// The next action.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Compute {
        rank: u32,
        flops: u32,
        rows: u32,
    },
    /// Messages of these lengths, one after the other.
    Send {
        from: u32,
        to: u32,
        tag: u32,
        bytes: Vec<u32>,
    },
    /// Messages under way together while both ranks compute, awaited each by a name of its own, or as they come.
    Requests {
        from: u32,
        to: u32,
        tag: u32,
        bytes: Vec<u32>,
        any: bool,
    },
    /// A computation of a rank for a random time.
    Draw {
        rank: u32,
        from: &'static str,
    },
    /// A collective operation among ranks of even, and among those of odd number.
    Grouped {
        operation: &'static str,
        bytes: u32,
    },
    /// Two collective operations in progress while messages, work and a third one go on.
    Started {
        operation: &'static str,
        bytes: u32,
        with: &'static str,
    },
    /// Two messages with different tags, the second of which is received first: not where a send waits for its receive.
    Swapped {
        from: u32,
        to: u32,
        bytes: Vec<u32>,
    },
    /// A message of every other rank, received in any order, and a barrier: else the next message of a fast rank could
    /// be taken for one of this gathering.
    Gather {
        to: u32,
        bytes: u32,
    },
    /// Messages until one says that it is the last.
    CountDown {
        from: u32,
        to: u32,
        count: u32,
    },
    Exchange {
        with: &'static str,
        bytes: u32,
    },
    Collective {
        operation: &'static str,
        bytes: u32,
        root: u32,
    },
    Input {
        bytes: u32,
    },
    Output {
        bytes: u32,
    },
    Repeat {
        times: u32,
        actions: Vec<Action>,
    },
}

/// Collective operations for any number of ranks, and for powers of two.
pub const COLLECTIVES: &[&str] = &[
    "Broadcast(algorithm: Binomial)",
    "Broadcast(algorithm: Naive(order: Ascending, sends: Concurrent))",
    "Broadcast(algorithm: Neighbour(sends: Sequential, forward: PerPacket, first: Trunk))",
    "Broadcast(algorithm: Pipelined(segment: \"33 B\"))",
    "Reduce(algorithm: Naive)",
    "Reduce(algorithm: Binomial)",
    "AllReduce(algorithm: Ring)",
    "AllReduce(algorithm: ReduceBroadcast)",
    "ReduceScatter(algorithm: Ring)",
    "ReduceScatter(algorithm: Pairwise)",
    "Scatter(algorithm: Naive)",
    "Scatter(algorithm: Binomial)",
    "Gather(algorithm: Naive)",
    "Gather(algorithm: Binomial)",
    "AllGather(algorithm: Ring)",
    "AllGather(algorithm: Torus)",
    "AllToAll(algorithm: Pairwise)",
    "AllToAll(algorithm: Torus)",
    "Barrier(algorithm: Ideal)",
    "Barrier(algorithm: Tree)",
    "Barrier(algorithm: Dissemination)",
    "Scan(algorithm: Chain)",
    "Scan(algorithm: RecursiveDoubling)",
];
pub const CUBE_COLLECTIVES: &[&str] = &[
    "Broadcast(algorithm: Hypercube)",
    "Reduce(algorithm: Hypercube)",
    "AllReduce(algorithm: RecursiveDoubling)",
    "AllReduce(algorithm: ReduceScatterAllGather)",
    "ReduceScatter(algorithm: RecursiveHalving)",
    "Scatter(algorithm: Hypercube)",
    "Gather(algorithm: Hypercube)",
    "AllGather(algorithm: RecursiveDoubling)",
    "AllToAll(algorithm: Hypercube)",
];

/// Collective operations for some of the ranks, whatever their number.
const GROUPED: &[&str] = &[
    "Broadcast(algorithm: Bine())",
    "Reduce(algorithm: Rabenseifner)",
    "AllReduce(algorithm: Rabenseifner)",
    "AllReduce(algorithm: Ring)",
    "AllGather(algorithm: Bruck())",
    "AllToAll(algorithm: LinearSync(outstanding: 2))",
    "Barrier(algorithm: RecursiveDoubling)",
];

/// Distributions of times in seconds.
const TIMES: &[&str] = &[
    "Uniform(from: \"0\", to: \"1e-4\")",
    "Exponential(mean: \"2e-5\")",
    "Gamma(shape: \"2\", mean: \"3e-5\")",
    "Bernoulli(probability: \"0.5\")",
];

/// Any collective operation of so many ranks.
pub fn collective(dice: &mut Dice, ranks: u32) -> &'static str {
    let is_cube = ranks.is_power_of_two() && dice.once_in(3);
    dice.one_of(if is_cube { CUBE_COLLECTIVES } else { COLLECTIVES })
}

/// The field of the root of an operation, if it has one.
pub fn root_field(operation: &str, root: &str) -> String {
    let has_root = ["Broadcast", "Reduce(", "Scatter", "Gather"].iter().any(|name| operation.starts_with(name));
    if has_root { format!(", root: {root}") } else { String::new() }
}

/// Up to a dozen actions of so many ranks.
pub fn draw(dice: &mut Dice, ranks: u32, sends_wait: bool) -> Vec<Action> {
    let count = dice.between(1, 12);
    (0..count).map(|_| action(dice, ranks, sends_wait, 2)).collect()
}

fn action(dice: &mut Dice, ranks: u32, sends_wait: bool, depth: u32) -> Action {
    let rank = dice.between(0, ranks - 1);
    let bytes = length(dice);
    match dice.between(1, 20) {
        1 | 2 => Action::Compute { rank, flops: dice.between(0, 2000), rows: dice.between(1, 9) },
        3 => Action::Input { bytes },
        4 => Action::Output { bytes },
        5 | 6 => Action::Collective { operation: collective(dice, ranks), bytes, root: rank },
        17 => Action::Draw { rank, from: dice.one_of(TIMES) },
        18 => Action::Grouped { operation: dice.one_of(GROUPED), bytes },
        20 => Action::Started { operation: dice.one_of(GROUPED), bytes, with: neighbours(dice) },
        7 => Action::Exchange { with: neighbours(dice), bytes },
        8 if depth > 0 => {
            let actions = (0..dice.between(1, 3)).map(|_| action(dice, ranks, sends_wait, depth - 1)).collect();
            Action::Repeat { times: dice.between(0, 3), actions }
        }
        _ if ranks == 1 => Action::Compute { rank, flops: 100, rows: 1 },
        choice => {
            let to = (rank + dice.between(1, ranks - 1)) % ranks;
            let lengths = |dice: &mut Dice, count| (0..count).map(|_| length(dice)).collect::<Vec<_>>();
            match choice {
                9 => Action::Gather { to, bytes },
                10 => Action::CountDown { from: rank, to, count: dice.between(1, 4) },
                11 if !sends_wait => Action::Swapped { from: rank, to, bytes: lengths(dice, 2) },
                15 | 16 | 19 => {
                    let (tag, count, any) = (dice.between(0, 2), dice.between(1, 4), dice.once_in(3));
                    Action::Requests { from: rank, to, tag, bytes: lengths(dice, count), any }
                }
                _ => {
                    let (tag, count) = (dice.between(0, 2), dice.between(1, 4));
                    Action::Send { from: rank, to, tag, bytes: lengths(dice, count) }
                }
            }
        }
    }
}

fn length(dice: &mut Dice) -> u32 {
    if dice.once_in(4) { dice.between(300, 3000) } else { dice.between(0, 300) }
}

fn neighbours(dice: &mut Dice) -> &'static str {
    dice.one_of(&[
        "Line",
        "Ring",
        "LeftAndRight",
        "AboveAndBelow",
        "Grid",
        "Torus",
        "Cartesian(shape: [0, 0, 0], periodic: [true, false, true])",
    ])
}

/// The program as a scenario has it.
pub fn program(actions: &[Action]) -> String {
    let groups = "communicators: {\"half\": (color: \"rank % 2\", key: \"-rank\")}";
    let functions = "functions: {\"work\": (parameters: [\"flops\"], steps: [Compute(flops: \"flops\")])}";
    format!("Phases({groups}, {functions}, steps: [\n{}    ])", steps(actions, "i"))
}

fn steps(actions: &[Action], index: &str) -> String {
    actions.iter().fold(String::new(), |text, action| text + &format!("        {},\n", step(action, index)))
}

/// A transfer of the host's rank, or, of an odd length, of every second one at the same time.
fn transfer(verb: &str, bytes: u32) -> String {
    let ranks = if bytes % 2 == 1 { "rank % 2 == 0" } else { "rank == host" };
    format!("When(condition: \"{ranks}\", then: [{verb}(bytes: \"{bytes} B\")])")
}

fn step(action: &Action, index: &str) -> String {
    match action {
        Action::Compute { rank, flops, rows } => on(*rank, &format!("Compute(flops: \"{flops}\", rows: \"{rows}\")")),
        Action::Input { bytes } => transfer("Input", *bytes),
        Action::Output { bytes } => transfer("Output", *bytes),
        Action::Exchange { with, bytes } => format!("Exchange(with: {with}, bytes: \"{bytes} B\")"),
        Action::Collective { operation, bytes, root } => {
            let root = root_field(operation, &format!("\"{root}\""));
            format!("Collective(operation: {operation}, bytes: \"{bytes} B\"{root})")
        }
        Action::Repeat { times, actions } => {
            let steps = steps(actions, &format!("{index}i"));
            format!("Repeat(times: \"{times}\", index: \"{index}\", steps: [\n{steps}        ])")
        }
        Action::Send { from, to, tag, bytes } => {
            let tags = vec![*tag; bytes.len()];
            let order: Vec<_> = (0..bytes.len()).collect();
            messages(*from, *to, &tags, bytes, &order)
        }
        Action::Requests { from, to, tag, bytes, any } => requests((*from, *to), *tag, bytes, *any),
        Action::Draw { rank, from } => on(
            *rank,
            &format!(
                "Draw(name: \"t\", from: {from}), Let(name: \"u\", value: \"t / 2\"), Compute(seconds: \"t + u\")"
            ),
        ),
        Action::Grouped { operation, bytes } => {
            format!("Collective(operation: {operation}, bytes: \"{bytes} B\", communicator: \"half\")")
        }
        Action::Started { operation, bytes, with } => started(operation, *bytes, with),
        Action::Swapped { from, to, bytes } => messages(*from, *to, &[7, 8], bytes, &[1, 0]),
        Action::Gather { to, bytes } => format!(
            "When(condition: \"rank == {to}\", then: [Repeat(times: \"p - 1\", steps: [Receive(from: Any, tag: \"9\")])], \
             otherwise: [Send(to: \"{to}\", bytes: \"{bytes} + rank B\", tag: \"9\")]), \
             Collective(operation: Barrier(algorithm: Ideal), bytes: \"0 B\")"
        ),
        Action::CountDown { from, to, count } => {
            let send = format!("Send(to: \"{to}\", bytes: \"8 B\", tag: \"10\", number: \"{count} - 1 - down\")");
            let receive = format!("Receive(from: \"{from}\", tag: \"10\")");
            let sender = format!("Repeat(times: \"{count}\", index: \"down\", steps: [{send}])");
            let receiver = format!("{receive}, While(condition: \"number > 0\", steps: [{receive}])");
            format!("{}, {}", on(*from, &sender), on(*to, &receiver))
        }
    }
}

fn on(rank: u32, steps: &str) -> String {
    format!("When(condition: \"rank == {rank}\", then: [{steps}])")
}

/// Collective operations of the ranks of even or odd number, and of all, that are in progress together.
fn started(operation: &str, bytes: u32, with: &str) -> String {
    let half = ", communicator: \"half\"";
    let [start, then] = [(bytes, half), (90, "")]
        .map(|(bytes, of)| format!("Icollective(operation: {operation}, bytes: \"{bytes} B\", request: \"c\"{of})"));
    format!(
        "{start}, {then}, Call(function: \"work\", arguments: {{\"flops\": \"9 * rank\"}}), Exchange(with: {with}, bytes: \"40 B\"), \
         Collective(operation: {operation}, bytes: \"70 B\"{half}), Waitany(request: \"c\"), Wait(request: \"c\")"
    )
}

/// Messages that are under way together; those that are awaited by name must be the ones whose turn it is.
fn requests((from, to): (u32, u32), tag: u32, bytes: &[u32], any: bool) -> String {
    let work = "Call(function: \"work\", arguments: {\"flops\": \"70\"})";
    let name = |number: usize| if any { "r".to_owned() } else { format!("r{number}") };
    let send = |(number, bytes): (usize, &u32)| {
        format!("Isend(to: \"{to}\", bytes: \"{bytes} B\", tag: \"{tag}\", number: \"{number}\", request: \"s\"), ")
    };
    let receive = |number| format!("Irecv(from: \"{from}\", tag: \"{tag}\", request: \"{}\"), ", name(number));
    let check = |number| format!("When(condition: \"number != {number}\", then: [{OVERTAKEN}])");
    let wait = |number| {
        let in_turn = || format!("Wait(request: \"r{number}\"), {}, ", check(number));
        if any { "Waitany(request: \"r\"), ".to_owned() } else { in_turn() }
    };
    let sends: String = bytes.iter().enumerate().map(send).collect();
    let receives: String = (0..bytes.len()).map(receive).collect();
    let waits: String = (0..bytes.len()).map(wait).collect();
    let last = if any { "Waitall" } else { "Wait(request: \"s\")" };
    format!("{}, {}", on(from, &format!("{sends}{work}, {last}")), on(to, &format!("{receives}{work}, {waits}")))
}

/// A send to a rank that does not exist ends the run.
const OVERTAKEN: &str = "Phase(name: \"overtaken\", steps: [Send(to: \"p\", bytes: \"0 B\")])";

/// Messages that are received in an order of their own; each must be the one whose turn it is.
fn messages(from: u32, to: u32, tags: &[u32], bytes: &[u32], order: &[usize]) -> String {
    let send = |(number, (tag, bytes))| {
        format!("Send(to: \"{to}\", bytes: \"{bytes} B\", tag: \"{tag}\", number: \"{number}\"), ")
    };
    let sends: String = tags.iter().zip(bytes).enumerate().map(send).collect();
    let receive = |number: &usize| {
        let tag = tags[*number];
        let check = format!("When(condition: \"number != {number}\", then: [{OVERTAKEN}])");
        format!("Receive(from: \"{from}\", tag: \"{tag}\"), {check}, ")
    };
    let receives: String = order.iter().map(receive).collect();
    format!("{}, {}", on(from, &sends), on(to, &receives))
}

/// (from, to, bytes) of the messages that the actions name one by one.
pub fn named_messages(actions: &[Action]) -> Vec<(u32, u32, u64)> {
    actions.iter().flat_map(named).collect()
}

fn named(action: &Action) -> Vec<(u32, u32, u64)> {
    match action {
        Action::Send { from, to, bytes, .. }
        | Action::Swapped { from, to, bytes }
        | Action::Requests { from, to, bytes, .. } => {
            bytes.iter().map(|bytes| (*from, *to, u64::from(*bytes))).collect()
        }
        Action::CountDown { from, to, count } => vec![(*from, *to, 8); *count as usize],
        Action::Repeat { times, actions } => named_messages(actions).repeat(*times as usize),
        _ => Vec::new(),
    }
}

/// Programs that are smaller by one thing each.
pub fn smaller(actions: &[Action]) -> Vec<Vec<Action>> {
    let mut smaller = Vec::new();
    for (place, action) in actions.iter().enumerate() {
        let with = |replaced: &[Action]| [&actions[..place], replaced, &actions[place + 1..]].concat();
        smaller.push(with(&[]));
        match action {
            Action::Repeat { actions, .. } => smaller.push(with(actions)),
            Action::Send { from, to, tag, bytes } if bytes.len() > 1 => {
                let rest = |bytes: &[u32]| Action::Send { from: *from, to: *to, tag: *tag, bytes: bytes.to_vec() };
                smaller.extend([with(&[rest(&bytes[1..])]), with(&[rest(&bytes[..bytes.len() - 1])])]);
            }
            _ => {}
        }
    }
    smaller
}
