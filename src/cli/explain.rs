//! `parsim explain`: one message of a run, item by item.

use super::{Failure, ScenarioArguments};
use crate::model::message::{Item, Itinerary};
use crate::program::Shipped;
use crate::report::{Format, Record, Table, Writer};
use crate::scenario::Scenario;
use crate::scenario::source::Document;
use crate::simulation::Simulation;
use crate::trace::Delivery;
use crate::units::SimDuration;
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
}

/// A message of a run and what its time consists of.
struct Explanation {
    delivery: Delivery,
    hops: u32,
    itinerary: Itinerary,
    /// What it waited for others: queues at processors and links, computations that go on.
    waiting: SimDuration,
}

impl Explanation {
    fn of(scenario: &Scenario, delivery: Delivery) -> Result<Self, Failure> {
        let layout = scenario.layout();
        let hops = layout.topology.distance(layout.node(delivery.from), layout.node(delivery.to));
        let itinerary = Itinerary::of(&scenario.machine, delivery.bytes, hops)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let simulated = delivery.delivered.since(delivery.sent);
        let waiting = simulated.ps().checked_sub(itinerary.total().ps()).map(SimDuration::from_ps);
        let waiting = waiting.ok_or_else(|| {
            Failure::Simulation(format!(
                "the message took {} s, less than the {} s that it takes alone",
                simulated.seconds(),
                itinerary.total().seconds()
            ))
        })?;
        Ok(Self { delivery, hops, itinerary, waiting })
    }
}

