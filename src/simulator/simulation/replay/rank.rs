//! State of a rank, and its accounts.

use crate::trace::Activity;
use crate::units::{SimDuration, SimTime};

/// A rank while its operations are carried out.
#[derive(Clone, Copy)]
pub struct RankState {
    /// The time up to which its accounts are kept.
    since: SimTime,
    system_before: SimDuration,
    activity: Activity,
    /// Operations under way, and those of them that compute, send and receive.
    pub under_way: u32,
    pub computing: u32,
    pub sending: u32,
    pub receiving: u32,
    /// Time by activity, as far as ranks of schedules have it.
    computed: SimDuration,
    sent: SimDuration,
    blocked: SimDuration,
    system: SimDuration,
    idle: SimDuration,
}

impl RankState {
    pub const fn new() -> Self {
        let none = SimDuration::ZERO;
        Self {
            since: SimTime::START,
            system_before: none,
            activity: Activity::Blocked,
            under_way: 0,
            computing: 0,
            sending: 0,
            receiving: 0,
            computed: none,
            sent: none,
            blocked: none,
            system: none,
            idle: none,
        }
    }

    /// Books the time since it was last booked; `system` is that for which its processor has worked for the communication up
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

    /// It waits for its operations.
    #[inline]
    pub const fn wait(&mut self) {
        self.activity = match (self.computing, self.sending, self.receiving) {
            (0, 1.., 0) => Activity::Sending,
            (0, ..) => Activity::Blocked,
            _ => Activity::Computing,
        };
    }

    /// Nothing is left to do for it, but perhaps for its processor.
    pub const fn end(&mut self, is_free: bool) {
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
