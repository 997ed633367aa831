//! Export of a run as a time-independent trace, which SimGrid replays: the calls of each rank in a separate file, with
//! computations in floating-point operations.
//!
//! For the actions and their arguments see SimGrid 3.32, `src/smpi/internals/smpi_replay.cpp`.

use super::{ExportError, FileTags, inexpressible, without_outer_barriers};
use parsim_sim::trace::{Request, RequestLog};
use parsim_sim::units::{FlopRate, SimDuration};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::io::{self, Write};

/// A run that can be written as a time-independent trace.
#[derive(Clone, Debug)]
pub struct TimeIndependentTrace<'l> {
    log: &'l RequestLog,
    tags: FileTags,
    rate: Option<FlopRate>,
}

/// Sender, receiver and tag, by which a wait identifies its operation.
type MessageKey = (u32, u32, u32);

impl<'l> TimeIndependentTrace<'l> {
    /// Creates the trace of a run on processors of this rate. A computation becomes the number of operations that take
    /// its time at this rate or, without a rate, a pause (`sleep`).
    ///
    /// # Errors
    /// Returns an [`ExportError`] if the run cannot be expressed.
    pub fn new(log: &'l RequestLog, rate: Option<FlopRate>) -> Result<Self, ExportError> {
        let trace = Self { log, tags: FileTags::of(log, i32::MAX.unsigned_abs()), rate };
        for rank in 0..trace.ranks() {
            trace.write(rank, &mut io::sink())?;
        }
        Ok(trace)
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.log.ranks.len()
    }

    /// Returns the names of the files of the ranks, which a file `trace.txt` in the same folder lists.
    pub fn files(&self) -> impl Iterator<Item = String> + use<> {
        (0..self.ranks()).map(|rank| format!("rank-{rank}.txt"))
    }

    /// Writes the calls of a rank, and returns their number. A receive of any sender or tag is written as a receive of
    /// the message that it matched.
    ///
    /// # Errors
    /// Returns an [`ExportError`] if the calls cannot be expressed or written.
    pub fn write(&self, rank: usize, sink: &mut dyn Write) -> Result<u64, ExportError> {
        let mut calls =
            RankCalls { trace: self, rank, sink, count: 0, operations: Vec::new(), open: FxHashMap::default() };
        calls.line("init", &[])?;
        let mut requests = without_outer_barriers(&self.log.ranks[rank]);
        while let Some((request, rest)) = requests.split_first() {
            requests = rest;
            let is_blocking = calls.is_next(rest.first());
            calls.add(request, is_blocking)?;
            if is_blocking && matches!(request, Request::Send { .. } | Request::Receive { .. }) {
                requests = &rest[1..];
            }
        }
        calls.line("finalize", &[])?;
        Ok(calls.count)
    }

    /// Returns the number of operations that take this time; `None` if no rate is given.
    fn operations(&self, time: SimDuration) -> Option<f64> {
        let rate = self.rate?;
        let operations = time.seconds() * rate.per_s();
        let near = [operations, operations.next_up(), operations.next_down()];
        Some(near.into_iter().find(|operations| rate.time_of_share(*operations) == time).unwrap_or(operations))
    }
}

/// The calls of a rank while they are being written.
struct RankCalls<'s> {
    trace: &'s TimeIndependentTrace<'s>,
    rank: usize,
    sink: &'s mut dyn Write,
    count: u64,
    /// The triple by which a wait identifies each operation.
    operations: Vec<MessageKey>,
    /// The operations in progress for each triple, in the order of their start.
    open: FxHashMap<MessageKey, VecDeque<u32>>,
}

