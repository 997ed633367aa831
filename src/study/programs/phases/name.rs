//! Interned names of phases that are read from a file.

use parsim_sim::trace::Phase;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// All names, each stored once for the lifetime of the process, because traces refer to phases by reference.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
static LISTS: Mutex<BTreeSet<&'static [Phase]>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// The names that this thread has looked up, because the rows of a million results use the same few names.
    static KNOWN: RefCell<FxHashSet<Phase>> = RefCell::default();
    /// The keys of the times of these names.
    static TIMES: RefCell<FxHashMap<Phase, &'static str>> = RefCell::default();
}

/// Returns the name as a reference with static lifetime.
#[must_use]
pub fn phase(name: &str) -> Phase {
    KNOWN.with_borrow_mut(|known| {
        known.get(name).copied().unwrap_or_else(|| {
            let phase = kept(name);
            known.insert(phase);
            phase
        })
    })
}

/// Returns the key of the time that is spent in a phase or an activity.
#[must_use]
pub fn time_key(name: Phase) -> &'static str {
    TIMES.with_borrow_mut(|times| *times.entry(name).or_insert_with(|| kept(&format!("{name}_s"))))
}

fn kept(name: &str) -> &'static str {
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
