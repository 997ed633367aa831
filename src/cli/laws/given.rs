//! The laws on numbers from the command line.

use super::network::{CollectiveArguments, SwitchingArguments};
use super::numbers::{count, fraction, positive, rows, time};
use super::search::{FixedTimeArguments, HeldEfficiencyArguments};
use super::{Answer, processors};
use crate::cli::Failure;
use clap::{Args, Subcommand, ValueEnum};
use parsim_study::model::laws::{
    OverheadLaw, ScaledWork, SeriesPoint, SpeedupSeries, amdahl, efficiency, gustafson, isoefficiency, karp_flatt, knee,
};
use parsim_study::report::Record;

/// The largest number of processors that is looked at.
const MOST_PROCESSORS: u64 = 1 << 40;

/// A law and the numbers to apply it to.
#[derive(Debug, Subcommand)]
pub enum Law {
    /// The bounds of speedup and efficiency from the parts of the time, sigma, phi and kappa, for fixed and for
    /// scaled work.
    #[command(
        after_help = "Example: parsim laws speedup --serial-s 1 --parallel-s 20 --overhead log --overhead-s 1 --p 1,256,4096"
    )]
    Speedup(PartsArguments),
    /// Amdahl's law: the speedup of fixed work, or the serial fraction that a speedup allows.
    #[command(after_help = "Examples: parsim laws amdahl --serial-fraction 0.1 --p 4,8,16
          parsim laws amdahl --speedup 15000 --p 16384")]
    Amdahl(AmdahlArguments),
    /// The law of Gustafson and Barsis: the scaled speedup, or the serial share that it allows.
    #[command(after_help = "Examples: parsim laws gustafson --serial-share 0.05 --p 64
          parsim laws gustafson --speedup 15000 --p 16384")]
    Gustafson(GustafsonArguments),
    /// The Karp-Flatt metric of measured speedups, with what it says about them.
    #[command(after_help = "Example: parsim laws karp-flatt --p 2,4,8 --speedup 1.87,3.23,4.71")]
    KarpFlatt(KarpFlattArguments),
    /// Growth of the problem that holds the efficiency, and the memory that each processor needs for it.
    #[command(
        after_help = "Example: parsim laws isoefficiency --algorithm floyd --efficiency 0.75 --p 4,16,64 --memory 1e6"
    )]
    Isoefficiency(IsoefficiencyArguments),
    /// The number of processors with the largest speedup, and how it moves as the work grows.
    #[command(
        after_help = "Example: parsim laws knee --parallel-s 20 --overhead linear --overhead-s 0.01 --scale 1,8,64"
    )]
    Knee(KneeArguments),
    /// The least problem of a scenario that holds an efficiency on each number of processors, by search on the
    /// simulation, beside the closed form, and whether it fits into the memory of the nodes.
    #[command(after_help = "Example: parsim laws held-efficiency scenarios/floyd.ron --efficiency 0.5 --p 2,4,8")]
    HeldEfficiency(HeldEfficiencyArguments),
    /// The largest problem of a scenario that fits into a time on each number of processors, by search on the
    /// simulation.
    #[command(after_help = "Example: parsim laws fixed-time scenarios/floyd.ron --time-s 1 --p 1,2,4,8")]
    FixedTime(FixedTimeArguments),
    /// The time of one message alone in a network, by store and forward, cut-through and its simplified form.
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

/// Growth of the overhead with the processors.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OverheadGrowth {
    Constant,
    Log,
    Linear,
}

impl OverheadGrowth {
    const fn by(self, seconds: f64) -> OverheadLaw {
        match self {
            Self::Constant => OverheadLaw::Constant(seconds),
            Self::Log => OverheadLaw::Logarithmic(seconds),
            Self::Linear => OverheadLaw::Linear(seconds),
        }
    }
}

#[derive(Debug, Args)]
pub struct PartsArguments {
    /// sigma: the inherently sequential computation, in seconds.
    #[arg(long, value_parser = time)]
    serial_s: f64,
    /// phi: the computation that can be divided, in seconds of one processor.
    #[arg(long, value_parser = time)]
    parallel_s: f64,
    /// Growth of kappa, the overhead, with the processors: c, c log2 p or c p.
    #[arg(long, value_enum, default_value = "constant")]
    overhead: OverheadGrowth,
    /// c, in seconds.
    #[arg(long, value_parser = time, default_value = "0")]
    overhead_s: f64,
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    p: Vec<f64>,
}

#[derive(Debug, Args)]
pub struct AmdahlArguments {
    /// f: the serial fraction of the sequential execution.
    #[arg(long, value_parser = fraction, required_unless_present = "speedup", conflicts_with = "speedup")]
    serial_fraction: Option<f64>,
    /// The speedup for which the largest serial fraction is wanted.
    #[arg(long, value_parser = positive)]
    speedup: Option<f64>,
    /// Numbers of processors; `inf` for any number.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    p: Vec<f64>,
}

