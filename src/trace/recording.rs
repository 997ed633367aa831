//! A recorded run as a stream of bytes, written while the run is played and read back as events.
//!
//! `docs/trace-format.md` describes every byte.

use super::accounts::Activity;
use super::events::{Antecedent, Event, EventId, Events, Label, MESSAGE, Way};
use super::{Counts, LinkLoad, Transfer};
use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;
use std::io::{self, Read, Write};

/// The first bytes of a recording; the number is the version of the format.
pub const MAGIC: &[u8] = b"parsim-trace 2\n";

/// What recordings of all versions begin with, and the versions that can be read: version 1 had no transfers.
const KIND: &[u8] = b"parsim-trace ";
const READABLE: [u8; 2] = [b'1', b'2'];

/// Whether a file with these first bytes is a recording, of any version.
#[must_use]
pub fn is_recording(first: &[u8]) -> bool {
    first.starts_with(KIND)
}

/// What every recording begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The program, in words.
    pub program: String,
    /// The machine, in words.
    pub machine: String,
    /// The node of each rank.
    pub nodes: Vec<u32>,
}

/// What a rank did from the end of its last interval to `end`.
///
/// It makes an event for the time in which its processor worked for the communication, if there is any, and one for
/// the rest, unless the rank was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<'p> {
    /// The rank.
    pub rank: u32,
    /// The phase of the program.
    pub phase: &'p str,
    /// What it did.
    pub activity: Activity,
    /// When the interval ended.
    pub end: SimTime,
    /// The time in which its processor worked for the communication.
    pub system: SimDuration,
    /// What ended it, unless the activity itself did.
    pub cause: Option<Cause>,
}

/// What ended a wait: an event of the recording, after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The event.
    pub event: EventId,
    /// The time from the event to its effect.
    pub delay: SimDuration,
    /// On what way it took effect.
    pub means: Means,
}

/// On what way one event causes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// A message came; the event is its sending.
    Message {
        /// Its length.
        bytes: u64,
    },
    /// A send was complete; the event is its beginning, or the receive that the sender waited for.
    Sending,
    /// Bytes had moved through what the cores of a node share; the event is the beginning of that.
    Memory,
    /// The last one came to a barrier; the event is that.
    Release,
}

/// No event takes fewer bytes, on average over the two that a record may make, and no antecedent.
const LEAST_OF_EVENT: usize = 4;
const LEAST_OF_ANTECEDENT: usize = 7;

/// The marks of the records.
mod mark {
    pub const END: u8 = 0;
    pub const PHASE: u8 = 1;
    pub const INTERVAL: u8 = 2;
    /// Intervals with causes: this and the number of the means.
    pub const CAUSED: u8 = 3;
    pub const TRANSFER: u8 = 7;
}

/// When each direction of a link was free, as far as transfers have been told.
type Free = FxHashMap<(u32, u32), SimTime>;

