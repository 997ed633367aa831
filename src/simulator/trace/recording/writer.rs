//! The writer of recordings.

use super::{CauseKind, FreeTimes, Header, Interval, MAGIC, mark};
use crate::trace::accounts::Activity;
use crate::trace::events::EventId;
use crate::trace::{BusyInterval, Counts, LinkLoad, Transfer, find_phase};
use crate::units::{SimDuration, SimTime};
use std::io::{self, Write};

/// Writes a recording during a run. Only the times of the ranks and the names of the phases are kept in memory.
pub struct RecordingWriter<W> {
    sink: W,
    phases: Vec<&'static str>,
    /// The end of the last interval of each rank.
    ends: Vec<SimTime>,
    last: SimTime,
    events: u64,
    free: FreeTimes,
    buffer: EntryBuffer,
}

/// Bytes of a recording that are buffered to be written together.
struct EntryBuffer {
    /// The buffer, of which the first `filled` bytes are in use.
    bytes: Vec<u8>,
    filled: usize,
}

/// Number of buffered bytes at which the buffer is written.
const CHUNK: usize = 1 << 13;
/// An upper bound of the size of an entry without its text; the last entry is written in parts.
const ENTRY: usize = 256;

impl EntryBuffer {
    fn new() -> Self {
        Self { bytes: vec![0; CHUNK + ENTRY], filled: 0 }
    }

    /// Reserves space for an entry with `text` bytes of text.
    fn begin_entry(&mut self, text: usize) {
        let needed = self.filled + text + ENTRY;
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.bytes[self.filled] = byte;
        self.filled += 1;
    }

    /// Appends a number with seven bits per byte, the low ones first; all bytes except the last have their highest bit
    /// set.
    #[inline]
    fn number(&mut self, number: u64) {
        self.numbers(&[number]);
    }

    /// Appends several numbers.
    #[inline]
    fn numbers(&mut self, numbers: &[u64]) {
        let (bytes, mut filled) = (self.bytes.as_mut_slice(), self.filled);
        for number in numbers {
            let mut number = *number;
            while number > 0x7f {
                bytes[filled] = (number & 0x7f) as u8 | 0x80;
                number >>= 7;
                filled += 1;
            }
            bytes[filled] = (number & 0x7f) as u8;
            filled += 1;
        }
        self.filled = filled;
    }

    fn text(&mut self, text: &str) {
        self.begin_entry(text.len());
        self.number(text.len() as u64);
        self.bytes[self.filled..][..text.len()].copy_from_slice(text.as_bytes());
        self.filled += text.len();
        self.begin_entry(0);
    }

    /// Writes all buffered bytes.
    fn write(&mut self, sink: &mut impl Write) -> io::Result<()> {
        sink.write_all(&self.bytes[..self.filled])?;
        self.filled = 0;
        Ok(())
    }

    /// Writes the buffered bytes once there are enough of them.
    #[inline]
    fn end_entry(&mut self, sink: &mut impl Write) -> io::Result<()> {
        if self.filled < CHUNK { Ok(()) } else { self.write(sink) }
    }
}

