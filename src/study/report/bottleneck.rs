//! Bottlenecks along an axis: records, tables and sentences.

use super::horizontal_axis::HorizontalAxis;
use super::run::{ReferenceValue, vertex};
use super::table::{TextTable, capitalised, digits, time};
use crate::analysis::{
    AxisInterval, Bottleneck, BottleneckChange, BottleneckSite, Component, Components, PhaseCommunication, SlowestRank,
    SubComponent,
};
use crate::answer::Record;
use parsim_sim::trace::{EXPOSED_COMMUNICATION, HIDDEN_COMMUNICATION, Phase};
use std::fmt;

/// The components of an execution time along an axis.
pub struct BottleneckCurve {
    /// The subject, such as `n = 256, simulated`.
    pub title: String,
    /// The name of the axis.
    pub name: String,
    /// The axis in pictures.
    pub axis: HorizontalAxis,
    /// The points, in the order of the axis.
    pub points: Vec<BottleneckPoint>,
}

/// One point of an axis.
pub struct BottleneckPoint {
    /// The value of the axis, as text.
    pub label: String,
    /// The value of the axis, if it is a number.
    pub position: Option<f64>,
    /// The components of the execution time; `None` if they are not known.
    pub components: Option<Components>,
    /// The place and the time of the bottleneck.
    pub place: BottleneckSite,
    /// The number of nodes; higher numbers of vertices are switches.
    pub nodes: u32,
    /// `true` if ranks load while they compute, which counts as computation.
    pub hides_loads: bool,
    /// The times to compare with the simulated one.
    pub compared: Vec<ReferenceValue>,
}

/// A ratio of components, if it exists.
type Quotient = fn(&Components) -> Option<f64>;

/// The quantities that mark a bottleneck when they exceed 1, with the keys of the places where they do.
const PASSING_ONE: [(&str, Quotient); 2] = [
    ("communication_to_computation_passes_1_at", Components::communication_to_computation),
    ("memory_to_processing_passes_1_at", Components::memory_to_processing),
];

impl BottleneckCurve {
    /// Returns the points of a quantity, where it is a number, by their positions on the axis.
    pub(super) fn points_of(&self, quantity: impl Fn(&Components) -> Option<f64>) -> Vec<(f64, f64)> {
        let point = |point: &BottleneckPoint| {
            let place = self.axis.place(point.position, &point.label)?;
            Some((place, point.components.as_ref().and_then(&quantity)?))
        };
        self.points.iter().filter_map(point).collect()
    }

    /// Returns the titles of the ratios of communication to computation and of memory to processing. The former's
    /// computation includes a memory that is shown as a component of its own.
    pub(super) fn titles_of_ratios(&self) -> [&'static str; 2] {
        let is_apart = self.known().any(|known| known.split.is_none() && known.shared_memory_s.is_some());
        let computation =
            if is_apart { "communication to computation and memory" } else { "communication to computation" };
        [computation, "memory to processing"]
    }

    /// Returns whether `component` is one of the distinct components at any point.
    pub(super) fn shows(&self, component: Component) -> bool {
        let known = self.points.iter().filter_map(|point| point.components.as_ref());
        known.into_iter().any(|components| components.distinct().any(|(one, _)| one == component))
    }

