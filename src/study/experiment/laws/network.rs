//! Closed forms without contention: one message, and collective operations.

use super::{processors, rows};
use crate::answer::{Answer, Record, Role};
use crate::experiment::StudyError;
use crate::model::collectives::MessageCost;
use crate::model::switching::Times;

/// One message alone in a network.
#[derive(Clone, Copy, Debug)]
pub struct QuietMessage {
    /// The costs of start-up, link and byte.
    pub times: Times,
    /// The length in bytes.
    pub bytes: f64,
    /// The number of equal packets, for store-and-forward switching in packets.
    pub packets: f64,
    /// The length of a flit in bytes, for cut-through switching in flits.
    pub flit_bytes: f64,
}

impl QuietMessage {
    /// Returns the times over these numbers of links, for every kind of switching.
    ///
    /// # Errors
    /// Returns an error if there are more packets than bytes, or if flits are longer than the message.
    pub fn answer(&self, links: &[f64]) -> Result<Answer, StudyError> {
        for (option, largest) in [("packets", self.packets), ("flit-bytes", self.flit_bytes)] {
            if largest > self.bytes {
                let message = format!("--{option}: a message of {} B has no {largest}", self.bytes);
                return Err(StudyError::Request(format!("{message}: give {} at most", self.bytes)));
            }
        }
        Ok(rows(links, |links| self.record(links)))
    }

    fn record(&self, links: f64) -> Record {
        let Self { times, bytes, packets, flit_bytes } = *self;
        let mut record = Record::default();
        record.put_as(Role::Axis, "links", processors(links));
        record.put_as(Role::Axis, "bytes", processors(bytes));
        record.put("store_and_forward_s", times.store_and_forward_s(bytes, links));
        record.put("in_packets_s", times.in_packets_s(bytes, links, packets));
        record.put("cut_through_s", times.cut_through_s(bytes, links));
        record.put("in_flits_s", times.in_flits_s(bytes, links, flit_bytes));
        record.put("simplified_s", times.simplified_s(bytes));
        record.put("error_of_simplified", times.error_of_simplified(bytes, links));
        record
    }
}

/// A closed form of a collective operation as a function of the costs, the ranks and the bytes.
type Form = fn(MessageCost, f64, f64) -> f64;

const ON_HYPERCUBES: [(&str, Form); 7] = [
    ("broadcast_s", MessageCost::broadcast_hypercube_s),
    ("reduce_s", MessageCost::reduce_hypercube_s),
    ("all_reduce_s", MessageCost::all_reduce_hypercube_s),
    ("all_gather_s", MessageCost::all_gather_hypercube_s),
    ("reduce_scatter_s", MessageCost::reduce_scatter_hypercube_s),
    ("scatter_s", MessageCost::scatter_hypercube_s),
    ("all_to_all_s", MessageCost::all_to_all_hypercube_s),
];
const ON_TORI: [(&str, Form); 2] =
    [("torus_all_gather_s", MessageCost::all_gather_torus_s), ("torus_all_to_all_s", MessageCost::all_to_all_torus_s)];

/// Returns the times of collective operations on `bytes` bytes without contention, for these numbers of ranks.
#[must_use]
pub fn collective(costs: MessageCost, bytes: f64, ranks: &[f64]) -> Answer {
    rows(ranks, |p| {
        let mut record = Record::default();
        record.put_as(Role::Axis, "p", processors(p));
        let mut put = |forms: &[(&'static str, Form)], exists: bool| {
            for (key, form) in forms {
                record.put(*key, exists.then(|| form(costs, p, bytes)));
            }
        };
        put(&ON_HYPERCUBES, is_whole(p.log2()));
        put(&ON_TORI, is_whole(p.sqrt()));
        record
    })
}

fn is_whole(value: f64) -> bool {
    value.is_finite() && value.fract() == 0.0
}
