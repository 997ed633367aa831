//! Mutated files: `parsim check` accepts or rejects whatever it is given, within a second of CPU time and 150 MB.
//!
//! `PARSIM_MUTATION_CASES=2000 cargo test --test it mutated` runs more cases than a test run does.

use crate::repository;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// One change of a text; places are shares of its length, so that they fit any file.
#[derive(Clone, Debug)]
enum Mutation {
    /// Another byte, or one more.
    Byte { at: f64, byte: u8, replaces: bool },
    /// A piece is cut out.
    Cut { at: f64, length: usize },
    /// A piece is said again, many times over.
    Repeat { at: f64, length: usize, times: usize },
    /// A number becomes another one.
    Number { at: f64, text: &'static str },
    /// A word takes the place of another one of the file.
    Word { at: f64, from: f64 },
    /// A line is wrapped into brackets.
    Nest { at: f64, depth: usize },
    /// The line of another file comes in.
    Line { at: f64, file: usize, from: f64 },
}

/// Numbers at the borders of types and of what can be simulated.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "2",
    "0.5",
    "1e300",
    "NaN",
    "inf",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "1000003",
    "67108864",
    "9007199254740993",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = || 0.0..1.0;
    prop_oneof![
        (at(), any::<u8>(), any::<bool>()).prop_map(|(at, byte, replaces)| Mutation::Byte { at, byte, replaces }),
        (at(), 1..200_usize).prop_map(|(at, length)| Mutation::Cut { at, length }),
        (at(), 1..100_usize, 1..3000_usize).prop_map(|(at, length, times)| Mutation::Repeat { at, length, times }),
        (at(), proptest::sample::select(&NUMBERS[..])).prop_map(|(at, text)| Mutation::Number { at, text }),
        (at(), proptest::sample::select(&NUMBERS[..])).prop_map(|(at, text)| Mutation::Number { at, text }),
        (at(), at()).prop_map(|(at, from)| Mutation::Word { at, from }),
        (at(), 1..80_usize).prop_map(|(at, depth)| Mutation::Nest { at, depth }),
        (at(), any::<usize>(), at()).prop_map(|(at, file, from)| Mutation::Line { at, file, from }),
    ]
}

impl Mutation {
    fn apply(&self, text: &mut Vec<u8>, files: &[PathBuf]) {
        match *self {
            Self::Byte { at, byte, replaces } => {
                let place = share(at, text.len());
                text.splice(place..(place + usize::from(replaces)).min(text.len()), [byte]);
            }
            Self::Cut { at, length } => drop(text.drain(piece(at, length, text.len()))),
            Self::Repeat { at, length, times } => {
                let range = piece(at, length, text.len());
                let again = text[range.clone()].repeat(times);
                text.splice(range.end..range.end, again);
            }
            Self::Number { at, text: number } => {
                let numbers = pieces(text, u8::is_ascii_digit);
                if let Some(range) = numbers.get(share(at, numbers.len())) {
                    text.splice(range.clone(), number.bytes());
                }
            }
            Self::Word { at, from } => {
                let words = pieces(text, u8::is_ascii_alphanumeric);
                if let Some((range, from)) = words.get(share(at, words.len())).zip(words.get(share(from, words.len())))
                {
                    let word = text[from.clone()].to_vec();
                    text.splice(range.clone(), word);
                }
            }
            Self::Nest { at, depth } => {
                let place = share(at, text.len());
                text.splice(place..place, b"(".repeat(depth));
            }
            Self::Line { at, file, from } => {
                let other = fs::read(&files[file % files.len()]).expect("the files are there");
                let lines = pieces(&other, |byte| *byte != b'\n');
                let place = pieces(text, |byte| *byte == b'\n').get(share(at, text.len() / 30)).map_or(0, |at| at.end);
                let line = other[lines[share(from, lines.len())].clone()].to_vec();
                text.splice(place..place, line);
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "files are short"
)]
fn share(at: f64, length: usize) -> usize {
    (at * length as f64) as usize
}

fn piece(at: f64, length: usize, of: usize) -> std::ops::Range<usize> {
    let start = share(at, of);
    start..(start + length).min(of)
}

/// The longest pieces of bytes of one kind.
fn pieces(text: &[u8], kind: impl Fn(&u8) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut pieces: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in text.iter().enumerate().filter(|(_, byte)| kind(byte)) {
        match pieces.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => pieces.push(at..at + 1),
        }
    }
    pieces
}

/// A copy of the shipped scenarios, because files name each other.
fn copy() -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut files = Vec::new();
    for inner in ["", "machines", "processors", "kernels"] {
        let (from, to) = (repository("scenarios").join(inner), folder.path().join("scenarios").join(inner));
        fs::create_dir_all(&to).expect("a folder can be made");
        for entry in fs::read_dir(from).expect("the scenarios are there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "ron") {
                let copy = to.join(path.file_name().expect("a name"));
                fs::copy(&path, &copy).expect("a file can be copied");
                files.push(copy);
            }
        }
    }
    files.sort();
    (folder, files)
}

/// The exit code of `parsim check` within its bounds; none if it was stopped, or has stopped itself.
fn check(file: &Path) -> (Option<i32>, String) {
    let bounded = "ulimit -t 1; ulimit -v 150000; exec \"$0\" check \"$1\"";
    let mut command = Command::new("sh");
    command.arg("-c").arg(bounded).arg(assert_cmd::cargo::cargo_bin!("parsim")).arg(file);
    // An arena of the allocator reserves 64 MB of addresses for every thread that finds the others locked.
    let output = command.env("MALLOC_ARENA_MAX", "1").output().expect("a shell");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).chars().take(600).collect())
}