    /// Returns the interval from the previous point to point `index`.
    fn step(&self, index: usize) -> Option<AxisInterval<'_>> {
        let at = |index: usize| {
            let point = &self.points[index];
            Some((point.position?, point.components.as_ref()?))
        };
        Some(AxisInterval { from: at(index.checked_sub(1)?)?, to: at(index)? })
    }

    /// Returns everything that is known of point `index`, except the keys of its case.
    ///
    /// The bottleneck is that of the point. The keys that end in `_at` give the position, since the previous point, at
    /// which the bottleneck has changed (the last time) or a ratio has exceeded 1.
    #[must_use]
    pub fn record(&self, index: usize) -> Record {
        let point = &self.points[index];
        let components = point.components.as_ref();
        let mut record = Record::default();
        record.put("total_s", components.map(|components| components.total_s));
        put_times(&mut record, components, &self.communication_phases());
        for one in &point.compared {
            record.put(one.key.clone(), one.value);
        }
        put_ratios(&mut record, components);
        put_bottleneck(&mut record, components, &point.place);
        let step = self.step(index);
        let change = step.and_then(|step| step.changes().pop());
        record.put("bottleneck_changes_at", change.map(|change| change.at));
        for (key, quantity) in PASSING_ONE {
            record.put(key, step.and_then(|step| step.passes_one(quantity)));
        }
        record
    }

    /// Returns the phases with other communication at any point, or none if there is only one.
    fn communication_phases(&self) -> Vec<Phase> {
        let mut phases = Vec::new();
        for PhaseCommunication { phase, .. } in self.known().flat_map(|known| &known.other_communication_phases) {
            if !phases.contains(phase) {
                phases.push(*phase);
            }
        }
        if phases.len() > 1 { phases } else { Vec::new() }
    }

    /// Returns the points of other communication by phase, of the rank that ends last as all parts of its time; none if
    /// there is only one phase.
    pub(super) fn communication_by_phase(&self) -> Vec<(Phase, Vec<(f64, f64)>)> {
        let of_last = |known: &Components, phase| Some(communication_in(known, phase, |one| one.last_rank_s));
        let points = |phase: Phase| (phase, self.points_of(|known| of_last(known, phase)));
        self.communication_phases().into_iter().map(points).collect()
    }

    fn tables(&self) -> Vec<(&'static str, TextTable)> {
        let components: Vec<_> = Component::ALL.into_iter().filter(|component| self.is_known(*component)).collect();
        let parts: Vec<_> = SubComponent::ALL.into_iter().filter(|part| self.has(*part)).collect();
        // Communication of no known kind alone is that of the table before.
        let parts = if parts == [SubComponent::OtherCommunication] { Vec::new() } else { parts };
        let times = self.table(
            time,
            ["total"].into_iter().chain(components.iter().map(|component| component.name())).chain(["unattributed"]),
            |known| {
                let each = components.iter().map(|component| known.component_s(*component));
                let rest = Some(known.unattributed_s());
                [Some(known.total_s)].into_iter().chain(each).chain([rest]).collect()
            },
        );
        let breakdown = self.table(time, parts.iter().map(|part| part.name()), |known| {
            parts.iter().map(|part| known.part_s(*part)).collect()
        });
        let distinct: Vec<_> = components.iter().copied().filter(|component| self.shows(*component)).collect();
        let names = distinct.iter().map(|component| format!("B({})", component.name()));
        let [communication, memory] = self.titles_of_ratios();
        let quotients = [communication, memory, "utilization"].map(|title| title.replace(" to ", "/"));
        let ratios = self.table(digits, names.chain(quotients), |known| {
            let each = distinct.iter().map(|component| known.b_ratio(*component));
            let quotients =
                [known.communication_to_computation(), known.memory_to_processing(), Some(known.processor_utilization)];
            each.chain(quotients).collect()
        });
        let first = [("Components", times), ("Breakdown", breakdown)].into_iter();
        let all = first.chain(self.by_phase()).chain(self.overlap()).chain([("B-ratios and other ratios", ratios)]);
        all.filter(|(_, table)| !table.is_bare()).collect()
    }

    /// Returns the tables of other communication by phase: the means over the ranks, and the times of the rank that ends
    /// last where they differ much.
    fn by_phase(&self) -> Vec<(&'static str, TextTable)> {
        let phases = self.communication_phases();
        let table = |title, seconds: fn(&PhaseCommunication) -> f64| {
            let cells =
                |known: &Components| phases.iter().map(|phase| Some(communication_in(known, phase, seconds))).collect();
            (title, self.table(time, phases.iter().copied(), cells))
        };
        let mean = table("Other communication by phase, means over the ranks", |one| one.mean_s);
        let of_last = table("Other communication by phase, of the rank that ends last", |one| one.last_rank_s);
        let all = self.known().flat_map(|known| known.other_communication_phases.iter().map(move |one| (known, one)));
        let (is_shown, is_uneven) =
            (!phases.is_empty(), all.into_iter().any(|(known, one)| one.is_uneven(known.total_s)));
        [is_shown.then_some(mean), (is_shown && is_uneven).then_some(of_last)].into_iter().flatten().collect()
    }

    /// Returns the table of hidden and exposed communication, if the program may hide any.
    fn overlap(&self) -> Option<(&'static str, TextTable)> {
        self.known().find_map(|known| known.overlap_s)?;
        let table = self.table(time, ["hidden", "exposed"], |known| {
            known.overlap_s.map_or_else(Vec::new, |(hidden, exposed)| vec![Some(hidden), Some(exposed)])
        });
        Some(("Communication hidden behind computation and loads, and exposed, means over the ranks", table))
    }

    fn table(
        &self,
        shown: fn(f64) -> String,
        columns: impl IntoIterator<Item = impl Into<String>>,
        cells: impl Fn(&Components) -> Vec<Option<f64>>,
    ) -> TextTable {
        let columns = columns.into_iter().map(Into::into);
        let mut table = TextTable::new([self.name.clone()].into_iter().chain(columns));
        for point in &self.points {
            let cells = point.components.as_ref().map(&cells).unwrap_or_default();
            let texts = cells.into_iter().map(|cell| cell.map_or(String::new(), shown));
            table.row([point.label.clone()].into_iter().chain(texts));
        }
        table.without_zeros()
    }

    fn known(&self) -> impl Iterator<Item = &Components> {
        self.points.iter().filter_map(|point| point.components.as_ref())
    }

    fn is_known(&self, component: Component) -> bool {
        let is_always = matches!(component, Component::Computation | Component::Communication | Component::InputOutput);
        is_always || self.known().any(|known| known.component_s(component).is_some_and(|seconds| seconds > 0.0))
    }

    fn has(&self, part: SubComponent) -> bool {
        self.known().any(|known| known.part_s(part).is_some_and(|seconds| seconds > 0.0))
    }

    fn steps(&self) -> impl Iterator<Item = AxisInterval<'_>> {
        (1..self.points.len()).filter_map(|index| self.step(index))
    }

    /// Returns a sentence for each change of the bottleneck.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        let sentence = |change: BottleneckChange| {
            let (from, to, at) = (change.from.title(), change.to.title(), digits(change.at));
            format!("The bottleneck changes from {from} to {to} at {} = {at}.", self.name)
        };
        self.steps().flat_map(|step| step.changes()).map(sentence).collect()
    }

    /// Returns a sentence about the bottleneck of the last point with known components.
    #[must_use]
    pub fn verdict_at_end(&self) -> Option<String> {
        let (point, components) =
            self.points.iter().rev().find_map(|point| Some((point, point.components.as_ref()?)))?;
        let verdict = sentence(&Bottleneck::of(components), point, components.load_balance);
        let at = if self.name.is_empty() { String::new() } else { format!("At {} = {} ", self.name, point.label) };
        Some(capitalised(&format!("{at}the bottleneck is {verdict}.")))
    }

    fn write_verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for point in &self.points {
            let Some(components) = &point.components else {
                writeln!(f, "{} = {}: nothing is known.", self.name, point.label)?;
                continue;
            };
            let sentence = sentence(&Bottleneck::of(components), point, components.load_balance);
            if self.name.is_empty() {
                writeln!(f, "The bottleneck: {sentence}.")?;
            } else {
                writeln!(f, "{} = {}: {sentence}.", self.name, point.label)?;
            }
        }
        for change in self.changes() {
            writeln!(f, "{change}")?;
        }
        let steps: Vec<_> = self.steps().collect();
        for (title, (_, quantity)) in self.titles_of_ratios().into_iter().zip(PASSING_ONE) {
            for at in steps.iter().filter_map(|step| step.passes_one(quantity)) {
                let title = capitalised(title);
                writeln!(f, "{title} passes 1 at {} = {}.", self.name, digits(at))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for BottleneckCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        for (title, table) in self.tables() {
            writeln!(f, "{title}:\n{table}")?;
        }
        self.write_verdict(f)?;
        if self.points.iter().any(|point| point.place.rank.is_some()) {
            f.write_str(
                "\nTimes are those of the rank that ends last, except means; its waits for other ranks, also for those that \
                 the host serves before it, count as communication. `parsim critical-path` says for what it waits.\n",
            )?;
        }
        Ok(())
    }
}

