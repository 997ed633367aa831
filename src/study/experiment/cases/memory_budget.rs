//! The memory of this computer, shared by cases that run concurrently.

use parsim_sim::simulation::limits::most_memory;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A memory budget that admits cases by their estimated memory.
pub struct MemoryBudget {
    /// The memory in bytes; `None` if the system does not report it.
    limit: Option<u64>,
    taken: Mutex<u128>,
    left: Condvar,
}

/// The reservation of a case, released on drop.
pub struct Reservation<'r> {
    room: &'r MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    /// Returns a budget equal to the default memory limit of a run.
    pub fn of_this_computer() -> Self {
        Self::of(most_memory())
    }

    const fn of(limit: Option<u64>) -> Self {
        Self { limit, taken: Mutex::new(0), left: Condvar::new() }
    }

    /// Waits until `bytes` bytes are free and reserves them. A case that needs more than the whole budget runs alone.
    pub fn enter(&self, bytes: u64) -> Reservation<'_> {
        let is_full =
            |taken: &mut u128| *taken > 0 && self.limit.is_some_and(|limit| *taken + u128::from(bytes) > limit.into());
        let mut taken = self.left.wait_while(self.taken(), is_full).unwrap_or_else(PoisonError::into_inner);
        *taken += u128::from(bytes);
        Reservation { room: self, bytes }
    }

    fn taken(&self) -> MutexGuard<'_, u128> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        *self.room.taken() -= u128::from(self.bytes);
        self.room.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    /// Returns the most bytes reserved at once by eight threads that reserve `bytes` each.
    fn most_at_once(limit: Option<u64>, bytes: u64) -> u64 {
        let (room, now, most) = (MemoryBudget::of(limit), AtomicU64::new(0), AtomicU64::new(0));
        let play = || {
            let _place = room.enter(bytes);
            most.fetch_max(now.fetch_add(bytes, Ordering::SeqCst) + bytes, Ordering::SeqCst);
            thread::yield_now();
            now.fetch_sub(bytes, Ordering::SeqCst);
        };
        thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(|| (0..200).for_each(|_| play())))));
        most.into_inner()
    }

    #[test]
    fn cases_at_once_take_no_more_than_there_is() {
        assert!(most_at_once(Some(100), 30) <= 90);
        assert_eq!(most_at_once(Some(100), 60), 60);
        assert_eq!(most_at_once(Some(100), 1000), 1000);
        assert!(most_at_once(None, 1000) >= 1000);
    }
}