#[derive(Debug, Args)]
pub struct GustafsonArguments {
    /// s: the serial share of the parallel execution.
    #[arg(long, value_parser = fraction, required_unless_present = "speedup", conflicts_with = "speedup")]
    serial_share: Option<f64>,
    /// The scaled speedup for which the largest serial share is wanted.
    #[arg(long, value_parser = positive)]
    speedup: Option<f64>,
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    p: Vec<f64>,
}

#[derive(Debug, Args)]
pub struct KarpFlattArguments {
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    p: Vec<f64>,
    /// The speedups measured on them.
    #[arg(long, value_parser = positive, value_delimiter = ',', required = true)]
    speedup: Vec<f64>,
}

/// The algorithms whose isoefficiency relation is known.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum KnownAlgorithm {
    Reduction,
    Floyd,
    FiniteDifference,
    GaussJordan,
}

#[derive(Debug, Args)]
pub struct IsoefficiencyArguments {
    /// The algorithm, whose constants are one.
    #[arg(long, value_enum)]
    algorithm: KnownAlgorithm,
    /// The efficiency to hold.
    #[arg(long, value_parser = fraction, required_unless_present = "constant", conflicts_with = "constant")]
    efficiency: Option<f64>,
    /// C, the constant of the relation, which contains the times of the machine, instead of the efficiency.
    #[arg(long, value_parser = positive)]
    constant: Option<f64>,
    /// Numbers of processors.
    #[arg(long, value_parser = count, value_delimiter = ',', required = true)]
    p: Vec<f64>,
    /// Capacity of a processor's memory, in numbers.
    #[arg(long, value_parser = positive)]
    memory: Option<f64>,
}

#[derive(Debug, Args)]
pub struct KneeArguments {
    /// phi: the computation that can be divided, in seconds of one processor.
    #[arg(long, value_parser = time)]
    parallel_s: f64,
    /// sigma: the inherently sequential computation, in seconds; it does not move the knee.
    #[arg(long, value_parser = time, default_value = "0")]
    serial_s: f64,
    /// Growth of kappa, the overhead, with the processors: c, c log2 p or c p.
    #[arg(long, value_enum)]
    overhead: OverheadGrowth,
    /// c, in seconds.
    #[arg(long, value_parser = positive)]
    overhead_s: f64,
    /// Factors of phi.
    #[arg(long, value_parser = positive, value_delimiter = ',', default_value = "1")]
    scale: Vec<f64>,
}

impl Law {
    /// Evaluates the law.
    pub fn answer(&self) -> Result<Answer, Failure> {
        match self {
            Self::Speedup(arguments) => Ok(arguments.answer()),
            Self::Amdahl(arguments) => Ok(rows(&arguments.p, |p| arguments.record(p))),
            Self::Gustafson(arguments) => Ok(rows(&arguments.p, |p| arguments.record(p))),
            Self::KarpFlatt(arguments) => arguments.answer(),
            Self::Isoefficiency(arguments) => Ok(arguments.answer()),
            Self::Knee(arguments) => Ok(arguments.answer()),
            Self::HeldEfficiency(arguments) => arguments.answer(),
            Self::FixedTime(arguments) => arguments.answer(),
            Self::Switching(arguments) => Ok(arguments.answer()),
            Self::Collective(arguments) => Ok(arguments.answer()),
        }
    }
}

fn beginning(p: f64) -> Record {
    let mut record = Record::default();
    record.put("p", processors(p));
    record
}

/// Returns a value that exists only for more than one processor.
fn if_parallel(p: f64, value: impl Fn() -> f64) -> Option<f64> {
    (p > 1.0).then(value)
}

impl PartsArguments {
    fn answer(&self) -> Answer {
        let growth = self.overhead.by(self.overhead_s);
        let knee = knee(self.serial_s, self.parallel_s, growth);
        let words = knee.map_or_else(String::new, |knee| format!("\nthe knee is at p = {knee}\n"));
        Answer { words, ..rows(&self.p, |p| self.record(p, growth)) }
    }

    fn record(&self, p: f64, growth: OverheadLaw) -> Record {
        let parts = growth.parts(self.serial_s, self.parallel_s, p);
        let work = ScaledWork { serial_s: self.serial_s, parallel_s: self.parallel_s, overhead: growth };
        let mut record = beginning(p);
        record.put("time_s", parts.parallel_time_s(p));
        record.put("speedup", parts.speedup(p));
        record.put("efficiency", parts.efficiency(p));
        record.put("scaled_speedup", work.scaled_speedup(p));
        record.put("amdahl", amdahl::speedup(parts.serial_fraction(), p));
        record.put("gustafson_barsis", gustafson::scaled_speedup(parts.serial_share(p), p));
        record.put("karp_flatt", if_parallel(p, || karp_flatt::metric(parts.speedup(p), p)));
        record.put("karp_flatt_definition", karp_flatt::definition(&parts));
        record.put("total_overhead_s", parts.total_overhead_s(p));
        record
    }
}

