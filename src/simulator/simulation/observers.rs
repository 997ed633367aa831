//! The set of observers that a simulation requires.

use super::activity_logger::ActivityLogger;
use super::observer::{Observer, Occurrence};
use super::recorder::Recorder;
use super::request_logger::RequestLogger;
use super::{Simulation, SimulationError};
use crate::trace::events::EventId;
use crate::trace::{Delivery, Trace};

/// The observers of a run; each is present only if its log is requested.
pub struct Observers<'w> {
    deliveries: Option<Vec<Delivery>>,
    recorder: Option<Recorder<'w>>,
    activities: Option<ActivityLogger>,
    requests: Option<RequestLogger>,
}

impl<'w> Observers<'w> {
    /// Creates the observers of the logs that `simulation` requests, and adds `recorder`.
    pub fn of(simulation: &Simulation<'_>, recorder: Option<Recorder<'w>>) -> Self {
        let Simulation { machine, layout, logs, .. } = simulation;
        Self {
            deliveries: logs.deliveries.then(Vec::new),
            recorder,
            activities: logs.activities.then(|| ActivityLogger::new(machine, layout.ranks())),
            requests: logs.requests.then(|| RequestLogger::new(machine, layout.ranks())),
        }
    }
}

impl Observer for Observers<'_> {
    fn on(&mut self, occurrence: &Occurrence<'_>) {
        if let Some(deliveries) = &mut self.deliveries
            && let Occurrence::Delivered { delivery, .. } | Occurrence::Arrived { delivery, .. } = occurrence
        {
            deliveries.push(*delivery);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on(occurrence);
        }
        if let Some(activities) = &mut self.activities {
            activities.on(occurrence);
        }
        if let Some(requests) = &mut self.requests {
            requests.on(occurrence);
        }
    }

    fn last_event(&self, rank: u32) -> EventId {
        self.recorder.as_ref().map_or(0, |recorder| recorder.last_event(rank))
    }

    fn end(self, trace: &mut Trace) -> Result<(), SimulationError> {
        trace.deliveries = self.deliveries.unwrap_or_default();
        self.activities.map_or(Ok(()), |activities| activities.end(trace))?;
        self.requests.map_or(Ok(()), |requests| requests.end(trace))?;
        self.recorder.map_or(Ok(()), |recorder| recorder.end(trace))
    }
}
