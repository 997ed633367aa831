//! Reading of files and their inclusions. Every `File("…")` is replaced by the tree of the named file,
//! `Like(File("…"), {"path": value})` by that tree with some values changed, and `RankFile("…")` and `GraphFile("…")`
//! by the placement and the topology that the lines of the named files describe.

use std::path::{Path, PathBuf};

use super::fault::SourceFault;
use super::graph_file;
use super::named_files::{NamedFiles, normalised};
use super::paths;
use super::place::{Place, SourceText, Sources};
use super::rank_file;
use super::spelling::excerpt;
use super::standard_input::{STANDARD_INPUT, is_standard_input};
use super::syntax;
use super::texts;
use super::tree::{Tree, TreeValue};

use crate::programs::RELATIVE;
use regular::{LARGEST, UnreadableFile, read, read_standard};

mod regular;

#[cfg(test)]
mod tests;

pub use regular::open_regular;

const LARGEST_TOGETHER: usize = 4 << 20;
const MAX_FILES: usize = 1000;
const DEEPEST: usize = 8;
/// Readers of values that are described by the lines of one or two plain files, by the name of the value.
const LINE_READERS: [(&str, LinesReader); 2] = [("RankFile", rank_file::placement), ("GraphFile", graph_file::graph)];
/// The comparison with measurements, which takes the path of their file.
const MEASURED: &str = "Measured";
/// Programs that are read from files, with the field that holds the path.
const FILE_PROGRAMS: [(&str, &str); 4] =
    [("Goal", "file"), ("TimeIndependent", "file"), ("MpiTrace", "folder"), ("Chakra", "folder")];
type LinesReader = fn(Place, &Sources, Place, Option<Place>) -> Result<Tree, Vec<SourceFault>>;
/// Maximum number of changes in a `Like`, each of which requires a search for its path.
const MAX_CHANGES: usize = 1000;

/// Reads a file and the files that it names.
pub(super) struct Loader<'a> {
    sources: &'a mut Sources,
    faults: Vec<SourceFault>,
    open: Vec<PathBuf>,
    bytes: usize,
    files: usize,
}

impl<'a> Loader<'a> {
    pub fn new(sources: &'a mut Sources) -> Self {
        Self { sources, faults: Vec::new(), open: Vec::new(), bytes: 0, files: 0 }
    }

    /// Returns the tree of a file.
    pub fn file(mut self, path: &Path) -> Result<Tree, Vec<SourceFault>> {
        let tree = self.load(path, None);
        self.finish(tree)
    }

    /// Returns the tree of the text at `place`, the content of the file `path`.
    pub fn text(mut self, place: Place, path: &Path) -> Result<Tree, Vec<SourceFault>> {
        let size = place.end - place.start;
        if size as u64 > LARGEST {
            let message = format!("the text has {size} bytes; the limit is {LARGEST} bytes (4 MiB)");
            self.fault(Some(Place { end: place.start, ..place }), &message, None);
            return self.finish(None);
        }
        self.open.extend(self.sources.files.real(path));
        let tree = self.parse(place, path);
        self.finish(tree)
    }

    fn finish(self, tree: Option<Tree>) -> Result<Tree, Vec<SourceFault>> {
        tree.filter(|_| self.faults.is_empty()).ok_or(self.faults)
    }

    /// Returns the tree of a file, which may be the standard input.
    fn load(&mut self, path: &Path, asked_at: Option<Place>) -> Option<Tree> {
        let place = self.text_of_file(path, asked_at)?;
        self.open.push(self.sources.files.real(path).unwrap_or_else(|_| path.to_owned()));
        let tree = self.parse(place, path);
        self.open.pop();
        tree
    }

    /// Reads a file and returns the place of its whole text.
    fn text_of_file(&mut self, path: &Path, asked_at: Option<Place>) -> Option<Place> {
        let is_standard = asked_at.is_none() && is_standard_input(path);
        let name = if is_standard { STANDARD_INPUT.to_owned() } else { name_of(path, &self.sources.files) };
        self.files += 1;
        match if is_standard { read_standard() } else { read_among(&self.sources.files, path) } {
            Ok(text) => {
                self.bytes += text.len();
                Some(self.sources.add(SourceText { name, text, typed: false, origin: None }))
            }
            Err(UnreadableFile::NotText { readable, at }) => {
                let whole = self.sources.add(SourceText { name, text: readable, typed: false, origin: None });
                let place = Place { start: at, end: at + '\u{fffd}'.len_utf8(), ..whole };
                self.fault(Some(place), "the file is not UTF-8 text: this byte is invalid", None);
                None
            }
            Err(UnreadableFile::Missing) => {
                let message = format!("there is no file `{}`", excerpt(&name));
                let help = asked_at.map(|_| RELATIVE);
                self.fault(asked_at, &message, help);
                None
            }
            Err(UnreadableFile::Other(reason)) => {
                let place = asked_at.unwrap_or_else(|| {
                    self.sources.add(SourceText { name: name.clone(), text: String::new(), typed: false, origin: None })
                });
                self.fault(Some(place), &format!("cannot read `{}`: {reason}", excerpt(&name)), None);
                None
            }
        }
    }

