//! The command line: one short function per sub-command.

mod advice;
mod bottleneck;
mod calibrate;
mod calibration;
mod check;
mod choice;
mod compare;
mod critical_path;
mod data;
mod explain;
mod export;
mod failure;
mod fit;
mod identify;
mod interrupt;
mod laws;
mod merge;
mod notice;
mod numbers;
mod optimum;
mod output;
mod overrides;
mod pictures;
mod plan;
mod progress;
mod report;
mod row_command;
mod row_command_line;
mod run;
mod saturation;
mod schema;
mod script;
mod sensitivity;
mod shell;
mod store;
mod sweep;
mod telemetry;
mod topology;
mod tune;
mod validate;

pub use failure::Failure;
use numbers::from;
use output::OutputArguments;
pub use script::call_by;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use parsim_study::experiment::{Setting, read_setting};
use parsim_study::scenario::Override;
use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;

/// Simulates message-passing parallel machines, packet by packet, and compares the simulated times with analytical
/// models and published measurements.
#[derive(Debug, Parser)]
#[command(
    version = parsim_sim::version(),
    after_help = "Exit codes: 0 success, 1 the simulation failed or the output cannot be written, 2 invalid usage or scenario, 3 a validation out of tolerance, 130 interrupted, 101 a defect of parsim."
)]
pub struct CommandLine {
    #[command(subcommand)]
    command: SubCommand,
    #[command(flatten)]
    telemetry: telemetry::TelemetryArguments,
}

