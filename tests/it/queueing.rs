//! Queueing theory: a link that serves random messages is an M/D/1, M/M/1 or M/G/1 queue, and a row of links a tandem.
//!
//! Formulas: Pollaczek–Khinchine, T = S + λ E[S²] / (2 (1 − ρ)); geometric number in the system of M/M/1,
//! P(N ≥ k) = ρᵏ; Little's law (Kleinrock, *Queueing Systems* I, chapters 3 and 5). Times are in nanoseconds: a link
//! serves a byte in one.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths and numbers of messages are small"
)]

use parsim::machine::{Allocation, Partition};
use parsim::trace::{Delivery, Trace};
use parsim::{Machine, Message, Process, Simulation, load_machine};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

const MESSAGES: usize = 100_000;
const BATCHES: usize = 50;
/// The mean service time.
const SERVICE: f64 = 10_000.0;

/// The lengths of messages, all with the same mean.
#[derive(Clone, Copy, Debug)]
enum Lengths {
    Constant,
    Exponential,
    /// One message of ten is long.
    TwoPoint,
}

impl Lengths {
    const LONG: f64 = 5.0 * SERVICE;
    const SHORT: f64 = 5.0 / 9.0 * SERVICE;

    fn draw(self, dice: &mut ChaCha8Rng) -> u64 {
        let length = match self {
            Self::Constant => SERVICE,
            Self::Exponential => exponential(dice) * SERVICE,
            Self::TwoPoint => {
                if dice.random::<f64>() < 0.1 {
                    Self::LONG
                } else {
                    Self::SHORT
                }
            }
        };
        length.round() as u64
    }

    /// E[S²].
    fn second_moment(self) -> f64 {
        match self {
            Self::Constant => SERVICE.powi(2),
            Self::Exponential => 2.0 * SERVICE.powi(2),
            Self::TwoPoint => 0.1 * Self::LONG.powi(2) + 0.9 * Self::SHORT.powi(2),
        }
    }

    /// The mean time in the queue at this utilization.
    fn wait(self, utilization: f64) -> f64 {
        utilization / SERVICE * self.second_moment() / (2.0 * (1.0 - utilization))
    }
}

/// A draw with mean 1.
fn exponential(dice: &mut ChaCha8Rng) -> f64 {
    let uniform: f64 = dice.random();
    -(1.0 - uniform).ln()
}

/// Nodes in a row, whose software and routers cost nothing.
fn machine(links: u32, switching: &str) -> Machine {
    let text = format!(
        r#"Machine(
            name: "queues",
            nodes: Node(
                processor: FlopRate("1 Gflop/s"), memory: "1 GiB", router: Hardware,
                sending: Sending(per_packet: "0 us", overlap: true), receiving: Receiving(per_packet: "0 us"),
            ),
            network: Network(
                topology: Mesh2d(rows: 1, columns: {}), routing: DimensionOrder, switching: {switching},
                links: Link(per_byte: "1 ns/B"),
            ),
            sends: Buffered,
        )"#,
        links + 1
    );
    let file = tempfile::NamedTempFile::new().expect("there is room");
    std::fs::write(file.path(), text).expect("a file can be written");
    load_machine(file.path()).expect("the machine is sound")
}

const WHOLE: &str = "StoreAndForward(packet: \"1 GiB\")";

/// A Poisson stream of messages from one end of the row to the other.
async fn stream(me: Process, lengths: Lengths, utilization: f64) {
    let last = me.ranks() - 1;
    if me.rank() == 0 {
        let (mut arrivals, mut services) = (me.random("arrivals"), me.random("services"));
        for _ in 0..MESSAGES {
            me.operate(exponential(&mut arrivals) * SERVICE / utilization).await;
            let _ = me.start_send(last, Message::new(lengths.draw(&mut services))).await;
        }
    } else if me.rank() == last {
        for _ in 0..MESSAGES {
            me.receive(0).await;
        }
    }
}

