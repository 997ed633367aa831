//! Your own program on your own machine: blocks go round a ring of processes on a torus.
use parsim::prelude::*;

async fn ring(me: Process) {
    let (next, previous) = ((me.rank() + 1) % me.ranks(), (me.rank() + me.ranks() - 1) % me.ranks());
    for _ in 1..me.ranks() {
        let send = me.start_send(next, Message::new(8192)).await;
        me.compute(Work::flops(1_000_000)).await;
        me.receive(previous).await;
        me.wait(send).await;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = Machine::torus2d(4, 4, Router::Hardware, Sends::UntilInjected)
        .flop_rate(FlopRate::from_gflop_per_s(2))
        .link(BitRate::from_gbit_per_s(1))
        .packet(Bytes::from_kib(4))
        .sending(Sending::overlapping(SimDuration::from_us(15)))
        .receiving(Receiving::new(SimDuration::from_us(15)))
        .build()?;
    let trace = Simulation::new(&machine, 16)?.run(&ring)?;
    println!("{} messages on a {}: {}", trace.counts.messages, machine.name, trace.makespan);
    Ok(())
}
