//! The fit of `--model normal-form`.

use super::{
    FitGroup, FitModel, Fitted, FittedModel, FittedPoint, GivenArgument, described, points, put_quality, quality_words,
};
use crate::answer::Record;
use crate::experiment::StudyError;
use crate::model::fit::{FittedForm, NormalFormSearch, Observation, Weighting};
use crate::report::digits;
use crate::scenario::AxisValue;
use crate::scenario::table::{Row, Table};
use std::collections::{HashMap, HashSet};

/// A search for a normal form.
#[derive(Clone, Debug, Default)]
pub struct FormRequest {
    /// The columns that the normal form depends on, one or two; by default all that vary.
    pub parameters: Vec<String>,
    /// The maximum number of terms of a normal form with one parameter; 1 by default.
    pub terms: Option<u8>,
    /// The parameter that is the number of processors of a strong scaling. The fit is then to the total time of all
    /// processors, because decreasing times have no normal form.
    pub strong_scaling: Option<String>,
    /// Points at which the value is predicted, such as `p=128` or `p=128,n=512`.
    pub at: Vec<String>,
}

impl FormRequest {
    pub(super) const fn given(&self) -> [GivenArgument; 4] {
        let form = &[FitModel::NormalForm];
        [
            ("parameters", form, !self.parameters.is_empty()),
            ("terms", form, self.terms.is_some()),
            ("strong-scaling", form, self.strong_scaling.is_some()),
            ("at", form, !self.at.is_empty()),
        ]
    }

    pub(super) fn parameters(&self, data: &Table, value: &str) -> Result<Vec<String>, StudyError> {
        let named = super::named(data, self.parameters.iter().map(String::as_str))?;
        let varied = |axis: &&String| {
            let mut numbers = data.rows.iter().filter_map(|row| row.number(axis));
            let first = numbers.next();
            numbers.any(|number| Some(number) != first)
        };
        let parameters = if named.is_empty() { data.axes(value).filter(varied).cloned().collect() } else { named };
        if parameters.is_empty() || parameters.len() > 2 {
            let message =
                format!("a normal form has one or two parameters, not {}: name them by --parameters", parameters.len());
            return Err(data.failure(&message).into());
        }
        if let [one, other] = parameters.as_slice()
            && one == other
        {
            return Err(StudyError::Request(format!("--parameters names `{one}` twice")));
        }
        if let Some(fixed) = parameters.iter().find(|name| !varied(name)) {
            let message = format!("`{fixed}` has the same value in every row, which says nothing of its effect");
            return Err(data.fault_of_rows(&message).help("name other columns by --parameters").into());
        }
        if let [one, other] = parameters.as_slice()
            && are_tied(data, one, other)
        {
            let message = format!(
                "each `{one}` has its own `{other}` and each `{other}` its own `{one}`: the data cannot tell their effects apart"
            );
            let help = format!("name one of them by `--parameters {one}`: the form then describes the effect of both");
            return Err(data.fault_of_rows(&message).help(&help).into());
        }
        need_positive(data, &parameters)?;
        Ok(parameters)
    }

    /// Checks that the rows of a group tell forms apart: through two values of a parameter passes every form.
    pub(super) fn need_values(data: &Table, group: &FitGroup, parameters: &[String]) -> Result<(), StudyError> {
        for name in parameters {
            let mut values: Vec<_> = group.fitted.iter().filter_map(|row| row.number(name)).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            if values.len() < MIN_VALUES {
                let message = format!(
                    "the rows have {} of `{name}`, through which every form passes: a form needs {MIN_VALUES} at least",
                    if values.len() == 1 { "one value".to_owned() } else { format!("{} values", values.len()) }
                );
                return Err(data.fault_of_rows(&message).into());
            }
        }
        Ok(())
    }

    pub(super) fn fit(
        &self,
        weighting: Weighting,
        group: &FitGroup,
        value: &str,
        parameters: &[String],
    ) -> Result<Option<Fitted>, StudyError> {
        let search = NormalFormSearch {
            parameters: parameters.to_vec(),
            terms: usize::from(self.terms.unwrap_or(1)),
            strong_scaling: self.strong_scaling(parameters)?,
            weighting,
        };
        let place = |row: &Row| parameters.iter().map(|name| row.number(name)).collect::<Option<Vec<_>>>();
        let observation = |row: &Row| Some(Observation { point: place(row)?, value: row.number(value)? });
        let observations: Vec<_> = group.fitted.iter().filter_map(observation).collect();
        let Some(found) = search.fit(&observations) else { return Ok(None) };
        let model = |row: &Row| {
            let predicted = place(row).map(|point| found.predict(&point));
            (predicted.map(|predicted| predicted.0), predicted.and_then(|predicted| predicted.1))
        };
        let mut points = points(group, value, parameters, model);
        for text in &self.at {
            points.push(predicted(&found, group, parameters, text)?);
        }
        let quality = &found.regression.quality;
        let what = self.strong_scaling.as_ref().map_or_else(|| value.to_owned(), |p| format!("{p} × {value}"));
        let words = format!("{what} = {}\n{}\n", found.form, quality_words(quality));
        let record = self.record(&found);
        let (ron, notes) = (Ok(found.form.to_ron()), self.notes(&found, group, &observations));
        Ok(Some(Fitted { record, words, points, ron, machine: None, notes, model: Ok(FittedModel::NormalForm(found)) }))
    }

