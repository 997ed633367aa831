//! The log of the tool, on stderr. Simulation output is never part of it.

use super::notice::{has_colours, set_quiet};
use super::progress::RunProgress;
use clap::{Args, ValueEnum};
use tracing_subscriber::filter::{FilterFn, LevelFilter, Targets};
use tracing_subscriber::prelude::*;

#[derive(Debug, Args)]
pub struct TelemetryArguments {
    /// Logs more on stderr: -v for an outline, -vv for details; `RUST_LOG` overrides it.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Suppresses notes and progress: only failures are reported on stderr.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// The format of the log.
    #[arg(long, global = true, value_enum, default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// Sends spans and events to stderr from now on.
pub fn install(arguments: &TelemetryArguments) {
    if arguments.quiet {
        set_quiet();
    }
    let level = match arguments.verbose {
        0 if arguments.quiet => LevelFilter::ERROR,
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let wanted = std::env::var("RUST_LOG").ok().map(|directives| directives.parse::<Targets>());
    let is_unclear = matches!(wanted, Some(Err(_)));
    let filter = wanted.and_then(Result::ok).unwrap_or_else(|| Targets::new().with_target("parsim", level));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(has_colours())
        .log_internal_errors(false);
    let progress = RunProgress::default().with_filter(FilterFn::new(RunProgress::is_about));
    let subscriber = tracing_subscriber::registry().with(progress);
    match arguments.log_format {
        LogFormat::Text => subscriber.with(lines.with_target(false).with_filter(filter)).init(),
        LogFormat::Json => subscriber.with(lines.json().with_filter(filter)).init(),
    }
    if is_unclear {
        tracing::warn!("RUST_LOG is invalid and ignored: give targets and levels, for example parsim=debug");
    }
}
