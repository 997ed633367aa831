use crate::scenario::Plan;
use crate::scenario::source::Document;

/// Returns the faults of a scenario on the ideal hypercube, with their places.
fn faults(program: &str, settings: &[(&str, &str)]) -> Vec<String> {
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/test.ron");
    let text = format!(
        "Scenario(machine: File(\"machines/ideal-hypercube.ron\"), ranks: 4, placement: RowMajor, \
         program: {program}, seed: 1)"
    );
    let mut document = Document::from_text(name, &text).expect("a sound text");
    for (path, value) in settings {
        document.set(path, value).expect("a field that can be set");
    }
    let faults = Plan::new(document, &[]).and_then(|plan| plan.base());
    let list = faults.map_or_else(|faults| faults.list, |_| Vec::new());
    list.into_iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect()
}

const PING: &str = "Ping(bytes: \"1 B\")";

#[test]
fn impossible_topologies_are_refused_at_their_parameter() {
    let topology = |text| faults(PING, &[("machine.network.topology", text)]);
    assert_eq!(
        topology("Mesh3d(layers: 2, rows: 0, columns: 2)"),
        ["machine.network.topology.rows: `rows` is 0: it must be at least 1"]
    );
    assert_eq!(
        topology("CubeConnectedCycles(dimension: 2)"),
        ["machine.network.topology.dimension: `dimension` is 2: it must be at least 3"]
    );
    let graph = topology("Graph(nodes: 3, links: [(0, 1)])");
    assert!(graph.len() == 1 && graph[0].starts_with("machine.network.topology"), "{graph:?}");
    let shape = [("partition", "Shape(rows: 2, columns: 2)")];
    assert_eq!(faults(PING, &shape), ["partition: a hypercube of dimension 6 has no part that is a mesh"]);
    assert_eq!(faults(PING, &[]), Vec::<String>::new());
}

#[test]
fn impossible_levels_are_refused_at_their_parameter() {
    let levels = |text| faults(PING, &[("machine.nodes.levels", text)]);
    assert_eq!(
        levels("[Level(name: \"node\", members: 0)]"),
        ["machine.nodes.levels.0.members: the level `node` has no members"]
    );
    assert_eq!(
        levels("[Level(name: \"socket\", members: 65536), Level(name: \"node\", members: 65536)]"),
        ["machine.nodes.levels.1.members: a node would have 4294967296 cores"]
    );
    let two = ("machine.nodes.levels", "[Level(name: \"node\", members: 2)]");
    assert_eq!(
        faults(PING, &[two, ("placement", "Packed(ranks_per_node: 4)")]),
        ["placement.ranks_per_node: 4 ranks do not fit on the 2 cores of a node: a core has one rank"]
    );
    assert_eq!(faults(PING, &[two, ("placement", "Packed(ranks_per_node: 2)")]), Vec::<String>::new());
}

#[test]
fn algorithms_for_other_numbers_of_ranks_are_refused() {
    let all_to_all = "Collective(operation: AllToAll(algorithm: Hypercube), bytes: \"8 B\", root: 4)";
    let expected = [
        "program.operation: Hypercube needs a power of two as the number of ranks, not 3",
        "program.root: the root is rank 4, but there are 3 ranks",
        "program.root: AllToAll has no root",
    ];
    assert_eq!(faults(all_to_all, &[("ranks", "3")]), expected);
}

#[test]
fn traffic_needs_a_node_for_each_rank() {
    let traffic = "Traffic(pattern: Uniform, offered: 0.1, packet: \"16 B\", process: Poisson, warm_up: \"1 us\", \
                   measured: \"1 ms\", drain: \"1 ms\")";
    assert_eq!(
        faults(traffic, &[("placement", "Packed(ranks_per_node: 2)")]),
        ["placement: rank 1 is not the first on its node: traffic goes between nodes"]
    );
    assert_eq!(faults(traffic, &[]), Vec::<String>::new());
}

