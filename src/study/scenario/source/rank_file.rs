//! `RankFile("ranks.txt")` and `RankFile("ranks.txt", "nodes.txt")`: the node of each rank from a file of lines such as
//! `17 node3`.
//!
//! Rank and node are separated by spaces, commas or `=`. The word `rank` may precede them, as in the rank files of Open
//! MPI, and the first line may hold the names of the columns. `#` begins a comment. A node is a number or, with a file
//! of nodes, the first word of a line of that file. Nodes are numbered from 0 in the order of these lines, without
//! lines of switches, whose second word is `switch`.

use std::collections::{BTreeMap, HashMap};

use super::fault::SourceFault;
use super::place::{Place, Sources};
use super::spelling::excerpt;
use super::tree::{Name, Tree, TreeValue};
use super::words::{Word, lines};

/// The nodes that a rank file may name.
struct Nodes<'t> {
    /// The name of the file that names the nodes, if there is one.
    file: Option<&'t str>,
    numbers: HashMap<&'t str, u32>,
}

/// Returns the placement of the ranks listed in the file at `ranks`, on the nodes named in the file at `nodes`. The
/// value gets the place `place`.
///
/// # Errors
/// Faults of either file: lines of another form, duplicate names or ranks, unknown names, missing ranks.
pub fn placement(
    place: Place,
    sources: &Sources,
    ranks: Place,
    nodes: Option<Place>,
) -> Result<Tree, Vec<SourceFault>> {
    let nodes = Nodes::of(sources, nodes)?;
    let (mut listed, mut faults) = (BTreeMap::new(), Vec::new());
    for (index, line) in lines(sources, ranks).into_iter().enumerate() {
        match entry(&line, index == 0, &nodes) {
            Ok(Some((rank, node))) => {
                let place = node.place;
                if listed.insert(rank, node).is_some() {
                    faults.push(SourceFault::new(&format!("rank {rank} has a node already")).at(place));
                }
            }
            Ok(None) => {}
            Err(fault) => faults.push(fault),
        }
    }
    faults.extend(missing(&listed, ranks));
    if faults.is_empty() { Ok(explicit(place, listed.into_values().collect())) } else { Err(faults) }
}

impl<'t> Nodes<'t> {
    fn of(sources: &'t Sources, file: Option<Place>) -> Result<Self, Vec<SourceFault>> {
        let Some(whole) = file else { return Ok(Self { file: None, numbers: HashMap::new() }) };
        let (mut numbers, mut faults) = (HashMap::new(), Vec::new());
        let nodes =
            lines(sources, whole).into_iter().filter(|line| line.get(1).is_none_or(|word| word.text != "switch"));
        for (number, line) in (0..).zip(nodes) {
            let Word { text, place } = line[0];
            if numbers.insert(text, number).is_some() {
                faults.push(SourceFault::new(&format!("`{}` is the name of two nodes", excerpt(text))).at(place));
            }
        }
        let file = sources.get(whole.file).map(|source| source.name.as_str());
        if faults.is_empty() { Ok(Self { file, numbers }) } else { Err(faults) }
    }

    /// Returns the number of a node. A name takes precedence over a number.
    fn number(&self, word: Word<'_>) -> Result<u32, SourceFault> {
        let number = self.numbers.get(word.text).copied().or_else(|| word.text.parse().ok());
        number.ok_or_else(|| {
            let name = excerpt(word.text);
            let fault = match self.file {
                Some(file) => SourceFault::new(&format!("`{name}` is not a node of `{}`", excerpt(file)))
                    .help("write a name from that file, or the number of a node"),
                None => SourceFault::new(&format!("`{name}` is not the number of a node"))
                    .help("named nodes need a file of their names: RankFile(\"ranks.txt\", \"nodes.txt\")"),
            };
            fault.at(word.place)
        })
    }
}

/// Returns the rank of a line and its node, or `None` for a line of column names.
fn entry(line: &[Word<'_>], is_first: bool, nodes: &Nodes<'_>) -> Result<Option<(u32, Tree)>, SourceFault> {
    let line = match line {
        [word, rest @ ..] if word.text == "rank" && rest.len() > 1 => rest,
        all => all,
    };
    if is_first && line[0].text.eq_ignore_ascii_case("rank") {
        return Ok(None);
    }
    let [rank, node] = *line else {
        let fault =
            SourceFault::new("a line consists of a rank and its node").at(line[0].place.to(line[line.len() - 1].place));
        return Err(fault.help("such as `17 node3`"));
    };
    let number: u32 = rank.text.parse().map_err(|_| {
        SourceFault::new(&format!("`{}` is not the number of a rank", excerpt(rank.text))).at(rank.place)
    })?;
    let node = Tree { place: node.place, node: TreeValue::Number(nodes.number(node)?.to_string()) };
    Ok(Some((number, node)))
}

/// Returns a fault for the first rank that is missing below a listed one, or if no rank is listed.
fn missing(listed: &BTreeMap<u32, Tree>, file: Place) -> Option<SourceFault> {
    let gap = (0..).zip(listed).find(|(expected, (rank, _))| expected != *rank);
    match gap {
        Some((expected, (rank, node))) => {
            let message = format!("rank {expected} has no node, but rank {rank} has one");
            Some(SourceFault::new(&message).at(node.place).help("ranks are numbered from 0"))
        }
        None if listed.is_empty() => Some(SourceFault::new("there are no ranks").at(Place { end: file.start, ..file })),
        None => None,
    }
}

fn explicit(place: Place, nodes: Vec<Tree>) -> Tree {
    let name = Name { text: "Explicit".to_owned(), place };
    Tree {
        place,
        node: TreeValue::Tuple { name: Some(name), items: vec![Tree { place, node: TreeValue::List(nodes) }] },
    }
}
