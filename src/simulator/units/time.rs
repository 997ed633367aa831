//! Simulated time in integer picoseconds.

use super::text::{QuantityError, QuantityKind, padded, quantity_text};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;
use std::time::Duration;

pub(super) const KIND: QuantityKind = QuantityKind {
    wanted: "a time, such as \"1.5 us\" (ps, ns, us, ms, s, min, h)",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", PS_PER_S as u128),
        ("min", 60 * PS_PER_S as u128),
        ("h", 3600 * PS_PER_S as u128),
    ],
    smallest: "1 ps",
    largest: "213 days",
};
/// The number of picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant of the simulation, in picoseconds since its start.
///
/// The sum of two instants does not compile. Arithmetic saturates at the end of time (213 days), which a run reports as
/// a time limit instead of wrapping around.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A span of simulated time, in picoseconds.
///
/// As text it is exact, in a suitable unit. A precision rounds the number, and a width pads the text:
///
/// ```
/// use parsim_sim::units::SimDuration;
///
/// let span = SimDuration::from_ns(1500) / 7;
/// assert_eq!(format!("{span}|{span:.1}|{span:>10.1}"), "214.286 ns|214.3 ns|  214.3 ns");
/// assert_eq!(span * 7 / SimDuration::from_ns(500), 3.000004);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimDuration(u64);

/// A sum of spans over ranks, activities or messages, in picoseconds. It may be longer than all simulated time; 2^64
/// spans of any length fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TotalTime(u128);

impl TotalTime {
    /// Returns the sum in seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a report shows fewer digits than f64 has")]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns the sum in picoseconds.
    #[must_use]
    pub const fn ps(self) -> u128 {
        self.0
    }
}

impl AddAssign<SimDuration> for TotalTime {
    fn add_assign(&mut self, span: SimDuration) {
        self.0 += u128::from(span.0);
    }
}

impl Add for TotalTime {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sum<SimDuration> for TotalTime {
    fn sum<I: Iterator<Item = SimDuration>>(spans: I) -> Self {
        let mut sum = Self::default();
        spans.for_each(|span| sum += span);
        sum
    }
}

impl SimTime {
    /// The start of the simulation.
    pub const START: Self = Self(0);
    /// The last representable instant.
    pub const END: Self = Self(u64::MAX);

    /// Returns the instant `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the picoseconds since the start.
    #[must_use]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start, for reports only, never for the calendar.
    #[must_use]
    pub fn seconds(self) -> f64 {
        SimDuration(self.0).seconds()
    }

    /// Returns the instant `span` before this one, or the start if that is earlier.
    #[must_use]
    pub const fn before(self, span: SimDuration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// Returns the span from `earlier` to `self`, or zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl SimDuration {
    /// The span of no time.
    pub const ZERO: Self = Self(0);
    /// The longest span. Arithmetic that results in it may have saturated.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a span of `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns a span of `ns` nanoseconds, or the longest span if that is shorter.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// Returns a span of `ms` milliseconds, or the longest span if that is shorter.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000_000))
    }

    /// Returns a span of `us` microseconds, or the longest span if that is shorter.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// Returns the difference from a shorter span, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the span of a number of seconds, rounded once to picoseconds. Results of models and distributions are not
    /// whole numbers. Negative numbers and NaN become zero, numbers beyond the longest span become the longest span.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "rounded; a negative number becomes zero, one beyond the end of time the end of time"
    )]
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * PS_PER_S as f64).round() as u64)
    }

    /// Returns the span times `factor`, rounded, for random factors and for parts of different speed. A negative factor
    /// and NaN result in zero, a product beyond the longest span in the longest span.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "rounded; a negative number becomes zero, one beyond the end of time the end of time"
    )]
    pub fn scaled(self, factor: f64) -> Self {
        match factor {
            // A span of more than 2^53 ps has no exact f64.
            1.0 => self,
            _ => Self((self.0 as f64 * factor).round() as u64),
        }
    }

    /// Returns a span of wall-clock time as simulated time; more than the longest span becomes that.
    #[must_use]
    pub fn from_std(span: Duration) -> Self {
        let (seconds, ns) = (span.as_secs().saturating_mul(PS_PER_S), u64::from(span.subsec_nanos()) * 1_000);
        Self(seconds.saturating_add(ns))
    }

    /// Returns the span as that of a clock, rounded down to nanoseconds.
    #[must_use]
    pub const fn to_std(self) -> Duration {
        Duration::from_nanos(self.0 / 1_000)
    }

    /// Returns the span in picoseconds.
    #[must_use]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Returns the span in seconds, for reports only, never for the calendar.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a report shows fewer digits than f64 has")]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns `self · numerator / denominator`, rounded to the nearest picosecond. The result saturates.
    ///
    /// # Panics
    /// Panics if `denominator` is zero.
    #[must_use]
    pub fn ratio(self, numerator: u64, denominator: u64) -> Self {
        let product = u128::from(self.0) * u128::from(numerator);
        let denominator = u128::from(denominator);
        let rounded = (product + denominator / 2) / denominator;
        Self(u64::try_from(rounded).unwrap_or(u64::MAX))
    }
}

