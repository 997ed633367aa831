//! The transit of packets over links that carry whole packets, by store and forward or cut-through.

use super::chain::{Chain, ServiceIndex};
use super::services::{LinkCosts, NOTHING, PacketCosts, Services};
use super::{CostItem, stores_packets};
use parsim_sim::machine::Machine;
use std::collections::VecDeque;

/// The services of a packet that the next packet waits for.
#[derive(Default)]
pub struct PreviousPacket {
    pub prepared: Option<ServiceIndex>,
    /// The end of the transmission from the source.
    pub left: Option<ServiceIndex>,
    pub shared: Vec<ServiceIndex>,
    /// The end of the transmission on each link.
    sent: Vec<ServiceIndex>,
    /// The end of the forwarding at the far end of each link.
    forwarded: Vec<ServiceIndex>,
    pub taken_in: Option<ServiceIndex>,
}

impl PreviousPacket {
    /// Prepares the packet and moves it through the resources that the cores of its source share.
    pub fn leave_core(&self, chain: &mut Chain, services: &Services, packet: &PacketCosts) -> (Self, ServiceIndex) {
        let cause = if services.overlap { self.prepared } else { self.left };
        let prepared = chain.serve([cause], packet.prepare);
        let mut now = prepared;
        let mut shared = Vec::new();
        for (index, (transfer, latency, in_line)) in packet.shared.iter().enumerate() {
            let before = self.shared.get(index).copied().filter(|_| *in_line);
            now = chain.serve([Some(now), before], *transfer);
            shared.push(now);
            now = chain.then(now, *latency);
        }
        (Self { prepared: Some(prepared), shared, ..Self::default() }, now)
    }
}

/// The packets of a message, in order.
struct PacketPipeline<'s> {
    services: &'s Services,
    stores: bool,
    chain: Chain,
    /// The services that freed buffers for earlier packets, by link, as many packets back as any buffer has room for.
    made_room: VecDeque<Vec<ServiceIndex>>,
}

/// Returns the cost items of a message whose packets occupy links as a whole.
pub fn chain(machine: &Machine, services: &Services) -> Vec<CostItem> {
    let stores = stores_packets(&machine.network.switching);
    let mut course = PacketPipeline { services, stores, chain: Chain::default(), made_room: VecDeque::new() };
    let mut before = PreviousPacket::default();
    let mut last = None;
    for number in 0..services.packets {
        if number + 1 == services.packets && services.last_may_overtake() {
            // In this case only its preparation certainly follows that of the others.
            last = before.taken_in;
            before = PreviousPacket { prepared: before.prepared, ..PreviousPacket::default() };
            course.made_room.clear();
        }
        before = course.packet(&before, services.packet(number));
    }
    let last = last.into_iter().chain(before.taken_in).max_by_key(|step| course.chain.end(*step));
    services.bill(course.chain.back_from(last.expect("a message has a packet")))
}

impl PacketPipeline<'_> {
    fn packet(&mut self, before: &PreviousPacket, packet: &PacketCosts) -> PreviousPacket {
        let (mut state, mut now) = before.leave_core(&mut self.chain, self.services, packet);
        if self.services.is_local {
            state.left = Some(now);
        }
        let mut tail = None;
        for (index, link) in packet.links.iter().enumerate() {
            let is_last = index + 1 == packet.links.len();
            let (sent, head) = self.cross(before, (index, link), now, (tail, is_last));
            state.left = state.left.or(Some(sent));
            state.sent.push(sent);
            tail = Some(self.chain.then(sent, link.latency));
            now = self.chain.then(head, link.latency);
            if let Some(pass_on) = packet.pass_on.filter(|_| link.to_router) {
                now = self.chain.serve([Some(now), before.forwarded.get(index).copied()], pass_on);
            }
            state.forwarded.push(now);
        }
        let taken_in = self.chain.serve([Some(now), before.taken_in], packet.take_in);
        state.taken_in = Some(taken_in);
        self.make_room(&state, packet);
        state
    }

    /// Transmits a packet over a link. Returns the end of the whole transmission, and of the part that the far end
    /// needs.
    fn cross(
        &mut self,
        before: &PreviousPacket,
        (index, link): (usize, &LinkCosts),
        now: ServiceIndex,
        (tail, is_last): (Option<ServiceIndex>, bool),
    ) -> (ServiceIndex, ServiceIndex) {
        let causes = [Some(now), before.sent.get(index).copied(), self.room(index, link)];
        let all = self.chain.serve(causes, link.all);
        if self.stores {
            return (all, all);
        }
        // The tail cannot leave before it has arrived.
        let sent = self.chain.serve([Some(all), tail], NOTHING);
        let head = if is_last { sent } else { self.chain.serve(causes, link.header) };
        (sent, head)
    }

    /// Returns the service of an earlier packet after which a buffer of the link has room for another packet.
    fn room(&self, index: usize, link: &LinkCosts) -> Option<ServiceIndex> {
        let behind = self.made_room.len().checked_sub(link.room? as usize)?;
        self.made_room.get(behind).map(|steps| steps[index])
    }

    fn make_room(&mut self, state: &PreviousPacket, packet: &PacketCosts) {
        let Some(most) = packet.links.iter().filter_map(|link| link.room).max() else { return };
        let onward = state.sent.iter().skip(1).copied();
        self.made_room.push_back(onward.chain(state.taken_in).collect());
        if self.made_room.len() > most as usize {
            self.made_room.pop_front();
        }
    }
}