/// Writes a recording. Nothing is kept but the times of the ranks and the names of the phases.
pub struct RecordingWriter<W> {
    sink: W,
    phases: Vec<&'static str>,
    /// When the last interval of each rank ended.
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
    /// What the sink says.
    pub fn new(mut sink: W, header: &Header) -> io::Result<Self> {
        let mut buffer = MAGIC.to_vec();
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

    /// When the last interval of `rank` ended.
    #[must_use]
    pub fn end(&self, rank: u32) -> SimTime {
        self.ends[rank as usize]
    }

    /// Writes an interval; intervals come in the order of their ends. The number of its last event, if it has one.
    ///
    /// # Errors
    /// What the sink says.
    ///
    /// # Panics
    /// After 2^32 events.
    pub fn interval(&mut self, interval: &Interval<'static>) -> io::Result<Option<EventId>> {
        let phase = self.phase(interval.phase);
        let Interval { rank, activity, end, system, cause, .. } = *interval;
        self.buffer.push(cause.map_or(mark::INTERVAL, |cause| mark::CAUSED + cause.means.number()));
        put(&mut self.buffer, end.since(self.last).ps());
        put(&mut self.buffer, u64::from(rank));
        put(&mut self.buffer, phase * Activity::ALL.len() as u64 + activity as u64);
        put(&mut self.buffer, system.ps());
        self.events += u64::from(system > SimDuration::ZERO) + u64::from(activity != Activity::Idle);
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
        let has_events = system > SimDuration::ZERO || activity != Activity::Idle;
        let last = self.events.saturating_sub(1);
        Ok(has_events.then(|| EventId::try_from(last).expect("events are counted in 32 bits")))
    }

    /// Writes what a link has carried; transfers of one direction of a link come in their order.
    ///
    /// # Errors
    /// What the sink says.
    pub fn transfer(&mut self, transfer: &Transfer) -> io::Result<()> {
        let free = self.free.entry((transfer.from, transfer.to)).or_insert(SimTime::START);
        self.buffer.push(mark::TRANSFER);
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
        // Pointer first: phases are literals, and this runs for every interval.
        let known = self.phases.iter().position(|known| std::ptr::eq(*known, phase) || *known == phase);
        let number = known.unwrap_or_else(|| {
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
    /// What the sink says.
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

impl Means {
    const fn number(self) -> u8 {
        match self {
            Self::Message { .. } => 0,
            Self::Sending => 1,
            Self::Memory => 2,
            Self::Release => 3,
        }
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

/// A recorded run, read back.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What was recorded.
    pub header: Header,
    /// What happened, in its order.
    pub events: Events,
    /// When the last process had finished.
    pub makespan: SimDuration,
    /// Every direction of every link.
    pub links: Vec<LinkLoad>,
    /// What the links carried, each direction in its order; empty if that was not recorded.
    pub transfers: Vec<Transfer>,
    /// The work of the simulator.
    pub counts: Counts,
    /// Where the time of every rank went.
    pub times: RankTimes,
}

/// The time of every rank by phase and activity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankTimes {
    /// The phases, in the order in which time was first spent in them.
    pub phases: Vec<String>,
    /// By rank, then by phase: the time of each activity, in the order of [`Activity::ALL`].
    pub ranks: Vec<Vec<[SimDuration; Activity::ALL.len()]>>,
}

impl RankTimes {
    fn add(&mut self, rank: usize, phase: usize, activity: Activity, time: SimDuration) {
        let phases = &mut self.ranks[rank];
        if phases.len() <= phase {
            phases.resize(phase + 1, [SimDuration::ZERO; Activity::ALL.len()]);
        }
        phases[phase][activity as usize] += time;
    }
}

/// Why bytes are no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// They cannot be read.
    #[error("{0}")]
    Read(io::Error),
    /// They do not begin as a recording does.
    #[error(
        "this is no trace of parsim: it should begin with `parsim-trace 2`; write one with `parsim run SCENARIO --trace FILE`"
    )]
    NoRecording,
    /// They are a recording of another version.
    #[error(
        "this trace has the version {version} of the format, and this parsim reads 1 and 2; write it again with this one"
    )]
    OtherVersion {
        /// What stands in the place of the version.
        version: String,
    },
    /// They end too early.
    #[error("the trace ends at byte {at}, before its end mark: the run did not end, or the file is cut off")]
    CutOff {
        /// How many bytes there are.
        at: u64,
    },
    /// A record is not what the format says.
    #[error("byte {at}: {what}")]
    Malformed {
        /// The place, from 0.
        at: u64,
        /// What is wrong.
        what: String,
    },
}

/// Bytes with their place.
struct Source<R> {
    bytes: R,
    at: u64,
}

impl<R: Read> Source<R> {
    fn byte(&mut self) -> Result<u8, RecordingError> {
        let mut byte = [0];
        self.fill(&mut byte)?;
        Ok(byte[0])
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RecordingError> {
        self.bytes.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => RecordingError::CutOff { at: self.at },
            _ => RecordingError::Read(error),
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn number(&mut self) -> Result<u64, RecordingError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.malformed("a number has more than 64 bits"))
    }

    fn small(&mut self, what: &str) -> Result<u32, RecordingError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.malformed(&format!("{number} is too large for {what}")))
    }

    fn span(&mut self) -> Result<SimDuration, RecordingError> {
        self.number().map(SimDuration::from_ps)
    }

    fn text(&mut self) -> Result<String, RecordingError> {
        let length = self.number()?;
        if length > 1 << 16 {
            return Err(self.malformed("a text has more than 65536 bytes"));
        }
        let mut bytes = vec![0; usize::try_from(length).expect("just looked at")];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| self.malformed("a text is not UTF-8"))
    }

    fn malformed(&self, what: &str) -> RecordingError {
        RecordingError::Malformed { at: self.at, what: what.to_owned() }
    }
}

