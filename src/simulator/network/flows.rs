//! Messages as flows of bytes that share links fairly.
//!
//! Every message in the network is a flow over all channels of its route at once. Rates are max-min fair (Bertsekas and
//! Gallager: Data Networks, 1992, section 6.5.2): no flow can get more without taking from a flow that has no more.
//! Rates stay constant until a flow begins or ends. Flows over the same channels have the same rate and are handled as
//! one aggregate.

mod aggregate;
mod sharing;

use crate::engine::Slab;
use crate::units::{PerByte, SimDuration, SimTime};
use aggregate::FlowAggregate;
use priority_queue::PriorityQueue;
use rustc_hash::{FxBuildHasher, FxHashMap};
use sharing::ProgressiveFilling;
use std::cmp::Reverse;
use std::sync::Arc;

/// The runtime state of all channels and flows of a network. Each channel has a number and a rate.
pub struct Flows {
    channels: Vec<FlowChannel>,
    states: Slab<Flow>,
    aggregates: Slab<FlowAggregate>,
    /// The aggregates with flows, by their channels.
    by_channels: FxHashMap<Arc<[u32]>, u32>,
    /// The events by time, simultaneous ones by flow.
    events: PriorityQueue<FlowEvent, Reverse<(SimTime, u32)>, FxBuildHasher>,
    /// Aggregates in which a flow has begun or ended since rates were last computed.
    changed: Vec<u32>,
    changed_at: SimTime,
    /// The least rate of the flows that have ended since then.
    slowest_ended: f64,
    sharing: ProgressiveFilling,
}

/// An event of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FlowEvent {
    /// The arrival of the first byte of a flow.
    Begin(u32),
    /// The arrival of the last byte of the flow of an aggregate that ends first.
    End(u32),
}

struct FlowChannel {
    /// Rate in bytes per picosecond.
    capacity: f64,
    per_byte: PerByte,
    /// The aggregates of the flows that have begun on the channel and not ended.
    aggregates: Vec<u32>,
    /// Number of these flows.
    flows: u32,
    /// Number of flows whose first byte is in transit.
    coming: u32,
    /// Number of messages that have begun.
    messages: u64,
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
#[derive(Clone, Copy)]
struct Flow {
    message: FlowMessage,
    aggregate: u32,
    /// Arrival of the first byte.
    begin: SimTime,
}

/// A flow that has ended.
pub struct EndedFlow {
    /// The message.
    pub message: FlowMessage,
    /// The channels that the flow has crossed.
    pub channels: Arc<[u32]>,
    /// Arrival of the first byte.
    pub begin: SimTime,
}

impl FlowChannel {
    fn new(per_byte: PerByte) -> Self {
        let capacity = Flows::rate_of(per_byte);
        let aggregates = Vec::new();
        Self { capacity, per_byte, aggregates, flows: 0, coming: 0, messages: 0, busy: SimDuration::ZERO }
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
            aggregates: Slab::new(),
            by_channels: FxHashMap::default(),
            events: PriorityQueue::with_default_hasher(),
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
        u64::from(channel.flows) + u64::from(channel.coming)
    }

    /// Adds a flow over `channels` whose first byte arrives at `begin`.
    pub fn enter(&mut self, begin: SimTime, message: FlowMessage, channels: &[u32]) {
        for channel in channels {
            self.channels[*channel as usize].coming += 1;
        }
        let aggregate = self.join(channels);
        let id = self.states.put(Flow { message, aggregate, begin });
        self.events.push(FlowEvent::Begin(id), Reverse((begin, id)));
    }

    /// Returns the aggregate of the flows over `channels` with one more flow.
    fn join(&mut self, channels: &[u32]) -> u32 {
        if let Some(aggregate) = self.by_channels.get(channels) {
            self.aggregates[*aggregate].members += 1;
            return *aggregate;
        }
        let channels: Arc<[u32]> = channels.into();
        let aggregate = self.aggregates.put(FlowAggregate::of_one(channels.clone()));
        self.by_channels.insert(channels, aggregate);
        aggregate
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
        let next = self.events.peek().map(|(event, Reverse((time, _)))| (*event, *time));
        match next {
            Some((event, now)) if self.changed.is_empty() || now == self.changed_at => {
                self.changed_at = now;
                Some((now, self.run(event)))
            }
            _ if self.changed.is_empty() => None,
            _ => {
                self.share_out();
                Some((self.changed_at, None))
            }
        }
    }

    fn run(&mut self, event: FlowEvent) -> Option<EndedFlow> {
        match event {
            FlowEvent::Begin(id) => self.begin(id),
            FlowEvent::End(aggregate) => Some(self.end(aggregate)),
        }
    }