#[test]
#[cfg(target_os = "linux")]
fn mutated_files_are_answered_within_bounds() {
    let cases = std::env::var("PARSIM_MUTATION_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 100, ..ProptestConfig::default() };
    let (folder, files) = copy();
    let mutations = (any::<prop::sample::Index>(), prop::collection::vec(mutation(), 1..4));
    proptest!(config, |((index, mutations) in mutations)| {
        let original = &files[index.index(files.len())];
        let mut text = fs::read(original).expect("the files are there");
        for mutation in &mutations {
            mutation.apply(&mut text, &files);
        }
        let file = original.with_file_name("mutated.ron");
        fs::write(&file, &text).expect("a file can be written");
        let (code, message) = check(&file);
        fs::remove_file(&file).expect("a file can be removed");
        prop_assert!(matches!(code, Some(0 | 2)), "{original:?} {mutations:?}: {code:?} {message}");
    });
    drop(folder);
}

/// Programs whose messages lie unread, many at once, and ranks with many messages, phases and blocks.
#[test]
#[cfg(target_os = "linux")]
fn programs_that_are_long_to_rehearse_are_answered_within_bounds() {
    let (folder, _) = copy();
    let sent = |tag: &str| {
        format!("Repeat(times: \"100000\", index: \"i\", steps: [Send(to: \"1\", bytes: \"8 B\", tag: \"{tag}\")])")
    };
    let received =
        |tag: &str| format!("Repeat(times: \"100000\", index: \"i\", steps: [Receive(from: \"0\", tag: \"{tag}\")])");
    let pair =
        |tag: &str| format!("When(condition: \"rank == 0\", then: [{}], otherwise: [{}])", sent("i"), received(tag));
    let all_to_all =
        "Repeat(times: \"100\", steps: [Collective(operation: AllToAll(algorithm: Pairwise), bytes: \"8 B\")])";
    let exchange = "Repeat(times: \"100\", steps: [Exchange(with: Ring, bytes: \"8 B\")])";
    for (ranks, steps) in [(2, pair("i")), (2, pair("99999 - i")), (16384, all_to_all.into()), (60000, exchange.into())]
    {
        let machine = format!(
            "Like(File(\"machines/parsytec-supercluster-t800.ron\"), {{\"network.topology\": Ring(nodes: {ranks}), \
             \"network.routing\": DimensionOrder}})"
        );
        let program = format!("Phases(steps: [{steps}])");
        let text = format!(
            "Scenario(machine: {machine}, ranks: {ranks}, placement: RowMajor, program: {program}, seed: 1, \
             limits: Limits(memory: \"1 TB\", events: 1000000000000000))"
        );
        let file = folder.path().join("scenarios/long.ron");
        fs::write(&file, &text).expect("a file can be written");
        let (code, message) = check(&file);
        assert_eq!(code, Some(0), "{steps}: {message}");
    }
}

/// Files that are made to take long: each of them is at the limit of a megabyte.
#[test]
#[cfg(target_os = "linux")]
fn files_that_are_made_to_take_long_do_not() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let list = |begin: &str, item: &dyn Fn(usize) -> String, end: &str| {
        let mut text = begin.to_owned();
        for index in 0.. {
            let next = item(index);
            if text.len() + next.len() + end.len() > 1 << 20 {
                break;
            }
            text += &next;
        }
        text + end
    };
    let tree = |name: usize| format!("[{}]", format!("File(\"{}.ron\"),", name + 1).repeat(10));
    for level in 0..7 {
        fs::write(folder.path().join(format!("{level}.ron")), tree(level)).expect("a file can be written");
    }
    fs::write(folder.path().join("7.ron"), "1").expect("a file can be written");
    let texts = [
        list("Scenario(", &|index| format!("x{index}: 1, "), ")"),
        list("Scenario(", &|_| "rank: 1, ".to_owned(), ")"),
        list("Machine(nodes: [", &|index| format!("(x{index}: x), "), "])"),
        list("Scenario(machine: Like(File(\"7.ron\"), {", &|index| format!("\"x{index}\": 1, "), "}))"),
        list("Scenario(axes: [", &|index| format!("Axis(name: \"{index}\", path: \"x\", values: []), "), "])"),
        list("Scenario(zip: [", &|_| "[\"x\"], ".to_owned(), "])"),
        list("Kernel(name: \"x\", listing: [", &|_| "\"x\", ".to_owned(), "])"),
        list("\"", &|_| "é".to_owned(), "\n"),
        list("", &|_| "(".to_owned(), ""),
        list("[", &|_| "\u{1b}".to_owned(), "]"),
        list("", &|_| "/* ".to_owned(), ""),
        "File(\"0.ron\")".to_owned(),
    ];
    for (index, text) in texts.into_iter().enumerate() {
        let file = folder.path().join("a.ron");
        fs::write(&file, &text).expect("a file can be written");
        let (code, message) = check(&file);
        assert_eq!(code, Some(2), "{index}: {} … {message}", text.chars().take(60).collect::<String>());
        assert!(!message.is_empty());
    }
}
