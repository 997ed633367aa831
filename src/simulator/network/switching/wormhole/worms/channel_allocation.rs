//! VC allocation: the assignment of virtual channels to heads. Heads that request the same class of a port compete for
//! its free virtual channels, and every channel serves them round robin.
//!
//! A head that finds no free channel sleeps until a channel of its class is released.

use super::Worms;
use super::layout::{LeafNodes, RouterShape, low_bits};
use super::pipeline::Pipeline;

/// The virtual channels of a class of a port, any of which suits a head that requests one of them. All channels to the
/// node, and all channels from a leaf node, are of one class.
#[derive(Clone, Copy)]
pub(super) struct ChannelGroup {
    /// The requests of heads, a bit for each input channel of the router.
    requests: [u64; 2],
    /// The free channels, a bit for each.
    free: u64,
    /// The round-robin pointer: the channel after the one that was granted last.
    turn: u32,
    first_output: u32,
    /// The first input channel of the router.
    pub(super) first_input: u32,
    /// `true` if the group is in the list of grantable groups.
    pub(super) is_listed: bool,
}

impl ChannelGroup {
    /// Creates the groups of all routers, by router, port and class; if the channels of a port are one class, only its
    /// first group is used.
    pub(super) fn all(shape: RouterShape, routers: u32, leaves: &LeafNodes) -> Vec<Self> {
        let group = |router: u32, port: u32, class: u32| {
            let is_one_class = port == shape.links || leaves.contain(router);
            let channels = if is_one_class { shape.channels } else { shape.lanes };
            let first_output = shape.first(router, port) + class * shape.lanes;
            let first_input = router * shape.of_router;
            Self { requests: [0; 2], free: low_bits(channels), turn: 0, first_output, first_input, is_listed: false }
        };
        let of_port = |router, port| (0..shape.classes).map(move |class| group(router, port, class));
        (0..routers).flat_map(|router| (0..shape.ports).flat_map(move |port| of_port(router, port))).collect()
    }

    fn has_requests(&self) -> bool {
        self.requests != [0; 2]
    }

    /// Allocates the next free channel in round-robin order and returns its number in the group.
    #[inline]
    fn give_next(&mut self) -> u32 {
        let given = self.next_free() - self.first_output;
        self.free &= !(1 << given);
        given
    }

    /// Removes and returns the next request, from `turn` on.
    #[inline]
    fn take_next(&mut self, turn: u32) -> u32 {
        let next = self.next_bit(turn);
        self.requests[(next / u64::BITS) as usize] &= !(1 << (next % u64::BITS));
        next
    }

    /// Returns the next request, from `turn` on.
    #[inline]
    fn next_bit(&self, turn: u32) -> u32 {
        let [low, high] = self.requests;
        let from_turn = |bits: u64, turn: u32| bits.unbounded_shr(turn).unbounded_shl(turn);
        let later_low = from_turn(low, turn);
        if high == 0 {
            return if later_low == 0 { low } else { later_low }.trailing_zeros();
        }
        let later_high = from_turn(high, turn.saturating_sub(u64::BITS));
        match (later_low, later_high, low) {
            (0, 0, 0) => u64::BITS + high.trailing_zeros(),
            (0, 0, low) => low.trailing_zeros(),
            (0, later, _) => u64::BITS + later.trailing_zeros(),
            (later, ..) => later.trailing_zeros(),
        }
    }

    /// Returns the next input channel with a request, from `turn` on.
    pub(super) fn next(&self, turn: u32) -> u32 {
        self.first_input + self.next_bit(turn)
    }

    /// Returns the input channels with a request, in ascending order.
    pub(super) fn all_asking(&self) -> impl Iterator<Item = u32> + use<> {
        let ([low, high], first) = (self.requests, self.first_input);
        let asking = u128::from(low) | u128::from(high) << u64::BITS;
        (0..u128::BITS).filter(move |bit| asking >> bit & 1 != 0).map(move |bit| first + bit)
    }

