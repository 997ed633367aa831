//! Services in the order of their causes, and the longest chain of them.

use super::services::{Priced, ServiceId};
use parsim_sim::units::SimDuration;

/// A service that has been done.
pub type ServiceIndex = u32;

/// No service: the beginning of the send.
const BEGIN: ServiceIndex = ServiceIndex::MAX;

/// All services of a message.
#[derive(Default)]
pub struct Chain {
    done: Vec<Done>,
}

struct Done {
    end: SimDuration,
    /// The service whose end it waited for last.
    cause: ServiceIndex,
    service: ServiceId,
}

impl Chain {
    /// A service of length `time` that begins when all `causes` are over; of equally late ones the first is what it
    /// waited for.
    pub fn serve<const N: usize>(
        &mut self,
        causes: [Option<ServiceIndex>; N],
        (service, time): Priced,
    ) -> ServiceIndex {
        let mut latest = (SimDuration::ZERO, BEGIN);
        for cause in causes.into_iter().flatten() {
            let end = self.end(cause);
            if latest.1 == BEGIN || end > latest.0 {
                latest = (end, cause);
            }
        }
        self.done.push(Done { end: latest.0 + time, cause: latest.1, service });
        ServiceIndex::try_from(self.done.len() - 1).expect("services are counted before")
    }

    /// A service after another one alone; what takes no time is none.
    pub fn then(&mut self, cause: ServiceIndex, service: Priced) -> ServiceIndex {
        if service.1 == SimDuration::ZERO { cause } else { self.serve([Some(cause)], service) }
    }

    /// Returns the end of a service, from the beginning of the send on.
    pub fn end(&self, step: ServiceIndex) -> SimDuration {
        self.done[step as usize].end
    }

    /// The services that lead to the end of `last`, backwards, each with its length.
    pub fn back_from(&self, last: ServiceIndex) -> impl Iterator<Item = (ServiceId, SimDuration)> + '_ {
        std::iter::successors(Some(last), |step| Some(self.done[*step as usize].cause).filter(|cause| *cause != BEGIN))
            .map(|step| {
                let Done { end, cause, service } = &self.done[step as usize];
                let begin = if *cause == BEGIN { SimDuration::ZERO } else { self.end(*cause) };
                (*service, *end - begin)
            })
    }
}
