use std::fs;
use std::path::Path;

use super::super::{Document, Faults, TreeValue};

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn faults(files: &[(&str, &[u8])]) -> Faults {
    let folder = folder(files);
    Document::load(folder.path().join(files[0].0)).unwrap_err()
}

fn place(faults: &Faults) -> (String, usize, usize) {
    let entry = faults.entries().remove(0);
    let file = entry.file.unwrap();
    (file.rsplit('/').next().unwrap().to_owned(), entry.line.unwrap(), entry.column.unwrap())
}

#[test]
fn files_are_put_in_their_place() {
    let folder = folder(&[
        ("a.ron", b"A(machine: File(\"m/b.ron\"))"),
        ("m/b.ron", b"Machine(link: File(\"c.ron\"))"),
        ("m/c.ron", b"\n Link(n: 7)"),
    ]);
    let document = Document::load(folder.path().join("a.ron")).unwrap();
    let place = document.get("machine.link.n").unwrap().place;
    assert_eq!(document.sources().text(place), "7");
    assert!(document.sources().get(place.file).unwrap().name.ends_with("m/c.ron"));
}

#[test]
fn a_value_like_another_is_that_one_changed() {
    let folder = folder(&[
        ("a.ron", b"A(machine: Like(File(\"m/b.ron\"), {\"link.n\": 8, \"name\": File(\"c.ron\")}))"),
        ("m/b.ron", b"Machine(name: \"b\", link: Link(n: 7, m: 6))"),
        ("c.ron", b"\"c\""),
    ]);
    let document = Document::load(folder.path().join("a.ron")).unwrap();
    let value = |path: &str| document.sources().text(document.get(path).unwrap().place).to_owned();
    assert_eq!(["link.n", "link.m", "name"].map(|path| value(&format!("machine.{path}"))), ["8", "6", "\"c\""]);
}

#[test]
fn a_change_that_leads_nowhere_is_a_fault_of_its_path() {
    let base: (&str, &[u8]) = ("b.ron", b"Machine(link: Link(n: 7))");
    let found = faults(&[("a.ron", b"Like(File(\"b.ron\"),\n {\"link.n.x\": 8})"), base]);
    assert_eq!(place(&found), ("a.ron".to_owned(), 2, 3));
    assert!(found.to_string().contains("which has no `x`"), "{found}");
    assert!(faults(&[("a.ron", b"Like(File(\"b.ron\"))"), base]).to_string().contains("and the changes to it"));
    assert!(faults(&[("a.ron", b"Like(File(\"b.ron\"), {1: 8})"), base]).to_string().contains("path in quotes"));
    assert!(faults(&[("a.ron", b"Like(File(\"x.ron\"), {\"n\": 8})")]).to_string().contains("there is no file"));
}

#[test]
fn a_cycle_is_a_fault_of_the_file_that_closes_it() {
    let faults = faults(&[("a.ron", b"A(b: File(\"b.ron\"))"), ("b.ron", b"B(\na: File(\"a.ron\"))")]);
    assert_eq!(place(&faults), ("b.ron".to_owned(), 2, 4));
    assert!(faults.to_string().contains("includes itself"));
}

#[test]
fn a_long_chain_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    for index in 0..12 {
        fs::write(folder.path().join(format!("{index}.ron")), format!("File(\"{}.ron\")", index + 1)).unwrap();
    }
    let faults = Document::load(folder.path().join("0.ron")).unwrap_err();
    assert!(faults.to_string().contains("8.ron:1:1: files are nested deeper than 8"), "{faults}");
}

#[test]
fn missing_files_and_folders() {
    let found = faults(&[("a.ron", b"A(\n a: File(\"none.ron\"),\n b: File(\".\"), c: File(3))")]);
    assert_eq!(place(&found), ("a.ron".to_owned(), 2, 5));
    let text = found.to_string();
    assert!(text.contains("there is no file") && text.contains("it is a directory"), "{text}");
    assert!(text.contains("takes one path"), "{text}");
    assert!(Document::load("/no/such.ron").unwrap_err().to_string().contains("/no/such.ron"));
}

#[test]
#[cfg(unix)]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let kinds = [(Path::new("/dev/zero"), "a device"), (&pipe, "a pipe"), (&socket, "a socket")];
    for (path, kind) in kinds {
        let asking = folder.path().join("a.ron");
        fs::write(&asking, format!("A(\n a: File(\"{}\"))", path.display())).unwrap();
        for (file, at) in [(path, (1, 1)), (&asking, (2, 5))] {
            let found = Document::load(file).unwrap_err();
            assert_eq!((place(&found).1, place(&found).2), at);
            let wanted = format!("it is {kind}, not a regular file");
            assert!(found.to_string().contains(&wanted), "{found}");
        }
    }
}

#[test]
fn a_byte_that_is_no_text() {
    assert_eq!(place(&faults(&[("a.ron", b"A(\n  a: \"\xff\")")])), ("a.ron".to_owned(), 2, 7));
}

#[test]
fn a_large_file_is_not_read() {
    let found = faults(&[("a.ron", &vec![b' '; (4 << 20) + 1])]);
    assert_eq!(place(&found), ("a.ron".to_owned(), 1, 1));
    assert!(found.to_string().contains("4194305 bytes; the limit is 4194304"), "{found}");
    assert!(Document::load("/dev/zero").is_err());
}

#[test]
fn a_large_text_is_not_parsed() {
    let faults = Document::from_text("x", &" ".repeat((4 << 20) + 1)).unwrap_err();
    assert!(faults.to_string().starts_with("x:1:1: the text has 4194305 bytes"), "{faults}");
}

#[test]
fn too_much_together_is_a_fault() {
    let large = format!("\"{}\"", "x".repeat(900_000));
    let list = format!("[{}]", "File(\"b.ron\"),".repeat(100));
    let found = faults(&[("a.ron", list.as_bytes()), ("b.ron", large.as_bytes())]);
    assert!(found.to_string().contains("larger than 4 MiB together"));
}

#[test]
fn a_path_is_relative_to_what_names_it() {
    let text = r#"Scenario(program: Goal(file: "a.goal"), compare: [Measured("a.csv")])"#;
    let mut document = Document::from_text("folder/x.ron", text).unwrap();
    let paths = |document: &Document| {
        let leaves = [document.leaves("program"), document.leaves("compare")].concat();
        leaves.iter().map(|(_, leaf)| leaf.node.clone()).collect::<Vec<_>>()
    };
    let texts = |paths: [&str; 2]| paths.map(|path| TreeValue::Text(path.to_owned()));
    assert_eq!(paths(&document), texts(["folder/a.goal", "folder/a.csv"]));
    document.set("program", r#"Goal(file: "b.goal")"#).unwrap();
    document.set("compare", r#"[Measured("b.csv")]"#).unwrap();
    assert_eq!(paths(&document), texts(["b.goal", "b.csv"]));
}
