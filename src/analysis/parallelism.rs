//! How many activities run side by side: the profile over time, and the histogram of the degree of parallelism.

/// The profile of parallelism: how many activities run when.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Intervals one after the other, without gaps: begin, end, and how many activities run in it.
    pub steps: Vec<(f64, f64, usize)>,
}

impl Profile {
    /// The profile of activities by begin and end, from 0 to the last end; `None` if they take no time.
    ///
    /// Activities that begin when others end do not overlap with them.
    #[must_use]
    pub fn of(activities: &[(f64, f64)]) -> Option<Self> {
        let mut changes: Vec<(f64, bool)> = activities
            .iter()
            .filter(|(from, to)| from < to)
            .flat_map(|(from, to)| [(*from, true), (*to, false)])
            .collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut steps: Vec<(f64, f64, usize)> = Vec::new();
        let (mut since, mut active) = (0.0, 0_usize);
        for group in changes.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let now = group[0].0;
            if now > since {
                steps.push((since, now, active));
                since = now;
            }
            let begun = group.iter().filter(|(_, begins)| *begins).count();
            active = active + begun - (group.len() - begun);
        }
        (!steps.is_empty()).then_some(Self { steps })
    }

    /// When the last activity ends: the length of the critical path, if each begins as early as it can.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.1)
    }

    /// The histogram of the degree of parallelism: for each number of activities, from 0 on, the share of the time
    /// in which just as many run. The shares sum to 1.
    #[must_use]
    pub fn histogram(&self) -> Vec<f64> {
        let most = self.steps.iter().map(|step| step.2).max().unwrap_or(0);
        let mut shares = vec![0.0; most + 1];
        for (from, to, active) in &self.steps {
            shares[*active] += (to - from) / self.length();
        }
        shares
    }

    /// The share of the time in which exactly `active` activities run.
    #[must_use]
    pub fn share(&self, active: usize) -> f64 {
        self.histogram().get(active).copied().unwrap_or(0.0)
    }

    /// The average parallelism: the time of all activities over the length.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "activities are counted far below 2^53")]
    pub fn average(&self) -> f64 {
        let work: f64 = self.steps.iter().map(|(from, to, active)| (to - from) * *active as f64).sum();
        work / self.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The activities of the hand-made trace of `003_critical_path.json`, each up to its critical time.
    const BY_HAND: [(f64, f64); 7] =
        [(0.0, 2.0), (0.0, 1.0), (0.0, 4.0), (2.0, 5.0), (5.5, 5.5), (5.5, 7.5), (8.0, 9.0)];

    #[test]
    fn the_profile_of_a_trace_made_by_hand() {
        let profile = Profile::of(&BY_HAND).unwrap();
        let expected = [
            (0.0, 1.0, 3),
            (1.0, 2.0, 2),
            (2.0, 4.0, 2),
            (4.0, 5.0, 1),
            (5.0, 5.5, 0),
            (5.5, 7.5, 1),
            (7.5, 8.0, 0),
            (8.0, 9.0, 1),
        ];
        assert_eq!(profile.steps, expected);
        assert!((profile.average() - 13.0 / 9.0).abs() < 1e-12);
        for (share, ninths) in profile.histogram().into_iter().zip([1.0, 4.0, 3.0, 1.0]) {
            assert!((share - ninths / 9.0).abs() < 1e-12, "{share}");
        }
    }

    /// Σ k h(k) is the average parallelism.
    #[test]
    fn the_mean_of_the_histogram_is_the_average() {
        let activities: Vec<(f64, f64)> = (0..500_u32)
            .map(|number| {
                let begin = f64::from(number.wrapping_mul(2_654_435_761) % 1000) / 7.0;
                (begin, begin + f64::from(number % 13) / 3.0)
            })
            .collect();
        let profile = Profile::of(&activities).unwrap();
        let mean: f64 = (0_u32..).zip(profile.histogram()).map(|(active, share)| f64::from(active) * share).sum();
        let work: f64 = activities.iter().map(|(from, to)| to - from).sum();
        assert!((mean - work / profile.length()).abs() < 1e-12 * mean, "{mean}");
        assert!((profile.histogram().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(Profile::of(&[(1.0, 1.0)]).is_none());
    }
}
