//! The unit of a column, given by the suffix of its name.

/// A conversion of units as a ratio of two numbers, so that 700 ms are exactly 0.7 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    times: f64,
    over: f64,
}

impl Conversion {
    const NONE: Self = Self { times: 1.0, over: 1.0 };

    /// Returns a value in the other unit.
    #[must_use]
    pub fn of(self, value: f64) -> f64 {
        value * self.times / self.over
    }
}

/// Suffixes of times, with the duration of the unit in picoseconds.
const TIMES: [(&str, f64); 7] =
    [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0), ("min", 60e12), ("h", 3600e12)];
/// The word between the two units of a rate.
const PER: &str = "per";

/// Splits a key into its stem and its unit of time, in picoseconds; returns `None` if the key is not a time.
pub(super) fn time(key: &str) -> Option<(&str, f64)> {
    let (stem, suffix) = key.rsplit_once('_')?;
    let is_rate = stem.rsplit('_').next() == Some(PER);
    let (_, unit) = TIMES.iter().find(|(unit, _)| *unit == suffix).filter(|_| !is_rate)?;
    Some((stem, *unit))
}

/// Returns the name of a column of times after its conversion to seconds.
#[must_use]
pub fn in_seconds(key: &str) -> String {
    time(key).map_or_else(|| key.to_owned(), |(stem, _)| format!("{stem}_s"))
}

/// Returns the unit of the numerator of a rate, such as `bytes` in `bytes_per_s`.
fn rate(key: &str) -> Option<&str> {
    let (before, _) = key.split_once("_per_")?;
    Some(&key[before.rfind('_').map_or(0, |at| at + 1)..])
}

/// Returns the conversion of values under `key` to the unit of values under `wanted`.
///
/// # Errors
/// A description of the mismatch, if the two are not the same quantity.
pub fn conversion(key: &str, wanted: &str) -> Result<Conversion, String> {
    match (time(key), time(wanted)) {
        (Some((_, own)), Some((_, wanted))) if own < wanted => {
            Ok(Conversion { over: wanted / own, ..Conversion::NONE })
        }
        (Some((_, own)), Some((_, wanted))) => Ok(Conversion { times: own / wanted, ..Conversion::NONE }),
        (None, None) if rate(key).zip(rate(wanted)).is_none_or(|(own, wanted)| own == wanted) => Ok(Conversion::NONE),
        (None, Some(_)) => {
            Err(format!("`{wanted}` is a time, and `{key}` has no suffix of a time, such as `_s` or `_ms`"))
        }
        (Some(_), None) => Err(format!("`{key}` is a time by its suffix, but `{wanted}` is not")),
        (None, None) => Err(format!("`{key}` and `{wanted}` are in different units")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_units() {
        let converted = |key: &str, wanted: &str| conversion(key, wanted).map(|unit| unit.of(700.0));
        assert_eq!(converted("measured_ms", "makespan_s"), Ok(0.7));
        assert_eq!(converted("measured_s", "makespan_s"), Ok(700.0));
        assert_eq!(converted("measured_min", "x_ms"), Ok(42_000_000.0));
        assert_eq!(converted("routed", "throughput_flits_per_cycle"), Ok(700.0));
        assert_eq!(converted("known_efficiency", "efficiency"), Ok(700.0));
        for (key, wanted) in
            [("measured", "makespan_s"), ("measured_s", "speedup"), ("rate_mb_per_s", "rate_bytes_per_s")]
        {
            assert!(conversion(key, wanted).is_err(), "{key} {wanted}");
        }
    }
}
