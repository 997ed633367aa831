//! Files from which programs are read.

mod cache;
mod digest;
mod lists;
mod program_file;
mod ranks;
mod reading;

pub use cache::{CachedValue, FileCache};
pub use digest::{digest_of_file, digest_of_text};
pub use lists::listed_in;
pub use program_file::{ProgramFile, write_whole_path};
pub use ranks::{MAX_RANKS, files_of_ranks};
pub use reading::{BYTE_ORDER_MARK, RELATIVE, open, without_mark};
