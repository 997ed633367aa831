//! Analytical models in closed form, without simulation.
//!
//! All quantities are plain `f64` values in seconds or bytes. The name of a field contains its unit.

pub mod collectives;
pub mod fit;
pub mod input_output;
pub mod kredel;
pub mod laws;
pub mod message;
pub mod point_to_point;
pub mod switching;
pub mod zemerly;
