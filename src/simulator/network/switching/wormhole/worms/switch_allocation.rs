//! Switch allocation: the assignment of crossbar ports to flits. Each input port with a ready channel selects one, and
//! each requested output port selects one of these input ports.

use super::Worms;
use super::buffers::Input;
use super::departures::FlitDeparture;
use super::layout::{Flit, NONE, RouterShape};
use super::pipeline::Pipeline;
use super::port_matching::{CrossbarAllocation, PortMatching};
use crate::network::packet::HopEvent;

impl Worms {
    /// Marks the front flit of `channel`, which has an output channel, as ready if there is a credit.
    pub(super) fn request_crossbar(&mut self, channel: u32) {
        let input = &self.inputs[channel as usize];
        if self.outputs[input.output as usize].room > 0 {
            self.requests.set_ready(input);
        }
    }

    /// Runs the crossbars for a cycle; returns whether any flit has moved.
    pub(super) fn allocate_switches(&mut self, hops: &mut Vec<HopEvent>) -> bool {
        const MANY: usize = RouterShape::MAX_WORDS as usize;
        match (&self.islip, &self.matrix, self.shape.words) {
            (Some(_), ..) => {
                let channels = self.match_ports_by_islip();
                self.cross(channels.into_iter(), hops);
            }
            (_, Some(_), _) => {
                let channels = self.match_ports_by_matrix();
                self.cross(channels.into_iter(), hops);
            }
            (.., 1) => self.cross(PortMatching::<1>::new(self.shape), hops),
            _ => self.cross(PortMatching::<MANY>::new(self.shape), hops),
        }
        !self.pipeline.departures.current().is_empty()
    }

    fn cross(&mut self, mut allocation: impl CrossbarAllocation, hops: &mut Vec<HopEvent>) {
        while let Some((channel, tail)) = self.cross_to_tail(&mut allocation) {
            self.end_worm(channel, tail, hops);
        }
    }

    /// Moves flits through the crossbar up to the next tail, which is returned with its channel for
    /// [`end_worm`](Self::end_worm).
    fn cross_to_tail(&mut self, allocation: &mut impl CrossbarAllocation) -> Option<(u32, Flit)> {
        let Self {
            inputs,
            outputs,
            heads_sent,
            requests,
            turns,
            table,
            pipeline: Pipeline { departures, .. },
            next,
            ..
        } = self;
        let (inputs, outputs, departures) = (&mut inputs[..], &mut outputs[..], departures.current());
        while let Some(channel) = allocation.next(requests, turns, inputs) {
            let input = &mut inputs[channel as usize];
            input.count -= 1;
            input.left -= 1;
            let output = &mut outputs[input.output as usize];
            output.room -= 1;
            let flit = input.front;
            if flit.is_head() {
                input.front = flit.next();
                heads_sent[input.output as usize] += 1;
                if output.behind == NONE {
                    table[flit.worm() as usize].out = *next;
                }
            }
            if input.left == 0 {
                return Some((channel, flit.ending(true)));
            }
            departures.push(FlitDeparture { to: output.behind, flit, credited: input.before });
            if input.count == 0 || output.room == 0 {
                requests.clear_ready(input);
            }
        }
        None
    }

    /// Sends the tail of a worm, whose counts are already updated; releases what the worm held, and brings the next head
    /// to the front.
    fn end_worm(&mut self, channel: u32, tail: Flit, hops: &mut Vec<HopEvent>) {
        let input = &mut self.inputs[channel as usize];
        let output = &mut self.outputs[input.output as usize];
        let worm = &mut self.table[tail.worm() as usize];
        self.pipeline.departures.current().push(FlitDeparture {
            to: output.behind,
            flit: tail,
            credited: input.before,
        });
        output.flits += u64::from(worm.flits);
        output.holder = NONE;
        if output.behind == NONE {
            output.room = u32::MAX;
            worm.stalled_cycles = (self.next + 1 - worm.out).saturating_sub(worm.flits.into());
            self.pipeline.ejections.slot().push((input.router, tail.worm()));
        }
        if self.groups[input.group as usize].release(input.output) {
            self.grantable.push(input.group);
        }
        self.requests.clear_ready(input);
        (input.to_port, input.output) = (Input::NOWHERE, NONE);
        if input.count > 0 {
            let worm = self.heads.pop(channel);
            self.start_head(channel, worm, hops);
        }
    }
}
