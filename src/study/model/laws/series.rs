//! The laws applied to a series of times of one program and problem on increasing numbers of processors.

use super::speedup::{efficiency, speedup};
use super::{gustafson, karp_flatt};

/// The change of e over the series, relative to its mean, below which e counts as constant.
const STEADY: f64 = 0.1;

/// One run of the series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesPoint {
    /// The number of processors, p.
    pub processors: f64,
    /// T(p), in seconds.
    pub time_s: f64,
    /// The work of this problem: its time on one processor, in seconds, if it is known.
    pub work_s: Option<f64>,
    /// The components of the time by name, in seconds, in the same order at every point.
    pub components: Vec<(String, f64)>,
}

/// The base of the speedup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    /// T(1) of the program itself, in seconds.
    OneProcessor(f64),
    /// The time of a sequential program, in seconds. It may be faster than the parallel program on one processor.
    Sequential(f64),
    /// T(P) of the program itself on P > 1 processors: the speedup T(P) / T(p) and the efficiency P T(P) / (p T(p)) are
    /// relative ones, both 1 at P.
    Processors {
        /// P.
        count: f64,
        /// T(P), in seconds.
        time_s: f64,
    },
}

/// The base that a series of times is to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestedBase {
    /// T(P) of the program itself on this number of processors, usually 1.
    Processors(f64),
    /// The time of a sequential program, in seconds.
    Sequential(f64),
}

impl Base {
    /// Returns the time, in seconds.
    #[must_use]
    pub const fn time_s(self) -> f64 {
        match self {
            Self::OneProcessor(time) | Self::Sequential(time) | Self::Processors { time_s: time, .. } => time,
        }
    }

    /// Returns the number of processors on which the base takes its time.
    #[must_use]
    pub const fn processors(self) -> f64 {
        match self {
            Self::OneProcessor(_) | Self::Sequential(_) => 1.0,
            Self::Processors { count, .. } => count,
        }
    }

    /// Returns `true` if speedups are relative to the time on several processors. The laws of the serial part have no
    /// base then, as they need the time of one processor.
    #[must_use]
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::Processors { .. })
    }

    /// Returns the human-readable name of the base.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::OneProcessor(_) => "T(1) of the program".to_owned(),
            Self::Sequential(_) => "a sequential program".to_owned(),
            Self::Processors { count, .. } => format!("T({count}) of the program"),
        }
    }
}

/// The laws at one number of processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedupPoint {
    /// The number of processors, p.
    pub processors: f64,
    /// T(p), in seconds.
    pub time_s: f64,
    /// The speedup ψ relative to the base.
    pub speedup: f64,
    /// The efficiency ψ / p; P ψ / p if the base is the time on P processors.
    pub efficiency: f64,
    /// The Karp-Flatt metric; `None` at p = 1, and if the base is the time on several processors.
    pub serial_fraction: Option<f64>,
}

/// The laws at one number of processors for work that grows with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledPoint {
    /// The number of processors, p.
    pub processors: f64,
    /// The efficiency of weak scaling, T(P) / T(p) with the time T(P) of the base.
    pub efficiency: f64,
    /// The scaled speedup W(p) / T(p), with the work W(p): the time of the same problem on one processor. It is relative
    /// to W(P) / T(P) if the base is the time on P processors.
    pub scaled_speedup: f64,
    /// Gustafson's share s of the time on p processors; `None` at p = 1, and if the base is the time on several
    /// processors.
    pub serial_share: Option<f64>,
}

/// The trend of the metric e as the number of processors grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// e is constant: the loss behaves like serial work.
    Constant,
    /// e rises: the total parallel overhead grows faster than p − 1.
    Rising,
    /// e falls: the total parallel overhead grows more slowly than p − 1.
    Falling,
    /// e rises between some numbers of processors and falls between others.
    Mixed,
}

/// A magnitude of e below which it is attributed to rounding.
const MIN: f64 = 1e-9;
/// T₀ in sentences. It is (p − 1) T(1) e.
const OVERHEAD: &str = "the total parallel overhead T_0 = p T(p) - T(1)";

