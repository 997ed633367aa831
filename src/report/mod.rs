//! What a user gets to see: records as JSON, JSON Lines, CSV or a table, and a run in words.

mod drawing;
mod format;
mod record;
mod run;
mod table;

pub use drawing::Drawing;
pub use format::{Format, Writer};
pub use record::{Metadata, Record};
pub use run::{Compared, RunReport};
pub use table::{Table, digits, percent};
