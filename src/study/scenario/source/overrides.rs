//! Overrides: the interpretation of `--set path=text` in the context of the value that it replaces.

use std::path::Path;

use super::fault::SourceFault;
use super::files::Loader;
use super::paths::{assign, walk};
use super::place::{Place, SourceText, Sources};
use super::spelling::camel_case;
use super::texts;
use super::tree::{Name, Tree, TreeField, TreeValue};

/// A value typed on the command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedValue<'a> {
    /// The option that the value belongs to, such as `--set`.
    pub option: &'a str,
    /// The text before the `=`: a path, or the name of an axis.
    pub name: &'a str,
    /// The text after the `=`.
    pub text: &'a str,
    /// The place in a file that the value stands for, if it does.
    pub origin: Option<Place>,
}

/// Replaces or adds the value at `path` by the typed value. Files that the value names are relative to the file `from`.
pub(super) fn set(
    sources: &mut Sources,
    root: &mut Tree,
    path: &str,
    typed: TypedValue<'_>,
    from: &Path,
) -> Result<(), SourceFault> {
    let file = sources.count();
    let tree = meaning_of(sources, root, path, typed, from)?;
    let place = Place { file, start: typed.name.len() + 1, end: typed.name.len() + 1 + typed.text.len() };
    let place_of = |index| if typed.name == path { segment_place(path, index, file) } else { place };
    assign(root, path, tree, &place_of)
}

/// Reads a typed text as a value that replaces the one at `path`.
pub(super) fn meaning_of(
    sources: &mut Sources,
    root: &Tree,
    path: &str,
    typed: TypedValue<'_>,
    from: &Path,
) -> Result<Tree, SourceFault> {
    let TypedValue { option, name, text, origin } = typed;
    let whole = format!("{name}={text}");
    let place = sources.add(SourceText { name: format!("{option} {whole}"), text: whole, typed: true, origin });
    let place = Place { start: name.len() + 1, ..place };
    let old = walk(root, path).ok().map(|(_, tree)| tree);
    let tree = meaning(sources, place, text, old, from).map_err(|fault| fault.on(path))?;
    texts::faults(&tree).into_iter().next().map_or(Ok(tree), Err)
}

fn segment_place(path: &str, index: usize, file: usize) -> Place {
    let start: usize = path.split('.').take(index).map(|segment| segment.len() + 1).sum();
    let length = path.split('.').nth(index).map_or(0, str::len);
    Place { file, start, end: start + length }
}

/// Returns the value of a text that replaces `old`. The kind of the old value decides how an ambiguous text is read.
fn meaning(
    sources: &mut Sources,
    place: Place,
    text: &str,
    old: Option<&Tree>,
    from: &Path,
) -> Result<Tree, SourceFault> {
    let parsed = Loader::new(sources).text(place, from);
    let parsed = parsed.map_err(|mut faults| advised_on_file(faults.swap_remove(0), text));
    let words = Tree { place, node: TreeValue::Text(text.to_owned()) };
    match (kind_of(old), parsed) {
        (PreviousValue::Text, Ok(tree)) if is_bare(&tree) => Ok(words),
        (PreviousValue::Text | PreviousValue::Absent, Err(_)) if !is_bracketed(text) => Ok(words),
        (PreviousValue::Variant, parsed) if !matches!(parsed, Ok(Tree { node: TreeValue::Bool(_), .. })) => {
            match camel_case(text) {
                Some(name) => Ok(Tree { place, node: renamed(name, place, old) }),
                None => parsed,
            }
        }
        (_, parsed) => parsed,
    }
}

/// Adds to the fault of a text that is the name of a file how a file is given.
fn advised_on_file(fault: SourceFault, text: &str) -> SourceFault {
    let is_file = Path::new(text).extension().is_some_and(|kind| kind == "ron") && !is_bracketed(text);
    if is_file { fault.help(&format!("a file is given as `File({text:?})`")) } else { fault }
}

/// Returns another variant in the place of `old`, whose fields the new one inherits.
fn renamed(name: String, place: Place, old: Option<&Tree>) -> TreeValue {
    let Some(TreeValue::Record { fields, .. }) = old.map(|tree| &tree.node) else { return TreeValue::Name(name) };
    let inherit = |field: &TreeField| TreeField { inherited: true, ..field.clone() };
    TreeValue::Record { name: Some(Name { text: name, place }), fields: fields.iter().map(inherit).collect() }
}

/// The kind of the value that is replaced.
enum PreviousValue {
    Absent,
    Text,
    Variant,
    Other,
}

fn kind_of(old: Option<&Tree>) -> PreviousValue {
    match old.map(|tree| &tree.node) {
        None | Some(TreeValue::Option(None)) => PreviousValue::Absent,
        Some(TreeValue::Option(Some(inner))) => kind_of(Some(inner)),
        Some(TreeValue::Text(_)) => PreviousValue::Text,
        Some(TreeValue::Name(_) | TreeValue::Record { name: Some(_), .. } | TreeValue::Tuple { name: Some(_), .. }) => {
            PreviousValue::Variant
        }
        Some(_) => PreviousValue::Other,
    }
}

fn is_bare(tree: &Tree) -> bool {
    matches!(tree.node, TreeValue::Number(_) | TreeValue::Name(_) | TreeValue::Bool(_) | TreeValue::Char(_))
}

fn is_bracketed(text: &str) -> bool {
    text.trim_start().starts_with(['(', '[', '{', '"']) || text.contains('(')
}

#[cfg(test)]
mod tests {
    use super::super::{Document, TreeValue};

