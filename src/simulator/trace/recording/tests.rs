use super::*;
use crate::trace::{BusyInterval, Counts, Handling, LinkLoad, Transfer};

fn us(us: u64) -> SimTime {
    SimTime::START + SimDuration::from_us(us)
}

fn interval(rank: u32, activity: Activity, end: u64, cause: Option<Cause>) -> Interval<'static> {
    Interval {
        rank,
        phase: "work",
        activity,
        end: us(end),
        system: SimDuration::ZERO,
        ready: SimDuration::ZERO,
        is_shared: false,
        cause,
    }
}

/// Returns a recording in which rank 0 computes for 3 us and sends for 2 us, 1 us of which is system time; rank 1 waits
/// for the message from 1 to 4 us.
fn recorded() -> Vec<u8> {
    let header = Header {
        origin: "0.1.0 (1a2b3c4d5e6f)".to_owned(),
        program: "two".to_owned(),
        machine: "none".to_owned(),
        nodes: vec![4, 7],
    };
    let mut bytes = Vec::new();
    let mut writer = RecordingWriter::new(&mut bytes, &header).unwrap();
    writer.interval(&interval(1, Activity::Computing, 1, None), &[]).unwrap();
    let sent = writer.interval(&interval(0, Activity::Computing, 3, None), &[]).unwrap();
    assert_eq!(sent, Some(1));
    let means = CauseKind::Message { bytes: 120, sender: None };
    let cause = Cause { event: 1, delay: SimDuration::from_us(1), means };
    writer.interval(&interval(1, Activity::Blocked, 4, Some(cause)), &[]).unwrap();
    let sending = interval(0, Activity::Sending, 5, None);
    let busy = [(3_000, 3_200), (4_200, 5_000)].map(|(begin, end)| BusyInterval {
        processor: 0,
        begin: SimTime::from_ps(begin * 1000),
        end: SimTime::from_ps(end * 1000),
        handling: Handling::Sending,
    });
    let last = writer.interval(&Interval { system: SimDuration::from_us(1), ..sending }, &busy).unwrap();
    assert_eq!(last, Some(4));
    assert_eq!(writer.interval(&interval(1, Activity::Idle, 5, None), &[]).unwrap(), None);
    writer.transfer(&carried()).unwrap();
    for transfer in alternating() {
        writer.transfer(&transfer).unwrap();
    }
    let link = LinkLoad { from: 4, to: 7, packets: 1, busy: SimDuration::from_us(1) };
    writer.finish(SimDuration::from_us(5), &[link], Counts { events: 300, messages: 1, packet_hops: 1 }).unwrap();
    bytes
}

fn carried() -> Transfer {
    Transfer {
        from: 4,
        to: 7,
        channel: 0,
        destination: 7,
        is_acknowledge: false,
        event: 1,
        bytes: 60,
        first: us(3),
        gap: SimDuration::from_ps(600_000),
        time: SimDuration::from_ps(400_000),
        on_wire: SimDuration::from_ps(400_000),
        packets: 2,
    }
}

/// Returns the transfers of two packets that share the wire of a link.
fn alternating() -> [Transfer; 2] {
    let (time, on_wire) = (SimDuration::from_us(2), SimDuration::from_us(1));
    let one = Transfer { first: us(7), time, on_wire, packets: 1, gap: SimDuration::ZERO, ..carried() };
    [one, Transfer { channel: 1, first: us(8), ..one }]
}

#[test]
fn recordings_of_the_first_version_are_read_and_of_later_ones_refused() {
    let mut bytes = Vec::new();
    let header =
        Header { origin: String::new(), program: "none".to_owned(), machine: "none".to_owned(), nodes: vec![0] };
    let writer = RecordingWriter::new(&mut bytes, &header).unwrap();
    writer.finish(SimDuration::ZERO, &[], Counts::default()).unwrap();
    let place = KIND.len();
    for (version, readable) in [
        (b'1', true),
        (b'2', true),
        (b'3', true),
        (b'4', true),
        (b'5', true),
        (b'6', true),
        (b'7', true),
        (b'8', true),
        (b'9', false),
        (b'x', false),
    ] {
        bytes[place] = version;
        // Early versions do not have the origin, here an empty text, before the program.
        let mut bytes = bytes.clone();
        if (b'1'..=b'5').contains(&version) {
            bytes.remove(MAGIC.len());
        }
        let read = Recording::read(&bytes[..]);
        let is_refused = matches!(read, Err(RecordingError::OtherVersion { .. }));
        assert_eq!((read.is_ok(), is_refused), (readable, !readable), "{version}");
    }
}

