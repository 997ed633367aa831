use super::*;
use parsim_sim::trace::{Activity, LogDetail, LogEntry, Service};
use parsim_sim::units::SimTime;

const fn us(us: u64) -> SimDuration {
    SimDuration::from_us(us)
}

fn at(time: u64) -> SimTime {
    SimTime::START + us(time)
}

fn entry(rank: u32, activity: Activity, doing: LogDetail, (begin, end): (u64, u64)) -> LogEntry {
    let (begin, end, system) = (at(begin), at(end), SimDuration::ZERO);
    LogEntry { rank, processor: rank, phase: "work", activity, doing, begin, end, system, ready: SimDuration::ZERO }
}

fn service(processor: u32, end: u64, software: Software, time: u64) -> Service {
    let nothing = (Software::Routing, 0, SimDuration::ZERO);
    Service { processor, end: at(end), parts: [(software, 1, us(time)), nothing, nothing] }
}

const LOOPS: [Option<Loop>; 2] = [Some(("flop", 5, us(5))), None];

/// After 2 us for the links, rank 0 computes for 5 us and sends a packet to rank 1: 1 us of preparation, 3 us on the
/// link with 1 us of latency, and 2 us of reception.
fn log() -> ActivityLog {
    let computes = LogDetail::Computing { loops: LOOPS, amount: ComputationAmount::Rows(1) };
    let receives = LogDetail::Receiving { from: 0, bytes: 30 };
    ActivityLog {
        entries: vec![entry(0, Activity::Computing, computes, (2, 7)), entry(1, Activity::Blocked, receives, (2, 14))],
        services: vec![service(0, 8, Software::Preparing, 1), service(1, 14, Software::Receiving, 2)],
        passages: Vec::new(),
    }
}

fn transfer(first: u64) -> Transfer {
    Transfer {
        from: 0,
        to: 1,
        channel: 0,
        destination: 1,
        is_acknowledge: false,
        event: 0,
        bytes: 30,
        first: at(first),
        gap: SimDuration::ZERO,
        time: us(3),
        on_wire: us(3),
        packets: 1,
    }
}

fn chain(transfers: &[Transfer]) -> Option<CostChain> {
    let log = log();
    let header = u64::MAX;
    let crossing = CrossingRule { header, header_time: us(0), empty_time: us(0), latency: us(1) };
    let (start, makespan) = (us(2), us(14));
    let vertex = &|processor| processor;
    CostChain::of(&ObservedRun { log: &log, transfers, start, makespan, vertex, crossing, interfaces: None })
}

#[test]
fn a_path_leads_from_the_last_reception_to_the_links() {
    let steps = chain(&[transfer(8)]).unwrap().steps;
    let charged: Vec<_> = steps.iter().map(|step| (step.place, step.time)).collect();
    let (sender, receiver, link) = (ChainPlace::Processor(0), ChainPlace::Processor(1), ChainPlace::Link(0, 1));
    let expected = [
        (receiver, us(2)),
        (link, us(1)),
        (link, us(3)),
        (sender, us(1)),
        (sender, us(5)),
        (ChainPlace::Machine, us(2)),
    ];
    assert_eq!(charged, expected);
    assert_eq!(steps[2].charge, Charge::Link { bytes: 30 });
    assert_eq!(steps[4].charge, Charge::Computation { loops: LOOPS, amount: ComputationAmount::Rows(1) });
    assert_eq!(steps[5].charge, Charge::Start);
}

/// A reception that begins although nothing has arrived is not explained.
#[test]
fn what_began_for_no_reason_has_no_path() {
    assert_eq!(chain(&[]), None);
    assert_eq!(chain(&[transfer(7)]), None);
}
