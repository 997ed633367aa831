//! Embeds the shipped scenarios, with the machines, processors, kernels and measurements that they name.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folders of shipped files, relative to the root of the repository.
const FOLDERS: [&str; 5] =
    ["scenarios", "scenarios/machines", "scenarios/processors", "scenarios/kernels", "validation/cs-rr-281"];
/// Files of these kinds are texts that scenarios name.
const KINDS: [&str; 2] = ["ron", "csv"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut list = String::from("[\n");
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        for file in files(&root.join(folder)) {
            let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
            let path = file.canonicalize().expect("it is there").display().to_string();
            writeln!(list, "({:?}, include_str!({path:?})),", format!("{folder}/{name}"))
                .expect("a text takes every text");
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("files.rs"), list + "]").expect("the folder of the build can be written");
}

/// The files of a folder that scenarios name, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let is_text = |path: &PathBuf| path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known));
    let mut files: Vec<_> = paths.filter(is_text).collect();
    files.sort();
    files
}
