//! The clock of this computer, which limits of wall time are held by.

use std::time::{Duration, Instant};

/// The time of this computer since some instant.
#[derive(Clone, Copy, Debug)]
pub struct WallClock(Option<Instant>);

impl WallClock {
    /// A watch that begins now. Where programs have no clock, as in a module of WebAssembly without a system, it stands still.
    #[must_use]
    pub fn begin() -> Self {
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        Self(has_clock.then(Instant::now))
    }

    /// The time since it began.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.map(|begin| begin.elapsed()).unwrap_or_default()
    }
}
