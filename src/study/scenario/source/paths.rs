//! Paths into a tree: lookup and assignment.

use super::fault::SourceFault;
use super::place::Place;
use super::spelling::{advice, excerpt};
use super::tree::{Name, Tree, TreeField, TreeValue};

/// The point at which a path fails: the first segment that leads nowhere.
pub(super) struct PathError<'a> {
    parent: &'a Tree,
    route: Vec<usize>,
    index: usize,
}

/// Returns the value at a path and the indices of the children on the way to it.
pub(super) fn walk<'a>(root: &'a Tree, path: &str) -> Result<(Vec<usize>, &'a Tree), PathError<'a>> {
    let mut route = Vec::new();
    let mut tree = root;
    for (index, segment) in segments(path).enumerate() {
        match tree.step(segment) {
            Some((steps, child)) => {
                route.extend(steps);
                tree = child;
            }
            None => return Err(PathError { parent: tree, route, index }),
        }
    }
    Ok((route, tree))
}

/// Returns the value at a path, or its nearest existing parent.
pub(super) fn nearest<'a>(root: &'a Tree, path: &str) -> &'a Tree {
    match walk(root, path) {
        Ok((_, tree)) => tree,
        Err(broken) => broken.parent,
    }
}

/// Returns `true` if `part` is the path `whole` or a path below it.
pub(crate) fn is_within(part: &str, whole: &str) -> bool {
    part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').take(if path.is_empty() { 0 } else { usize::MAX })
}

/// Replaces or adds the value at `path`, creating missing records on the way. `place_of` returns the place of a segment
/// of the path.
pub(super) fn assign(
    root: &mut Tree,
    path: &str,
    tree: Tree,
    place_of: &dyn Fn(usize) -> Place,
) -> Result<(), SourceFault> {
    let route = match walk(root, path) {
        Ok((route, _)) => route,
        Err(broken) => {
            let names: Vec<_> = segments(path).skip(broken.index).collect();
            let first = names.first().copied().unwrap_or("");
            if !takes_fields(broken.parent) || names.iter().any(|name| name.is_empty()) {
                return Err(missing(&broken, path, first).at(place_of(broken.index)));
            }
            let (index, route) = (broken.index, broken.route);
            let inner = names.iter().enumerate().skip(1).rev().fold(tree, |value, (after, name)| {
                let place = place_of(index + after);
                let fields = vec![new_field(name, place, value)];
                Tree { place, node: TreeValue::Record { name: None, fields } }
            });
            let field = new_field(first, place_of(index), inner);
            return follow(root, &route).map_or(Ok(()), |parent| add_field(parent, field));
        }
    };
    if let Some(slot) = follow(root, &route) {
        *slot = tree;
    }
    Ok(())
}

fn new_field(name: &str, place: Place, value: Tree) -> TreeField {
    TreeField { name: Name { text: name.to_owned(), place }, value, inherited: false }
}

fn follow<'a>(root: &'a mut Tree, route: &[usize]) -> Option<&'a mut Tree> {
    route.iter().try_fold(root, |tree, &index| tree.child_mut(index))
}

/// Returns `true` if a field can be added to the value, or to its payload.
fn takes_fields(tree: &Tree) -> bool {
    match &tree.node {
        TreeValue::Unit | TreeValue::Record { .. } => true,
        TreeValue::Tuple { items, .. } => items.first().is_none_or(|item| items.len() == 1 && takes_fields(item)),
        TreeValue::Option(Some(inner)) => takes_fields(inner),
        _ => false,
    }
}

fn add_field(tree: &mut Tree, field: TreeField) -> Result<(), SourceFault> {
    match &mut tree.node {
        TreeValue::Record { fields, .. } => fields.push(field),
        TreeValue::Tuple { name, items } if items.is_empty() => {
            tree.node = TreeValue::Record { name: name.take(), fields: vec![field] };
        }
        TreeValue::Unit => tree.node = TreeValue::Record { name: None, fields: vec![field] },
        _ => return tree.child_mut(0).map_or(Ok(()), |inner| add_field(inner, field)),
    }
    Ok(())
}

fn missing(broken: &PathError, path: &str, name: &str) -> SourceFault {
    let parent: Vec<_> = segments(path).take(broken.index).collect();
    let owner = if parent.is_empty() { "the document".to_owned() } else { format!("`{}`", parent.join(".")) };
    let names = broken.parent.field_names();
    let known = names.iter().map(String::as_str);
    let fault = if names.is_empty() {
        SourceFault::new(&format!("{owner} is {}, which has no `{}`", broken.parent.words(), excerpt(name)))
    } else {
        SourceFault::new(&format!("there is no `{}` in {owner}", excerpt(name)))
    };
    match advice(name, known) {
        Some(help) => fault.on(path).help(&help),
        None => fault.on(path),
    }
}
