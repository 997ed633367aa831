//! The encoding of messages between the ranks of a simulation as numbers.

use super::events::EventMessage;
use super::lattice::{BoundarySide, Critical, Update};

/// A message between ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum RankMessage {
    /// A message between logical processes.
    Message(EventMessage),
    /// A null message: no message will follow before this virtual time.
    Promise(f64),
    /// A request of the coordinator to process no events while it computes the global virtual time, with the number of
    /// the round.
    Stop(f64),
    /// The report of a stopped rank for the global virtual time.
    Report(Report),
    /// The new global virtual time, with which ranks resume.
    GlobalTime(f64),
    /// A notice that the sender has no events.
    Idle,
}

/// The report of a stopped rank for the global virtual time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The number of the computation (round) that the report is for.
    pub round: f64,
    /// The virtual time of the earliest unprocessed event of the rank.
    pub next: f64,
    /// Number of messages that the rank has received.
    pub received: f64,
    /// Number of messages that the rank has sent to each rank.
    pub sent: Vec<f64>,
}

impl RankMessage {
    /// Encodes the note as numbers.
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

    /// Decodes a note that [`encode`](Self::encode) has encoded.
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

/// Converts a number that was an index back to one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number that was an index")]
pub const fn index(number: f64) -> usize {
    number as usize
}
