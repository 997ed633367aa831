//! What happens inside one node: its processor, its memory, its input and output.
//!
//! A node does not know the network: a message is handed over at the [machine](crate::machine).

mod dispatch;
mod input_output;
mod noise;
pub mod processor;
mod software;

pub use dispatch::{Admission, Dispatcher, RouterTurn, Standing, Turns, Urgency};
pub use input_output::{Host, Linear};
pub use noise::Noise;
pub use processor::{Module, Processor, Work};
pub use software::{Acknowledging, Receiving, Routing, Sending};

use crate::units::{Bytes, SimDuration};
use serde::{Deserialize, Serialize};

/// A node: everything that one processor has to itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// How long computation takes.
    pub processor: Processor,
    /// Memory for the program's data.
    pub memory: Bytes,
    /// The software cost of sending.
    pub sending: Sending,
    /// The software cost of receiving.
    pub receiving: Receiving,
    /// The software cost of passing packets on.
    pub routing: Routing,
    /// When that software gets the processor of a node that computes.
    pub router_turn: RouterTurn,
    /// The period of the clock by which the computations of several processes on one node take turns:
    /// each gives way at the second tick since it got the processor.
    pub time_slice: SimDuration,
    /// How long the memory serves a link for each word of four bytes that it moves: that much longer takes
    /// a computation that goes on meanwhile. Nothing unless given.
    #[serde(default)]
    pub dma_per_word: SimDuration,
    /// The cost of acknowledging a message.
    pub acknowledging: Acknowledging,
    /// What disturbs its computations; nothing unless given.
    #[serde(default, skip_serializing_if = "Noise::is_quiet")]
    pub noise: Noise,
}
