//! Search for the normal form that fits the data.

use super::normal_form::{Factor, NormalForm, Term, product};
use super::regression::{Regression, Weighting};

/// The ratio by which a form with more coefficients must reduce the leave-one-out error of the simpler form.
const GAIN: f64 = 0.9;
/// The relative error below which errors are due to rounding; a simpler form with such an error is kept.
const EXACT: f64 = 1e-9;
/// The weighted contribution of a term, relative to the largest weighted value, up to which it is due to rounding.
const ROUNDING: f64 = 1e-12;

/// An observed value and the parameter values that produced it, all positive.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The parameter values, in order.
    pub point: Vec<f64>,
    /// The observed value.
    pub value: f64,
}

/// Settings of the search for a normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalFormSearch {
    /// The names of the parameters, one or two.
    pub parameters: Vec<String>,
    /// The maximum number of terms of a form with one parameter, one or two. With two parameters, a form has one term
    /// for both (multiplicative), or one for each (additive).
    pub terms: usize,
    /// The index of the parameter that is the number of processors in a strong scaling. The form then describes the
    /// value times this parameter, that is, the time summed over all processors, because decreasing times have no
    /// normal form.
    pub strong_scaling: Option<usize>,
    /// The residuals whose squares are summed.
    pub weighting: Weighting,
}

/// The result of the search for a normal form.
#[derive(Clone, Debug)]
pub struct FittedForm {
    /// The form of the value, or of the time summed over all processors.
    pub form: NormalForm,
    /// The fit of the form. The first coefficient is the constant.
    pub regression: Regression,
    strong_scaling: Option<usize>,
}

/// A form without coefficients: the factors of each term.
type Hypothesis = Vec<Vec<Factor>>;

impl NormalFormSearch {
    /// Returns the form with the smallest leave-one-out error. A form with more coefficients must be better by a tenth.
    ///
    /// Returns `None` with fewer points than coefficients, or if values or parameters are not positive.
    #[must_use]
    pub fn fit(&self, observations: &[Observation]) -> Option<FittedForm> {
        let positive = |one: &Observation| one.value > 0.0 && one.point.iter().all(|x| *x > 0.0);
        if !observations.iter().all(positive) {
            return None;
        }
        let values: Vec<_> = observations.iter().map(|one| one.value * self.share(&one.point)).collect();
        let hypothesis = simplest(self.best_of_each_size(observations, &values))?;
        let (hypothesis, regression) = self.without_negligible(hypothesis, observations, &values)?;
        let terms = hypothesis.into_iter().zip(&regression.coefficients[1..]);
        let form = NormalForm {
            parameters: self.parameters.clone(),
            constant: regression.coefficients[0],
            terms: terms.map(|(factors, coefficient)| Term { coefficient: *coefficient, factors }).collect(),
        };
        Some(FittedForm { form, regression, strong_scaling: self.strong_scaling })
    }

    /// Returns the form with the least leave-one-out error of each number of coefficients, and this error. Only the forms
    /// that leave the fewest points out of it are compared.
    fn best_of_each_size(&self, observations: &[Observation], values: &[f64]) -> Vec<Option<(f64, Hypothesis)>> {
        let rated = |hypothesis: Hypothesis| {
            let errors = Regression::leave_one_out(&columns(&hypothesis, observations), values, self.weighting)?;
            Some((errors.decisive.len(), errors.error?, hypothesis))
        };
        let of_size = |all: Vec<Hypothesis>| all.into_iter().filter_map(rated).collect::<Vec<_>>();
        let sizes: Vec<_> = self.hypotheses().into_iter().map(of_size).collect();
        let fewest = sizes.iter().flatten().map(|(decisive, ..)| *decisive).min();
        let best = |rated: Vec<(usize, f64, Hypothesis)>| {
            let comparable = rated.into_iter().filter(|(decisive, ..)| Some(*decisive) == fewest);
            comparable.map(|(_, error, hypothesis)| (error, hypothesis)).min_by(|one, other| one.0.total_cmp(&other.0))
        };
        sizes.into_iter().map(best).collect()
    }

