//! Time Warp: every rank processes events optimistically, and rolls back if it has advanced too far.
//!
//! The global virtual time is computed by rank 0, which stops all others. Each rank reports the virtual time of its
//! earliest event, the number of messages that it has sent to each rank, and the number that it has received. When no
//! message is in flight, the earliest of these times is the global one. Counting by receiver makes stale reports
//! harmless: a stopped rank sends only in response to a message that it has received, so the first message missing in a
//! report leaves its receiver's balance open. Ranks do not resume at the same moment. A rank that is still stopped may
//! receive a message from one that has resumed, and report it for a round that is over; such reports are recognised by
//! the number of their round.

use super::rank::Rank;
use super::wire::{RankMessage, Report};
use parsim_sim::units::{SimDuration, SimTime};

/// The rank that computes the global virtual time.
const COORDINATOR: u32 = 0;

/// Runs the simulation to its end.
pub async fn simulate(rank: &mut Rank, gvt_every: SimDuration) {
    let mut time_warp = TimeWarp {
        gvt_every,
        last_round: rank.me.now(),
        has_worked: false,
        noticed: false,
        idle: vec![false; rank.me.ranks() as usize],
        finished: false,
        rank,
    };
    time_warp.run().await;
}

struct TimeWarp<'r> {
    rank: &'r mut Rank,
    gvt_every: SimDuration,
    /// The time at which the global virtual time was last known.
    last_round: SimTime,
    /// `true` if an event has been processed since `last_round`, because rounds in quick succession must not keep rank
    /// 0 from its work.
    has_worked: bool,
    /// `true` if the coordinator has been notified since `last_round` that this rank is idle.
    noticed: bool,
    /// On the coordinator, the ranks that have become idle since `last_round`.
    idle: Vec<bool>,
    finished: bool,
}

impl TimeWarp<'_> {
    async fn run(&mut self) {
        while !self.finished {
            while let Some((from, note)) = self.rank.poll().await {
                self.handle(from, note).await;
            }
            if self.finished {
                return;
            }
            let coordinates = self.rank.me.rank() == COORDINATOR;
            if coordinates && self.has_worked && self.rank.me.elapsed(self.last_round) >= self.gvt_every {
                self.compute_global_time().await;
            } else if self.rank.process_next().await {
                self.has_worked = true;
            } else if coordinates && self.others_are_idle() {
                self.compute_global_time().await;
            } else {
                self.wait_idle().await;
            }
        }
    }

    /// Waits for a message, because there are no events.
    async fn wait_idle(&mut self) {
        if self.rank.me.rank() != COORDINATOR && !self.noticed {
            self.noticed = true;
            self.rank.notify(COORDINATOR, &RankMessage::Idle).await;
        }
        let (from, note) = self.rank.next().await;
        self.handle(from, note).await;
    }

    async fn handle(&mut self, from: u32, note: RankMessage) {
        match note {
            RankMessage::Message(message) => self.rank.accept(message).await,
            RankMessage::Idle => self.idle[from as usize] = true,
            RankMessage::Stop(round) => self.wait_stopped(round).await,
            RankMessage::Report(_) => {}
            note => unreachable!("a rank that works received {note:?}"),
        }
    }

    fn others_are_idle(&self) -> bool {
        (0..).zip(&self.idle).all(|(rank, idle)| *idle || rank == COORDINATOR)
    }

    fn report(&self, round: f64) -> Report {
        #[expect(clippy::cast_precision_loss, reason = "messages are counted far below 2^53")]
        let real = |count: &u64| *count as f64;
        Report {
            round,
            next: self.rank.queue.next_time(),
            received: real(&self.rank.received),
            sent: self.rank.sent.iter().map(real).collect(),
        }
    }

    /// Processes no events until the global virtual time is known, but accepts messages.
    async fn wait_stopped(&mut self, round: f64) {
        let report = RankMessage::Report(self.report(round));
        self.rank.notify(COORDINATOR, &report).await;
        loop {
            let (_, note) = self.rank.next().await;
            match note {
                RankMessage::Message(message) => {
                    self.rank.accept(message).await;
                    let report = RankMessage::Report(self.report(round));
                    self.rank.notify(COORDINATOR, &report).await;
                }
                RankMessage::GlobalTime(time) => return self.resume(time),
                note => unreachable!("a stopped rank received {note:?}"),
            }
        }
    }

    /// Stops all ranks, and resumes them when the global virtual time is known.
    async fn compute_global_time(&mut self) {
        self.rank.rounds += 1;
        let round = f64::from(self.rank.rounds);
        let others = (0..self.rank.me.ranks()).filter(|rank| *rank != COORDINATOR);
        for other in others.clone() {
            self.rank.notify(other, &RankMessage::Stop(round)).await;
        }
        let mut reports: Vec<Option<Report>> = vec![None; self.rank.me.ranks() as usize];
        loop {
            reports[COORDINATOR as usize] = Some(self.report(round));
            if let Some(time) = global_time(&reports) {
                for other in others {
                    self.rank.notify(other, &RankMessage::GlobalTime(time)).await;
                }
                return self.resume(time);
            }
            let (from, note) = self.rank.next().await;
            match note {
                RankMessage::Message(message) => self.rank.accept(message).await,
                RankMessage::Report(report) if is_of(&report, round) => reports[from as usize] = Some(report),
                RankMessage::Report(_) | RankMessage::Idle => {}
                note => unreachable!("the coordinator received {note:?}"),
            }
        }
    }

    fn resume(&mut self, global_time: f64) {
        self.rank.queue.commit(global_time);
        self.last_round = self.rank.me.now();
        self.has_worked = false;
        self.noticed = false;
        self.idle.fill(false);
        self.finished = global_time.is_infinite();
    }
}

/// Returns `true` if a report belongs to this round.
#[expect(clippy::float_cmp, reason = "counts")]
fn is_of(report: &Report, round: f64) -> bool {
    report.round == round
}

/// Returns the global virtual time if all ranks have reported and no message is in flight.
fn global_time(reports: &[Option<Report>]) -> Option<f64> {
    let reports: Vec<&Report> = reports.iter().map(Option::as_ref).collect::<Option<_>>()?;
    let sent_to = |rank: usize| reports.iter().map(|report| report.sent[rank]).sum::<f64>();
    #[expect(clippy::float_cmp, reason = "counts")]
    let arrived = reports.iter().enumerate().all(|(rank, report)| sent_to(rank) == report.received);
    arrived.then(|| reports.iter().map(|report| report.next).fold(f64::INFINITY, f64::min))
}
