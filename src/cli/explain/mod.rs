//! `parsim explain`: one message of a run, or one step of a rank, item by item.

mod constants;
mod step;

use super::outcome::metadata;
use super::overrides::settings;
use super::{Failure, ScenarioArguments};
use clap::Args;
use constants::{Constants, source, value};
use parsim_sim::node::Linear;
use parsim_sim::program::{Message, Process};
use parsim_sim::simulation::Simulation;
use parsim_sim::trace::{Delivery, Trace};
use parsim_sim::units::{PerByte, SimDuration, SimTime};
use parsim_study::experiment::simulation;
use parsim_study::model::message::{self, CostItem, Itinerary};
use parsim_study::report::{Record, TextTable, counted, signed_us};
use parsim_study::scenario::source::Document;
use parsim_study::scenario::{CheckedScenario, Scenario};

#[derive(Debug, Args)]
pub struct ExplainArguments {
    #[command(flatten)]
    common: ScenarioArguments,
    /// The rank that sends the message; any unless given.
    #[arg(long, value_name = "RANK")]
    from: Option<u32>,
    /// The rank that gets it; any unless given.
    #[arg(long, value_name = "RANK")]
    to: Option<u32>,
    /// Number of the message among these, in the order of their delivery, 1-based.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    /// The one of these messages that waited longest for others, instead of a number.
    #[arg(long, conflicts_with = "number")]
    longest_wait: bool,
    /// Itemises a step of a rank instead, by its number: from where the rank enters a phase to where it enters it
    /// again, or ends.
    #[arg(long, value_name = "STEP", value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["from", "to", "number", "longest_wait"])]
    step: Option<u32>,
    /// The phase that begins the step; that which a rank enters most often unless given, of several the earliest.
    #[arg(long, value_name = "NAME", requires = "step")]
    phase: Option<String>,
    /// The rank of the step; that which ends it last unless given.
    #[arg(long, value_name = "RANK", requires = "step")]
    rank: Option<u32>,
}

/// A message of a run and what its time consists of.
struct Explanation {
    delivery: Delivery,
    hops: u32,
    itinerary: Itinerary,
    /// Time for which its own packets waited for each other beyond the itinerary.
    among_themselves: SimDuration,
    /// Time for which it waited for others: queues at processors and links, unfinished computations.
    waiting: SimDuration,
}

impl Explanation {
    fn of(scenario: &CheckedScenario, delivery: Delivery) -> Result<Self, Failure> {
        let layout = scenario.layout();
        let (from, to) = (layout.seat(delivery.from), layout.seat(delivery.to));
        let hops = layout.topology.distance(from.node, to.node);
        let copies = scenario.machine.nodes.sending.does_copy(delivery.again);
        let message = message::LoneMessage { from, to, hops, bytes: delivery.bytes, copies, sent: delivery.sent };
        let itinerary =
            Itinerary::of(&scenario.machine, &message).map_err(|error| Failure::Usage(error.to_string()))?;
        let simulated = delivery.delivered.since(delivery.sent);
        let beyond = simulated.ps().checked_sub(itinerary.total().ps()).map(SimDuration::from_ps);
        let beyond = beyond.ok_or_else(|| {
            Failure::Simulation(format!(
                "the message took {} s, less than the {} s that it takes alone",
                simulated.seconds(),
                itinerary.total().seconds()
            ))
        })?;
        let among_themselves = match itinerary.remainder {
            // Packets that others delay may meet each other less.
            Some(_) => (alone(scenario, delivery)? - itinerary.total()).min(beyond),
            None => SimDuration::ZERO,
        };
        Ok(Self { delivery, hops, itinerary, among_themselves, waiting: beyond - among_themselves })
    }

    /// All waits by name.
    fn waits(&self) -> impl Iterator<Item = (&'static str, SimDuration)> {
        let own = self.itinerary.remainder.map(|what| (what, self.among_themselves));
        own.into_iter().chain([("waiting for others", self.waiting)])
    }
}

/// The time of a message that is sent at the same time on the same machine where nothing else happens.
fn alone(scenario: &CheckedScenario, delivery: Delivery) -> Result<SimDuration, Failure> {
    let mut alone = Scenario::clone(scenario);
    alone.machine.network.links.start = SimDuration::ZERO;
    alone.machine.host.input = Linear { start: delivery.sent.since(SimTime::START), per_byte: PerByte::FREE };
    let program = move |me: Process| send_at_a_time(me, delivery);
    let simulation = Simulation::on(&alone.allocation())?.limits(scenario.limits.clone()).keep_deliveries();
    let deliveries = simulation.run(&program)?.deliveries;
    Ok(deliveries.iter().map(|one| one.delivered.since(one.sent)).sum())
}

