//! Documents: scenario or machine files together with the files that they include, ready to be changed and read.

use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::fault::{Faults, SourceFault};
use super::files::{self, Loader};
use super::named_files::NamedFiles;
use super::overrides::{self, TypedValue};
use super::paths;
use super::place::{Place, SourceText, Sources};
use super::reader::ValueReader;
use super::reading;
use super::tree::{Tree, TreeValue};
use parsim_sim::fault::Fault;

/// The tree of a file, with the source texts from which it was parsed.
#[derive(Clone, Debug)]
pub struct Document {
    sources: Sources,
    root: Tree,
}

impl Document {
    /// Reads a file, replaces every `File("…")` by the content of the named file, and resolves every `Like(…, {…})`.
    ///
    /// # Errors
    /// All faults of the files: unreadable, not text, too large, or not RON.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Faults> {
        let mut sources = Sources::default();
        let root = Loader::new(&mut sources).file(path.as_ref());
        Self::with(sources, root)
    }

    /// Reads a text as if it were a file of that name.
    ///
    /// # Errors
    /// All faults of the text and of the files that it names.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Faults> {
        let mut sources = Sources::default();
        let place =
            sources.add(SourceText { name: name.to_owned(), text: text.to_owned(), typed: false, origin: None });
        let root = Loader::new(&mut sources).text(place, Path::new(name));
        Self::with(sources, root)
    }

    /// Reads a text as if it were the file `path` of the set `files`. The text can name only files of this set.
    ///
    /// # Errors
    /// All faults of the text and of the files that it names.
    pub fn among(files: NamedFiles, path: &Path, text: String) -> Result<Self, Faults> {
        let mut sources = Sources::naming(files);
        let place = sources.add(SourceText { name: path.display().to_string(), text, typed: false, origin: None });
        let root = Loader::new(&mut sources).text(place, path);
        Self::with(sources, root)
    }

    /// Reads values that a program has written as RON. As on the command line, a name may be written as a text, and the
    /// values of a variant as a list. Paths of files are relative to the folder of the path `name`.
    ///
    /// # Errors
    /// All faults of the text and of the files that it names.
    pub fn from_values(name: &Path, text: String) -> Result<Self, Faults> {
        let mut sources = Sources::default();
        let shown = name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned();
        let place = sources.add(SourceText { name: shown, text, typed: true, origin: None });
        let root = Loader::new(&mut sources).text(place, name);
        Self::with(sources, root)
    }

    fn with(sources: Sources, root: Result<Tree, Vec<SourceFault>>) -> Result<Self, Faults> {
        match root {
            Ok(root) => Ok(Self { sources, root }),
            Err(list) => Err(Faults::new(sources, list)),
        }
    }

    /// Returns the whole tree.
    #[must_use]
    pub fn root(&self) -> &Tree {
        &self.root
    }

    /// Returns the files that were read, starting with the document's own file, and those that are read when the
    /// scenario is run: the files of programs and of measurements.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let read = self.sources.iter().filter(|source| !source.typed);
        let mut files: Vec<_> = read.map(|source| PathBuf::from(&source.name)).collect();
        files::named_in(&self.root, &mut files);
        files
    }

    /// Returns the files that the document may name.
    #[must_use]
    pub const fn named_files(&self) -> &NamedFiles {
        &self.sources.files
    }

    /// Returns the texts that were read.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns the value at a path such as `program.n` or `axes.0.name`. The empty path denotes the whole tree.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Tree> {
        paths::walk(&self.root, path).ok().map(|(_, tree)| tree)
    }

    /// Returns the paths of all fields with this name, except those of axes.
    #[must_use]
    pub fn paths_of(&self, name: &str) -> Vec<String> {
        let paths = self.root.paths_of(name);
        paths.into_iter().filter(|path| !path.starts_with("axes.")).collect()
    }

    /// Returns the leaf values at or below a path, each with its own path, in document order.
    #[must_use]
    pub fn leaves(&self, path: &str) -> Vec<(String, &Tree)> {
        let leaves = self.get(path).map(Tree::leaves).unwrap_or_default();
        leaves.into_iter().map(|(below, leaf)| (join(path, &below), leaf)).collect()
    }

    /// Replaces or adds the value at a path, as `--set path=text` does.
    ///
    /// # Errors
    /// The parent accepts no fields, or the text is not a value.
    pub fn set(&mut self, path: &str, text: &str) -> Result<(), SourceFault> {
        self.set_from(Path::new(""), path, text)
    }

    /// Replaces or adds the value at a path, as [`set`](Self::set) does, with a `File("…")` of the text relative to the
    /// file `from`.
    ///
    /// # Errors
    /// The parent accepts no fields, or the text is not a value.
    pub fn set_from(&mut self, from: &Path, path: &str, text: &str) -> Result<(), SourceFault> {
        self.set_by("--set", from, path, text)
    }

    /// Replaces or adds the value at a path, as [`set_from`](Self::set_from) does. `option` names the origin of the
    /// value in diagnostics.
    ///
    /// # Errors
    /// The parent accepts no fields, or the text is not a value.
    pub(in crate::scenario) fn set_by(
        &mut self,
        option: &str,
        from: &Path,
        path: &str,
        text: &str,
    ) -> Result<(), SourceFault> {
        let typed = TypedValue { option, name: path, text, origin: None };
        overrides::set(&mut self.sources, &mut self.root, path, typed, from)
    }

    /// Makes faults at other places than the values of `option` name these values, which `words` list, as a possible
    /// cause.
    pub fn suspect(&mut self, option: &str, words: &str) {
        self.sources.suspect(option, words);
    }

    /// Sets the value at a path, as [`set`](Self::set) does, to a value of the axis `name`. `option` names the origin
    /// of the value in diagnostics.
    ///
    /// # Errors
    /// The parent accepts no fields, or the text is not a value.
    pub fn set_along(&mut self, option: &str, name: &str, path: &str, text: &str) -> Result<(), SourceFault> {
        let typed = TypedValue { option, name, text, origin: None };
        overrides::set(&mut self.sources, &mut self.root, path, typed, Path::new(""))
    }

    /// Returns the value that [`set_along`](Self::set_along) would set, for use with [`set_tree`](Self::set_tree) in
    /// clones. Faults are placed at `origin`, the place in a file that the value stands for, if it does.
    ///
    /// # Errors
    /// The text is not a value.
    pub(in crate::scenario) fn meaning_along(
        &mut self,
        (option, origin): (&str, Option<Place>),
        name: &str,
        path: &str,
        text: &str,
    ) -> Result<Tree, SourceFault> {
        let typed = TypedValue { option, name, text, origin };
        overrides::meaning_of(&mut self.sources, &self.root, path, typed, Path::new(""))
    }

    /// Returns the indices of the children on the way to the value at a path. All spellings of one path have the same
    /// route.
    pub(in crate::scenario) fn route(&self, path: &str) -> Option<Vec<usize>> {
        paths::walk(&self.root, path).ok().map(|(route, _)| route)
    }

    /// Returns the document without some fields of its root. Clones of the result are cheap.
    pub(in crate::scenario) fn without(&self, fields: &[&str]) -> Self {
        let mut document = self.clone();
        document.sources.share();
        if let TreeValue::Record { fields: given, .. } = &mut document.root.node {
            given.retain(|field| !fields.contains(&field.name.text.as_str()));
        }
        document
    }

    /// Returns the document with only one field of its root.
    pub(in crate::scenario) fn only(&self, field: &str) -> Self {
        let mut document = self.clone();
        if let TreeValue::Record { fields, .. } = &mut document.root.node {
            fields.retain(|given| given.name.text == field);
        }
        document
    }

    /// Takes over the source texts of `changed`, a modified clone of this document, and returns its value at `path`.
    pub(in crate::scenario) fn adopt(&mut self, changed: Self, path: &str) -> Result<Tree, SourceFault> {
        let tree = changed.get(path).cloned().ok_or_else(|| self.fault_at(path, "it is gone", None))?;
        self.sources = changed.sources;
        Ok(tree)
    }

    /// Returns the number of values in the document.
    pub(in crate::scenario) fn size(&self) -> usize {
        self.root.size()
    }

    /// Makes clones of the document share the texts that were read.
    pub(in crate::scenario) fn share_sources(&mut self) {
        self.sources.share();
    }

    /// Replaces or adds the value at a path.
    ///
    /// # Errors
    /// The parent accepts no fields.
    pub fn set_tree(&mut self, path: &str, tree: Tree) -> Result<(), SourceFault> {
        let place = tree.place;
        paths::assign(&mut self.root, path, tree, &|_| place)
    }

    /// Reads the whole tree as a value of a plain type.
    ///
    /// # Errors
    /// All faults of the tree.
    pub fn read<T: DeserializeOwned + JsonSchema>(&self) -> Result<T, Faults> {
        self.read_at("")
    }

    /// Reads the value at a path as a value of a plain type.
    ///
    /// # Errors
    /// All faults of the value; a fault, too, if there is no value at the path.
    pub fn read_at<T: DeserializeOwned + JsonSchema>(&self, path: &str) -> Result<T, Faults> {
        let Some(tree) = self.get(path) else {
            return Err(self.faults(vec![self.fault_at(path, &format!("there is no `{path}`"), None)]));
        };
        reading::read(&self.sources, tree).map_err(|mut list| {
            for fault in &mut list {
                fault.path = join(path, &fault.path);
            }
            self.faults(list)
        })
    }

    /// Returns `true` if the value at a path can be read as a value of a plain type.
    pub(in crate::scenario) fn fits<T: DeserializeOwned>(&self, path: &str) -> bool {
        self.get(path).is_some_and(|tree| T::deserialize(ValueReader::new(tree, &self.sources)).is_ok())
    }

    /// Creates a fault at the value at a path, or at its nearest existing parent.
    #[must_use]
    pub fn fault_at(&self, path: &str, message: &str, help: Option<&str>) -> SourceFault {
        let tree = paths::nearest(&self.root, path);
        let place = if paths::walk(&self.root, path).is_ok() { tree.place } else { tree.opening() };
        let fault = SourceFault::new(message).at(place).on(path);
        match help {
            Some(help) => fault.help(help),
            None => fault,
        }
    }

    /// Creates the fault of the empty name, at a path, of a thing of some kind; `None` if the name is not empty.
    #[must_use]
    pub fn empty_name_at(&self, path: &str, of: &str, name: &str) -> Option<SourceFault> {
        let fault = Fault::of_empty_name(path, of, name)?;
        Some(self.fault_at(path, &fault.message, Some(&fault.help)))
    }

    /// Creates a fault at some bytes of the text at a path.
    #[must_use]
    pub fn fault_within(&self, path: &str, part: Range<usize>, message: &str, help: &str) -> SourceFault {
        let fault = self.fault_at(path, message, Some(help));
        match paths::walk(&self.root, path) {
            Ok((_, tree)) => fault.at(tree.part(part)),
            Err(_) => fault,
        }
    }

    /// Bundles faults with the texts in which they are shown.
    #[must_use]
    pub fn faults(&self, list: Vec<SourceFault>) -> Faults {
        Faults::new(self.sources.clone(), list)
    }
}

fn join(parent: &str, child: &str) -> String {
    match (parent, child) {
        ("", path) | (path, "") => path.to_owned(),
        _ => format!("{parent}.{child}"),
    }
}