    fn fault(&mut self, place: Option<Place>, message: &str, help: Option<&str>) -> Option<Tree> {
        let fault = SourceFault { place, ..SourceFault::new(message) };
        self.faults.push(match help {
            Some(help) => fault.help(help),
            None => fault,
        });
        None
    }

    fn parse(&mut self, place: Place, path: &Path) -> Option<Tree> {
        match syntax::parse(self.sources, place) {
            Ok(mut tree) => {
                self.faults.extend(texts::faults(&tree));
                self.include(&mut tree, path.parent().unwrap_or(Path::new("")));
                Some(tree)
            }
            Err(faults) => {
                self.faults.extend(faults);
                None
            }
        }
    }

    /// Replaces every `File("…")` of a tree by the tree of that file, and every `Like` by its value.
    fn include(&mut self, tree: &mut Tree, folder: &Path) {
        let of_lines = LINE_READERS.into_iter().find(|(name, _)| is_named(tree, name));
        if is_file(tree) || of_lines.is_some() {
            let included = match of_lines {
                Some((name, reader)) => self.of_lines(tree, folder, name, reader),
                None => self.included(tree, folder),
            };
            if let Some(included) = included {
                *tree = included;
            }
            return;
        }
        if let Some((_, field)) = FILE_PROGRAMS.iter().find(|(name, _)| is_named(tree, name)) {
            place_paths(tree, field, folder);
        } else if is_axis_of_files(tree) {
            place_paths(tree, "values", folder);
        } else if is_named(tree, MEASURED) {
            place_only_path(tree, folder);
        }
        let mut index = 0;
        while let Some(child) = tree.child_mut(index) {
            self.include(child, folder);
            index += 1;
        }
        if is_named(tree, "Like")
            && let Some(changed) = self.changed(tree)
        {
            *tree = changed;
        }
    }

    /// Returns the value of `Like(original, {"path": value})`: the original with the given values at these paths.
    fn changed(&mut self, tree: &Tree) -> Option<Tree> {
        let Some((original, changes)) = original_and_changes(tree) else {
            let help = "such as Like(File(\"machine.ron\"), {\"network.links.per_byte\": \"1 us/B\"})";
            return self.fault(Some(tree.place), "`Like` takes a value and the changes to it", Some(help));
        };
        if is_file(original) {
            return None;
        }
        if changes.len() > MAX_CHANGES {
            let message = format!("{} changes at once; the maximum is {MAX_CHANGES}", changes.len());
            return self.fault(Some(tree.place), &message, Some("write the whole value"));
        }
        let mut result = original.clone();
        let mut given: Vec<&String> = Vec::new();
        for (path, value) in changes {
            let TreeValue::Text(name) = &path.node else {
                return self.fault(Some(path.place), "each key of the changes in `Like` is a path in quotes", None);
            };
            if let Some(part) = given.iter().find(|part| paths::is_within(part, name)) {
                let message = format!("`{}` undoes the change of `{}` before it", excerpt(name), excerpt(part));
                self.fault(Some(path.place), &message, Some("change the whole before its parts"));
            }
            given.push(name);
            self.faults.extend(paths::assign(&mut result, name, value.clone(), &|_| path.place).err());
        }
        Some(result)
    }

    fn included(&mut self, tree: &Tree, folder: &Path) -> Option<Tree> {
        let place = Some(tree.place);
        let Some(name) = file_name(tree) else {
            return self.fault(place, "`File` takes one path in quotes", Some("such as File(\"machines/mesh.ron\")"));
        };
        let path = folder.join(name);
        if self.is_open(&path) {
            let message = format!("the file `{}` includes itself, directly or through others", excerpt(name));
            return self.fault(place, &message, None);
        }
        if self.open.len() > DEEPEST {
            return self.fault(place, &format!("files are nested deeper than {DEEPEST}"), None);
        }
        if let Some(message) = self.excess() {
            return self.fault(place, &message, None);
        }
        self.load(&path, place)
    }

    /// Returns the reason why no further file may be read, if a limit is exceeded.
    fn excess(&self) -> Option<String> {
        if self.files > MAX_FILES {
            return Some(format!("more than {MAX_FILES} files are included"));
        }
        let limit = LARGEST_TOGETHER >> 20;
        (self.bytes > LARGEST_TOGETHER).then(|| format!("the files included are larger than {limit} MiB together"))
    }

    /// Returns the value that the lines of one or two files describe.
    fn of_lines(&mut self, tree: &Tree, folder: &Path, name: &str, reader: LinesReader) -> Option<Tree> {
        let Some((first, names)) = one_or_two_files(tree) else {
            let help = format!("such as {name}(\"lines.txt\"), or {name}(\"lines.txt\", \"names.txt\")");
            return self.fault(Some(tree.place), &format!("`{name}` takes a path in quotes, or two"), Some(&help));
        };
        if let Some(message) = self.excess() {
            return self.fault(Some(tree.place), &message, None);
        }
        let first = self.text_of_file(&folder.join(first), Some(tree.place));
        let names = names.map(|names| self.text_of_file(&folder.join(names), Some(tree.place)));
        // A file of names that cannot be read is a fault; it does not mean that there are no names.
        let names = names.map_or(Some(None), |read| read.map(Some))?;
        match reader(tree.place, self.sources, first?, names) {
            Ok(value) => Some(value),
            Err(faults) => {
                self.faults.extend(faults);
                None
            }
        }
    }

