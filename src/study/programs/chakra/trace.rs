//! The nodes of an execution trace, independent of the file format.

/// A node as its file describes it. Omitted values are `None` or empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TraceNode {
    pub id: u64,
    pub name: String,
    /// The number of the node's kind.
    pub kind: u64,
    /// The nodes on whose data this node depends.
    pub data: Vec<u64>,
    /// The nodes that precede this node for another reason.
    pub control: Vec<u64>,
    /// The duration in microseconds; the protobuf form cannot omit it.
    pub micros: Option<u64>,
    /// `true` if the node is an operation of the host instead of the accelerator.
    pub is_of_host: bool,
    /// The number of the kind of collective operation.
    pub collective: Option<u64>,
    pub bytes: Option<u64>,
    pub from: Option<u64>,
    pub to: Option<u64>,
    pub tag: Option<u64>,
    /// The name of the group of ranks. All ranks by default.
    pub group: Option<String>,
    /// For each dimension of the network, whether it takes part.
    pub dimensions: Vec<bool>,
    /// The number of floating-point operations.
    pub operations: Option<u64>,
}

impl TraceNode {
    /// Returns the name of the node for messages.
    pub fn words(&self) -> String {
        const LONGEST: usize = 40;
        let name: String = self.name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
        let rest = if self.name.chars().nth(LONGEST).is_some() { "…" } else { "" };
        format!("node {} (`{name}{rest}`)", self.id)
    }
}

/// A fault of a trace, with its place in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct TraceFault {
    pub place: String,
    pub message: String,
    pub help: &'static str,
}
