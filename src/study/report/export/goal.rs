//! Export of a run as a GOAL schedule, for LogGOPSim and other simulators that read this format.
//!
//! For grammar and meaning see Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language (2009), as read by
//! LogGOPSim's `txt2bin`.

use super::{ExportError, FileTags, inexpressible, without_outer_barriers};
use parsim_sim::trace::{RESERVED_TAGS, Request, RequestLog};
use parsim_sim::units::{SimDuration, TotalTime};
use std::io::Write;

/// Writes the requests of a run, with times in whole `unit`s, rounded to the nearest. Returns the number of statements.
///
/// Operations that a process waits for come before its next request (`requires`); operations that it starts without
/// waiting begin in its order (`irequires`). Messages have at least `least_bytes`: LogGOPSim subtracts the time of a
/// byte from a message of 0 B, and a message of 1 B takes no more than one of 0 B by LogGOPS. Messages of collective
/// operations get the first tags above those of all other messages.
///
/// # Errors
/// Returns an [`ExportError`] if the run cannot be expressed or written.
pub fn write_goal(
    log: &RequestLog,
    unit: SimDuration,
    least_bytes: u64,
    sink: &mut dyn Write,
) -> Result<u64, ExportError> {
    check_unit(log, unit)?;
    check_any_tag(log)?;
    let tags = FileTags::of(log, RESERVED_TAGS);
    writeln!(sink, "num_ranks {}\n", log.ranks.len())?;
    let mut statements = 0;
    for (rank, requests) in log.ranks.iter().enumerate() {
        writeln!(sink, "rank {rank} {{")?;
        let mut schedule = GoalSchedule {
            rank,
            unit,
            least_bytes,
            tags: &tags,
            sink,
            statements: 0,
            operations: Vec::new(),
            after: Vec::new(),
            awaited: 0,
            changes: 0,
            last: [None; 2],
        };
        for request in without_outer_barriers(requests) {
            schedule.add(request)?;
        }
        statements += schedule.statements;
        writeln!(sink, "}}\n")?;
    }
    Ok(statements)
}

/// The largest share of the total computation by which rounding may change it.
const MAX_ROUNDING: f64 = 0.01;

/// Rejects a unit that changes the total computation by more than a hundredth.
fn check_unit(log: &RequestLog, unit: SimDuration) -> Result<(), ExportError> {
    let work = log.ranks.iter().flatten().filter_map(|request| match request {
        Request::Work(time) => Some(*time),
        _ => None,
    });
    let (asked, written): (Vec<_>, Vec<_>) = work.map(|time| (time, unit * in_units(time, unit))).unzip();
    let [asked, written] = [asked, written].map(|times| times.into_iter().sum::<TotalTime>());
    if (written.seconds() - asked.seconds()).abs() <= MAX_ROUNDING * asked.seconds() {
        return Ok(());
    }
    let words = |total: TotalTime| format!("{:.4e} s", total.seconds());
    Err(ExportError::TooCoarse { asked: words(asked), written: words(written), unit })
}

/// Rejects an unmatched receive of any tag in a run with collective operations.
fn check_any_tag(log: &RequestLog) -> Result<(), ExportError> {
    let is_any = |request: &Request| matches!(request, Request::Receive { tag: None, message: None, .. });
    let is_collective = |request: &Request| match request {
        Request::Send { tag, .. } | Request::Receive { tag: Some(tag), .. } => *tag >= RESERVED_TAGS,
        _ => false,
    };
    match log.ranks.iter().position(|requests| requests.iter().any(is_any)) {
        Some(rank) if log.ranks.iter().flatten().any(is_collective) => Err(ExportError::AnyTag { rank }),
        _ => Ok(()),
    }
}

/// Returns the nearest whole number of units.
fn in_units(time: SimDuration, unit: SimDuration) -> u64 {
    time.ratio(1, unit.ps()).ps()
}