impl RankCalls<'_> {
    /// Returns whether a request waits only for the operation that starts next.
    fn is_next(&self, request: Option<&Request>) -> bool {
        let Some(Request::Wait(numbers)) = request else { return false };
        matches!(numbers.as_slice(), [number] if *number as usize == self.operations.len())
    }

    fn add(&mut self, request: &Request, is_blocking: bool) -> Result<(), ExportError> {
        if let Some(error) = inexpressible(request, self.rank, "a time-independent trace") {
            return Err(error);
        }
        let me = u32::try_from(self.rank).expect("ranks are counted in 32 bits");
        match request {
            Request::Work(time) => self.work(*time)?,
            Request::Send { to, bytes, tag } => {
                let tag = self.trace.tags.written(*tag);
                self.line(if is_blocking { "send" } else { "isend" }, &[(*to).into(), tag.into(), *bytes])?;
                self.begin((me, *to, tag), is_blocking);
            }
            Request::Receive { message: Some(message), .. } => {
                let tag = self.trace.tags.written(message.tag);
                let verb = if is_blocking { "recv" } else { "irecv" };
                self.line(verb, &[message.from.into(), tag.into(), message.bytes])?;
                self.begin((message.from, me, tag), is_blocking);
            }
            Request::Receive { message: None, .. } => {
                let (what, phase) = ("a receive without a wait", String::from("program"));
                return Err(ExportError::Unsayable {
                    rank: self.rank,
                    what,
                    phase,
                    format: "a time-independent trace",
                });
            }
            Request::Wait(numbers) => {
                for number in numbers {
                    self.wait(*number)?;
                }
            }
            Request::FreeBarrier(_) | Request::Other { .. } => {}
        }
        Ok(())
    }

    fn work(&mut self, time: SimDuration) -> io::Result<()> {
        self.count += 1;
        match self.trace.operations(time) {
            Some(operations) => writeln!(self.sink, "{} compute {operations}", self.rank),
            None => writeln!(self.sink, "{} sleep {}", self.rank, time.seconds()),
        }
    }

    fn begin(&mut self, triple: MessageKey, is_blocking: bool) {
        let number = u32::try_from(self.operations.len()).expect("operations are counted in 32 bits");
        self.operations.push(triple);
        if !is_blocking {
            self.open.entry(triple).or_default().push_back(number);
        }
    }

    /// Waits for an operation, which must be the oldest with the same triple.
    fn wait(&mut self, number: u32) -> Result<(), ExportError> {
        let (from, to, tag) = self.operations[number as usize];
        let open = self.open.entry((from, to, tag)).or_default();
        if open.pop_front() != Some(number) {
            let rank = self.rank;
            return Err(if self.trace.tags.is_collective(tag) {
                ExportError::OutOfOrderInCollective { rank, from, to }
            } else {
                ExportError::OutOfOrder { rank, from, to, tag }
            });
        }
        Ok(self.line("wait", &[from.into(), to.into(), tag.into()])?)
    }

    fn line(&mut self, verb: &str, arguments: &[u64]) -> io::Result<()> {
        self.count += 1;
        write!(self.sink, "{} {verb}", self.rank)?;
        for argument in arguments {
            write!(self.sink, " {argument}")?;
        }
        writeln!(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::trace::{RESERVED_TAGS, ReceivedMessage};

    fn written(requests: Vec<Request>, rate: Option<&str>) -> Result<String, ExportError> {
        let log = RequestLog { ranks: vec![requests], ..RequestLog::default() };
        let trace = TimeIndependentTrace::new(&log, rate.map(|rate| rate.parse().expect("a rate")))?;
        let mut text = Vec::new();
        trace.write(0, &mut text)?;
        Ok(String::from_utf8(text).expect("a text"))
    }

    const RATE: Option<&str> = Some("2 Gflop/s");

    fn send(tag: u32) -> Request {
        Request::Send { to: 1, bytes: 8, tag }
    }

    #[test]
    fn an_operation_that_is_waited_for_at_once_is_blocking() {
        let message = Some(ReceivedMessage { from: 2, tag: 7, bytes: 100 });
        let receive = Request::Receive { from: None, tag: None, message };
        let work = Request::Work(SimDuration::from_ps(1500));
        let requests = vec![send(RESERVED_TAGS), receive, Request::Wait(vec![1]), work, Request::Wait(vec![0])];
        let lines = "0 init\n0 isend 1 8 8\n0 recv 2 7 100\n0 compute 3\n0 wait 0 1 8\n0 finalize\n";
        assert_eq!(written(requests.clone(), RATE).unwrap(), lines);
        let paused = written(requests, None).unwrap();
        assert!(paused.contains("0 sleep 0.0000000015\n"), "{paused}");
    }

    #[test]
    fn tags_are_those_of_mpi() {
        let text = written(vec![send(1 << 31), send(5), send(RESERVED_TAGS)], RATE).unwrap();
        assert!(text.contains("isend 1 1 8\n0 isend 1 0 8\n0 isend 1 2 8\n"), "{text}");
    }

    #[test]
    fn waits_out_of_order_have_no_name() {
        let work = Request::Work(SimDuration::from_ps(1500));
        let requests = |tag| vec![send(0), send(tag), work.clone(), Request::Wait(vec![1]), Request::Wait(vec![0])];
        assert!(written(requests(1), RATE).is_ok());
        let error = written(requests(0), RATE).unwrap_err().to_string();
        assert!(error.starts_with("rank 0 waits for a message from rank 0 to rank 1 with tag 0 before"), "{error}");
    }

    #[test]
    fn a_free_barrier_is_no_call() {
        let work = Request::Work(SimDuration::from_ps(1));
        let error = written(vec![work.clone(), Request::FreeBarrier("compute"), work], RATE).unwrap_err();
        assert!(
            error.to_string().ends_with("in phase compute, which a time-independent trace cannot express"),
            "{error}"
        );
    }
}
