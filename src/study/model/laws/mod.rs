//! Laws of speedup: the benefit of further processors and its limits.

pub mod amdahl;
pub mod gustafson;
pub mod isoefficiency;
pub mod karp_flatt;
mod knee;
mod scaling;
mod series;
mod speedup;
#[cfg(test)]
mod tests;

pub use knee::{CommunicationLaw, knee};
pub use scaling::ScaledWork;
pub use series::{Base, KarpFlattVerdict, RequestedBase, ScaledPoint, SeriesPoint, SpeedupPoint, SpeedupSeries, Trend};
pub use speedup::{TimeParts, efficiency, speedup};
