//! Models fitted to the times of a sweep or of measurements.

mod exchange;
mod latency;
mod loggp;
mod normal_form;
mod regimes;
#[cfg(test)]
mod tests;
mod transfers;

use super::StudyError;
use crate::analysis::Residuals;
use crate::answer::{Answer, Key, Record, Role};
use crate::experiment::cases::workers::Failures;
use crate::model::fit::{FittedForm, Hockney, LogGp, Quality, TwoRegimes, Weighting};
use crate::report::table;
use crate::scenario::AxisValue;
use crate::scenario::source::Faults;
use crate::scenario::table::{Row, Table, in_seconds};
pub use exchange::BaseMachine;
pub use normal_form::FormRequest;

/// The model to fit, and the columns to fit it to.
#[derive(Clone, Debug)]
pub struct FitRequest {
    /// The model.
    pub model: FitModel,
    /// The column of the values; by default a column that is known as times. The columns before it are the varied
    /// parameters.
    pub value: Option<String>,
    /// The weighting of residuals: absolute, or relative to the values.
    pub weighting: Weighting,
    /// The columns that describe messages.
    pub messages: MessageColumns,
    /// The search for a normal form.
    pub form: FormRequest,
    /// Upper limits of columns: only rows within all limits are fitted, and the others judge the fit.
    pub up_to: Vec<(String, f64)>,
}

/// The columns that describe messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageColumns {
    /// The column of the message length in bytes; `bytes` by default.
    pub bytes: Option<String>,
    /// The column of the number of hops, for point-to-point; `hops` by default.
    pub hops: Option<String>,
    /// The column of the number of back-to-back messages, for `LogGP`; by default one message.
    pub messages: Option<String>,
    /// The column of the processor time per message, averaged over sender and receiver, for `LogGP`.
    pub overhead: Option<String>,
    /// The column of the time for which the sender computes between two messages, for `LogGP`; zero by default.
    pub delay: Option<String>,
    /// The column of the time for which receivers compute before they receive, for `LogGP`; zero by default.
    pub late: Option<String>,
    /// The longest message of the short regime, for point-to-point; by default it is fitted.
    pub break_bytes: Option<f64>,
}

/// A model that can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitModel {
    /// Equation (4) of CS-RR-281: two regimes of alpha + beta l + gamma d + delta l d.
    PointToPoint,
    /// The model of Hockney: `t_0` + l / `r_inf`.
    Hockney,
    /// The constants L, o, g, G, O and S.
    Loggp,
    /// The normal form of Extra-P: `c_0` + sum of `c_k` x^i log2^j x, with one or two parameters.
    NormalForm,
}

/// A model with the coefficients that a fit has found; every kind has their confidence intervals and the quality of the
/// fit.
#[derive(Clone, Debug)]
pub enum FittedModel {
    /// The regimes of [`FitModel::PointToPoint`].
    PointToPoint(TwoRegimes),
    /// The model of Hockney.
    Hockney(Hockney),
    /// The constants of `LogGP`.
    Loggp(LogGp),
    /// A normal form.
    NormalForm(FittedForm),
}

/// The fits to a table, one for each group of rows.
pub struct Fits {
    data: Table,
    value: String,
    parameters: Vec<String>,
    groups: Vec<(FitGroup, Fitted)>,
    notes: Vec<String>,
}

/// The fit to the rows of one group.
struct Fitted {
    /// The coefficients and the quality of the fit.
    record: Record,
    /// The fit in words.
    words: String,
    /// The points, fitted and judging.
    points: Vec<FittedPoint>,
    /// The model as RON, or the reason why it cannot be written.
    ron: Result<String, String>,
    /// The changes that make a machine behave as the model, if the model describes a machine.
    machine: Option<Vec<(&'static str, String)>>,
    /// Remarks on the fit, for the standard error.
    notes: Vec<String>,
    /// The model, or the reason why there is no fit.
    model: Result<FittedModel, String>,
}

struct FittedPoint {
    at: Vec<(String, AxisValue)>,
    value: Option<f64>,
    model: Option<f64>,
    interval: Option<f64>,
    is_fitted: bool,
}

/// Rows that agree in all columns that are not parameters of the model.
struct FitGroup {
    name: Vec<(String, AxisValue)>,
    /// The rows to be fitted.
    fitted: Vec<Row>,
    /// The rows that judge the fit.
    judging: Vec<Row>,
}

impl FitRequest {
    /// Creates a request with the defaults of the command line: the usual columns of the model, and relative residuals.
    ///
    /// ```
    /// use parsim_study::experiment::fit::{FitModel, FitRequest, FittedModel};
    /// use parsim_study::scenario::table::Table;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let times = Table::parse("times.csv", "bytes,time_s\n0,1e-5\n1000,2e-5\n2000,3e-5\n")?;
    /// let fits = FitRequest::new(FitModel::Hockney).fit(times)?;
    /// let (_, model) = fits.models().next().expect("there is a group");
    /// let FittedModel::Hockney(hockney) = model? else { unreachable!("another model") };
    /// assert!((hockney.startup_s - 1e-5).abs() < 1e-12 && (hockney.per_byte_s - 1e-8).abs() < 1e-15);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(model: FitModel) -> Self {
        let (messages, form) = (MessageColumns::default(), FormRequest::default());
        Self { model, value: None, weighting: Weighting::Relative, messages, form, up_to: Vec::new() }
    }

