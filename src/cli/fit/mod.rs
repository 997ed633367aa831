//! `parsim fit`: models fitted to the times of a sweep or of measurements.

mod exchange;
mod latency;
mod normal_form;
mod regimes;

use super::notice::note;
use super::{Failure, OutputArguments};
use clap::{Args, ValueEnum};
use parsim_study::model::fit::{Quality, Weighting};
use parsim_study::report::{Format, Record, table};
use parsim_study::scenario::AxisValue;
use parsim_study::scenario::table::{Row, Table as Data};
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct FitArguments {
    /// The data: the output of a sweep as jsonl, json or csv, Extra-P's JSON Lines, or measurements; `-` is the
    /// standard input.
    data: PathBuf,
    /// The model.
    #[arg(long, value_enum)]
    model: FitModel,
    /// The column of the times; `makespan_mean_s`, `makespan_s`, `measured_s`, `time_s` or `time` unless given. Columns before it say
    /// what was varied.
    #[arg(long, value_name = "KEY")]
    value: Option<String>,
    /// Residuals in the unit of the values or relative to them.
    #[arg(long, value_enum, default_value = "relative")]
    residuals: ResidualKind,
    #[command(flatten)]
    messages: MessageColumns,
    #[command(flatten)]
    form: normal_form::FormArguments,
    /// Fits only the rows up to this value, such as `p=32`; the others judge the fit. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    up_to: Vec<String>,
    /// Writes a row for each point instead of the coefficients: value, fitted, error.
    #[arg(long)]
    points: bool,
    /// Writes the model, or with `--like` a machine that behaves so, as RON.
    #[arg(long, value_name = "FILE.ron")]
    ron: Option<PathBuf>,
    /// The machine that the written one is like, as a path relative to the written file.
    #[arg(long, value_name = "MACHINE.ron", requires = "ron")]
    like: Option<String>,
    /// Writes the data as Extra-P's JSON Lines.
    #[arg(long, value_name = "FILE.jsonl")]
    extra_p: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// The columns of data on messages.
#[derive(Debug, Args)]
struct MessageColumns {
    /// The column of the bytes of a message.
    #[arg(long, value_name = "KEY", default_value = "bytes")]
    bytes: String,
    /// The column of its hops, for point-to-point.
    #[arg(long, value_name = "KEY", default_value = "hops")]
    hops: String,
    /// The column of the number of messages in a row, for loggp; one unless given.
    #[arg(long, value_name = "KEY")]
    messages: Option<String>,
    /// The column of the time of a processor for a message, mean of sender and receiver, for loggp; `system_s` of a
    /// swept ping.
    #[arg(long, value_name = "KEY")]
    overhead: Option<String>,
    /// The longest message of the short regime, for point-to-point; found unless given.
    #[arg(long, value_name = "BYTES")]
    break_bytes: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FitModel {
    /// Equation (4) of CS-RR-281: two regimes of alpha + beta l + gamma d + delta l d.
    PointToPoint,
    /// `t_0` + l / `r_inf`
    Hockney,
    /// L, o, g, G
    Loggp,
    /// Extra-P's: `c_0` + sum of `c_k` x^i log2^j x, with one or two parameters
    NormalForm,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ResidualKind {
    Absolute,
    Relative,
}

impl From<ResidualKind> for Weighting {
    fn from(residual: ResidualKind) -> Self {
        match residual {
            ResidualKind::Absolute => Self::Absolute,
            ResidualKind::Relative => Self::Relative,
        }
    }
}

/// A fit to the rows of one group.
struct Fitted {
    /// Its coefficients and what they are worth.
    record: Record,
    /// In words.
    words: String,
    /// Every point: where it lies, its value, the model there, half its interval if known, and whether it was fitted.
    points: Vec<FittedPoint>,
    /// The model as RON.
    ron: String,
    /// The changes that make a machine behave so, where the model is one of machines.
    machine: Option<Vec<(&'static str, String)>>,
}

struct FittedPoint {
    at: Vec<(String, AxisValue)>,
    value: Option<f64>,
    model: Option<f64>,
    interval: Option<f64>,
    is_fitted: bool,
}

/// Rows with the same values of what the model does not know.
struct FitGroup {
    name: Vec<(String, AxisValue)>,
    /// Those to be fitted.
    fitted: Vec<Row>,
    /// Those that judge the fit.
    judging: Vec<Row>,
}

pub fn execute(arguments: &FitArguments) -> Result<(), Failure> {
    let claims = arguments.output.claims().inputs([&arguments.data]);
    claims.output("--ron", arguments.ron.as_deref()).output("--extra-p", arguments.extra_p.as_deref()).check()?;
    let mut data = Data::load(&arguments.data)?;
    let value = data.quantity(arguments.value.as_deref())?;
    let overhead = arguments.messages.overhead.as_deref().map(|name| data.quantity(Some(name))).transpose()?;
    let parameters = arguments.parameters(&data, &value)?;
    data.need_numbers(&parameters)?;
    for column in [&value].into_iter().chain(&parameters).chain(&overhead) {
        note(data.unused(column));
    }
    let groups = arguments.groups(&data, &value, &parameters)?;
    let mut fits = Vec::new();
    for group in &groups {
        fits.push((group, arguments.fit(&data, group, &value, &parameters)?));
    }
    if let Some(path) = &arguments.extra_p {
        exchange::write_extra_p(path, &data, &value, &parameters)?;
    }
    if let Some(path) = &arguments.ron {
        exchange::write_ron(path, arguments.like.as_deref(), fits.iter().map(|(_, fit)| fit))?;
    }
    output(arguments, &fits, &value)
}

impl FitArguments {
    fn weighting(&self) -> Weighting {
        self.residuals.into()
    }

    /// The columns that the model is a function of.
    fn parameters(&self, data: &Data, value: &str) -> Result<Vec<String>, Failure> {
        let columns = &self.messages;
        match self.model {
            FitModel::PointToPoint => named(data, [&columns.bytes, &columns.hops]),
            FitModel::Hockney => named(data, [&columns.bytes]),
            FitModel::Loggp => named(data, [Some(&columns.bytes), columns.messages.as_ref()].into_iter().flatten()),
            FitModel::NormalForm => self.form.parameters(data, value),
        }
    }

    fn groups(&self, data: &Data, value: &str, parameters: &[String]) -> Result<Vec<FitGroup>, Failure> {
        let limits = self.up_to.iter().map(|text| limit(data, text)).collect::<Result<Vec<_>, _>>()?;
        let others: Vec<_> = data.axes(value).filter(|axis| !parameters.contains(axis)).collect();
        let mut groups: Vec<FitGroup> = Vec::new();
        let is_complete =
            |row: &&Row| row.number(value).is_some() && parameters.iter().all(|name| row.number(name).is_some());
        for row in data.rows.iter().filter(is_complete) {
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
            return Err(data
                .failure(&format!("no row has numbers in all of {}, {value}", parameters.join(", ")))
                .into());
        }
        Ok(groups)
    }

    fn fit(&self, data: &Data, group: &FitGroup, value: &str, parameters: &[String]) -> Result<Fitted, Failure> {
        let fitted = match self.model {
            FitModel::PointToPoint => regimes::fit(self, group, value),
            FitModel::Hockney => latency::hockney(self, group, value),
            FitModel::Loggp => latency::loggp(self, group, value),
            FitModel::NormalForm => self.form.fit(self.weighting(), group, value, parameters)?,
        };
        fitted.ok_or_else(|| {
            let at = if group.name.is_empty() { String::new() } else { format!(" for {}", words(&group.name)) };
            data.failure(&format!("its {} rows do not determine the model{at}", group.fitted.len())).into()
        })
    }
}

/// The columns with these names.
fn named<'n>(data: &Data, names: impl IntoIterator<Item = &'n String>) -> Result<Vec<String>, Failure> {
    names.into_iter().map(|name| Ok(data.column(name)?)).collect()
}

/// `KEY=VALUE` with a number.
fn limit(data: &Data, text: &str) -> Result<(String, f64), Failure> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?)));
    let (name, value) = parts.ok_or_else(|| Failure::Usage(format!("`--up-to {text}`: write --up-to p=32")))?;
    Ok((data.column(name)?, value))
}

