//! Number of concurrent activities: the profile over time and the histogram of the degree of parallelism.

use parsim_sim::units::SimDuration;

/// An interval in which the number of active activities is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileStep {
    /// The beginning of the interval.
    pub from: SimDuration,
    /// The end of the interval.
    pub to: SimDuration,
    /// The number of active activities.
    pub active: u32,
}

/// The degree of parallelism from 0 to the length of the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parallelism {
    /// The time in which exactly `index` activities are active, by index.
    times: Vec<SimDuration>,
    length: SimDuration,
}

/// The largest number of beginnings and ends, of eight bytes each, that a sweep sorts at once.
const AT_ONCE: u64 = 8 << 20;

impl Parallelism {
    /// Returns the parallelism of `count` activities, given by beginning and end, up to `length`.
    #[must_use]
    pub fn of<A>(activities: impl Fn() -> A, count: u64, length: SimDuration) -> Self
    where
        A: Iterator<Item = (SimDuration, SimDuration)>,
    {
        let mut times = Vec::new();
        sweep(activities, count, length, |step| {
            let active = step.active as usize;
            if times.len() <= active {
                times.resize(active + 1, SimDuration::ZERO);
            }
            times[active] += step.to - step.from;
        });
        Self { times, length }
    }

    /// Returns the parallelism of activities given by beginning and end in any unit, from 0 to the last end; `None` if
    /// they take no time. Times have a resolution of 10⁻¹² units or, beyond 10⁷ units, of 10⁻¹⁹ of the last end.
    #[must_use]
    pub fn of_units(activities: &[(f64, f64)]) -> Option<Self> {
        let last = activities.iter().map(|(_, end)| *end).fold(0.0, f64::max);
        let scale = (1e7 / last).min(1.0);
        let time = |units: f64| SimDuration::from_seconds(units * scale);
        let length = activities.iter().map(|(_, end)| time(*end)).max().filter(|end| *end > SimDuration::ZERO)?;
        let count = activities.len() as u64;
        Some(Self::of(|| activities.iter().map(|(begin, end)| (time(*begin), time(*end))), count, length))
    }

    /// Returns the time in which exactly `active` activities are active.
    #[must_use]
    pub fn time(&self, active: usize) -> SimDuration {
        self.times.get(active).copied().unwrap_or_default()
    }

    /// Returns the share of the time in which exactly `active` activities are active.
    #[must_use]
    pub fn share(&self, active: usize) -> f64 {
        self.time(active).seconds() / self.length.seconds()
    }

    /// Returns the histogram h(k): the share of the time in which k activities are active, for k from 0. The shares sum
    /// to 1.
    #[must_use]
    pub fn histogram(&self) -> Vec<f64> {
        self.times.iter().map(|time| time.seconds() / self.length.seconds()).collect()
    }

    /// Returns the mean number of activities, Σ k·h(k).
    #[must_use]
    pub fn mean(&self) -> f64 {
        (0_u32..).zip(self.histogram()).map(|(active, share)| f64::from(active) * share).sum()
    }
}

/// Calls `receive` with the steps of the profile, in order and without gaps.
///
/// Activities that begin when others end do not overlap with them. The time is divided into slices to bound the number
/// of beginnings and ends in memory.
pub fn sweep<A>(activities: impl Fn() -> A, count: u64, length: SimDuration, mut receive: impl FnMut(ProfileStep))
where
    A: Iterator<Item = (SimDuration, SimDuration)>,
{
    let slices = (2 * count).div_ceil(AT_ONCE).max(1);
    let (mut active, mut since) = (0_u32, SimDuration::ZERO);
    let mut receive = |step: ProfileStep| {
        if step.to > step.from {
            receive(step);
        }
    };
    let (mut ends, mut begins) = (Vec::new(), Vec::new());
    for slice in 0..slices {
        let (begin, end) = (length.ratio(slice, slices), length.ratio(slice + 1, slices));
        let is_last = slice + 1 == slices;
        let is_inside = |time: SimDuration| time >= begin && (time < end || is_last);
        for (from, to) in activities().filter(|(from, to)| from < to) {
            begins.extend(Some(from).filter(|from| is_inside(*from)));
            ends.extend(Some(to).filter(|to| is_inside(*to)));
        }
        begins.sort_unstable();
        ends.sort_unstable();
        let mut ending = ends.drain(..).peekable();
        let mut beginning = begins.drain(..).peekable();
        // Ends precede beginnings at the same time.
        while let Some(now) = ending.peek().into_iter().chain(beginning.peek()).min().copied() {
            receive(ProfileStep { from: since, to: now, active });
            since = now;
            if ending.next_if_eq(&now).is_some() {
                active -= 1;
            } else {
                active += u32::from(beginning.next().is_some());
            }
        }
    }
    receive(ProfileStep { from: since, to: length, active });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> SimDuration {
        SimDuration::from_us(us)
    }

    #[test]
    fn neighbours_in_time_do_not_overlap() {
        let activities = || [(us(0), us(2)), (us(2), us(3)), (us(1), us(3)), (us(3), us(3))].into_iter();
        let mut steps = Vec::new();
        sweep(activities, 4, us(5), |step| steps.push((step.from, step.to, step.active)));
        assert_eq!(steps, [(us(0), us(1), 1), (us(1), us(2), 2), (us(2), us(3), 2), (us(3), us(5), 0)]);
    }

    #[test]
    fn units_of_a_program_are_counted_as_they_are() {
        let parallelism = Parallelism::of_units(&[(0.0, 2.0), (1.0, 2.0), (3.0, 4.0)]).unwrap();
        assert_eq!(parallelism.histogram(), [0.25, 0.5, 0.25]);
        assert!((parallelism.share(2) - 0.25).abs() < 1e-15 && (parallelism.mean() - 1.0).abs() < 1e-15);
        assert_eq!(parallelism.share(3).to_bits(), 0.0_f64.to_bits());
        assert_eq!((Parallelism::of_units(&[(0.0, 0.0)]), Parallelism::of_units(&[])), (None, None));
    }

    #[test]
    fn slices_of_the_time_change_nothing() {
        let of = |number: u64| {
            let begin = number.wrapping_mul(2_654_435_761) % 1000;
            (us(begin), us(begin + number % 13))
        };
        let whole = Parallelism::of(|| (0..500).map(of), 500, us(1012));
        let sliced = Parallelism::of(|| (0..500).map(of), 3 * AT_ONCE, us(1012));
        assert_eq!(whole, sliced);
        let work: f64 = (0..500).map(of).map(|(from, to)| (to - from).seconds()).sum();
        assert!((whole.mean() - work / us(1012).seconds()).abs() < 1e-12 * whole.mean());
        assert!((whole.histogram().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
