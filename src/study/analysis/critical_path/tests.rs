//! The vectors of the source, and properties of all lists of events.

use super::*;
use crate::analysis::read_table;
use parsim_sim::trace::events::{Event, Label, Stamp, Way};

fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds)
}

fn by_hand() -> Events {
    read_table(include_str!("../../../../validation/critical-path/by-hand.csv").as_bytes()).unwrap()
}

fn ising() -> Events {
    read_table(include_str!("../../../../validation/critical-path/ising-2x2.csv").as_bytes()).unwrap()
}

fn names(path: &CriticalPath<'_>) -> Vec<u64> {
    path.spans().map(|span| path.events().name(span.event)).collect()
}

fn assert_mean_of_histogram(path: &CriticalPath<'_>) {
    let (mean, active) = (path.parallelism().mean(), path.mean_active().unwrap());
    assert!((mean - active).abs() < 1e-12 * active, "{mean} instead of {active}");
}

#[test]
fn the_trace_made_by_hand() {
    let events = by_hand();
    let path = CriticalPath::of(&events).unwrap();
    let critical: Vec<_> = (0..8).map(|event| path.critical(event)).collect();
    assert_eq!(critical, [2.0, 1.0, 4.0, 5.0, 5.5, 7.5, 8.0, 9.0].map(seconds));
    assert_eq!(path.length(), seconds(9.0));
    assert_eq!(names(&path), [0, 3, 4, 5, 6, 7]);
    assert_eq!(path.busy() + path.messages(), [seconds(14.0)].into_iter().sum());
    assert!((path.average_parallelism().unwrap() - 14.0 / 9.0).abs() < 1e-15);
    assert!((path.mean_active().unwrap() - 13.0 / 9.0).abs() < 1e-15);
    assert_mean_of_histogram(&path);
}

#[test]
fn the_profile_of_the_trace_made_by_hand() {
    let events = by_hand();
    let path = CriticalPath::of(&events).unwrap();
    let mut steps = Vec::new();
    path.profile(|step| steps.push((step.from.seconds(), step.to.seconds(), step.active)));
    // In the vectors, the first two steps with two activities are separated by a boundary, where one activity ends and
    // another begins.
    let expected = [
        (0.0, 1.0, 3),
        (1.0, 2.0, 2),
        (2.0, 4.0, 2),
        (4.0, 5.0, 1),
        (5.0, 5.5, 0),
        (5.5, 7.5, 1),
        (7.5, 8.0, 0),
        (8.0, 9.0, 1),
    ];
    assert_eq!(steps, expected);
    for (share, ninths) in path.parallelism().histogram().into_iter().zip([1.0, 4.0, 3.0, 1.0]) {
        assert!((share - ninths / 9.0).abs() < 1e-15, "{share}");
    }
}

