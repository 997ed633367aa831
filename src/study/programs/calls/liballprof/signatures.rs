//! The MPI calls that can be replayed, and the positions of their arguments in a line.

use crate::programs::calls::line_reader::Elements;
use parsim_sim::trace::Phase;

/// The kind of a call, which determines how its arguments are read.
#[derive(Clone, Copy)]
pub enum CallKind {
    Begin,
    End,
    Split,
    Message(MessageKind),
    StartMessage(MessageKind),
    /// Creates a persistent request.
    CreateMessage(MessageKind),
    Start,
    StartAll,
    SendReceive(SendReceiveArguments),
    Wait,
    WaitAll,
    WaitAny,
    Collective(CollectiveSignature),
    StartCollective(CollectiveSignature),
    Unsupported,
}

/// One end of a message.
#[derive(Clone, Copy)]
pub enum MessageKind {
    Send(SendMode),
    Receive,
}

/// The mode of a send.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendMode {
    Standard,
    Synchronous,
    Buffered,
}

/// A collective operation, which determines the arguments before its communicator.
#[derive(Clone, Copy)]
pub enum CollectiveSignature {
    Barrier,
    Broadcast,
    Reduce,
    AllReduce,
    Scan,
    ReduceScatter,
    Gather,
    Scatter,
    AllGather,
    AllToAll,
    GatherV,
    ScatterV,
    AllGatherV,
    AllToAllV,
}

/// The positions of the arguments that describe a message.
#[derive(Clone, Copy)]
pub struct EnvelopeArguments {
    pub data: Elements,
    /// The receiver of a send, or the sender of a receive.
    pub peer: usize,
    pub tag: usize,
    pub communicator: usize,
}

/// The positions of the arguments of a call that sends and receives.
#[derive(Clone, Copy)]
pub struct SendReceiveArguments {
    pub sent: EnvelopeArguments,
    pub received: EnvelopeArguments,
}

/// The arguments of calls with one message.
pub const MESSAGE: EnvelopeArguments =
    EnvelopeArguments { data: Elements { count: 3, of: 4 }, peer: 5, tag: 6, communicator: 7 };
/// The request of calls with one message.
pub const REQUEST: usize = 8;
/// The first request of `MPI_Wait` and `MPI_Start`.
pub const ONLY_REQUEST: usize = 2;
/// The number of requests in an array.
pub const REQUEST_COUNT: usize = 2;
/// The address of an array of requests.
pub const REQUEST_ARRAY: usize = 3;

/// The arguments of `MPI_Sendrecv`.
const SEND_RECEIVE: SendReceiveArguments = SendReceiveArguments {
    sent: EnvelopeArguments { communicator: 12, ..MESSAGE },
    received: EnvelopeArguments { data: Elements { count: 8, of: 9 }, peer: 10, tag: 11, communicator: 12 },
};
/// The arguments of `MPI_Sendrecv_replace`, which has one buffer.
const REPLACE: SendReceiveArguments = SendReceiveArguments {
    sent: EnvelopeArguments { communicator: 9, ..MESSAGE },
    received: EnvelopeArguments { peer: 7, tag: 8, communicator: 9, ..MESSAGE },
};