fn words(name: &[(String, AxisValue)]) -> String {
    name.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn json(value: &AxisValue) -> Value {
    match value {
        AxisValue::Whole(whole) => Value::from(*whole),
        AxisValue::Real(real) => Value::from(*real),
        AxisValue::Text(text) => Value::from(text.as_str()),
    }
}

fn beginning(name: &[(String, AxisValue)]) -> Record {
    let mut record = Record::default();
    for (name, value) in name {
        record.put(name, json(value));
    }
    record
}

/// Adds what a fit is worth; `prefix` distinguishes several fits of a record.
fn put_quality(record: &mut Record, prefix: &str, quality: Option<&Quality>) {
    record.put(&format!("{prefix}points"), quality.map(|quality| quality.points));
    record.put(&format!("{prefix}smape"), quality.map(|quality| quality.smape));
    record.put(&format!("{prefix}root_mean_square_s"), quality.map(|quality| quality.root_mean_square));
    record.put(&format!("{prefix}largest_error"), quality.map(|quality| quality.largest_error));
    record.put(&format!("{prefix}r_squared_adjusted"), quality.and_then(|quality| quality.r_squared_adjusted));
    record.put(&format!("{prefix}leave_one_out"), quality.and_then(|quality| quality.leave_one_out));
}

/// The quality in words.
fn quality_words(quality: &Quality) -> String {
    let percent = |ratio: f64| format!("{:.3} %", 100.0 * ratio);
    let adjusted =
        quality.r_squared_adjusted.map_or_else(|| ", no adjusted R²".to_owned(), |r| format!(", adjusted R² {r:.6}"));
    let left_out =
        quality.leave_one_out.map_or_else(String::new, |error| format!(", leave-one-out error {}", percent(error)));
    format!(
        "{} points: SMAPE {}, largest error {}{adjusted}{left_out}",
        quality.points,
        percent(quality.smape),
        percent(quality.largest_error)
    )
}

fn output(arguments: &FitArguments, fits: &[(&FitGroup, Fitted)], value: &str) -> Result<(), Failure> {
    let points: Vec<_> = fits.iter().flat_map(|(_, fit)| fit.points.iter().map(|point| point.record(value))).collect();
    let mut output = arguments.output.many()?;
    if arguments.output.format() == Format::Text {
        for (group, fit) in fits {
            let name = if group.name.is_empty() { String::new() } else { format!("{}: ", words(&group.name)) };
            output.words(format_args!("{name}{}", fit.words))?;
        }
        let judging: Vec<_> = fits
            .iter()
            .flat_map(|(_, fit)| fit.points.iter().filter(|point| arguments.points || !point.is_fitted))
            .map(|point| point.record(value))
            .collect();
        if !judging.is_empty() {
            output.words(format_args!("\n{}", table(&judging)))?;
        }
        return output.finish();
    }
    if arguments.points {
        points.iter().try_for_each(|record| output.write(record))?;
    } else {
        fits.iter().try_for_each(|(_, fit)| output.write(&fit.record))?;
    }
    output.finish()
}

impl FittedPoint {
    fn record(&self, value: &str) -> Record {
        let mut record = beginning(&self.at);
        record.put(value, self.value);
        record.put("model_s", self.model);
        record.put("model_interval95_s", self.interval);
        let error =
            self.model.zip(self.value).map(|(model, value)| parsim_study::analysis::Residuals::error(model, value));
        record.put("error", error);
        record.put("fitted", self.is_fitted);
        record
    }
}

/// The points of a group: those that were fitted, then those that judge; `model` gives value and interval.
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
