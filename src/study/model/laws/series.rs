//! The laws read off a series of times: one program, one problem, more and more processors.

use super::karp_flatt;
use super::speedup::{efficiency, speedup};

/// The change of e over the series, against its mean, below which it counts as constant.
const STEADY: f64 = 0.1;

/// One run of the series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesPoint {
    /// p.
    pub processors: f64,
    /// T(p), in seconds.
    pub time_s: f64,
    /// The components of the time by name, in seconds; in the same order at every point.
    pub components: Vec<(String, f64)>,
}

/// The base of the speedup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    /// T(1) of the program itself, in seconds.
    OneProcessor(f64),
    /// The time of a sequential program, in seconds, which may be faster than the parallel one on one processor.
    Sequential(f64),
}

impl Base {
    /// The time, in seconds.
    #[must_use]
    pub const fn time_s(self) -> f64 {
        match self {
            Self::OneProcessor(time) | Self::Sequential(time) => time,
        }
    }

    /// Its human-readable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneProcessor(_) => "T(1) of the program",
            Self::Sequential(_) => "a sequential program",
        }
    }
}

/// The laws at one number of processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedupPoint {
    /// p.
    pub processors: f64,
    /// T(p), in seconds.
    pub time_s: f64,
    /// ψ against the base.
    pub speedup: f64,
    /// ψ / p.
    pub efficiency: f64,
    /// The Karp-Flatt metric; `None` at p = 1.
    pub serial_fraction: Option<f64>,
}

/// Trend of the metric as the processors become more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// It stays: the loss behaves like serial work.
    Constant,
    /// It rises: the overhead grows faster than the processors.
    Rising,
    /// It falls: the overhead grows more slowly than the processors.
    Falling,
}

impl Trend {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Rising => "rising",
            Self::Falling => "falling",
        }
    }

    /// The meaning, in words (slides 62 to 64), of these values of e. The metric does not separate serial work from any
    /// other loss that does not shrink with p.
    #[must_use]
    pub fn meaning(self, fractions: impl Iterator<Item = f64>) -> String {
        /// A smaller e is rounding.
        const LEAST: f64 = 1e-9;
        let fractions: Vec<_> = fractions.collect();
        let (sum, count) = fractions.iter().fold((0.0, 0.0), |(sum, count), fraction| (sum + fraction, count + 1.0));
        if fractions.iter().all(|fraction| fraction.abs() < LEAST) {
            return "e is 0: nothing is lost".to_owned();
        }
        if fractions.iter().any(|fraction| *fraction < -LEAST) {
            return "e is negative: the speedup is superlinear, and the metric tells nothing of serial work or overhead".to_owned();
        }
        match self {
            Self::Constant => format!(
                "e is constant: the loss behaves like a serial fraction of {:.4}, be it serial work or communication \
                 that does not shrink with p",
                sum / count
            ),
            Self::Rising => "e rises: the overhead grows faster than p".to_owned(),
            Self::Falling => "e falls: the overhead grows more slowly than p".to_owned(),
        }
    }
}

/// Verdict of the Karp-Flatt metric on a series.
#[derive(Clone, Debug, PartialEq)]
pub struct KarpFlattVerdict {
    /// The trend of e.
    pub trend: Trend,
    /// The component whose part of e grows most from the fewest processors to the most, and by how much; `None`
    /// where the components at p = 1 are not known, or none grows.
    pub growing: Option<(String, f64)>,
}

/// Times of one program and problem by processors.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedupSeries {
    base: Base,
    points: Vec<SeriesPoint>,
}

impl SpeedupSeries {
    /// The series of `points`, ordered by processors, against the time of a sequential program if it is given and
    /// T(1) otherwise.
    ///
    /// `None` if neither is known.
    #[must_use]
    pub fn new(mut points: Vec<SeriesPoint>, sequential_s: Option<f64>) -> Option<Self> {
        points.sort_by(|one, other| one.processors.total_cmp(&other.processors));
        let single = points.iter().find(|point| is_one(point.processors)).map(|point| point.time_s);
        let base = sequential_s.map(Base::Sequential).or_else(|| single.map(Base::OneProcessor))?;
        Some(Self { base, points })
    }

