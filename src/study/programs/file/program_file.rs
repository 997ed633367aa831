//! The path of a file in the description of a program.

use super::cache::FileCache;
use super::digest::digest_of_program;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::path::{self, Path};

/// The path of a file or a folder from which a program is read, relative to the scenario or, on the command line, to
/// the current folder.
///
/// In the id of a case, the file is represented by the hash of its contents instead of its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ProgramFile(String);

impl schemars::JsonSchema for ProgramFile {
    fn schema_name() -> Cow<'static, str> {
        "ProgramFile".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

impl Serialize for ProgramFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.digest().serialize(serializer);
        }
        write_whole_path(&self.0, serializer)
    }
}

/// Writes a path as an absolute one, because the scenario may be read from another folder.
///
/// # Errors
/// Returns the error of the serializer.
pub fn write_whole_path<S: Serializer>(file: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = path::absolute(file).ok().and_then(|path| path.into_os_string().into_string().ok());
    whole.as_deref().unwrap_or(file).serialize(serializer)
}

impl ProgramFile {
    /// Creates a reference to the file at a path.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Returns the name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns a hash of the contents, or `None` if they cannot be read.
    fn digest(&self) -> Option<String> {
        static DIGESTS: FileCache<String> = FileCache::new();
        let digest = DIGESTS.get(self.path(), (), || digest_of_program(self.path()));
        digest.ok().map(|digest| digest.to_string())
    }
}
