//! The laws of `parsim laws` and their options.

use super::super::numbers::{between, from, positive};
use super::numbers::{count, fraction, links, packets, time};
use crate::cli::choice::one_of;
use crate::cli::data::SweptArguments;
use crate::cli::pictures::PictureArguments;
use crate::cli::store::StoreArguments;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use parsim_study::experiment::{Setting, read_setting};
use parsim_study::model::laws::CommunicationLaw;
use parsim_study::model::laws::isoefficiency::Algorithm;
use std::path::PathBuf;

/// A law, with the numbers to which it is applied.
#[derive(Debug, Subcommand)]
pub enum Law {
    /// The bounds of speedup and efficiency from the parts of the time, sigma, phi and kappa, for fixed and for scaled
    /// work.
    #[command(
        after_help = "Example: parsim laws speedup --serial-s 1 --parallel-s 20 --communication log --communication-s 1 --p 1,256,4096"
    )]
    Speedup(PartsArguments),
    /// Amdahl's law: the speedup of fixed work, or the largest serial fraction that a speedup allows.
    #[command(after_help = "Examples: parsim laws amdahl --serial-fraction 0.1 --p 4,8,16
          parsim laws amdahl --speedup 15000 --p 16384")]
    Amdahl(AmdahlArguments),
    /// The law of Gustafson and Barsis: the scaled speedup, or the largest serial share that a speedup allows.
    #[command(after_help = "Examples: parsim laws gustafson --serial-share 0.05 --p 64
          parsim laws gustafson --speedup 15000 --p 16384")]
    Gustafson(GustafsonArguments),
    /// The serial fraction e of measured speedups (Karp-Flatt), with its interpretation.
    #[command(after_help = "Example: parsim laws karp-flatt --p 2,4,8 --speedup 1.87,3.23,4.71")]
    KarpFlatt(KarpFlattArguments),
    /// The growth of the problem that keeps the efficiency constant, and the memory per processor that it needs.
    #[command(
        after_help = "Example: parsim laws isoefficiency --algorithm floyd --efficiency 0.75 --p 4,16,64 --memory 1e6"
    )]
    Isoefficiency(IsoefficiencyArguments),
    /// The number of processors with the largest speedup, and its shift as the work grows.
    #[command(
        after_help = "Example: parsim laws knee --parallel-s 20 --communication linear --communication-s 0.01 --scale 1,8,64"
    )]
    Knee(KneeArguments),
    /// The smallest problem of a scenario that reaches an efficiency on each number of processors, found by simulation,
    /// with the closed form for comparison, and whether the problem fits into the memory of the nodes.
    #[command(after_help = "Example: parsim laws held-efficiency scenarios/floyd.ron --efficiency 0.5 --p 2,4,8")]
    HeldEfficiency(HeldEfficiencyArguments),
    /// The largest problem of a scenario that completes within a time on each number of processors, found by
    /// simulation.
    #[command(after_help = "Example: parsim laws fixed-time scenarios/floyd.ron --time-s 1 --p 1,2,4,8")]
    FixedTime(FixedTimeArguments),
    /// The time of a lone message in a network with store and forward, cut-through, and its simplified form.
    #[command(
        after_help = "Example: parsim laws switching --startup-s 100e-6 --per-byte-s 2e-6 --per-hop-s 5e-6 --bytes 32 --links 3"
    )]
    Switching(SwitchingArguments),
    /// The times of collective operations without contention, on a hypercube and on a square torus.
    #[command(
        after_help = "Example: parsim laws collective --startup-s 100e-6 --per-byte-s 2e-6 --bytes 32 --p 4,16,64"
    )]
    Collective(CollectiveArguments),
}

/// A function that returns the law of communication, given its constant in seconds.
pub type CommunicationGrowth = fn(f64) -> CommunicationLaw;

fn growths() -> impl TypedValueParser<Value = CommunicationGrowth> {
    one_of([
        ("constant", "", CommunicationLaw::Constant as CommunicationGrowth),
        ("log", "", CommunicationLaw::Logarithmic),
        ("linear", "", CommunicationLaw::Linear),
    ])
}

#[derive(Debug, Args)]
pub struct PartsArguments {
    /// sigma: the inherently sequential computation, in seconds.
    #[arg(long, value_parser = time)]
    pub serial_s: f64,
    /// phi: the parallelisable computation, in seconds on one processor.
    #[arg(long, value_parser = time)]
    pub parallel_s: f64,
    /// The growth of kappa, the communication, with the processors: c, c log2 p or c p.
    #[arg(long, alias = "overhead", value_parser = growths(), default_value = "constant")]
    pub communication: CommunicationGrowth,
    /// c, in seconds.
    #[arg(long, alias = "overhead-s", value_parser = time, default_value = "0")]
    pub communication_s: f64,
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    pub p: Vec<f64>,
    #[command(flatten)]
    pub picture: PictureArguments,
}

