//! What makes a skill fire.

use crate::Object;
use crate::choice::choice;

choice! {
    /// The kind of a trigger, in the seeds' words (S0.20).
    Trigger {
        /// On a schedule, an interval, or once at an instant.
        Cron = "cron",
        /// When a message matches the skill's keywords, when something happens in deft, or when a hook takes a delivery.
        Event = "event",
        /// Only when asked for.
        Manual = "manual",
    }
}

choice! {
    /// What happens in deft and fires skills.
    SkillEvent {
        /// Nothing more was said in a conversation for a while, or it was put away.
        ConversationEnded = "conversation_ended",
    }
}

/// When a `cron` trigger is due, or which event fires a skill, as it was written.
///
/// Instants and zones are still text here: turning them into fires needs a
/// clock and a host zone, which only callers have.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The cron expression of `schedule`.
    pub schedule: Option<String>,
    /// The grid of `interval_minutes`.
    pub interval_minutes: Option<u32>,
    /// The instant of `at`.
    pub at: Option<String>,
    /// A delay that is turned into an instant when the skill is stored
    /// (`in_minutes`, `in_hours` and `in`), in seconds.
    pub delay_seconds: Option<u64>,
    /// The event that fires it; then it has no times.
    pub event: Option<SkillEvent>,
    /// The hook whose deliveries fire it; then it has no times.
    pub hook: Option<String>,
    /// The zone that was asked for.
    pub timezone: Option<String>,
    /// `trigger_config` as it was written.
    pub config: Object,
}

impl Timing {
    /// Whether something that happens fires it, and not the clock.
    pub fn is_by_event(&self) -> bool {
        self.event.is_some() || self.hook.is_some()
    }
}