impl Add<SimDuration> for SimTime {
    type Output = Self;
    fn add(self, span: SimDuration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for SimTime {
    type Output = SimDuration;
    /// Returns the span from `earlier` to `self`. An `earlier` that is later is a mistake: the span is zero, and builds
    /// with debug assertions panic. Use [`since`](SimTime::since) if it may be later.
    fn sub(self, earlier: Self) -> SimDuration {
        debug_assert!(earlier <= self, "a span does not run backwards");
        self.since(earlier)
    }
}

impl Add for SimDuration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for SimDuration {
    type Output = Self;
    /// Returns the difference. An `other` that is longer is a mistake: the difference is zero, and builds with debug
    /// assertions panic. Use [`saturating_sub`](SimDuration::saturating_sub) if it may be longer.
    fn sub(self, other: Self) -> Self {
        debug_assert!(other <= self, "a span is not negative");
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign<SimDuration> for SimTime {
    fn add_assign(&mut self, span: SimDuration) {
        *self = *self + span;
    }
}

impl AddAssign for SimDuration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for SimDuration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for SimDuration {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for SimDuration {
    type Output = Self;
    /// Returns one of `parts` equal parts, rounded to the nearest picosecond. Panics if there are none.
    fn div(self, parts: u64) -> Self {
        self.ratio(1, parts)
    }
}

impl Div for SimDuration {
    type Output = f64;
    /// Returns the ratio of two spans; it is infinite or NaN if `other` is zero.
    #[expect(clippy::cast_precision_loss, reason = "a ratio is not exact")]
    fn div(self, other: Self) -> f64 {
        self.0 as f64 / other.0 as f64
    }
}

/// The sum of the parts of one span. It saturates, so sums over ranks, activities or messages should be a
/// [`TotalTime`].
impl Sum for SimDuration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl FromStr for SimDuration {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        KIND.parse(text).map(Self)
    }
}

impl fmt::Display for SimDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => padded(f, "0 us"),
            // Only units that engineers use for simulated times: no minutes or hours, and only one spelling of
            // microseconds.
            ps => DISPLAYED.write(f, ps),
        }
    }
}

impl fmt::Debug for SimDuration {
    /// Writes the same as `Display`, with the unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SimTime {
    /// Writes the span since the start.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&SimDuration(self.0), f)
    }
}

impl fmt::Debug for SimTime {
    /// Writes the same as `Display`, with the unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const DISPLAYED: QuantityKind = QuantityKind {
    units: &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", PS_PER_S as u128)],
    ..KIND
};

quantity_text!(SimDuration, "a time with its unit, such as \"1.5 us\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["45.99 us", "1270 us", "0 us", "1.024 ms", "9 us", "333 ps", "12.345 s"] {
            let span: SimDuration = text.parse().unwrap();
            let written = span.to_string();
            assert_eq!(written.parse::<SimDuration>().unwrap(), span, "{text} became {written}");
        }
        assert_eq!("642.16 us".parse::<SimDuration>().unwrap().to_string(), "642.16 us");
        assert_eq!("5 μs".parse::<SimDuration>(), "5 µs".parse());
        assert_eq!("1.27 ms".parse::<SimDuration>().unwrap(), SimDuration::from_us(1270));
    }

    #[test]
    fn ratios_round_once() {
        let second = SimDuration::from_ps(PS_PER_S);
        assert_eq!(second.ratio(1, 3).ps(), 333_333_333_333);
        assert_eq!(second.ratio(2, 3).ps(), 666_666_666_667);
    }

    #[test]
    fn totals_go_beyond_the_end_of_time() {
        let longest = SimDuration::from_ps(u64::MAX);
        let total: TotalTime = std::iter::repeat_n(longest, 1 << 16).sum();
        assert_eq!(total.ps(), u128::from(u64::MAX) << 16);
        assert!((total.seconds() / longest.seconds() - 65_536.0).abs() < 1e-9);
    }

    #[test]
    fn differences_are_never_negative() {
        let (short, long) = (SimDuration::from_us(1), SimDuration::from_us(3));
        assert_eq!(long - short, SimDuration::from_us(2));
        assert_eq!(short.saturating_sub(long), SimDuration::ZERO);
        assert_eq!(SimTime::START.since(SimTime::START + long), SimDuration::ZERO);
    }

    #[test]
    fn numbers_of_seconds_that_are_no_spans_are_clamped() {
        let clamped = [f64::NAN, -1.0, f64::INFINITY].map(SimDuration::from_seconds);
        assert_eq!(clamped, [SimDuration::ZERO, SimDuration::ZERO, SimDuration::MAX]);
    }

    #[test]
    fn texts_have_the_width_and_the_precision_of_their_format() {
        let span = SimDuration::from_ps(1_234_567);
        assert_eq!(format!("{span}|{span:.2}|{span:9.2}|{span:*>9.2}"), "1234.567 ns|1.23 us|1.23 us  |**1.23 us");
        let span = SimDuration::from_us(1_999_960);
        assert_eq!(format!("{span:.1}|{span:>8.1}|{span:?}"), "2.0 s|   2.0 s|1999.96 ms");
        assert_eq!(
            format!("{:>6}|{:<6}|{:?}", SimDuration::ZERO, SimDuration::ZERO, SimTime::from_ps(5)),
            "  0 us|0 us  |5 ps"
        );
    }

    #[test]
    fn spans_are_divided_and_converted() {
        let span = SimDuration::from_us(10);
        assert_eq!((span / 3, span / SimDuration::from_us(4)), (SimDuration::from_ps(3_333_333), 2.5));
        assert_eq!(SimDuration::from_std(Duration::from_nanos(2_000_000_003)), SimDuration::from_ns(2_000_000_003));
        assert_eq!(SimDuration::from_std(Duration::MAX), SimDuration::MAX);
        assert_eq!(SimDuration::from_ps(5_999).to_std(), Duration::from_nanos(5));
    }

    #[test]
    fn the_end_of_time_is_a_wall() {
        assert_eq!(SimTime::END + SimDuration::from_us(1), SimTime::END);
        assert_eq!(SimDuration::from_us(u64::MAX) * 9, SimDuration::from_ps(u64::MAX));
    }
}
