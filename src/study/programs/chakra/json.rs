//! The JSON form of an execution trace: `{"workload_graph": [{"Id": …, "Name": …, "NodeType": …, …}]}`.
//!
//! The names of the fields are those of `src/feeder/json_node.cpp` of Chakra and, alternatively, those that its own
//! conversion writes for the protobuf form. As in Chakra, other fields are ignored.

use super::trace::{TraceFault, TraceNode};
use crate::programs::file::without_mark;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    workload_graph: Vec<JsonNode>,
}

#[derive(Deserialize)]
struct JsonNode {
    #[serde(rename = "Id")]
    id: u64,
    #[serde(rename = "Name", default)]
    name: String,
    #[serde(rename = "NodeType")]
    kind: u64,
    #[serde(rename = "ctrlDeps", alias = "ctrl_deps", default)]
    control: Vec<u64>,
    #[serde(alias = "dataDeps", default)]
    data_deps: Vec<u64>,
    #[serde(alias = "duration_micros", alias = "durationMicros")]
    runtime: Option<u64>,
    #[serde(default)]
    is_cpu_op: bool,
    comm_type: Option<u64>,
    comm_size: Option<u64>,
    comm_src: Option<u64>,
    comm_dst: Option<u64>,
    comm_tag: Option<u64>,
    pg_name: Option<String>,
    #[serde(default)]
    involved_dim: Vec<bool>,
    num_ops: Option<u64>,
}

/// Parses the nodes of a text.
///
/// # Errors
/// The first fault of the text.
pub fn parse(text: &[u8]) -> Result<Vec<TraceNode>, TraceFault> {
    let file: File = serde_json::from_slice(without_mark(text)).map_err(|error| TraceFault {
        place: format!("line {}, column {}", error.line(), error.column()),
        message: error.to_string(),
        help: "write the file again; it may be damaged, or no execution trace",
    })?;
    Ok(file.workload_graph.into_iter().map(JsonNode::read).collect())
}

impl JsonNode {
    fn read(self) -> TraceNode {
        TraceNode {
            id: self.id,
            name: self.name,
            kind: self.kind,
            data: self.data_deps,
            control: self.control,
            micros: self.runtime,
            is_of_host: self.is_cpu_op,
            collective: self.comm_type,
            bytes: self.comm_size,
            from: self.comm_src,
            to: self.comm_dst,
            tag: self.comm_tag,
            group: self.pg_name,
            dimensions: self.involved_dim,
            operations: self.num_ops,
        }
    }
}
