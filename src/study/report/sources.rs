//! The sources of traffic, one per line.

use parsim_sim::trace::SourceLoad;
use std::io;

/// Writes one line for each source: its injected and accepted traffic, and its latencies.
///
/// # Errors
/// Returns the errors of the sink.
pub fn write_sources(sources: &[SourceLoad], sink: impl io::Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(sink);
    let columns =
        ["rank", "injected_flits_per_cycle", "accepted_flits_per_cycle", "packets", "latency_mean_s", "latency_max_s"];
    lines.write_record(columns)?;
    let or_empty = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
    for source in sources {
        lines.write_record([
            source.rank.to_string(),
            source.injected.to_string(),
            source.accepted.to_string(),
            source.packets.to_string(),
            or_empty(source.latency_mean_s),
            or_empty(source.latency_max_s),
        ])?;
    }
    lines.flush()
}
