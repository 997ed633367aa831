//! `GraphFile("links.txt")` and `GraphFile("links.txt", "vertices.txt")`: topologies from files of lines.
//!
//! A line of the first file has the two vertices that a link joins, and optionally the class of the link. A line of the
//! second file has the name of a node, or the name of a switch and the word `switch`. Vertices are numbered in the
//! order of their lines, nodes before switches. Without the second file vertices are numbers, and all vertices are
//! nodes.

use std::collections::HashMap;

use super::fault::SourceFault;
use super::place::{Place, Sources};
use super::spelling::excerpt;
use super::tree::{Name, Tree, TreeField, TreeValue};
use super::words::{Word, lines};

/// The vertices that links may join.
enum Vertices<'t> {
    /// Vertices given by number, up to the highest number that occurs in a link.
    Numbered,
    Named {
        nodes: u32,
        switches: u32,
        numbers: HashMap<&'t str, u32>,
    },
}

/// Returns the graph whose links are listed in the file at `links`, between the vertices named in the file at
/// `vertices`. The value gets the place `place`.
///
/// # Errors
/// Faults of either file: lines of another form, duplicate names, unknown names.
pub fn graph(place: Place, sources: &Sources, links: Place, vertices: Option<Place>) -> Result<Tree, Vec<SourceFault>> {
    let vertices = Vertices::of(sources, vertices)?;
    let (mut pairs, mut classes, mut highest, mut faults) = (Vec::new(), Vec::new(), 0, Vec::new());
    for line in lines(sources, links) {
        match link(&line, &vertices) {
            Ok((ends, class)) => {
                highest = ends.map(|(number, _)| number).into_iter().fold(highest, u32::max);
                let items = ends.map(|(number, place)| Tree { place, node: TreeValue::Number(number.to_string()) });
                let place = line[0].place.to(line[line.len() - 1].place);
                pairs.push(Tree { place, node: TreeValue::Tuple { name: None, items: items.into() } });
                classes.push(Tree { place, node: TreeValue::Text(class.unwrap_or_default().to_owned()) });
            }
            Err(fault) => faults.push(fault),
        }
    }
    if pairs.is_empty() && faults.is_empty() {
        faults.push(SourceFault::new("there are no links").at(Place { end: links.start, ..links }));
    }
    let has_classes = classes.iter().any(|class| !matches!(&class.node, TreeValue::Text(name) if name.is_empty()));
    let (nodes, switches) = vertices.counts(highest);
    let number = |count: u32| Tree { place, node: TreeValue::Number(count.to_string()) };
    let list = |items| Tree { place, node: TreeValue::List(items) };
    let mut fields = vec![("nodes", number(nodes)), ("switches", number(switches)), ("links", list(pairs))];
    fields.extend(has_classes.then(|| ("classes", list(classes))));
    if faults.is_empty() { Ok(record(place, "Graph", fields)) } else { Err(faults) }
}

impl<'t> Vertices<'t> {
    fn of(sources: &'t Sources, file: Option<Place>) -> Result<Self, Vec<SourceFault>> {
        let Some(whole) = file else { return Ok(Self::Numbered) };
        let (mut places, mut faults) = (HashMap::new(), Vec::new());
        let (mut nodes, mut switches) = (Vec::new(), Vec::new());
        for line in lines(sources, whole) {
            let Word { text, place } = line[0];
            if places.insert(text, place).is_some() {
                faults.push(SourceFault::new(&format!("`{}` is the name of two vertices", excerpt(text))).at(place));
            }
            match line[1..] {
                [] => nodes.push(text),
                [kind] if kind.text == "switch" => switches.push(text),
                [other, ..] => {
                    let fault = SourceFault::new(
                        "a line consists of the name of a node, or of the name of a switch and `switch`",
                    );
                    faults.push(fault.at(other.place).help("such as `node3`, or `leaf1 switch`"));
                }
            }
        }
        let count = |names: &[&str]| u32::try_from(names.len()).expect("a file has fewer than 2^32 lines");
        let (of_nodes, of_switches) = (count(&nodes), count(&switches));
        let numbers = nodes.into_iter().chain(switches).zip(0..).collect();
        let named = Self::Named { nodes: of_nodes, switches: of_switches, numbers };
        if faults.is_empty() { Ok(named) } else { Err(faults) }
    }

    fn number(&self, word: Word<'_>) -> Result<u32, SourceFault> {
        let name = excerpt(word.text);
        let (number, fault) = match self {
            Self::Numbered => {
                let help = "named vertices need a file of their names: GraphFile(\"links.txt\", \"vertices.txt\")";
                (
                    word.text.parse().ok(),
                    SourceFault::new(&format!("`{name}` is not the number of a vertex")).help(help),
                )
            }
            Self::Named { numbers, .. } => (
                numbers.get(word.text).copied(),
                SourceFault::new(&format!("`{name}` is not a vertex of the second file")),
            ),
        };
        number.ok_or_else(|| fault.at(word.place))
    }

    /// Returns the numbers of nodes and of switches, given the highest vertex number of a link.
    fn counts(&self, highest: u32) -> (u32, u32) {
        match self {
            Self::Numbered => (highest.saturating_add(1), 0),
            Self::Named { nodes, switches, .. } => (*nodes, *switches),
        }
    }
}

fn record(place: Place, name: &str, fields: Vec<(&str, Tree)>) -> Tree {
    let named = |text: &str| Name { text: text.to_owned(), place };
    let field = |(name, value): (&str, Tree)| TreeField { name: named(name), value, inherited: false };
    Tree { place, node: TreeValue::Record { name: Some(named(name)), fields: fields.into_iter().map(field).collect() } }
}

/// The ends of a link, with their places, and the class of the link.
type LinkLine<'t> = ([(u32, Place); 2], Option<&'t str>);

fn link<'t>(line: &[Word<'t>], vertices: &Vertices<'_>) -> Result<LinkLine<'t>, SourceFault> {
    let (from, to, class) = match *line {
        [from, to] => (from, to, None),
        [from, to, class] => (from, to, Some(class.text)),
        _ => {
            let whole = line[0].place.to(line[line.len() - 1].place);
            let fault =
                SourceFault::new("a line consists of the two vertices that a link joins, and optionally its class");
            return Err(fault.at(whole).help("such as `3 7`, or `node3 leaf1 optical`"));
        }
    };
    Ok(([(vertices.number(from)?, from.place), (vertices.number(to)?, to.place)], class))
}