#[derive(Debug, Args)]
pub struct AmdahlArguments {
    /// f: the serial fraction of the sequential execution.
    #[arg(long, value_parser = fraction, required_unless_present = "speedup", conflicts_with = "speedup")]
    pub serial_fraction: Option<f64>,
    /// The speedup for which to compute the largest serial fraction.
    #[arg(long, value_parser = positive)]
    pub speedup: Option<f64>,
    /// Numbers of processors; `inf` for any number.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    pub p: Vec<f64>,
    #[command(flatten)]
    pub picture: PictureArguments,
}

#[derive(Debug, Args)]
pub struct GustafsonArguments {
    /// s: the serial share of the parallel execution.
    #[arg(long, value_parser = fraction, required_unless_present = "speedup", conflicts_with = "speedup")]
    pub serial_share: Option<f64>,
    /// The scaled speedup for which to compute the largest serial share.
    #[arg(long, value_parser = positive)]
    pub speedup: Option<f64>,
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    pub p: Vec<f64>,
    #[command(flatten)]
    pub picture: PictureArguments,
}

#[derive(Debug, Args)]
pub struct KarpFlattArguments {
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    pub p: Vec<f64>,
    /// The speedups measured on them.
    #[arg(long, value_parser = positive, value_delimiter = ',', required = true)]
    pub speedup: Vec<f64>,
    #[command(flatten)]
    pub picture: PictureArguments,
}

/// Returns a parser for the algorithms with a known isoefficiency relation.
fn algorithms() -> impl TypedValueParser<Value = Algorithm> {
    one_of([
        ("reduction", "", Algorithm::Reduction),
        ("floyd", "", Algorithm::Floyd),
        ("finite-difference", "", Algorithm::FiniteDifference),
        ("gauss-jordan", "", Algorithm::GaussJordan),
    ])
}

#[derive(Debug, Args)]
pub struct IsoefficiencyArguments {
    /// The algorithm, with constants of one.
    #[arg(long, value_parser = algorithms())]
    pub algorithm: Algorithm,
    /// The efficiency to maintain, above 0 and below 1.
    #[arg(long, value_parser = between, required_unless_present = "constant", conflicts_with = "constant")]
    pub efficiency: Option<f64>,
    /// C, the constant of the relation, which contains the times of the machine; instead of the efficiency.
    #[arg(long, value_parser = positive)]
    pub constant: Option<f64>,
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    pub p: Vec<f64>,
    /// The memory capacity of a processor, in numbers.
    #[arg(long, value_parser = positive)]
    pub memory: Option<f64>,
}

#[derive(Debug, Args)]
pub struct KneeArguments {
    /// phi: the parallelisable computation, in seconds on one processor.
    #[arg(long, value_parser = time)]
    pub parallel_s: f64,
    /// sigma: the inherently sequential computation, in seconds; it does not shift the knee.
    #[arg(long, value_parser = time, default_value = "0")]
    pub serial_s: f64,
    /// The growth of kappa, the communication, with the processors: c, c log2 p or c p.
    #[arg(long, alias = "overhead", value_parser = growths())]
    pub communication: CommunicationGrowth,
    /// c, in seconds.
    #[arg(long, alias = "overhead-s", value_parser = positive)]
    pub communication_s: f64,
    /// Scale factors of phi.
    #[arg(long, value_parser = positive, value_delimiter = ',', default_value = "1")]
    pub scale: Vec<f64>,
}

#[derive(Debug, Args)]
pub struct SwitchingArguments {
    /// `t_s`: the start-up time of the message, in seconds.
    #[arg(long, value_parser = time)]
    pub startup_s: f64,
    /// `t_w`: the time per byte on a link, in seconds.
    #[arg(long, value_parser = time)]
    pub per_byte_s: f64,
    /// `t_h`: the time per link besides the bytes, in seconds.
    #[arg(long, value_parser = time, default_value = "0")]
    pub per_hop_s: f64,
    /// m: the length of the message, in bytes.
    #[arg(long, value_parser = positive)]
    pub bytes: f64,
    /// l: the numbers of links on the route.
    #[arg(long, value_parser = links, value_delimiter = ',', required = true)]
    pub links: Vec<f64>,
    /// k: the number of equal packets, for store and forward in packets.
    #[arg(long, value_parser = packets, default_value = "1")]
    pub packets: f64,
    /// f: the length of a flit in bytes, for cut-through in flits.
    #[arg(long, value_parser = positive, default_value = "1")]
    pub flit_bytes: f64,
}

