//! Pictures of experiments: curves of cases along an axis, parts of a run, degrees of parallelism.

pub(in crate::experiment) mod animation;
pub(in crate::experiment) mod curves;
pub(in crate::experiment) mod degrees;
pub(in crate::experiment) mod window;

pub use animation::{MAX_BYTES_ALONE, animated_figure};
pub use curves::{CurveAxis, CurveTime, OFFERED, TimeLines};
pub use degrees::{check_critical_times, degrees_of_parallelism};
pub use window::drawn_window;