    /// Fits a form without the terms whose contributions are below rounding at every point.
    fn without_negligible(
        &self,
        hypothesis: Hypothesis,
        observations: &[Observation],
        values: &[f64],
    ) -> Option<(Hypothesis, Regression)> {
        let regression = Regression::of(&columns(&hypothesis, observations), values, self.weighting)?;
        let weighted = |amount: f64, value: f64| amount.abs() * self.weighting.weight(value);
        let largest = values.iter().map(|value| weighted(*value, *value)).fold(0.0, f64::max);
        let counts = |(factors, coefficient): &(Vec<Factor>, f64)| {
            let contribution = |one: &Observation| coefficient * product(factors, &one.point);
            observations.iter().zip(values).any(|(one, value)| weighted(contribution(one), *value) > ROUNDING * largest)
        };
        let count = hypothesis.len();
        let terms = hypothesis.into_iter().zip(regression.coefficients[1..].iter().copied());
        let kept: Hypothesis = terms.filter(counts).map(|(factors, _)| factors).collect();
        if kept.len() == count {
            return Some((kept, regression));
        }
        let regression = Regression::of(&columns(&kept, observations), values, self.weighting)?;
        Some((kept, regression))
    }

    fn share(&self, point: &[f64]) -> f64 {
        self.strong_scaling.map_or(1.0, |index| point[index])
    }

    /// Returns all forms, grouped by the number of coefficients, the simplest first.
    fn hypotheses(&self) -> Vec<Vec<Hypothesis>> {
        let factors = Factor::all();
        let constant = vec![Vec::new()];
        if self.parameters.len() == 1 {
            let single: Vec<Hypothesis> = factors.iter().map(|factor| vec![vec![*factor]]).collect();
            let pair = |(index, first): (usize, &Factor)| {
                let first = *first;
                factors[..index].iter().map(move |second| vec![vec![*second], vec![first]]).collect::<Vec<_>>()
            };
            let double = if self.terms > 1 { factors.iter().enumerate().flat_map(pair).collect() } else { Vec::new() };
            return vec![constant, single, double];
        }
        let mut single: Vec<Hypothesis> = Vec::new();
        let mut additive: Vec<Hypothesis> = Vec::new();
        for first in &factors {
            single.push(vec![vec![*first, Factor::ONE]]);
            single.push(vec![vec![Factor::ONE, *first]]);
            for second in &factors {
                single.push(vec![vec![*first, *second]]);
                additive.push(vec![vec![*first, Factor::ONE], vec![Factor::ONE, *second]]);
            }
        }
        vec![constant, single, additive]
    }
}

fn columns(hypothesis: &Hypothesis, observations: &[Observation]) -> Vec<Vec<f64>> {
    let term = |factors: &Vec<Factor>| observations.iter().map(|one| product(factors, &one.point)).collect();
    [vec![1.0; observations.len()]].into_iter().chain(hypothesis.iter().map(term)).collect()
}

/// Returns the simplest sufficient hypothesis of those with the least error of each number of coefficients, in ascending
/// order: one with more coefficients must be better by a tenth.
pub(super) fn simplest<T>(by_size: impl IntoIterator<Item = Option<(f64, T)>>) -> Option<T> {
    let rated = by_size.into_iter().flatten().map(|(error, hypothesis)| (error.max(EXACT), hypothesis));
    let better = |simpler: (f64, T), found: (f64, T)| if found.0 >= GAIN * simpler.0 { simpler } else { found };
    rated.reduce(better).map(|(_, hypothesis)| hypothesis)
}

impl FittedForm {
    /// Returns the value at a point, and half the width of the 95 % prediction interval of a new observation there.
    #[must_use]
    pub fn predict(&self, point: &[f64]) -> (f64, Option<f64>) {
        let terms = self.form.terms.iter().map(|term| product(&term.factors, point));
        let row: Vec<_> = [1.0].into_iter().chain(terms).collect();
        let share = self.strong_scaling.map_or(1.0, |index| point[index]);
        let (value, interval) = self.regression.predict(&row);
        (value / share, interval.map(|interval| interval / share))
    }
}
