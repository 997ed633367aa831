//! Quantities with their units: types in the code, text in a scenario.
//!
//! Every quantity is an exact integer or a ratio of integers. It is converted once per operation, in wide integers, and
//! rounded to the nearest picosecond. Truncated clock periods or times per byte are never stored.

mod bytes;
mod characters;
#[cfg(feature = "schema")]
mod checks;
mod count;
mod real;
mod spelling;
mod text;
mod time;
mod work;

pub use bytes::{BitRate, BitTimes, Bytes, PerByte};
pub use characters::{escaped, escaped_lines, first_control};
#[cfg(feature = "schema")]
pub use checks::{TextCheck, TextChecks};
pub use count::counted;
pub use real::real;
pub use spelling::nearest;
pub use text::QuantityError;
pub use time::{PS_PER_S, SimDuration, SimTime, TotalTime};
pub use work::{Cycles, FlopRate, Hertz};