impl Trend {
    /// Returns the name of the trend.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Mixed => "mixed",
        }
    }

    /// Returns a sentence on the meaning of the trend (slides 62 to 64) for these values of e. The metric does not
    /// distinguish serial work from any other loss that does not shrink with p.
    #[must_use]
    pub fn meaning(self, fractions: impl Iterator<Item = f64>) -> String {
        let fractions: Vec<_> = fractions.collect();
        let (sum, count) = fractions.iter().fold((0.0, 0.0), |(sum, count), fraction| (sum + fraction, count + 1.0));
        if fractions.iter().all(|fraction| fraction.abs() < MIN) {
            return "e is 0: nothing is lost".to_owned();
        }
        let negative = fractions.iter().filter(|fraction| **fraction < -MIN).count();
        if 2 * negative >= fractions.len() {
            return format!(
                "e is negative: {OVERHEAD} is, as the speedup is superlinear, and e measures no serial work"
            );
        }
        let meaning = self.meaning_above_0(&fractions, sum / count);
        match negative {
            0 => meaning,
            _ => format!("{meaning}; e is below 0 at {negative} of {count} p, where the speedup is superlinear"),
        }
    }

    /// Returns a sentence on the meaning of the trend for values of e, most of which are above 0, with their `mean`.
    fn meaning_above_0(self, fractions: &[f64], mean: f64) -> String {
        if fractions.iter().all(|fraction| *fraction > 1.0 + MIN) {
            return "e is above 1: all take longer than one processor. Either the communication outweighs the gain, or the \
                    work grows with p, for which e has no meaning"
                .to_owned();
        }
        match self {
            Self::Constant => format!(
                "e is constant: the loss behaves like a serial fraction of {mean:.4}, whether serial work or communication \
                 that does not shrink with p"
            ),
            Self::Rising => format!("e rises: {OVERHEAD} grows faster than p - 1, as serial work alone does not"),
            Self::Falling => format!("e falls: {OVERHEAD} grows more slowly than p - 1, as from serial work"),
            Self::Mixed => {
                format!("e rises and falls: {OVERHEAD} grows neither always faster nor always more slowly than p - 1")
            }
        }
    }
}

/// The verdict of the Karp-Flatt metric on a series.
#[derive(Clone, Debug, PartialEq)]
pub struct KarpFlattVerdict {
    /// The trend of e.
    pub trend: Trend,
    /// The components whose parts of e grow from the fewest to the most processors, and their growth, the largest first.
    /// Empty if the components at p = 1 are unknown.
    pub growing: Vec<(String, f64)>,
    /// The component with the largest part of e on the most processors, and that part; `None` if the components at p = 1
    /// are unknown.
    pub largest: Option<(String, f64)>,
}

/// The times of one program and problem by number of processors.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedupSeries {
    base: Base,
    points: Vec<SeriesPoint>,
}

impl SpeedupSeries {
    /// Creates the series of `points`, ordered by processors. Returns `None` if the base is the time on a number of
    /// processors that no point has.
    #[must_use]
    pub fn new(mut points: Vec<SeriesPoint>, base: RequestedBase) -> Option<Self> {
        points.sort_by(|one, other| one.processors.total_cmp(&other.processors));
        let base = match base {
            RequestedBase::Sequential(time_s) => Base::Sequential(time_s),
            RequestedBase::Processors(count) => {
                let time_s = points.iter().find(|point| point.processors.total_cmp(&count).is_eq())?.time_s;
                if is_one(count) { Base::OneProcessor(time_s) } else { Base::Processors { count, time_s } }
            }
        };
        Some(Self { base, points })
    }

    /// Returns the base of the speedups.
    #[must_use]
    pub const fn base(&self) -> Base {
        self.base
    }

    /// Returns the laws at every point, by processors.
    #[must_use]
    pub fn laws(&self) -> Vec<SpeedupPoint> {
        let of = |point: &SeriesPoint| {
            let SeriesPoint { processors, time_s, .. } = *point;
            let speedup = speedup(self.base.time_s(), time_s);
            let has_metric = processors > 1.0 && !self.base.is_relative();
            let serial_fraction = has_metric.then(|| karp_flatt::metric(speedup, processors));
            let efficiency = efficiency(speedup, processors / self.base.processors());
            SpeedupPoint { processors, time_s, speedup, efficiency, serial_fraction }
        };
        self.points.iter().map(of).collect()
    }

    /// Returns the laws of work that grows with the processors at every point, by processors. Where the work is not
    /// known, `constant_s` of the time of the base is taken to be constant, in seconds, and the rest to grow as p.
    #[must_use]
    pub fn scaled(&self, constant_s: f64) -> Vec<ScaledPoint> {
        let speedup = |point: &SeriesPoint| self.work_s(point, constant_s) / point.time_s;
        let of_base =
            self.points.iter().find(|point| self.base.is_relative() && self.is_base(point)).map_or(1.0, speedup);
        let of = |point: &SeriesPoint| {
            let (processors, efficiency) = (point.processors, self.base.time_s() / point.time_s);
            let scaled_speedup = speedup(point) / of_base;
            let has_share = processors > 1.0 && !self.base.is_relative();
            let serial_share = has_share.then(|| gustafson::serial_share(scaled_speedup, processors));
            ScaledPoint { processors, efficiency, scaled_speedup, serial_share }
        };
        self.points.iter().map(of).collect()
    }

