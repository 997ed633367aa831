//! The end of a run from within one event.

use crate::units::SimTime;
use std::rc::Rc;

/// A question that loops of unlimited length within one event ask from time to time: whether the run is to be aborted.
/// Such a loop then ends early, and the run fails after the event.
#[derive(Clone)]
pub struct AbortCheck(Rc<dyn Fn(SimTime) -> bool>);

impl AbortCheck {
    /// Creates the check of a run, given a function of the simulated time that a loop has reached.
    pub fn new(must_abort: impl Fn(SimTime) -> bool + 'static) -> Self {
        Self(Rc::new(must_abort))
    }

    /// Returns whether the run is to be aborted, if the loop has reached this time.
    pub fn must_abort(&self, reached: SimTime) -> bool {
        (self.0)(reached)
    }
}
