//! Results of the measurement window of traffic: loads and latencies, in total and by source, and the detection of the
//! warm-up at the beginning of the window.

use crate::program::Traffic;
use crate::trace::SourceLoad;
use crate::units::{SimDuration, SimTime};

/// A packet from its injection to its delivery.
#[derive(Clone, Copy, Debug)]
struct PacketRecord {
    injected: SimTime,
    /// The latency; [`UNDELIVERED`] until the packet is delivered.
    latency: SimDuration,
    source: u32,
    bytes: u32,
}

/// The latency of a packet that has not been delivered.
const UNDELIVERED: SimDuration = SimDuration::MAX;

/// The measurement window and all packets.
pub(super) struct Measurement {
    pub(super) begin: SimTime,
    pub(super) end: SimTime,
    /// All packets in the order of injection.
    packets: Vec<PacketRecord>,
    /// The indices of delivered packets in the order of delivery, which is the order in which latencies are summed.
    delivered: Vec<u32>,
}

/// The fewest batches with packets that allow a decision.
const MIN_BATCHES: usize = 20;

impl Measurement {
    pub(super) const fn new(begin: SimTime, end: SimTime) -> Self {
        Self { begin, end, packets: Vec::new(), delivered: Vec::new() }
    }

    /// Adds a packet injected by `source` and returns its number.
    pub(super) fn inject(&mut self, injected: SimTime, source: u32, bytes: u32) -> u32 {
        self.packets.push(PacketRecord { injected, latency: UNDELIVERED, source, bytes });
        u32::try_from(self.packets.len() - 1).expect("fewer than four thousand million packets")
    }

    /// Marks a packet as delivered.
    pub(super) fn deliver(&mut self, now: SimTime, packet: u32) {
        let record = &mut self.packets[packet as usize];
        record.latency = now.since(record.injected);
        self.delivered.push(packet);
    }

    /// Returns the numbers of injected and of delivered packets.
    pub(super) const fn counts(&self) -> (usize, usize) {
        (self.packets.len(), self.delivered.len())
    }

    /// Returns the packets injected since the beginning of the window.
    fn injected(&self) -> impl Iterator<Item = &PacketRecord> {
        self.packets.iter().filter(|packet| packet.injected >= self.begin)
    }

    fn delivered(&self) -> impl Iterator<Item = &PacketRecord> {
        self.delivered.iter().map(|packet| &self.packets[*packet as usize])
    }

    /// Returns the packets delivered in the window.
    fn accepted(&self) -> impl Iterator<Item = &PacketRecord> {
        self.delivered().filter(|packet| (self.begin..self.end).contains(&(packet.injected + packet.latency)))
    }

    pub(super) fn span(&self) -> SimDuration {
        self.end.since(self.begin)
    }

    /// Returns the duration of a batch, a hundredth of the window.
    pub(super) fn batch(&self) -> SimDuration {
        SimDuration::from_ps(self.span().ps().div_ceil(Traffic::BATCHES.into()).max(1))
    }

    /// Moves the beginning of the window to where the mean latency has settled. Returns the number of batches removed.
    /// If the latency has not settled in the first half of the window, it returns `None` and removes nothing.
    ///
    /// The rule is MSER (White, An effective truncation heuristic for bias reduction in simulation output, Simulation
    /// 69(6), 1997) over the mean latencies of batches by the time of injection.
    pub(super) fn settle(&mut self) -> Option<usize> {
        let means = self.batch_means(self.batch());
        let first = truncation(&means.iter().map(|(_, mean)| *mean).collect::<Vec<_>>())?;
        let removed = if first == 0 { 0 } else { means[first].0 };
        self.begin += self.batch() * removed;
        usize::try_from(removed).ok()
    }

    /// Returns the mean latency of every batch in which packets were injected, by ascending number.
    #[expect(clippy::cast_precision_loss, reason = "a count of packets is below 2^52")]
    fn batch_means(&self, step: SimDuration) -> Vec<(u64, f64)> {
        let mut sums = vec![(0.0, 0_u64); Traffic::BATCHES as usize];
        for packet in self.delivered().filter(|packet| packet.injected >= self.begin) {
            let batch = packet.injected.since(self.begin).ps() / step.ps();
            if let Some((sum, count)) = usize::try_from(batch).ok().and_then(|batch| sums.get_mut(batch)) {
                *sum += packet.latency.seconds();
                *count += 1;
            }
        }
        let mean = |(number, (sum, count)): (u64, (f64, u64))| (count > 0).then(|| (number, sum / count as f64));
        (0..).zip(sums).filter_map(mean).collect()
    }

    /// Returns injection times and latencies of the packets that were injected since the beginning of the window and
    /// delivered, sorted.
    pub(super) fn latencies(&self) -> Vec<(SimTime, SimDuration)> {
        let delivered = self.injected().filter(|packet| packet.latency != UNDELIVERED);
        let mut latencies: Vec<_> = delivered.map(|packet| (packet.injected, packet.latency)).collect();
        // The packets are in the order of injection already, and few of them have the same injection time.
        for at_once in latencies.chunk_by_mut(|one, next| one.0 == next.0) {
            at_once.sort_unstable();
        }
        latencies
    }

