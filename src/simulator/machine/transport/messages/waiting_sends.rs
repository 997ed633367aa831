//! Sends that have not begun, and computations that wait for them: sends that wait for their processor or interface,
//! and sends whose announcement has not been handled.

use rustc_hash::FxHashMap;

/// The waiting sends, counted by the core of the rank that requested them; cores without any are absent.
#[derive(Default)]
pub struct WaitingSends {
    counts: FxHashMap<u32, u32>,
    /// The owners whose computations wait for the sends of each core, with the orders of their requests.
    behind: FxHashMap<u32, Vec<(u64, u32)>>,
}

impl WaitingSends {
    /// Records that a send of a rank on this core begins to wait.
    pub fn add(&mut self, core: u32) {
        *self.counts.entry(core).or_default() += 1;
    }

    /// Records that a send of a rank on this core has stopped waiting.
    pub fn remove(&mut self, core: u32) {
        if let Some(count) = self.counts.get_mut(&core) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&core);
            }
        }
    }

    /// Returns whether any send of this core's ranks is waiting.
    pub fn are_of(&self, core: u32) -> bool {
        !self.counts.is_empty() && self.counts.contains_key(&core)
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
