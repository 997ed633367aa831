//! How routers, ports, channels and flits are numbered.

/// No port, no virtual channel, no link.
pub(super) const NONE: u32 = u32::MAX;

/// How the arrays are laid out.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Ports with links; one more leads from and to the node.
    pub(super) links: u32,
    /// Virtual channels of a class.
    pub(super) lanes: u32,
    /// Virtual channels of a port.
    pub(super) channels: u32,
    /// The flits that the buffer of a channel holds.
    pub(super) buffer: u32,
}

impl Shape {
    pub(super) const fn ports(self) -> u32 {
        self.links + 1
    }

    pub(super) const fn of_router(self) -> u32 {
        self.ports() * self.channels
    }

    pub(super) const fn router(self, channel: u32) -> u32 {
        channel / self.of_router()
    }

    pub(super) const fn port(self, channel: u32) -> u32 {
        channel / self.channels % self.ports()
    }

    pub(super) const fn first(self, router: u32, port: u32) -> u32 {
        (router * self.ports() + port) * self.channels
    }

    pub(super) const fn bit(self, channel: u32) -> u128 {
        1 << (channel % self.of_router())
    }
}

/// A flit: its worm, and whether it is the first or the last one.
#[derive(Clone, Copy)]
pub(super) struct Flit(u32);

impl Flit {
    pub(super) fn new(worm: u32, is_head: bool, is_tail: bool) -> Self {
        Self(worm << 2 | u32::from(is_head) << 1 | u32::from(is_tail))
    }

    pub(super) const fn worm(self) -> u32 {
        self.0 >> 2
    }

    pub(super) const fn is_head(self) -> bool {
        self.0 & 2 != 0
    }

    pub(super) const fn is_tail(self) -> bool {
        self.0 & 1 != 0
    }
}