    /// Checks that every given argument applies to the model.
    ///
    /// # Errors
    /// Returns an error for an argument that belongs to other models.
    pub fn check(&self) -> Result<(), StudyError> {
        let mut given = self.messages.given().into_iter().chain(self.form.given()).filter(|(_, _, is_given)| *is_given);
        match given.find(|(_, models, _)| !models.contains(&self.model)) {
            Some((argument, models, _)) => {
                let models: Vec<_> = models.iter().map(|model| model.name()).collect();
                Err(StudyError::Argument(argument, format!("belongs to --model {}", models.join(" or "))))
            }
            None => Ok(()),
        }
    }

    /// Fits the model to the rows of each group of `data`. Groups differ in the columns that are not parameters of the
    /// model.
    ///
    /// # Errors
    /// Returns an error for columns that do not exist or contain no numbers, or if the rows of the only group do not
    /// determine the model.
    pub fn fit(&self, data: Table) -> Result<Fits, StudyError> {
        let mut data = data;
        let value = data.quantity(self.value.as_deref())?;
        let columns = &self.messages;
        let times = [&columns.overhead, &columns.delay, &columns.late].into_iter().flatten();
        let times = times.map(|name| data.quantity(Some(name))).collect::<Result<Vec<_>, _>>()?;
        data.read_sizes(self.messages.bytes());
        let parameters = self.parameters(&data, &value)?;
        data.need_numbers(&parameters)?;
        self.need_amounts(&data, parameters.iter().chain(&times))?;
        self.need_messages(&data)?;
        let used = [&value].into_iter().chain(&parameters).chain(&times);
        let tied = Self::tied(&data, &value, &parameters);
        let notes = used.filter_map(|column| data.unused(column)).chain(note_on_repetitions(&data, &value));
        let on_tied = |(axis, parameter): &(String, String)| {
            format!("note: `{axis}` changes with `{parameter}`: the fit describes the effect of both")
        };
        let mut notes: Vec<_> = notes.chain(tied.iter().map(on_tied)).collect();
        let mut groups = Vec::new();
        let merged: Vec<_> = times.iter().chain(tied.iter().map(|(axis, _)| axis)).cloned().collect();
        let of_data = self.groups(&data, &value, &parameters, (&times, &merged))?;
        let is_only = of_data.len() == 1;
        for group in of_data {
            let mut fitted = match self.fit_group(&data, &group, &value, &parameters) {
                Err(StudyError::Faults(faults)) if !is_only => Fitted::failed(&group, &value, &parameters, &faults),
                fitted => fitted?,
            };
            let record = beginning(&group.name).joined(fitted.record);
            fitted.record = record.map_err(|lost| data.fault_of_name(&lost))?;
            notes.append(&mut fitted.notes);
            groups.push((group, fitted));
        }
        Ok(Fits { data, value, parameters, groups, notes })
    }

