//! A stage of the pipeline of routers: what is put in comes out a fixed number of cycles later.

use std::collections::VecDeque;

/// Contents of a stage, each with the cycle in which it comes out, in the order in which it was put in.
pub(super) struct Stage<T> {
    content: VecDeque<(u64, T)>,
}

impl<T: Copy> Stage<T> {
    pub(super) const fn empty() -> Self {
        Self { content: VecDeque::new() }
    }

    /// Puts in what comes out in cycle `due`, which is not before that of what was put in before.
    pub(super) fn put(&mut self, due: u64, item: T) {
        self.content.push_back((due, item));
    }

    /// Takes the next out that is due in `cycle`.
    pub(super) fn take(&mut self, cycle: u64) -> Option<T> {
        self.content.front().filter(|(due, _)| *due <= cycle)?;
        self.content.pop_front().map(|(_, item)| item)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty()
    }
}
