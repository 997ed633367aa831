//! Rollback of trains that have been admitted ahead.

use super::admissions::SpeculativeAdmission;
use super::{Advance, Coming, NO_LINK, Play, Train};
use crate::engine::EvenInstants;
use crate::machine::transport::packets::Job;
use crate::network::{Packet, PacketKind};
use crate::units::{SimDuration, SimTime};

impl Play<'_> {
    /// Something else than the arrival of a train happens at `vertex`: what has not come to it yet is withdrawn.
    pub(in crate::machine::transport) fn settle(&mut self, vertex: u32) {
        self.settle_before(vertex, false);
    }

    /// A train comes to `vertex` that has not been admitted ahead, but others have that may come after it.
    pub(super) fn settle_for_train(&mut self, vertex: u32) {
        self.settle_before(vertex, true);
    }

    fn settle_before(&mut self, vertex: u32, trains_of_this_event: bool) {
        let links = self.first_processor;
        while let Some(admission) = self.trains.admissions.pop(vertex) {
            let at_once = trains_of_this_event || admission.link == NO_LINK || admission.entity < links;
            let arrived = admission.arrived(self.key, at_once);
            if arrived < admission.train.run.count {
                self.withdraw(vertex, &admission, arrived);
                self.come_later(vertex, &admission, arrived);
            }
            if arrived > 0 {
                self.trains.admissions.clear(vertex);
            }
        }
    }

    /// All but the first `kept` packets of the last admission of `vertex`, which has been taken out, are withdrawn from
    /// there on.
    fn withdraw(&mut self, vertex: u32, admission: &SpeculativeAdmission, kept: u32) {
        let SpeculativeAdmission { train: Train { run, packet, .. }, out, service, before, link_free, .. } = *admission;
        if admission.deferred {
            self.processors.take_back_deferred(vertex, kept);
            return;
        }
        let withdrawn = run.count - kept;
        self.counts.events -= u64::from(withdrawn);
        let departures = self.processors.take_back(self.calendar, vertex, before, (run, kept), service);
        if packet.to == vertex {
            self.take_out(vertex, packet, withdrawn);
            if out != NO_LINK {
                let acknowledge = self.acknowledge(packet.message);
                let transmission = self.trains.transmission(acknowledge.bytes);
                self.take_back(out, link_free, 1, transmission);
                self.cancel(out, 1);
            }
            return;
        }
        if admission.notice {
            self.withdraw_notice(vertex, admission);
        }
        let transmission = self.trains.transmission(packet.bytes);
        self.take_back(out, link_free, run.count, transmission);
        if let Some(departures) = departures {
            self.transmit(out, &packet, &departures, transmission);
        }
        self.cancel(out, withdrawn);
    }

    fn withdraw_notice(&mut self, vertex: u32, admission: &SpeculativeAdmission) {
        let more = admission.notice && self.messages[admission.train.packet.message as usize].unprepared > 0;
        if more && self.node.sending.overlap {
            self.job_timers.withdraw(vertex);
        } else {
            self.trains.coming.pop_back(admission.out);
        }
    }

    fn take_out(&mut self, vertex: u32, packet: Packet, count: u32) {
        let message = &mut self.messages[packet.message as usize];
        if packet.kind == PacketKind::Acknowledge || message.missing == 0 {
            self.job_timers.withdraw(vertex);
        }
        if packet.kind == PacketKind::Data {
            message.missing += count;
        }
    }

    fn take_back(&mut self, out: u32, free: SimTime, count: u32, transmission: SimDuration) {
        let track = &mut self.trains.tracks[out as usize];
        track.line.take_back(free, transmission * u64::from(count));
        track.carried -= count;
        if let Some(transfers) = &mut self.trains.transfers {
            transfers.give_back(out, count);
        }
        self.counts.packet_hops -= u64::from(count);
        self.counts.events -= u64::from(count);
    }

    /// The last packets given to `link` do not come out of it after all.
    fn cancel(&mut self, link: u32, count: u32) {
        let mut left = count;
        while let Some(coming) = self.trains.coming.back_mut(link).filter(|_| left > 0) {
            let EvenInstants { count, .. } = &mut coming.train.run;
            if let Some(rest) = count.checked_sub(left).filter(|rest| *rest > 0) {
                *count = rest;
                return;
            }
            left -= *count;
            self.trains.coming.pop_back(link);
        }
        if left > 0 {
            self.cancel_admitted(link, left);
        }
    }

    /// The last `left` packets that have been admitted where `link` ends do not come. What comes after them from
    /// elsewhere comes when it comes.
    fn cancel_admitted(&mut self, link: u32, mut left: u32) {
        let vertex = self.trains.tracks[link as usize].end;
        while left > 0 {
            let mut admission = self.trains.admissions.pop(vertex).expect("what has been admitted is known");
            if admission.link != link {
                self.withdraw(vertex, &admission, 0);
                self.come_later(vertex, &admission, 0);
                continue;
            }
            let kept = admission.train.run.count.saturating_sub(left);
            self.withdraw(vertex, &admission, kept);
            left -= admission.train.run.count - kept;
            if kept > 0 {
                admission.train.run.count = kept;
                if admission.train.packet.to == vertex {
                    admission.out = NO_LINK;
                }
                self.trains.admissions.push(vertex, admission);
            }
        }
    }

    /// All but the first `kept` packets of a withdrawn admission come when they come.
    fn come_later(&mut self, vertex: u32, admission: &SpeculativeAdmission, kept: u32) {
        let SpeculativeAdmission { train, link, entity, out, .. } = *admission;
        if link == NO_LINK {
            let withdrawn = u64::from(train.run.count - kept);
            let id = train.packet.message;
            self.messages[id as usize].unprepared += u64::from(train.packet.bytes) * withdrawn;
            if self.node.sending.overlap {
                self.job_timers.add(self.calendar, vertex, self.processors.free(vertex), Job::Continue(id));
            } else {
                self.notify_departure(out, train);
            }
        } else if let Some(run) = train.run.tail(kept) {
            let train = Train { run, advance: Advance::Never, ..train };
            self.trains.coming.push_front(link, Coming { train, entity, arrives: true, leaves: false });
            self.schedule_next(link);
        }
    }
}
