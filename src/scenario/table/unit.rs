//! The unit of a column, by the suffix of its name.

/// Suffixes of times, and how many seconds each is.
const TIMES: [(&str, f64); 7] =
    [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12), ("min", 60.0), ("h", 3600.0)];
/// What joins the two units of a rate.
const PER: &str = "per";

/// What a key is about before its unit of time, and how many seconds the unit is; `None` for what is no time.
pub(super) fn time(key: &str) -> Option<(&str, f64)> {
    let (stem, suffix) = key.rsplit_once('_')?;
    let is_rate = stem.rsplit('_').next() == Some(PER);
    let (_, seconds) = TIMES.iter().find(|(unit, _)| *unit == suffix).filter(|_| !is_rate)?;
    Some((stem, *seconds))
}

/// What a column of times is called when it has been brought into seconds.
#[must_use]
pub fn in_seconds(key: &str) -> String {
    time(key).map_or_else(|| key.to_owned(), |(stem, _)| format!("{stem}_s"))
}

/// The unit of a rate, such as `bytes_per_s`.
fn rate(key: &str) -> Option<&str> {
    let (before, _) = key.split_once("_per_")?;
    Some(&key[before.rfind('_').map_or(0, |at| at + 1)..])
}

/// The factor that brings values under `key` into the unit of those under `wanted`.
///
/// # Errors
/// In words, if these are not the same quantity.
pub fn conversion(key: &str, wanted: &str) -> Result<f64, String> {
    match (time(key), time(wanted)) {
        (Some((_, own)), Some((_, wanted))) => Ok(if own.total_cmp(&wanted).is_eq() { 1.0 } else { own / wanted }),
        (None, None) if rate(key).zip(rate(wanted)).is_none_or(|(own, wanted)| own == wanted) => Ok(1.0),
        (None, Some(_)) => {
            Err(format!("`{wanted}` is a time, and `{key}` has no suffix of a time, such as `_s` or `_ms`"))
        }
        (Some(_), None) => Err(format!("`{key}` is a time by its suffix, and `{wanted}` is none")),
        (None, None) => Err(format!("`{key}` and `{wanted}` are in different units")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_units() {
        assert_eq!(conversion("measured_ms", "makespan_s"), Ok(1e-3));
        assert_eq!(conversion("measured_s", "makespan_s"), Ok(1.0));
        assert_eq!(conversion("measured_min", "x_ms"), Ok(60_000.0));
        assert_eq!(conversion("routed", "throughput_flits_per_cycle"), Ok(1.0));
        assert_eq!(conversion("known_efficiency", "efficiency"), Ok(1.0));
        for (key, wanted) in
            [("measured", "makespan_s"), ("measured_s", "speedup"), ("rate_mb_per_s", "rate_bytes_per_s")]
        {
            assert!(conversion(key, wanted).is_err(), "{key} {wanted}");
        }
    }
}
