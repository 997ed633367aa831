//! A random scenario: a plain one, and what is different about it.

use super::actions::{self, Action};
use super::dice::Dice;
use super::{machines, mistakes, places, programs};
use std::collections::BTreeMap;

/// A scenario as the fields in which it differs from the plainest one, so that a failing one is made smaller by taking
/// differences away.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub ranks: u32,
    /// Replacements for fields of `PLAIN`, by name.
    pub fields: BTreeMap<&'static str, String>,
    /// The actions of a program in steps; such a program stands in the scenario where there are any.
    pub actions: Vec<Action>,
    /// True if something in it cannot be, most likely.
    pub is_mistaken: bool,
}

/// The plainest scenario, field by field.
const PLAIN: &[(&str, &str)] = &[
    ("processor", "Rate(inner_iteration: \"2 us\")"),
    ("sending", "Sending(per_packet: \"10 us\", per_byte: \"0 us/B\", per_hop: \"0 us\", overlap: false)"),
    ("forwarding", "Forwarding()"),
    ("receiving", "Receiving(per_packet: \"3 us\", per_byte: \"0 us/B\")"),
    ("router", "Software"),
    ("routing_software", "Routing(per_packet: \"1 us\")"),
    ("router_turn", "AtOnce"),
    ("time_slice", "\"1 ms\""),
    ("dma_per_word", "\"0 us\""),
    ("acknowledging", "Acknowledging(bytes: \"0 B\", per_hop: \"0 us\")"),
    ("interface", "None"),
    ("node_levels", "[]"),
    ("noise", "Quiet"),
    ("detours", "[]"),
    ("topology", "Complete(nodes: 12)"),
    ("routing", "ShortestPath(Lowest)"),
    ("switching", "StoreAndForward(packet: \"100 B\")"),
    ("links", "Link(per_byte: \"100 ns/B\", start: \"0 us\", buffers: Unbounded)"),
    ("end_links", "None"),
    ("virtual_channels", "AsNeeded"),
    ("contention", "FirstComeFirstServed"),
    ("link_overrides", "[]"),
    ("host_node", "0"),
    ("input", "Linear(start: \"5 us\", per_byte: \"1 us/B\")"),
    ("output", "Linear(start: \"0 us\", per_byte: \"0 us/B\")"),
    ("sends", "UntilInjected"),
    ("levels", "[]"),
    ("node_overrides", "[]"),
    ("partition", "Whole"),
    ("placement", "RowMajor"),
    ("program", "Phases(steps: [])"),
    ("seed", "1"),
];

const TEXT: &str = r#"Scenario(
    machine: Machine(
        name: "sample",
        nodes: Node(
            processor: <processor>,
            memory: "1 GiB",
            sending: <sending>,
            receiving: <receiving>,
            router: <router>,
            forwarding: <forwarding>,
            routing: <routing_software>,
            router_turn: <router_turn>,
            time_slice: <time_slice>,
            dma_per_word: <dma_per_word>,
            acknowledging: <acknowledging>,
            interface: <interface>,
            levels: <node_levels>,
            noise: <noise>,
            detours: <detours>,
        ),
        network: Network(
            topology: <topology>,
            routing: <routing>,
            switching: <switching>,
            links: <links>,
            end_links: <end_links>,
            virtual_channels: <virtual_channels>,
            contention: <contention>,
            overrides: <link_overrides>,
        ),
        host: Host(node: <host_node>, input: <input>, output: <output>),
        sends: <sends>,
        levels: <levels>,
        overrides: <node_overrides>,
    ),
    ranks: <ranks>,
    partition: <partition>,
    placement: <placement>,
    program: <program>,
    seed: <seed>,
    limits: Limits(simulated: "5000 h", events: 100000),
)
"#;

impl Sample {
    /// The sample with a number, always the same.
    pub fn new(number: u64) -> Self {
        let mut dice = Dice::new(number);
        let mut sample = Self { ranks: 1, fields: BTreeMap::new(), actions: Vec::new(), is_mistaken: false };
        let part = places::draw(&mut dice, &mut sample);
        machines::draw(&mut dice, &mut sample, &part);
        if dice.once_in(2) {
            sample.actions = actions::draw(&mut dice, sample.ranks, sample.sends_wait());
        } else {
            programs::draw(&mut dice, &mut sample, &part);
        }
        if dice.once_in(25) {
            mistakes::make(&mut dice, &mut sample);
        }
        sample
    }

    pub fn set(&mut self, field: &'static str, value: impl Into<String>) {
        assert!(PLAIN.iter().any(|(name, _)| *name == field), "there is no field {field}");
        self.fields.insert(field, value.into());
    }

    /// The content of a field.
    pub fn field(&self, name: &str) -> &str {
        let plain = || PLAIN.iter().find(|(field, _)| *field == name).map_or("", |(_, value)| *value);
        self.fields.get(name).map_or_else(plain, String::as_str)
    }

    /// True if sends may wait for their receives, be it because their data do.
    pub fn sends_wait(&self) -> bool {
        let (sends, interface) = (self.field("sends"), self.field("interface"));
        let data_wait = interface.contains("WhenMatched") || interface.contains("OnRequest");
        sends == "Rendezvous" || sends.starts_with("Eager") || data_wait && sends != "Buffered"
    }

    /// The scenario as a file has it.
    pub fn ron(&self) -> String {
        let text = TEXT.replace("<ranks>", &self.ranks.to_string());
        let program = actions::program(&self.actions);
        let text = if self.actions.is_empty() { text } else { text.replace("<program>", &program) };
        PLAIN.iter().fold(text, |text, (name, _)| text.replace(&format!("<{name}>"), self.field(name)))
    }

    fn without_last_rank(&self) -> Self {
        let mut sample = Self { ranks: self.ranks - 1, ..self.clone() };
        if let Some((others, _)) = self.field("placement").rsplit_once(", ") {
            sample.set("placement", format!("{others}])"));
        }
        sample
    }

    /// Samples that are smaller by one thing each.
    pub fn smaller(&self) -> Vec<Self> {
        let mut smaller = Vec::new();
        if self.ranks > 1 {
            smaller.push(self.without_last_rank());
        }
        for field in self.fields.keys() {
            let mut sample = self.clone();
            sample.fields.remove(field);
            smaller.push(sample);
        }
        smaller.extend(
            actions::smaller(&self.actions)
                .into_iter()
                .filter(|actions| !actions.is_empty())
                .map(|actions| Self { actions, ..self.clone() }),
        );
        smaller
    }
}