fn trace(links: u32, switching: &str, lengths: Lengths, utilization: f64) -> Trace {
    let machine = machine(links, switching);
    // A fitted part of the row would be folded into a square.
    let allocation = Allocation::new(&machine, links + 1).partition(Partition::Whole);
    let simulation = Simulation::on(&allocation).expect("the machine is sound").keep_deliveries();
    let program = move |me: Process| stream(me, lengths, utilization);
    simulation.run(&program).expect("the run ends")
}

/// The messages of a run, in the order in which they were sent.
fn deliveries(links: u32, switching: &str, lengths: Lengths, utilization: f64) -> Vec<Delivery> {
    let mut deliveries = trace(links, switching, lengths, utilization).deliveries;
    deliveries.sort_by_key(|one| one.sent);
    deliveries
}

fn ns(time: parsim::units::SimDuration) -> f64 {
    time.seconds() * 1e9
}

fn times(deliveries: &[Delivery]) -> Vec<f64> {
    deliveries.iter().map(|one| ns(one.delivered.since(one.sent))).collect()
}

/// The mean of correlated values and its standard error, by the means of batches.
fn mean(values: &[f64]) -> (f64, f64) {
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let batches: Vec<_> = values.chunks_exact(values.len() / BATCHES).map(average).collect();
    let mean = average(&batches);
    let variance = batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (batches.len() - 1) as f64;
    (mean, (variance / batches.len() as f64).sqrt())
}

/// Holds a simulated mean to theory within four standard errors, which are at most 3 % themselves.
fn hold(values: &[f64], theory: f64, what: &str) {
    let (mean, error) = mean(values);
    assert!(error < 0.03 * theory, "{what}: a standard error of {error} shows nothing about {theory}");
    assert!((mean - theory).abs() < 4.0 * error, "{what}: {mean} ± {error}, theory {theory}");
}

const KINDS: [Lengths; 3] = [Lengths::Constant, Lengths::Exponential, Lengths::TwoPoint];

#[test]
fn a_link_is_an_m_g_1_queue() {
    for lengths in KINDS {
        for utilization in [0.2, 0.5, 0.8] {
            let times = times(&deliveries(1, WHOLE, lengths, utilization));
            hold(&times, SERVICE + lengths.wait(utilization), &format!("{lengths:?} at {utilization}"));
        }
    }
}

/// Packets of a message follow one another, and a header alone does not wait behind its own tail: one link is the same
/// queue under every switching.
#[test]
fn a_link_is_the_same_queue_under_every_switching() {
    let whole = times(&deliveries(1, WHOLE, Lengths::Exponential, 0.6));
    for switching in ["StoreAndForward(packet: \"1 kB\")", "CutThrough(packet: \"1 GiB\")"] {
        assert_eq!(times(&deliveries(1, switching, Lengths::Exponential, 0.6)), whole, "{switching}");
    }
}

/// Messages of one length leave the first link at least a service apart, so that nobody waits at the next ones.
#[test]
fn messages_of_one_length_wait_at_the_first_link_of_a_tandem_only() {
    for links in [2, 4] {
        let times = times(&deliveries(links, WHOLE, Lengths::Constant, 0.7));
        let theory = f64::from(links) * SERVICE + Lengths::Constant.wait(0.7);
        hold(&times, theory, &format!("{links} links"));
    }
}

/// For how long how many messages were in the system, between the first and the last arrival.
fn shares_of_numbers(deliveries: &[Delivery]) -> Vec<f64> {
    let arrivals = deliveries.iter().map(|one| (ns(one.sent.since(deliveries[0].sent)), 1));
    let departures = deliveries.iter().map(|one| (ns(one.delivered.since(deliveries[0].sent)), -1));
    let mut changes: Vec<(f64, i64)> = arrivals.chain(departures).collect();
    changes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut number, mut from, mut shares) = (0_i64, 0.0, vec![0.0; deliveries.len()]);
    for (time, change) in changes {
        shares[usize::try_from(number).expect("nobody leaves who has not come")] += time - from;
        (number, from) = (number + change, time);
    }
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

