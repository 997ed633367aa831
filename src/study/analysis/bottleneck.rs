//! The bottleneck of a run: its cause, its place and its time, CS-RR-281 section 3.5 (after Hollingsworth, section 2).

use super::components::{Component, Components, SubComponent};
use parsim_sim::trace::{Activity, LinkLoad, Trace};
use parsim_sim::units::SimDuration;

/// The cause of the length of a run: its largest component, and the largest part of that component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// The largest component.
    pub component: Component,
    /// The largest part of the component, if its parts are known.
    pub part: Option<SubComponent>,
    /// The component as a fraction of all components.
    pub share: f64,
}

/// The place and time of a bottleneck. Unknown entries are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BottleneckSite {
    /// The rank that is most affected, or the cause in the case of communication.
    pub rank: Option<u32>,
    /// The fraction of the run for which that rank is occupied by the bottleneck.
    pub rank_share: Option<f64>,
    /// The link direction that is busy longest, from node to node, if any link is busy.
    pub link: Option<(u32, u32)>,
    /// The fraction of the run for which that link is busy.
    pub link_share: Option<f64>,
    /// The part of the code.
    pub module: Option<&'static str>,
    /// The phase of the program.
    pub phase: Option<&'static str>,
    /// The rank for which the measured one waits, if the bottleneck is communication.
    pub waits_for: Option<SlowestRank>,
}

/// The rank whose own work takes longest, with its lead over the rank that ends last, whose times are those of the run.
/// The latter has to wait for it as long, at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowestRank {
    /// The rank.
    pub rank: u32,
    /// The time by which it works longer, in seconds.
    pub longer_s: f64,
    /// The same as a fraction of the communication of the rank that ends last, at most 1.
    pub share: f64,
}

/// A change of the bottleneck along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BottleneckChange {
    /// The value of the axis at which the bottleneck changes.
    pub at: f64,
    /// The largest component below that value.
    pub from: Component,
    /// The largest component from that value on.
    pub to: Component,
}

impl Bottleneck {
    /// Returns the bottleneck among the distinct components. Of equal components, the first one is taken.
    ///
    /// # Panics
    /// Never: there are always components.
    #[must_use]
    pub fn of(components: &Components) -> Self {
        let distinct: Vec<_> = components.distinct().collect();
        let (component, _) = largest(distinct).expect("communication is always known");
        let parts = component.parts().iter().filter_map(|part| Some((*part, components.part_s(*part)?)));
        let part = largest(parts.collect()).map(|(part, _)| part);
        Self { component, part, share: components.share(component).unwrap_or(0.0) }
    }
}

fn largest<T>(parts: Vec<(T, f64)>) -> Option<(T, f64)> {
    parts.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))
}

impl BottleneckSite {
    /// Locates `bottleneck` in a run: the rank and the phase with the most time in it and, for communication, the
    /// busiest link. The phase is that of the rank that ends last.
    #[must_use]
    pub fn in_trace(trace: &Trace, bottleneck: &Bottleneck) -> Self {
        let loads = trace.accounts.times().any(|(_, columns)| !columns[Activity::Loading as usize].is_empty());
        let activities = activities(bottleneck.component, loads);
        let phase = longest_phase(trace, activities);
        let communicates = bottleneck.component == Component::Communication;
        // All ranks wait for the slowest one. Its processor does the most work for the network.
        let rank_activities = if communicates { &[Activity::System] } else { activities };
        let rank = longest_rank(trace, rank_activities);
        let link = busiest_link(trace).filter(|_| communicates);
        let all_s = trace.makespan.seconds();
        let share = |time: SimDuration| (all_s > 0.0).then(|| time.seconds() / all_s);
        Self {
            rank,
            rank_share: rank.and_then(|rank| share(time_of(trace, rank, rank_activities))),
            link: link.map(|link| (link.from, link.to)),
            link_share: link.and_then(|link| share(link.busy)),
            module: phase,
            phase,
            waits_for: SlowestRank::of(trace).filter(|_| communicates),
        }
    }
}

impl SlowestRank {
    /// The activities for which other ranks wait. Unlike these, communication may itself be waiting.
    const WORK: [Activity; 4] = [Activity::Computing, Activity::Ready, Activity::Loading, Activity::InputOutput];
    /// The smallest part of the communication that is worth mentioning.
    const NOTICEABLE: f64 = 0.2;

    fn of(trace: &Trace) -> Option<Self> {
        let (last, rank) = (trace.last_rank(), longest_rank(trace, &Self::WORK)?);
        let work = |rank| time_of(trace, rank, &Self::WORK).seconds();
        let (longer_s, communication_s) =
            (work(rank) - work(last), time_of(trace, last, activities(Component::Communication, false)).seconds());
        let share = (longer_s / communication_s).min(1.0);
        (share >= Self::NOTICEABLE).then_some(Self { rank, longer_s, share })
    }
}