    /// Checks that lengths, hops, counts and times of messages are not negative.
    fn need_amounts<'c>(&self, data: &Table, mut columns: impl Iterator<Item = &'c String>) -> Result<(), StudyError> {
        if self.model == FitModel::NormalForm {
            return Ok(());
        }
        let negative = |column: &&String| {
            let is_negative = |row: &&Row| row.number(column).is_some_and(|number| number < 0.0);
            data.rows.iter().find(is_negative).map(|row| data.fault_in(row, column, "it must not be negative"))
        };
        columns.find_map(|column| negative(&column)).map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// Checks that every row has a message.
    fn need_messages(&self, data: &Table) -> Result<(), StudyError> {
        let Some(column) = &self.messages.messages else { return Ok(()) };
        let has_none = |row: &&Row| row.number(column).is_some_and(|number| number < 1.0);
        let fault = |row: &Row| {
            let message = "the number of messages is 0: give a number from 1 on";
            data.fault_in(row, column, message).help("leave the row out").into()
        };
        data.rows.iter().find(has_none).map_or(Ok(()), |row| Err(fault(row)))
    }

    /// Returns the columns that are parameters of the model.
    fn parameters(&self, data: &Table, value: &str) -> Result<Vec<String>, StudyError> {
        let columns = &self.messages;
        match self.model {
            FitModel::PointToPoint => named(data, [columns.bytes(), columns.hops()]),
            FitModel::Hockney => named(data, [columns.bytes()]),
            FitModel::Loggp => columns.of_loggp(data),
            FitModel::NormalForm => self.form.parameters(data, value),
        }
    }

    /// Returns the axes that change with a parameter of the model, each with this parameter.
    fn tied(data: &Table, value: &str, parameters: &[String]) -> Vec<(String, String)> {
        let parameter =
            |axis: &String| parameters.iter().find(|name| normal_form::changes_with(data, axis, name)).cloned();
        let others = data.axes(value).filter(|axis| !parameters.contains(axis));
        others.filter_map(|axis| Some((axis.clone(), parameter(axis)?))).collect()
    }

    /// Groups the rows that have a number in all columns of the model by their other axes, apart from the `merged` ones.
    /// `times` are those of the messages.
    fn groups(
        &self,
        data: &Table,
        value: &str,
        parameters: &[String],
        (times, merged): (&[String], &[String]),
    ) -> Result<Vec<FitGroup>, StudyError> {
        let limit = |(name, most): &(String, f64)| Ok((data.column(name)?, *most));
        let limits = self.up_to.iter().map(limit).collect::<Result<Vec<_>, StudyError>>()?;
        let others: Vec<_> =
            data.axes(value).filter(|axis| !parameters.contains(axis) && !merged.contains(axis)).collect();
        let mut groups: Vec<FitGroup> = Vec::new();
        let mut needed: Vec<_> = parameters.iter().map(String::as_str).chain([value]).collect();
        needed.extend(times.iter().map(String::as_str).filter(|name| !parameters.iter().any(|other| other == name)));
        let is_complete = |row: &&Row| needed.iter().all(|name| row.number(name).is_some());
        for row in data.rows.iter().filter(is_complete) {
            others.iter().try_for_each(|axis| data.need_value(row, axis))?;
            let name: Vec<_> = row.cells.iter().filter(|(name, _)| others.contains(&name)).cloned().collect();
            let index = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
                groups.push(FitGroup { name, fitted: Vec::new(), judging: Vec::new() });
                groups.len() - 1
            });
            let is_fitted = limits.iter().all(|(key, most)| row.number(key).is_none_or(|number| number <= *most));
            let rows = if is_fitted { &mut groups[index].fitted } else { &mut groups[index].judging };
            rows.push(row.clone());
        }
        if groups.is_empty() {
            return Err(data.failure(&format!("no row has numbers in all of {}", needed.join(", "))).into());
        }
        Ok(groups)
    }

    fn fit_group(
        &self,
        data: &Table,
        group: &FitGroup,
        value: &str,
        parameters: &[String],
    ) -> Result<Fitted, StudyError> {
        if self.weighting == Weighting::Relative {
            let is_positive = |row: &&Row| row.number(value).is_some_and(|value| value > 0.0);
            if let Some(row) = group.fitted.iter().find(|row| !is_positive(row)) {
                let right = "with relative weighting, a value is above 0";
                return Err(data.fault_in(row, value, right).into());
            }
        }
        let fitted = match self.model {
            FitModel::PointToPoint => regimes::fit(self, group, value),
            FitModel::Hockney => latency::hockney(self, group, value),
            FitModel::Loggp => loggp::loggp(self, group, value, parameters),
            FitModel::NormalForm => {
                FormRequest::need_values(data, group, parameters)?;
                self.form.fit(self.weighting, group, value, parameters)?
            }
        };
        fitted.ok_or_else(|| {
            let of_group = if group.name.is_empty() { "its" } else { "the" };
            data.failure(&format!("{of_group} {} rows do not determine the model", group.fitted.len())).into()
        })
    }
}

impl Fitted {
    /// Represents a group that has no fit for these reasons.
    fn failed(group: &FitGroup, value: &str, parameters: &[String], faults: &Faults) -> Self {
        let messages = faults.list.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("; ");
        Self {
            record: Record::default(),
            words: "not fitted\n".to_owned(),
            points: points(group, value, parameters, |_| (None, None)),
            ron: Err(messages.clone()),
            machine: None,
            notes: Vec::new(),
            model: Err(messages),
        }
    }
}

