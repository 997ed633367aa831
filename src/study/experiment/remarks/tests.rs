use super::*;
use crate::scenario::Plan;
use crate::scenario::source::Document;

/// Returns an exchange in a grid of 4 × 8 ranks with this placement, on nodes with `interfaces` interfaces
/// of 1 GB/s behind links of this rate.
fn exchange(placement: &str, (interfaces, rate): (u32, &str)) -> Document {
    let text = format!(
        r#"Scenario(
            machine: Machine(
                name: "two interfaces",
                nodes: Node(
                    processor: Unspecified, memory: "1 GiB", router: Hardware,
                    interface: Interface(overhead: "1 us", gap_per_byte: "1 GB/s", count: {interfaces}, progress: Offloaded),
                ),
                network: Network(
                    topology: FatTree(arity: 32, levels: 1), routing: UpDown, switching: CutThrough(packet: "2 KiB"),
                    links: Link(per_byte: "{rate}", latency: "1 us"), contention: FairFlows,
                ),
                sends: Buffered,
            ),
            ranks: 32, placement: {placement}, seed: 1,
            program: Phases(parameters: {{}}, steps: [Exchange(with: Grid, bytes: "8 B")]),
        )"#
    );
    Document::from_text("test.ron", &text).unwrap()
}

fn remarks_on(document: Document) -> Vec<String> {
    let plan = Plan::new(document, &[]).unwrap();
    Remarks::on([&*plan.base().unwrap().scenario]).all()
}

/// Returns the remarks on the [`exchange`].
fn remarks(placement: &str, interfaces: (u32, &str)) -> Vec<String> {
    remarks_on(exchange(placement, interfaces))
}

/// In a tree of one level, all links are between nodes and switches.
#[test]
fn links_that_describe_nothing_are_remarked() {
    for (levels, is_remarked) in [(1, true), (2, false)] {
        let mut document = exchange("RowMajor", (1, "1 GB/s"));
        document.set("machine.network.topology", &format!("FatTree(arity: 32, levels: {levels})")).unwrap();
        document.set("machine.network.end_links", "Link(per_byte: \"1 GB/s\")").unwrap();
        let remarks = remarks_on(document);
        assert_eq!(remarks.iter().any(|remark| remark.contains("describes no link")), is_remarked, "{remarks:?}");
    }
}

/// Queues without a limit do not tell a source of congestion further on.
#[test]
fn detours_by_queues_that_do_not_fill_are_remarked() {
    for (buffers, is_remarked) in [("Unbounded", true), ("Packets(8)", false)] {
        let mut document = exchange("RowMajor", (1, "1 GB/s"));
        for (field, value) in [("contention", "FirstComeFirstServed"), ("routing", "Ugal"), ("links.buffers", buffers)]
        {
            document.set(&format!("machine.network.{field}"), value).unwrap();
        }
        document
            .set(
                "machine.network.topology",
                "Dragonfly(groups: 9, routers: 4, nodes: 2, globals: 2, arrangement: Absolute)",
            )
            .unwrap();
        let remarks = remarks_on(document);
        assert_eq!(remarks.iter().any(|remark| remark.contains("`Ugal` compares")), is_remarked, "{remarks:?}");
    }
}

/// With `ByCore`, all background traffic of a node leaves by its first interface.
#[test]
fn background_traffic_above_what_an_interface_carries_is_remarked() {
    for (choice, is_remarked) in [("RoundRobin", false), ("ByCore", true)] {
        let mut document = exchange("RowMajor", (2, "4 GB/s"));
        document.set("machine.nodes.interface.choice", choice).unwrap();
        document.set("machine.network.topology", "FatTree(arity: 64, levels: 1)").unwrap();
        let nodes = (32..64).map(|node| node.to_string()).collect::<Vec<_>>().join(", ");
        let traffic = format!("(pattern: Uniform, bytes: \"4 KiB\", offered: \"1.5 GB/s\", nodes: [{nodes}])");
        document.set("partition", "Whole").unwrap();
        document.set("background", &traffic).unwrap();
        let remarks = remarks_on(document);
        assert_eq!(remarks.iter().any(|remark| remark.contains("offers an interface")), is_remarked, "{remarks:?}");
    }
}

#[test]
fn interfaces_behind_a_link_that_is_too_slow_for_them_are_remarked() {
    for (interfaces, rate, is_remarked) in [(2, "1 GB/s", true), (2, "2 GB/s", false), (1, "500 MB/s", false)] {
        let remarks = remarks("RowMajor", (interfaces, rate));
        let text = "the 2 interfaces of a node share its only link, which is as fast as 1.000 of them";
        assert_eq!(remarks.iter().any(|remark| remark.contains(text)), is_remarked, "{remarks:?}");
        assert_eq!(remarks.is_empty(), !is_remarked, "{remarks:?}");
    }
}

/// Uniform traffic between the 48 nodes without ranks puts 0.96 of what a node offers on the busiest link of 12.5 GB/s.
#[test]
fn background_traffic_above_the_bound_of_the_network_is_remarked() {
    for (offered, is_remarked) in [("12 GB/s", false), ("20 GB/s", true)] {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/background-traffic.ron");
        let mut document = Document::load(path).unwrap();
        document.set("background.offered", offered).unwrap();
        let remarks = remarks_on(document);
        let text = "background traffic alone offers a link 1.600 times what it carries";
        assert_eq!(remarks.iter().any(|remark| remark.contains(text)), is_remarked, "{remarks:?}");
    }
}

#[test]
fn blocks_of_another_grid_than_that_of_the_program_are_remarked() {
    let remarked = |placement: &str| {
        remarks(placement, (1, "1 GB/s")).into_iter().find(|remark| remark.contains("the program's grid"))
    };
    assert_eq!(remarked("GridBlocks(shape: [4, 8], block: [2, 4])"), None);
    for (shape, sides) in [("[8, 4]", "8 × 4"), ("[2, 4, 4]", "2 × 4 × 4")] {
        let placement = format!("GridBlocks(shape: {shape}, block: {})", shape.replace(['2', '4', '8'], "2"));
        let remark = remarked(&placement).unwrap();
        let text = format!("the program's grid of 4 × 8 ranks, and `GridBlocks` divides one of {sides}");
        assert!(remark.contains(&text) && remark.contains("`shape: [4, 8]`"), "{remark}");
    }
}