    /// Returns the bytes of all packets delivered in the window.
    pub(super) fn accepted_bytes(&self) -> u64 {
        self.accepted().map(|packet| u64::from(packet.bytes)).sum()
    }

    /// Returns the bytes of all packets injected since the beginning of the window.
    pub(super) fn injected_bytes(&self) -> u64 {
        self.injected().map(|packet| u64::from(packet.bytes)).sum()
    }

    /// Returns the number of packets that were injected since the beginning of the window and not delivered.
    pub(super) fn undelivered(&self) -> usize {
        self.injected().filter(|packet| packet.latency == UNDELIVERED).count()
    }

    /// Returns the loads by source. `load` converts bytes in the window to a load.
    #[expect(clippy::cast_precision_loss, reason = "a count of packets is below 2^52")]
    pub(super) fn by_source(&self, sources: u32, load: impl Fn(u64) -> f64) -> Vec<SourceLoad> {
        let mut sums = vec![SourceSum::default(); sources as usize];
        self.injected().for_each(|packet| sums[packet.source as usize].injected += u64::from(packet.bytes));
        self.accepted().for_each(|packet| sums[packet.source as usize].accepted += u64::from(packet.bytes));
        for packet in self.delivered().filter(|packet| packet.injected >= self.begin) {
            let sum = &mut sums[packet.source as usize];
            sum.packets += 1;
            sum.latency += packet.latency.seconds();
            sum.longest = sum.longest.max(packet.latency);
        }
        let of_source = |(rank, sum): (u32, SourceSum)| SourceLoad {
            rank,
            injected: load(sum.injected),
            accepted: load(sum.accepted),
            packets: sum.packets,
            latency_mean_s: sum.latency / sum.packets as f64,
            latency_max_s: if sum.packets == 0 { f64::NAN } else { sum.longest.seconds() },
        };
        (0..).zip(sums).map(of_source).collect()
    }
}

#[derive(Clone, Copy, Default)]
struct SourceSum {
    injected: u64,
    accepted: u64,
    packets: u64,
    latency: f64,
    longest: SimDuration,
}

/// Returns the number of initial values whose removal minimises the standard error of the mean, if it is less than half
/// of all values.
#[expect(clippy::cast_precision_loss, reason = "there are a hundred batches")]
fn truncation(means: &[f64]) -> Option<usize> {
    if means.len() < MIN_BATCHES {
        return None;
    }
    let error = |first: usize| {
        let rest = &means[first..];
        let centre = rest.iter().sum::<f64>() / rest.len() as f64;
        rest.iter().map(|mean| (mean - centre).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
    };
    let half = means.len() / 2;
    let least = (0..=half).map(error).fold(f64::INFINITY, f64::min);
    // Errors that differ only in the last digits of the means count as equal.
    let digits = (means[half] * 1e-9).powi(2);
    let first = (0..=half).find(|first| error(*first) <= least + digits)?;
    (first < half).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_line_at_the_beginning_is_cut() {
        let wave = |index: u32| if index.is_multiple_of(2) { 1.0 } else { 1.1 };
        let rising: Vec<f64> =
            (0_u32..100).map(|index| if index < 17 { 0.05 * f64::from(index) } else { wave(index) }).collect();
        assert_eq!(truncation(&rising), Some(17));
        assert_eq!(truncation(&(0..100).map(wave).collect::<Vec<_>>()), Some(0));
        assert_eq!(truncation(&(0..100).map(f64::from).collect::<Vec<_>>()), None, "it never settles");
        assert_eq!(truncation(&[1.0; 19]), None, "too few");
    }

    #[test]
    fn loads_are_those_of_the_time_that_is_left() {
        let at = |us: u64| SimTime::START + SimDuration::from_us(us);
        let mut measured = Measurement::new(at(100), at(200));
        // One packet per microsecond. The first ones are delayed.
        for us in 90..200 {
            let latency = if us < 110 { 30 } else { 2 };
            let packet = measured.inject(at(us), u32::from(us % 2 == 0), 8);
            measured.deliver(at(us + latency), packet);
        }
        measured.inject(at(199), 1, 8);
        assert_eq!((measured.batch(), measured.settle()), (SimDuration::from_us(1), Some(10)));
        assert_eq!((measured.latencies().len(), measured.injected_bytes(), measured.undelivered()), (90, 728, 1));
        // 20 packets are delivered with delay until 140, the others from 112 on. The last of these are delivered after
        // the end.
        assert_eq!(measured.accepted_bytes(), 8 * (20 + 88));
        let sources = measured.by_source(2, |bytes| f64::from(u32::try_from(bytes).unwrap()));
        assert_eq!(sources.iter().map(|source| source.injected).collect::<Vec<_>>(), [360.0, 368.0]);
        assert_eq!(sources.iter().map(|source| source.packets).collect::<Vec<_>>(), [45, 45]);
        assert!(sources.iter().all(|source| (source.latency_mean_s - 2e-6).abs() < 1e-12));
    }
}