impl FitModel {
    /// Returns the name of the model on the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::PointToPoint => "point-to-point",
            Self::Hockney => "hockney",
            Self::Loggp => "loggp",
            Self::NormalForm => "normal-form",
        }
    }
}

/// An argument, the models to which it belongs, and whether it is given.
type GivenArgument = (&'static str, &'static [FitModel], bool);

impl MessageColumns {
    const fn given(&self) -> [GivenArgument; 7] {
        let loggp = &[FitModel::Loggp];
        [
            ("bytes", &[FitModel::PointToPoint, FitModel::Hockney, FitModel::Loggp], self.bytes.is_some()),
            ("hops", &[FitModel::PointToPoint], self.hops.is_some()),
            ("break-bytes", &[FitModel::PointToPoint], self.break_bytes.is_some()),
            ("messages", loggp, self.messages.is_some()),
            ("overhead", loggp, self.overhead.is_some()),
            ("delay", loggp, self.delay.is_some()),
            ("late", loggp, self.late.is_some()),
        ]
    }

    fn bytes(&self) -> &str {
        self.bytes.as_deref().unwrap_or("bytes")
    }

    fn hops(&self) -> &str {
        self.hops.as_deref().unwrap_or("hops")
    }

    /// Returns the columns that are parameters of `LogGP`; times are in seconds.
    fn of_loggp(&self, data: &Table) -> Result<Vec<String>, StudyError> {
        let mut columns = named(data, [Some(self.bytes()), self.messages.as_deref()].into_iter().flatten())?;
        columns.extend([&self.delay, &self.late].into_iter().flatten().map(|name| in_seconds(name)));
        Ok(columns)
    }
}

/// Returns the columns with these names.
fn named<'n>(data: &Table, names: impl IntoIterator<Item = &'n str>) -> Result<Vec<String>, StudyError> {
    names.into_iter().map(|name| Ok(data.column(name)?)).collect()
}

