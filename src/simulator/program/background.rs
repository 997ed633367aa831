//! Background traffic: messages of other users on the machine of a program.

use super::Program;
use crate::fault::Fault;
use crate::machine::{Layout, Machine, OfferedMessages, Pattern, nodes_in_use};
use crate::node::{Interface, InterfaceChoice, Progress, Router};
use crate::units::{Bytes, PerByte, SimDuration};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Messages that nodes send to each other in addition to a program, until the program ends, whether or not earlier
/// messages have been delivered.
///
/// The messages use processors (the first core of a node), interfaces and links like the messages of the program, and
/// are received as soon as they arrive. The times between the messages of a node are exponentially distributed. While
/// all ranks wait and none of their messages is in flight, as in a deadlock, no further message is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BackgroundTraffic {
    /// The senders and receivers, by their positions in `nodes`.
    pub pattern: Pattern,
    /// The length of a message.
    pub bytes: Bytes,
    /// The mean rate at which a node offers bytes, such as "100 MB/s", including messages to itself, which are not sent:
    /// with `Uniform` among k nodes, one message in k.
    pub offered: PerByte,
    /// The nodes that send and receive, out of those in use; all of them unless given, or if the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<u32>,
}

impl BackgroundTraffic {
    /// Returns the mean time between two messages of a node.
    #[must_use]
    pub fn interval(&self) -> SimDuration {
        self.offered.time(self.bytes.count())
    }

    /// Returns the messages that a node of `machine` offers.
    #[must_use]
    pub fn offered_messages(&self, machine: &Machine) -> OfferedMessages {
        let header = machine.nodes.interface.as_ref().map_or(0, |interface| interface.header.count());
        OfferedMessages { rate: self.offered, lengths: vec![(1.0, self.bytes.count())], header }
    }

    /// Returns the nodes that take part, out of `nodes` nodes in use.
    #[must_use]
    pub fn participants(&self, nodes: u32) -> Vec<u32> {
        if self.nodes.is_empty() { (0..nodes).collect() } else { self.nodes.clone() }
    }

    /// Returns all faults of this traffic beside `program`, whose ranks are placed by `layout`, on `machine`. Paths are
    /// those of a scenario.
    #[must_use]
    pub fn faults(&self, program: &dyn Program, machine: &Machine, layout: &Layout) -> Vec<Fault> {
        let nodes = layout.topology.nodes();
        let mut faults = self.node_faults(nodes);
        let mut fault = |path: &str, message: &str, help: &str| faults.push(Fault::new(path, message, help));
        if program.traffic().is_some() {
            let message = "a program that consists of traffic cannot have background traffic";
            fault("background", message, "leave it out, or give a program of messages");
        }
        if self.bytes.count() / machine.network.switching.packet_bytes() >= u64::from(u32::MAX) {
            fault("background.bytes", "a message has 2^32 packets or more", "give shorter messages");
        }
        if self.interval() == SimDuration::ZERO {
            fault(
                "background",
                "messages would follow each other without any time between them",
                "give longer ones, or a lower rate",
            );
        }
        let taking_part = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let taking_part = if taking_part == 0 { nodes } else { taking_part };
        if let Some(message) = self.pattern.fault(taking_part) {
            fault("background.pattern", &message, "give a pattern for that many nodes");
        } else if let Some(message) = self.overload(machine, layout) {
            fault("background.offered", &message, "give a lower rate, longer messages, or nodes without ranks");
        }
        if taking_part > 1 && self.pattern.stays(taking_part) {
            let message =
                format!("{} sends nothing among {taking_part} nodes: each is its own destination", self.pattern.name());
            fault("background.pattern", &message, "give another pattern, or other nodes");
        }
        if let [only] = self.nodes[..] {
            let message = format!("node {only} has no other node to send to");
            fault("background.nodes", &message, "give at least two nodes, or leave the field out for all");
        }
        faults
    }

    /// Returns the least time for which a processor works on a message that it sends, and on one that it receives.
    fn processor_times(&self, machine: &Machine) -> (SimDuration, SimDuration) {
        let (nodes, bytes) = (&machine.nodes, self.bytes.count());
        if let Some(interface) = &nodes.interface {
            let receiving = match interface.progress {
                Progress::Offloaded => SimDuration::ZERO,
                // The processor waits for every byte if a message comes in one part.
                Progress::WhileArriving if machine.is_free_of_contention() => {
                    let waiting = self.time_of_bytes(interface, machine);
                    interface.receiving_overhead(bytes) + waiting.max(interface.byte_time(bytes.saturating_sub(1)))
                }
                Progress::AfterArrival | Progress::WhileArriving => interface.receiving_overhead(bytes),
            };
            return (interface.sending_time(bytes), receiving);
        }
        let packet = machine.network.switching.packet_bytes().min(bytes.max(1));
        let (whole, rest) = (bytes / packet, bytes % packet);
        let of_packets = |time: &dyn Fn(u64) -> SimDuration| {
            time(packet) * whole + if rest > 0 { time(rest) } else { SimDuration::ZERO }
        };
        (of_packets(&|bytes| nodes.sending.time(bytes, 1)), of_packets(&|bytes| nodes.receiving.time(bytes)))
    }

