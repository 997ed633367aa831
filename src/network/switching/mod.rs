//! How a packet crosses a node.

mod store_and_forward;

pub use store_and_forward::StoreAndForward;

use serde::{Deserialize, Serialize};

/// The manner in which a packet crosses the nodes between source and destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Switching {
    /// A node has the whole packet before it sends it on.
    StoreAndForward(StoreAndForward),
}

impl Switching {
    /// The largest packet, in bytes.
    #[must_use]
    pub const fn packet_bytes(&self) -> u64 {
        let Self::StoreAndForward(mode) = self;
        mode.packet.count()
    }
}
