//! Sends that wait for their processor or interface, and computations that wait for those.

use rustc_hash::FxHashMap;

/// Sends that wait, by the core of the rank that has asked for them; none where there are none.
#[derive(Default)]
pub struct WaitingSends {
    counts: FxHashMap<u32, u32>,
    /// By core, the owners whose computations wait for those sends, with the orders of their requests.
    behind: FxHashMap<u32, Vec<(u64, u32)>>,
}

impl WaitingSends {
    /// A send of a rank of a core begins to wait.
    pub fn add(&mut self, core: u32) {
        *self.counts.entry(core).or_default() += 1;
    }

    /// A send of a rank of a core waits no more.
    pub fn remove(&mut self, core: u32) {
        if let Some(count) = self.counts.get_mut(&core) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&core);
            }
        }
    }

    /// Returns whether sends of a core's ranks wait.
    pub fn are_of(&self, core: u32) -> bool {
        !self.counts.is_empty() && self.counts.contains_key(&core)
    }

    /// An owner waits until no send of its core does.
    pub fn wait_behind(&mut self, core: u32, order: u64, owner: u32) {
        self.behind.entry(core).or_default().push((order, owner));
    }

    /// Returns the owners behind the sends of a core, if all of these have begun.
    pub fn released(&mut self, core: u32) -> Vec<(u64, u32)> {
        if self.behind.is_empty() || self.are_of(core) {
            return Vec::new();
        }
        self.behind.remove(&core).unwrap_or_default()
    }
}
