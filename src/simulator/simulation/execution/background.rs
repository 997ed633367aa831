//! Background traffic beside the processes.

use super::{Execution, WaitState};
use crate::machine::Completion;
use crate::simulation::background::{Background, BackgroundCompletion};
use crate::simulation::observer::Observer;
use crate::trace::Activity;
use crate::units::SimTime;

impl<O: Observer> Execution<'_, O> {
    /// Handles a completion that concerns background traffic only. Returns whether it is one.
    pub(super) fn handle_background(&mut self, now: SimTime, completion: Completion) -> bool {
        let Some(mut background) = self.background.take() else { return false };
        let own = background.classify(completion);
        match own {
            Some(BackgroundCompletion::Due(source)) if background.is_alone() && self.all_wait() => {
                background.suspend(source);
            }
            Some(BackgroundCompletion::Due(source)) => background.send(&mut self.transport, now, source),
            Some(BackgroundCompletion::Arrived(message)) => Background::receive(&mut self.transport, now, message),
            Some(BackgroundCompletion::Nothing) => {}
            None => background.program_progressed(&mut self.transport, now, completion),
        }
        self.background = Some(background);
        own.is_some()
    }

    /// Notifies background traffic that an operation of the program has started.
    pub(super) fn count_program_operation(&mut self) {
        if let Some(background) = &mut self.background {
            background.count_program_operation();
        }
    }

    /// Returns whether every process has finished or waits for an operation or another process, and not for a time.
    fn all_wait(&self) -> bool {
        self.ranks.iter().all(|rank| match rank.waits {
            WaitState::ForOperation(_) | WaitState::ForAny | WaitState::ForNotices | WaitState::AtBarrier => true,
            WaitState::Nothing | WaitState::ForTime(_) => rank.activity == Activity::Idle,
        })
    }
}
