//! Your own program on a shipped machine: partial sums go round a ring until every process has the total.

use parsim::prelude::*;
use std::error::Error;

const RANKS: u32 = 16;

async fn sum_around_the_ring(me: Process) {
    me.phase("partial sum");
    me.compute(Work::flops(1000 * u64::from(me.rank() + 1))).await;
    me.phase("ring");
    let (next, previous) = ((me.rank() + 1) % RANKS, (me.rank() + RANKS - 1) % RANKS);
    let own = f64::from(me.rank());
    let (mut total, mut passing) = (own, own);
    for _ in 1..RANKS {
        let sending = me.start_send(next, Message::new(8).values(Some([passing].into()))).await;
        passing = me.receive(previous).await.values.map_or(0.0, |values| values[0]);
        me.wait(sending).await;
        me.compute(Work::flops(1)).await;
        total += passing;
    }
    assert!((total - f64::from(RANKS * (RANKS - 1) / 2)).abs() < 1e-9);
}

fn main() -> Result<(), Box<dyn Error>> {
    let machine = machines::parsytec_supercluster_t800();
    let trace = Simulation::new(&machine, RANKS)?.run(&sum_around_the_ring)?;
    println!("makespan {}", trace.makespan);
    for activity in Activity::ALL {
        let ranks = 0..trace.accounts.ranks();
        let total: SimDuration = ranks.map(|rank| trace.accounts.rank(rank).get(activity)).sum();
        println!("{:>12} {:8.6} s on average", activity.name(), total.seconds() / f64::from(RANKS));
    }
    Ok(())
}
