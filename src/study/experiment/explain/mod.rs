//! Itemised costs of one message of a run, or of one step of a rank.

mod by_constants;
mod constants;
mod step;

use super::{StudyError, metadata, simulation};
use crate::answer::{Answer, Record};
use crate::model::message::{CostItem, ItemisationError, Itinerary, LoneMessage, check_nodes};
use crate::report::{TextTable, counted, signed_us};
use crate::scenario::source::Document;
use crate::scenario::{Case, CheckedScenario, Plan, Scenario};
use constants::{Constants, source, value};
use parsim_sim::machine::Machine;
use parsim_sim::network::{Contention, Switching};
use parsim_sim::node::Linear;
use parsim_sim::program::{Message, Process};
use parsim_sim::simulation::{Limits, Simulation};
use parsim_sim::trace::{Delivery, Trace};
use parsim_sim::units::{PerByte, SimDuration, SimTime};

/// The selection of a message, among those between two ranks.
#[derive(Clone, Copy, Debug)]
pub struct WantedMessage {
    /// The sending rank; any by default.
    pub from: Option<u32>,
    /// The receiving rank; any by default.
    pub to: Option<u32>,
    /// The number of the message among those selected, in order of delivery, from 1.
    pub number: u32,
    /// `true` to select, instead of a number, the message that waited longest for others.
    pub longest_wait: bool,
}

/// The selection of a rank's step: the interval from an entry into a phase to the next entry, or to the end.
#[derive(Clone, Copy, Debug)]
pub struct WantedStep<'a> {
    /// The number of the step, from 1.
    pub number: usize,
    /// The phase that begins the step; by default the one that ranks enter most often, the earliest of several.
    pub phase: Option<&'a str>,
    /// The rank; by default the one that ends the step last.
    pub rank: Option<u32>,
}

/// A message of a run and the items of its time.
struct Explanation {
    delivery: Delivery,
    hops: u32,
    itinerary: Itinerary,
    /// The time for which packets of the message waited for each other, beyond the itinerary.
    among_themselves: SimDuration,
    /// The time for which the message waited for others: queues at processors and links, unfinished computations.
    waiting: SimDuration,
}

impl Explanation {
    fn of(scenario: &CheckedScenario, delivery: Delivery) -> Result<Self, StudyError> {
        let layout = scenario.layout();
        let (from, to) = (layout.location(delivery.from), layout.location(delivery.to));
        let hops = layout.topology.distance(from.node, to.node);
        let copies = scenario.machine.nodes.sending.does_copy(delivery.again);
        let message = LoneMessage { from, to, hops, bytes: delivery.bytes, copies, sent: delivery.sent };
        let itinerary = itinerary(scenario, delivery, &message)?;
        let simulated = delivery.delivered.since(delivery.sent);
        let beyond = simulated.ps().checked_sub(itinerary.total().ps()).map(SimDuration::from_ps);
        let beyond = beyond.ok_or_else(|| {
            StudyError::failed(format_args!(
                "the message took {} s, less than the {} s that it takes alone",
                simulated.seconds(),
                itinerary.total().seconds()
            ))
        })?;
        let among_themselves = match itinerary.remainder {
            // With delays by other messages, packets may wait less for each other.
            Some(_) => (alone(scenario, delivery)? - itinerary.total()).min(beyond),
            None => SimDuration::ZERO,
        };
        Ok(Self { delivery, hops, itinerary, among_themselves, waiting: beyond - among_themselves })
    }

    /// Returns all waits with their names.
    fn waits(&self) -> impl Iterator<Item = (&'static str, SimDuration)> {
        let own = self.itinerary.remainder.map(|what| (what, self.among_themselves));
        own.into_iter().chain([("waiting for others", self.waiting)])
    }
}

/// Returns the costs of a message: its chain of services or, if it is none, the shares of all constants.
fn itinerary(scenario: &CheckedScenario, delivery: Delivery, message: &LoneMessage) -> Result<Itinerary, StudyError> {
    let Machine { nodes, network, .. } = &scenario.machine;
    let rejected = |error: ItemisationError| StudyError::Request(error.to_string());
    check_nodes(&scenario.machine).map_err(rejected)?;
    let chain = nodes.interface.is_none().then(|| Itinerary::of(&scenario.machine, message));
    match chain {
        None | Some(Err(ItemisationError::Network)) if matches!(network.switching, Switching::Wormhole(_)) => {
            return Err(rejected(ItemisationError::Clocked));
        }
        None | Some(Err(ItemisationError::Network)) => {}
        Some(chain) => return chain.map_err(rejected),
    }
    let is_whole = matches!(network.contention, Contention::Off | Contention::FairFlows);
    let packets = if is_whole { 1 } else { message.bytes.max(1).div_ceil(network.switching.packet_bytes()) };
    let (items, remainder) = by_constants::items(scenario, delivery)?;
    Ok(Itinerary { packets, items, remainder })
}