/// The schedule of a rank while it is being written.
struct GoalSchedule<'s> {
    rank: usize,
    unit: SimDuration,
    least_bytes: u64,
    tags: &'s FileTags,
    sink: &'s mut dyn Write,
    statements: u64,
    /// For each operation, its label and the number of labels that had been waited for when it was written.
    operations: Vec<(u64, u64)>,
    /// The labels that must be done before the next statement begins, each with its number among the labels waited for.
    /// None of them is required by another one of them.
    after: Vec<(u64, u64)>,
    /// The number of labels waited for so far.
    awaited: u64,
    /// The number of times that `after` has changed.
    changes: u64,
    /// The last send and the last receive; `None` if all later operations require its end.
    last: [Option<LatestOperation>; 2],
}

/// The latest operation of a kind that a process has started.
#[derive(Clone, Copy)]
struct LatestOperation {
    label: u64,
    /// The value of `changes` when the operation was started. Operations that a process starts at the same moment have
    /// the same value.
    changes: u64,
    before: Option<u64>,
    number: u32,
}

/// The largest number of operations that start at the same moment without dependencies between them. LogGOPSim keeps
/// the order of the file for up to this many.
const AT_ONCE: u32 = 16;

impl GoalSchedule<'_> {
    fn add(&mut self, request: &Request) -> Result<(), ExportError> {
        if let Some(error) = inexpressible(request, self.rank, "GOAL") {
            return Err(error);
        }
        match request {
            Request::Work(time) => self.compute(*time)?,
            Request::Send { to, bytes, tag } => {
                let tag = self.tags.written(*tag);
                let label =
                    self.statement(&format!("send {}b to {to} tag {tag}", bytes.max(&self.least_bytes)), Some(0))?;
                self.operations.push((label, self.awaited));
            }
            Request::Receive { from, tag, message } => {
                // The message of this run is named, because the requests that follow would not fit another message.
                let source = from.or(message.map(|message| message.from));
                let from = source.map_or("-1".to_owned(), |from| from.to_string());
                let tag = tag.or(message.map(|message| message.tag));
                let tag = tag.map_or("-1".to_owned(), |tag| self.tags.written(tag).to_string());
                let bytes = message.map_or(1, |message| message.bytes).max(self.least_bytes);
                let label = self.statement(&format!("recv {bytes}b from {from} tag {tag}"), Some(1))?;
                self.operations.push((label, self.awaited));
            }
            Request::Wait(numbers) => self.end(numbers),
            Request::FreeBarrier(_) | Request::Other { .. } => {}
        }
        Ok(())
    }

    /// Writes a computation, which waits until the sends before it have begun. All later operations wait for the
    /// computation.
    fn compute(&mut self, time: SimDuration) -> Result<(), ExportError> {
        let units = in_units(time, self.unit);
        let label = self.statement(&format!("calc {units}"), None)?;
        if let Some(send) = self.last[0] {
            writeln!(self.sink, "l{label} irequires l{}", send.label)?;
        }
        self.after.clear();
        self.wait_for([label]);
        self.last = [None; 2];
        Ok(())
    }

    /// Makes all later operations wait for the end of these operations.
    fn end(&mut self, numbers: &[u32]) {
        let awaited: Vec<_> = numbers.iter().map(|number| self.operations[*number as usize]).collect();
        let required = awaited.iter().map(|(_, before)| *before).max().unwrap_or_default();
        self.after.retain(|(_, number)| *number >= required);
        // Later operations still wait for the start of operations that are not known to have ended.
        let has_ended = |last: &mut LatestOperation| awaited.iter().any(|(ended, _)| *ended == last.label);
        self.last.iter_mut().for_each(|last| _ = last.take_if(has_ended));
        self.wait_for(awaited.into_iter().map(|(label, _)| label));
    }

    fn wait_for(&mut self, labels: impl IntoIterator<Item = u64>) {
        self.changes += 1;
        for label in labels {
            self.after.push((label, self.awaited));
            self.awaited += 1;
        }
    }

    /// Writes a statement with the statements that must have ended or begun before it. Returns its label.
    fn statement(&mut self, text: &str, kind: Option<usize>) -> Result<u64, ExportError> {
        self.statements += 1;
        let label = self.statements;
        writeln!(self.sink, "l{label}: {text}")?;
        for (before, _) in &self.after {
            writeln!(self.sink, "l{label} requires l{before}")?;
        }
        if let Some(kind) = kind {
            let (before, number) = match self.last[kind] {
                Some(last) if last.changes == self.changes && last.number < AT_ONCE => (last.before, last.number + 1),
                last => (last.map(|last| last.label), 1),
            };
            if let Some(before) = before {
                writeln!(self.sink, "l{label} irequires l{before}")?;
            }
            self.last[kind] = Some(LatestOperation { label, changes: self.changes, before, number });
        }
        Ok(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::trace::ReceivedMessage;

    #[test]
    fn waits_become_dependencies() {
        let send = |to| Request::Send { to, bytes: 8, tag: 3 };
        let receive =
            Request::Receive { from: None, tag: Some(3), message: Some(ReceivedMessage { from: 0, tag: 3, bytes: 0 }) };
        let work = Request::Work(SimDuration::from_ps(1001));
        let log = RequestLog {
            ranks: vec![vec![send(1), send(2), Request::Wait(vec![0, 1]), work, receive]],
            ..RequestLog::default()
        };
        let mut text = Vec::new();
        assert_eq!(write_goal(&log, SimDuration::from_ps(1000), 1, &mut text).unwrap(), 4);
        let lines = "num_ranks 1\n\nrank 0 {\nl1: send 8b to 1 tag 3\nl2: send 8b to 2 tag 3\n\
                     l3: calc 1\nl3 requires l1\nl3 requires l2\nl4: recv 1b from 0 tag 3\nl4 requires l3\n}\n\n";
        assert_eq!(String::from_utf8(text).unwrap(), lines);
    }

    /// A statement does not repeat indirect requirements, so that the schedule is no longer than the program.
    #[test]
    fn dependencies_are_not_repeated() {
        let exchange = |number| [Request::Send { to: 1, bytes: 8, tag: 0 }, Request::Wait(vec![number])];
        let log = RequestLog { ranks: vec![(0..4).flat_map(exchange).collect()], ..RequestLog::default() };
        let mut text = Vec::new();
        write_goal(&log, SimDuration::from_ps(1000), 1, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let required: Vec<_> = text.lines().filter(|line| line.contains(" requires ")).collect();
        assert_eq!(required, ["l2 requires l1", "l3 requires l2", "l4 requires l3"]);
        // Of two operations that are waited for, the first may take longer.
        let send = || Request::Send { to: 1, bytes: 8, tag: 0 };
        let requests = vec![
            send(),
            send(),
            Request::Wait(vec![1]),
            send(),
            Request::Wait(vec![2]),
            Request::Wait(vec![0]),
            send(),
        ];
        let mut text = Vec::new();
        write_goal(
            &RequestLog { ranks: vec![requests], ..RequestLog::default() },
            SimDuration::from_ps(1000),
            1,
            &mut text,
        )
        .unwrap();
        let text = String::from_utf8(text).unwrap();
        let required: Vec<_> = text.lines().filter(|line| line.contains(" requires ")).collect();
        assert_eq!(required, ["l3 requires l2", "l4 requires l3", "l4 requires l1"]);
    }

    #[test]
    fn a_computation_begins_after_the_sends_before_it() {
        let send = |to| Request::Send { to, bytes: 8, tag: 0 };
        let log = RequestLog {
            ranks: vec![vec![send(1), send(2), Request::Work(SimDuration::from_ps(1000))]],
            ..RequestLog::default()
        };
        let mut text = Vec::new();
        write_goal(&log, SimDuration::from_ps(1000), 1, &mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("l3: calc 1\nl3 irequires l2\n"));
    }

    /// A wait implies nothing about operations that began earlier and continue.
    #[test]
    fn waits_for_others_do_not_hide_what_has_begun() {
        let send = |to| Request::Send { to, bytes: 0, tag: 0 };
        let receive = Request::Receive { from: Some(1), tag: Some(0), message: None };
        let requests =
            vec![receive, send(1), send(2), Request::Wait(vec![0]), send(3), Request::Wait(vec![3]), send(4)];
        let mut text = Vec::new();
        write_goal(
            &RequestLog { ranks: vec![requests], ..RequestLog::default() },
            SimDuration::from_ps(1000),
            0,
            &mut text,
        )
        .unwrap();
        let text = String::from_utf8(text).unwrap();
        let begun: Vec<_> = text.lines().filter(|line| line.contains(" irequires ")).collect();
        assert_eq!(begun, ["l4 irequires l3"], "{text}");
        assert!(text.contains("l3: send 0b to 2"), "{text}");
    }

    /// Operations started at one moment begin in the order of the file, which LogGOPSim keeps for this many.
    #[test]
    fn a_process_begins_several_operations_at_once() {
        let send = || Request::Send { to: 1, bytes: 8, tag: 0 };
        let requests: Vec<_> =
            [send(), Request::Wait(vec![]), send()].into_iter().chain((0..16).map(|_| send())).collect();
        let mut text = Vec::new();
        write_goal(
            &RequestLog { ranks: vec![requests], ..RequestLog::default() },
            SimDuration::from_ps(1000),
            1,
            &mut text,
        )
        .unwrap();
        let text = String::from_utf8(text).unwrap();
        let begun: Vec<_> = text.lines().filter_map(|line| line.split_once(" irequires ")).collect();
        let before = |label| begun.iter().find(|(follower, _)| *follower == label).map(|(_, leader)| *leader);
        assert_eq!([before("l2"), before("l17"), before("l18")], [Some("l1"), Some("l1"), Some("l17")], "{text}");
    }

    #[test]
    fn collective_operations_have_a_tag_of_their_own() {
        let send = |tag| Request::Send { to: 0, bytes: 8, tag };
        let any = Request::Receive { from: None, tag: None, message: None };
        let write = |requests: &[Request]| {
            let mut text = Vec::new();
            let log = RequestLog { ranks: vec![requests.to_vec()], ..RequestLog::default() };
            write_goal(&log, SimDuration::from_ps(1000), 1, &mut text).map(|_| String::from_utf8(text).unwrap())
        };
        let text = write(&[send(3), send(RESERVED_TAGS)]).unwrap();
        assert!(text.contains("tag 3\n") && text.contains("tag 4\n"), "{text}");
        let error = write(&[send(RESERVED_TAGS), any]).unwrap_err().to_string();
        assert!(
            error.starts_with("rank 0 posts a receive of any tag that no message matches, in a program with"),
            "{error}"
        );
    }

    #[test]
    fn a_unit_in_which_the_work_is_lost_is_rejected() {
        let work = |ps| Request::Work(SimDuration::from_ps(ps));
        let log = RequestLog { ranks: vec![vec![work(14_000_000)], vec![work(100)]], ..RequestLog::default() };
        let write = |unit| write_goal(&log, SimDuration::from_ps(unit), 1, &mut Vec::new());
        assert_eq!(write(1000).unwrap(), 2, "the short computation is a hundred-thousandth of all");
        let error = write(30_000_000).unwrap_err().to_string();
        assert!(error.contains("of 1.4000e-5 s would be 0.0000e0 s") && error.contains("30 us"), "{error}");
        assert!(matches!(write(20_000_000), Err(ExportError::TooCoarse { .. })), "1.4 is rounded up, too");
    }

    #[test]
    fn a_free_barrier_is_no_goal() {
        let (barrier, work) = (Request::FreeBarrier("compute"), Request::Work(SimDuration::from_ps(1)));
        let log =
            RequestLog { ranks: vec![vec![barrier.clone(), work.clone(), barrier.clone()]], ..RequestLog::default() };
        assert_eq!(write_goal(&log, SimDuration::from_ps(1), 1, &mut Vec::new()).unwrap(), 1);
        let log = RequestLog { ranks: vec![vec![work.clone(), barrier, work]], ..RequestLog::default() };
        let error = write_goal(&log, SimDuration::from_ps(1), 1, &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "rank 0 requests a barrier without cost in phase compute, which GOAL cannot express"
        );
    }
}