    /// Returns the time in which the bytes of a message after the first pass an interface. Without contention, slower links
    /// delay the interface.
    fn time_of_bytes(&self, interface: &Interface, machine: &Machine) -> SimDuration {
        let rest = self.bytes.count().saturating_sub(1);
        let own = interface.gap_per_byte.time(rest);
        if machine.is_free_of_contention() { own.max(machine.network.links.byte_time().time(rest)) } else { own }
    }

    /// Returns the least time for which an interface is busy with a message; zero without interfaces.
    fn time_at_interface(&self, machine: &Machine) -> SimDuration {
        let time = |interface: &Interface| interface.gap + self.time_of_bytes(interface, machine);
        machine.nodes.interface.as_ref().map_or(SimDuration::ZERO, time)
    }

    /// Returns the least time for which the interfaces of a node are busy with a message, divided by their number.
    fn interface_time(&self, machine: &Machine) -> SimDuration {
        let count = machine.nodes.interface.as_ref().map_or(1, |interface| interface.count.max(1));
        SimDuration::from_ps(self.time_at_interface(machine).ps() / u64::from(count))
    }

    /// Returns the share of the time for which the traffic alone would occupy the busiest interface of a node, out of
    /// `nodes` nodes in use. The pattern must fit them.
    #[must_use]
    pub fn busiest_interface_utilization(&self, machine: &Machine, nodes: u32) -> f64 {
        // All messages of a node are those of its first core, and all those to a node may have one interface.
        let is_shared = |interface: &Interface| interface.choice == InterfaceChoice::RoundRobin;
        let used = machine.nodes.interface.as_ref().filter(|one| is_shared(one)).map_or(1, |one| one.count.max(1));
        let of_message = self.time_at_interface(machine).seconds() / f64::from(used);
        let count = u32::try_from(self.participants(nodes).len()).unwrap_or(u32::MAX);
        let exchanged = (0..count).map(|place| self.pattern.exchanged(place, count));
        let most = exchanged.map(|(sent, received)| sent.max(received)).fold(0.0, f64::max);
        most * of_message / self.interval().seconds()
    }

    /// Returns an error message if the traffic on average leaves the processor or the interfaces of a node no time for
    /// the program. Nodes without ranks matter only if their processors forward packets. The pattern must fit the nodes.
    fn overload(&self, machine: &Machine, layout: &Layout) -> Option<String> {
        let (interval, participants) = (self.interval(), self.participants(layout.topology.nodes()));
        let ((sending, receiving), interface) = (self.processor_times(machine), self.interface_time(machine));
        let count = u32::try_from(participants.len()).unwrap_or(u32::MAX);
        let forwards = machine.nodes.router == Router::Software && machine.nodes.interface.is_none();
        (0..).zip(participants).filter(|(_, node)| forwards || layout.ranks_on(*node) > 0).find_map(|(place, node)| {
            let (sent, received) = self.pattern.exchanged(place, count);
            let never = |who: &str, time: SimDuration| {
                (time >= interval && time > SimDuration::ZERO).then(|| {
                    format!(
                        "{who} of node {node} is busy for {time} in every {interval} between two messages of a node: the \
                         program would never end"
                    )
                })
            };
            never("the processor", sending.scaled(sent) + receiving.scaled(received))
                .or_else(|| never("the interface", interface.scaled(sent.max(received))))
        })
    }

    fn node_faults(&self, nodes: u32) -> Vec<Fault> {
        let mut named = HashSet::new();
        let fault = |(index, node): (usize, &u32)| {
            let (message, help) = if *node >= nodes {
                let message = format!("node {node} does not exist: {}", nodes_in_use(nodes));
                (message, format!("give nodes from 0 to {}, or use the whole machine", nodes - 1))
            } else if named.insert(*node) {
                return None;
            } else {
                (format!("node {node} is listed twice"), "give each node once".to_owned())
            };
            Some(Fault::new(&format!("background.nodes.{index}"), message, help))
        };
        self.nodes.iter().enumerate().filter_map(fault).collect()
    }
}
