//! Searching whole numbers for the place where an answer changes.

/// The smallest number from `first` to `last` for which `holds`, if it holds for any; from there on it is assumed to
/// hold. Numbers are doubled until it holds, then the interval is halved.
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