/// Simulates a message that is sent at the same time on the same machine without other activity, and returns its time.
fn alone(scenario: &Scenario, delivery: Delivery) -> Result<SimDuration, StudyError> {
    let mut alone = Scenario::clone(scenario);
    alone.machine.network.links.start = SimDuration::ZERO;
    // The host is connected to a node with a rank, which the host of the scenario, if it takes no time, need not be.
    alone.machine.host.node = alone.allocation().layout_granted_before().node(delivery.from);
    alone.machine.host.input = Linear { start: delivery.sent.since(SimTime::START), per_byte: PerByte::FREE };
    let program = move |me: Process| send_at_a_time(me, delivery);
    let simulation = Simulation::on(&alone.allocation())?.limits(Limits::default()).keep_deliveries();
    let deliveries = simulation.run(&program)?.deliveries;
    Ok(deliveries.iter().map(|one| one.delivered.since(one.sent)).sum())
}

/// Sends the message at the given time; an input from the host delays the sender until then.
async fn send_at_a_time(me: Process, Delivery { from, to, bytes, again, .. }: Delivery) {
    if me.rank() == from {
        me.input(0).await;
        let message = Message::new(bytes);
        let sending = me.start_send(to, if again { message.again() } else { message }).await;
        if from == to {
            me.receive(from).await;
        }
        me.wait(sending).await;
    } else if me.rank() == to {
        me.receive(from).await;
    }
}

/// Itemises the costs and waiting times of one message of a run.
///
/// # Errors
/// Returns the errors of the run, or an error if there is no such message.
pub fn explain_message(plan: &Plan, wanted: &WantedMessage) -> Result<Answer, StudyError> {
    let case = plan.base()?;
    let explanation = wanted.explained(&case.scenario)?;
    let words = text(&explanation, plan.document());
    Ok(answer(&case, records(&explanation, plan.document()), &words))
}

/// Itemises the costs and waiting times of one step of a rank.
///
/// # Errors
/// Returns the errors of the run, or an error if there is no such step or the machine has network interfaces.
pub fn explain_step(plan: &Plan, wanted: &WantedStep<'_>) -> Result<Answer, StudyError> {
    let case = with_packets(plan)?;
    let (scenario, document) = (&case.scenario, plan.document());
    let step = step::find(scenario, wanted)?;
    Ok(answer(&case, step::records(&step, scenario, document), &step::text(&step, scenario, document)))
}

/// Returns the base case of a plan, if its processors prepare packets, so that steps can be itemised.
fn with_packets(plan: &Plan) -> Result<Case, StudyError> {
    let case = plan.base()?;
    if case.scenario.machine.nodes.interface.is_some() {
        let message = "--step itemises steps of processors that prepare packets, not of network interfaces: `critical-path` \
                       shows what a rank waits for, and `explain` without --step itemises a message";
        return Err(StudyError::Request(message.to_owned()));
    }
    Ok(case)
}

fn answer(case: &Case, mut records: Vec<Record>, words: &str) -> Answer {
    let metadata = metadata(&case.scenario, &case.settings);
    for record in &mut records {
        record.put_metadata(metadata.clone());
    }
    Answer::many(records, &words)
}

impl WantedMessage {
    fn explained(&self, scenario: &CheckedScenario) -> Result<Explanation, StudyError> {
        for (option, rank) in [("from", self.from), ("to", self.to)] {
            reject_unknown_rank(option, rank, scenario.ranks)?;
        }
        let fits = |delivery: &Delivery| {
            self.from.is_none_or(|from| from == delivery.from) && self.to.is_none_or(|to| to == delivery.to)
        };
        let deliveries: Vec<_> = deliveries(scenario)?.into_iter().filter(fits).collect();
        let count = deliveries.len();
        let explain = |delivery: Delivery| Explanation::of(scenario, delivery);
        let chosen = if self.longest_wait {
            let explained = deliveries.into_iter().map(explain).collect::<Result<Vec<_>, _>>()?;
            // The first of several equal waits is kept.
            explained.into_iter().reduce(|best, next| if next.waiting > best.waiting { next } else { best })
        } else {
            deliveries.into_iter().nth(self.number as usize - 1).map(explain).transpose()?
        };
        chosen.ok_or_else(|| self.no_such_message(count))
    }

