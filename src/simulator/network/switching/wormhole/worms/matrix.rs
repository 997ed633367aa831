//! Matrix arbiters: the request that was served least recently wins; among requests that were never served, the lowest.
//!
//! A matrix arbiter (Dally and Towles, *Principles and practices of interconnection networks*, 18.5) has a priority bit
//! for each pair of inputs, and clears the bits of the winner. If the bits form an order at the beginning, they always
//! do: the order of the last turns, which is kept here instead.

use super::Worms;
use super::layout::RouterShape;

/// The last turns at all arbiters of a network, numbered from 1 on; 0 before the first turn.
pub(super) struct MatrixArbiters {
    /// Last turns by output channel and input channel of the router.
    channels: Vec<u64>,
    /// Last turns by input channel, at the arbiter of its port.
    lanes: Vec<u64>,
    /// Last turns by output port and input port of the router.
    ports: Vec<u64>,
    turns: u64,
    /// By output port, the input channels that are selected for it; scratch space for one router at a time.
    selected: Vec<Vec<u32>>,
}

impl MatrixArbiters {
    pub(super) fn new(shape: RouterShape, routers: u32) -> Self {
        let channels = (routers * shape.of_router) as usize;
        Self {
            channels: vec![0; channels * shape.of_router as usize],
            lanes: vec![0; channels],
            ports: vec![0; routers as usize * (shape.ports * shape.ports) as usize],
            turns: 0,
            selected: vec![Vec::new(); shape.ports as usize],
        }
    }
}

/// Returns the input that was served least recently; the first one in a tie.
fn least_recently_served(asking: impl Iterator<Item = u32>, last_turn: impl Fn(u32) -> u64) -> Option<u32> {
    asking.min_by_key(|input| last_turn(*input))
}

impl Worms {
    /// Allocates free virtual channels to heads until one of them runs out; returns whether any grant is pending.
    pub(super) fn allocate_channels_by_matrix(&mut self, due: u64) -> bool {
        let Some(mut matrix) = self.matrix.take() else { return false };
        let of_router = self.shape.of_router;
        for number in self.grantable.drain(..) {
            let group = &mut self.groups[number as usize];
            group.is_listed = false;
            while group.can_be_granted() {
                let output = group.next_free();
                let first = output as usize * of_router as usize;
                let last_turn = |input: u32| matrix.channels[first + (input - group.first_input) as usize];
                let input = least_recently_served(group.all_asking(), last_turn)
                    .expect("a group can be granted while an input asks");
                matrix.turns += 1;
                matrix.channels[first + (input - group.first_input) as usize] = matrix.turns;
                group.give(output, input);
                self.outputs[output as usize].holder = input;
                let input_state = &mut self.inputs[input as usize];
                input_state.granted = output;
                self.requests.end_waiting(input_state.router);
                self.pipeline.allocated.put(due, input);
            }
        }
        self.matrix = Some(matrix);
        !self.pipeline.allocated.is_empty()
    }

    /// Matches ports: every input port with ready channels selects one, and every requested output port selects one of
    /// the input ports. Returns the channels whose flits cross, router by router and by ascending output port.
    pub(super) fn match_ports_by_matrix(&mut self) -> Vec<u32> {
        let mut crossings = Vec::new();
        let Some(mut matrix) = self.matrix.take() else { return crossings };
        for index in 0..self.requests.active().len() {
            let router = self.requests.active()[index];
            self.select_channels(&mut matrix, router);
            self.grant_selected(&mut matrix, router, &mut crossings);
        }
        self.matrix = Some(matrix);
        crossings
    }

    fn select_channels(&self, matrix: &mut MatrixArbiters, router: u32) {
        let RouterShape { of_router, of_word, .. } = self.shape;
        let mut best: Option<u32> = None;
        matrix.selected.iter_mut().for_each(Vec::clear);
        for (first, ready) in (router * of_router..).step_by(of_word as usize).zip(self.requests.ready(router)) {
            let mut ready = *ready;
            while ready != 0 {
                let channel = first + ready.trailing_zeros();
                ready &= ready - 1;
                let port = |channel: u32| self.inputs[channel as usize].port;
                // The channels of a port are adjacent.
                if let Some(before) = best.filter(|before| port(*before) != port(channel)) {
                    matrix.selected[usize::from(self.inputs[before as usize].to_port)].push(before);
                    best = None;
                }
                let is_earlier = |before: u32| matrix.lanes[before as usize] <= matrix.lanes[channel as usize];
                best = best.filter(|before| is_earlier(*before)).or(Some(channel));
            }
        }
        if let Some(channel) = best {
            matrix.selected[usize::from(self.inputs[channel as usize].to_port)].push(channel);
        }
    }

    fn grant_selected(&self, matrix: &mut MatrixArbiters, router: u32, crossings: &mut Vec<u32>) {
        let ports = self.shape.ports;
        for to_port in 0..ports {
            let first = ((router * ports + to_port) * ports) as usize;
            let place = |channel: u32| first + usize::from(self.inputs[channel as usize].port);
            let named = matrix.selected[to_port as usize].iter().copied();
            let Some(taken) = least_recently_served(named, |channel| matrix.ports[place(channel)]) else { continue };
            let place = place(taken);
            matrix.turns += 1;
            matrix.ports[place] = matrix.turns;
            matrix.lanes[taken as usize] = matrix.turns;
            crossings.push(taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round robin would serve 0 again after 0 and 2; the matrix serves 1, which has not been served.
    #[test]
    fn who_was_never_served_goes_first_then_whoever_waits_longest() {
        let mut turns = [0_u64; 4];
        let mut number = 0;
        let mut serve = |asking: &[u32]| {
            let served = least_recently_served(asking.iter().copied(), |input| turns[input as usize]).unwrap();
            number += 1;
            turns[served as usize] = number;
            served
        };
        assert_eq!([serve(&[0, 2]), serve(&[0, 2]), serve(&[0, 1])], [0, 2, 1]);
        assert_eq!([serve(&[0, 1, 2, 3]), serve(&[0, 1, 2]), serve(&[0, 1, 2])], [3, 0, 2]);
        assert_eq!(least_recently_served(std::iter::empty(), |_| 0), None);
    }
}
