use super::*;

const ALARM: Entity = 90;

fn ps(ps: u64) -> SimDuration {
    SimDuration::from_ps(ps)
}

/// Runs `jobs` = (arrival, service) against a computation of `rows` rows of 10 ps that starts at 0. Returns the
/// departures and the end of the computation.
fn run(router: RouterTurn, rows: u64, jobs: &[(u64, u64)]) -> (Vec<u64>, u64) {
    let mut calendar = Calendar::new();
    let mut dispatcher = Dispatcher::new(1, PreemptionRules { router, time_slice: ps(8) }, ALARM);
    dispatcher.compute(&mut calendar, SimTime::START, 0, 0, (ps(10), rows));
    for (job, (arrival, _)) in jobs.iter().enumerate() {
        calendar.schedule(SimTime::from_ps(*arrival), 20 + Entity::try_from(job).unwrap());
    }
    let (mut departures, mut end) = (vec![0; jobs.len()], 0);
    while let Some((now, entity)) = calendar.pop() {
        let mut let_in = Vec::new();
        if entity == ALARM {
            if dispatcher.alarm(&mut calendar, now, 0, &mut let_in).is_some() {
                end = now.ps();
            }
        } else {
            let job = entity as usize - 20;
            let (_, service) = jobs[job];
            if let Some(departure) = dispatcher.serve(&mut calendar, now, 0, (job, ps(service))) {
                departures[job] = departure.ps();
            }
        }
        for (job, runs) in let_in {
            departures[job] = runs.first().ps();
        }
    }
    (departures, end)
}

#[test]
fn a_router_with_high_priority_preempts() {
    let jobs = [(3, 4), (5, 4)];
    assert_eq!(run(RouterTurn::AtOnce, 3, &jobs), (vec![7, 11], 38));
}

#[test]
fn a_router_that_waits_gets_its_turn_at_the_end_of_the_row() {
    let jobs = [(3, 4), (5, 4), (17, 1)];
    assert_eq!(run(RouterTurn::EndOfRow, 3, &jobs), (vec![14, 18, 19], 39));
}

#[test]
fn a_job_after_the_turn_waits_for_the_next_turn() {
    // The first turn is over at 14, and the second row ends at 24.
    assert_eq!(run(RouterTurn::EndOfRow, 3, &[(3, 4), (16, 4), (17, 1)]), (vec![14, 28, 29], 39));
}

#[test]
fn the_turn_after_the_last_row_does_not_delay_the_computation() {
    let jobs = [(13, 4)];
    assert_eq!(run(RouterTurn::EndOfRow, 2, &jobs), (vec![24], 20));
}

#[test]
fn a_time_slice_ends_at_the_second_tick() {
    let jobs = [(3, 4)];
    assert_eq!(run(RouterTurn::TimeSlice, 3, &jobs), (vec![20], 34));
}

#[test]
fn a_job_at_the_end_of_a_row_has_the_turn_of_that_row() {
    assert_eq!(run(RouterTurn::EndOfRow, 3, &[(3, 4), (10, 1)]), (vec![14, 15], 35));
}

/// Returns the ends of computations of these lengths that start together on one processor.
fn share(lengths: &[u64]) -> Vec<u64> {
    let mut calendar = Calendar::new();
    let turns = PreemptionRules { router: RouterTurn::AtOnce, time_slice: ps(8) };
    let mut dispatcher = Dispatcher::<()>::new(1, turns, ALARM);
    for (owner, length) in (0..).zip(lengths) {
        dispatcher.compute(&mut calendar, SimTime::START, 0, owner, (ps(*length), 1));
    }
    let mut ends = vec![0; lengths.len()];
    while let Some((now, _)) = calendar.pop() {
        if let Some(owner) = dispatcher.alarm(&mut calendar, now, 0, &mut Vec::new()) {
            ends[owner as usize] = now.ps();
        }
    }
    ends
}

#[test]
fn computations_on_one_processor_take_turns() {
    // Slices end at 16, 32, 48: the first computation gets 16 of 20, the second 16 of 40, then the first its last 4.
    assert_eq!(share(&[20, 40]), [36, 60]);
    assert_eq!(share(&[20]), [20]);
    assert_eq!(share(&[5, 5, 5]), [5, 10, 15]);
}