impl<W: Write> RecordingWriter<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn new(mut sink: W, header: &Header) -> io::Result<Self> {
        let mut buffer = EntryBuffer::new();
        sink.write_all(MAGIC)?;
        for text in [&header.origin, &header.program, &header.machine] {
            buffer.text(text);
        }
        buffer.number(header.nodes.len() as u64);
        for node in &header.nodes {
            buffer.begin_entry(0);
            buffer.number(u64::from(*node));
            buffer.end_entry(&mut sink)?;
        }
        let ends = vec![SimTime::START; header.nodes.len()];
        Ok(Self { sink, phases: Vec::new(), ends, last: SimTime::START, events: 0, free: FreeTimes::default(), buffer })
    }

    /// Returns the end of the last interval of `rank`.
    #[must_use]
    pub fn end(&self, rank: u32) -> SimTime {
        self.ends[rank as usize]
    }

    /// Writes an interval; intervals must be written in the order of their ends. `busy` are the times of the system time
    /// in it; without them, it comes first. Returns the number of the last event of the interval, if it has one.
    ///
    /// # Errors
    /// Errors of the sink, and more than 2^32 events.
    pub fn interval(&mut self, interval: &Interval<'static>, busy: &[BusyInterval]) -> io::Result<Option<EventId>> {
        self.buffer.begin_entry(0);
        let phase = self.phase(interval.phase);
        let Interval { rank, activity, end, system, ready, cause, .. } = *interval;
        let is_shared = interval.is_shared && (system > SimDuration::ZERO || activity == Activity::System);
        if is_shared || ready > SimDuration::ZERO {
            self.buffer.push(mark::READY);
            self.buffer.number(ready.ps());
            self.buffer.number(is_shared.into());
        }
        if !busy.is_empty() {
            self.busy(self.end(rank), busy)?;
        }
        if let Some(CauseKind::Message { sender: Some(sender), .. }) = cause.map(|cause| cause.means) {
            self.buffer.push(mark::SENDER);
            self.buffer.number(sender.into());
        }
        self.buffer.push(cause.map_or(mark::INTERVAL, |cause| mark::CAUSED + cause.means.number()));
        let doing = phase * Activity::ALL.len() as u64 + activity as u64;
        self.buffer.numbers(&[end.since(self.last).ps(), u64::from(rank), doing, system.ps()]);
        let events = interval.events();
        self.events += events;
        if let Some(cause) = cause {
            self.buffer.number(self.events - 1 - u64::from(cause.event));
            self.buffer.number(cause.delay.ps());
            if let CauseKind::Message { bytes, .. } = cause.means {
                self.buffer.number(bytes);
            }
        }
        self.last = end;
        self.ends[rank as usize] = end;
        self.buffer.end_entry(&mut self.sink)?;
        let last = self.events.saturating_sub(1);
        let event = EventId::try_from(last).map_err(|_| io::Error::other("a recording has at most 2^32 events"))?;
        Ok((events > 0).then_some(event))
    }

    /// Writes the times of the system time in an interval that begins at `begin`.
    fn busy(&mut self, begin: SimTime, busy: &[BusyInterval]) -> io::Result<()> {
        self.buffer.push(mark::BUSY);
        self.buffer.number(busy.len() as u64);
        let mut last = begin;
        for BusyInterval { begin, end, handling, .. } in busy {
            self.buffer.numbers(&[begin.since(last).ps(), end.since(*begin).ps(), *handling as u64]);
            last = *end;
            self.buffer.end_entry(&mut self.sink)?;
            self.buffer.begin_entry(0);
        }
        Ok(())
    }

    /// Writes a transfer over a link; the transfers of a channel must be written in order.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn transfer(&mut self, transfer: &Transfer) -> io::Result<()> {
        self.buffer.begin_entry(0);
        let free = self.free.entry((transfer.from, transfer.to, transfer.channel)).or_insert(SimTime::START);
        if transfer.channel == 0 && transfer.on_wire == transfer.time {
            self.buffer.push(mark::TRANSFER);
        } else {
            self.buffer.push(mark::ALTERNATING);
            self.buffer.number(transfer.channel.into());
            self.buffer.number((transfer.time - transfer.on_wire).ps());
        }
        self.buffer.numbers(&[
            transfer.from.into(),
            transfer.to.into(),
            transfer.destination.into(),
            self.events - u64::from(transfer.event),
            2 * u64::from(transfer.packets) + u64::from(transfer.is_acknowledge),
            transfer.bytes.into(),
            transfer.first.since(*free).ps(),
            transfer.time.ps(),
        ]);
        if transfer.packets > 1 {
            self.buffer.number((transfer.gap - transfer.time).ps());
        }
        *free = transfer.end();
        self.buffer.end_entry(&mut self.sink)
    }

    /// Returns the number of a phase, which is announced if it is new.
    fn phase(&mut self, phase: &'static str) -> u64 {
        let number = find_phase(&self.phases, phase).unwrap_or_else(|| {
            self.buffer.push(mark::PHASE);
            self.buffer.text(phase);
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
        self.buffer.begin_entry(0);
        self.buffer.push(mark::END);
        self.buffer.numbers(&[makespan.ps(), counts.events, counts.messages, counts.packet_hops, links.len() as u64]);
        for link in links {
            self.buffer.begin_entry(0);
            self.buffer.numbers(&[link.from.into(), link.to.into(), link.packets, link.busy.ps()]);
            self.buffer.end_entry(&mut self.sink)?;
        }
        self.buffer.write(&mut self.sink)?;
        self.sink.flush()
    }
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
            writer.interval(
                &Interval {
                    rank: 0,
                    phase,
                    activity: Activity::Computing,
                    end,
                    system,
                    ready: SimDuration::ZERO,
                    is_shared: false,
                    cause: None,
                },
                &[],
            )
        };
        assert_eq!(compute(1).unwrap(), Some(EventId::MAX));
        assert_eq!(compute(2).unwrap_err().to_string(), "a recording has at most 2^32 events");
    }
}
