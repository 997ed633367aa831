//! The reader of recordings.

use super::{FreeTimes, Header, KIND, MAGIC, READABLE, mark};
use crate::trace::accounts::Activity;
use crate::trace::events::{
    Antecedent, Event, EventId, Events, Label, MESSAGE, SHARED_SYSTEM, Way, WorkInterval, WorkSpan,
};
use crate::trace::{Counts, Direction, Handling, LinkLoad, Transfer};
use crate::units::{SimDuration, SimTime, first_control};
use rustc_hash::FxHashMap;
use std::io::{self, Read};

/// The smallest number of bytes per event, on average over the two that a record may result in.
const MIN_EVENT_BYTES: usize = 4;
/// The smallest number of bytes per antecedent.
const MIN_OF_ANTECEDENT: usize = 7;

/// The largest number of phases: labels are counted in 16 bits, and a phase has a label for each activity and one for
/// the system time that ranks share.
const MAX_PHASES: usize = (1 << 16) / (Activity::ALL.len() + 1);

/// A recorded run, read back.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The header.
    pub header: Header,
    /// The events, in the order in which they happened.
    pub events: Events,
    /// The end of the last process.
    pub makespan: SimDuration,
    /// The load of every direction of every link.
    pub links: Vec<LinkLoad>,
    /// The transfers over the links, in order for each channel; empty if they were not recorded.
    pub transfers: Vec<Transfer>,
    /// The amount of simulated work.
    pub counts: Counts,
    /// The time of every rank by activity and phase.
    pub times: RankTimes,
}

impl Recording {
    /// Returns the sums of the transfers up to the end of the run, for each direction of a link in the order of
    /// [`links`](Self::links): the packets that have begun, and the time for which they were on the wire.
    #[must_use]
    pub fn transferred(&self) -> Vec<LinkLoad> {
        let end = SimTime::START + self.makespan;
        let mut sums: FxHashMap<Direction, (u64, SimDuration)> = FxHashMap::default();
        for transfer in &self.transfers {
            let (packets, busy) = sums.entry(transfer.direction()).or_default();
            *packets += u64::from(transfer.packets);
            *busy += transfer.busy_until(end);
        }
        let sum = |(load, direction): (&LinkLoad, Direction)| {
            let (packets, busy) = sums.get(&direction).copied().unwrap_or_default();
            LinkLoad { packets, busy, ..*load }
        };
        self.links.iter().zip(Direction::of_loads(&self.links)).map(sum).collect()
    }
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

/// The reason why bytes are not a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The bytes cannot be read.
    #[error("{0}")]
    Read(io::Error),
    /// The bytes do not begin like a recording.
    #[error(
        "this is not a trace of parsim, which begins with `parsim-trace 8`; write one with `parsim run SCENARIO --trace FILE`"
    )]
    NoRecording,
    /// The bytes are a recording of another version.
    #[error(
        "this trace has version {version} of the format, but this parsim reads versions 1 to 8; record the run again with it"
    )]
    OtherVersion {
        /// The text in the place of the version number.
        version: String,
    },
    /// The bytes end too early.
    #[error("the trace ends at byte {at}, before its end mark: the run did not end, or the file is cut off")]
    CutOff {
        /// The number of bytes.
        at: u64,
    },
    /// A record violates the format.
    #[error("byte {at}: {what}")]
    Malformed {
        /// The position of the record in the file, from 0.
        at: u64,
        /// The fault.
        what: String,
    },
}

/// A stream of bytes with its position.
struct CountedBytes<R> {
    bytes: R,
    at: u64,
}

impl<R: Read> CountedBytes<R> {
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

