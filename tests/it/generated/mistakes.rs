//! Mistakes that a check finds: in the file and through the Rust API with the same words.

use super::dice::Dice;
use super::sample::Sample;

/// Fields with content that reads well and cannot be.
const MISTAKES: &[(&str, &str)] = &[
    ("host_node", "999"),
    ("placement", "Explicit([0, 99])"),
    ("placement", "Packed(ranks_per_node: 0)"),
    ("placement", "Apart(hops: 0)"),
    ("partition", "Shape(rows: 7, columns: 77)"),
    ("topology", "Ring(nodes: 0)"),
    ("topology", "Torus2d(rows: 4, columns: 0)"),
    ("topology", "FatTree(arity: 1, levels: 3)"),
    ("topology", "Graph(nodes: 4, switches: 0, links: [(0, 1), (2, 3)])"),
    ("topology", "Graph(nodes: 2, switches: 0, links: [(0, 5)])"),
    ("switching", "StoreAndForward(packet: \"0 B\")"),
    ("switching", "CutThrough(packet: \"16 B\", header: \"17 B\")"),
    ("switching", "Wormhole(packet: \"16 B\", flit: \"4 B\", buffer: 0, lanes: 1)"),
    ("switching", "Wormhole(packet: \"16 B\", flit: \"0 B\", buffer: 1, lanes: 1)"),
    ("links", "Link(start: \"0 us\", buffers: Unbounded)"),
    ("links", "Link(per_byte: \"100 ns/B\", buffers: Packets(0))"),
    ("routing", "Table([Signpost(at: 0, to: 99, next: 1)])"),
    ("link_overrides", "[LinkSpeed(from: 0, to: 99, per_byte: \"1 us/B\")]"),
    ("link_overrides", "[LinkFailed(from: 0, to: 0)]"),
    ("node_overrides", "[NodeSpeed(nodes: [0], factor: -1.0)]"),
    ("node_overrides", "[NodeSpeed(nodes: [99], factor: 2.0)]"),
    ("noise", "Uniform(1.5)"),
    ("detours", "[Detour(every: \"10 us\", takes: \"10 us\")]"),
    ("detours", "[Detour(every: \"1 ns\", takes: \"0 ns\")]"),
    ("noise", "Normal(-0.1)"),
    ("time_slice", "\"0 us\""),
    ("node_levels", "[Level(name: \"node\", members: 0)]"),
    ("levels", "[Level(name: \"region\", members: 0)]"),
    ("processor", "FlopRate(\"0 flop/s\")"),
    ("program", "Summa(n: 0, panel: 1)"),
    ("program", "Fft2d(n: 12, all_to_all: Pairwise)"),
    ("program", "Phases(steps: [Send(to: \"rank\", bytes: \"1 B\"), Compute(flops: \"unknown\")])"),
    ("program", "Phases(steps: [Receive(from: Any)])"),
    ("program", "Phases(steps: [Repeat(times: \"0 - 1\", steps: [Compute(flops: \"1\")])])"),
    ("program", "GaussJordan(n: 100000, broadcast: Binomial)"),
];

/// Makes one of the mistakes; which of them are mistakes depends on the rest.
pub fn make(dice: &mut Dice, sample: &mut Sample) {
    sample.is_mistaken = true;
    if dice.once_in(10) {
        sample.ranks += 1000;
        return;
    }
    let (field, content) = dice.one_of(MISTAKES);
    sample.set(field, content);
    if field == "program" {
        sample.actions.clear();
    }
}