#[test]
fn a_recording_is_read_back() {
    let recording = Recording::read(&recorded()[..]).unwrap();
    assert_eq!(recording.header.nodes, [4, 7]);
    assert_eq!(recording.header.origin, "0.1.0 (1a2b3c4d5e6f)");
    assert_eq!((recording.makespan, recording.counts.events), (SimDuration::from_us(5), 300));
    assert_eq!(recording.links[0].to, 7);
    assert_eq!(recording.transfers[..1], [carried()]);
    assert_eq!(recording.transfers[1..], alternating());
    let events = &recording.events;
    assert!(events.is_in_order());
    let services: Vec<_> = (0..events.count()).map(|event| events.get(event).service.ps() / 1_000_000).collect();
    assert_eq!(services, [1, 3, 0, 1, 1]);
    let [antecedent] = events.antecedents(2) else { panic!("one antecedent") };
    assert_eq!((antecedent.event, antecedent.delay), (1, SimDuration::from_us(1)));
    assert_eq!(events.way_of(antecedent).link, "4-7");
    assert_eq!(events.label_of(3).kind, "system");
    let (interval, work) = events.work_interval(4).unwrap();
    assert_eq!((interval.work, interval.last, interval.to), (3, 4, SimDuration::from_us(5)));
    let spans: Vec<_> = work.iter().map(|span| (span.from.ps(), span.to.ps())).collect();
    assert_eq!(spans, [(3_000_000, 3_200_000), (4_200_000, 5_000_000)]);
    assert!(work.iter().all(|span| span.handling == Some(Handling::Sending)));
    assert!(events.work_interval(2).is_none() && events.work_interval(5).is_none());
    let idle = recording.times.ranks[1][0][Activity::Idle as usize];
    assert_eq!(idle, SimDuration::from_us(1));
}

/// The data of a message that waits for its receive are caused by the receiver, and come from the sender.
#[test]
fn the_sender_of_a_message_is_read_back_if_it_is_not_the_cause() {
    let mut bytes = Vec::new();
    let (origin, program, machine) = (String::new(), "two".to_owned(), "none".to_owned());
    let header = Header { origin, program, machine, nodes: vec![4, 7] };
    let mut writer = RecordingWriter::new(&mut bytes, &header).unwrap();
    writer.interval(&interval(1, Activity::Computing, 1, None), &[]).unwrap();
    let means = CauseKind::Message { bytes: 120, sender: Some(0) };
    let cause = Cause { event: 0, delay: SimDuration::from_us(1), means };
    writer.interval(&interval(1, Activity::Blocked, 2, Some(cause)), &[]).unwrap();
    writer.finish(SimDuration::from_us(2), &[], Counts::default()).unwrap();
    let events = Recording::read(&bytes[..]).unwrap().events;
    let [antecedent] = events.antecedents(1) else { panic!("one antecedent") };
    let way = events.way_of(antecedent);
    assert_eq!((antecedent.event, way.link.as_str(), way.sender), (0, "4-7", Some(0)));
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
            // Any bytes are either read or rejected.
            let _ = Recording::read(&changed[..]);
        }
    }
}

#[test]
fn nothing_follows_the_end_mark() {
    let mut bytes = recorded();
    bytes.push(0);
    let fault = Recording::read(&bytes[..]).unwrap_err().to_string();
    assert!(fault.contains("more bytes follow"), "{fault}");
}

#[test]
fn names_with_control_characters_are_refused() {
    let header = Header {
        origin: String::new(),
        program: "two".to_owned(),
        machine: "\u{1b}]0;title\u{7}".to_owned(),
        nodes: vec![0],
    };
    let mut bytes = Vec::new();
    let counts = Counts { events: 0, messages: 0, packet_hops: 0 };
    RecordingWriter::new(&mut bytes, &header).unwrap().finish(SimDuration::ZERO, &[], counts).unwrap();
    let fault = Recording::read(&bytes[..]).unwrap_err().to_string();
    assert!(fault.contains("control character '\\u{1b}'"), "{fault}");
}

#[test]
fn more_phases_than_labels_can_name_are_refused() {
    let mut bytes = recorded();
    bytes.truncate(MAGIC.len());
    bytes.extend([0, 0, 0, 1, 0]);
    for _ in 0..=(1 << 16) / (Activity::ALL.len() + 1) {
        bytes.extend([mark::PHASE, 1, b'a']);
    }
    assert!(Recording::read(&bytes[..]).unwrap_err().to_string().contains("phases"));
}

#[test]
fn a_flag_is_no_or_yes() {
    let mut bytes = recorded();
    bytes.truncate(MAGIC.len());
    bytes.extend([0, 0, 0, 1, 0, mark::READY, 0, 2]);
    let fault = Recording::read(&bytes[..]).unwrap_err().to_string();
    assert!(fault.contains("2 is neither 0 (no) nor 1 (yes)"), "{fault}");
}