    fn flag(&mut self) -> Result<bool, RecordingError> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.malformed(&format!("{other} is neither 0 (no) nor 1 (yes)"))),
        }
    }

    /// Reads what precedes an interval, from the first mark on.
    fn preface(&mut self, mut mark: u8) -> Result<IntervalPreface, RecordingError> {
        let (mut ready, mut is_shared, mut busy) = (SimDuration::ZERO, false, Vec::new());
        if mark == mark::READY {
            (ready, is_shared) = (self.span()?, self.flag()?);
            mark = self.byte()?;
        }
        if mark == mark::BUSY {
            let count = self.number()?;
            busy = (0..count).map(|_| self.busy()).collect::<Result<_, _>>()?;
            mark = self.byte()?;
        }
        let mut sender = None;
        if mark == mark::SENDER {
            sender = Some(self.small("a rank")?);
            mark = self.byte()?;
            if mark != mark::CAUSED {
                return Err(self.malformed("a sender belongs to an interval that a message ends"));
            }
        }
        Ok(IntervalPreface { mark, ready, is_shared, busy, sender })
    }

    fn busy(&mut self) -> Result<WrittenWork, RecordingError> {
        let (pause, time) = (self.span()?, self.span()?);
        let number = usize::try_from(self.number()?).ok();
        let handling = number.and_then(|number| Handling::ALL.get(number).copied());
        let handling = handling.ok_or_else(|| self.malformed("the purpose of communication work is unknown"))?;
        Ok(WrittenWork { pause, time, handling })
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
        let mut bytes = vec![0; usize::try_from(length).expect("a text has at most 65536 bytes")];
        self.fill(&mut bytes)?;
        let text = String::from_utf8(bytes).map_err(|_| self.malformed("a text is not UTF-8"))?;
        match first_control(&text) {
            Some(control) => Err(self.malformed(&format!("a name contains the control character {control:?}"))),
            None => Ok(text),
        }
    }

    /// Checks that nothing follows, which happens if two runs have written the same file.
    fn end(&mut self) -> Result<(), RecordingError> {
        match self.bytes.read(&mut [0]).map_err(RecordingError::Read)? {
            0 => Ok(()),
            _ => {
                Err(self.malformed("more bytes follow the end of the trace: the file was not written by a single run"))
            }
        }
    }

    fn malformed(&self, what: &str) -> RecordingError {
        RecordingError::Malformed { at: self.at, what: what.to_owned() }
    }
}

/// A recording that is being read.
struct PartialRecording {
    header: Header,
    events: Events,
    times: RankTimes,
    now: SimTime,
    /// The end of the last interval of each rank.
    ends: Vec<SimTime>,
    /// The labels of each phase, by activity.
    labels: Vec<[u16; Activity::ALL.len()]>,
    /// The number of activities in the version of the recording.
    activities: u64,
    /// The ways of messages by the nodes at their ends, and by the sender if another event is the cause, cached because a
    /// trace may have many more messages than ways.
    message_ways: FxHashMap<((u32, u32), Option<u32>), u32>,
    transfers: Vec<Transfer>,
    free: FreeTimes,
}

/// Checks that a recording with these first bytes can be read; returns the number of activities in its version.
fn known_activities(magic: &[u8]) -> Result<u64, RecordingError> {
    let version = magic.strip_prefix(KIND).ok_or(RecordingError::NoRecording)?;
    match version {
        // Earlier versions count loads as waits.
        [b'1'..=b'3', b'\n'] => Ok(Activity::Loading as u64),
        // Earlier versions count ready ranks as computing.
        [b'4', b'\n'] => Ok(Activity::Ready as u64),
        [version, b'\n'] if READABLE.contains(version) => Ok(Activity::ALL.len() as u64),
        _ => Err(RecordingError::OtherVersion { version: String::from_utf8_lossy(version).trim().to_owned() }),
    }
}

