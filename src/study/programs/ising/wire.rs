//! Messages between the ranks of a simulation, as numbers.

use super::events::EventMessage;
use super::lattice::{BoundarySide, Critical, Update};

/// A message between ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A message between logical processes.
    Message(EventMessage),
    /// There will be no message before this virtual time: a null message.
    Promise(f64),
    /// The coordinator computes the global virtual time, for the time that is given: process no events.
    Stop(f64),
    /// Report of a stopped rank for the global virtual time.
    Report(Report),
    /// The global virtual time is known: go on.
    GlobalTime(f64),
    /// A rank has nothing to do.
    Idle,
}

/// Report of a stopped rank for the global virtual time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The computation of the global virtual time that it is for.
    pub round: f64,
    /// The virtual time of its earliest unprocessed event.
    pub next: f64,
    /// Number of messages that it has received.
    pub received: f64,
    /// Number of messages that it has sent to each rank.
    pub sent: Vec<f64>,
}

impl Note {
    /// As numbers.
    #[expect(clippy::cast_precision_loss, reason = "indices of processes and sites are small")]
    pub fn encode(&self) -> Vec<f64> {
        match self {
            Self::Message(EventMessage { update, anti }) => vec![
                if *anti { 1.0 } else { 0.0 },
                update.time,
                update.from as f64,
                update.to as f64,
                f64::from(update.side as u8),
                update.at as f64,
                f64::from(update.spin),
                update.critical.attempts,
                update.critical.flips,
            ],
            Self::Promise(time) => vec![2.0, *time],
            Self::Stop(round) => vec![3.0, *round],
            Self::Report(report) => [&[4.0, report.round, report.next, report.received], &*report.sent].concat(),
            Self::GlobalTime(time) => vec![5.0, *time],
            Self::Idle => vec![6.0],
        }
    }

    /// From numbers that [`encode`](Self::encode) has made.
    pub fn decode(content: &[f64]) -> Self {
        match content {
            [2.0, time] => Self::Promise(*time),
            [3.0, round] => Self::Stop(*round),
            [4.0, round, next, received, sent @ ..] => {
                Self::Report(Report { round: *round, next: *next, received: *received, sent: sent.to_vec() })
            }
            [5.0, time] => Self::GlobalTime(*time),
            [6.0] => Self::Idle,
            [anti, time, from, to, side, at, spin, attempts, flips] => {
                let update = Update {
                    time: *time,
                    from: index(*from),
                    to: index(*to),
                    side: BoundarySide::ALL[index(*side)],
                    at: index(*at),
                    spin: if *spin > 0.0 { 1 } else { -1 },
                    critical: Critical { attempts: *attempts, flips: *flips },
                };
                Self::Message(EventMessage { update, anti: *anti > 0.0 })
            }
            other => unreachable!("a rank received {other:?}"),
        }
    }
}

/// A number that was an index.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number that was an index")]
pub const fn index(number: f64) -> usize {
    number as usize
}