/// Returns the other communication in a phase, in seconds; 0 if there is none.
fn communication_in(components: &Components, phase: &str, seconds: fn(&PhaseCommunication) -> f64) -> f64 {
    components.other_communication_phases.iter().find(|one| one.phase == phase).map_or(0.0, seconds)
}

fn put_times(record: &mut Record, components: Option<&Components>, phases: &[Phase]) {
    for component in Component::ALL {
        record.put(format!("{}_s", component.name()), components.and_then(|known| known.component_s(component)));
    }
    for part in SubComponent::ALL {
        let seconds = components.and_then(|known| known.part_s(part));
        // Few machines have cores that share a memory.
        if seconds.is_some() || part != SubComponent::SharedMemory {
            record.put(format!("{}_s", part.name()), seconds);
        }
        if part == SubComponent::OtherCommunication {
            put_phases(record, components, phases);
        }
    }
    record.put("unattributed_s", components.map(Components::unattributed_s));
    if let Some((hidden, exposed)) = components.and_then(|known| known.overlap_s) {
        record.put(HIDDEN_COMMUNICATION, hidden);
        record.put(EXPOSED_COMMUNICATION, exposed);
    }
}

fn put_phases(record: &mut Record, components: Option<&Components>, phases: &[Phase]) {
    for phase in phases {
        let mut put = |key, seconds| {
            let seconds = components.map(|known| communication_in(known, phase, seconds));
            record.put(format!("{key}_{phase}_s"), seconds);
        };
        put("communication_in", |one| one.last_rank_s);
        put("mean_communication_in", |one| one.mean_s);
    }
}

