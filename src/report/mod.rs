//! What a user gets to see: records as JSON, JSON Lines, CSV or a table, a run in words, and pictures.

mod bottleneck;
pub mod cluster;
pub mod contour;
mod drawing;
pub mod figures;
mod format;
mod heat_map;
pub mod latency_load;
pub mod plot;
mod record;
mod run;
mod table;

pub use bottleneck::{BottleneckCurve, BottleneckPoint};
pub use drawing::Drawing;
pub use format::{Format, Writer};
pub use heat_map::HeatMap;
pub use record::{Metadata, Record};
pub use run::{Beside, Compared, RunReport};
pub use table::{Table, digits, percent};
