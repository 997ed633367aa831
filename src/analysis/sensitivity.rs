//! How much a result depends on a parameter.

/// One run of a central difference: the value of the parameter, and the time of the run in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// The value, in any unit.
    pub value: f64,
    /// The time, in seconds.
    pub time_s: f64,
}

/// The elasticity of a time, d ln T / d ln x, as the slope between two probes: by how many percent the time changes
/// for one percent of the parameter. It is exact where T is a power of x.
///
/// `None` for equal values, or values or times that are not positive.
#[must_use]
pub fn elasticity(below: Probe, above: Probe) -> Option<f64> {
    let slope = (above.time_s / below.time_s).ln() / (above.value / below.value).ln();
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elasticities_of_powers_are_their_exponents() {
        let probe = |value: f64| Probe { value, time_s: 3.0 * value.powi(2) };
        assert!((elasticity(probe(9.0), probe(11.0)).unwrap() - 2.0).abs() < 1e-12);
        let flat = |value: f64| Probe { value, time_s: 5.0 };
        assert_eq!(elasticity(flat(1.0), flat(2.0)), Some(0.0));
        assert_eq!(elasticity(probe(2.0), probe(2.0)), None);
        assert_eq!(elasticity(Probe { value: 0.0, time_s: 1.0 }, Probe { value: 0.0, time_s: 1.0 }), None);
    }
}