#[derive(Debug, Subcommand)]
enum SubCommand {
    /// Runs the base values of a scenario.
    #[command(
        after_help = "Example: parsim run scenarios/gauss-jordan-neighbour.ron --set ranks=32 --set program.n=256"
    )]
    Run(run::RunArguments),
    /// Runs every case of a scenario's axes.
    #[command(
        after_help = "Example: parsim sweep scenarios/gauss-jordan-naive.ron --over n=128,256 --over p=1,3,100 --format jsonl"
    )]
    Sweep(sweep::SweepArguments),
    /// Lists the cases of a scenario with their estimated costs, without running them; every format but text also gives
    /// their ids.
    #[command(
        after_help = "Example: parsim plan scenarios/gauss-jordan-naive.ron --over n=128,256 --shard 1/4 --format jsonl"
    )]
    Plan(plan::PlanArguments),
    /// Writes the rows of a sweep from a store of results, without running any case.
    #[command(after_help = "Example: parsim merge scenarios/ring-shift.ron --store results --format csv")]
    Merge(merge::MergeArguments),
    /// Writes a script that runs a sweep in blocks of minutes with Slurm, PBS, HyperQueue or GNU parallel. The script
    /// may be submitted again until `merge` succeeds.
    #[command(
        after_help = "Example: parsim script scenarios/ring-shift.ron --engine slurm --store results -o sweep.sh"
    )]
    Script(script::ScriptArguments),
    /// Finds the load at which a network saturates, for every combination of the other axes.
    #[command(after_help = "Example: parsim saturation scenarios/traffic-64.ron --over topology=mesh2d,torus2d")]
    Saturation(saturation::SaturationArguments),
    /// Shows what limits a program: the components of its time along an axis, and the points where the largest one
    /// changes.
    #[command(
        after_help = "Example: parsim bottleneck scenarios/gauss-jordan-neighbour.ron --over n=256 --source as-printed --plot figures"
    )]
    Bottleneck(bottleneck::BottleneckArguments),
    /// Finds the critical path of a run, which is what kept the run from ending earlier, and its parallelism.
    #[command(
        after_help = "Example: parsim critical-path scenarios/gauss-jordan-neighbour.ron --set ranks=32 --set program.n=256"
    )]
    CriticalPath(critical_path::CriticalPathArguments),
    /// Compares two runs: times, accounts, critical paths and parallelism, with their differences. Also compares all
    /// cases of two stores, with confidence intervals of the differences.
    #[command(
        after_help = "Example: parsim compare scenarios/gauss-jordan-naive.ron scenarios/gauss-jordan-neighbour.ron --set ranks=32 --set program.n=256"
    )]
    Compare(compare::CompareArguments),
    /// Finds the best numbers of cores and nodes for a load, by model and by simulation.
    #[command(
        after_help = "Example: parsim optimum scenarios/cluster-hpl.ron --set program.n=20000 --most-nodes 256 --plot figures"
    )]
    Optimum(optimum::OptimumArguments),
    /// Finds the best values of discrete axes, for example an algorithm, a placement or a shape, and reports how
    /// certain the result is.
    #[command(
        after_help = "Example: parsim tune scenarios/collective-algorithms.ron --over algorithm=Ring,RecursiveDoubling,Rabenseifner --each bytes"
    )]
    Tune(tune::TuneArguments),
    /// Compares simulations and models with published measurements.
    #[command(after_help = "Example: parsim validate cs-rr-281")]
    Validate(validate::ValidateArguments),
    /// Generates a self-contained HTML report of scenarios.
    #[command(
        after_help = "Example: parsim report scenarios/gauss-jordan-neighbour.ron --over n=128,256 --out report.html"
    )]
    Report(report::ReportArguments),
    /// Finds every fault of scenario and machine files without running them.
    #[command(after_help = "Example: parsim check scenarios/*.ron scenarios/machines/*.ron")]
    Check(check::CheckArguments),
    /// Applies the laws of speedup to given numbers, or to the times of a sweep.
    #[command(after_help = "Examples: parsim laws amdahl --serial-fraction 0.1 --p 4,8,16
          parsim sweep scenarios/gauss-jordan-neighbour.ron --over n=256 --format jsonl | parsim laws --data -")]
    Laws(laws::LawsArguments),
    /// Fits a model to the times of a sweep or to measurements, by least squares.
    #[command(
        after_help = "Examples: parsim sweep scenarios/ping.ron --format jsonl | parsim fit - --model point-to-point --value message_s
          parsim fit sweep.jsonl --model normal-form --parameters p --strong-scaling p --up-to p=32"
    )]
    Fit(fit::FitArguments),
    /// Fits parameters of a machine to measurements, and reports which parameters these do not determine.
    #[command(after_help = "Example: parsim calibrate validation/cs-rr-281/constants.ron --machine-out machine.ron")]
    Calibrate(calibrate::CalibrateArguments),
    /// Judges alternative descriptions of a machine by measurements that were left out of their fits.
    #[command(after_help = "Example: parsim identify validation/cs-rr-281/constants.ron")]
    Identify(identify::IdentifyArguments),
    /// Reports the relative change of the makespan per percent of change of each parameter, and the effect of faster
    /// parts.
    #[command(
        after_help = "Example: parsim sensitivity scenarios/gauss-jordan-neighbour.ron --set program.n=256 --set ranks=32"
    )]
    Sensitivity(sensitivity::SensitivityArguments),
    /// Itemises one message of a run, or one step of a rank, by costs and waiting times.
    #[command(
        after_help = "Examples: parsim explain scenarios/ping.ron --set program.bytes=1000B --set placement.hops=5
          parsim explain scenarios/gauss-jordan-neighbour.ron --set program.n=64 --set ranks=16 --step 10"
    )]
    Explain(explain::ExplainArguments),
    /// Exports the messages of a run for other simulators: a GOAL schedule for LogGOPSim, or a time-independent trace
    /// for SimGrid.
    #[command(after_help = "Examples: parsim export scenarios/loggops-collectives.ron --goal broadcast.goal
          parsim export scenarios/loggops-collectives.ron --time-independent traces")]
    Export(export::ExportArguments),
    /// Describes a network by its distances, cuts and channel loads, and draws it.
    #[command(after_help = "Example: parsim topology torus2d --nodes 64 --svg torus.svg")]
    Topology(topology::TopologyArguments),
    /// Prints the schema of a kind of file: every field with its type, default and meaning, as JSON Schema or as a
    /// page.
    #[command(after_help = "Example: parsim schema machine --format markdown")]
    Schema(schema::SchemaArguments),
    /// Prints the completions of this command line for a shell.
    #[command(after_help = "Example: parsim completions bash > ~/.local/share/bash-completion/completions/parsim")]
    Completions(shell::CompletionsArguments),
    /// Writes a man page for every command.
    #[command(after_help = "Example: parsim man --out ~/.local/share/man/man1")]
    Man(shell::ManArguments),
}

/// Options that replace values of a scenario.
#[derive(Clone, Debug, Args)]
struct ValueArguments {
    /// Changes a base value, also in the machine file; may be repeated. A file in the value is relative to the current
    /// folder.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting)]
    set: Vec<Setting>,
    /// Replaces the seed, or the values of an axis over the seed.
    #[arg(long, value_parser = from(0u64))]
    seed: Option<u64>,
}

