//! Text of others: names that could steer a terminal are rejected, all others stay text in every picture and page.

use crate::parsim;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Names that are allowed, and mean something to HTML, XML, CSS, shells, formats or spreadsheets.
const STRANGE: [&str; 12] = [
    "<script>alert(1)</script>",
    "a & b &amp; c",
    "\"double\" 'single'",
    "]]><!--",
    "</text></svg>",
    "</style><b onload=x>",
    "%s%n{}{0}",
    "back\\slash/../..",
    "名前 Ω ü \u{1f600}",
    "a,b;c\\t|d",
    "url(javascript:x)",
    "&#x1b;&#27;",
];

/// Characters that no name has.
const STEERING: [char; 9] =
    ['\u{1b}', '\u{7}', '\n', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2028}', '\u{fffe}'];

/// A scenario in which everything that can be named is called `name`.
fn scenario(name: &str) -> String {
    let machine = crate::repository("scenarios/machines/parsytec-supercluster-t800.ron").display().to_string();
    let question = name.replace('\n', " ");
    format!(
        "// {question}\nScenario(machine: Like(File({machine:?}), {{\"name\": {name:?}}}), ranks: 4, placement: RowMajor,\n\
         program: Phases(steps: [Phase(name: {name:?}, steps: [Compute(flops: \"1000\")])]),\n\
         axes: [Axis(name: \"p\", path: \"ranks\", values: [1, 2, 4])], seed: 1)\n"
    )
}

fn run(arguments: &[&str], folder: &Path) -> Output {
    parsim().current_dir(folder).args(arguments).output().expect("it can be called")
}

/// That a file is XML, and what it shows.
fn texts(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("it is written");
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(!document.descendants().any(|node| node.has_tag_name("script") || node.attribute("onload").is_some()));
    document.descendants().filter_map(|node| node.text()).collect()
}

#[test]
fn strange_names_are_text_in_every_picture_and_page() {
    for name in STRANGE {
        let folder = tempfile::tempdir().unwrap();
        let at = |file: &str| folder.path().join(file);
        fs::write(at("s.ron"), scenario(name)).unwrap();
        for arguments in [
            &["run", "s.ron", "--heat-map", "heat.svg", "--trace", "t.trace"][..],
            &["critical-path", "t.trace", "--space-time", "space.svg", "--profile", "profile.svg"],
            &["critical-path", "t.trace", "--histogram", "histogram.svg", "--perfetto", "p.json"],
            &["critical-path", "t.trace", "--animation", "run.html"],
            &["sweep", "s.ron", "--plot", "plot.svg"],
            &["bottleneck", "s.ron", "--plot", "figures"],
            &["report", "s.ron", "--out", "report.html"],
        ] {
            let output = run(arguments, folder.path());
            assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let shown = texts(&at("heat.svg"));
        assert!(shown.contains(name), "{name}: {shown}");
        for file in ["space.svg", "profile.svg", "histogram.svg", "plot.svg"] {
            texts(&at(file));
        }
        for figure in fs::read_dir(at("figures")).unwrap() {
            texts(&figure.unwrap().path());
        }
        let events: serde_json::Value = serde_json::from_slice(&fs::read(at("p.json")).unwrap()).unwrap();
        assert!(events["traceEvents"].is_array());
        for (file, runs) in [("report.html", 0), ("run.html", 1)] {
            let page = fs::read_to_string(at(file)).unwrap();
            assert!(!page.contains("<script>alert") && !page.contains("<b onload"), "{name}");
            // Its data, its script, and no other.
            assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (2, 2), "{name}");
            let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
            let data: serde_json::Value = serde_json::from_str(data.unwrap()).unwrap();
            let played = data["runs"].as_array().unwrap();
            assert_eq!(played.len(), runs, "{name}");
            let labels: Vec<_> = played.iter().map(|run| run["detail"]["Exact"]["labels"].to_string()).collect();
            let shown = serde_json::to_string(name).unwrap();
            assert!(labels.iter().all(|labels| labels.contains(&shown)), "{name}: {labels:?}");
            for svg in page.split("<svg").skip(1) {
                let svg = format!("<svg{}</svg>", svg.split("</svg>").next().unwrap_or_default());
                assert!(roxmltree::Document::parse(&svg).is_ok(), "{name}: {svg}");
            }
        }
    }
}

#[test]
fn names_that_steer_a_terminal_are_rejected() {
    for letter in STEERING {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.ron"), scenario(&format!("a{letter}b"))).unwrap();
        let set = format!("machine.name=\"{letter}\"");
        let stencil = crate::repository("scenarios/stencil.ron").display().to_string();
        for arguments in [&["run", "s.ron"][..], &["check", "s.ron"], &["run", &stencil, "--set", &set]] {
            let output = run(arguments, folder.path());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{letter:?} {arguments:?}: {said}");
            assert!(said.contains(&format!("control character {}", letter.escape_unicode())), "{said}");
            assert!(letter == '\n' || !said.contains(letter), "{letter:?}: {said:?}");
        }
    }
}

#[test]
fn formulas_are_no_names() {
    for name in ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.ron"), scenario(name)).unwrap();
        let output = run(&["check", "s.ron"], folder.path());
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("would be a formula in spreadsheets"));
    }
    for name in ["a b", "=1", "1p", "a,b", "<b>"] {
        let folder = tempfile::tempdir().unwrap();
        let text = scenario("plain").replace("name: \"p\"", &format!("name: {name:?}"));
        fs::write(folder.path().join("s.ron"), text).unwrap();
        assert_eq!(run(&["check", "s.ron"], folder.path()).status.code(), Some(2), "{name}");
    }
}

/// The name of somebody else's machine, in his trace.
#[test]
fn a_trace_that_steers_a_terminal_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.trace");
    fs::write(folder.path().join("s.ron"), scenario("0123456789")).unwrap();
    assert!(run(&["run", "s.ron", "--trace", "t.trace"], folder.path()).status.success());
    let whole = fs::read(&trace).unwrap();
    let places: Vec<_> = whole.windows(10).enumerate().filter(|(_, bytes)| bytes == b"0123456789").collect();
    assert!(places.len() >= 2, "the machine and the phase");
    for (place, _) in places {
        let mut bytes = whole.clone();
        bytes[place..place + 4].copy_from_slice(b"\x1b]0;");
        fs::write(&trace, bytes).unwrap();
        let output = run(&["critical-path", "t.trace"], folder.path());
        assert_eq!((output.status.code(), output.stdout.contains(&0x1b)), (Some(2), false));
    }
}
