//! Combinations of parameters that the data determine although they do not determine the parameters.

use super::best_fit::BestFit;
use crate::experiment::StudyError;
use crate::model::fit::{Identifiability, NonIdentifiableSet};

/// The fraction of its value by which a parameter is moved to test whether a combination keeps the simulated values.
const MOVE: f64 = 0.25;
/// The distance from a whole number within which a coefficient is rounded to it.
const CLOSE: f64 = 0.15;
/// The maximum change of the simulated values with a combination held constant, as a fraction of the change when one
/// parameter is moved alone; both are sums of squares.
const LEFT: f64 = 0.01;

/// The form of a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CombinationForm {
    /// A sum, with coefficients.
    Sum,
    /// A product.
    Product,
    /// A quotient.
    Ratio,
}

impl CombinationForm {
    /// Returns the name of the form in the output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Ratio => "ratio",
        }
    }
}

/// A combination of parameters that is determined.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The parameters, with their coefficients.
    pub names: String,
    /// The paths of the parameters.
    pub paths: Vec<String>,
    /// The form of the combination.
    pub form: CombinationForm,
    /// The value, in the units of the parameters.
    pub value: f64,
    /// The 95 % interval.
    pub interval95: (f64, f64),
}

/// A combination as coefficients of its members: factors of a sum, or exponents of a product.
pub struct CombinationTerms {
    form: CombinationForm,
    /// The index and the coefficient of each parameter.
    terms: Vec<(usize, f64)>,
}

/// Returns the determined combinations of all entangled sets. `limit` is the change of the residuals that noise
/// explains.
///
/// # Errors
/// Returns the errors of the runs.
pub fn determined_combinations(
    best_fit: &BestFit<'_>,
    identified: &Identifiability,
    limit: f64,
) -> Result<Vec<CombinationTerms>, StudyError> {
    let mut all = Vec::new();
    for set in &identified.entangled {
        for weights in &set.determined {
            all.extend(best(best_fit, set, weights, limit)?);
        }
    }
    Ok(all)
}

/// The best point with one parameter moved, alone and together with another one that compensates.
struct MovedPoint {
    alone: Vec<f64>,
    together: Vec<f64>,
}

/// Returns the form, sum or product, that best keeps the simulated values when the parameters move. Returns `None` for
/// a single parameter, or if neither form keeps the values.
fn best(
    best_fit: &BestFit<'_>,
    set: &NonIdentifiableSet,
    weights: &[f64],
    limit: f64,
) -> Result<Option<CombinationTerms>, StudyError> {
    let terms: Vec<_> = set.members.iter().copied().zip(weights.iter().copied()).filter(|term| term.1 != 0.0).collect();
    if terms.len() < 2 {
        return Ok(None);
    }
    let mut best: Option<(f64, CombinationTerms)> = None;
    for combination in [best_fit.sum(&terms), best_fit.power(&terms)] {
        let Some(moved) = best_fit.moved(&combination) else { continue };
        let change = best_fit.distance(&moved.together)?;
        let is_kept = change <= limit * limit || change <= LEFT * best_fit.distance(&moved.alone)?;
        if is_kept && best.as_ref().is_none_or(|known| change < known.0) {
            best = Some((change, combination));
        }
    }
    Ok(best.map(|(_, combination)| combination))
}