/// Returns the activities that form a component, in a run with or without loads of shared memories.
const fn activities(component: Component, loads: bool) -> &'static [Activity] {
    match component {
        Component::InputOutput => &[Activity::InputOutput],
        Component::Memory if loads => &[Activity::Loading],
        Component::Communication => &[Activity::Sending, Activity::Blocked, Activity::System],
        _ => &[Activity::Computing],
    }
}

fn longest_phase(trace: &Trace, activities: &[Activity]) -> Option<&'static str> {
    let rank = trace.last_rank();
    let time = |phase: &&&'static str| -> SimDuration {
        let account = trace.accounts.account(rank, phase);
        activities.iter().map(|activity| account.get(*activity)).sum()
    };
    trace.accounts.phases().iter().rev().max_by_key(time).copied()
}

fn longest_rank(trace: &Trace, activities: &[Activity]) -> Option<u32> {
    (0..trace.accounts.ranks()).rev().max_by_key(|rank| time_of(trace, *rank, activities))
}

fn time_of(trace: &Trace, rank: u32, activities: &[Activity]) -> SimDuration {
    let account = trace.accounts.rank(rank);
    activities.iter().map(|activity| account.get(*activity)).sum()
}

fn busiest_link(trace: &Trace) -> Option<&LinkLoad> {
    let busy = trace.links.iter().filter(|link| link.busy > SimDuration::ZERO);
    busy.rev().max_by_key(|link| link.busy)
}

