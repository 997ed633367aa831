//! Scenario files as trees with places, so that every fault can be reported where it occurs.
//!
//! A [`Document`] is loaded from a RON file. Every `File("…")` in it is replaced by the content of the named file, and
//! every `Like(File("…"), {"path": value})` by that content with the values at these paths changed. The document can
//! then be changed by `path=value` overrides and read into plain serde types. Errors are returned as [`Faults`]: all
//! faults at once, each with file, line and column.
//!
//! ```
//! use parsim_study::scenario::source::Document;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Scenario {
//!     ranks: u32,
//! }
//!
//! let mut document = Document::from_text("a.ron", "Scenario(ranks: 4)").unwrap();
//! document.set("ranks", "8").unwrap();
//! assert_eq!(document.read::<Scenario>().unwrap().ranks, 8);
//! ```

mod document;
mod fault;
mod files;
mod graph_file;
mod named_files;
mod number;
mod overrides;
mod paths;
mod place;
mod rank_file;
mod read_error;
mod reader;
mod reading;
mod shape;
mod snippet;
mod spelling;
mod standard_input;
mod syntax;
mod texts;
mod tokens;
mod tree;
mod walk;
mod words;

pub use document::Document;
pub use fault::{FaultEntry, Faults, SourceFault};
pub use files::open_regular;
pub use named_files::NamedFiles;
pub(crate) use paths::is_within;
pub use place::{Place, Position, SourceText, Sources};
pub(super) use spelling::{advice, camel_case};
pub use standard_input::{STANDARD_INPUT, is_standard_input, standard_input};
pub use tree::{Name, Tree, TreeField, TreeValue};