/// Arguments of all commands that run a scenario.
#[derive(Debug, Args)]
struct ScenarioArguments {
    /// The scenario, a RON file.
    scenario: PathBuf,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    output: OutputArguments,
    /// Prints the resolved scenario with all defaults, instead of running it; of several cases, one after the other.
    #[arg(long)]
    dump_config: bool,
}

/// Arguments of all commands that run all cases of a scenario.
#[derive(Clone, Debug, Args)]
struct CaseArguments {
    /// Replaces the values of an axis, or adds an axis over the field with that path; may be repeated.
    #[arg(long, value_name = "NAME=V1,V2,…")]
    over: Vec<Override>,
    /// Number of cases that run in parallel, or with `merge` are looked up; all cores by default.
    #[arg(short, long, value_parser = overrides::jobs)]
    jobs: Option<NonZero<usize>>,
}

/// Runs a command line, whose first word is the program, and returns the exit code. An invalid command line or an
/// interrupt ends the process instead.
#[must_use]
pub fn command(words: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::install();
    let result = read_line(words).and_then(|line| line.map_or(Ok(()), execute));
    parsim_study::files::yield_to_interrupt();
    match result {
        Ok(()) => 0,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}

/// Parses a command line; returns `None` if the user requested help or the version, which is printed.
///
/// # Errors
/// If the help or version cannot be printed. An invalid command line ends the process.
fn read_line(words: impl IntoIterator<Item = OsString>) -> Result<Option<CommandLine>, Failure> {
    let matches = with_negative_numbers(CommandLine::command()).try_get_matches_from(words);
    match matches.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(line) => Ok(Some(line)),
        Err(error) if error.use_stderr() => advice::on(error).exit(),
        Err(help) => {
            help.print()?;
            std::io::Write::flush(&mut std::io::stdout())?;
            Ok(None)
        }
    }
}

/// Lets the options of a command accept negative numbers as values, so that the error message is about the value and
/// not about an unknown option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let names: Vec<_> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = command.mut_args(|argument| {
        let takes_value = argument.get_action().takes_values();
        if takes_value && !argument.is_positional() { argument.allow_negative_numbers(true) } else { argument }
    });
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_negative_numbers))
}

/// Executes a parsed command line.
///
/// # Errors
/// The failure, which determines the exit code.
fn execute(line: CommandLine) -> Result<(), Failure> {
    telemetry::install(&line.telemetry);
    match line.command {
        SubCommand::Run(arguments) => run::execute(&arguments),
        SubCommand::Sweep(arguments) => sweep::execute(&arguments),
        SubCommand::Plan(arguments) => plan::execute(&arguments),
        SubCommand::Merge(arguments) => merge::execute(&arguments),
        SubCommand::Script(arguments) => script::execute(&arguments),
        SubCommand::Saturation(arguments) => saturation::execute(&arguments),
        SubCommand::Bottleneck(arguments) => bottleneck::execute(&arguments),
        SubCommand::CriticalPath(arguments) => critical_path::execute(&arguments),
        SubCommand::Compare(arguments) => compare::execute(&arguments),
        SubCommand::Optimum(arguments) => optimum::execute(&arguments),
        SubCommand::Tune(arguments) => tune::execute(&arguments),
        SubCommand::Validate(arguments) => validate::execute(&arguments),
        SubCommand::Report(arguments) => report::execute(&arguments),
        SubCommand::Check(arguments) => check::execute(&arguments),
        SubCommand::Fit(arguments) => fit::execute(&arguments),
        SubCommand::Calibrate(arguments) => calibrate::execute(&arguments),
        SubCommand::Identify(arguments) => identify::execute(&arguments),
        SubCommand::Sensitivity(arguments) => sensitivity::execute(&arguments),
        SubCommand::Explain(arguments) => explain::execute(&arguments),
        SubCommand::Export(arguments) => export::execute(&arguments),
        SubCommand::Laws(arguments) => laws::execute(&arguments),
        SubCommand::Topology(arguments) => topology::execute(&arguments),
        SubCommand::Schema(arguments) => schema::execute(&arguments),
        SubCommand::Completions(arguments) => shell::completions(&arguments),
        SubCommand::Man(arguments) => shell::man(&arguments),
    }
}
