//! The language into which all formats of MPI calls are read.

use parsim_sim::program::MessagePattern;
use parsim_sim::program::collective::CollectiveCall;
use parsim_sim::units::SimDuration;

/// A request by the name that its file gives it; several under way may bear the same.
pub type RequestName = [u32; 3];

/// The name of the requests of buffered sends, which no file gives: nothing waits for them but the end of the rank.
pub const BUFFERED: RequestName = [0, 0, 3];

/// A call of a rank. Ranks are those among all.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Computes so many floating-point operations.
    Operate(f64),
    /// Keeps the processor for a time.
    Keep(SimDuration),
    /// Sends to a rank. With a name it only begins to. A synchronous one is complete when a receive has met it.
    Send { to: u32, bytes: u64, tag: u32, synchronous: bool, request: Option<RequestName> },
    /// Receives. With a name it only begins to.
    Receive { pattern: MessagePattern, request: Option<RequestName> },
    /// Waits for the oldest request of a name; for none if there is none under way.
    Wait(RequestName),
    /// Waits for the first request of these names to be complete; for none if none is under way.
    WaitAny(Box<[RequestName]>),
    /// Asks whether the oldest request of a name is complete; if it is, a later wait for the name has nothing to wait for.
    Test(RequestName),
    /// Waits for all requests under way.
    WaitAll,
    /// Takes part in a collective operation with the ranks of a communicator, by its number; all ranks have number 0. With a name
    /// it only begins to.
    Collective { call: CollectiveCall, communicator: u32, request: Option<RequestName> },
}
