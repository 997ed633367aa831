//! Names of phases that come from a file.

use parsim_sim::trace::Phase;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Every name once, for as long as the program runs: a trace names its phases by reference.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
static LISTS: Mutex<BTreeSet<&'static [Phase]>> = Mutex::new(BTreeSet::new());

/// The name as a reference that lives as long as the program runs.
pub fn phase(name: &str) -> Phase {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = String::leak(name.to_owned());
    names.insert(name);
    name
}

pub fn phases(list: &[Phase]) -> &'static [Phase] {
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lists.get(list) {
        return known;
    }
    let list: &'static [Phase] = Vec::leak(list.to_vec());
    lists.insert(list);
    list
}