    /// Handles the arrival of the first byte of a flow. The arrival of the last byte is unknown until rates are
    /// computed, unless there is nothing to wait for.
    fn begin(&mut self, id: u32) -> Option<EndedFlow> {
        self.events.pop();
        let Flow { message, aggregate, .. } = self.states[id];
        let channels = self.aggregates[aggregate].channels.clone();
        for channel in &*channels {
            let channel = &mut self.channels[*channel as usize];
            channel.coming -= 1;
            channel.messages += 1;
        }
        if message.bytes == 0 || channels.is_empty() {
            return Some(self.leave(id));
        }
        self.put_on_channels(id, aggregate);
        None
    }

    /// Removes a flow.
    fn leave(&mut self, id: u32) -> EndedFlow {
        let Flow { message, aggregate, begin } = self.states.take(id);
        let flows = &mut self.aggregates[aggregate];
        flows.members -= 1;
        self.changed.push(aggregate);
        EndedFlow { message, channels: flows.channels.clone(), begin }
    }

    fn put_on_channels(&mut self, id: u32, aggregate: u32) {
        let Flow { message, begin, .. } = self.states[id];
        let flows = &mut self.aggregates[aggregate];
        if flows.is_idle() {
            self.sharing.begin(aggregate);
            self.events.push(FlowEvent::End(aggregate), Reverse((SimTime::END, id)));
        }
        for channel in &*flows.channels {
            let channel = &mut self.channels[*channel as usize];
            channel.flows += 1;
            if flows.is_idle() {
                channel.aggregates.push(aggregate);
            }
        }
        flows.begin(begin, self.sharing.rate(aggregate), (id, message.bytes));
        self.changed.push(aggregate);
    }

    /// Handles the arrival of the last byte of the flow of an aggregate that ends first.
    fn end(&mut self, aggregate: u32) -> EndedFlow {
        let rate = self.sharing.rate(aggregate);
        let flows = &mut self.aggregates[aggregate];
        let id = flows.end();
        let next = (!flows.is_idle()).then(|| flows.next_end(rate));
        self.slowest_ended = self.slowest_ended.min(rate);
        let ended = self.leave(id);
        for channel in &*ended.channels {
            let channel = &mut self.channels[*channel as usize];
            channel.flows -= 1;
            channel.busy += channel.per_byte.time(ended.message.bytes);
        }
        match next {
            Some(end) => _ = self.events.change_priority(&FlowEvent::End(aggregate), Reverse(end)),
            None => self.take_off_channels(aggregate),
        }
        ended
    }

    fn take_off_channels(&mut self, aggregate: u32) {
        self.events.remove(&FlowEvent::End(aggregate));
        for channel in &*self.aggregates[aggregate].channels {
            let others = &mut self.channels[*channel as usize].aggregates;
            let place = others.iter().position(|other| *other == aggregate).expect("an aggregate is on its channels");
            others.swap_remove(place);
        }
    }

    fn share_out(&mut self) {
        let now = self.changed_at;
        let ended = std::mem::replace(&mut self.slowest_ended, f64::INFINITY);
        self.sharing.share(&self.channels, &self.aggregates, (ended, &self.changed));
        for (id, before) in self.sharing.changed_rates() {
            self.aggregates[*id].advance(now, *before);
        }
        let changed = std::mem::take(&mut self.changed);
        for id in self.sharing.changed_rates().iter().map(|(id, _)| id).chain(&changed) {
            let aggregate = &self.aggregates[*id];
            if !aggregate.is_idle() {
                let end = aggregate.next_end(self.sharing.rate(*id));
                self.events.change_priority(&FlowEvent::End(*id), Reverse(end));
            }
        }
        for id in changed {
            self.forget_if_empty(id);
        }
    }

    fn forget_if_empty(&mut self, id: u32) {
        let aggregate = &self.aggregates[id];
        if aggregate.members == 0 && self.by_channels.remove(&aggregate.channels).is_some() {
            self.aggregates.vacate(id);
        }
    }

    /// Returns, for each channel: its messages, and the time that their bytes up to `now` take at its full rate.
    pub fn loads(&self, now: SimTime) -> impl Iterator<Item = (u64, SimDuration)> + '_ {
        self.channels.iter().map(move |channel| {
            let carried = |id: &u32| {
                let bytes = |flow| self.states[flow].message.bytes;
                self.aggregates[*id].carried(now, self.sharing.rate(*id), bytes)
            };
            let under_way = channel.per_byte.time_of_share(channel.aggregates.iter().map(carried).sum());
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