fn put_ratios(record: &mut Record, components: Option<&Components>) {
    for component in Component::ALL {
        // A component that contains two others has a ratio only if the two cannot be separated.
        let ratio = components.filter(|known| known.distinct().any(|(one, _)| one == component));
        let ratio = ratio.and_then(|known| known.b_ratio(component));
        record.put(format!("{}_b_ratio", component.name()), ratio);
    }
    record.put("communication_to_computation", components.and_then(Components::communication_to_computation));
    record.put("memory_to_processing", components.and_then(Components::memory_to_processing));
    record.put("processor_utilization", components.map(|known| known.processor_utilization));
    record.put("load_balance", components.map(|known| known.load_balance));
    record.put("delivered_mword_per_mflop", components.and_then(Components::mword_per_mflop));
}

fn put_bottleneck(record: &mut Record, components: Option<&Components>, place: &BottleneckSite) {
    // A run may have no time that belongs to a component, such as one of open traffic.
    let bottleneck = components.map(Bottleneck::of).filter(|bottleneck| bottleneck.share > 0.0);
    let nowhere = BottleneckSite::default();
    let place = if bottleneck.is_some() { place } else { &nowhere };
    record.put("bottleneck", bottleneck.map(|bottleneck| bottleneck.component.name()));
    record.put("bottleneck_share", bottleneck.map(|bottleneck| bottleneck.share));
    record.put("sub_component", bottleneck.and_then(|bottleneck| bottleneck.part).map(SubComponent::name));
    record.put("bottleneck_rank", place.rank);
    record.put("bottleneck_link", place.link.map(|(from, to)| format!("{from}-{to}")));
    record.put("bottleneck_module", place.module);
    record.put("bottleneck_phase", place.phase);
}