#[test]
fn steps_that_do_not_match_are_refused() {
    let steps = |steps: &str| faults(&format!("Phases(parameters: {{\"n\": 3}}, steps: [{steps}])"), &[]);
    assert_eq!(
        steps("Phase(name: \"pass\", steps: [Send(to: \"(rank + 1) % p\", bytes: \"n B\")]), Receive(from: 0)"),
        // The other ranks may continue as soon as rank 0 does.
        ["program.steps.1: rank 0, phase program: the receive of a message from rank 0 has no matching send"]
    );
    assert_eq!(steps("Compute(flops: \"m\")"), ["program.steps.0.flops: there is no `m` here"]);
    assert_eq!(
        steps("Repeat(times: 2, index: \"n\", steps: [])"),
        ["program.steps.0.index: `n` is already defined: the loop would shadow it"]
    );
    assert_eq!(
        steps("While(condition: \"n > 0\", steps: [Compute(flops: 1)])"),
        [
            "program.steps.0.condition: rank 0, phase program: repeats for ever: nothing that is received could change `n > 0`"
        ]
    );
    assert_eq!(
        steps("Send(to: \"rank + 1\", bytes: \"1 B\")"),
        ["program.steps.0.to: rank 3, phase program: sends to rank 4, but the ranks are 0 to 3"]
    );
    let barrier = "Collective(operation: Barrier(algorithm: Dissemination), bytes: \"0 B\")";
    assert_eq!(
        steps(&format!("Compute(flops: 1), When(condition: \"rank == 0\", then: [{barrier}])")),
        ["program.steps.1.then.0: rank 0 is in Barrier, ranks 1 to 3 are not"]
    );
    let unread = steps("Phase(name: \"a\", steps: [Send(to: \"(rank + 1) % p\", bytes: \"1 B\")])");
    assert_eq!(unread[0], "program.steps.0.steps.0: rank 3, phase a: a send to rank 0 without a matching receive");
    assert_eq!((unread.len(), unread[3].as_str()), (4, "program.steps.0.steps.0: and 1 more of this kind"));
    let exchanges = "Exchange(with: Torus, bytes: \"1 B\"), Exchange(with: Ring, bytes: \"1 B\"), \
                     Exchange(with: Grid, bytes: \"1 B\"), Exchange(with: Line, bytes: \"1 B\")";
    assert_eq!(steps(exchanges), Vec::<String>::new());
}

#[test]
fn sends_that_wait_for_each_other_are_refused_where_a_send_waits() {
    let steps = "Phases(steps: [Send(to: \"(rank + 1) % p\", bytes: \"1 B\"), Receive(from: \"(rank + p - 1) % p\")])";
    let circle = "program.steps.0: 4 ranks wait for each other in a cycle: rank 0 sends 1 B to rank 1, rank 1 sends 1 B to rank 2, \
                  rank 2 sends 1 B to rank 3, rank 3 sends 1 B to rank 0";
    assert_eq!(faults(steps, &[("machine.sends", "Rendezvous")]), [circle]);
    for sends in ["Buffered", "UntilInjected", "UntilDelivered"] {
        assert_eq!(faults(steps, &[("machine.sends", sends)]), Vec::<String>::new());
    }
}

#[test]
fn a_problem_that_grows_with_the_ranks_has_no_time_on_one() {
    let one_rank = |memory: &str| {
        let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/test.ron");
        let text = format!(
            "Scenario(machine: File(\"machines/ideal-hypercube.ron\"), ranks: 4, placement: RowMajor, seed: 1, \
             program: Phases(memory: \"{memory}\", steps: [Compute(seconds: \"1\")]))"
        );
        let plan = Plan::new(Document::from_text(name, &text).unwrap(), &[]).unwrap();
        plan.base().unwrap().scenario.on_one_rank().map(drop).map_err(|rejection| rejection.0[0].message.clone())
    };
    assert_eq!(one_rank("4096 / p B"), Ok(()));
    assert_eq!(one_rank("1024 + 4096 / p B"), Ok(()));
    let grows = "the program has 4096 B of data instead of 16384: its problem grows with the ranks";
    assert_eq!(one_rank("4096 B"), Err(grows.to_owned()));
}

/// Without data, the work decides: it is the same in total, or the same for each rank.
#[test]
fn work_that_grows_with_the_ranks_has_no_time_on_one() {
    let one_rank = |compute: &str| {
        let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/test.ron");
        let text = format!(
            "Scenario(machine: File(\"machines/ideal-hypercube.ron\"), ranks: 4, placement: RowMajor, seed: 1, \
             program: Phases(steps: [{compute}]))"
        );
        let plan = Plan::new(Document::from_text(name, &text).unwrap(), &[]).unwrap();
        plan.base().unwrap().scenario.on_one_rank().map(drop).map_err(|rejection| rejection.0[0].message.clone())
    };
    let grows = "the program has less to compute: its problem grows with the ranks";
    assert_eq!(one_rank("Compute(seconds: \"1\")"), Err(grows.to_owned()));
    assert_eq!(one_rank("Compute(flops: \"1000\"), Compute(seconds: \"0.2\")"), Err(grows.to_owned()));
    let fixed = "Compute(seconds: \"1 / p\")";
    for steps in [
        fixed,
        "Compute(seconds: \"0.1 + 1 / p\")",
        "Compute(flops: \"1000\"), Compute(seconds: \"4 / p\")",
        "Draw(name: \"x\", from: Exponential(mean: 1)), Compute(seconds: \"x\")",
        "Exchange(with: Ring, bytes: \"8 B\")",
    ] {
        assert_eq!(one_rank(steps), Ok(()), "{steps}");
    }
}