/// Returns whether a readable recording with these first bytes has an origin.
fn has_origin(magic: &[u8]) -> bool {
    !matches!(magic.strip_prefix(KIND), Some([b'1'..=b'5', b'\n']))
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// The first fault, with its position, if the bytes are not a recording.
    pub fn read(bytes: impl Read) -> Result<Self, RecordingError> {
        Self::read_sized(bytes, 0)
    }

    /// Reads a recording whose length is known to be `length` bytes, and reserves memory for it at once.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_sized(bytes: impl Read, length: usize) -> Result<Self, RecordingError> {
        let mut source = CountedBytes { bytes, at: 0 };
        let mut magic = vec![0; MAGIC.len()];
        source.fill(&mut magic).map_err(|error| match error {
            RecordingError::CutOff { .. } => RecordingError::NoRecording,
            other => other,
        })?;
        let activities = known_activities(&magic)?;
        let origin = if has_origin(&magic) { source.text()? } else { String::new() };
        let (program, machine) = (source.text()?, source.text()?);
        let ranks = source.small("a number of ranks")?;
        let nodes = (0..ranks).map(|_| source.small("a node")).collect::<Result<Vec<_>, _>>()?;
        let mut reading = PartialRecording::new(Header { origin, program, machine, nodes }, activities);
        reading.events.reserve(length / MIN_EVENT_BYTES, length / MIN_OF_ANTECEDENT);
        loop {
            match source.byte()? {
                mark::END => {
                    let recording = reading.finish(&mut source)?;
                    return source.end().map(|()| recording);
                }
                mark::PHASE => {
                    if reading.labels.len() == MAX_PHASES {
                        return Err(source.malformed(&format!("there are more than {MAX_PHASES} phases")));
                    }
                    reading.phase(source.text()?);
                }
                mark::TRANSFER => reading.transfer(&mut source, (0, SimDuration::ZERO))?,
                mark::ALTERNATING => {
                    let channel = (source.small("a channel")?, source.span()?);
                    reading.transfer(&mut source, channel)?;
                }
                mark => {
                    let preface = source.preface(mark)?;
                    reading.interval(&preface, &mut source)?;
                }
            }
        }
    }
}

/// The records before an interval in a recording.
struct IntervalPreface {
    /// The mark of the interval.
    mark: u8,
    /// The time for which the rank was ready.
    ready: SimDuration,
    /// `true` if the system time is counted for another rank.
    is_shared: bool,
    /// The times of the system time; empty if they are not given.
    busy: Vec<WrittenWork>,
    /// The sender of the message that ends the interval, if its sending is not the cause.
    sender: Option<u32>,
}

/// Work of a processor for the communication, as written.
struct WrittenWork {
    /// The time since the end of the work before it, or since the beginning of the interval.
    pause: SimDuration,
    time: SimDuration,
    handling: Handling,
}

/// Returns the times of the communication work in an interval, or a fault if they are not those of its system time.
fn placed(
    busy: &[WrittenWork],
    (from, to): (SimDuration, SimDuration),
    system: SimDuration,
) -> Result<Vec<WorkSpan>, &'static str> {
    let mut at = from;
    let mut work = Vec::with_capacity(busy.len());
    for WrittenWork { pause, time, handling } in busy {
        let from = at + *pause;
        at = from + *time;
        work.push(WorkSpan { from, to: at, handling: Some(*handling) });
    }
    let sum: SimDuration = busy.iter().map(|work| work.time).sum();
    match sum == system && system > SimDuration::ZERO {
        true if at <= to => Ok(work),
        true => Err("a rank works for the communication after the end of its interval"),
        false => Err("the times of the communication work do not sum to the system time"),
    }
}

/// An interval of a rank, as written.
struct WrittenInterval {
    rank: u32,
    phase: usize,
    activity: Activity,
    span: SimDuration,
    /// The part of the interval in which the processor works for the communication.
    system: SimDuration,
}

