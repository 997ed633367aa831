//! Scenario files as trees with places, so that every fault can say where it stands.
//!
//! A [`Document`] is loaded from a RON file, with the files it names by `File("…")` put in their place, and
//! `Like(File("…"), {"path": value})` is what that file describes but for the values at these paths;
//! it is changed by `path=value` overrides and then read into plain serde types.
//! Whatever is wrong comes back as [`Faults`]: all of them at once, each with file, line and column.
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
pub use place::{Place, Position, SourceText, Sources};
pub(super) use spelling::camel_case;
pub use standard_input::{STANDARD_INPUT, is_standard_input, standard_input};
pub use tree::{Name, Tree, TreeField, TreeValue};
