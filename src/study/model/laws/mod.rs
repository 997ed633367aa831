//! Laws of speedup: what the number of processors can and cannot buy.
//!
//! Source: the slides "Performance analysis" (speedup, Amdahl, Gustafson-Barsis, Karp-Flatt, isoefficiency), whose
//! formulas are images; every function names the slide that its formula belongs to. Symbols, all for a problem of
//! size n on p processors:
//!
//! | symbol | here | unit | slide |
//! | --- | --- | --- | --- |
//! | σ(n) | `serial_s`: inherently sequential computation | s | 6 |
//! | φ(n) | `parallel_s`: computation that can be divided | s | 6 |
//! | κ(n, p) | `overhead_s`: communication and other overhead of each processor | s | 6 |
//! | ψ(n, p) | `speedup` | – | 11 |
//! | ε(n, p) | `efficiency` = ψ / p | – | 12 |
//! | f | `serial_fraction` of the *sequential* execution, σ / (σ + φ) | – | 23 |
//! | s | `serial_share` of the *parallel* execution, σ / (σ + φ / p) | – | 38 |
//! | e | `serial_fraction` determined by experiment | – | 55 |
//! | `T_0(n, p)` | `total overhead`, (p − 1) σ + p κ | s | 69 |
//! | C | the constant of the isoefficiency relation, ε / (1 − ε) | – | 69 |
//!
//! Numbers of processors are `f64`, so that a law can also be asked for infinitely many.

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

pub use knee::{OverheadLaw, knee};
pub use scaling::ScaledWork;
pub use series::{Base, KarpFlattVerdict, SeriesPoint, SpeedupPoint, SpeedupSeries, Trend};
pub use speedup::{TimeParts, efficiency, speedup};
