//! Limits at which a run is aborted, and at which a run that would need too much is rejected in advance.

use super::estimate::{Estimate, format_bytes};
use crate::fault::Fault;
use crate::units::{Bytes, SimDuration};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::time::Duration;

/// The help for a run that needs too much memory.
const MEMORY_HELP: &str = "use a smaller machine (`partition: Fitted` takes only the part that the ranks need), fewer \
                       ranks, or a shorter run; `limits.memory` sets another limit";

/// The limits at which a run is aborted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The longest simulated time.
    pub simulated: SimDuration,
    /// The largest number of events of a seed. A scenario that certainly has more events, in all its seeds together, is
    /// rejected before the run. So is a scenario whose program executes more floating-point operations than this limit.
    pub events: u64,
    /// The longest wall-clock time that a case may take on this computer, with all its seeds, such as "10 min".
    /// Unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<SimDuration>,
    /// The most memory that a case may need on this computer, by estimate. The default is three quarters of the memory
    /// that the computer has available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

impl Default for Limits {
    /// Returns a limit of 10^6 simulated seconds and one of 10^11 events.
    fn default() -> Self {
        Self { simulated: SimDuration::from_us(1_000_000_000_000), events: 100_000_000_000, wall: None, memory: None }
    }
}

impl Limits {
    /// Returns the remaining limits of a case after `elapsed`. The limit of wall-clock time applies to all seeds of the
    /// case together.
    #[must_use]
    pub fn after(&self, elapsed: Duration) -> Self {
        let left = |wall: SimDuration| SimDuration::from_seconds((wall.seconds() - elapsed.as_secs_f64()).max(0.0));
        Self { wall: self.wall.map(left), ..self.clone() }
    }

    /// Returns the first limit that a run with this estimate would exceed.
    #[must_use]
    pub fn exceeded_by(&self, estimate: &Estimate) -> Option<Fault> {
        self.too_much_memory(estimate).or_else(|| self.too_many_events(estimate))
    }

    fn too_much_memory(&self, estimate: &Estimate) -> Option<Fault> {
        let (limit, whose) = match self.memory {
            Some(limit) => (limit.count(), "`limits.memory` allows"),
            None => (most_memory()?, "the default limit, three quarters of the available memory, is"),
        };
        (estimate.memory_bytes > limit).then(|| {
            let message = format!(
                "the run would need about {}, and {whose} {}",
                format_bytes(estimate.memory_bytes),
                format_bytes(limit)
            );
            Fault::new(estimate.heaviest, message, MEMORY_HELP)
        })
    }

    fn too_many_events(&self, estimate: &Estimate) -> Option<Fault> {
        let (count, what) = if estimate.operations > estimate.least_events {
            (estimate.operations, "floating-point operations")
        } else {
            (estimate.least_events, "events")
        };
        (count > self.events).then(|| {
            let message = format!(
                "the run would take more than {} {what}, and `limits.events` allows {}",
                rounded(count),
                rounded(self.events)
            );
            Fault::new(
                "program",
                message,
                "use a smaller problem, fewer seeds in `repeat`, or a larger `limits.events`",
            )
        })
    }
}

/// Returns a count in words: whole below a million, otherwise to one digit.
#[expect(clippy::cast_precision_loss, reason = "shown to one digit")]
fn rounded(count: u64) -> String {
    if count < 1_000_000 { count.to_string() } else { format!("{:.0e}", count as f64) }
}

/// Returns the default limit of memory. It is below the available memory because the estimate may be too low.
#[must_use]
pub fn most_memory() -> Option<u64> {
    available_memory().map(|available| available / 4 * 3)
}

/// Returns the memory that this process could have without swapping, if the system reports it: the minimum of what
/// Linux reports as available, of what the control groups of this process leave and of its address-space limit.
///
/// The value is determined once, so that the limit is the same for all cases of a sweep.
#[must_use]
pub fn available_memory() -> Option<u64> {
    static AVAILABLE: OnceLock<Option<u64>> = OnceLock::new();
    *AVAILABLE.get_or_init(available_now)
}

fn available_now() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    let limits = [control_group_limit(), address_space_limit(), Some(kib * 1024)];
    limits.into_iter().flatten().min()
}

/// Returns the address-space limit of this process (`ulimit -v`), if there is one.
fn address_space_limit() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the least memory that the control groups of this process, or their ancestors, have left.
fn control_group_limit() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().filter_map(group_memory).min()
}

/// Returns the memory left according to a line of `/proc/self/cgroup`: `0::/path` of version 2, or `4:memory:/path` of
/// version 1.
fn group_memory(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (controllers, path) = (parts.nth(1)?, parts.next()?);
    let (root, most, used) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
        _ if controllers.split(',').any(|one| one == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        }
        _ => return None,
    };
    let number = |folder: &std::path::Path, file: &str| -> Option<u64> {
        std::fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
    };
    // Inside a container the path may be one of the host; then only the root exists.
    let folder = std::path::Path::new(root).join(path.trim_start_matches('/'));
    let around = folder.ancestors().take_while(|folder| folder.starts_with(root));
    let free = |folder: &std::path::Path| {
        number(folder, most).map(|limit| limit.saturating_sub(number(folder, used).unwrap_or(0)))
    };
    around.filter_map(free).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(memory_bytes: u64, least_events: u64, operations: u64) -> Estimate {
        Estimate {
            events: least_events,
            least_events,
            operations,
            memory_bytes,
            cpu_s: 0.0,
            heaviest: "ranks",
            is_open: false,
        }
    }

    #[test]
    fn each_limit_has_its_message() {
        let limits = Limits { memory: Some(Bytes::new(10_000_000)), ..Limits::default() };
        let message = |estimate| limits.exceeded_by(&estimate).map(|fault| (fault.path, fault.message));
        assert_eq!(message(estimate(10_000_000, 100_000_000_000, 0)), None);
        let (path, text) = message(estimate(2_500_000_000, 0, 0)).unwrap();
        assert_eq!(
            (path.as_str(), text.as_str()),
            ("ranks", "the run would need about 2.5 GB, and `limits.memory` allows 10 MB")
        );
        let (path, text) = message(estimate(0, 200_000_000_000, 0)).unwrap();
        let expected = "the run would take more than 2e11 events, and `limits.events` allows 1e11";
        assert_eq!((path.as_str(), text.as_str()), ("program", expected));
        assert!(message(estimate(0, 0, 1 << 40)).unwrap().1.contains("floating-point operations"));
        let few = Limits { events: 50, ..Limits::default() }.exceeded_by(&estimate(0, 1234, 0)).unwrap();
        assert_eq!(few.message, "the run would take more than 1234 events, and `limits.events` allows 50");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_tells_its_memory() {
        assert!(available_memory().unwrap() > 1 << 20);
    }
}