/// The calls that move data or wait, and those that cannot be replayed. The time of all other calls counts as
/// computation.
const CALLS: &[(Phase, CallKind)] = &[
    ("MPI_Recv", CallKind::Message(MessageKind::Receive)),
    ("MPI_Send", CallKind::Message(MessageKind::Send(SendMode::Standard))),
    ("MPI_Irecv", CallKind::StartMessage(MessageKind::Receive)),
    ("MPI_Isend", CallKind::StartMessage(MessageKind::Send(SendMode::Standard))),
    ("MPI_Wait", CallKind::Wait),
    ("MPI_Waitall", CallKind::WaitAll),
    ("MPI_Waitany", CallKind::WaitAny),
    ("MPI_Waitsome", CallKind::WaitAny),
    ("MPI_Sendrecv", CallKind::SendReceive(SEND_RECEIVE)),
    ("MPI_Sendrecv_replace", CallKind::SendReceive(REPLACE)),
    ("MPI_Ssend", CallKind::Message(MessageKind::Send(SendMode::Synchronous))),
    ("MPI_Bsend", CallKind::Message(MessageKind::Send(SendMode::Buffered))),
    ("MPI_Rsend", CallKind::Message(MessageKind::Send(SendMode::Standard))),
    ("MPI_Issend", CallKind::StartMessage(MessageKind::Send(SendMode::Synchronous))),
    ("MPI_Ibsend", CallKind::StartMessage(MessageKind::Send(SendMode::Buffered))),
    ("MPI_Irsend", CallKind::StartMessage(MessageKind::Send(SendMode::Standard))),
    ("MPI_Send_init", CallKind::CreateMessage(MessageKind::Send(SendMode::Standard))),
    ("MPI_Ssend_init", CallKind::CreateMessage(MessageKind::Send(SendMode::Synchronous))),
    ("MPI_Bsend_init", CallKind::CreateMessage(MessageKind::Send(SendMode::Buffered))),
    ("MPI_Rsend_init", CallKind::CreateMessage(MessageKind::Send(SendMode::Standard))),
    ("MPI_Recv_init", CallKind::CreateMessage(MessageKind::Receive)),
    ("MPI_Start", CallKind::Start),
    ("MPI_Startall", CallKind::StartAll),
    ("MPI_Barrier", CallKind::Collective(CollectiveSignature::Barrier)),
    ("MPI_Bcast", CallKind::Collective(CollectiveSignature::Broadcast)),
    ("MPI_Reduce", CallKind::Collective(CollectiveSignature::Reduce)),
    ("MPI_Allreduce", CallKind::Collective(CollectiveSignature::AllReduce)),
    ("MPI_Scan", CallKind::Collective(CollectiveSignature::Scan)),
    ("MPI_Exscan", CallKind::Collective(CollectiveSignature::Scan)),
    ("MPI_Reduce_scatter", CallKind::Collective(CollectiveSignature::ReduceScatter)),
    ("MPI_Gather", CallKind::Collective(CollectiveSignature::Gather)),
    ("MPI_Scatter", CallKind::Collective(CollectiveSignature::Scatter)),
    ("MPI_Allgather", CallKind::Collective(CollectiveSignature::AllGather)),
    ("MPI_Alltoall", CallKind::Collective(CollectiveSignature::AllToAll)),
    ("MPI_Gatherv", CallKind::Collective(CollectiveSignature::GatherV)),
    ("MPI_Scatterv", CallKind::Collective(CollectiveSignature::ScatterV)),
    ("MPI_Allgatherv", CallKind::Collective(CollectiveSignature::AllGatherV)),
    ("MPI_Alltoallv", CallKind::Collective(CollectiveSignature::AllToAllV)),
    ("MPI_Ibarrier", CallKind::StartCollective(CollectiveSignature::Barrier)),
    ("MPI_Ibcast", CallKind::StartCollective(CollectiveSignature::Broadcast)),
    ("MPI_Ireduce", CallKind::StartCollective(CollectiveSignature::Reduce)),
    ("MPI_Iallreduce", CallKind::StartCollective(CollectiveSignature::AllReduce)),
    ("MPI_Iscan", CallKind::StartCollective(CollectiveSignature::Scan)),
    ("MPI_Iexscan", CallKind::StartCollective(CollectiveSignature::Scan)),
    ("MPI_Ireduce_scatter", CallKind::StartCollective(CollectiveSignature::ReduceScatter)),
    ("MPI_Igather", CallKind::StartCollective(CollectiveSignature::Gather)),
    ("MPI_Iscatter", CallKind::StartCollective(CollectiveSignature::Scatter)),
    ("MPI_Iallgather", CallKind::StartCollective(CollectiveSignature::AllGather)),
    ("MPI_Ialltoall", CallKind::StartCollective(CollectiveSignature::AllToAll)),
    ("MPI_Igatherv", CallKind::StartCollective(CollectiveSignature::GatherV)),
    ("MPI_Iscatterv", CallKind::StartCollective(CollectiveSignature::ScatterV)),
    ("MPI_Iallgatherv", CallKind::StartCollective(CollectiveSignature::AllGatherV)),
    ("MPI_Ialltoallv", CallKind::StartCollective(CollectiveSignature::AllToAllV)),
    ("MPI_Init", CallKind::Begin),
    ("MPI_Init_thread", CallKind::Begin),
    ("MPI_Finalize", CallKind::End),
    ("MPI_Comm_split", CallKind::Split),
    ("MPI_Alltoallw", CallKind::Unsupported),
    ("MPI_Ialltoallw", CallKind::Unsupported),
    ("MPI_Put", CallKind::Unsupported),
    ("MPI_Get", CallKind::Unsupported),
    ("MPI_Accumulate", CallKind::Unsupported),
];

/// Returns the kind of the call with this name, and the name under which its time is accounted.
pub fn signature(name: &[u8]) -> Option<(Phase, CallKind)> {
    CALLS.iter().find(|(call, _)| call.as_bytes() == name).copied()
}
