//! Explanation of a standstill, in which no event is left although processes still wait.

use super::{Execution, WaitState};
use crate::program::Program;
use crate::simulation::SimulationError;
use crate::simulation::deadlock::{Blocked, DeadlockReport};

impl<O> Execution<'_, O> {
    /// Returns the error that explains why no event is left.
    pub(super) fn standstill(&mut self, program: &dyn Program) -> SimulationError {
        let standstill = self.transport.standstill();
        if standstill.packets > 0 {
            return SimulationError::NetworkDeadlock { at_s: self.transport.now().seconds(), standstill };
        }
        SimulationError::Deadlock(self.deadlock(program))
    }

    fn deadlock(&mut self, program: &dyn Program) -> DeadlockReport {
        let mut blocked = Vec::new();
        for rank in 0..self.layout.ranks() {
            let state = &self.ranks[rank as usize];
            let (waits, waits_for) = match &state.waits {
                WaitState::ForOperation(place) => self.matching.describe(self.matching.operation(*place), program),
                // The first operation is the awaited one, and the others are those of side tasks.
                WaitState::ForAny if self.context.notes[rank as usize].progresses.get() => {
                    self.matching.describe(self.awaited[&rank][0], program)
                }
                WaitState::ForAny => (format!("waits for any of {} operations", self.awaited[&rank].len()), None),
                WaitState::ForNotices => self.matching.describe_first_of(rank, program),
                WaitState::AtBarrier => ("waits at a barrier".to_owned(), None),
                WaitState::Nothing | WaitState::ForTime(_) => continue,
            };
            let (phase, step) = (self.context.phases.name(state.phase), self.context.step(rank));
            blocked.push(Blocked { rank, phase, step, place: None, waits, waits_for });
        }
        let at_s = self.context.clock.get().seconds();
        let path = |step| program.path_of(step).map(|path| format!("program.{path}"));
        let place = |rank, step| program.place_of_step(rank, step).or_else(|| path(step));
        DeadlockReport { at_s, blocked, ranks: self.layout.ranks() }.placed(place)
    }
}
