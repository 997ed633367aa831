//! CPU time and memory that a run costs this computer, where the system reports them, and how far it is.

use parsim_sim::units::SimTime;

/// CPU time of the current thread in seconds.
pub fn thread_cpu_s() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = statistics.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

/// The largest resident memory of the process so far, in KiB.
pub fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The target of the events by which the log learns how far runs are.
pub const PROGRESS: &str = "parsim::progress";

/// Tells the log how far a run is.
pub fn pulse(events: u64, simulated: SimTime) {
    tracing::trace!(target: PROGRESS, events, simulated_s = simulated.seconds());
}
