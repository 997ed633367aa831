//! The conservative protocol of Chandy, Misra and Bryant. A rank processes an event only when no other rank can still
//! send it an earlier one. Before a rank waits, it promises its neighbours a time before which it sends nothing.
//!
//! The times and sites of attempts do not depend on any spin, so a rank knows when it could next flip a spin on a
//! boundary. This is its lookahead. On one rank the protocol is the sequential simulation.

use super::rank::Rank;
use super::wire::RankMessage;

/// The clocks of the channels between a rank and a neighbour.
struct NeighbourClock {
    rank: u32,
    /// The virtual time before which no message from the neighbour will arrive.
    safe_until: f64,
    /// The last promise made to the neighbour.
    promised: f64,
}

/// Runs the simulation to its end.
pub async fn simulate(rank: &mut Rank) {
    let channel = |rank| NeighbourClock { rank, safe_until: 0.0, promised: 0.0 };
    let mut channels: Vec<NeighbourClock> = rank.neighbours().into_iter().map(channel).collect();
    loop {
        while let Some((from, note)) = rank.poll().await {
            handle(rank, &mut channels, from, note).await;
        }
        let safe_until = channels.iter().map(|channel| channel.safe_until).fold(f64::INFINITY, f64::min);
        let next = rank.queue.next_time();
        if next < safe_until {
            rank.process_next().await;
            continue;
        }
        promise(rank, &mut channels).await;
        if safe_until.is_infinite() {
            return;
        }
        let (from, note) = rank.next().await;
        handle(rank, &mut channels, from, note).await;
    }
}

async fn handle(rank: &mut Rank, channels: &mut [NeighbourClock], from: u32, note: RankMessage) {
    let safe_until = match note {
        RankMessage::Message(message) => {
            rank.accept(message).await;
            message.update.time
        }
        RankMessage::Promise(time) => time,
        note => unreachable!("a conservative rank received {note:?}"),
    };
    for channel in channels.iter_mut().filter(|channel| channel.rank == from) {
        channel.safe_until = channel.safe_until.max(safe_until);
    }
}

/// Sends null messages to the neighbours whose promised time has advanced.
async fn promise(rank: &mut Rank, channels: &mut [NeighbourClock]) {
    for channel in channels {
        let time = rank.queue.promise(|process| rank.holder(process) == channel.rank);
        if time > channel.promised {
            channel.promised = time;
            rank.null_messages += 1;
            rank.notify(channel.rank, &RankMessage::Promise(time)).await;
        }
    }
}