fn described(name: &[(String, AxisValue)]) -> String {
    name.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn beginning(name: &[(String, AxisValue)]) -> Record {
    let mut record = Record::default();
    for (name, value) in name {
        record.put_as(Role::Axis, name.to_owned(), value);
    }
    record
}

/// Adds the quality of a fit; `prefix` distinguishes several fits in a record.
fn put_quality(record: &mut Record, prefix: &str, quality: Option<&Quality>) {
    record.put(format!("{prefix}points"), quality.map(|quality| quality.points));
    record.put(format!("{prefix}smape"), quality.map(|quality| quality.smape));
    record.put(format!("{prefix}root_mean_square_s"), quality.map(|quality| quality.root_mean_square));
    record.put(format!("{prefix}largest_error"), quality.map(|quality| quality.largest_error));
    record.put(format!("{prefix}r_squared_adjusted"), quality.and_then(|quality| quality.r_squared_adjusted));
    record.put(format!("{prefix}leave_one_out"), quality.and_then(|quality| quality.leave_one_out));
}

/// Describes the quality in words.
fn quality_words(quality: &Quality) -> String {
    let percent = |ratio: f64| if ratio.is_finite() { format!("{:.3} %", 100.0 * ratio) } else { "none".to_owned() };
    let adjusted =
        quality.r_squared_adjusted.map_or_else(|| ", no adjusted R²".to_owned(), |r| format!(", adjusted R² {r:.6}"));
    let left_out =
        quality.leave_one_out.map_or_else(String::new, |error| format!(", leave-one-out error {}", percent(error)));
    let has_zero = !quality.largest_error.is_finite();
    let zero = if has_zero { " (relative to a measured 0, errors are not defined)" } else { "" };
    format!(
        "{} points: SMAPE {}, largest error {}{adjusted}{left_out}{zero}",
        quality.points,
        percent(quality.smape),
        percent(quality.largest_error)
    )
}

impl Fits {
    /// Returns for each group the columns in which its rows agree, with their values, and its model, or the reason why
    /// there is none.
    pub fn models(&self) -> impl Iterator<Item = (&[(String, AxisValue)], Result<&FittedModel, &str>)> {
        self.groups.iter().map(|(group, fit)| (group.name.as_slice(), fit.model.as_ref().map_err(String::as_str)))
    }

    /// Returns the coefficients, or the points: their positions, values and model values. In the text, the judging
    /// points follow the coefficients.
    ///
    /// # Errors
    /// Returns an error for a column of a point that has the name of another value.
    pub fn answer(&self, wants_points: bool) -> Result<Answer, StudyError> {
        let mut words = String::new();
        for (group, fit) in &self.groups {
            let name = if group.name.is_empty() { String::new() } else { format!("{}: ", described(&group.name)) };
            words += &(name + &fit.words);
        }
        let lost = |name: Key| StudyError::from(self.data.fault_of_name(&name));
        let points = self.groups.iter().flat_map(|(_, fit)| &fit.points);
        let shown = points.filter(|point| wants_points || !point.is_fitted);
        let shown = shown.map(|point| point.record(&self.value)).collect::<Result<Vec<_>, _>>().map_err(lost)?;
        if !shown.is_empty() {
            words += &["\n", &table(&shown).to_string()].concat();
        }
        let records = if wants_points { shown } else { self.records().map_err(lost)? };
        Ok(Answer { notes: self.notes.clone(), ..Answer::many(records, &words) })
    }

    /// Returns a record for each group. If a group has no fit, all records have the key of the reason, as in a sweep.
    /// Fails with the name of a column that is also this key.
    fn records(&self) -> Result<Vec<Record>, Key> {
        let fits = || self.groups.iter().map(|(_, fit)| fit);
        let has_failures = fits().any(|fit| fit.model.is_err());
        let example = fits().find(|fit| fit.model.is_ok()).map_or_else(Record::default, |fit| fit.record.clone());
        let record = |fit: &Fitted| {
            if !has_failures {
                return Ok(fit.record.clone());
            }
            let mut reason = Record::default();
            reason.put_error(fit.model.as_ref().err().map(String::as_str));
            fit.record.clone().completed(&example).joined(reason)
        };
        fits().map(record).collect()
    }

    /// Checks that every group has a fit.
    ///
    /// # Errors
    /// Returns an error with the names of the other groups and the reasons.
    pub fn need_all(&self) -> Result<(), StudyError> {
        let mut failures = Failures::default();
        for (group, fit) in &self.groups {
            if let Err(reason) = &fit.model {
                failures.add_named(&described(&group.name), reason);
            }
        }
        failures.into_result()
    }

    /// Returns the only fit as RON: the model itself, which is a machine for `LogGP`, or with `like` a modified machine
    /// that behaves as the model.
    ///
    /// # Errors
    /// Returns an error if there are several fits, or if the model does not describe a possible machine.
    pub fn to_ron(&self, like: Option<BaseMachine<'_>>) -> Result<String, StudyError> {
        exchange::ron(like, self.groups.iter().map(|(_, fit)| fit))
    }

    /// Returns the data in the input format of Extra-P.
    #[must_use]
    pub fn to_extra_p(&self) -> String {
        exchange::extra_p(&self.data, &self.value, &self.parameters)
    }
}

impl FittedPoint {
    /// Returns the point as a record, or the name of a column that is also the key of another value.
    fn record(&self, value: &str) -> Result<Record, Key> {
        let mut measured = beginning(&self.at);
        measured.put(value.to_owned(), self.value);
        measured.joined(self.judgement())
    }

    /// Compares the point with the model.
    fn judgement(&self) -> Record {
        let mut record = Record::default();
        record.put("model_s", self.model);
        record.put("model_interval95_s", self.interval);
        let error = self.model.zip(self.value).map(|(model, value)| Residuals::error(model, value));
        record.put("error", error);
        record.put("fitted", self.is_fitted);
        record
    }
}

/// Returns the points of a group, the fitted ones first; `model` gives the value and the half-width of its interval.
fn points(
    group: &FitGroup,
    value: &str,
    parameters: &[String],
    model: impl Fn(&Row) -> (Option<f64>, Option<f64>),
) -> Vec<FittedPoint> {
    let rows = group.fitted.iter().map(|row| (row, true)).chain(group.judging.iter().map(|row| (row, false)));
    let point = |(row, is_fitted): (&Row, bool)| {
        let own = row.cells.iter().filter(|(name, _)| parameters.contains(name)).cloned();
        let (model, interval) = model(row);
        let at = group.name.iter().cloned().chain(own).collect();
        FittedPoint { at, value: row.number(value), model, interval, is_fitted }
    };
    rows.map(point).collect()
}

/// Reports that a point occurs more than once, as repeated measurements do.
fn note_on_repetitions(data: &Table, value: &str) -> Option<String> {
    let axes: Vec<_> = data.axes(value).cloned().collect();
    let repeated = data.need_different_points(&axes).err().filter(|_| !axes.is_empty())?;
    let meaning = "each such row counts as a measurement of its own, and leave-one-out errors leave out one of them";
    Some(format!("note: {}: {meaning}", repeated.message))
}
