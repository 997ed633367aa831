//! The nodes of an execution trace, whatever the form of its file.

/// A node as its file describes it; what is not said is absent.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TraceNode {
    pub id: u64,
    pub name: String,
    /// The number of its kind.
    pub kind: u64,
    /// The nodes whose data it needs.
    pub data: Vec<u64>,
    /// The nodes that come before it for another reason.
    pub control: Vec<u64>,
    /// Its duration in microseconds; the protobuf form cannot leave it out.
    pub micros: Option<u64>,
    /// True if it is an operation of the host and not of the accelerator.
    pub is_of_host: bool,
    /// The kind of a collective operation.
    pub collective: Option<u64>,
    pub bytes: Option<u64>,
    pub from: Option<u64>,
    pub to: Option<u64>,
    pub tag: Option<u64>,
    /// The name of the group of ranks; all ranks unless given.
    pub group: Option<String>,
    /// The dimensions of the network that take part.
    pub dimensions: Vec<bool>,
    /// Floating-point operations.
    pub operations: Option<u64>,
}

impl TraceNode {
    /// Its name for messages.
    pub fn words(&self) -> String {
        const LONGEST: usize = 40;
        let name: String = self.name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
        let rest = if self.name.chars().nth(LONGEST).is_some() { "…" } else { "" };
        format!("node {} (`{name}{rest}`)", self.id)
    }
}

/// A fault of a trace: its place in the file and the reason.
#[derive(Debug, PartialEq, Eq)]
pub struct TraceFault {
    pub place: String,
    pub message: String,
    pub help: &'static str,
}