    /// Returns the error that the selected message is not among the `count` candidates.
    fn no_such_message(&self, count: usize) -> StudyError {
        let who = match (self.from, self.to) {
            (None, None) => "the ranks send".to_owned(),
            (Some(from), None) => format!("rank {from} sends"),
            (None, Some(to)) => format!("rank {to} is sent"),
            (Some(from), Some(to)) => format!("rank {from} sends rank {to}"),
        };
        match count {
            0 => StudyError::Request(format!("there is no such message: {who} none")),
            1 => StudyError::Argument("number", format!("{}: {who} one message; give 1", self.number)),
            _ => {
                let range = format!("{}: {who} {count} messages; give a number from 1 to {count}", self.number);
                StudyError::Argument("number", range)
            }
        }
    }
}

/// Rejects a rank that does not exist.
fn reject_unknown_rank(option: &'static str, rank: Option<u32>, ranks: u32) -> Result<(), StudyError> {
    match rank.filter(|rank| *rank >= ranks) {
        Some(rank) => Err(StudyError::Argument(option, format!("{rank}: the ranks are 0 to {}", ranks - 1))),
        None => Ok(()),
    }
}

/// Returns all messages of the run, in order of delivery.
fn deliveries(scenario: &CheckedScenario) -> Result<Vec<Delivery>, StudyError> {
    Ok(run_alone(scenario, |simulation| simulation)?.deliveries)
}

/// Runs the scenario and keeps its messages, and whatever else `keeping` selects.
fn run_alone<'s>(
    scenario: &'s CheckedScenario,
    keeping: impl FnOnce(Simulation<'s>) -> Simulation<'s>,
) -> Result<Trace, StudyError> {
    if scenario.program.is_traffic() {
        return Err(StudyError::Request(
            "the packets of Traffic are not messages between ranks: choose another program".to_owned(),
        ));
    }
    Ok(keeping(simulation(scenario).keep_deliveries()).run(&scenario.program)?)
}

fn records(explanation: &Explanation, document: &Document) -> Vec<Record> {
    let Explanation { delivery, hops, itinerary, .. } = explanation;
    let record = |what: &str, constant: Option<&str>, count: Option<u64>, time: SimDuration| {
        let mut record = Record::default();
        record.put("from", delivery.from);
        record.put("to", delivery.to);
        record.put("bytes", delivery.bytes);
        record.put("hops", *hops);
        record.put("packets", itinerary.packets);
        record.put("sent_s", delivery.sent.seconds());
        record.put("item", what);
        record.put("constant", constant);
        record.put("value", constant.and_then(|path| value(document, path)));
        record.put("source", constant.and_then(|path| source(document, path)));
        record.put("count", count);
        record.put("time_ps", time.ps());
        record
    };
    let item = |item: &CostItem| record(&item.what, item.constant.as_deref(), Some(item.count), item.time);
    let items = itinerary.items.iter().map(item);
    items.chain(explanation.waits().map(|(what, time)| record(what, None, None, time))).collect()
}

fn text(explanation: &Explanation, document: &Document) -> String {
    let Explanation { delivery, hops, itinerary, .. } = explanation;
    let us = |time: SimDuration| signed_us(time.ps().into());
    let mut table = TextTable::new(["item", "times", "value", "us", "constant"]);
    let mut constants = Constants::new(document);
    for CostItem { what, constant, count, time } in &itinerary.items {
        let [value, number] = constants.note(constant.as_deref());
        table.row([what.to_string(), count.to_string(), value, us(*time), number]);
    }
    let mut row = |what: &str, time: SimDuration| table.row([what, "", "", &us(time), ""].map(str::to_owned));
    for (what, time) in explanation.waits() {
        row(what, time);
    }
    row("sum", delivery.delivered.since(delivery.sent));
    format!(
        "{} B from rank {} to rank {}, {} over {}, sent at {} s\n\n{table}\n{constants}\nOnly work on the critical path counts: work that overlaps with it costs nothing.\n",
        delivery.bytes,
        delivery.from,
        delivery.to,
        counted(itinerary.packets, "packet"),
        counted(*hops, "link"),
        delivery.sent.seconds()
    )
}

#[cfg(test)]
mod tests;