#[test]
fn the_number_in_an_m_m_1_queue_is_geometric() {
    let utilization: f64 = 0.6;
    let shares = shares_of_numbers(&deliveries(1, WHOLE, Lengths::Exponential, utilization));
    for least in 0..8 {
        let simulated: f64 = shares[least..].iter().sum();
        let theory = utilization.powi(i32::try_from(least).expect("it is small"));
        assert!((simulated - theory).abs() < 0.01, "P(N >= {least}) = {simulated}, theory {theory}");
    }
}

/// The mean number of messages in the system, in each of `BATCHES` parts of the time between the first and the last
/// arrival.
fn numbers_in_system(deliveries: &[Delivery]) -> Vec<f64> {
    let first = deliveries[0].sent;
    let part = ns(deliveries[deliveries.len() - 1].sent.since(first)) / BATCHES as f64;
    let mut numbers = vec![0.0; BATCHES];
    for one in deliveries {
        let [came, left] = [one.sent, one.delivered].map(|time| ns(time.since(first)) / part);
        for (number, begin) in numbers.iter_mut().zip(0_u32..).skip(came as usize) {
            let begin = f64::from(begin);
            if begin >= left {
                break;
            }
            *number += left.min(begin + 1.0) - came.max(begin);
        }
    }
    numbers
}

/// L = λ W with the rate at which messages are offered, on tandems of several lengths and with several packets.
#[test]
fn the_number_in_a_system_is_the_rate_times_the_time_in_it() {
    let utilization = 0.6;
    for (links, switching, lengths) in [
        (1, WHOLE, Lengths::Constant),
        (1, WHOLE, Lengths::Exponential),
        (2, WHOLE, Lengths::TwoPoint),
        (3, "StoreAndForward(packet: \"4 kB\")", Lengths::Exponential),
        (5, "StoreAndForward(packet: \"10 kB\")", Lengths::TwoPoint),
        (8, "CutThrough(packet: \"1 GiB\")", Lengths::Exponential),
    ] {
        let deliveries = deliveries(links, switching, lengths, utilization);
        let (sojourn, _) = mean(&times(&deliveries));
        let what = format!("{links} links, {switching}, {lengths:?}");
        hold(&numbers_in_system(&deliveries), utilization / SERVICE * sojourn, &what);
    }
}

/// M/M/1: L = ρ / (1 − ρ). M/D/1: L = ρ + ρ² / (2 (1 − ρ)), and ρ more for every further link of a tandem.
#[test]
fn the_number_in_a_system_is_that_of_theory() {
    let utilization: f64 = 0.6;
    let markov = numbers_in_system(&deliveries(1, WHOLE, Lengths::Exponential, utilization));
    hold(&markov, utilization / (1.0 - utilization), "M/M/1");
    for links in [1, 3, 6] {
        let numbers = numbers_in_system(&deliveries(links, WHOLE, Lengths::Constant, utilization));
        let waiting = utilization.powi(2) / (2.0 * (1.0 - utilization));
        hold(&numbers, f64::from(links) * utilization + waiting, &format!("M/D/1 and {links} links"));
    }
}

/// The utilization law: the share of the time that a link is busy is λ S, at the first link and at the last.
#[test]
fn links_are_busy_for_the_share_that_the_utilization_law_says() {
    for lengths in KINDS {
        let trace = trace(3, WHOLE, lengths, 0.7);
        let makespan = ns(trace.makespan);
        let work: f64 = trace.deliveries.iter().map(|one| one.bytes as f64).sum();
        let busy: Vec<_> = trace.links.iter().map(|link| ns(link.busy)).filter(|busy| *busy > 0.0).collect();
        assert_eq!(busy.len(), 3, "{lengths:?}");
        assert!(busy.iter().all(|busy| (busy / work - 1.0).abs() < 1e-9), "{lengths:?}: {busy:?}, {work}");
        assert!((work / makespan - 0.7).abs() < 0.03, "{lengths:?}: {}", work / makespan);
    }
}
