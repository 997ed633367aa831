//! `parsim explain`: one message of a run, or one step of a rank, item by item.

mod step;

use super::{Failure, ScenarioArguments};
use crate::model::message::{self, Item, Itinerary};
use crate::node::Linear;
use crate::program::{Message, Process};
use crate::report::{Format, Record, Table, Writer, signed_us};
use crate::scenario::Scenario;
use crate::scenario::source::Document;
use crate::simulation::Simulation;
use crate::trace::{Delivery, Trace};
use crate::units::{PerByte, SimDuration, SimTime};
use clap::Args;
use std::io::{Write, stdout};

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
    /// Which of these messages, in the order of their delivery, from 1 on.
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
    /// What its own packets waited for each other beyond the itinerary.
    among_themselves: SimDuration,
    /// What it waited for others: queues at processors and links, computations that go on.
    waiting: SimDuration,
}

impl Explanation {
    fn of(scenario: &Scenario, delivery: Delivery) -> Result<Self, Failure> {
        let layout = scenario.layout();
        let (from, to) = (layout.seat(delivery.from), layout.seat(delivery.to));
        let hops = layout.topology.distance(from.node, to.node);
        let message = message::Message { from, to, hops, bytes: delivery.bytes, sent: delivery.sent };
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
fn alone(scenario: &Scenario, delivery: Delivery) -> Result<SimDuration, Failure> {
    let mut machine = scenario.machine.clone();
    machine.network.links.start = SimDuration::ZERO;
    machine.host.input = Linear { start: delivery.sent.since(SimTime::START), per_byte: PerByte::FREE };
    let program = move |me: Process| send_at_a_time(me, delivery);
    let simulation = Simulation::new(&machine, scenario.ranks)
        .layout(scenario.layout())
        .limits(scenario.limits.clone())
        .keep_deliveries();
    let deliveries = simulation.run(&program)?.deliveries;
    Ok(deliveries.iter().map(|one| one.delivered.since(one.sent)).sum())
}

/// The sender waits, for the host as it were, until it is time.
async fn send_at_a_time(me: Process, Delivery { from, to, bytes, .. }: Delivery) {
    if me.rank() == from {
        me.input(0).await;
        let sending = me.start_send(to, Message::new(bytes)).await;
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
        return Ok(writeln!(stdout(), "{}", scenario.to_ron())?);
    }
    let format = Format::from(common.format);
    let document = plan.document();
    let (text, records) = if let Some(number) = arguments.step {
        let wanted = step::Wanted { number: number as usize, phase: arguments.phase.as_deref(), rank: arguments.rank };
        let step = step::find(&scenario, &wanted)?;
        (step::text(&step, &scenario, document), step::records(&step, &scenario, document))
    } else {
        let explanation = arguments.chosen(&scenario)?;
        (text(&explanation, document), records(&explanation, document))
    };
    if format == Format::Text {
        return Ok(write!(stdout(), "{text}")?);
    }
    let mut writer = Writer::many(stdout(), format);
    for record in records {
        writer.write(&record)?;
    }
    Ok(writer.finish()?)
}

impl ExplainArguments {
    fn chosen(&self, scenario: &Scenario) -> Result<Explanation, Failure> {
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
        chosen.ok_or_else(|| Failure::Usage(format!("there is no such message: the run has {count} that fit")))
    }
}

/// All messages of the run, in the order of their delivery.
fn deliveries(scenario: &Scenario) -> Result<Vec<Delivery>, Failure> {
    Ok(played(scenario, |simulation| simulation)?.deliveries)
}

/// The run, with its messages and what else `keeping` asks for.
fn played<'s>(
    scenario: &'s Scenario,
    keeping: impl FnOnce(Simulation<'s>) -> Simulation<'s>,
) -> Result<Trace, Failure> {
    if scenario.program.is_traffic() {
        return Err(Failure::Usage("the packets of Traffic are no messages of ranks: give another program".to_owned()));
    }
    let simulation = Simulation::new(&scenario.machine, scenario.ranks)
        .layout(scenario.layout())
        .streams(scenario.streams())
        .limits(scenario.limits.clone())
        .keep_deliveries();
    Ok(keeping(simulation).run(&scenario.program)?)
}

/// Where the constant stands: file and line.
fn source(document: &Document, path: &str) -> Option<String> {
    let entry = document.faults(vec![document.fault_at(path, "", None)]).entries().into_iter().next()?;
    document.get(path)?;
    Some(format!("{}:{}", entry.file?, entry.line?))
}

/// The constant as it stands there.
fn value(document: &Document, path: &str) -> Option<String> {
    let (_, leaf) = document.leaves(path).into_iter().next()?;
    crate::scenario::AxisValue::of_tree(leaf).map(|value| value.to_string())
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
    let item = |item: &Item| record(&item.what, item.constant.as_deref(), Some(item.count), item.time);
    let items = itinerary.items.iter().map(item);
    items.chain(explanation.waits().map(|(what, time)| record(what, None, None, time))).collect()
}

fn text(explanation: &Explanation, document: &Document) -> String {
    let Explanation { delivery, hops, itinerary, .. } = explanation;
    let us = |time: SimDuration| signed_us(time.ps().into());
    let mut table = Table::new(["item", "times", "constant", "value", "source", "us"]);
    for Item { what, constant, count, time } in &itinerary.items {
        let of_constant = |read: fn(&Document, &str) -> Option<String>| {
            constant.as_deref().and_then(|path| read(document, path)).unwrap_or_default()
        };
        let (value, source) = (of_constant(value), of_constant(source));
        let constant = constant.as_deref().unwrap_or_default().to_owned();
        table.row([what.to_string(), count.to_string(), constant, value, source, us(*time)]);
    }
    let mut row = |what: &str, time: SimDuration| {
        let empty = ["", "", "", ""].map(str::to_owned);
        table.row([what.to_owned()].into_iter().chain(empty).chain([us(time)]));
    };
    for (what, time) in explanation.waits() {
        row(what, time);
    }
    row("sum", delivery.delivered.since(delivery.sent));
    format!(
        "{} B from rank {} to rank {}, {} packets over {hops} links, sent at {} s\n\n{table}\nOnly what is on the critical path counts: what is done meanwhile costs nothing.\n",
        delivery.bytes,
        delivery.from,
        delivery.to,
        itinerary.packets,
        delivery.sent.seconds()
    )
}

#[cfg(test)]
mod tests;