/// A clause on computations during which ranks load.
const HIDDEN_LOADS: &str =
    "; ranks load meanwhile, so that the memory may be the limit, as `parsim critical-path` and `sensitivity` say";

/// The smallest ratio of the mean computation of the ranks to the longest one that is not called uneven.
const EVEN: f64 = 0.8;

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Returns a sentence about the cause, the place and the time of a bottleneck.
fn sentence(bottleneck: &Bottleneck, point: &BottleneckPoint, load_balance: f64) -> String {
    let place = &point.place;
    if bottleneck.share <= 0.0 {
        return "none: no time belongs to a component".to_owned();
    }
    let share = format!(" ({})", percent(bottleneck.share));
    let busy = |what: &str, share: Option<f64>| {
        share.map_or_else(String::new, |share| format!(" ({what}busy for {})", percent(share)))
    };
    let vertex = |number| vertex(number, point.nodes);
    let is_uneven = bottleneck.component == Component::Computation && load_balance < EVEN;
    let hides_loads =
        point.hides_loads && matches!(bottleneck.component, Component::Computation | Component::Processing);
    let clauses = [
        bottleneck.part.map(|part| format!(", most of it {}", part.title())),
        place.module.map(|module| format!(", in {module}")),
        place.rank.map(|rank| format!(", on rank {rank}{}", busy("processor ", place.rank_share))),
        place
            .link
            .map(|(from, to)| format!(", link from {} to {}{}", vertex(from), vertex(to), busy("", place.link_share))),
        place.phase.filter(|phase| Some(*phase) != place.module).map(|phase| format!(", during {phase}")),
        hides_loads.then(|| HIDDEN_LOADS.to_owned()),
        is_uneven.then(|| format!("; uneven: the ranks compute {} as long on average", percent(load_balance))),
        place.waits_for.map(imbalance),
    ];
    [bottleneck.component.title(), &share].into_iter().chain(clauses.iter().flatten().map(String::as_str)).collect()
}

/// Returns a clause about communication that is waiting for the work of another rank.
fn imbalance(SlowestRank { rank, longer_s, share }: SlowestRank) -> String {
    format!("; up to {} of this is waiting for rank {rank}, which works {} longer", percent(share), time(longer_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_how_busy_the_place_is_and_how_even_the_work() {
        let said = |component, load_balance, hides_loads| {
            let bottleneck = Bottleneck { component, part: None, share: 0.784 };
            let place = BottleneckSite {
                rank: Some(0),
                rank_share: Some(0.947),
                link: Some((0, 1)),
                link_share: Some(0.385),
                ..BottleneckSite::default()
            };
            let (label, compared) = (String::new(), Vec::new());
            let point =
                BottleneckPoint { label, position: None, components: None, place, nodes: 1, hides_loads, compared };
            sentence(&bottleneck, &point, load_balance)
        };
        let words =
            "communication (78 %), on rank 0 (processor busy for 95 %), link from node 0 to switch 1 (busy for 38 %)";
        assert_eq!(said(Component::Communication, 0.1, true), words);
        assert!(said(Component::Computation, 0.9, true).ends_with(HIDDEN_LOADS));
        let slowest = SlowestRank { rank: 3, longer_s: 0.75e-3, share: 0.6 };
        assert_eq!(imbalance(slowest), "; up to 60 % of this is waiting for rank 3, which works 750.0 us longer");
        assert!(!said(Component::Computation, 0.9, false).contains("uneven"));
        assert!(
            said(Component::Computation, 0.47, false).ends_with("; uneven: the ranks compute 47 % as long on average")
        );
    }
}