/// An interval between two adjacent points of an axis, with the components at its ends.
#[derive(Clone, Copy, Debug)]
pub struct AxisInterval<'c> {
    /// The value and the components at the first point.
    pub from: (f64, &'c Components),
    /// The value and the components at the second point.
    pub to: (f64, &'c Components),
}

impl AxisInterval<'_> {
    /// Returns the changes of the bottleneck within the interval, in order.
    #[must_use]
    pub fn changes(&self) -> Vec<BottleneckChange> {
        let (before, after) = (Bottleneck::of(self.from.1).component, Bottleneck::of(self.to.1).component);
        let mut changes = Vec::new();
        self.collect_changes(before, after, &mut changes);
        changes
    }

    /// Returns the value of the axis within the interval at which `quantity` passes 1.
    #[must_use]
    pub fn passes_one(&self, quantity: fn(&Components) -> Option<f64>) -> Option<f64> {
        self.crossing((quantity(self.from.1)?, quantity(self.to.1)?), (1.0, 1.0))
    }

    /// Collects the changes from `before` to `after`. If a third component is larger where these two are equal, the
    /// bottleneck changes by way of that component.
    fn collect_changes(&self, before: Component, after: Component, changes: &mut Vec<BottleneckChange>) {
        if before == after {
            return;
        }
        let Some(at) = self.ends(before).zip(self.ends(after)).and_then(|(one, other)| self.crossing(one, other))
        else {
            return;
        };
        let there = |component| self.ends(component).map(|ends| self.interpolate(at, ends));
        let height = there(before).unwrap_or(0.0);
        let others = Component::ALL.into_iter().filter(|other| *other != before && *other != after);
        let known = self.from.1.distinct().map(|(component, _)| component).collect::<Vec<_>>();
        let higher = others.filter(|other| known.contains(other)).filter_map(|other| Some((other, there(other)?)));
        match largest(higher.filter(|(_, seconds)| *seconds > height * (1.0 + 1e-9)).collect()) {
            Some((between, _)) => {
                self.collect_changes(before, between, changes);
                self.collect_changes(between, after, changes);
            }
            None => changes.push(BottleneckChange { at, from: before, to: after }),
        }
    }

    /// Returns a component at both ends.
    fn ends(&self, component: Component) -> Option<(f64, f64)> {
        Some((self.from.1.component_s(component)?, self.to.1.component_s(component)?))
    }

    /// Returns the value of the axis at which two quantities, given at both ends, become equal.
    ///
    /// Between the points, quantities are interpolated as powers of the axis, since most components are powers. If any
    /// value, also one of the axis, is zero or negative, they are interpolated linearly.
    fn crossing(&self, one: (f64, f64), other: (f64, f64)) -> Option<f64> {
        let logarithmic = self.is_power(&[one.0, one.1, other.0, other.1]);
        let height = |value: f64| if logarithmic { value.ln() } else { value };
        let (before, after) = (height(one.0) - height(other.0), height(one.1) - height(other.1));
        let changes_sign = (before < 0.0 && after >= 0.0) || (before > 0.0 && after <= 0.0);
        changes_sign.then(|| self.position(before / (before - after)))
    }

    /// Returns the value of the axis at a fraction of the interval.
    fn position(&self, fraction: f64) -> f64 {
        let (from, to) = (self.from.0, self.to.0);
        if self.is_logarithmic() { from * (to / from).powf(fraction) } else { from + fraction * (to - from) }
    }

    fn interpolate(&self, at: f64, (before, after): (f64, f64)) -> f64 {
        let (from, to) = (self.from.0, self.to.0);
        let fraction =
            if self.is_logarithmic() { (at / from).ln() / (to / from).ln() } else { (at - from) / (to - from) };
        if self.is_power(&[before, after]) {
            before * (after / before).powf(fraction)
        } else {
            before + fraction * (after - before)
        }
    }

    /// Returns `true` if quantities with these values can be powers of the axis.
    fn is_power(&self, values: &[f64]) -> bool {
        self.is_logarithmic() && values.iter().all(|value| *value > 0.0)
    }

    fn is_logarithmic(&self) -> bool {
        self.from.0 > 0.0 && self.to.0 > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::components::tests::trace;
    use super::*;

    fn components(computation_s: f64, broadcast_s: f64, input_s: f64) -> Components {
        Components {
            computation_s,
            broadcast_s,
            input_s,
            distribution_s: 0.0,
            other_communication_s: 0.0,
            other_communication_phases: Vec::new(),
            total_s: computation_s + broadcast_s + input_s,
            ..Components::of_trace(&trace(), None)
        }
    }

    fn changes(from: &(f64, Components), to: &(f64, Components)) -> Vec<BottleneckChange> {
        AxisInterval { from: (from.0, &from.1), to: (to.0, &to.1) }.changes()
    }

    #[test]
    fn powers_meet_at_their_geometric_mean() {
        let changes = changes(&(16.0, components(4.0, 1.0, 0.1)), &(64.0, components(1.0, 4.0, 0.1)));
        let [change] = changes[..] else { panic!("{changes:?}") };
        assert!((change.at - 32.0).abs() < 1e-9);
        assert_eq!((change.from, change.to), (Component::Computation, Component::Communication));
    }

    #[test]
    fn a_third_component_may_lie_between() {
        let changes = changes(&(1.0, components(16.0, 0.25, 3.0)), &(64.0, components(0.25, 16.0, 3.0)));
        let [first, second] = changes[..] else { panic!("{changes:?}") };
        assert_eq!((first.from, first.to), (Component::Computation, Component::InputOutput));
        assert_eq!((second.from, second.to), (Component::InputOutput, Component::Communication));
        assert!(first.at < 8.0 && second.at > 8.0);
    }

    #[test]
    fn what_begins_at_zero_is_a_line() {
        let (from, to) = (components(3.0, 0.0, 0.0), components(1.0, 2.0, 0.0));
        let step = AxisInterval { from: (0.0, &from), to: (10.0, &to) };
        assert_eq!(step.passes_one(Components::communication_to_computation), Some(5.0));
        assert_eq!(step.passes_one(Components::memory_to_processing), None);
    }

    #[test]
    fn beside_an_axis_value_of_zero_components_are_lines() {
        let changes = changes(&(0.0, components(4.0, 1.0, 0.1)), &(10.0, components(4.0, 7.0, 0.1)));
        let [change] = changes[..] else { panic!("{changes:?}") };
        assert!((change.at - 5.0).abs() < 1e-9, "{change:?}");
    }

    #[test]
    fn why_where_and_when() {
        let trace = trace();
        let components = Components::of_trace(&trace, None);
        let bottleneck = Bottleneck::of(&components);
        assert_eq!((bottleneck.component, bottleneck.part), (Component::Computation, None));
        let place = BottleneckSite::in_trace(&trace, &bottleneck);
        assert_eq!((place.rank, place.link, place.phase), (Some(1), None, Some("reduction")));
        assert_eq!((place.rank_share, place.link_share), (Some(4.0 / 7.0), None));
        let communication = Bottleneck { component: Component::Communication, ..bottleneck };
        let place = BottleneckSite::in_trace(&trace, &communication);
        assert_eq!((place.rank, place.link, place.phase), (Some(0), Some((0, 1)), Some("distribution")));
        assert_eq!((place.rank_share, place.link_share), (Some(1.0 / 7.0), Some(1.0 / 7.0)));
        assert_eq!(place.waits_for, None);
    }

    #[test]
    fn communication_may_be_waiting_for_the_slowest_rank() {
        let mut trace = trace();
        // It then works for 6 s, and the host's rank for 5 s, which communicates for 2 s.
        trace.accounts.add(1, "reduction", Activity::Computing, SimDuration::from_us(2_000_000));
        let slowest = |component| {
            let bottleneck = Bottleneck { component, part: None, share: 1.0 };
            BottleneckSite::in_trace(&trace, &bottleneck).waits_for
        };
        let expected = SlowestRank { rank: 1, longer_s: 1.0, share: 0.5 };
        assert_eq!(slowest(Component::Communication), Some(expected));
        assert_eq!(slowest(Component::Computation), None);
    }
}
