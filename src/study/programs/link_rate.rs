//! The byte rates of a link.

use parsim_sim::fault::Fault;
use parsim_sim::machine::{Layout, Machine};
use parsim_sim::program::Process;
use parsim_sim::program::{Program, RankFuture};
use parsim_sim::trace::Phase;
use serde::{Deserialize, Serialize};

/// The byte rates of the machine's links under their protocol. The program reports `one_way_bytes_per_s`, and
/// `two_way_bytes_per_s`, the sum of both directions while both are busy. Packets and acknowledges are simulated bit
/// time by bit time. The program takes no simulated time on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRate {}

impl Program for LinkRate {
    fn start(&self, process: Process) -> RankFuture {
        Box::pin(async move { report_rates(&process) })
    }

    fn jobs(&self, _ranks: u32) -> f64 {
        0.0
    }

    fn phases(&self) -> &'static [Phase] {
        &[]
    }

    fn machine_faults(&self, machine: &Machine, _layout: &Layout) -> Vec<Fault> {
        let fault = || {
            let help = "describe the wire: `protocol: Protocol(…)`";
            Fault::new("machine.network.links", "the links have no protocol to take rates from", help)
        };
        machine.network.links.protocol.is_none().then(fault).into_iter().collect()
    }
}

fn report_rates(me: &Process) {
    if let Some(rates) = me.link_rates().filter(|_| me.rank() == me.host()) {
        me.report("one_way_bytes_per_s", rates.one_way_bytes_per_s());
        me.report("two_way_bytes_per_s", rates.two_way_bytes_per_s());
    }
}