/// A recording while it is read.
struct Reading {
    header: Header,
    events: Events,
    times: RankTimes,
    now: SimTime,
    /// When the last interval of each rank ended.
    ends: Vec<SimTime>,
    /// The labels of each phase by activity.
    labels: Vec<[u16; Activity::ALL.len()]>,
    /// The ways of messages by the nodes at their ends: a trace may have many times more messages than ways.
    message_ways: FxHashMap<(u32, u32), u32>,
    transfers: Vec<Transfer>,
    free: Free,
}

/// Whether a recording that begins so can be read.
fn check_version(magic: &[u8]) -> Result<(), RecordingError> {
    let version = magic.strip_prefix(KIND).ok_or(RecordingError::NoRecording)?;
    match version {
        [version, b'\n'] if READABLE.contains(version) => Ok(()),
        _ => Err(RecordingError::OtherVersion { version: String::from_utf8_lossy(version).trim().to_owned() }),
    }
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// What is no recording, with its place.
    pub fn read(bytes: impl Read) -> Result<Self, RecordingError> {
        Self::read_sized(bytes, 0)
    }

    /// Reads a recording that is known to be `length` bytes long, for which there is room at once.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_sized(bytes: impl Read, length: usize) -> Result<Self, RecordingError> {
        let mut source = Source { bytes, at: 0 };
        let mut magic = vec![0; MAGIC.len()];
        source.fill(&mut magic).map_err(|error| match error {
            RecordingError::CutOff { .. } => RecordingError::NoRecording,
            other => other,
        })?;
        check_version(&magic)?;
        let (program, machine) = (source.text()?, source.text()?);
        let ranks = source.small("a number of ranks")?;
        let nodes = (0..ranks).map(|_| source.small("a node")).collect::<Result<Vec<_>, _>>()?;
        let mut reading = Reading::new(Header { program, machine, nodes });
        reading.events.reserve(length / LEAST_OF_EVENT, length / LEAST_OF_ANTECEDENT);
        loop {
            match source.byte()? {
                mark::END => return reading.finish(&mut source),
                mark::PHASE => reading.phase(source.text()?),
                mark::TRANSFER => reading.transfer(&mut source)?,
                mark => reading.interval(mark, &mut source)?,
            }
        }
    }
}

impl Reading {
    fn new(header: Header) -> Self {
        let ranks = header.nodes.len();
        let times = RankTimes { phases: Vec::new(), ranks: vec![Vec::new(); ranks] };
        let ends = vec![SimTime::START; ranks];
        Self {
            header,
            events: Events::default(),
            times,
            now: SimTime::START,
            ends,
            labels: Vec::new(),
            message_ways: FxHashMap::default(),
            transfers: Vec::new(),
            free: Free::default(),
        }
    }

    fn phase(&mut self, phase: String) {
        let label = |activity: Activity| Label { kind: activity.name().to_owned(), phase: phase.clone() };
        self.labels.push(Activity::ALL.map(|activity| self.events.label(label(activity))));
        self.times.phases.push(phase);
    }

    fn interval<R: Read>(&mut self, mark: u8, source: &mut Source<R>) -> Result<(), RecordingError> {
        let end = self.now + source.span()?;
        let rank = source.small("a rank")?;
        let code = source.number()?;
        let system = source.span()?;
        let kinds = Activity::ALL.len() as u64;
        let phase = usize::try_from(code / kinds).unwrap_or(usize::MAX);
        let activity = Activity::ALL[usize::try_from(code % kinds).expect("there are few activities")];
        let Some(begin) = self.ends.get_mut(rank as usize) else {
            let ranks = self.header.nodes.len();
            return Err(source.malformed(&format!("there is no rank {rank}: the ranks are below {ranks}")));
        };
        let span = end.since(*begin);
        *begin = end;
        let Some(labels) = self.labels.get(phase).copied() else {
            return Err(source.malformed(&format!("phase {phase} has not been announced")));
        };
        if system > span {
            return Err(source.malformed("a rank works longer for the communication than its interval is"));
        }
        self.now = end;
        self.times.add(rank as usize, phase, Activity::System, system);
        self.times.add(rank as usize, phase, activity, span - system);
        if system > SimDuration::ZERO {
            let label = labels[Activity::System as usize];
            self.events.push(Event { process: rank, service: system, label }, None, &[]);
        }
        if activity == Activity::Idle {
            return Ok(());
        }
        let label = labels[activity as usize];
        if mark == mark::INTERVAL {
            self.events.push(Event { process: rank, service: span - system, label }, None, &[]);
        } else {
            let antecedent = self.antecedent(mark, rank, source)?;
            self.events.push(Event { process: rank, service: SimDuration::ZERO, label }, None, &[antecedent]);
        }
        Ok(())
    }

