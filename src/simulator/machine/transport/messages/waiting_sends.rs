//! Sends that have not begun, and computations that wait for them: sends that wait for their processor or interface,
//! and sends whose announcement has not been handled.

use rustc_hash::FxHashMap;

/// Numbers of waiting events, by core; cores without any are absent.
#[derive(Default)]
pub struct CoreCounts(FxHashMap<u32, u32>);

impl CoreCounts {
    pub fn add(&mut self, core: u32) {
        *self.0.entry(core).or_default() += 1;
    }

    pub fn remove(&mut self, core: u32) {
        if let Some(count) = self.0.get_mut(&core) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&core);
            }
        }
    }

    /// Returns whether any event is counted for this core.
    pub fn are_of(&self, core: u32) -> bool {
        !self.0.is_empty() && self.0.contains_key(&core)
    }
}

/// The waiting sends, by the core of the rank that requested them.
#[derive(Default)]
pub struct WaitingSends {
    counts: CoreCounts,
    /// The owners whose computations wait for the sends of each core, with the orders of their requests.
    behind: FxHashMap<u32, Vec<(u64, u32)>>,
}

impl WaitingSends {
    /// Records that a send of a rank on this core begins to wait.
    pub fn add(&mut self, core: u32) {
        self.counts.add(core);
    }

    /// Records that a send of a rank on this core has stopped waiting.
    pub fn remove(&mut self, core: u32) {
        self.counts.remove(core);
    }

    /// Returns whether any send of this core's ranks is waiting.
    pub fn are_of(&self, core: u32) -> bool {
        self.counts.are_of(core)
    }

    /// Lets an owner wait until no send of its core is waiting.
    pub fn wait_behind(&mut self, core: u32, order: u64, owner: u32) {
        self.behind.entry(core).or_default().push((order, owner));
    }

    /// Removes and returns the owners that wait for the sends of a core, if all of these have begun.
    pub fn released(&mut self, core: u32) -> Vec<(u64, u32)> {
        if self.behind.is_empty() || self.are_of(core) {
            return Vec::new();
        }
        self.behind.remove(&core).unwrap_or_default()
    }
}
