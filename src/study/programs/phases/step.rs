//! The steps of which a program in a scenario consists.

use super::expression::{Expression, Size, unreadable};
use parsim_sim::program::collective;
use parsim_sim::units::TextChecks;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A step. Every rank executes all steps, unless a condition excludes it.
///
/// Expressions may use `rank`, `p`, `host`, the position `row`, `column` in the grid of `rows` × `columns` ranks,
/// `NAME_rank` and `NAME_size` of a communicator NAME, the parameters of the program or of the function, the indices of
/// enclosing loops, variables, and `source` and `number` of the message that was received last.
///
/// docs/programs.md describes the language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Step {
    /// Groups steps whose time is reported under one name.
    Phase {
        /// The name of the phase.
        name: String,
        /// The steps of the phase.
        steps: Vec<Step>,
    },
    /// Repeats steps a number of times.
    Repeat {
        /// Number of rounds.
        times: Expression,
        /// A variable that counts the rounds from 0.
        #[serde(default)]
        index: Option<String>,
        /// The repeated steps.
        steps: Vec<Step>,
    },
    /// Repeats steps as long as a condition is true.
    While {
        /// The condition. Received messages and variables can change it.
        condition: Expression,
        /// The repeated steps.
        steps: Vec<Step>,
    },
    /// Executes some steps if a condition is true on a rank, and other steps if it is false.
    When {
        /// The condition.
        condition: Expression,
        /// The steps if the condition is true.
        then: Vec<Step>,
        /// The steps if the condition is false. None by default.
        #[serde(default)]
        otherwise: Vec<Step>,
    },
    /// Computes: first moves bytes between memory and processor, then performs operations; or both at once.
    Compute {
        /// Number of floating-point operations. 0 by default.
        #[serde(default = "zero")]
        flops: Expression,
        /// Number of equal rows of a loop into which the operations are divided. 1 by default. A router may have to
        /// wait for the end of a row.
        #[serde(default)]
        rows: Option<Expression>,
        /// Number of bytes read and written, which take time if the cores of a node share a memory. 0 by default. While
        /// they move, the processor is free: it answers messages, and noise does not delay it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<Size>,
        /// Processor time in seconds, in addition to that of the operations; also that of a core that stalls. 0 by
        /// default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<Expression>,
        /// `true` if the bytes move while the processor works, as with prefetching: the step takes the longer of both
        /// times (roofline), and is loading only for what the bytes take longer. Needs `bytes`. False unless given.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        overlap: bool,
    },
    /// Sends a message and waits until the send is complete.
    Send {
        /// The receiver of the message.
        to: Expression,
        /// The length of the message.
        bytes: Size,
        /// A number that distinguishes messages. 0 by default.
        #[serde(default)]
        tag: Option<Expression>,
        /// A number contained in the message, which the receiver knows as `number`. None by default.
        #[serde(default)]
        number: Option<Expression>,
        /// The communicator in which ranks are counted. All ranks by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Receives a message and waits until it has arrived.
    Receive {
        /// The sender of the message, or any.
        from: Source,
        /// The tag of the message. 0 by default.
        #[serde(default)]
        tag: Option<Expression>,
        /// The communicator in which ranks are counted. All ranks by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Starts to send a message and continues.
    Isend {
        /// The receiver of the message.
        to: Expression,
        /// The length of the message.
        bytes: Size,
        /// A number that distinguishes messages. 0 by default.
        #[serde(default)]
        tag: Option<Expression>,
        /// A number contained in the message, which the receiver knows as `number`. None by default.
        #[serde(default)]
        number: Option<Expression>,
        /// The name by which the operation can be waited for. By default only `Waitall` waits for it.
        #[serde(default)]
        request: Option<String>,
        /// The communicator in which ranks are counted. All ranks by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Starts to receive a message and continues.
    Irecv {
        /// The sender of the message, or any.
        from: Source,
        /// The tag of the message. 0 by default.
        #[serde(default)]
        tag: Option<Expression>,
        /// The name by which the operation can be waited for. By default only `Waitall` waits for it.
        #[serde(default)]
        request: Option<String>,
        /// The communicator in which ranks are counted. All ranks by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Waits for all operations that have begun under a name, in the order in which they began.
    Wait {
        /// The name of the operations.
        request: String,
    },
    /// Waits until the first of the operations that have begun under a name is complete.
    Waitany {
        /// The name of the operations.
        request: String,
    },
    /// Waits for all operations that have begun.
    Waitall,
    /// Lets all non-blocking collective operations of the rank advance as far as they can without waiting. It takes only
    /// the processor's work for their messages, and the operations that have begun under the name still have to be waited
    /// for.
    Test {
        /// The name of the operations.
        request: String,
    },
    /// Sends a message to every neighbour and receives one from each of them, concurrently.
    Exchange {
        /// The neighbours.
        with: Neighbours,
        /// The length of each message.
        bytes: Size,
    },
    /// Starts to exchange messages with every neighbour and continues.
    Iexchange {
        /// The neighbours.
        with: Neighbours,
        /// The length of each message.
        bytes: Size,
        /// The name by which the messages can be waited for. By default only `Waitall` waits for them.
        #[serde(default)]
        request: Option<String>,
    },
    /// Performs a collective operation with all ranks, or with those of a communicator.
    Collective {
        /// The operation.
        operation: collective::CollectiveOperation,
        /// The size of the operation; see [`CollectiveOperation`](collective::CollectiveOperation).
        bytes: Size,
        /// The rank that sends or collects. 0 by default.
        #[serde(default)]
        root: Option<Expression>,
        /// The communicator in which ranks are counted. All ranks by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Starts a collective operation and continues. It advances when it begins, while the rank waits in steps with
    /// messages, and in `Test`, but not while the rank computes, as with a library without a progress thread. All ranks
    /// have to start it as a non-blocking one.
    Icollective {
        /// The operation.
        operation: collective::CollectiveOperation,
        /// The size of the operation; see [`CollectiveOperation`](collective::CollectiveOperation).
        bytes: Size,
        /// The rank that sends or collects. 0 by default.
        #[serde(default)]
        root: Option<Expression>,
        /// The name by which the operation can be waited for. By default only `Waitall` waits for it.
        #[serde(default)]
        request: Option<String>,
        /// The communicator in which ranks are counted. All ranks by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        communicator: Option<String>,
    },
    /// Reads data on the host.
    Input {
        /// Number of bytes.
        bytes: Size,
    },
    /// Writes data on the host.
    Output {
        /// Number of bytes.
        bytes: Size,
    },
    /// Assigns a value to a variable. An unknown variable is declared up to the end of the list of steps.
    Let {
        /// The name of the variable.
        name: String,
        /// The value to assign.
        value: Expression,
    },
    /// Assigns a random value to a variable, which is declared as by `Let`.
    Draw {
        /// The name of the variable.
        name: String,
        /// The distribution of the value.
        from: ProbabilityDistribution,
        /// The name of the stream of random numbers. By default the name of the variable. Every rank has separate
        /// streams.
        #[serde(default)]
        stream: Option<String>,
    },
    /// Executes the steps of a function.
    Call {
        /// The name of the function.
        function: String,
        /// The values of the parameters of the function.
        #[serde(default)]
        arguments: BTreeMap<String, Expression>,
    },
}

/// Returns the default of fields that count operations: 0.
fn zero() -> Expression {
    Expression::new("0").expect("a number is an expression")
}

/// A distribution of random numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum ProbabilityDistribution {
    /// Uniformly distributed real numbers; the upper bound is excluded.
    Uniform {
        /// The lower bound.
        from: Expression,
        /// The upper bound.
        to: Expression,
    },
    /// Uniformly distributed integers; both bounds are included.
    Integer {
        /// The smallest value.
        from: Expression,
        /// The largest value.
        to: Expression,
    },
    /// 1 with a given probability, otherwise 0.
    Bernoulli {
        /// The probability of 1.
        probability: Expression,
    },
    /// Exponential distribution: the time between independent events.
    Exponential {
        /// The mean.
        mean: Expression,
    },
    /// Normal distribution.
    Normal {
        /// The mean.
        mean: Expression,
        /// The standard deviation.
        deviation: Expression,
    },
    /// Log-normal distribution.
    LogNormal {
        /// The mean of the numbers, not of their logarithms.
        mean: Expression,
        /// The standard deviation of the numbers, not of their logarithms.
        deviation: Expression,
    },
    /// Gamma distribution. For an integer shape this is the sum of that many exponential variables (Erlang
    /// distribution).
    Gamma {
        /// The shape.
        shape: Expression,
        /// The mean.
        mean: Expression,
    },
    /// Weibull distribution.
    Weibull {
        /// The shape.
        shape: Expression,
        /// The scale.
        scale: Expression,
    },
    /// Pareto distribution: a few values are much larger than most.
    Pareto {
        /// The shape.
        shape: Expression,
        /// The smallest value.
        scale: Expression,
    },
    /// Poisson distribution: the number of independent events in an interval.
    Poisson {
        /// The mean.
        mean: Expression,
    },
}

/// A function: named steps that `Call` executes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepFunction {
    /// The names of the parameters.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// The steps of the function.
    pub steps: Vec<Step>,
}

/// A division of the ranks into groups, as by `MPI_Comm_split`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommunicatorSplit {
    /// The colour of a rank. Ranks of the same colour form a group; a rank with a negative colour is in no group.
    pub color: Expression,
    /// The key by which the ranks of a colour are ordered. By default they are ordered by rank.
    #[serde(default)]
    pub key: Option<Expression>,
}

/// The partners of a rank in an exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Neighbours {
    /// The previous and the next rank, if they exist.
    Line,
    /// The previous and the next rank, modulo p.
    Ring,
    /// The left and right neighbours in the grid of ranks, if they exist.
    LeftAndRight,
    /// The upper and lower neighbours in the grid of ranks, if they exist.
    AboveAndBelow,
    /// All four neighbours in the grid of ranks, if they exist.
    Grid,
    /// All four neighbours in the grid of ranks, which is closed to a torus.
    Torus,
    /// The neighbours in a grid of any number of dimensions, two along each, as in a communicator of `MPI_Cart_create`.
    /// `bytes` may use `dimension`, the number of the dimension along which a message is sent, from 0, and `side`, the
    /// number of ranks along it.
    Cartesian {
        /// The number of ranks along each dimension; the last one varies fastest. Those that are 0 are chosen as by
        /// `MPI_Dims_create`: as equal as possible, in descending order. The same on all ranks.
        shape: Vec<Expression>,
        /// For each dimension, whether the first and the last rank are neighbours. By default none is periodic.
        #[serde(default)]
        periodic: Vec<bool>,
    },
}

/// The source from which a message is received.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Any rank: `Any`.
    Any,
    /// The rank given by an expression.
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
