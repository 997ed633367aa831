//! Communication hidden behind the ranks' own work.

use super::{CriticalPath, PieceKind};
use parsim_sim::trace::Activity;
use parsim_sim::trace::events::MESSAGE;
use parsim_sim::units::SimDuration;

/// An interval of a process, as (process, from, to), so that lists of intervals sort by process and time.
type ProcessInterval = (u32, SimDuration, SimDuration);

/// Returns the time in which each process computes, loads or stores data while a message that it sends or receives is in
/// flight, that is, from the beginning of the send, or of the receive for which its data wait, to the delivery.
pub fn overlaps(path: &CriticalPath<'_>) -> Vec<SimDuration> {
    let flights = united(flights(path));
    let mut overlaps = vec![SimDuration::ZERO; path.events().processes() as usize];
    let mut first = 0;
    for (process, from, to) in own_work(path) {
        let is_over = |flight: &ProcessInterval| (flight.0, flight.2) <= (process, from);
        first += flights[first..].iter().take_while(|flight| is_over(flight)).count();
        let beside = flights[first..].iter().take_while(|flight| flight.0 == process && flight.1 < to);
        overlaps[process as usize] += beside.map(|flight| to.min(flight.2) - from.max(flight.1)).sum::<SimDuration>();
    }
    overlaps
}

/// Returns the flights of all messages, once for the sender and once for the receiver.
fn flights(path: &CriticalPath<'_>) -> Vec<ProcessInterval> {
    let events = path.events();
    let mut flights = Vec::new();
    for event in 0..events.count() {
        for antecedent in events.antecedents(event).iter().filter(|one| events.way_of(one).kind == MESSAGE) {
            let sent = path.critical(antecedent.event);
            let ends = [events.sender_of(antecedent), events.get(event).process];
            flights.extend(ends.map(|process| (process, sent, sent + antecedent.delay)));
        }
    }
    flights
}

/// Returns the times of all processes' own work, in order.
fn own_work(path: &CriticalPath<'_>) -> Vec<ProcessInterval> {
    let events = path.events();
    let hiding = Activity::ALL.into_iter().filter(|activity| activity.hides_communication());
    let hiding: Vec<&str> = hiding.map(Activity::name).collect();
    let computes: Vec<bool> = events.labels().iter().map(|label| hiding.contains(&&*label.kind)).collect();
    let pieces = (0..events.count()).flat_map(|event| path.pieces(event));
    // A load is a wait for bytes.
    let own =
        pieces.filter(|piece| piece.kind != PieceKind::Gap && computes[usize::from(events.get(piece.event).label)]);
    let mut computations: Vec<_> = own.map(|piece| (events.get(piece.event).process, piece.from, piece.to)).collect();
    computations.sort_unstable();
    computations
}

/// Merges overlapping intervals of a process.
fn united(mut stretches: Vec<ProcessInterval>) -> Vec<ProcessInterval> {
    stretches.sort_unstable();
    stretches.dedup_by(|next, known| {
        let is_one = next.0 == known.0 && next.1 <= known.2;
        if is_one {
            known.2 = known.2.max(next.2);
        }
        is_one
    });
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::read_table;

    #[test]
    fn computation_beside_own_messages_counts_once() {
        // Process 0 sends at 1 s and computes until 6 s. Process 1 computes until 2 s and from 2 to 4 s. Both messages
        // are delivered to process 1, at 3 s and at 5 s. Process 2 takes no part in them.
        let table = "id,process,clock,service_s,antecedents,kind\n1,0,1,1,,computing\n2,0,6,5,,computing\n\
                     3,1,2,2,,computing\n4,1,4,2,,computing\n5,1,5,0,1:2 1:4,blocked\n6,2,9,9,,computing\n";
        let events = read_table(table.as_bytes()).unwrap();
        let path = CriticalPath::of(&events).unwrap();
        assert_eq!(overlaps(&path), [4, 3, 0].map(|seconds| SimDuration::from_us(seconds * 1_000_000)));
    }
}
