//! The accounts of ranks, one per line.

use parsim_sim::trace::{Activity, Trace};
use std::io;

/// Writes one line for each rank: the end of its program, and its time in each activity, in picoseconds. The activities
/// sum to the makespan.
///
/// # Errors
/// Returns the errors of the sink.
pub fn write_accounts(trace: &Trace, sink: impl io::Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(sink);
    let activities = Activity::ALL.map(|activity| format!("{}_ps", activity.name()));
    lines.write_record(["rank", "end_ps"].into_iter().chain(activities.iter().map(String::as_str)))?;
    for rank in 0..trace.accounts.ranks() {
        let account = trace.accounts.rank(rank);
        let times = Activity::ALL.map(|activity| account.get(activity).ps());
        let end = trace.makespan.ps() - account.get(Activity::Idle).ps();
        lines.write_record([u64::from(rank), end].into_iter().chain(times).map(|number| number.to_string()))?;
    }
    lines.flush()
}
