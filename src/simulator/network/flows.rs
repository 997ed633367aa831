//! Messages as flows of bytes that share links fairly.
//!
//! Every message in the network is a flow over all channels of its route at once. Rates are max-min fair (Bertsekas and
//! Gallager: Data Networks, 1992, section 6.5.2): no flow can get more without taking from a flow that has no more.
//! Rates stay constant until a flow begins or ends.

mod sharing;

use crate::engine::Slab;
use crate::units::{PerByte, SimDuration, SimTime};
use priority_queue::PriorityQueue;
use sharing::ProgressiveFilling;
use std::cmp::Reverse;

/// The runtime state of all channels and flows of a network. Each channel has a number and a rate.
pub struct Flows {
    channels: Vec<FlowChannel>,
    states: Slab<Flow>,
    /// Flows by their next events: the arrival of the first byte, then of the last one.
    events: PriorityQueue<u32, Reverse<(SimTime, u32)>>,
    /// Channels on which a flow has begun or ended since rates were last computed.
    changed: Vec<u32>,
    changed_at: SimTime,
    /// The least rate of the flows that have ended since then.
    slowest_ended: f64,
    sharing: ProgressiveFilling,
}

struct FlowChannel {
    /// Rate in bytes per picosecond.
    capacity: f64,
    per_byte: PerByte,
    /// The flows that have begun on the channel and not ended.
    flows: Vec<u32>,
    /// Number of flows whose first byte is in transit.
    coming: u32,
    /// Number of messages that have begun.
    messages: u32,
    /// Time that the bytes of ended flows take at the full rate.
    busy: SimDuration,
}

/// A message with its destination and length.
#[derive(Clone, Copy)]
pub struct FlowMessage {
    /// The message; opaque to the network.
    pub number: u32,
    /// The destination node.
    pub to: u32,
    /// The length in bytes.
    pub bytes: u64,
}

/// A message in transit.
struct Flow {
    message: FlowMessage,
    channels: Box<[u32]>,
    /// Arrival of the first byte.
    begin: SimTime,
    /// Bytes that had not been carried at `since`.
    remaining: f64,
    /// The time of the last change of its rate.
    since: SimTime,
    /// `true` if the first byte has arrived. Before, the flow takes no bandwidth.
    has_begun: bool,
}

/// A flow that has ended.
pub struct EndedFlow {
    /// The message.
    pub message: FlowMessage,
    /// The channels that the flow has crossed.
    pub channels: Box<[u32]>,
    /// Arrival of the first byte.
    pub begin: SimTime,
}

impl Flow {
    #[expect(clippy::cast_precision_loss, reason = "the relative error of a span beyond 2^53 ps is below 10^-15")]
    fn remaining_at(&self, now: SimTime, rate: f64) -> f64 {
        // A flow that has just begun has no rate yet.
        if now == self.since {
            return self.remaining;
        }
        (self.remaining - rate * now.since(self.since).ps() as f64).max(0.0)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, positive, and saturating")]
    fn end(&self, rate: f64) -> SimTime {
        self.since + SimDuration::from_ps((self.remaining / rate).round() as u64)
    }
}

impl FlowChannel {
    fn new(per_byte: PerByte) -> Self {
        let capacity = Flows::rate_of(per_byte);
        Self { capacity, per_byte, flows: Vec::new(), coming: 0, messages: 0, busy: SimDuration::ZERO }
    }
}

impl Flows {
    /// Creates idle channels with these times per byte, numbered in order.
    pub fn new(rates: impl Iterator<Item = PerByte>) -> Self {
        let channels: Vec<_> = rates.map(FlowChannel::new).collect();
        Self {
            sharing: ProgressiveFilling::new(channels.len()),
            channels,
            states: Slab::new(),
            events: PriorityQueue::new(),
            changed: Vec::new(),
            changed_at: SimTime::START,
            slowest_ended: f64::INFINITY,
        }
    }

    /// Adds an idle channel with a rate in bytes per picosecond; returns its number.
    pub fn add(&mut self, rate: f64) -> u32 {
        self.channels.push(FlowChannel { capacity: rate, ..FlowChannel::new(PerByte::FREE) });
        self.sharing.add_channel();
        u32::try_from(self.channels.len() - 1).expect("channels are counted in 32 bits")
    }

    /// Returns the rate of a channel in bytes per picosecond.
    pub fn capacity(&self, channel: u32) -> f64 {
        self.channels[channel as usize].capacity
    }

    /// Returns the rate of a channel with this time per byte in bytes per picosecond.
    #[expect(clippy::cast_precision_loss, reason = "rates are given to a few digits")]
    pub fn rate_of(per_byte: PerByte) -> f64 {
        const MANY: u64 = 1 << 20;
        MANY as f64 / per_byte.time(MANY).ps() as f64
    }

    /// Returns the memory of a number of channels in bytes.
    pub fn memory(channels: f64) -> f64 {
        // A channel with its state in the sharing, and a flow or two on it.
        const CHANNEL_BYTES: f64 = 110.0;
        channels * CHANNEL_BYTES
    }

