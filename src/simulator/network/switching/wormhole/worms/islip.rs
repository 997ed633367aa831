//! iSLIP with one iteration: outputs grant, inputs accept, both round robin.
//!
//! N. `McKeown`, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM Transactions on Networking 7
//! (1999). A round-robin pointer advances only if its grant is accepted, which keeps the pointers of the outputs
//! desynchronised.

use super::Worms;
use super::layout::RouterShape;

/// The round-robin pointers, and scratch space for the requests and grants of one router.
pub(super) struct Islip {
    /// By input channel, the pointer to the first output channel in turn.
    channel_turns: Vec<u32>,
    /// By input port over all routers, the pointer to the first output port in turn.
    port_turns: Vec<u32>,
    /// By output port over all routers, the pointer to the first input port in turn.
    output_turns: Vec<u32>,
    /// By input port over all routers, the pointer to its first channel in turn.
    lane_turns: Vec<u32>,
    /// Input and output channel of each grant, by ascending output channel.
    grants: Vec<(u32, u32)>,
    /// Groups that are matched in this cycle.
    granted: Vec<u32>,
    /// By input and output port, the lanes with a request.
    lanes: Vec<u64>,
    /// By output port, the input ports with a request.
    asking: Vec<u128>,
    /// By input port, the output ports that grant it.
    granting: Vec<u128>,
}

impl Islip {
    pub(super) fn new(shape: RouterShape, routers: u32) -> Self {
        let ports = shape.ports as usize;
        Self {
            channel_turns: vec![0; (routers * shape.of_router) as usize],
            port_turns: vec![0; (routers * shape.ports) as usize],
            output_turns: vec![0; (routers * shape.ports) as usize],
            lane_turns: vec![0; (routers * shape.ports) as usize],
            grants: Vec::new(),
            granted: Vec::new(),
            lanes: vec![0; ports * ports],
            asking: vec![0; ports],
            granting: vec![0; ports],
        }
    }

    /// Returns the output channel that `input` accepts among its grants, and advances its pointer.
    fn accept(&mut self, input: u32) -> u32 {
        let turn = self.channel_turns[input as usize];
        let granting = self.grants.iter().filter(|(to, _)| *to == input).map(|(_, output)| *output);
        let accepted = granting
            .min_by_key(|output| (*output < turn, *output))
            .expect("an input accepts after an output has granted it");
        self.channel_turns[input as usize] = accepted + 1;
        accepted
    }
}

impl Worms {
    /// Runs one iteration for the virtual channels of every group; returns whether any grant is pending.
    pub(super) fn allocate_channels_by_islip(&mut self, due: u64) -> bool {
        let Some(mut islip) = self.islip.take() else { return false };
        std::mem::swap(&mut self.grantable, &mut islip.granted);
        let count = islip.granted.len();
        for index in 0..count {
            let number = islip.granted[index];
            self.match_group(&mut islip, number, due);
        }
        islip.granted.clear();
        self.islip = Some(islip);
        !self.pipeline.allocated.is_empty()
    }

    fn match_group(&mut self, islip: &mut Islip, number: u32, due: u64) {
        let group = &mut self.groups[number as usize];
        let outputs = &self.outputs[..];
        islip.grants.clear();
        islip.grants.extend(group.free_outputs().map(|output| (group.next(outputs[output as usize].turn), output)));
        for index in 0..islip.grants.len() {
            let (input, _) = islip.grants[index];
            if group.asks(input) {
                let output = islip.accept(input);
                group.give(output, input);
                self.outputs[output as usize].turn = input - group.first_input + 1;
                self.outputs[output as usize].holder = input;
                self.inputs[input as usize].granted = output;
                self.requests.end_waiting(self.inputs[input as usize].router);
                self.pipeline.allocated.put(due, input);
            }
        }
        group.is_listed = group.can_be_granted();
        if group.is_listed {
            self.grantable.push(number);
        }
    }

    /// Runs one iteration for the crossbar of every router. Returns the channels whose flits cross, router by router
    /// and by ascending output port.
    pub(super) fn match_ports_by_islip(&mut self) -> Vec<u32> {
        let mut crossings = Vec::new();
        let Some(mut islip) = self.islip.take() else { return crossings };
        for index in 0..self.requests.active().len() {
            let router = self.requests.active()[index];
            self.collect_requests(&mut islip, router);
            self.grant_ports(&mut islip, router);
            self.accept_ports(&mut islip, router, &mut crossings);
        }
        self.islip = Some(islip);
        crossings
    }

    fn collect_requests(&self, islip: &mut Islip, router: u32) {
        let RouterShape { ports, of_router, of_word, .. } = self.shape;
        islip.lanes.fill(0);
        islip.asking.fill(0);
        for (first, ready) in (router * of_router..).step_by(of_word as usize).zip(self.requests.ready(router)) {
            let mut ready = *ready;
            while ready != 0 {
                let input = &self.inputs[(first + ready.trailing_zeros()) as usize];
                ready &= ready - 1;
                let (port, to_port) = (u32::from(input.port), u32::from(input.to_port));
                islip.lanes[(port * ports + to_port) as usize] |= 1 << input.lane;
                islip.asking[to_port as usize] |= 1 << port;
            }
        }
    }

    fn grant_ports(&self, islip: &mut Islip, router: u32) {
        let turns = &islip.output_turns[(router * self.shape.ports) as usize..];
        islip.granting.fill(0);
        for ((to_port, asking), turn) in islip.asking.iter().enumerate().zip(turns) {
            if *asking != 0 {
                islip.granting[next_port(*asking, *turn) as usize] |= 1 << to_port;
            }
        }
    }

    fn accept_ports(&self, islip: &mut Islip, router: u32, crossings: &mut Vec<u32>) {
        let RouterShape { ports, channels, .. } = self.shape;
        let begin = crossings.len();
        for port in 0..ports {
            let granting = islip.granting[port as usize];
            if granting == 0 {
                continue;
            }
            let number = router * ports + port;
            let to_port = next_port(granting, islip.port_turns[number as usize]);
            islip.port_turns[number as usize] = to_port + 1;
            islip.output_turns[(router * ports + to_port) as usize] = port + 1;
            let lane = next_lane(islip.lanes[(port * ports + to_port) as usize], islip.lane_turns[number as usize]);
            islip.lane_turns[number as usize] = lane + 1;
            crossings.push(number * channels + lane);
        }
        let inputs = &self.inputs[..];
        crossings[begin..].sort_unstable_by_key(|channel| inputs[*channel as usize].to_port);
    }
}

/// Returns the lowest port from `turn` on, or the lowest of all if there is none.
const fn next_port(ports: u128, turn: u32) -> u32 {
    let later = ports.unbounded_shr(turn).unbounded_shl(turn);
    if later == 0 { ports.trailing_zeros() } else { later.trailing_zeros() }
}

/// Returns the lowest lane from `turn` on, or the lowest of all if there is none.
const fn next_lane(lanes: u64, turn: u32) -> u32 {
    let later = lanes.unbounded_shr(turn).unbounded_shl(turn);
    if later == 0 { lanes.trailing_zeros() } else { later.trailing_zeros() }
}