    fn strong_scaling(&self, parameters: &[String]) -> Result<Option<usize>, StudyError> {
        let Some(name) = &self.strong_scaling else { return Ok(None) };
        let index = parameters.iter().position(|parameter| parameter == name);
        index.map(Some).ok_or_else(|| {
            let message = format!("--strong-scaling {name}: the parameters are {}", parameters.join(", "));
            StudyError::Request(message)
        })
    }

    /// Returns notes on rows that determine a coefficient alone, and on a form that describes the values poorly.
    fn notes(&self, found: &FittedForm, group: &FitGroup, observations: &[Observation]) -> Vec<String> {
        let parameters = &found.form.parameters;
        let explained = found.regression.quality.r_squared_adjusted.filter(|explained| *explained < MIN_EXPLAINED);
        let weak = explained.map(|explained| {
            format!("the form explains little of how the values differ: adjusted R² is {explained:.3}")
        });
        let negative = between(observations).into_iter().find(|point| found.predict(point).0 < 0.0).map(|point| {
            let at: Vec<_> =
                parameters.iter().zip(&point).map(|(name, x)| format!("{name} = {}", digits(*x))).collect();
            format!("the form is negative within the range of the rows, at {}", at.join(", "))
        });
        let falls = |index: &usize| PROCESSORS.contains(&&*parameters[*index]) && fall_along(*index, observations);
        let falling = (0..parameters.len()).find(falls).filter(|_| self.strong_scaling.is_none()).map(|index| {
            let name = &parameters[index];
            format!("the values fall with {name}, which no form does: `--strong-scaling {name}` fits their product with {name}")
        });
        let place = if group.name.is_empty() { String::new() } else { format!("{}: ", described(&group.name)) };
        let poor = [weak, negative, falling].into_iter().flatten().map(|words| format!("note: {place}{words}"));
        on_decisive(found, group).into_iter().chain(poor).collect()
    }

    fn record(&self, found: &FittedForm) -> Record {
        let mut record = Record::default();
        record.put("model", "normal-form");
        record.put("form", found.form.to_string());
        record.put("times", self.strong_scaling.clone());
        record.put("constant", found.form.constant);
        let interval = |index: usize| found.regression.intervals.as_ref().map(|intervals| intervals[index]);
        record.put("constant_interval95", interval(0));
        for index in 0..2 {
            let term = found.form.terms.get(index);
            record.put(format!("coefficient_{}", index + 1), term.map(|term| term.coefficient));
            let half = term.and_then(|_| interval(index + 1));
            record.put(format!("coefficient_{}_interval95", index + 1), half);
        }
        put_quality(&mut record, "", Some(&found.regression.quality));
        record
    }
}

/// The number of values of a parameter that tell forms of it apart.
const MIN_VALUES: usize = 3;
/// The adjusted R² below which a note says that a form explains little.
const MIN_EXPLAINED: f64 = 0.5;
/// The names of columns that are numbers of processors.
const PROCESSORS: [&str; 5] = ["p", "ranks", "processors", "cores", "nodes"];
/// The number of points per parameter at which a form is evaluated within the range of the rows.
const TRIED: u32 = 33;

