//! The transit of packets through clocked routers.
//!
//! A head that has arrived at a router, or that software there has handled, requests a virtual channel at the beginning
//! of a cycle. [`parsim_sim::network::switching::wormhole`] states the number of cycles from there to the next router,
//! and out of the last one. Injections, and requests by software, wait for the first cycle that begins after them.
//!
//! Packets of a message may overtake each other on different virtual channels. Beyond the source, no packet therefore
//! waits for the previous one in this model.

use super::chain::{Chain, ServiceIndex};
use super::course::PreviousPacket;
use super::services::{CLOCK, NOTHING, PacketCosts, RouterCycles, Services};
use super::{CostItem, LoneMessage};
use parsim_sim::machine::Machine;
use parsim_sim::network::Switching;
use parsim_sim::units::SimDuration;

struct WormChain<'s> {
    services: &'s Services,
    message: &'s LoneMessage,
    cycle: SimDuration,
    chain: Chain,
}

/// The services of a packet that the next packet waits for.
#[derive(Default)]
struct PreviousWormPacket {
    before: PreviousPacket,
    /// The injection of all flits into the first router.
    injected: Option<ServiceIndex>,
}

/// Returns the cost items of a message in clocked routers.
pub fn chain(machine: &Machine, message: &LoneMessage, services: &Services) -> Vec<CostItem> {
    let flit = match &machine.network.switching {
        Switching::Wormhole(mode) => mode.flit.count(),
        _ => 1,
    };
    let cycle = machine.network.links.byte_time().time(flit);
    let mut worms = WormChain { services, message, cycle, chain: Chain::default() };
    let mut ahead = PreviousWormPacket::default();
    for number in 0..services.packets {
        let packet = services.packet(number);
        let cycles = packet.cycles.expect("routers with a clock have cycles");
        ahead = worms.packet(&ahead, packet, cycles);
    }
    let last = ahead.before.taken_in.expect("a message has a packet");
    services.bill(worms.chain.back_from(last))
}

impl WormChain<'_> {
    fn packet(&mut self, ahead: &PreviousWormPacket, packet: &PacketCosts, cycles: RouterCycles) -> PreviousWormPacket {
        let (mut before, ready) = ahead.before.leave_core(&mut self.chain, self.services, packet);
        let on_clock = self.wait_for_clock(ready);
        let arrived = cycles.enter.map_or(on_clock, |enter| self.chain.then(on_clock, enter));
        let entered = self.chain.serve([Some(arrived), ahead.injected], NOTHING);
        let injected = self.chain.then(entered, cycles.flits);
        let mut head = self.chain.then(entered, cycles.hop);
        before.left = Some(self.chain.then(head, cycles.body));
        for _ in 1..self.message.hops {
            if let Some(pass_on) = packet.pass_on {
                let served = self.chain.then(head, pass_on);
                head = self.wait_for_clock(served);
            }
            head = self.chain.then(head, cycles.hop);
        }
        let out = self.chain.then(head, cycles.out);
        let out = cycles.leave.map_or(out, |leave| self.chain.then(out, leave));
        let tail = self.chain.then(out, cycles.body);
        before.taken_in = Some(self.chain.then(tail, packet.take_in));
        PreviousWormPacket { before, injected: Some(injected) }
    }

    /// Waits for the first cycle that begins after `step`.
    fn wait_for_clock(&mut self, step: ServiceIndex) -> ServiceIndex {
        let now = (self.message.sent + self.chain.end(step)).ps();
        let since = SimDuration::from_ps(now % self.cycle.ps().max(1));
        self.chain.serve([Some(step)], (CLOCK, self.cycle - since))
    }
}
