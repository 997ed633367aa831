//! The protobuf form of an execution trace: metadata, followed by the nodes, each preceded by its length.
//!
//! The numbers of the fields are those of `schema/protobuf/et_def.proto` of Chakra. Fields that are not listed here are
//! ignored.

use super::trace::{TraceFault, TraceNode};
use prost::Message;

#[derive(Clone, PartialEq, Message)]
struct ChakraMetadata {
    #[prost(bytes = "vec", tag = "1")]
    version: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ChakraNode {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(bytes = "vec", tag = "2")]
    name: Vec<u8>,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    control: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    data: Vec<u64>,
    #[prost(uint64, tag = "7")]
    micros: u64,
    #[prost(message, repeated, tag = "10")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(bytes = "vec", tag = "1")]
    name: Vec<u8>,
    #[prost(oneof = "ChakraValue", tags = "7, 9, 11, 13, 27, 28, 29")]
    value: Option<ChakraValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum ChakraValue {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(bool, tag = "27")]
    Flag(bool),
    #[prost(message, tag = "28")]
    Flags(Flags),
    #[prost(bytes = "vec", tag = "29")]
    Text(Vec<u8>),
}

#[derive(Clone, PartialEq, Message)]
struct Flags {
    #[prost(bool, repeated, tag = "1")]
    values: Vec<bool>,
}

/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Parses the nodes of a file.
///
/// # Errors
/// The first fault of the file.
pub fn parse(file: &[u8]) -> Result<Vec<TraceNode>, TraceFault> {
    if file.starts_with(&GZIP) {
        return Err(TraceFault {
            place: "byte 0".to_owned(),
            message: "the file is compressed".to_owned(),
            help: "decompress it with `gunzip` first",
        });
    }
    let mut rest = file;
    let (at, first) = next(file, &mut rest)?;
    ChakraMetadata::decode(first).map_err(|error| broken(at, &error.to_string()))?;
    let mut nodes = Vec::new();
    while !rest.is_empty() {
        let (at, message) = next(file, &mut rest)?;
        let node = ChakraNode::decode(message).map_err(|error| broken(at, &error.to_string()))?;
        nodes.push(node.read().map_err(|message| broken(at, &message))?);
    }
    Ok(nodes)
}

/// Splits off the next message, and returns it with its position.
fn next<'f>(file: &'f [u8], rest: &mut &'f [u8]) -> Result<(usize, &'f [u8]), TraceFault> {
    let at = file.len() - rest.len();
    let length = prost::decode_length_delimiter(&mut *rest).map_err(|error| broken(at, &error.to_string()))?;
    if length > rest.len() {
        let message = format!("{length} bytes should follow, and there are {}", rest.len());
        return Err(broken(at, &message));
    }
    let (message, behind) = rest.split_at(length);
    *rest = behind;
    Ok((at, message))
}

fn broken(at: usize, message: &str) -> TraceFault {
    let help = "write the file again; it may be damaged, or no execution trace";
    TraceFault { place: format!("byte {at}"), message: message.to_owned(), help }
}

impl ChakraNode {
    fn read(self) -> Result<TraceNode, String> {
        let mut node = TraceNode {
            id: self.id,
            name: String::from_utf8_lossy(&self.name).into_owned(),
            kind: u64::try_from(self.kind).map_err(|_| format!("{} is not a kind of node", self.kind))?,
            data: self.data,
            control: self.control,
            micros: Some(self.micros),
            ..TraceNode::default()
        };
        for Attribute { name, value } in self.attributes {
            let number = || number(&name, value.as_ref());
            match name.as_slice() {
                b"is_cpu_op" => node.is_of_host = number()? != 0,
                b"comm_type" => node.collective = Some(number()?),
                b"comm_size" => node.bytes = Some(number()?),
                b"comm_src" => node.from = Some(number()?),
                b"comm_dst" => node.to = Some(number()?),
                b"comm_tag" => node.tag = Some(number()?),
                b"num_ops" => node.operations = Some(number()?),
                b"pg_name" => match value {
                    Some(ChakraValue::Text(text)) => node.group = Some(String::from_utf8_lossy(&text).into_owned()),
                    _ => return Err("`pg_name` is no text".to_owned()),
                },
                b"involved_dim" => match value {
                    Some(ChakraValue::Flags(Flags { values })) => node.dimensions = values,
                    _ => return Err("`involved_dim` is not a list of truth values".to_owned()),
                },
                _ => {}
            }
        }
        Ok(node)
    }
}

fn number(name: &[u8], value: Option<&ChakraValue>) -> Result<u64, String> {
    let number = match value {
        Some(ChakraValue::Int32(number)) => u64::try_from(*number).ok(),
        Some(ChakraValue::Int64(number)) => u64::try_from(*number).ok(),
        Some(ChakraValue::Uint32(number)) => Some((*number).into()),
        Some(ChakraValue::Uint64(number)) => Some(*number),
        Some(ChakraValue::Flag(flag)) => Some((*flag).into()),
        _ => None,
    };
    number.ok_or_else(|| format!("`{}` is not a nonnegative number", name.escape_ascii()))
}
