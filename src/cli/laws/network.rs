//! The closed forms of a quiet network on numbers from the command line: one message, and collective operations.

use super::numbers::{count, positive, rows, time};
use super::{Answer, processors};
use clap::Args;
use parsim_study::model::collectives::MessageCost;
use parsim_study::model::switching::Times;
use parsim_study::report::Record;

#[derive(Debug, Args)]
pub struct SwitchingArguments {
    /// `t_s`: the start-up of the message, in seconds.
    #[arg(long, value_parser = time)]
    startup_s: f64,
    /// `t_w`: a byte on a link, in seconds.
    #[arg(long, value_parser = time)]
    per_byte_s: f64,
    /// `t_h`: what a link costs besides the bytes, in seconds.
    #[arg(long, value_parser = time, default_value = "0")]
    per_hop_s: f64,
    /// m: the length of the message, in bytes.
    #[arg(long, value_parser = positive)]
    bytes: f64,
    /// l: the numbers of links to cross.
    #[arg(long, value_parser = links, value_delimiter = ',', required = true)]
    links: Vec<f64>,
    /// k: the number of equal packets of store and forward in packets.
    #[arg(long, value_parser = packets, default_value = "1")]
    packets: f64,
    /// f: the length of a flit of cut-through in flits, in bytes.
    #[arg(long, value_parser = positive, default_value = "1")]
    flit_bytes: f64,
}

#[derive(Debug, Args)]
pub struct CollectiveArguments {
    /// `t_s`: the start-up of a message, in seconds.
    #[arg(long, value_parser = time)]
    startup_s: f64,
    /// `t_w`: a byte on a link, in seconds.
    #[arg(long, value_parser = time)]
    per_byte_s: f64,
    /// m: the length of a message, or of the block of a rank, in bytes.
    #[arg(long, value_parser = positive)]
    bytes: f64,
    /// Numbers of ranks: powers of two for the hypercube, squares for the torus.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    p: Vec<f64>,
}

impl SwitchingArguments {
    pub fn answer(&self) -> Answer {
        let times = Times { startup_s: self.startup_s, hop_s: self.per_hop_s, byte_s: self.per_byte_s };
        rows(&self.links, |links| self.record(times, links))
    }

    fn record(&self, times: Times, links: f64) -> Record {
        let mut record = Record::default();
        record.put("links", processors(links));
        record.put("bytes", processors(self.bytes));
        record.put("store_and_forward_s", times.store_and_forward_s(self.bytes, links));
        record.put("in_packets_s", times.in_packets_s(self.bytes, links, self.packets));
        record.put("cut_through_s", times.cut_through_s(self.bytes, links));
        record.put("in_flits_s", times.in_flits_s(self.bytes, links, self.flit_bytes));
        record.put("simplified_s", times.simplified_s(self.bytes));
        record.put("error_of_simplified", times.error_of_simplified(self.bytes, links));
        record
    }
}

/// A closed form of a collective operation: of the costs, the ranks and the bytes.
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

impl CollectiveArguments {
    pub fn answer(&self) -> Answer {
        let costs = MessageCost { start_s: self.startup_s, per_byte_s: self.per_byte_s };
        rows(&self.p, |p| self.record(costs, p))
    }

    fn record(&self, costs: MessageCost, p: f64) -> Record {
        let mut record = Record::default();
        record.put("p", processors(p));
        let mut put = |forms: &[(&str, Form)], exists: bool| {
            for (key, form) in forms {
                record.put(key, exists.then(|| form(costs, p, self.bytes)));
            }
        };
        put(&ON_HYPERCUBES, is_whole(p.log2()));
        put(&ON_TORI, is_whole(p.sqrt()));
        record
    }
}

fn is_whole(value: f64) -> bool {
    value.is_finite() && value.fract() == 0.0
}

fn links(text: &str) -> Result<f64, String> {
    whole(text, "a number of links from 1 on")
}

fn packets(text: &str) -> Result<f64, String> {
    whole(text, "a number of packets from 1 on")
}

fn whole(text: &str, right: &str) -> Result<f64, String> {
    text.parse::<u32>().ok().filter(|value| *value > 0).map(f64::from).ok_or_else(|| format!("give {right}"))
}
