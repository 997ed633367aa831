//! A heap of keys.

use super::Key;

/// A 4-ary min-heap. A popped root leaves a hole that the next push fills, because a station
/// that has just finished a job usually schedules the next one: one sift instead of two.
#[derive(Default)]
pub(super) struct Heap {
    keys: Vec<Key>,
    hole: bool,
}

const ARITY: usize = 4;

impl Heap {
    pub(super) fn len(&self) -> usize {
        self.keys.len() - usize::from(self.hole)
    }

    pub(super) fn push(&mut self, key: Key) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
        } else {
            self.keys.push(key);
            self.sift_up(key);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Key> {
        let root = self.peek()?;
        self.hole = true;
        Some(root)
    }

    pub(super) fn peek(&mut self) -> Option<Key> {
        if self.hole {
            self.hole = false;
            let last = self.keys.pop()?;
            if !self.keys.is_empty() {
                self.sift_down(last);
            }
        }
        self.keys.first().copied()
    }

    /// Places `key` on the path from the last leaf upwards.
    fn sift_up(&mut self, key: Key) {
        let mut at = self.keys.len() - 1;
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
    }

    /// Places `key` on the path from the root downwards; the root is vacant.
    fn sift_down(&mut self, key: Key) {
        let mut at = 0;
        while let Some(child) = self.least_child(at).filter(|child| self.keys[*child] < key) {
            self.keys[at] = self.keys[child];
            at = child;
        }
        self.keys[at] = key;
    }

    /// The child of `at` with the least key. Four are compared in pairs, without branches, which nobody could predict.
    fn least_child(&self, at: usize) -> Option<usize> {
        let first = at * ARITY + 1;
        let children = self.keys.get(first..)?;
        if let Some(&[a, b, c, d]) = children.first_chunk::<ARITY>() {
            let (low, high) = (usize::from(b < a), 2 + usize::from(d < c));
            return Some(first + if children[high] < children[low] { high } else { low });
        }
        let least = (0..children.len()).min_by_key(|child| children[*child])?;
        Some(first + least)
    }
}