    /// Returns whether a channel can limit the rate of a flow.
    pub fn limits(&self, channel: u32) -> bool {
        self.channels[channel as usize].capacity.is_finite()
    }

    /// Returns the number of flows assigned to a channel, including those whose first byte is in transit.
    pub fn assigned_flows(&self, channel: u32) -> u64 {
        let channel = &self.channels[channel as usize];
        channel.flows.len() as u64 + u64::from(channel.coming)
    }

    /// Adds a flow over `channels` whose first byte arrives at `begin`.
    pub fn enter(&mut self, begin: SimTime, message: FlowMessage, channels: Box<[u32]>) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "the relative error of a length beyond 2^53 bytes is below 10^-15"
        )]
        let remaining = message.bytes as f64;
        for channel in &channels {
            self.channels[*channel as usize].coming += 1;
        }
        let (since, has_begun) = (begin, false);
        let id = self.states.put(Flow { message, channels, begin, remaining, since, has_begun });
        self.events.push(id, Reverse((begin, id)));
    }

    /// Returns the time of the next event: new rates are due, or the next flow begins or ends.
    pub fn next_event(&self) -> Option<SimTime> {
        let next = || self.events.peek().map(|(_, Reverse((time, _)))| *time);
        // Rates are computed once for all flows that begin and end at one time.
        if self.changed.is_empty() { next() } else { Some(self.changed_at) }
    }

    /// Begins or ends the next flow, or computes new rates once nothing else happens at this time. Returns the time and
    /// the flow that has ended, if any.
    pub fn step(&mut self) -> Option<(SimTime, Option<EndedFlow>)> {
        let next = self.events.peek().map(|(id, Reverse((time, _)))| (*id, *time));
        match next {
            Some((id, now)) if self.changed.is_empty() || now == self.changed_at => Some((now, self.run(now, id))),
            _ if self.changed.is_empty() => None,
            _ => {
                self.share_out();
                Some((self.changed_at, None))
            }
        }
    }

    fn run(&mut self, now: SimTime, id: u32) -> Option<EndedFlow> {
        self.change(now, id);
        if self.states[id].has_begun {
            self.events.remove(&id);
            return Some(self.end(id));
        }
        self.begin(id);
        None
    }

    /// Handles the arrival of the first byte of a flow. The arrival of the last byte is unknown until rates are
    /// computed.
    fn begin(&mut self, id: u32) {
        let flow = &mut self.states[id];
        flow.has_begun = true;
        self.sharing.begin(id);
        let is_over = flow.message.bytes == 0 || flow.channels.is_empty();
        self.events.change_priority(&id, Reverse((if is_over { flow.begin } else { SimTime::END }, id)));
        for channel in &flow.channels {
            let channel = &mut self.channels[*channel as usize];
            channel.flows.push(id);
            channel.coming -= 1;
            channel.messages += 1;
        }
    }

    fn end(&mut self, id: u32) -> EndedFlow {
        self.states.vacate(id);
        self.slowest_ended = self.slowest_ended.min(self.sharing.rate(id));
        let Flow { message, channels, begin, .. } = &mut self.states[id];
        let channels = std::mem::take(channels);
        for channel in &channels {
            let channel = &mut self.channels[*channel as usize];
            let place = channel.flows.iter().position(|other| *other == id).expect("a flow is on its channels");
            channel.flows.swap_remove(place);
            channel.busy += channel.per_byte.time(message.bytes);
        }
        EndedFlow { message: *message, channels, begin: *begin }
    }

    /// Marks the channels of a flow for new rates.
    fn change(&mut self, now: SimTime, id: u32) {
        self.changed_at = now;
        self.changed.extend_from_slice(&self.states[id].channels);
    }

    fn share_out(&mut self) {
        let now = self.changed_at;
        let ended = std::mem::replace(&mut self.slowest_ended, f64::INFINITY);
        self.sharing.share(&self.channels, &self.states, (ended, &self.changed));
        self.changed.clear();
        for (id, before, rate) in self.sharing.changed_rates() {
            let flow = &mut self.states[id];
            (flow.remaining, flow.since) = (flow.remaining_at(now, before), now);
            self.events.change_priority(&id, Reverse((flow.end(rate), id)));
        }
    }

    /// Returns, for each channel: its messages, and the time that their bytes up to `now` take at its full rate.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = (u32, SimDuration)> + '_ {
        self.channels.iter().map(move |channel| {
            #[expect(clippy::cast_precision_loss, reason = "as in `enter`")]
            let part = |id: &u32| {
                let flow = &self.states[*id];
                flow.message.bytes as f64 - flow.remaining_at(now, self.sharing.rate(*id))
            };
            let under_way = channel.per_byte.time_of_share(channel.flows.iter().map(part).sum());
            (channel.messages, channel.busy + under_way)
        })
    }

    /// Returns the time that `bytes` bytes take on a channel at its full rate.
    pub fn time(&self, channel: u32, bytes: u64) -> SimDuration {
        self.channels[channel as usize].per_byte.time(bytes)
    }
}

#[cfg(test)]
mod tests;