#[test]
fn slack_is_what_an_activity_may_last_longer() {
    let events = by_hand();
    let path = CriticalPath::of(&events).unwrap();
    // Process 1 may reach its receive 4.5 s later, process 2 its own 4 s later.
    assert_eq!(path.slacks(), [0.0, 4.5, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(seconds));
}

#[test]
fn the_path_by_hand_consists_of_activities_and_messages() {
    let events = by_hand();
    let composition = CriticalPath::of(&events).unwrap().composition();
    let processes: Vec<_> = composition.processes.iter().map(|part| (part.of, part.time.seconds())).collect();
    assert_eq!(processes, [(Some(0), 5.0), (Some(1), 2.0), (None, 1.0), (Some(2), 1.0)]);
    let kinds: Vec<_> = composition.kinds.iter().map(|part| (part.of.as_str(), part.time.seconds())).collect();
    assert_eq!(kinds, [("", 8.0), ("message", 1.0)]);
}

/// The values of the vector: L = 51.5, W = 109.5, the path and the histogram.
#[test]
fn the_trace_of_an_ising_model() {
    const PATH: [u64; 90] = [
        0, 3, 4, 5, 8, 9, 10, 11, 17, 20, 21, 23, 24, 28, 29, 35, 36, 38, 39, 40, 42, 45, 46, 47, 52, 53, 54, 55, 60,
        61, 62, 63, 64, 68, 69, 70, 71, 72, 76, 77, 79, 80, 83, 84, 85, 87, 89, 90, 91, 92, 95, 96, 98, 101, 102, 103,
        108, 109, 110, 112, 113, 114, 118, 119, 120, 122, 123, 131, 134, 135, 136, 139, 140, 141, 142, 143, 146, 151,
        158, 168, 169, 170, 171, 176, 177, 178, 181, 182, 185, 190,
    ];
    let events = ising();
    let path = CriticalPath::of(&events).unwrap();
    assert_eq!(path.length(), seconds(51.5));
    assert_eq!(path.busy() + path.messages(), [seconds(109.5)].into_iter().sum());
    assert!((path.average_parallelism().unwrap() - 2.126_213_592_233_009_7).abs() < 1e-15);
    assert_eq!(names(&path), PATH);
    let shares = [0.033_980_582_524, 0.359_223_300_971, 0.402_912_621_359, 0.174_757_281_553, 0.029_126_213_592];
    let histogram = path.parallelism().histogram();
    assert_eq!(histogram.len(), shares.len());
    assert!(histogram.iter().zip(shares).all(|(one, other)| (one - other).abs() < 1e-12), "{histogram:?}");
    assert_mean_of_histogram(&path);
}

#[test]
fn the_order_of_the_lines_changes_nothing() {
    let table = include_str!("../../../../validation/critical-path/ising-2x2.csv");
    let (head, lines) = table.split_at(table.find("\n0,").unwrap() + 1);
    let mut lines: Vec<_> = lines.lines().collect();
    lines.reverse();
    let events = read_table(format!("{head}{}", lines.join("\n")).as_bytes()).unwrap();
    let (original, reversed) = (ising(), CriticalPath::of(&events).unwrap().length());
    let path = CriticalPath::of(&original).unwrap();
    assert_eq!(path.length(), reversed);
    assert_eq!(names(&path), names(&CriticalPath::of(&events).unwrap()));
}

#[test]
fn a_cause_after_its_effect_is_told_with_both_events() {
    let table = "id,process,clock,service_s,antecedents\n1,0,5,1,\n2,1,3,1,1:0.5\n";
    let error = CriticalPath::of(&read_table(table.as_bytes()).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "event 1 of process 0 at logical time 5 causes event 2 of process 1, which is earlier, at 3");
}

#[test]
fn events_that_cause_each_other_are_told() {
    let table = "id,process,clock,service_s,antecedents\n8,0,1,1,\n1,0,5,1,3:1\n2,1,5,1,1:0.5\n3,1,5,1,\n";
    let error = CriticalPath::of(&read_table(table.as_bytes()).unwrap()).unwrap_err().to_string();
    let expected = "events cause each other in a cycle: \
                    event 2 of process 1 → event 3 of process 1 → event 1 of process 0 → event 2";
    assert_eq!(error, expected);
}

#[test]
fn no_events_have_no_parallelism() {
    let events = Events::default();
    let path = CriticalPath::of(&events).unwrap();
    assert_eq!((path.length(), path.average_parallelism()), (SimDuration::ZERO, None));
    assert!(path.parallelism().histogram().is_empty() && path.spans().len() == 0);
}

/// Critical times according to the definition, computed without an order by iteration until nothing changes.
#[test]
fn critical_times_are_those_of_the_definition() {
    let mut events = Events::default();
    let labels = ["work", "loading"].map(|kind| events.label(Label { kind: kind.to_owned(), phase: String::new() }));
    let ways = [MESSAGE, "memory"].map(|kind| events.way(Way { kind: kind.to_owned(), ..Way::default() }));
    let number = |seed: u32, range: u32| seed.wrapping_mul(2_654_435_761) / 7 % range;
    for event in 0..400_u32 {
        let causes = (0..number(event, 3)).filter(|_| event > 0);
        let antecedents: Vec<_> = causes
            .map(|cause| Antecedent {
                event: number(event + 1000 * cause, event),
                way: ways[number(event + cause, 2) as usize],
                delay: SimDuration::from_us(number(event + cause, 90).into()),
            })
            .collect();
        let service = SimDuration::from_us(number(3 * event, 50).into());
        let stamp = Stamp { clock: f64::from(event / 5), id: u64::from(event) };
        let label = labels[number(event, 2) as usize];
        events.push(Event { process: number(event, 7), service, label }, Some(stamp), &antecedents);
    }
    let path = CriticalPath::of(&events).unwrap();
    let mut critical = vec![SimDuration::ZERO; 400];
    for _ in 0..400 {
        for event in 0..400 {
            critical[event as usize] = path.latest_cause(event, &critical).to;
        }
    }
    assert_eq!(critical, path.critical);
    let sum: SimDuration = path.spans().map(|span| span.to - span.from).sum();
    assert_eq!(sum, path.length());
    let spans: Vec<_> = path.spans().collect();
    assert!(spans.windows(2).all(|pair| pair[0].to == pair[1].from));
    assert!(path.spans().all(|span| path.slacks()[span.event as usize] == SimDuration::ZERO));
    assert_mean_of_histogram(&path);
}

/// A wait for memory on the path counts as one busy processor, whatever else overlaps with it.
#[test]
fn waits_on_the_path_count_once() {
    let table = "id,process,clock,service_s,kind,antecedents\n1,0,1,1,computing,\n2,0,2,3,loading,\n3,1,3,2,loading,\n";
    let events = read_table(table.as_bytes()).unwrap();
    let path = CriticalPath::of(&events).unwrap();
    assert_eq!(path.length(), seconds(4.0));
    assert_eq!((path.average_parallelism(), path.mean_active()), (Some(1.0), Some(0.25)));
}
