//! The CPU time and memory of runs, where the system reports them, and their progress.

use parsim_sim::units::SimTime;
use std::ops::ControlFlow;

/// Returns the CPU time of the current thread, in seconds.
pub fn thread_cpu_s() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = statistics.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

/// Returns the peak resident memory of the process, in KiB.
pub fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The target of the log events that report the progress of runs.
pub const PROGRESS: &str = "parsim::progress";

/// Logs the progress of a run, which goes on.
pub fn pulse(events: u64, simulated: SimTime) -> ControlFlow<()> {
    tracing::trace!(target: PROGRESS, events, simulated_s = simulated.seconds());
    ControlFlow::Continue(())
}
