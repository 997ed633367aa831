//! Communication hidden behind computation.

use super::CriticalPath;
use parsim_sim::trace::Activity;
use parsim_sim::trace::events::MESSAGE;
use parsim_sim::units::SimDuration;

/// A stretch of time of a process, so that lists of them sort by process and time.
type ProcessInterval = (u32, SimDuration, SimDuration);

/// Returns the time for which each process computes while a message that it has sent, or that it is going to receive,
/// is on its way: from the beginning of the send to the delivery.
pub fn overlaps(path: &CriticalPath<'_>) -> Vec<SimDuration> {
    let flights = united(flights(path));
    let mut overlaps = vec![SimDuration::ZERO; path.events().processes() as usize];
    let mut first = 0;
    for (process, from, to) in computations(path) {
        let is_over = |flight: &ProcessInterval| (flight.0, flight.2) <= (process, from);
        first += flights[first..].iter().take_while(|flight| is_over(flight)).count();
        let beside = flights[first..].iter().take_while(|flight| flight.0 == process && flight.1 < to);
        overlaps[process as usize] += beside.map(|flight| to.min(flight.2) - from.max(flight.1)).sum::<SimDuration>();
    }
    overlaps
}

/// The ways of all messages, once for the sender and once for the receiver.
fn flights(path: &CriticalPath<'_>) -> Vec<ProcessInterval> {
    let events = path.events();
    let mut flights = Vec::new();
    for event in 0..events.count() {
        for antecedent in events.antecedents(event).iter().filter(|one| events.way_of(one).kind == MESSAGE) {
            let sent = path.critical(antecedent.event);
            let ends = [antecedent.event, event].map(|end| events.get(end).process);
            flights.extend(ends.map(|process| (process, sent, sent + antecedent.delay)));
        }
    }
    flights
}

/// The computations of all processes, in order.
fn computations(path: &CriticalPath<'_>) -> Vec<ProcessInterval> {
    let events = path.events();
    let computes: Vec<bool> = events.labels().iter().map(|label| label.kind == Activity::Computing.name()).collect();
    let entries = (0..events.count()).map(|event| (events.get(event), path.critical(event)));
    let own = entries.filter(|(entry, _)| computes[usize::from(entry.label)] && entry.service > SimDuration::ZERO);
    let mut computations: Vec<_> = own.map(|(entry, end)| (entry.process, end - entry.service, end)).collect();
    computations.sort_unstable();
    computations
}

/// Stretches of a process that overlap become one.
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
        // Process 0 sends at 1 s and computes up to 6 s; process 1 computes up to 2 s and from 2 to 4 s; both
        // messages are delivered to it at 3 s and at 5 s. Process 2 has nothing to do with them.
        let table = "id,process,clock,service_s,antecedents,kind\n1,0,1,1,,computing\n2,0,6,5,,computing\n\
                     3,1,2,2,,computing\n4,1,4,2,,computing\n5,1,5,0,1:2 1:4,blocked\n6,2,9,9,,computing\n";
        let events = read_table(table.as_bytes()).unwrap();
        let path = CriticalPath::of(&events).unwrap();
        assert_eq!(overlaps(&path), [4, 3, 0].map(|seconds| SimDuration::from_us(seconds * 1_000_000)));
    }
}