/// Returns `true` if two columns that vary have as many pairs of values as values: each determines the other.
fn are_tied(data: &Table, one: &str, other: &str) -> bool {
    let value = |row: &Row, name: &str| row.number(name).map(f64::to_bits);
    let mut pairs: Vec<_> = data.rows.iter().filter_map(|row| Some((value(row, one)?, value(row, other)?))).collect();
    let distinct = |mut values: Vec<u64>| {
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    pairs.sort_unstable();
    pairs.dedup();
    let counts = [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()].map(distinct);
    counts[0] > 1 && counts == [pairs.len(); 2]
}

/// Returns `true` if an axis changes with a parameter, so that rows that agree in the axis do not show the effect of the
/// parameter: the parameter determines the axis, of which some value has too few of the parameter for a form.
pub(super) fn changes_with(data: &Table, axis: &str, parameter: &str) -> bool {
    let mut values: HashMap<u64, HashSet<u64>> = HashMap::new();
    let mut axis_at: HashMap<u64, HashSet<u64>> = HashMap::new();
    for row in &data.rows {
        let (Some(axis), Some(parameter)) = (row.number(axis), row.number(parameter)) else { continue };
        values.entry(axis.to_bits()).or_default().insert(parameter.to_bits());
        axis_at.entry(parameter.to_bits()).or_default().insert(axis.to_bits());
    }
    let is_determined = values.len() > 1 && axis_at.values().all(|values| values.len() == 1);
    is_determined && values.values().any(|values| values.len() < MIN_VALUES)
}

/// Returns points within the range of the observations, evenly spaced on logarithmic scales.
fn between(observations: &[Observation]) -> Vec<Vec<f64>> {
    let parameters = observations.first().map_or(0, |one| one.point.len());
    let range = |index: usize| {
        let values = observations.iter().map(|one| one.point[index].ln());
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let along = |index: usize| {
        let (low, high) = range(index);
        (0..TRIED).map(move |step| (low + (high - low) * f64::from(step) / f64::from(TRIED - 1)).exp())
    };
    (0..parameters).fold(vec![Vec::new()], |points: Vec<Vec<f64>>, index| {
        let with = |point: &Vec<f64>| along(index).map(|x| [&point[..], &[x]].concat()).collect::<Vec<_>>();
        points.iter().flat_map(with).collect()
    })
}

/// Returns `true` if values fall along a parameter: if, of the neighbouring observations that differ in this parameter
/// only, more fall than rise.
fn fall_along(index: usize, observations: &[Observation]) -> bool {
    let others = |one: &Observation| [&one.point[..index], &one.point[index + 1..]].concat();
    let place = |one: &Observation| [others(one), vec![one.point[index]]].concat();
    let mut sorted: Vec<(Vec<f64>, &Observation)> = observations.iter().map(|one| (place(one), one)).collect();
    sorted.sort_by(|(one, _), (other, _)| one.partial_cmp(other).expect("parameters are above 0"));
    let neighbours = sorted.windows(2).map(|pair| (pair[0].1, pair[1].1));
    let neighbours =
        neighbours.filter(|(one, next)| one.point[index] < next.point[index] && others(one) == others(next));
    let (fall, rise) = neighbours.fold((0, 0), |(fall, rise), (one, next)| {
        (fall + usize::from(next.value < one.value), rise + usize::from(next.value > one.value))
    });
    fall > rise
}

/// Returns a note on the rows that determine a coefficient alone.
fn on_decisive(found: &FittedForm, group: &FitGroup) -> Option<String> {
    let decisive = &found.regression.quality.decisive;
    let places: Vec<_> = decisive.iter().map(|index| group.fitted[*index].place.as_str()).collect();
    let of_decisive =
        || format!("note: {}: a row that determines a coefficient alone has no leave-one-out error", places.join(", "));
    (!places.is_empty()).then(of_decisive)
}

/// Predicts the value at a point of `--at`.
fn predicted(
    found: &FittedForm,
    group: &FitGroup,
    parameters: &[String],
    text: &str,
) -> Result<FittedPoint, StudyError> {
    let pair = |part: &str| part.split_once('=').map(|(name, value)| (name.to_owned(), AxisValue::parse(value)));
    let pairs = text.split(',').map(pair).collect::<Option<Vec<_>>>().unwrap_or_default();
    if let Some((other, _)) = pairs.iter().find(|(key, _)| !parameters.contains(key)) {
        let known = parameters.join(", ");
        let message = format!("{text}: `{other}` is not a parameter; the model has: {known}");
        return Err(StudyError::Argument("at", message));
    }
    let number = |name: &String| pairs.iter().find(|(key, _)| key == name)?.1.number().filter(|number| *number > 0.0);
    let point = parameters.iter().map(number).collect::<Option<Vec<_>>>().filter(|_| pairs.len() == parameters.len());
    let point = point.ok_or_else(|| {
        let right: Vec<_> = parameters.iter().map(|name| format!("{name}=128")).collect();
        let message = format!("{text}: give every parameter a number above 0, such as {}", right.join(","));
        StudyError::Argument("at", message)
    })?;
    let (value, interval) = found.predict(&point);
    let at = group.name.iter().cloned().chain(pairs).collect();
    Ok(FittedPoint { at, value: None, model: Some(value), interval, is_fitted: false })
}

/// Checks that all parameters have logarithms.
fn need_positive(data: &Table, parameters: &[String]) -> Result<(), StudyError> {
    for (row, name) in data.rows.iter().flat_map(|row| parameters.iter().map(move |name| (row, name))) {
        if row.number(name).is_some_and(|number| number <= 0.0) {
            let help = "leave the row out, or name other columns by --parameters";
            return Err(data.fault_in(row, name, "a parameter of a normal form is above 0").help(help).into());
        }
    }
    Ok(())
}
