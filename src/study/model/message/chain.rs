//! Services in causal order, and the longest chain of them.

use super::services::{PricedService, ServiceId};
use parsim_sim::units::SimDuration;

/// The index of a service that has been executed.
pub type ServiceIndex = u32;

/// No service: the beginning of the send.
const BEGIN: ServiceIndex = ServiceIndex::MAX;

/// The executed services of a message.
#[derive(Default)]
pub struct Chain {
    done: Vec<ExecutedService>,
}

/// An executed service.
struct ExecutedService {
    end: SimDuration,
    /// The service with the latest end among those that the service waited for.
    cause: ServiceIndex,
    service: ServiceId,
}

impl Chain {
    /// Adds a service of duration `time` that begins when all `causes` are complete. The cause with the latest end is
    /// recorded; of equal ones, the first.
    pub fn serve<const N: usize>(
        &mut self,
        causes: [Option<ServiceIndex>; N],
        (service, time): PricedService,
    ) -> ServiceIndex {
        let mut latest = (SimDuration::ZERO, BEGIN);
        for cause in causes.into_iter().flatten() {
            let end = self.end(cause);
            if latest.1 == BEGIN || end > latest.0 {
                latest = (end, cause);
            }
        }
        self.done.push(ExecutedService { end: latest.0 + time, cause: latest.1, service });
        ServiceIndex::try_from(self.done.len() - 1).expect("services are counted before")
    }

    /// Adds a service that waits for one other service only. A service that takes no time is not added.
    pub fn then(&mut self, cause: ServiceIndex, service: PricedService) -> ServiceIndex {
        if service.1 == SimDuration::ZERO { cause } else { self.serve([Some(cause)], service) }
    }

    /// Returns the end of a service, relative to the beginning of the send.
    pub fn end(&self, step: ServiceIndex) -> SimDuration {
        self.done[step as usize].end
    }

    /// Returns the services that lead to the end of `last`, in reverse order, each with its duration.
    pub fn back_from(&self, last: ServiceIndex) -> impl Iterator<Item = (ServiceId, SimDuration)> + '_ {
        std::iter::successors(Some(last), |step| Some(self.done[*step as usize].cause).filter(|cause| *cause != BEGIN))
            .map(|step| {
                let ExecutedService { end, cause, service } = &self.done[step as usize];
                let begin = if *cause == BEGIN { SimDuration::ZERO } else { self.end(*cause) };
                (*service, *end - begin)
            })
    }
}
