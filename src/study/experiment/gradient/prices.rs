//! The times of the charges on a path, given the constants of a machine.

use crate::analysis::cost_chain::Charge;
use parsim_sim::machine::Machine;
use parsim_sim::network::{Contention, Link, UncontendedTiming};
use parsim_sim::node::Interface;
use parsim_sim::node::processor::{Module, Stopwatch, Work};
use parsim_sim::trace::{ComputationAmount, Loop, Software};
use parsim_sim::units::SimDuration;

/// The prices of a machine on which all links and all processors are alike.
pub struct Prices {
    machine: Machine,
    link: Link,
    stopwatch: Stopwatch,
    lone_way: UncontendedTiming,
    /// The interface as the simulation uses it.
    interface: Option<Interface>,
    /// Number of links that are initialised.
    links: u64,
}

impl Prices {
    /// Returns the prices of `machine`, with `links` links in use.
    pub fn of(machine: Machine, links: u64) -> Self {
        let (link, stopwatch) = (machine.network.links.at_work(), Stopwatch::new(&machine.nodes.processor));
        let (lone_way, interface) = (UncontendedTiming::of(&machine.network), Self::interface_of(&machine));
        Self { machine, link, stopwatch, lone_way, interface, links }
    }

    /// Returns the route of messages without contention.
    pub const fn lone_way(&self) -> &UncontendedTiming {
        &self.lone_way
    }

    /// Returns the network interface; without contention, its gap per byte includes slower links.
    pub const fn interface(&self) -> Option<&Interface> {
        self.interface.as_ref()
    }

    fn interface_of(machine: &Machine) -> Option<Interface> {
        let described = machine.nodes.interface.clone()?;
        let copy_per_byte = described.copy_per_byte.or(Some(described.gap_per_byte));
        let gap_per_byte = match machine.network.contention {
            Contention::Off => UncontendedTiming::of(&machine.network).slower(described.gap_per_byte),
            _ => described.gap_per_byte,
        };
        Some(Interface { gap_per_byte, copy_per_byte, ..described })
    }

    /// Returns the time of a charge; `None` for a computation that the processor cannot perform.
    pub fn time(&mut self, charge: &Charge) -> Option<SimDuration> {
        let nodes = &self.machine.nodes;
        Some(match *charge {
            Charge::Software(parts) => {
                let times = parts.iter().map(|(software, count)| self.software(*software, *count));
                return times.sum();
            }
            Charge::Link { bytes } => self.link.time(bytes),
            Charge::Latency => self.link.latency,
            Charge::Interface { gaps, bytes } => {
                let interface = self.interface.as_ref()?;
                interface.gap * gaps + interface.gap_per_byte.time(bytes)
            }
            Charge::InterfaceLatency { bytes } => self.interface_latency(bytes)?,
            Charge::LoneWay { hops, bytes } => self.lone_way.delay(hops, bytes),
            Charge::Computation { loops, amount } => return self.computation(loops, amount),
            Charge::Forwarding { bytes } => nodes.forwarding.time(bytes),
            Charge::HostTransfer { is_input: true, bytes } => self.machine.host.input.time(bytes),
            Charge::HostTransfer { is_input: false, bytes } => self.machine.host.output.time(bytes),
            Charge::Start => self.link.start * self.links,
        })
    }

    /// Returns the delay of a message with `bytes` bytes at the interface between its processor and the network; `None`
    /// without interfaces.
    pub fn interface_latency(&self, bytes: u64) -> Option<SimDuration> {
        let interface = self.interface.as_ref()?;
        Some(interface.latency + interface.stage_delay(bytes.saturating_sub(interface.header.count())))
    }

    fn software(&self, software: Software, count: u64) -> Option<SimDuration> {
        let nodes = &self.machine.nodes;
        Some(match software {
            Software::Preparing => nodes.sending.per_packet * count,
            Software::CopyingOut => nodes.sending.per_byte.time(count),
            Software::Route => nodes.sending.per_hop * count,
            Software::Routing => nodes.routing.per_packet * count,
            Software::Receiving => nodes.receiving.per_packet * count,
            Software::CopyingIn => nodes.receiving.per_byte.time(count),
            Software::Acknowledging => nodes.acknowledging.per_hop * count,
            Software::Overhead => self.interface.as_ref()?.overhead * count,
            Software::HandedBytes => self.interface.as_ref()?.overhead_per_byte.time(count),
            Software::TakenBytes => self.interface.as_ref()?.byte_time(count),
            Software::CopiedBytes => {
                let interface = self.interface.as_ref()?;
                interface.local_receiving_time(count + 1) - interface.overhead
            }
        })
    }

    fn computation(&mut self, loops: [Option<Loop>; 2], amount: ComputationAmount) -> Option<SimDuration> {
        match amount {
            ComputationAmount::Time(time) => Some(time),
            ComputationAmount::Operations(bits) => self.stopwatch.operations_time(f64::from_bits(bits)).ok(),
            ComputationAmount::Rows(rows) => {
                let row = loops.into_iter().flatten().map(|(name, iterations, _)| {
                    let module = Module::ALL.into_iter().find(|module| module.field() == name)?;
                    self.stopwatch.row_time(Work::new(module, iterations.checked_div(rows)?)).ok()
                });
                Some(row.sum::<Option<SimDuration>>()? * rows)
            }
        }
    }
}