    const TEXT: &str = r#"Scenario(
        ranks: 4,
        program: GaussJordan(n: 5, broadcast: Neighbour(sends: Sequential)),
        machine: Machine(links: Link(per_byte: "1 us/B"), switching: CutThrough),
        axes: [Axis(name: "n"), Axis(name: "p")],
        extra: Some(Extra(x: 1)),
        empty: (),
    )"#;

    fn changed(path: &str, text: &str) -> TreeValue {
        let mut document = Document::from_text("x.ron", TEXT).unwrap();
        document.set(path, text).unwrap();
        document.get(path).unwrap().node.clone()
    }

    fn refused(path: &str, text: &str) -> String {
        let mut document = Document::from_text("x.ron", TEXT).unwrap();
        let fault = document.set(path, text).unwrap_err();
        let faults = document.faults(vec![fault]);
        format!("{faults} | {}", faults.list[0].help.clone().unwrap_or_default())
    }

    fn text(text: &str) -> TreeValue {
        TreeValue::Text(text.to_owned())
    }

    #[test]
    fn paths_go_through_variants_lists_and_options() {
        let document = Document::from_text("x.ron", TEXT).unwrap();
        for (path, node) in [
            ("program.n", TreeValue::Number("5".to_owned())),
            ("program.broadcast.sends", TreeValue::Name("Sequential".to_owned())),
            ("axes.1.name", text("p")),
            ("extra.x", TreeValue::Number("1".to_owned())),
        ] {
            assert_eq!(document.get(path).map(|tree| &tree.node), Some(&node), "{path}");
        }
        assert!(document.get("program.m").is_none() && document.get("axes.2").is_none());
    }

    #[test]
    fn a_name_stands_for_all_fields_that_are_called_so_outside_of_axes() {
        let document = Document::from_text("x.ron", TEXT).unwrap();
        assert_eq!(document.paths_of("per_byte"), ["machine.links.per_byte"]);
        assert_eq!(document.paths_of("sends"), ["program.broadcast.sends"]);
        assert_eq!(document.paths_of("x"), ["extra.x"]);
        assert!(document.paths_of("name").is_empty());
    }

    #[test]
    fn the_old_value_tells_what_a_text_means() {
        assert_eq!(changed("machine.links.per_byte", "0.7 us/B"), text("0.7 us/B"));
        assert_eq!(changed("machine.links.per_byte", "\"0.7 us/B\""), text("0.7 us/B"));
        assert_eq!(changed("machine.links.per_byte", "5"), text("5"));
        assert_eq!(changed("axes.0.name", "q"), text("q"));
        assert_eq!(changed("ranks", "5"), TreeValue::Number("5".to_owned()));
        assert_eq!(changed("machine.switching", "store-and-forward"), TreeValue::Name("StoreAndForward".to_owned()));
        assert_eq!(changed("program.broadcast.sends", "tree"), TreeValue::Name("Tree".to_owned()));
        assert!(matches!(changed("machine.switching", "Wormhole(flit: \"1 B\")"), TreeValue::Record { .. }));
        assert!(matches!(changed("axes", "[1, 2]"), TreeValue::List(_)));
    }

    #[test]
    fn a_bare_variant_keeps_the_fields_that_it_shares_with_the_old_one() {
        #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        enum Broadcast {
            Tree { sends: Sends },
            Flat,
        }
        #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
        enum Sends {
            Sequential,
        }
        let broadcast = |text: &str| {
            let mut document = Document::from_text("x.ron", TEXT).unwrap();
            document.set("program.broadcast", text).unwrap();
            document.read_at::<Broadcast>("program.broadcast").unwrap()
        };
        assert_eq!(broadcast("tree"), Broadcast::Tree { sends: Sends::Sequential });
        assert_eq!(broadcast("flat"), Broadcast::Flat);
    }

    #[test]
    fn fields_can_be_added() {
        assert_eq!(changed("machine.links.start", "2 us"), text("2 us"));
        assert_eq!(changed("empty.n", "2"), TreeValue::Number("2".to_owned()));
        assert_eq!(changed("extra.y", "true"), TreeValue::Bool(true));
        assert_eq!(changed("ports", "3"), TreeValue::Number("3".to_owned()));
        assert_eq!(changed("limits.memory.node", "4 GB"), text("4 GB"));
    }

    #[test]
    fn missing_parents_are_named() {
        assert!(refused("ranks.x", "1").contains("`ranks` is the number 4"), "{}", refused("ranks.x", "1"));
        assert!(refused("axes.2", "1").contains("there is no `2` in `axes`"));
        assert!(refused("machine.switching.packet", "1").contains("the name `CutThrough`"));
        assert!(refused("", "(").contains("never closed"));
    }

    #[test]
    fn a_bare_name_of_a_file_is_advised_on() {
        for path in ["machine", "machine.switching"] {
            let message = refused(path, "machines/a.ron");
            assert!(message.ends_with("a file is given as `File(\"machines/a.ron\")`"), "{message}");
        }
    }

    #[test]
    fn a_value_that_is_none_points_into_the_command_line() {
        let message = refused("ranks", "[1");
        assert!(message.starts_with("--set ranks=[1:1:7: this `[` is never closed"), "{message}");
    }

    #[test]
    fn trees_can_be_set() {
        let mut document = Document::from_text("x.ron", TEXT).unwrap();
        let tree = document.get("ranks").unwrap().clone();
        document.set_tree("program.n", tree).unwrap();
        assert_eq!(document.get("program.n").unwrap().node, TreeValue::Number("4".to_owned()));
    }
}