impl BestFit<'_> {
    fn value_of(&self, index: usize) -> f64 {
        self.fit.unknowns[index].value(self.best.point[index])
    }

    fn amount_of(&self, index: usize) -> f64 {
        self.fit.unknowns[index].amount(self.value_of(index))
    }

    /// Returns the sum of amounts that corresponds to these weights of the range fractions.
    fn sum(&self, terms: &[(usize, f64)]) -> CombinationTerms {
        let per_amount = |index: usize| self.fit.unknowns[index].amount_by_part(self.best.point[index]).recip();
        let terms = terms.iter().map(|(index, weight)| (*index, weight * per_amount(*index))).collect::<Vec<_>>();
        CombinationTerms { form: CombinationForm::Sum, terms: simple(&terms) }
    }

    /// Returns the product of powers that corresponds to these weights of the range fractions.
    fn power(&self, terms: &[(usize, f64)]) -> CombinationTerms {
        let per_value = |index: usize| self.fit.unknowns[index].slope_by_part(self.best.point[index]).recip();
        let exponent = |(index, weight): &(usize, f64)| (*index, weight * per_value(*index) * self.value_of(*index));
        let terms = simple(&terms.iter().map(exponent).collect::<Vec<_>>());
        let is_ratio = terms.iter().any(|(_, exponent)| *exponent < 0.0);
        CombinationTerms { form: if is_ratio { CombinationForm::Ratio } else { CombinationForm::Product }, terms }
    }

    /// Moves the first parameter of a combination, and the last one so that the combination keeps its value; `None` if a
    /// parameter would leave its bounds.
    fn moved(&self, combination: &CombinationTerms) -> Option<MovedPoint> {
        let [(first, of_first), .., (last, of_last)] = combination.terms[..] else { return None };
        let unknowns = [&self.fit.unknowns[first], &self.fit.unknowns[last]];
        let ratio = of_first / of_last;
        let by = |part: f64| match combination.form {
            CombinationForm::Sum => {
                let amounts = (self.amount_of(first), self.amount_of(last));
                (unknowns[0].amount(amounts.0 * (1.0 + part)), unknowns[1].amount(amounts.1 - ratio * part * amounts.0))
            }
            CombinationForm::Product | CombinationForm::Ratio => {
                (self.value_of(first) * (1.0 + part), self.value_of(last) * (1.0 + part).powf(-ratio))
            }
        };
        let within = |values: &(f64, f64)| {
            let bounds = unknowns.map(|unknown| unknown.value(0.0)..=unknown.value(1.0));
            bounds[0].contains(&values.0) && bounds[1].contains(&values.1)
        };
        let parts = [MOVE, -MOVE, MOVE / 5.0, -MOVE / 5.0];
        let values = parts.into_iter().map(by).find(within)?;
        let mut alone = self.best.point.clone();
        alone[first] = unknowns[0].coordinate(values.0);
        let mut together = alone.clone();
        together[last] = unknowns[1].coordinate(values.1);
        Some(MovedPoint { alone, together })
    }

    /// Returns the coordinates of a parameter for which a combination stays within its 95 % interval while the other
    /// members stay within their bounds. Returns the whole range if the parameter is not a member.
    pub fn range_within(
        &self,
        combination: &CombinationTerms,
        parameter: usize,
        identified: &Identifiability,
        quantile: f64,
    ) -> (f64, f64) {
        let Some((_, own)) = combination.terms.iter().find(|(index, _)| *index == parameter) else { return (0.0, 1.0) };
        let scaled = |index: usize, value: f64| match combination.form {
            CombinationForm::Sum => self.fit.unknowns[index].amount(value),
            CombinationForm::Product | CombinationForm::Ratio => value.ln(),
        };
        let others = combination.terms.iter().filter(|(index, _)| *index != parameter);
        let half = self.half_width(combination, identified, quantile) / own.abs();
        let (mut least, mut most) = (-half, half);
        for (index, weight) in others {
            let here = scaled(*index, self.value_of(*index));
            let moved =
                [0.0, 1.0].map(|at| -weight / own * (scaled(*index, self.fit.unknowns[*index].value(at)) - here));
            least += moved[0].min(moved[1]);
            most += moved[0].max(moved[1]);
        }
        let unknown = &self.fit.unknowns[parameter];
        let bounds = [0.0, 1.0].map(|at| scaled(parameter, unknown.value(at)));
        let coordinate = |change: f64| {
            let amount = scaled(parameter, self.value_of(parameter)) + change;
            let amount = amount.clamp(bounds[0].min(bounds[1]), bounds[0].max(bounds[1]));
            let value = match combination.form {
                CombinationForm::Sum => unknown.amount(amount),
                CombinationForm::Product | CombinationForm::Ratio => amount.exp(),
            };
            unknown.coordinate(value)
        };
        let ends = (coordinate(least), coordinate(most));
        (ends.0.min(ends.1), ends.0.max(ends.1))
    }

    /// Returns the half-width of the 95 % interval of a combination; for a product or a ratio, of its logarithm.
    fn half_width(&self, combination: &CombinationTerms, identified: &Identifiability, quantile: f64) -> f64 {
        let mut weights = vec![0.0; self.best.point.len()];
        for (index, coefficient) in &combination.terms {
            let (unknown, at) = (&self.fit.unknowns[*index], self.best.point[*index]);
            weights[*index] = coefficient
                * match combination.form {
                    CombinationForm::Sum => unknown.amount_by_part(at),
                    CombinationForm::Product | CombinationForm::Ratio => {
                        unknown.slope_by_part(at) / self.value_of(*index)
                    }
                };
        }
        quantile * identified.covariance.deviation(&weights)
    }

    /// Returns the combinations with their values and intervals, their members in case order.
    pub fn combinations(
        &self,
        combinations: &[CombinationTerms],
        identified: &Identifiability,
        quantile: f64,
    ) -> Vec<Combination> {
        let place = |term: &(usize, f64)| self.fit.unknowns[term.0].place;
        let ordered = |combination: &CombinationTerms| {
            let mut terms = combination.terms.clone();
            terms.sort_by_key(place);
            CombinationTerms { form: combination.form, terms: simple(&terms) }
        };
        let mut all: Vec<CombinationTerms> = combinations.iter().map(ordered).collect();
        all.sort_by_key(|combination| combination.terms.iter().map(place).collect::<Vec<_>>());
        all.iter().map(|combination| self.combination(combination, identified, quantile)).collect()
    }

    fn combination(&self, combination: &CombinationTerms, identified: &Identifiability, quantile: f64) -> Combination {
        let half = self.half_width(combination, identified, quantile);
        let (value, interval) = if combination.form == CombinationForm::Sum {
            let value: f64 = combination.terms.iter().map(|(index, factor)| factor * self.amount_of(*index)).sum();
            (value, (value - half, value + half))
        } else {
            let value: f64 =
                combination.terms.iter().map(|(index, power)| self.value_of(*index).powf(*power)).product();
            (value, (value * (-half).exp(), value * half.exp()))
        };
        let (least, greatest) = self.bounds(combination);
        let interval95 = (interval.0.max(least).min(value), interval.1.min(greatest).max(value));
        let paths = combination.terms.iter().map(|(index, _)| self.fit.unknowns[*index].name.clone()).collect();
        Combination { names: self.names(combination), paths, form: combination.form, value, interval95 }
    }

    /// Returns the least and the greatest value of a combination that the bounds of its members allow.
    fn bounds(&self, combination: &CombinationTerms) -> (f64, f64) {
        let is_sum = combination.form == CombinationForm::Sum;
        let ends = combination.terms.iter().map(|(index, coefficient)| {
            let unknown = &self.fit.unknowns[*index];
            let of = |value: f64| {
                if is_sum { coefficient * unknown.amount(value) } else { value.powf(*coefficient) }
            };
            let (from, to) = (of(unknown.value(0.0)), of(unknown.value(1.0)));
            (from.min(to), from.max(to))
        });
        let joined = |all: (f64, f64), one: (f64, f64)| {
            if is_sum { (all.0 + one.0, all.1 + one.1) } else { (all.0 * one.0, all.1 * one.1) }
        };
        ends.reduce(joined).unwrap_or((f64::NEG_INFINITY, f64::INFINITY))
    }

    fn names(&self, combination: &CombinationTerms) -> String {
        let name = |index: usize| self.fit.unknowns[index].name.as_str();
        let of_sum = |(index, factor): &(usize, f64)| match (*factor, self.fit.unknowns[*index].is_rate()) {
            (1.0, false) => name(*index).to_owned(),
            (factor, false) => format!("{} {}", crate::report::digits(factor), name(*index)),
            (factor, true) => format!("{} / {}", crate::report::digits(factor), name(*index)),
        };
        let of_product = |(index, power): &(usize, f64)| match *power {
            1.0 => name(*index).to_owned(),
            power => format!("{}^{}", name(*index), crate::report::digits(power)),
        };
        match (combination.form, &combination.terms[..]) {
            (CombinationForm::Sum, terms) => terms.iter().map(of_sum).collect::<Vec<_>>().join(" + "),
            (CombinationForm::Ratio, [(over, 1.0), (under, -1.0)]) => format!("{} / {}", name(*over), name(*under)),
            (_, terms) => terms.iter().map(of_product).collect::<Vec<_>>().join(" * "),
        }
    }
}

/// Scales coefficients so that the smallest is 1 in magnitude and the first is positive, and rounds them if all are
/// nearly whole.
fn simple(terms: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let smallest =
        terms.iter().map(|term| term.1).min_by(|left, right| left.abs().total_cmp(&right.abs())).unwrap_or(1.0);
    let smallest = smallest.abs() * terms[0].1.signum();
    let scaled: Vec<_> = terms.iter().map(|(index, weight)| (*index, weight / smallest)).collect();
    let is_whole = scaled.iter().all(|(_, weight)| (weight - weight.round()).abs() <= CLOSE);
    if is_whole { scaled.into_iter().map(|(index, weight)| (index, weight.round())).collect() } else { scaled }
}
