//! The data of a large run, in groups of vertices and bins of time.

use super::pack::Packed;
use super::scene::{Scene, VertexGroups, numbered};
use crate::analysis::critical_path::{CriticalPath, PieceKind, TimelinePiece};
use parsim_sim::trace::{Recording, Transfer};
use parsim_sim::units::{SimDuration, SimTime};
use serde::Serialize;

/// The number of bins.
const BINS: u32 = 240;

/// Shares of each bin, as 16-bit fractions of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Binned {
    bins: u32,
    /// The kinds of activities, by number.
    kinds: Vec<String>,
    /// For each group and kind, the share of each bin that the ranks of the group spend on this kind.
    activities: Packed,
    /// For each link of the scene, the mean utilisation in each bin of the links that it combines.
    loads: Packed,
    /// For each bin, the group in which the critical path is at the middle of the bin.
    path: Vec<u32>,
    has_transfers: bool,
}

/// Time that is spread over bins of equal length.
struct Bins {
    length: f64,
    shares: Vec<f64>,
}

impl Bins {
    fn new(makespan: SimDuration) -> Self {
        Self { length: makespan.seconds() / f64::from(BINS), shares: vec![0.0; BINS as usize] }
    }

    /// Adds the time between two instants, in seconds.
    fn add(&mut self, from: f64, to: f64) {
        self.add_part(from, to, 1.0);
    }

    /// Adds a part of the time between two instants, in seconds, at an even rate.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a bin")]
    fn add_part(&mut self, from: f64, to: f64, part: f64) {
        let last = self.shares.len() - 1;
        let (first, end) = ((from / self.length) as u32, ((to / self.length) as usize).min(last));
        // The slice is indexed instead of skipping bins, because most intervals are within one bin and there are
        // millions of them.
        for (share, bin) in self.shares.get_mut(first as usize..=end).unwrap_or_default().iter_mut().zip(first..) {
            let begin = f64::from(bin) * self.length;
            *share += part * (to.min(begin + self.length) - from.max(begin)).max(0.0) / self.length;
        }
    }
}

impl Binned {
    /// Creates the data of the run whose critical path is `path`, in `groups` of the vertices of `scene`.
    pub fn of(
        path: &CriticalPath<'_>,
        run: Option<&Recording>,
        scene: &Scene,
        groups: &VertexGroups,
        makespan: SimDuration,
    ) -> Self {
        // Avoids a division by zero for a run without length, which has nothing to show.
        let makespan = makespan.max(SimDuration::from_ps(1));
        let kinds = kinds(path);
        let transfers = run.filter(|run| !run.transfers.is_empty());
        Self {
            bins: BINS,
            activities: activities(path, scene, groups, &kinds, makespan),
            loads: transfers.map_or_else(Packed::default, |run| loads(run, scene, groups, makespan)),
            path: places(path, scene, groups, makespan),
            has_transfers: transfers.is_some(),
            kinds,
        }
    }
}

fn kinds(path: &CriticalPath<'_>) -> Vec<String> {
    let mut kinds = vec!["waiting".to_owned()];
    for label in path.events().labels() {
        if !kinds.contains(&label.kind) {
            kinds.push(label.kind.clone());
        }
    }
    kinds
}

fn activities(
    path: &CriticalPath<'_>,
    scene: &Scene,
    groups: &VertexGroups,
    kinds: &[String],
    makespan: SimDuration,
) -> Packed {
    let events = path.events();
    let group = |process: u32| scene.ranks().get(process as usize).map_or(0, |node| groups.of(*node)) as usize;
    let mut members = vec![0_u32; groups.count()];
    (0..events.processes()).for_each(|process| members[group(process)] += 1);
    let number = |kind: &str| kinds.iter().position(|other| other == kind).unwrap_or(0);
    let numbers: Vec<usize> = events.labels().iter().map(|label| number(&label.kind)).collect();
    let mut shares: Vec<Bins> = (0..groups.count() * kinds.len()).map(|_| Bins::new(makespan)).collect();
    for TimelinePiece { event, kind, from, to, .. } in (0..events.count()).flat_map(|event| path.pieces(event)) {
        let entry = events.get(event);
        let kind = if kind == PieceKind::Gap { 0 } else { numbers[usize::from(entry.label)] };
        shares[group(entry.process) * kinds.len() + kind].add(from.seconds(), to.seconds());
    }
    let mut packed = Packed::default();
    for (place, bins) in shares.iter().enumerate() {
        let ranks = f64::from(members[place / kinds.len()].max(1));
        bins.shares.iter().for_each(|share| packed.put_share(share / ranks));
    }
    packed
}

/// Returns the load of each pair of groups, in the order of [`VertexGroups::links`].
fn loads(run: &Recording, scene: &Scene, groups: &VertexGroups, makespan: SimDuration) -> Packed {
    let pairs = groups.links(scene);
    let mut place = vec![None; run.links.len()];
    for (pair, links) in pairs.values().enumerate() {
        for link in links {
            place[*link] = Some(pair);
        }
    }
    let numbers = numbered(run);
    let mut shares: Vec<Bins> = pairs.values().map(|_| Bins::new(makespan)).collect();
    for transfer in &run.transfers {
        let pair = numbers.get(&transfer.direction()).and_then(|link| place[*link]);
        if let Some(pair) = pair {
            spread(transfer, &mut shares[pair], makespan);
        }
    }
    let mut packed = Packed::default();
    for (bins, links) in shares.iter().zip(pairs.values()) {
        #[expect(clippy::cast_precision_loss, reason = "a number of links")]
        let many = links.len() as f64;
        bins.shares.iter().for_each(|share| packed.put_share(share / many));
    }
    packed
}

/// Adds the time that the packets of a transfer are on the wire, packet by packet. A flow, or a packet between others,
/// is there for a part of its time, on average at an even rate.
fn spread(transfer: &Transfer, bins: &mut Bins, makespan: SimDuration) {
    let (time, on_wire) = (transfer.time.seconds(), transfer.on_wire.seconds());
    let part = if time > 0.0 { on_wire / time } else { 0.0 };
    for packet in 0..transfer.packets {
        let begin = (transfer.first + transfer.gap * u64::from(packet)).since(SimTime::START);
        bins.add_part(begin.seconds(), (begin + transfer.time).min(makespan).seconds(), part);
    }
}

fn places(path: &CriticalPath<'_>, scene: &Scene, groups: &VertexGroups, makespan: SimDuration) -> Vec<u32> {
    let mut spans = path.spans().peekable();
    let place = |bin: u32| {
        let middle = makespan.ratio(u64::from(2 * bin + 1), u64::from(2 * BINS));
        while spans.next_if(|span| span.to <= middle).is_some() {}
        let process = spans.peek().map_or(0, |span| path.events().get(span.event).process);
        scene.ranks().get(process as usize).map_or(0, |node| groups.of(*node))
    };
    (0..BINS).map(place).collect()
}