pub fn execute(arguments: &ExplainArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let plan = common.plan(&[])?;
    let scenario = plan.base()?.scenario;
    if common.dump_config {
        return Ok(writeln!(stdout(), "{}", scenario.to_ron())?);
    }
    let explanation = arguments.chosen(&scenario)?;
    let format = Format::from(common.format);
    if format == Format::Text {
        return Ok(write!(stdout(), "{}", text(&explanation, plan.document()))?);
    }
    let mut writer = Writer::many(stdout(), format);
    for record in records(&explanation, plan.document()) {
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
    if matches!(scenario.program, Shipped::Traffic(_)) {
        return Err(Failure::Usage("the packets of Traffic are no messages of ranks: give another program".to_owned()));
    }
    let simulation = Simulation::new(&scenario.machine, scenario.ranks)
        .layout(scenario.layout())
        .streams(scenario.streams())
        .limits(scenario.limits.clone())
        .keep_deliveries();
    Ok(simulation.run(&scenario.program)?.deliveries)
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
    let Explanation { delivery, hops, itinerary, waiting } = explanation;
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
    let item = |item: &Item| record(item.what, Some(item.constant), Some(item.count), item.time);
    let mut records: Vec<_> = itinerary.items.iter().map(item).collect();
    records.push(record("waiting for others", None, None, *waiting));
    records
}

fn text(explanation: &Explanation, document: &Document) -> String {
    let Explanation { delivery, hops, itinerary, waiting } = explanation;
    let us = |time: SimDuration| format!("{:.6}", 1e6 * time.seconds());
    let mut table = Table::new(["item", "times", "constant", "value", "source", "us"]);
    for item in &itinerary.items {
        let value = value(document, item.constant).unwrap_or_default();
        let source = source(document, item.constant).unwrap_or_default();
        let cells =
            [item.what.to_owned(), item.count.to_string(), item.constant.to_owned(), value, source, us(item.time)];
        table.row(cells);
    }
    let empty = || ["", "", "", ""].map(str::to_owned);
    let row = |table: &mut Table, what: &str, time: SimDuration| {
        table.row([what.to_owned()].into_iter().chain(empty()).chain([us(time)]));
    };
    row(&mut table, "waiting for others", *waiting);
    row(&mut table, "sum", itinerary.total() + *waiting);
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
mod tests {
    use super::*;
    use crate::machine::{Machine, Sends};
    use crate::program::{Message, Pattern, Process};
    use crate::scenario::Plan;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::path::Path;

    fn scenario(settings: &[(&str, &str)]) -> (Document, Scenario) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/ping.ron");
        let mut document = Document::load(path).unwrap();
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        let plan = Plan::new(document, &[]).unwrap();
        (plan.document().clone(), plan.base().unwrap().scenario)
    }

    /// Random machines, lengths and distances: a message alone takes exactly the sum of its items.
    #[test]
    fn a_message_alone_waits_for_nobody() {
        let mut random = ChaCha8Rng::seed_from_u64(8);
        for _ in 0..300 {
            let us = |random: &mut ChaCha8Rng| format!("{} ns", random.random_range(0..100_000));
            let overlap = random.random::<bool>().to_string();
            let settings = [
                ("program.bytes", format!("{} B", random.random_range(0..3000))),
                ("placement.hops", random.random_range(1..=22).to_string()),
                ("machine.nodes.sending.overlap", overlap),
                ("machine.nodes.sending.per_packet", us(&mut random)),
                ("machine.nodes.routing.per_packet", us(&mut random)),
                ("machine.nodes.receiving.per_packet", us(&mut random)),
                ("machine.nodes.receiving.per_byte", format!("{} ns/B", random.random_range(0..2000))),
                ("machine.network.links.per_packet", us(&mut random)),
                ("machine.network.links.per_byte", format!("{} ns/B", random.random_range(1..2000))),
            ];
            let settings: Vec<_> = settings.iter().map(|(path, value)| (*path, value.as_str())).collect();
            let (_, scenario) = scenario(&settings);
            let deliveries = deliveries(&scenario).unwrap();
            assert_eq!(deliveries.len(), 1);
            let explanation = Explanation::of(&scenario, deliveries[0]).unwrap();
            assert_eq!(explanation.waiting, SimDuration::ZERO, "{settings:?}");
        }
    }

    /// Every rank sends its own of `messages` and receives those to itself.
    async fn storm(me: Process, messages: Vec<(u32, u32, u64)>) {
        for (_, to, bytes) in messages.iter().filter(|one| one.0 == me.rank()) {
            me.send(*to, Message::new(*bytes)).await;
        }
        for _ in messages.iter().filter(|one| one.1 == me.rank()) {
            me.receive_where(Pattern::default()).await;
        }
    }

    /// A thousand messages of random lengths between random ranks at once: every wait is an item, none is negative.
    #[test]
    fn items_and_waits_sum_to_the_time_under_contention() {
        let (_, mut scenario) = scenario(&[]);
        scenario.ranks = 16;
        scenario.placement = crate::machine::Placement::RowMajor;
        scenario.partition = crate::machine::Partition::Fitted;
        let machine = Machine { sends: Sends::Buffered, ..scenario.machine.clone() };
        scenario.machine = machine;
        let mut random = ChaCha8Rng::seed_from_u64(88);
        let messages: Vec<(u32, u32, u64)> = (0..1000)
            .map(|_| (random.random_range(0..16), random.random_range(0..16), random.random_range(0..1000)))
            .collect();
        let storm = move |me: Process| storm(me, messages.clone());
        let simulation = Simulation::new(&scenario.machine, 16).layout(scenario.layout()).keep_deliveries();
        let deliveries = simulation.run(&storm).unwrap().deliveries;
        assert_eq!(deliveries.len(), 1000);
        let mut waiting = 0;
        for delivery in deliveries {
            let explanation = Explanation::of(&scenario, delivery).unwrap();
            let sum = explanation.itinerary.total() + explanation.waiting;
            assert_eq!(sum, delivery.delivered.since(delivery.sent));
            waiting += u32::from(explanation.waiting > SimDuration::ZERO);
        }
        assert!(waiting > 900, "{waiting} messages have waited");
    }

    #[test]
    fn constants_are_shown_where_they_stand() {
        let (document, scenario) = scenario(&[("machine.nodes.routing.per_packet", "3 us")]);
        let explanation = Explanation::of(&scenario, deliveries(&scenario).unwrap()[0]).unwrap();
        let records = records(&explanation, &document);
        let of = |item: &str, key: &str| {
            let record = records.iter().find(|record| record.get("item").is_some_and(|name| name == item)).unwrap();
            record.get(key).and_then(|value| value.as_str()).unwrap().to_owned()
        };
        assert!(of("bytes on links", "source").contains("parsytec-supercluster-t800.ron:"));
        assert_eq!(of("bytes on links", "value"), "0.68 us/B");
        assert_eq!(of("routing at nodes", "value"), "3 us");
        assert!(of("routing at nodes", "source").contains("--set"));
    }

    #[test]
    fn what_is_not_itemised_is_refused() {
        let (_, scenario) = scenario(&[("machine.network.links.latency", "1 us")]);
        let delivery = deliveries(&scenario).unwrap()[0];
        assert!(matches!(Explanation::of(&scenario, delivery), Err(Failure::Usage(_))));
    }
}
