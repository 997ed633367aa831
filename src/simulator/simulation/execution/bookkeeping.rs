//! Records of a run: the accounts always, a recording and an activity log on request, and in the end the trace.

use super::Execution;
use crate::program::{Operation, Reply, Verb};
use crate::simulation::matching::Match;
use crate::simulation::recorder::Recorder;
use crate::simulation::{Detail, SimulationError};
use crate::trace::{Activity, Counts, Header, LinkLoad, LogDetail, LogEntry, Trace};
use crate::units::{SimDuration, SimTime};
use std::io::Write;

impl<'s> Execution<'s> {
    /// Records the run into `sink`. To be called before it begins.
    pub fn record(&mut self, program: &str, detail: Detail, sink: Box<dyn Write + 's>) -> Result<(), SimulationError> {
        let nodes = self.layout.nodes().to_vec();
        let header = Header { program: program.to_owned(), machine: self.machine.name.clone(), nodes };
        let recorder = Recorder::new(sink, &header, self.machine.sends.may_wait_for_receives());
        let recorder = recorder.map_err(|error| SimulationError::NotRecorded(error.to_string()))?;
        self.recorder = Some(Box::new(recorder));
        if detail == Detail::Links {
            self.transport.record_transfers();
        }
        Ok(())
    }

    /// Records what links have carried.
    pub(super) fn write_transfers(&mut self) {
        let (Some(recorder), Some(transfers)) = (&mut self.recorder, self.transport.transfers()) else { return };
        for transfer in transfers.sure() {
            recorder.carried(&transfer);
        }
    }

    /// Puts down the reply to what `rank` has asked for.
    pub(super) fn note_reply(&mut self, rank: u32, reply: Option<&Reply>) {
        if let (Some(request_logger), Some(reply)) = (&mut self.request_logger, reply) {
            request_logger.answered(rank, reply);
        }
    }

    /// Writes down in the activity log what `rank` asks for.
    pub(super) fn note_request(&mut self, rank: u32, verb: &Verb) {
        if let Some(request_logger) = &mut self.request_logger {
            request_logger.asked(rank, verb, self.surroundings.phases.name(self.ranks[rank as usize].phase));
        }
        let Some(activity_logger) = &mut self.activity_logger else { return };
        let awaited = match verb {
            Verb::Wait(operation) => self.matching.find(rank, *operation).map(|task| task.kind),
            _ => None,
        };
        activity_logger.asked(rank, verb, awaited);
    }

    /// Records that a message and its receive have met.
    pub(super) fn meet(&mut self, now: SimTime, found: &Match) {
        if let Some(recorder) = &mut self.recorder {
            let rank = self.matching.rank(found.operation);
            recorder.received(now, rank, found);
        }
    }

    /// Records that `rank` goes on because an operation is complete.
    pub(super) fn join(&mut self, rank: u32, operation: Operation) {
        if let Some(recorder) = &mut self.recorder {
            recorder.joined(rank, operation);
        }
    }

    /// Records that `rank` need not wait for an operation that is complete already.
    pub(super) fn join_at_once(&mut self, now: SimTime, rank: u32, operation: Operation, activity: Activity) {
        if let Some(recorder) = &mut self.recorder {
            recorder.joined_at_once(now, rank, operation);
            let phase = self.surroundings.phases.name(self.ranks[rank as usize].phase);
            recorder.booked(rank, phase, activity, now, SimDuration::ZERO);
        }
    }

    /// Books the time since the process of `rank` was last booked, but for the time in which its
    /// processor worked for the communication, as its activity.
    pub(super) fn account(&mut self, now: SimTime, rank: u32) {
        let system = self.transport.system_time(self.layout.seat(rank), now);
        let state = &mut self.ranks[rank as usize];
        let stolen = system - state.system_before;
        let rest = now.since(state.since) - stolen;
        let (index, phases) = (state.phase as usize, &self.surroundings.phases);
        if stolen + rest > SimDuration::ZERO {
            if index >= self.places.len() {
                self.places.resize(index + 1, None);
            }
            let place = *self.places[index].get_or_insert_with(|| self.accounts.place(phases.name(state.phase)));
            self.accounts.add_at(rank, place, Activity::System, stolen);
            self.accounts.add_at(rank, place, state.activity, rest);
        }
        if let Some(recorder) = &mut self.recorder {
            let phase = phases.name(state.phase);
            recorder.booked(rank, phase, state.activity, now, stolen);
        }
        if let Some(activity_logger) = &mut self.activity_logger {
            let (phase, processor) = (phases.name(state.phase), self.transport.processor(self.layout.seat(rank)));
            let (activity, begin, end, system) = (state.activity, state.since, now, stolen);
            activity_logger.booked(LogEntry {
                rank,
                processor,
                phase,
                activity,
                doing: LogDetail::Else,
                begin,
                end,
                system,
            });
        }
        state.since = now;
        state.system_before = system;
    }

    /// The trace, unless processes still wait.
    pub fn close(mut self) -> Result<Trace, SimulationError> {
        // Before the transfers are taken: without a finished rank there is no finish time to read link loads at.
        if self.finished < self.layout.ranks() {
            return Err(self.standstill());
        }
        let (links, counts) = self.traffic()?;
        self.close_with(links, counts)
    }

    /// The trace with the counts and the loads of links of another run of the same run.
    pub fn close_counted_by(self, mut other: Self) -> Result<Trace, SimulationError> {
        let (links, counts) = other.traffic()?;
        self.close_with(links, counts)
    }

    fn traffic(&mut self) -> Result<(Vec<LinkLoad>, Counts), SimulationError> {
        let (links, counts) = (self.transport.take_link_loads(self.last_finish), self.transport.counts());
        counted(&links, counts.packet_hops)?;
        Ok((links, counts))
    }

    fn close_with(mut self, links: Vec<LinkLoad>, counts: Counts) -> Result<Trace, SimulationError> {
        let end = self.last_finish;
        for rank in 0..self.layout.ranks() {
            self.account(end, rank);
        }
        let makespan = end.since(SimTime::START);
        self.transport.finish_transfers(end);
        self.write_transfers();
        if let Some(recorder) = self.recorder {
            recorder.finish(makespan, &links, counts)?;
        }
        let services = self.transport.take_services();
        let activity_log = self.activity_logger.map(|activity_logger| activity_logger.close(services));
        Ok(Trace {
            makespan,
            host: self.surroundings.host,
            accounts: self.accounts,
            links,
            counts,
            outcomes: self.surroundings.outcomes.take(),
            critical_intervals: self.surroundings.critical_intervals.take(),
            deliveries: self.deliveries.unwrap_or_default(),
            activity_log,
            requests: self.request_logger.map(|logger| logger.close()),
        })
    }
}

/// Packets are counted by link in 32 bits and together in 64: where the two differ, a link has carried more than 2^32.
fn counted(links: &[LinkLoad], packet_hops: u64) -> Result<(), SimulationError> {
    let of_links: u64 = links.iter().map(|link| u64::from(link.packets)).sum();
    if packet_hops > of_links && packet_hops > u64::from(u32::MAX) {
        return Err(SimulationError::PacketLimit { packet_hops });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_packets_than_a_link_can_count_are_an_error() {
        let link = |packets| LinkLoad { from: 0, to: 1, packets, busy: SimDuration::ZERO };
        assert_eq!(counted(&[link(u32::MAX), link(7)], u64::from(u32::MAX) + 7), Ok(()));
        let error = counted(&[link(3), link(7)], (1 << 32) + 10).unwrap_err();
        assert!(error.to_string().contains("4294967306 packet-hops"), "{error}");
    }
}
