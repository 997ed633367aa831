//! `parsim fit`: models fitted to the times of a sweep or to measurements.

use super::choice::one_of;
use super::data::SweptArguments;
use super::numbers::{amount, within};
use super::{Failure, OutputArguments};
use clap::Args;
use clap::builder::TypedValueParser;
use parsim_study::experiment::fit::{BaseMachine, FitModel, FitRequest, FormRequest, MessageColumns};
use parsim_study::model::fit::Weighting;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct FitArguments {
    /// The data: the output of a sweep as jsonl, json or csv, Extra-P's JSON Lines, or measurements; `-` is the
    /// standard input. If this is a scenario (.ron), it is swept.
    data: PathBuf,
    #[command(flatten)]
    swept: SweptArguments,
    /// The model to fit.
    #[arg(long, value_parser = models())]
    model: FitModel,
    /// The column of the times; `makespan_mean_s`, `makespan_s`, `measured_s`, `time_s` or `time` by default. The
    /// columns before it are the varied parameters.
    #[arg(long, value_name = "KEY")]
    value: Option<String>,
    /// The kind of residuals: in the unit of the values, or relative to them.
    #[arg(long, value_parser = weightings(), default_value = "relative")]
    residuals: Weighting,
    #[command(flatten)]
    messages: MessageArguments,
    #[command(flatten)]
    form: FormArguments,
    /// Fits only the rows up to this value, for example `p=32`; the other rows judge the fit. May be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = limit)]
    up_to: Vec<(String, f64)>,
    /// Writes a row for each point (value, fitted value, error) instead of the coefficients.
    #[arg(long)]
    points: bool,
    /// Writes the model as RON: for loggp a machine, and with `--like` a machine that behaves like the model.
    #[arg(long, value_name = "FILE.ron")]
    ron: Option<PathBuf>,
    /// The machine on which the written machine is based, as a path relative to the written file.
    #[arg(long, value_name = "MACHINE.ron", requires = "ron")]
    like: Option<String>,
    /// Writes the data as Extra-P's JSON Lines.
    #[arg(long, value_name = "FILE.jsonl")]
    extra_p: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Options for the columns of data on messages.
#[derive(Clone, Debug, Args)]
struct MessageArguments {
    /// The column of the message length in bytes; `bytes` by default.
    #[arg(long, value_name = "KEY")]
    bytes: Option<String>,
    /// The column of the number of hops, for point-to-point; `hops` by default.
    #[arg(long, value_name = "KEY")]
    hops: Option<String>,
    /// The column of the number of consecutive messages, for loggp; 1 by default.
    #[arg(long, value_name = "KEY")]
    messages: Option<String>,
    /// The column of the processor time per message, averaged over sender and receiver, for loggp; `system_s` for a
    /// swept ping.
    #[arg(long, value_name = "KEY")]
    overhead: Option<String>,
    /// The column of the time for which the sender computes between two messages, each to another rank, for loggp; it
    /// determines o and O.
    #[arg(long, value_name = "KEY", requires = "messages")]
    delay: Option<String>,
    /// The column of the time for which receivers compute before they receive while the sender waits for completion,
    /// for loggp; it determines S.
    #[arg(long, value_name = "KEY", requires = "delay")]
    late: Option<String>,
    /// The longest message of the short regime, for point-to-point; fitted by default.
    #[arg(long, value_name = "BYTES", value_parser = amount)]
    break_bytes: Option<f64>,
}

fn models() -> impl TypedValueParser<Value = FitModel> {
    one_of([
        (
            "point-to-point",
            "Equation (4) of CS-RR-281: two regimes of alpha + beta l + gamma d + delta l d",
            FitModel::PointToPoint,
        ),
        ("hockney", "t_0 + l / r_inf", FitModel::Hockney),
        ("loggp", "L, o, g, G, O, S", FitModel::Loggp),
        ("normal-form", "Extra-P's: c_0 + sum of c_k x^i log2^j x, with one or two parameters", FitModel::NormalForm),
    ])
}

fn weightings() -> impl TypedValueParser<Value = Weighting> {
    one_of([("absolute", "", Weighting::Absolute), ("relative", "", Weighting::Relative)])
}

/// Options for the search for a normal form.
#[derive(Clone, Debug, Args)]
struct FormArguments {
    /// The columns that are parameters of the normal form, one or two; all varying columns by default.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
    parameters: Vec<String>,
    /// Largest number of terms of a normal form with one parameter; 1 by default.
    #[arg(long, value_parser = within(1u8, 2))]
    terms: Option<u8>,
    /// The parameter that is the number of processors in strong scaling. The fit is then to the total time of all
    /// processors, because decreasing times have no normal form.
    #[arg(long, value_name = "KEY")]
    strong_scaling: Option<String>,
    /// Predicts the value at this point, for example `p=128` or `p=128,n=512`; may be repeated. In data formats the
    /// prediction is one of the `--points`.
    #[arg(long, value_name = "KEY=VALUE,…")]
    at: Vec<String>,
}

/// Parses `KEY=VALUE` with a number as the value.
fn limit(text: &str) -> Result<(String, f64), String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    parts.ok_or_else(|| "give a column and a number, for example p=32".to_owned())
}

pub fn execute(arguments: &FitArguments) -> Result<(), Failure> {
    let claims = arguments.output.claims().inputs(arguments.swept.files(&arguments.data));
    let _folders =
        claims.output("--ron", arguments.ron.as_deref()).output("--extra-p", arguments.extra_p.as_deref()).check()?;
    let request = arguments.request();
    request.check()?;
    if !arguments.form.at.is_empty() && !arguments.points && !arguments.output.is_text() {
        return Err(Failure::Usage("--at predicts a point: add --points, or leave out --format".to_owned()));
    }
    let swept = &arguments.swept;
    let table = swept.store.with(|recall| swept.table(&arguments.data, recall))?;
    let fits = request.fit(table)?;
    let mut answer = fits.answer(arguments.points)?;
    if let Some(file) = &arguments.extra_p {
        answer = answer.with_figure(file, &fits.to_extra_p());
    }
    if let Some(file) = &arguments.ron {
        let like = arguments.like.as_deref().map(|base| BaseMachine { file: base, written: file });
        answer = answer.with_figure(file, &fits.to_ron(like)?);
    }
    arguments.output.print(answer)?;
    Ok(fits.need_all()?)
}

impl FitArguments {
    fn request(&self) -> FitRequest {
        let MessageArguments { bytes, hops, messages, overhead, delay, late, break_bytes } = self.messages.clone();
        let FormArguments { parameters, terms, strong_scaling, at } = self.form.clone();
        FitRequest {
            model: self.model,
            value: self.value.clone(),
            weighting: self.residuals,
            messages: MessageColumns { bytes, hops, messages, overhead, delay, late, break_bytes },
            form: FormRequest { parameters, terms, strong_scaling, at },
            up_to: self.up_to.clone(),
        }
    }
}