/// The sender waits, for the host as it were, until it is time.
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

pub fn execute(arguments: &ExplainArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&[])?;
    let scenario = plan.base()?.scenario;
    if common.dump_config {
        return common.output.write(format_args!("{}\n", scenario.to_ron()));
    }
    if scenario.machine.nodes.interface.is_some() {
        let message = "explain itemises packets that processors prepare; a message of network interfaces takes \
                       o + (s - 1) O at both ends, L and (s - 1) G: `critical-path` tells what it waits for";
        return Err(Failure::Usage(message.to_owned()));
    }
    common.claims(&plan).check()?;
    let mut output = common.output.many()?;
    let document = plan.document();
    let (text, records) = if let Some(number) = arguments.step {
        let wanted = step::Wanted { number: number as usize, phase: arguments.phase.as_deref(), rank: arguments.rank };
        let step = step::find(&scenario, &wanted)?;
        (step::text(&step, &scenario, document), step::records(&step, &scenario, document))
    } else {
        let explanation = arguments.chosen(&scenario)?;
        (text(&explanation, document), records(&explanation, document))
    };
    output.words(text)?;
    let metadata = metadata(&scenario, &settings(&arguments.common.set)?);
    for mut record in records {
        record.put_metadata(&metadata);
        output.write(&record)?;
    }
    output.finish()
}

impl ExplainArguments {
    fn chosen(&self, scenario: &CheckedScenario) -> Result<Explanation, Failure> {
        for (option, rank) in [("--from", self.from), ("--to", self.to)] {
            refuse_others(option, rank, scenario.ranks)?;
        }
        let fits = |delivery: &Delivery| {
            self.from.is_none_or(|from| from == delivery.from) && self.to.is_none_or(|to| to == delivery.to)
        };
        let deliveries: Vec<_> = deliveries(scenario)?.into_iter().filter(fits).collect();
        let count = deliveries.len();
        let explain = |delivery: Delivery| Explanation::of(scenario, delivery);
        let chosen = if self.longest_wait {
            let explained = deliveries.into_iter().map(explain).collect::<Result<Vec<_>, _>>()?;
            // The first of several.
            explained.into_iter().reduce(|best, next| if next.waiting > best.waiting { next } else { best })
        } else {
            deliveries.into_iter().nth(self.number as usize - 1).map(explain).transpose()?
        };
        chosen.ok_or_else(|| self.no_such_message(count))
    }

    /// The message that is wanted is none of the `count` that fit.
    fn no_such_message(&self, count: usize) -> Failure {
        let who = match (self.from, self.to) {
            (None, None) => "the ranks send".to_owned(),
            (Some(from), None) => format!("rank {from} sends"),
            (None, Some(to)) => format!("rank {to} is sent"),
            (Some(from), Some(to)) => format!("rank {from} sends rank {to}"),
        };
        Failure::Usage(match count {
            0 => format!("there is no such message: {who} none"),
            1 => format!("--number {}: {who} one message; give 1", self.number),
            _ => format!("--number {}: {who} {count} messages; give a number from 1 to {count}", self.number),
        })
    }
}

/// Refuses a rank that there is not.
fn refuse_others(option: &str, rank: Option<u32>, ranks: u32) -> Result<(), Failure> {
    match rank.filter(|rank| *rank >= ranks) {
        Some(rank) => Err(Failure::Usage(format!("{option} {rank}: the ranks are 0 to {}", ranks - 1))),
        None => Ok(()),
    }
}

/// All messages of the run, in the order of their delivery.
fn deliveries(scenario: &CheckedScenario) -> Result<Vec<Delivery>, Failure> {
    Ok(run_alone(scenario, |simulation| simulation)?.deliveries)
}

/// The run, with its messages and what else `keeping` asks for.
fn run_alone<'s>(
    scenario: &'s CheckedScenario,
    keeping: impl FnOnce(Simulation<'s>) -> Simulation<'s>,
) -> Result<Trace, Failure> {
    if scenario.program.is_traffic() {
        return Err(Failure::Usage("the packets of Traffic are no messages of ranks: give another program".to_owned()));
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
        "{} B from rank {} to rank {}, {} over {}, sent at {} s\n\n{table}\n{constants}\nOnly what is on the critical path counts: what is done meanwhile costs nothing.\n",
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
