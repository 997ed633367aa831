//! The steps that a program in a scenario is made of.

use super::expression::{Expression, Size, unreadable};
use parsim_sim::program::collective;
use parsim_sim::units::TextChecks;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// One step; every rank takes all of them, unless a condition says otherwise.
///
/// Expressions may use `rank`, `p`, `host`, the place `row`, `column` in the grid of `rows` ×
/// `columns` ranks, `NAME_rank` and `NAME_size` of a communicator NAME, the parameters of the program or of the function,
/// the indices of the loops around, variables, and `source` and `number` of the message that was received last.
///
/// docs/programs.md describes the language.
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
        /// The condition; a received message or a variable can change it.
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
    /// Computes: first moves bytes between memory and processor, then operates.
    Compute {
        /// The number of floating-point operations; none unless given.
        #[serde(default = "zero")]
        flops: Expression,
        /// In how many equal rows of a loop; one unless given. A router may have to wait for the
        /// end of a row.
        #[serde(default)]
        rows: Option<Expression>,
        /// Bytes read and written, which take time where the cores of a node share a memory; nothing unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<Size>,
        /// Time of the processor in seconds, beside that of the operations; none unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<Expression>,
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
        /// The communicator in which ranks are counted; all ranks unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Waits for a message.
    Receive {
        /// The sender, or any.
        from: Source,
        /// Its tag; 0 unless given.
        #[serde(default)]
        tag: Option<Expression>,
        /// The communicator in which ranks are counted; all ranks unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Begins to send a message and goes on.
    Isend {
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
        /// The name by which it is waited for; only `Waitall` waits for it unless given.
        #[serde(default)]
        request: Option<String>,
        /// The communicator in which ranks are counted; all ranks unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Begins to receive a message and goes on.
    Irecv {
        /// The sender, or any.
        from: Source,
        /// Its tag; 0 unless given.
        #[serde(default)]
        tag: Option<Expression>,
        /// The name by which it is waited for; only `Waitall` waits for it unless given.
        #[serde(default)]
        request: Option<String>,
        /// The communicator in which ranks are counted; all ranks unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Waits for all operations that have begun under a name, in the order in which they began.
    Wait {
        /// The name.
        request: String,
    },
    /// Waits for the first operation that has begun under a name to be complete.
    Waitany {
        /// The name.
        request: String,
    },
    /// Waits for all operations that have begun.
    Waitall,
    /// Sends to all neighbours at once and waits for what they send.
    Exchange {
        /// The neighbours.
        with: Neighbours,
        /// The length of each message.
        bytes: Size,
    },
    /// Takes part in a collective operation with all ranks, or with those of a communicator.
    Collective {
        /// The operation.
        operation: collective::CollectiveOperation,
        /// Its size; see [`CollectiveOperation`](collective::CollectiveOperation).
        bytes: Size,
        /// The rank that sends or collects; 0 unless given.
        #[serde(default)]
        root: Option<Expression>,
        /// The communicator in which ranks are counted; all ranks unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
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
    /// Gives a value to a variable, which it declares up to the end of the list of steps unless it is known there.
    Let {
        /// The name.
        name: String,
        /// The value.
        value: Expression,
    },
    /// Gives a random value to a variable, as `Let` does.
    Draw {
        /// The name.
        name: String,
        /// The distribution.
        from: ProbabilityDistribution,
        /// The name of the stream of random numbers; that of the variable unless given. Every rank has its own.
        #[serde(default)]
        stream: Option<String>,
    },
    /// Takes the steps of a function.
    Call {
        /// Its name.
        function: String,
        /// The values of its parameters.
        #[serde(default)]
        arguments: BTreeMap<String, Expression>,
    },
}

/// No operations.
fn zero() -> Expression {
    Expression::new("0").expect("a number is an expression")
}

/// A distribution of random numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum ProbabilityDistribution {
    /// Real numbers with equal probability, the upper bound excluded.
    Uniform {
        /// The lower bound.
        from: Expression,
        /// The upper bound.
        to: Expression,
    },
    /// Whole numbers with equal probability, both bounds included.
    Integer {
        /// The least.
        from: Expression,
        /// The largest.
        to: Expression,
    },
    /// 1 with a probability, else 0.
    Bernoulli {
        /// The probability of 1.
        probability: Expression,
    },
    /// Exponential: the time to the next of events that know nothing of each other.
    Exponential {
        /// The mean.
        mean: Expression,
    },
    /// Normal.
    Normal {
        /// The mean.
        mean: Expression,
        /// The standard deviation.
        deviation: Expression,
    },
    /// Log-normal.
    LogNormal {
        /// The mean of the numbers, not of their logarithms.
        mean: Expression,
        /// The standard deviation of the numbers.
        deviation: Expression,
    },
    /// Gamma: for a whole shape the sum of so many exponential ones (Erlang).
    Gamma {
        /// The shape.
        shape: Expression,
        /// The mean.
        mean: Expression,
    },
    /// Weibull.
    Weibull {
        /// The shape.
        shape: Expression,
        /// The scale.
        scale: Expression,
    },
    /// Pareto: few are much larger than most.
    Pareto {
        /// The shape.
        shape: Expression,
        /// The least.
        scale: Expression,
    },
    /// Poisson: the number of events of an interval.
    Poisson {
        /// The mean.
        mean: Expression,
    },
}

/// Steps with a name, which `Call` takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepFunction {
    /// The names of its parameters.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A division of the ranks, as by `MPI_Comm_split`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommunicatorSplit {
    /// The colour: ranks of one are together; none for a negative one.
    pub color: Expression,
    /// The order of the ranks of a colour; that of their numbers unless given.
    #[serde(default)]
    pub key: Option<Expression>,
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
