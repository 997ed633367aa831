//! The requests that the routers have to allocate.

use super::buffers::Input;
use super::layout::RouterShape;

/// The requests of all routers, and the routers that have any.
pub(super) struct RouterRequests {
    /// Input channels whose front flit has an output channel with a credit, a bit for each: `words` words per router.
    ready: Vec<u64>,
    words: usize,
    routers: Vec<RouterState>,
    /// Routers with requests, in the order in which they became active.
    active: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct RouterState {
    /// Number of heads without an output channel.
    waiting: u32,
    is_active: bool,
}

impl RouterRequests {
    pub(super) fn new(shape: RouterShape, routers: u32) -> Self {
        let (words, routers) = (shape.words as usize, routers as usize);
        Self {
            ready: vec![0; routers * words],
            words,
            routers: vec![RouterState::default(); routers],
            active: Vec::new(),
        }
    }

    /// Returns the routers with requests, in the order in which they became active.
    pub(super) fn active(&self) -> &[u32] {
        &self.active
    }

    /// Returns the words with the bits of the ready channels of a router.
    pub(super) fn ready(&self, router: u32) -> &[u64] {
        &self.ready[router as usize * self.words..][..self.words]
    }

    /// Returns the words with the bits of the ready channels of every router, given that there are `WORDS` for each.
    pub(super) fn ready_words<const WORDS: usize>(&self) -> &[[u64; WORDS]] {
        self.ready.as_chunks().0
    }

    /// Marks an input channel whose front flit can cross.
    #[inline]
    pub(super) fn set_ready(&mut self, input: &Input) {
        let ready = &mut self.ready[input.word as usize];
        let others = std::mem::replace(ready, *ready | input.mask());
        if others == 0 {
            self.activate(input.router);
        }
    }

    #[inline]
    pub(super) fn clear_ready(&mut self, input: &Input) {
        self.ready[input.word as usize] &= !input.mask();
    }

    /// Registers a head that requests an output channel.
    #[inline]
    pub(super) fn add_waiting(&mut self, router: u32) {
        self.routers[router as usize].waiting += 1;
        self.activate(router);
    }

    /// Removes the request of a head that has been granted an output channel.
    #[inline]
    pub(super) fn end_waiting(&mut self, router: u32) {
        self.routers[router as usize].waiting -= 1;
    }

    #[inline]
    fn activate(&mut self, router: u32) {
        if !std::mem::replace(&mut self.routers[router as usize].is_active, true) {
            self.active.push(router);
        }
    }

    /// Removes routers without requests from the active ones.
    pub(super) fn leave_idle_routers(&mut self) {
        match self.words {
            1 => self.retain_active::<1>(),
            _ => self.retain_active::<{ RouterShape::MAX_WORDS as usize }>(),
        }
    }

    fn retain_active<const WORDS: usize>(&mut self) {
        let Self { ready, routers, active, .. } = self;
        let (ready, routers) = (ready.as_chunks::<WORDS>().0, &mut routers[..]);
        active.retain(|router| {
            let state = &mut routers[*router as usize];
            let has_requests = state.waiting != 0 || ready[*router as usize] != [0; WORDS];
            if !has_requests {
                state.is_active = false;
            }
            has_requests
        });
    }
}