#[derive(Debug, Args)]
pub struct CollectiveArguments {
    /// `t_s`: the start-up time of a message, in seconds.
    #[arg(long, value_parser = time)]
    pub startup_s: f64,
    /// `t_w`: the time per byte on a link, in seconds.
    #[arg(long, value_parser = time)]
    pub per_byte_s: f64,
    /// m: the length of a message, or of the block of a rank, in bytes.
    #[arg(long, value_parser = positive)]
    pub bytes: f64,
    /// Numbers of ranks: powers of two for the hypercube, squares for the torus.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    pub p: Vec<f64>,
}

/// A scenario whose problem grows. Its nodes get unlimited memory for the runs; whether the problem fits is checked
/// afterwards.
#[derive(Debug, Args)]
pub struct GrowthArguments {
    /// The scenario, a RON file, whose base values are used.
    pub scenario: PathBuf,
    /// Changes a base value, also in the machine file; may be repeated.
    #[arg(short, long, value_name = "PATH=VALUE", value_parser = read_setting)]
    pub set: Vec<Setting>,
    /// Numbers of processors.
    #[arg(long, value_delimiter = ',', required = true, value_parser = from(1u32))]
    pub p: Vec<u32>,
    /// The field that makes the problem larger. Sizes that the program rejects are skipped.
    #[arg(long, value_name = "PATH", default_value = "program.n")]
    pub size: String,
    /// The largest size to try.
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = from(1u64))]
    pub largest: u64,
    #[command(flatten)]
    pub picture: PictureArguments,
    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Args)]
pub struct HeldEfficiencyArguments {
    #[command(flatten)]
    pub growth: GrowthArguments,
    /// The efficiency to reach, T(n, 1) / (p T(n, p)), above 0 and below 1. It is assumed to grow with n.
    #[arg(long, value_parser = between)]
    pub efficiency: f64,
}

#[derive(Debug, Args)]
pub struct FixedTimeArguments {
    #[command(flatten)]
    pub growth: GrowthArguments,
    /// The time available, in seconds. The time of the program is assumed to grow with n.
    #[arg(long, value_parser = positive)]
    pub time_s: f64,
}

/// Options for times by the number of processors.
#[derive(Debug, Args)]
pub struct SeriesArguments {
    /// The times by processors: the output of a sweep as jsonl, json or csv, or measurements; `-` is the standard
    /// input. If this is a scenario (.ron), it is swept.
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub swept: SweptArguments,
    /// The column of the times; `makespan_mean_s`, `makespan_s`, `measured_s`, `time_s` or `time` by default. The
    /// columns before it are the varied parameters.
    #[arg(long, value_name = "KEY", requires = "data")]
    pub time: Option<String>,
    /// The column of the number of processors.
    #[arg(long, value_name = "KEY", default_value = "p", requires = "data")]
    pub processors: String,
    /// The time of a sequential program, which replaces T(1) in the speedups.
    #[arg(long, value_name = "SECONDS", requires = "data", value_parser = positive)]
    pub sequential_s: Option<f64>,
    /// Weak scaling: the work grows with p. Reports the efficiency T(1) / T(p), the scaled speedup W(p) / T(p) and
    /// Gustafson's serial share, instead of the laws of fixed work. W(p), the work, is the time of the same problem on
    /// one processor: `one_rank_s` if all rows have it (`compare: [OneRank]` in a scenario), otherwise p T(1).
    #[arg(long, requires = "data", conflicts_with = "components")]
    pub weak: bool,
    /// With `--weak`: the part of T(1) that is constant, such as serial work; W(p) is this part and p times the rest.
    #[arg(long, value_name = "SECONDS", requires = "weak", conflicts_with = "work", value_parser = time)]
    pub constant_s: Option<f64>,
    /// With `--weak`: the column of W(p).
    #[arg(long, value_name = "KEY", requires = "weak", conflicts_with = "sequential_s")]
    pub work: Option<String>,
    /// P, for data without a time on one processor: speedups T(P) / T(p) and efficiencies P T(P) / (p T(p)) are relative
    /// to the time on P processors, and the Karp-Flatt metric, which needs T(1), is left out.
    #[arg(long, value_name = "P", requires = "data", conflicts_with = "sequential_s", value_parser = from(1u32))]
    pub base: Option<u32>,
    /// The columns that sum to the time, whose parts of the Karp-Flatt metric are reported; by default the activities
    /// of ranks.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',', requires = "data")]
    pub components: Vec<String>,
    /// Columns before the times that separate no series, such as the shape of the grid of ranks, which follows from the
    /// number of processors.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',', requires = "data")]
    pub ignore: Vec<String>,
    #[command(flatten)]
    pub picture: PictureArguments,
}