impl PartialRecording {
    fn new(header: Header, activities: u64) -> Self {
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
            activities,
            message_ways: FxHashMap::default(),
            transfers: Vec::new(),
            free: FreeTimes::default(),
        }
    }

    fn phase(&mut self, phase: String) {
        let label = |activity: Activity| Label { kind: activity.name().to_owned(), phase: phase.clone() };
        self.labels.push(Activity::ALL.map(|activity| self.events.label(label(activity))));
        self.times.phases.push(phase);
    }

    /// Reads an interval after its preface.
    fn interval<R: Read>(
        &mut self,
        preface: &IntervalPreface,
        source: &mut CountedBytes<R>,
    ) -> Result<(), RecordingError> {
        let IntervalPreface { mark, ready, is_shared, .. } = *preface;
        let interval = self.next_interval(source)?;
        let WrittenInterval { rank, phase, activity, span, system } = interval;
        let first = self.events.count();
        let Some(mut labels) = self.labels.get(phase).copied() else {
            return Err(source.malformed(&format!("phase {phase} has not been announced")));
        };
        if is_shared {
            labels[Activity::System as usize] = self.shared_system(phase);
        }
        if system > span {
            return Err(source.malformed("a rank works for the communication for longer than its interval"));
        }
        if ready > span - system {
            return Err(source.malformed("a rank waits for its processor for longer than its interval"));
        }
        let rest = span - system - ready;
        self.times.add(rank as usize, phase, activity, rest);
        for (other, service) in [(Activity::System, system), (Activity::Ready, ready)] {
            self.times.add(rank as usize, phase, other, service);
            if service > SimDuration::ZERO {
                let label = labels[other as usize];
                self.events.push(Event { process: rank, service, label }, None, &[]);
            }
        }
        let label = labels[activity as usize];
        if activity != Activity::Idle && mark == mark::INTERVAL {
            self.events.push(Event { process: rank, service: rest, label }, None, &[]);
        } else if activity != Activity::Idle {
            let antecedent = self.antecedent(preface, rank, source)?;
            self.events.push(Event { process: rank, service: SimDuration::ZERO, label }, None, &[antecedent]);
        }
        self.place_work(preface, &interval, first).map_err(|fault| source.malformed(fault))
    }

    /// Places the system time of an interval, whose first event is `first`. Versions without its times have it last in a
    /// wait for a message, because most of it is the reception, and first in other intervals, because most of it is the
    /// preparation of a message.
    fn place_work(
        &mut self,
        preface: &IntervalPreface,
        interval: &WrittenInterval,
        first: EventId,
    ) -> Result<(), &'static str> {
        let WrittenInterval { activity, span, system, .. } = *interval;
        let to = self.now.since(SimTime::START);
        let from = to - span;
        let is_wait_for_message = activity == Activity::Blocked && preface.mark == mark::CAUSED;
        let work = if !preface.busy.is_empty() {
            placed(&preface.busy, (from, to), system)?
        } else if is_wait_for_message && system > SimDuration::ZERO {
            vec![WorkSpan { from: to - system, to, handling: None }]
        } else {
            return Ok(());
        };
        let last = self.events.count() - 1;
        self.events.place_work(WorkInterval { work: first, last, from, to }, &work);
        Ok(())
    }

    /// Reads the next interval, and advances its rank to the end of it.
    fn next_interval<R: Read>(&mut self, source: &mut CountedBytes<R>) -> Result<WrittenInterval, RecordingError> {
        self.now += source.span()?;
        let rank = source.small("a rank")?;
        let code = source.number()?;
        let system = source.span()?;
        let phase = usize::try_from(code / self.activities).unwrap_or(usize::MAX);
        let activity = Activity::ALL[usize::try_from(code % self.activities).expect("there are few activities")];
        let Some(end) = self.ends.get_mut(rank as usize) else {
            let ranks = self.header.nodes.len();
            return Err(source.malformed(&format!("there is no rank {rank}: the ranks are below {ranks}")));
        };
        let begin = std::mem::replace(end, self.now);
        Ok(WrittenInterval { rank, phase, activity, span: self.now.since(begin), system })
    }

    fn shared_system(&mut self, phase: usize) -> u16 {
        let phase = self.times.phases[phase].clone();
        self.events.label(Label { kind: SHARED_SYSTEM.to_owned(), phase })
    }

    /// Reads a transfer on a channel, each of whose packets is off the wire for `pause`.
    fn transfer<R: Read>(
        &mut self,
        source: &mut CountedBytes<R>,
        (channel, pause): (u32, SimDuration),
    ) -> Result<(), RecordingError> {
        let (from, to) = (source.small("a vertex")?, source.small("a vertex")?);
        let destination = source.small("a vertex")?;
        let event = self.cause(source, "a transfer")?;
        let sort = source.number()?;
        let packets = u32::try_from(sort / 2).ok().filter(|packets| *packets > 0);
        let packets = packets.ok_or_else(|| source.malformed("a transfer has from 1 to 2^32 packets"))?;
        let bytes = source.small("the length of a packet")?;
        let far = |source: &CountedBytes<R>| source.malformed("the time of a transfer is too large");
        let free = self.free.entry((from, to, channel)).or_insert(SimTime::START);
        let first = free.ps().checked_add(source.number()?).ok_or_else(|| far(source))?;
        let time = source.span()?;
        if pause > time {
            return Err(source.malformed("a packet is off the wire for longer than it holds the link"));
        }
        let between = if packets > 1 { source.number()? } else { 0 };
        let gap = if packets > 1 { time.ps().checked_add(between).ok_or_else(|| far(source))? } else { 0 };
        let all = gap.checked_mul(u64::from(packets - 1)).and_then(|all| all.checked_add(time.ps()));
        let end = all.and_then(|all| all.checked_add(first)).ok_or_else(|| far(source))?;
        *free = SimTime::from_ps(end);
        self.transfers.push(Transfer {
            from,
            to,
            channel,
            destination,
            is_acknowledge: sort % 2 == 1,
            event,
            bytes,
            first: SimTime::from_ps(first),
            gap: SimDuration::from_ps(gap),
            time,
            on_wire: time - pause,
            packets,
        });
        Ok(())
    }

    /// Reads the event that causes `what`, which is stored as a distance backwards.
    fn cause<R: Read>(&self, source: &mut CountedBytes<R>, what: &str) -> Result<EventId, RecordingError> {
        let next = u64::from(self.events.count());
        let event = next.checked_sub(source.number()?).filter(|event| *event < next);
        let event = event.and_then(|event| EventId::try_from(event).ok());
        event.ok_or_else(|| source.malformed(&format!("the cause of {what} does not precede it")))
    }

    fn antecedent<R: Read>(
        &mut self,
        preface: &IntervalPreface,
        rank: u32,
        source: &mut CountedBytes<R>,
    ) -> Result<Antecedent, RecordingError> {
        let IntervalPreface { mark, sender, .. } = *preface;
        if sender.is_some_and(|sender| sender as usize >= self.ends.len()) {
            return Err(source.malformed("the sender of a message is not a rank"));
        }
        let event = self.cause(source, "an event")?;
        let delay = source.span()?;
        let mut own = |kind: &str| self.events.way(Way { kind: kind.to_owned(), ..Way::default() });
        let way = match mark.checked_sub(mark::CAUSED) {
            Some(0) => {
                source.number()?;
                self.message_way((self.events.get(event).process, sender), rank)
            }
            Some(1) => own("sending"),
            Some(2) => own("memory"),
            Some(3) => own("barrier"),
            _ => return Err(source.malformed(&format!("{mark} is not the mark of a record"))),
        };
        Ok(Antecedent { event, way, delay })
    }

    /// Returns the way of a message to a rank: from the rank of the cause or, if that is another one, from the `sender`.
    fn message_way(&mut self, (cause, sender): (u32, Option<u32>), to: u32) -> u32 {
        let node = |rank: u32| self.header.nodes[rank as usize];
        let ends = (node(sender.unwrap_or(cause)), node(to));
        let (events, kind) = (&mut self.events, MESSAGE.to_owned());
        let way = || events.way(Way { kind, link: format!("{}-{}", ends.0, ends.1), sender });
        *self.message_ways.entry((ends, sender)).or_insert_with(way)
    }

    fn finish<R: Read>(self, source: &mut CountedBytes<R>) -> Result<Recording, RecordingError> {
        let makespan = source.span()?;
        let counts = Counts { events: source.number()?, messages: source.number()?, packet_hops: source.number()? };
        let mut links = Vec::new();
        for _ in 0..source.number()? {
            links.push(LinkLoad {
                from: source.small("a vertex")?,
                to: source.small("a vertex")?,
                packets: source.number()?,
                busy: source.span()?,
            });
        }
        let Self { header, events, times, transfers, .. } = self;
        Ok(Recording { header, events, makespan, links, transfers, counts, times })
    }
}
