//! Output for the user: records as JSON, JSON Lines, CSV or a table, a run in words, pictures, and a page that combines
//! them.

mod accounts;
mod animation;
mod bottleneck;
pub mod cluster;
mod columnar;
pub mod comparison;
pub mod contour;
pub mod critical_path;
mod drawing;
mod export;
pub mod figures;
mod format;
mod frame;
mod heat_map;
mod horizontal_axis;
pub mod latency_load;
mod lettering;
mod lines;
mod page;
mod panels;
pub mod perfetto;
pub mod plot;
mod reference;
mod rows;
mod run;
pub mod scaling;
mod sources;
pub mod space_time;
mod summary;
mod table;
pub mod tables;
pub mod tornado;
pub mod whiskers;

pub use accounts::write_accounts;
pub use animation::Animation;
pub use bottleneck::{BottleneckCurve, BottleneckPoint};
#[cfg(feature = "arrow")]
pub use columnar::ArrayTable;
pub use columnar::Columns;
pub use drawing::Drawing;
pub use export::{ExportError, TimeIndependentTrace, write_goal};
pub use format::{Format, Writer};
pub use heat_map::HeatMap;
pub use horizontal_axis::HorizontalAxis;
pub use lettering::{Lettered, Lettering};
pub use lines::widest;
pub use page::{Chapter, Figure, LIVE_SCRIPT, Picture, STYLE, Section, Statement, page, page_of_figure};
pub use panels::{MAX_PANELS, Panels};
pub use parsim_sim::units::counted;
pub use reference::reference;
pub use rows::{RowSink, RowWriter};
pub use run::{ReferenceTarget, ReferenceValue, RunReport};
pub use sources::write_sources;
pub use summary::table;
pub use table::{TextTable, digits, percent, signed_us, time, wrapped};
