//! The steps that a program in a scenario is made of.

use super::expression::{Expression, Size, unreadable};
use parsim_sim::program::collective;
use parsim_sim::units::TextChecks;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// One step; every rank takes all of them, unless a condition says otherwise.
///
/// Expressions may use `rank`, `p`, `host`, the place `row`, `column` in the grid of `rows` ×
/// `columns` ranks, the parameters of the program, the indices of the loops around, and `source`
/// and `number` of the message that was received last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Step {
    /// Steps whose time a report shows under one name.
    Phase {
        /// The name.
        name: String,
        /// The steps.
        steps: Vec<Step>,
    },
    /// Steps taken again and again.
    Repeat {
        /// Number of rounds.
        times: Expression,
        /// A variable that counts the rounds from 0.
        #[serde(default)]
        index: Option<String>,
        /// The steps.
        steps: Vec<Step>,
    },
    /// Steps taken as long as a condition holds.
    While {
        /// The condition; only a received message can change it.
        condition: Expression,
        /// The steps.
        steps: Vec<Step>,
    },
    /// Steps taken by the ranks for which a condition holds, and others by the others.
    When {
        /// The condition.
        condition: Expression,
        /// The steps where it holds.
        then: Vec<Step>,
        /// The steps where it does not.
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    /// Computes.
    Compute {
        /// The number of floating-point operations.
        flops: Expression,
        /// In how many equal rows of a loop; one unless given. A router may have to wait for the
        /// end of a row.
        #[serde(default)]
        rows: Option<Expression>,
    },
    /// Sends a message and waits until the send is complete.
    Send {
        /// The receiver.
        to: Expression,
        /// Its length.
        bytes: Size,
        /// A number that distinguishes it from others; 0 unless given.
        #[serde(default)]
        tag: Option<Expression>,
        /// A number in it, which the receiver knows as `number`.
        #[serde(default)]
        number: Option<Expression>,
    },
    /// Waits for a message.
    Receive {
        /// The sender, or any.
        from: Source,
        /// Its tag; 0 unless given.
        #[serde(default)]
        tag: Option<Expression>,
    },
    /// Sends to all neighbours at once and waits for what they send.
    Exchange {
        /// The neighbours.
        with: Neighbours,
        /// The length of each message.
        bytes: Size,
    },
    /// Takes part in a collective operation with all ranks.
    Collective {
        /// The operation.
        operation: collective::CollectiveOperation,
        /// Its size; see [`CollectiveOperation`](collective::CollectiveOperation).
        bytes: Size,
        /// The rank that sends or collects; 0 unless given.
        #[serde(default)]
        root: Option<Expression>,
    },
    /// Has the host read.
    Input {
        /// Number of bytes.
        bytes: Size,
    },
    /// Has the host write.
    Output {
        /// Number of bytes.
        bytes: Size,
    },
}

/// Partners of a rank in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Neighbours {
    /// The rank before and the one after, if there are any.
    Line,
    /// The rank before and the one after, modulo p.
    Ring,
    /// Those to the left and right in the grid of ranks, if there are any.
    LeftAndRight,
    /// Those above and below in the grid of ranks, if there are any.
    AboveAndBelow,
    /// All four in the grid of ranks, if there are any.
    Grid,
    /// All four in the grid of ranks, closed to a torus.
    Torus,
}

/// From whom a message is received.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// From any rank: `Any`.
    Any,
    /// From the rank with this number.
    Rank(Expression),
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => sink.serialize_str("Any"),
            Self::Rank(rank) => rank.serialize(sink),
        }
    }
}

impl schemars::JsonSchema for Source {
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        TextChecks::add::<Self>(generator);
        schemars::json_schema!({
            "type": ["string", "integer"],
            "description": "`Any` or the expression of a rank, such as \"rank - 1\"",
        })
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct AnyOrRank;
        impl Visitor<'_> for AnyOrRank {
            type Value = Source;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`Any` or the expression of a rank, such as \"rank - 1\"")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Source, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Source, E> {
                self.visit_str(&value.to_string())
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Source, E> {
                if text == "Any" {
                    return Ok(Source::Any);
                }
                Expression::new(text).map(Source::Rank).map_err(|fault| unreadable(&fault))
            }
        }
        source.deserialize_any(AnyOrRank)
    }
}
