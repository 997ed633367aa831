//! The common representation of MPI calls, into which all trace formats are translated.

use parsim_sim::program::MessagePattern;
use parsim_sim::program::collective::CollectiveCall;
use parsim_sim::units::SimDuration;

/// The name of a request, derived from its trace. Several pending requests may have the same name.
pub type RequestName = [u32; 3];

/// The name of the requests of buffered sends, which no trace uses. Only the end of the rank waits for them.
pub const BUFFERED: RequestName = [0, 0, 3];

/// A call of a rank. Ranks are numbers in the communicator of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Performs this number of floating-point operations.
    Operate(f64),
    /// Computes for a given time.
    Keep(SimDuration),
    /// Sends to a rank; nonblocking if there is a request. A synchronous send completes only after a receive has
    /// matched it.
    Send { to: u32, bytes: u64, tag: u32, synchronous: bool, request: Option<RequestName> },
    /// Receives; nonblocking if there is a request.
    Receive { pattern: MessagePattern, request: Option<RequestName> },
    /// Waits for the oldest request with a name; does nothing if none is pending.
    Wait(RequestName),
    /// Waits for the first of the requests with these names to complete; does nothing if none is pending.
    WaitAny(Box<[RequestName]>),
    /// Tests whether the oldest request with a name is complete. If so, a later wait for that name returns at once.
    Test(RequestName),
    /// Waits for all pending requests.
    WaitAll,
    /// Performs a collective operation with the ranks of a communicator, given by number; number 0 has all ranks.
    /// Nonblocking if there is a request.
    Collective { call: CollectiveCall, communicator: u32, request: Option<RequestName> },
}
