//! Closed forms only: no event is scheduled here.
//!
//! Inside, every quantity is a plain `f64` in seconds or bytes; a field's name carries its unit.

pub mod collectives;
pub mod fit;
pub mod input_output;
pub mod kredel;
pub mod laws;
pub mod message;
pub mod point_to_point;
pub mod switching;
pub mod zemerly;