impl AmdahlArguments {
    fn record(&self, p: f64) -> Record {
        let mut record = beginning(p);
        let fraction = self.serial_fraction.or_else(|| {
            let speedup = self.speedup?;
            if_parallel(p, || amdahl::serial_fraction(speedup, p))
        });
        let speedup = fraction.map(|fraction| amdahl::speedup(fraction, p));
        record.put("serial_fraction", fraction);
        record.put("speedup", speedup);
        record.put("efficiency", speedup.map(|speedup| efficiency(speedup, p)));
        record.put("limit", fraction.map(amdahl::limit));
        record
    }
}

impl GustafsonArguments {
    fn record(&self, p: f64) -> Record {
        let mut record = beginning(p);
        let share = self.serial_share.or_else(|| {
            let speedup = self.speedup?;
            if_parallel(p, || gustafson::serial_share(speedup, p))
        });
        let speedup = share.map(|share| gustafson::scaled_speedup(share, p));
        let fraction = share.map(|share| gustafson::fraction_of_share(share, p));
        record.put("serial_share", share);
        record.put("scaled_speedup", speedup);
        record.put("efficiency", speedup.map(|speedup| efficiency(speedup, p)));
        record.put("serial_fraction_of_scaled_work", fraction);
        record
    }
}

impl KarpFlattArguments {
    fn answer(&self) -> Result<Answer, Failure> {
        if self.p.len() != self.speedup.len() {
            let message = format!(
                "--p has {} values and --speedup {}: give a speedup for each number of processors",
                self.p.len(),
                self.speedup.len()
            );
            return Err(Failure::Usage(message));
        }
        let points = self.p.iter().zip(&self.speedup).map(|(p, speedup)| SeriesPoint {
            processors: *p,
            time_s: speedup.recip(),
            components: Vec::new(),
        });
        // Only ratios of times matter here, so the base may be one second.
        let series = SpeedupSeries::new(points.collect(), Some(1.0)).expect("a base is given");
        let of = |point: parsim_study::model::laws::SpeedupPoint| {
            let mut record = beginning(point.processors);
            record.put("speedup", point.speedup);
            record.put("efficiency", point.efficiency);
            record.put("karp_flatt", point.serial_fraction);
            record
        };
        let words = series.verdict().map_or_else(String::new, |verdict| {
            format!(
                "\n{}\n",
                verdict.trend.meaning(series.laws().into_iter().filter_map(|point| point.serial_fraction))
            )
        });
        Ok(Answer { rows: series.laws().into_iter().map(of).collect(), words })
    }
}

impl IsoefficiencyArguments {
    fn answer(&self) -> Answer {
        let algorithm = match self.algorithm {
            KnownAlgorithm::Reduction => isoefficiency::Algorithm::Reduction,
            KnownAlgorithm::Floyd => isoefficiency::Algorithm::Floyd,
            KnownAlgorithm::FiniteDifference => isoefficiency::Algorithm::FiniteDifference,
            KnownAlgorithm::GaussJordan => isoefficiency::Algorithm::GaussJordan,
        };
        let given = self.constant.or_else(|| self.efficiency.map(isoefficiency::constant));
        let constant = given.expect("the command line has one of the two");
        let largest = self.memory.map(|memory| algorithm.largest_processors(constant, memory, MOST_PROCESSORS));
        let words = largest.map_or_else(String::new, |largest| match largest {
            Some(MOST_PROCESSORS) => "\nthe memory holds the efficiency on any number of processors\n".to_owned(),
            Some(largest) => format!("\nthe memory holds the efficiency on up to {largest} processors\n"),
            None => "\nthe memory holds the efficiency on no more than one processor\n".to_owned(),
        });
        let record = |p: f64| {
            let mut record = beginning(p);
            record.put("constant", constant);
            record.put("n", algorithm.problem_size(constant, p));
            record.put("numbers_per_processor", algorithm.scalability(constant, p));
            record.put("fits", self.memory.map(|memory| algorithm.scalability(constant, p) <= memory));
            record
        };
        Answer { words, ..rows(&self.p, record) }
    }
}

impl KneeArguments {
    fn answer(&self) -> Answer {
        let growth = self.overhead.by(self.overhead_s);
        let record = |scale: f64| {
            let parallel_s = scale * self.parallel_s;
            let knee = knee(self.serial_s, parallel_s, growth);
            let parts = knee.map(|knee| growth.parts(self.serial_s, parallel_s, knee));
            let mut record = Record::default();
            record.put("scale", scale);
            record.put("parallel_s", parallel_s);
            record.put("knee_p", knee.map(processors));
            record.put("speedup", parts.zip(knee).map(|(parts, knee)| parts.speedup(knee)));
            record.put("efficiency", parts.zip(knee).map(|(parts, knee)| parts.efficiency(knee)));
            record
        };
        Answer { rows: self.scale.iter().map(|scale| record(*scale)).collect(), words: String::new() }
    }
}