    fn is_base(&self, point: &SeriesPoint) -> bool {
        point.processors.total_cmp(&self.base.processors()).is_eq()
    }

    fn work_s(&self, point: &SeriesPoint, constant_s: f64) -> f64 {
        let growing_s = self.base.time_s() - constant_s;
        point.work_s.unwrap_or_else(|| point.processors.mul_add(growing_s, constant_s))
    }

    /// Returns the p of the largest speedup in the series; `None` if the speedup still rises at the end of the series.
    #[must_use]
    pub fn knee(&self) -> Option<f64> {
        let fastest = self.points.iter().min_by(|one, other| one.time_s.total_cmp(&other.time_s))?;
        let last = self.points.last()?;
        (fastest.processors < last.processors).then_some(fastest.processors)
    }

    /// Returns the verdict; `None` with fewer than two points of more than one processor, and if the base is the time on
    /// several processors.
    #[must_use]
    pub fn verdict(&self) -> Option<KarpFlattVerdict> {
        let laws = self.laws();
        let fractions: Vec<_> =
            laws.iter().filter_map(|point| Some((point.processors.log2(), point.serial_fraction?))).collect();
        let parts = self.parts().pop().map(|(_, parts)| parts);
        let positive = parts.into_iter().flatten().filter(|part| part.1 > 0.0);
        let largest = positive.max_by(|one, other| one.1.total_cmp(&other.1));
        Some(KarpFlattVerdict { trend: trend(&fractions)?, growing: self.growing(), largest })
    }

    /// Returns the parts of e by component, at each point with more than one processor. The result is empty if the
    /// components of T(1) are unknown or the base is the time on several processors. The parts sum to e if the components sum to the time and the base is T(1).
    #[must_use]
    pub fn parts(&self) -> Vec<(f64, Vec<(String, f64)>)> {
        let single = self.points.iter().find(|point| is_one(point.processors) && !self.base.is_relative());
        let Some(single) = single else { return Vec::new() };
        let base = self.base.time_s();
        let of = |point: &SeriesPoint| {
            let parts = point.components.iter().zip(&single.components).map(|((name, parallel_s), (_, single_s))| {
                (name.clone(), karp_flatt::component(point.processors, *parallel_s, *single_s, base))
            });
            (point.processors, parts.collect())
        };
        self.points.iter().filter(|point| point.processors > 1.0).map(of).collect()
    }

    fn growing(&self) -> Vec<(String, f64)> {
        /// A growth of e that is rounding.
        const NOTHING: f64 = 1e-12;
        let parts = self.parts();
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Vec::new() };
        let growth = first.1.iter().zip(&last.1).map(|((name, before), (_, after))| (name.clone(), after - before));
        let mut growing: Vec<_> = growth.filter(|(_, growth)| *growth > NOTHING).collect();
        growing.sort_by(|one, other| other.1.total_cmp(&one.1));
        growing
    }
}

fn is_one(processors: f64) -> bool {
    (processors - 1.0).abs() < f64::EPSILON
}

/// Returns the trend of the points (log₂ p, e): the change of their least-squares line from the first to the last
/// point, relative to the mean of |e|. If e changes as much in the opposite direction from one point to the next, it has
/// no trend.
fn trend(fractions: &[(f64, f64)]) -> Option<Trend> {
    let (first, last) = (fractions.first()?, fractions.last()?);
    #[expect(clippy::cast_precision_loss, reason = "a series is short")]
    let count = fractions.len() as f64;
    let mean = |value: &dyn Fn(&(f64, f64)) -> f64| fractions.iter().map(value).sum::<f64>() / count;
    let (x, e, size) = (mean(&|point| point.0), mean(&|point| point.1), mean(&|point| point.1.abs()));
    let spread: f64 = fractions.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = fractions.iter().map(|point| (point.0 - x) * (point.1 - e)).sum::<f64>() / spread;
    let change = slope * (last.0 - first.0);
    let mut steps = fractions.windows(2).map(|pair| pair[1].1 - pair[0].1);
    let (rises, falls) = (|change: f64| change > STEADY * size, |change: f64| change < -STEADY * size);
    let ever_rises = rises(change) || steps.clone().any(rises);
    let ever_falls = falls(change) || steps.any(falls);
    (spread > 0.0).then_some(match change {
        _ if ever_rises && ever_falls => Trend::Mixed,
        change if rises(change) => Trend::Rising,
        change if falls(change) => Trend::Falling,
        _ => Trend::Constant,
    })
}