    /// Returns the next free channel in round-robin order, which [`give`](Self::give) allocates.
    pub(super) fn next_free(&mut self) -> u32 {
        let later = self.free.unbounded_shr(self.turn).unbounded_shl(self.turn);
        let next = if later == 0 { self.free } else { later }.trailing_zeros();
        self.turn = next + 1;
        self.first_output + next
    }

    /// Returns the free output channels, in ascending order.
    pub(super) fn free_outputs(&self) -> impl Iterator<Item = u32> + use<> {
        let (free, first) = (self.free, self.first_output);
        (0..u64::BITS).filter(move |bit| free >> bit & 1 != 0).map(move |bit| first + bit)
    }

    /// Returns whether an input channel has a pending request.
    pub(super) const fn asks(&self, input: u32) -> bool {
        let bit = input - self.first_input;
        self.requests[(bit / u64::BITS) as usize] >> (bit % u64::BITS) & 1 != 0
    }

    /// Allocates an output channel to an input channel with a request.
    pub(super) fn give(&mut self, output: u32, input: u32) {
        let bit = input - self.first_input;
        self.requests[(bit / u64::BITS) as usize] &= !(1 << (bit % u64::BITS));
        self.free &= !(1 << (output - self.first_output));
    }

    /// Frees an output channel, because the tail of the worm that held it has left the router; returns whether the group
    /// has become grantable.
    #[inline]
    pub(super) fn release(&mut self, output: u32) -> bool {
        self.free |= 1 << (output - self.first_output);
        self.has_requests() && !std::mem::replace(&mut self.is_listed, true)
    }

    pub(super) fn can_be_granted(&self) -> bool {
        self.free != 0 && self.has_requests()
    }
}

impl Worms {
    /// Registers the request of the head at the front of `channel`, which sleeps until it is granted a channel of the
    /// group.
    #[inline]
    pub(super) fn wait_for_channel(&mut self, channel: u32, router: u32, number: u32) {
        let group = &mut self.groups[number as usize];
        let bit = channel - group.first_input;
        group.requests[usize::from(bit >= u64::BITS)] |= 1 << (bit % u64::BITS);
        if group.free != 0 && !std::mem::replace(&mut group.is_listed, true) {
            self.grantable.push(number);
        }
        self.requests.add_waiting(router);
    }

    /// Runs VC allocation for a cycle; returns whether any grant is pending.
    pub(super) fn allocate_channels(&mut self, cycle: u64) -> bool {
        let due = cycle + u64::from(self.router.vc_allocation) - 1;
        match (&self.islip, &self.matrix) {
            (Some(_), _) => self.allocate_channels_by_islip(due),
            (_, Some(_)) => self.allocate_channels_by_matrix(due),
            _ => self.allocate_all_channels(due),
        }
    }

    fn allocate_all_channels(&mut self, due: u64) -> bool {
        let Self { grantable, groups, inputs, outputs, requests, pipeline: Pipeline { allocated, .. }, .. } = self;
        let (inputs, outputs) = (&mut inputs[..], &mut outputs[..]);
        for number in grantable.drain(..) {
            let group = &mut groups[number as usize];
            group.is_listed = false;
            while group.free != 0 && group.has_requests() {
                let output = group.first_output + group.give_next();
                let state = &mut outputs[output as usize];
                let granted = group.take_next(state.turn);
                state.turn = granted + 1;
                let channel = group.first_input + granted;
                state.holder = channel;
                let input = &mut inputs[channel as usize];
                input.granted = output;
                requests.end_waiting(input.router);
                allocated.put(due, channel);
            }
        }
        !allocated.is_empty()
    }

    /// Has the heads whose virtual channel is allocated by the end of `cycle` request the crossbar in the next cycle.
    pub(super) fn settle_allocated(&mut self, cycle: u64) {
        let Self { inputs, outputs, requests, pipeline: Pipeline { allocated, .. }, .. } = self;
        while let Some(channel) = allocated.take(cycle) {
            let input = &mut inputs[channel as usize];
            input.output = input.granted;
            if outputs[input.output as usize].room > 0 {
                requests.set_ready(input);
            }
        }
    }
}
