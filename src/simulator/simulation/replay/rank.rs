//! The state of a rank, and its accounts.

use crate::trace::Activity;
use crate::units::{SimDuration, SimTime};

/// The state of a rank during a replay.
#[derive(Clone, Copy)]
pub struct RankState {
    /// The time up to which the accounts of the rank are complete.
    since: SimTime,
    /// The communication work of the rank's processor up to that time.
    system_before: SimDuration,
    activity: Activity,
    /// The number of issued operations that have not ended.
    pub under_way: u32,
    /// The number of computations that have begun and not ended.
    pub computing: u32,
    /// The number of issued sends that have not ended.
    pub sending: u32,
    /// The number of issued receives that have not ended.
    pub receiving: u32,
    /// The time computed. Ranks of schedules have no other activities than this one and those of the following fields.
    computed: SimDuration,
    sent: SimDuration,
    blocked: SimDuration,
    system: SimDuration,
    idle: SimDuration,
}

impl RankState {
    pub const fn new() -> Self {
        let zero = SimDuration::ZERO;
        Self {
            since: SimTime::START,
            system_before: zero,
            activity: Activity::Blocked,
            under_way: 0,
            computing: 0,
            sending: 0,
            receiving: 0,
            computed: zero,
            sent: zero,
            blocked: zero,
            system: zero,
            idle: zero,
        }
    }

    /// Adds the time since the last call to the accounts. `system` is the total communication work of the processor up
    /// to now.
    #[inline]
    pub fn account(&mut self, now: SimTime, system: SimDuration) {
        let stolen = system - self.system_before;
        let rest = now.since(self.since) - stolen;
        self.system += stolen;
        let time = match self.activity {
            Activity::Computing => &mut self.computed,
            Activity::Sending => &mut self.sent,
            Activity::Idle => &mut self.idle,
            _ => &mut self.blocked,
        };
        *time += rest;
        (self.since, self.system_before) = (now, system);
    }

    /// Sets the activity to that of waiting for the pending operations.
    #[inline]
    pub const fn wait(&mut self) {
        self.activity = match (self.computing, self.sending, self.receiving) {
            (0, 1.., 0) => Activity::Sending,
            (0, ..) => Activity::Blocked,
            _ => Activity::Computing,
        };
    }

    /// Sets the activity of a rank without operations, whose processor may still be busy with communication.
    pub const fn finish(&mut self, is_free: bool) {
        self.activity = if is_free { Activity::Idle } else { Activity::Blocked };
    }

    pub const fn times(&self) -> [(Activity, SimDuration); 5] {
        [
            (Activity::System, self.system),
            (Activity::Computing, self.computed),
            (Activity::Sending, self.sent),
            (Activity::Blocked, self.blocked),
            (Activity::Idle, self.idle),
        ]
    }
}