    /// Returns the base of the speedups.
    #[must_use]
    pub const fn base(&self) -> Base {
        self.base
    }

    /// The laws at every point, by processors.
    #[must_use]
    pub fn laws(&self) -> Vec<SpeedupPoint> {
        let of = |point: &SeriesPoint| {
            let SeriesPoint { processors, time_s, .. } = *point;
            let speedup = speedup(self.base.time_s(), time_s);
            let serial_fraction = (processors > 1.0).then(|| karp_flatt::metric(speedup, processors));
            SpeedupPoint { processors, time_s, speedup, efficiency: efficiency(speedup, processors), serial_fraction }
        };
        self.points.iter().map(of).collect()
    }

    /// The p of the largest speedup in the series; `None` where the speedup still rises at its end.
    #[must_use]
    pub fn knee(&self) -> Option<f64> {
        let fastest = self.points.iter().min_by(|one, other| one.time_s.total_cmp(&other.time_s))?;
        let last = self.points.last()?;
        (fastest.processors < last.processors).then_some(fastest.processors)
    }

    /// Returns the verdict; `None` with fewer than two points of more than one processor.
    #[must_use]
    pub fn verdict(&self) -> Option<KarpFlattVerdict> {
        let laws = self.laws();
        let fractions: Vec<_> =
            laws.iter().filter_map(|point| Some((point.processors.log2(), point.serial_fraction?))).collect();
        Some(KarpFlattVerdict { trend: trend(&fractions)?, growing: self.growing() })
    }

    /// The parts of e by component, at each point with more than one processor; empty where the components of
    /// T(1) are not known. They sum to e where the components sum to the time and the base is T(1).
    #[must_use]
    pub fn parts(&self) -> Vec<(f64, Vec<(String, f64)>)> {
        let Some(single) = self.points.iter().find(|point| is_one(point.processors)) else { return Vec::new() };
        let base = self.base.time_s();
        let of = |point: &SeriesPoint| {
            let parts = point.components.iter().zip(&single.components).map(|((name, parallel_s), (_, single_s))| {
                (name.clone(), karp_flatt::component(point.processors, *parallel_s, *single_s, base))
            });
            (point.processors, parts.collect())
        };
        self.points.iter().filter(|point| point.processors > 1.0).map(of).collect()
    }

    fn growing(&self) -> Option<(String, f64)> {
        let parts = self.parts();
        let (first, last) = (parts.first()?, parts.last()?);
        let growth = first.1.iter().zip(&last.1).map(|((name, before), (_, after))| (name.clone(), after - before));
        growth.filter(|(_, growth)| *growth > 0.0).max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

fn is_one(processors: f64) -> bool {
    (processors - 1.0).abs() < f64::EPSILON
}

/// Returns the trend by the change of the least-squares line through (log₂ p, e) from its first point to its last,
/// against the mean of |e|.
fn trend(fractions: &[(f64, f64)]) -> Option<Trend> {
    let (first, last) = (fractions.first()?, fractions.last()?);
    #[expect(clippy::cast_precision_loss, reason = "a series is short")]
    let count = fractions.len() as f64;
    let mean = |value: &dyn Fn(&(f64, f64)) -> f64| fractions.iter().map(value).sum::<f64>() / count;
    let (x, e, size) = (mean(&|point| point.0), mean(&|point| point.1), mean(&|point| point.1.abs()));
    let spread: f64 = fractions.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = fractions.iter().map(|point| (point.0 - x) * (point.1 - e)).sum::<f64>() / spread;
    let change = slope * (last.0 - first.0);
    (spread > 0.0).then_some(match change {
        change if change > STEADY * size => Trend::Rising,
        change if change < -STEADY * size => Trend::Falling,
        _ => Trend::Constant,
    })
}