    fn transfer<R: Read>(&mut self, source: &mut Source<R>) -> Result<(), RecordingError> {
        let (from, to) = (source.small("a vertex")?, source.small("a vertex")?);
        let destination = source.small("a vertex")?;
        let next = u64::from(self.events.count());
        let event = next.checked_sub(source.number()?).filter(|event| *event < next);
        let Some(event) = event.and_then(|event| EventId::try_from(event).ok()) else {
            return Err(source.malformed("the cause of a transfer does not come before it"));
        };
        let sort = source.number()?;
        let packets = u32::try_from(sort / 2).ok().filter(|packets| *packets > 0);
        let packets = packets.ok_or_else(|| source.malformed("a transfer has from 1 to 2^32 packets"))?;
        let bytes = source.small("the length of a packet")?;
        let far = |source: &Source<R>| source.malformed("a transfer is later than any time");
        let free = self.free.entry((from, to)).or_insert(SimTime::START);
        let first = free.ps().checked_add(source.number()?).ok_or_else(|| far(source))?;
        let time = source.span()?;
        let pause = if packets > 1 { source.number()? } else { 0 };
        let gap = if packets > 1 { time.ps().checked_add(pause).ok_or_else(|| far(source))? } else { 0 };
        let all = gap.checked_mul(u64::from(packets - 1)).and_then(|all| all.checked_add(time.ps()));
        let end = all.and_then(|all| all.checked_add(first)).ok_or_else(|| far(source))?;
        *free = SimTime::from_ps(end);
        self.transfers.push(Transfer {
            from,
            to,
            destination,
            is_acknowledge: sort % 2 == 1,
            event,
            bytes,
            first: SimTime::from_ps(first),
            gap: SimDuration::from_ps(gap),
            time,
            packets,
        });
        Ok(())
    }

    fn antecedent<R: Read>(
        &mut self,
        mark: u8,
        rank: u32,
        source: &mut Source<R>,
    ) -> Result<Antecedent, RecordingError> {
        let back = source.number()?;
        let delay = source.span()?;
        let next = u64::from(self.events.count());
        let event = next.checked_sub(back).filter(|event| *event < next);
        let Some(event) = event.and_then(|event| EventId::try_from(event).ok()) else {
            return Err(source.malformed("the cause of an event does not come before it"));
        };
        let mut own = |kind: &str| self.events.way(Way { kind: kind.to_owned(), link: String::new() });
        let way = match mark.checked_sub(mark::CAUSED) {
            Some(0) => {
                source.number()?;
                self.message_way(self.events.get(event).process, rank)
            }
            Some(1) => own("sending"),
            Some(2) => own("memory"),
            Some(3) => own("barrier"),
            _ => return Err(source.malformed(&format!("{mark} is the mark of no record"))),
        };
        Ok(Antecedent { event, way, delay })
    }

    /// The way between the nodes of two ranks.
    fn message_way(&mut self, from: u32, to: u32) -> u32 {
        let node = |rank: u32| self.header.nodes[rank as usize];
        let ends = (node(from), node(to));
        let events = &mut self.events;
        let way = || events.way(Way { kind: MESSAGE.to_owned(), link: format!("{}-{}", ends.0, ends.1) });
        *self.message_ways.entry(ends).or_insert_with(way)
    }

    fn finish<R: Read>(self, source: &mut Source<R>) -> Result<Recording, RecordingError> {
        let makespan = source.span()?;
        let counts = Counts { events: source.number()?, messages: source.number()?, packet_hops: source.number()? };
        let mut links = Vec::new();
        for _ in 0..source.number()? {
            links.push(LinkLoad {
                from: source.small("a vertex")?,
                to: source.small("a vertex")?,
                packets: source.small("a number of packets")?,
                busy: source.span()?,
            });
        }
        let Self { header, events, times, transfers, .. } = self;
        Ok(Recording { header, events, makespan, links, transfers, counts, times })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> SimTime {
        SimTime::START + SimDuration::from_us(us)
    }

    fn interval(rank: u32, activity: Activity, end: u64, cause: Option<Cause>) -> Interval<'static> {
        Interval { rank, phase: "work", activity, end: us(end), system: SimDuration::ZERO, cause }
    }