    fn is_open(&self, path: &Path) -> bool {
        self.sources.files.real(path).is_ok_and(|path| self.open.contains(&path))
    }
}

fn is_file(tree: &Tree) -> bool {
    is_named(tree, "File")
}

fn is_named(tree: &Tree, name: &str) -> bool {
    matches!(tree.node, TreeValue::Record { .. } | TreeValue::Tuple { .. }) && tree.name() == Some(name)
}

/// Returns `true` if a value is an axis over the files of a program.
fn is_axis_of_files(tree: &Tree) -> bool {
    let TreeValue::Record { fields, .. } = &tree.node else { return false };
    let is_of_files = |path: &str| FILE_PROGRAMS.iter().any(|(_, field)| path.strip_prefix("program.") == Some(field));
    let path = fields.iter().find(|field| field.name.text == "path").map(|field| &field.value.node);
    tree.name() == Some("Axis") && matches!(path, Some(TreeValue::Text(path)) if is_of_files(path))
}

/// Adds the files that the values of a tree name without containing them: those of programs and of measurements.
pub(super) fn named_in(tree: &Tree, named: &mut Vec<PathBuf>) {
    let mut add = |value: &Tree| {
        if let TreeValue::Text(path) = &value.node {
            named.push(PathBuf::from(path));
        }
    };
    if let Some((_, field)) = FILE_PROGRAMS.iter().find(|(name, _)| is_named(tree, name)) {
        tree.field(field).into_iter().for_each(&mut add);
    } else if is_axis_of_files(tree) {
        tree.field("values").map(Tree::items).unwrap_or_default().iter().for_each(&mut add);
    } else if is_named(tree, MEASURED) {
        tree.children().into_iter().for_each(|(_, path)| add(path));
    }
    for (_, child) in tree.children() {
        named_in(child, named);
    }
}

/// Resolves the paths in `field`, which are relative to the folder of their file, against `folder`.
fn place_paths(tree: &mut Tree, field: &str, folder: &Path) {
    let TreeValue::Record { fields, .. } = &mut tree.node else { return };
    for field in fields.iter_mut().filter(|one| one.name.text == field) {
        let texts = match &mut field.value.node {
            TreeValue::List(values) => values.as_mut_slice(),
            _ => std::slice::from_mut(&mut field.value),
        };
        for value in texts {
            place_path(value, folder);
        }
    }
}

/// Resolves the only item of a tuple, a path that is relative to the folder of its file, against `folder`.
fn place_only_path(tree: &mut Tree, folder: &Path) {
    if let TreeValue::Tuple { items, .. } = &mut tree.node
        && let [path] = items.as_mut_slice()
    {
        place_path(path, folder);
    }
}

fn place_path(value: &mut Tree, folder: &Path) {
    if let TreeValue::Text(path) = &mut value.node {
        *path = folder.join(&*path).display().to_string();
    }
}

/// Returns the path of a file of lines, and that of a file of names if there is one.
fn one_or_two_files(tree: &Tree) -> Option<(&str, Option<&str>)> {
    let TreeValue::Tuple { items, .. } = &tree.node else { return None };
    match items.as_slice() {
        [Tree { node: TreeValue::Text(ranks), .. }] => Some((ranks, None)),
        [Tree { node: TreeValue::Text(ranks), .. }, Tree { node: TreeValue::Text(nodes), .. }] => {
            Some((ranks, Some(nodes)))
        }
        _ => None,
    }
}

fn original_and_changes(tree: &Tree) -> Option<(&Tree, &[(Tree, Tree)])> {
    let TreeValue::Tuple { items, .. } = &tree.node else { return None };
    match items.as_slice() {
        [original, Tree { node: TreeValue::Map(changes), .. }] => Some((original, changes)),
        _ => None,
    }
}

fn file_name(tree: &Tree) -> Option<&str> {
    match &tree.node {
        TreeValue::Tuple { items, .. } => match items.as_slice() {
            [Tree { node: TreeValue::Text(name), .. }] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Reads the text of a file from `files`, or from the file system if `files` stands for it.
fn read_among(files: &NamedFiles, path: &Path) -> Result<String, UnreadableFile> {
    if files.are_of_system() {
        return read(path);
    }
    files.text(path).map(str::to_owned).ok_or(UnreadableFile::Missing)
}

/// Returns the displayed name of a file: its normalised path, provided that this path leads to the same file.
fn name_of(path: &Path, files: &NamedFiles) -> String {
    let straight = normalised(path);
    let is_same = files.real(&straight).is_ok_and(|real| files.real(path).is_ok_and(|asked| asked == real));
    if is_same { straight.display().to_string() } else { path.display().to_string() }
}
