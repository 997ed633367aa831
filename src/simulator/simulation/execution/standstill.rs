//! Explanation of a standstill, in which no event is left although processes still wait.

use super::{Execution, WaitState};
use crate::simulation::SimulationError;
use crate::simulation::deadlock::{Blocked, DeadlockReport};

impl<O> Execution<'_, O> {
    /// Returns the error that explains why no event is left.
    pub(super) fn standstill(&mut self) -> SimulationError {
        let standstill = self.transport.standstill();
        if standstill.packets > 0 {
            return SimulationError::NetworkDeadlock { at_s: self.transport.now().seconds(), standstill };
        }
        SimulationError::Deadlock(self.deadlock())
    }

    fn deadlock(&mut self) -> DeadlockReport {
        let mut blocked = Vec::new();
        for rank in 0..self.layout.ranks() {
            let state = &self.ranks[rank as usize];
            let (waits, waits_for) = match &state.waits {
                WaitState::ForOperation(operation) => self.matching.describe(*operation),
                WaitState::ForAny => (format!("waits for any of {} operations", self.awaited[&rank].len()), None),
                WaitState::ForNotices => self.matching.describe_first_of(rank),
                WaitState::AtBarrier => ("waits at a barrier".to_owned(), None),
                WaitState::Nothing | WaitState::ForTime => continue,
            };
            let (phase, step) = (self.context.phases.name(state.phase), self.context.step(rank));
            blocked.push(Blocked { rank, phase, step, place: None, waits, waits_for });
        }
        let at_s = self.context.clock.get().seconds();
        DeadlockReport { at_s, blocked, ranks: self.layout.ranks() }
    }
}
