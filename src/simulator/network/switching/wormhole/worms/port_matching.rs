//! Matching of the ports of routers by round robin, input first.

use super::buffers::Input;
use super::layout::RouterShape;
use super::port_fields::Selected;
use super::requests::RouterRequests;

/// The round-robin pointers of all crossbars.
pub(super) struct PortTurns {
    /// The channel of each input port that was served last: a bit, as in [`RouterRequests`].
    served: Vec<u64>,
    /// By output port, the input channel that was served last.
    last: Vec<u32>,
}

impl PortTurns {
    pub(super) fn new(shape: RouterShape, routers: u32) -> Self {
        let last_channel = |router: u32| (router + 1) * shape.of_router - 1;
        let of_router = |router: u32| std::iter::repeat_n(last_channel(router), shape.ports as usize);
        let words = (routers * shape.words) as usize;
        Self { served: vec![shape.fields.highest(); words], last: (0..routers).flat_map(of_router).collect() }
    }
}

/// The channels whose flits cross in a cycle, one after the other.
pub(super) trait CrossbarAllocation {
    /// Returns the next channel; the flits of all earlier ones have crossed.
    fn next(&mut self, requests: &RouterRequests, turns: &mut PortTurns, inputs: &[Input]) -> Option<u32>;
}

/// Channels that are known before any flit crosses.
impl CrossbarAllocation for std::vec::IntoIter<u32> {
    fn next(&mut self, _: &RouterRequests, _: &mut PortTurns, _: &[Input]) -> Option<u32> {
        Iterator::next(self)
    }
}

/// The matching of the ports of the active routers, one router after the other: every input port with ready channels
/// selects the next one in turn, and every requested output port selects the next input port in turn. The channels whose
/// flits cross follow each other by ascending output port.
pub(super) struct PortMatching<const WORDS: usize> {
    shape: RouterShape,
    /// The number of active routers whose ports are matched.
    matched: usize,
    /// The first port of the router that was matched last.
    first_port: u32,
    /// Its requested output ports that are still to be served, a bit for each.
    requested: [u64; WORDS],
    /// By output port, the input channel that is selected for it.
    selected: [u32; 256],
}

impl<const WORDS: usize> PortMatching<WORDS> {
    pub(super) const fn new(shape: RouterShape) -> Self {
        Self { shape, matched: 0, first_port: 0, requested: [0; WORDS], selected: [0; 256] }
    }

    /// Matches the ports of a router.
    #[inline]
    fn match_ports(&mut self, router: u32, ready: &[u64; WORDS], turns: &mut PortTurns, inputs: &[Input]) {
        let RouterShape { ports, of_router, of_word, fields, .. } = self.shape;
        self.first_port = router * ports;
        let last_served = &mut turns.served.as_chunks_mut::<WORDS>().0[router as usize];
        let mut served: [Selected; WORDS] = std::array::from_fn(|word| fields.next(ready[word], last_served[word]));
        for (first, selected) in (router * of_router..).step_by(of_word as usize).zip(served) {
            let mut requests = selected.channels;
            while requests != 0 {
                let channel = first + requests.trailing_zeros();
                requests &= requests - 1;
                let to_port = inputs[channel as usize].to_port;
                let (requested, bit) = (&mut self.requested[usize::from(to_port / 64) % WORDS], 1 << (to_port % 64));
                if *requested & bit == 0 {
                    *requested |= bit;
                    self.selected[usize::from(to_port)] = channel;
                } else {
                    let loser = &inputs[self.compete(channel, to_port, &turns.last, inputs) as usize];
                    let word = &mut served[loser.word as usize % WORDS];
                    *word = fields.without(*word, loser.mask());
                }
            }
        }
        *last_served = std::array::from_fn(|word| fields.served(last_served[word], served[word]));
    }

    /// Lets `channel` compete with the channel that is selected for `to_port`, of an earlier input port, which wins
    /// unless only the later one comes after the port that was served last. Returns the loser.
    fn compete(&mut self, channel: u32, to_port: u8, last: &[u32], inputs: &[Input]) -> u32 {
        let selected = &mut self.selected[usize::from(to_port)];
        let last = last[self.first_port as usize + usize::from(to_port)];
        let [first, second, last] = [*selected, channel, last].map(|channel| inputs[channel as usize].port);
        if first <= last && second > last { std::mem::replace(selected, channel) } else { channel }
    }

    /// Serves the next requested output port of the current router; returns its channel.
    #[inline]
    fn serve(&mut self, turns: &mut PortTurns) -> Option<u32> {
        let (first, requested) = (0..).step_by(64).zip(&mut self.requested).find(|(_, requested)| **requested != 0)?;
        let to_port = first + requested.trailing_zeros();
        *requested &= *requested - 1;
        let channel = self.selected[to_port as usize % self.selected.len()];
        turns.last[(self.first_port + to_port) as usize] = channel;
        Some(channel)
    }
}

impl<const WORDS: usize> CrossbarAllocation for PortMatching<WORDS> {
    #[inline]
    fn next(&mut self, requests: &RouterRequests, turns: &mut PortTurns, inputs: &[Input]) -> Option<u32> {
        loop {
            if let Some(channel) = self.serve(turns) {
                return Some(channel);
            }
            let router = *requests.active().get(self.matched)?;
            self.matched += 1;
            let ready = &requests.ready_words::<WORDS>()[router as usize];
            if *ready != [0; WORDS] {
                self.match_ports(router, ready, turns, inputs);
            }
        }
    }
}
