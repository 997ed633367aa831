//! Duplicate values of an axis, whose cases would be run and counted twice.

use super::planned::PlannedAxis;
use crate::scenario::axis::AxisValue;
use crate::scenario::parameter::in_base_unit;
use crate::scenario::source::SourceFault;
use xxhash_rust::xxh3::xxh3_128;

/// The bound below which every whole number is a real number of 64 bits.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns a fault for the first value that the axis has already had, in any unit.
pub(super) fn fault(planned: &PlannedAxis) -> Option<SourceFault> {
    if is_ascending(planned) {
        return None;
    }
    let texts = || planned.values.iter().map(|value| value.scalar(&planned.axis));
    let twice = first_twice(texts().map(|text| text.map(|text| xxh3_128(canonical(&text).as_bytes()))))?;
    let place = planned.values[twice[1]].place();
    let [first, again] = twice.map(|index| texts().nth(index).flatten().unwrap_or_default());
    let (name, path) = (&planned.axis.name, &planned.axis.path);
    let twice =
        if first == again { format!("`{first}` twice") } else { format!("`{first}` and `{again}`, which are equal") };
    let message = format!("the axis `{name}` has the values {twice}");
    Some(
        SourceFault { place, ..SourceFault::new(&message) }
            .on(path)
            .help("give each value once; `repeat` runs a case with several seeds"),
    )
}

/// Returns `true` if the values are strictly ascending integers. This fast path matters for ranges of a million values.
fn is_ascending(planned: &PlannedAxis) -> bool {
    planned.values.is_sorted_by(|previous, next| match (&previous.shown, &next.shown) {
        (AxisValue::Whole(previous), AxisValue::Whole(next)) => previous < next,
        _ => false,
    })
}

/// Returns the index of the first duplicate value, preceded by the index of the value that it equals.
fn first_twice(values: impl Iterator<Item = Option<u128>>) -> Option<[usize; 2]> {
    let mut sorted: Vec<_> = values.enumerate().filter_map(|(index, value)| Some((value?, index))).collect();
    sorted.sort_unstable();
    let equal = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    equal.map(|pair| [pair[0].1, pair[1].1]).min_by_key(|[_, again]| *again)
}

/// Returns a text that is the same for all spellings of a quantity. Whole numbers are exact: seeds may have 64 bits.
fn canonical(text: &str) -> String {
    if let AxisValue::Whole(whole) = AxisValue::parse(text.trim()) {
        return whole.to_string();
    }
    if let Some(whole) = text.trim().parse::<f64>().ok().filter(|real| real.fract() == 0.0 && real.abs() < EXACT) {
        return format!("{whole:.0}");
    }
    in_base_unit(text).map_or_else(|| text.trim().to_owned(), |(number, unit)| format!("{number:.12e} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Plan;
    use crate::scenario::source::Document;

    #[test]
    fn the_first_value_that_comes_again_is_found() {
        let twice = |values: &[u128]| first_twice(values.iter().map(|value| (*value > 0).then_some(*value)));
        assert_eq!(twice(&[3, 1, 2, 0, 0]), None);
        assert_eq!(twice(&[5, 1, 2, 2, 5, 1]), Some([2, 3]));
        assert_eq!(twice(&[1, 1, 1]), Some([0, 1]));
    }

    #[test]
    fn faults_of_declared_values_stand_in_the_scenario() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/ping.ron");
        let text = std::fs::read_to_string(path).unwrap();
        let text = &text[..text.find("    axes: [").unwrap()];
        for (axes, line) in [
            ("Axis(name: \"bytes\", path: \"program.bytes\", unit: \"Bq\",\n values: [1, 1024])", 2),
            ("Axis(name: \"p\", path: \"ranks\", values: [2]),\nAxis(name: \"q\", path: \"ranks\", values: [3])", 2),
            ("Axis(name: \"p\", path: \"ranks\",\n values: [2,\n 2])", 3),
            (
                "Axis(name: \"h\", path: \"placement.hops\", values: [1]),\n\nAxis(name: \"p\", path: \"ranks\", expression: \"2.5 * h\")",
                3,
            ),
        ] {
            let text = format!("{text}axes: [{axes}], seed: 1)");
            let first = text.lines().position(|line| line.contains("axes: [")).unwrap();
            let document = Document::from_text(path, &text).unwrap();
            let faults = Plan::new(document, &[]).and_then(|plan| {
                let cases = plan.unfold()?;
                cases.case(0).map(|_| ())
            });
            let entry = faults.unwrap_err().entries().remove(0);
            assert_eq!((entry.file.as_deref(), entry.line), (Some(path), Some(first + line)), "{axes}: {entry:?}");
        }
    }

    #[test]
    fn spellings_of_one_value_are_one() {
        for spellings in [["8 B", "8B"], ["1024 B", "1 KiB"], ["8", "8.0"], ["1 us", "1000 ns"], ["1_000", "1000"]] {
            assert_eq!(canonical(spellings[0]), canonical(spellings[1]), "{spellings:?}");
        }
        for others in [
            ["8 B", "8 kB"],
            ["0.5 B", "1 B"],
            ["0.2 ps", "0.3 ps"],
            ["1 us", "1 us/B"],
            ["ring", "torus2d"],
            ["8", "8 B"],
            ["Row", "Rows"],
            ["9007199254740993", "9007199254740992"],
        ] {
            assert_ne!(canonical(others[0]), canonical(others[1]), "{others:?}");
        }
    }
}
