//! Search for the integer at which a monotonic predicate changes.

/// Returns the smallest number in `first..=last` for which `holds` is true, if there is one. The predicate is assumed
/// to stay true from there on. The number is doubled until the predicate is true; then the interval is bisected.
///
/// # Errors
/// The first error of `holds`.
pub fn smallest<E>(first: u64, last: u64, mut holds: impl FnMut(u64) -> Result<bool, E>) -> Result<Option<u64>, E> {
    let mut below = None;
    let mut above = first;
    while !holds(above)? {
        if above >= last {
            return Ok(None);
        }
        below = Some(above);
        above = above.saturating_mul(2).max(1).min(last);
    }
    let Some(mut below) = below else { return Ok(Some(above)) };
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(middle)? {
            above = middle;
        } else {
            below = middle;
        }
    }
    Ok(Some(above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_number_is_found_wherever_it_lies() {
        for answer in 1..200 {
            let found: Result<_, ()> = smallest(1, 150, |number| Ok(number >= answer));
            assert_eq!(found, Ok((answer <= 150).then_some(answer)));
        }
        assert_eq!(smallest(1, 10, |_| Err("no")), Err("no"));
    }
}
