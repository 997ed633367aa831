//! A pipeline stage, as a queue of items with the cycles in which they are due.

use std::collections::VecDeque;

/// The items of a stage, each with the cycle in which it is due, in order.
pub(super) struct Stage<T> {
    content: VecDeque<(u64, T)>,
}

impl<T: Copy> Stage<T> {
    pub(super) const fn empty() -> Self {
        Self { content: VecDeque::new() }
    }

    /// Adds an item that is due in cycle `due`, which must not precede that of any earlier item.
    pub(super) fn put(&mut self, due: u64, item: T) {
        self.content.push_back((due, item));
    }

    /// Removes and returns the next item that is due by `cycle`.
    pub(super) fn take(&mut self, cycle: u64) -> Option<T> {
        self.content.front().filter(|(due, _)| *due <= cycle)?;
        self.content.pop_front().map(|(_, item)| item)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty()
    }
}
