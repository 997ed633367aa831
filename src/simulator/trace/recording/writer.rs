//! Recordings are written while a run is run.

use super::{Free, Header, Interval, MAGIC, Means, mark};
use crate::trace::accounts::Activity;
use crate::trace::events::EventId;
use crate::trace::{Counts, LinkLoad, Transfer, find_phase};
use crate::units::{SimDuration, SimTime};
use std::io::{self, Write};

/// Writes a recording. Nothing is kept but the times of the ranks and the names of the phases.
pub struct RecordingWriter<W> {
    sink: W,
    phases: Vec<&'static str>,
    /// End of the last interval of each rank.
    ends: Vec<SimTime>,
    last: SimTime,
    events: u64,
    free: Free,
    buffer: Vec<u8>,
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn new(mut sink: W, header: &Header) -> io::Result<Self> {
        let mut buffer = MAGIC.to_vec();
        put_text(&mut buffer, &header.origin);
        put_text(&mut buffer, &header.program);
        put_text(&mut buffer, &header.machine);
        put(&mut buffer, header.nodes.len() as u64);
        for node in &header.nodes {
            put(&mut buffer, u64::from(*node));
        }
        sink.write_all(&buffer)?;
        buffer.clear();
        let ends = vec![SimTime::START; header.nodes.len()];
        Ok(Self { sink, phases: Vec::new(), ends, last: SimTime::START, events: 0, free: Free::default(), buffer })
    }

    /// Returns the end of the last interval of `rank`.
    #[must_use]
    pub fn end(&self, rank: u32) -> SimTime {
        self.ends[rank as usize]
    }

    /// Writes an interval; intervals come in the order of their ends. The number of its last event, if it has one.
    ///
    /// # Errors
    /// Errors of the sink, and more than 2^32 events.
    pub fn interval(&mut self, interval: &Interval<'static>) -> io::Result<Option<EventId>> {
        let phase = self.phase(interval.phase);
        let Interval { rank, activity, end, system, ready, cause, .. } = *interval;
        let is_shared = interval.is_shared && (system > SimDuration::ZERO || activity == Activity::System);
        if is_shared || ready > SimDuration::ZERO {
            self.buffer.push(mark::READY);
            put(&mut self.buffer, ready.ps());
            put(&mut self.buffer, is_shared.into());
        }
        self.buffer.push(cause.map_or(mark::INTERVAL, |cause| mark::CAUSED + cause.means.number()));
        put(&mut self.buffer, end.since(self.last).ps());
        put(&mut self.buffer, u64::from(rank));
        put(&mut self.buffer, phase * Activity::ALL.len() as u64 + activity as u64);
        put(&mut self.buffer, system.ps());
        let events = interval.events();
        self.events += events;
        if let Some(cause) = cause {
            put(&mut self.buffer, self.events - 1 - u64::from(cause.event));
            put(&mut self.buffer, cause.delay.ps());
            if let Means::Message { bytes } = cause.means {
                put(&mut self.buffer, bytes);
            }
        }
        self.last = end;
        self.ends[rank as usize] = end;
        self.sink.write_all(&self.buffer)?;
        self.buffer.clear();
        let last = self.events.saturating_sub(1);
        let event = EventId::try_from(last).map_err(|_| io::Error::other("a recording has at most 2^32 events"))?;
        Ok((events > 0).then_some(event))
    }

    /// Writes what a link has carried; transfers of one channel come in their order.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn transfer(&mut self, transfer: &Transfer) -> io::Result<()> {
        let free = self.free.entry((transfer.from, transfer.to, transfer.channel)).or_insert(SimTime::START);
        if transfer.channel == 0 && transfer.on_wire == transfer.time {
            self.buffer.push(mark::TRANSFER);
        } else {
            self.buffer.push(mark::ALTERNATING);
            put(&mut self.buffer, transfer.channel.into());
            put(&mut self.buffer, (transfer.time - transfer.on_wire).ps());
        }
        for number in [
            transfer.from.into(),
            transfer.to.into(),
            transfer.destination.into(),
            self.events - u64::from(transfer.event),
            2 * u64::from(transfer.packets) + u64::from(transfer.is_acknowledge),
            transfer.bytes.into(),
            transfer.first.since(*free).ps(),
            transfer.time.ps(),
        ] {
            put(&mut self.buffer, number);
        }
        if transfer.packets > 1 {
            put(&mut self.buffer, (transfer.gap - transfer.time).ps());
        }
        *free = transfer.end();
        self.sink.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The number of a phase, which is announced when it is new.
    fn phase(&mut self, phase: &'static str) -> u64 {
        let number = find_phase(&self.phases, phase).unwrap_or_else(|| {
            self.buffer.push(mark::PHASE);
            put_text(&mut self.buffer, phase);
            self.phases.push(phase);
            self.phases.len() - 1
        });
        number as u64
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn finish(mut self, makespan: SimDuration, links: &[LinkLoad], counts: Counts) -> io::Result<()> {
        self.buffer.push(mark::END);
        for number in [makespan.ps(), counts.events, counts.messages, counts.packet_hops, links.len() as u64] {
            put(&mut self.buffer, number);
        }
        for link in links {
            for number in [link.from.into(), link.to.into(), link.packets.into(), link.busy.ps()] {
                put(&mut self.buffer, number);
            }
        }
        self.sink.write_all(&self.buffer)?;
        self.sink.flush()
    }
}

/// Seven bits a byte, the low ones first; all bytes but the last have their highest bit set.
fn put(buffer: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            buffer.push(low);
            return;
        }
        buffer.push(low | 0x80);
    }
}

fn put_text(buffer: &mut Vec<u8>, text: &str) {
    put(buffer, text.len() as u64);
    buffer.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_beyond_their_numbers_are_an_error() {
        let header = Header {
            origin: String::new(),
            program: "a program".to_owned(),
            machine: "a machine".to_owned(),
            nodes: vec![0],
        };
        let mut writer = RecordingWriter::new(Vec::new(), &header).unwrap();
        writer.events = u64::from(EventId::MAX);
        let mut compute = |ps| {
            let (end, system) = (SimTime::from_ps(ps), SimDuration::ZERO);
            let phase = "phase";
            writer.interval(&Interval {
                rank: 0,
                phase,
                activity: Activity::Computing,
                end,
                system,
                ready: SimDuration::ZERO,
                is_shared: false,
                cause: None,
            })
        };
        assert_eq!(compute(1).unwrap(), Some(EventId::MAX));
        assert_eq!(compute(2).unwrap_err().to_string(), "a recording has at most 2^32 events");
    }
}
