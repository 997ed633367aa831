//! The clock of this computer, against which limits of wall-clock time are checked.

use std::time::{Duration, Instant};

/// The time of this computer since some instant.
#[derive(Clone, Copy, Debug)]
pub struct WallClock(Option<Instant>);

impl WallClock {
    /// Starts a clock at the current time. Where programs have no clock, as in a WebAssembly module without a system,
    /// the clock stands still.
    #[must_use]
    pub fn begin() -> Self {
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        Self(has_clock.then(Instant::now))
    }

    /// Returns the time since the clock was started.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.map(|begin| begin.elapsed()).unwrap_or_default()
    }
}