    /// Rank 0 computes 3 us, sends for 2 us, of which one is system time; rank 1 waits for it from 1 to 4 us.
    fn recorded() -> Vec<u8> {
        let header = Header { program: "two".to_owned(), machine: "none".to_owned(), nodes: vec![4, 7] };
        let mut bytes = Vec::new();
        let mut writer = RecordingWriter::new(&mut bytes, &header).unwrap();
        writer.interval(&interval(1, Activity::Computing, 1, None)).unwrap();
        let sent = writer.interval(&interval(0, Activity::Computing, 3, None)).unwrap();
        assert_eq!(sent, Some(1));
        let means = Means::Message { bytes: 120 };
        let cause = Cause { event: 1, delay: SimDuration::from_us(1), means };
        writer.interval(&interval(1, Activity::Blocked, 4, Some(cause))).unwrap();
        let sending = interval(0, Activity::Sending, 5, None);
        let last = writer.interval(&Interval { system: SimDuration::from_us(1), ..sending }).unwrap();
        assert_eq!(last, Some(4));
        assert_eq!(writer.interval(&interval(1, Activity::Idle, 5, None)).unwrap(), None);
        writer.transfer(&carried()).unwrap();
        let link = LinkLoad { from: 4, to: 7, packets: 1, busy: SimDuration::from_us(1) };
        writer.finish(SimDuration::from_us(5), &[link], Counts { events: 300, messages: 1, packet_hops: 1 }).unwrap();
        bytes
    }

    fn carried() -> Transfer {
        Transfer {
            from: 4,
            to: 7,
            destination: 7,
            is_acknowledge: false,
            event: 1,
            bytes: 60,
            first: us(3),
            gap: SimDuration::from_ps(600_000),
            time: SimDuration::from_ps(400_000),
            packets: 2,
        }
    }

    #[test]
    fn recordings_of_the_first_version_are_read_and_of_later_ones_refused() {
        let mut bytes = Vec::new();
        let header = Header { program: "none".to_owned(), machine: "none".to_owned(), nodes: vec![0] };
        let writer = RecordingWriter::new(&mut bytes, &header).unwrap();
        writer.finish(SimDuration::ZERO, &[], Counts::default()).unwrap();
        let place = KIND.len();
        for (version, readable) in [(b'1', true), (b'2', true), (b'3', false), (b'x', false)] {
            bytes[place] = version;
            let read = Recording::read(&bytes[..]);
            let is_refused = matches!(read, Err(RecordingError::OtherVersion { .. }));
            assert_eq!((read.is_ok(), is_refused), (readable, !readable), "{version}");
        }
    }

    #[test]
    fn a_recording_is_read_back() {
        let recording = Recording::read(&recorded()[..]).unwrap();
        assert_eq!(recording.header.nodes, [4, 7]);
        assert_eq!((recording.makespan, recording.counts.events), (SimDuration::from_us(5), 300));
        assert_eq!(recording.links[0].to, 7);
        assert_eq!(recording.transfers, [carried()]);
        let events = &recording.events;
        assert!(events.is_in_order());
        let services: Vec<_> = (0..events.count()).map(|event| events.get(event).service.ps() / 1_000_000).collect();
        assert_eq!(services, [1, 3, 0, 1, 1]);
        let [antecedent] = events.antecedents(2) else { panic!("one antecedent") };
        assert_eq!((antecedent.event, antecedent.delay), (1, SimDuration::from_us(1)));
        assert_eq!(events.way_of(antecedent).link, "4-7");
        assert_eq!(events.label_of(3).kind, "system");
        let idle = recording.times.ranks[1][0][Activity::Idle as usize];
        assert_eq!(idle, SimDuration::from_us(1));
    }

    #[test]
    fn what_is_cut_off_or_changed_is_told() {
        let whole = recorded();
        for length in MAGIC.len()..whole.len() {
            let error = Recording::read(&whole[..length]).unwrap_err();
            assert!(matches!(error, RecordingError::CutOff { .. }), "{length}: {error}");
        }
        assert!(matches!(Recording::read(&b"Scenario("[..]).unwrap_err(), RecordingError::NoRecording));
        for place in MAGIC.len()..whole.len() {
            for value in [0, 1, 2, 9, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[place] = value;
                // Whatever it is, it is read or refused.
                let _ = Recording::read(&changed[..]);
            }
        }
    }
}
