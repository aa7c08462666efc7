//! Triggers of skills.

use crate::Object;
use crate::choice::choice;

choice! {
    /// The kind of a trigger, with the words of existing skill files (S0.20).
    Trigger {
        /// On a schedule, an interval, or once at an instant.
        Cron = "cron",
        /// When a message matches the skill's keywords, when an event occurs in deft, or when a hook receives
        /// a delivery.
        Event = "event",
        /// Only on request.
        Manual = "manual",
    }
}

choice! {
    /// An event in deft that fires skills.
    SkillEvent {
        /// A conversation was idle for a while or was closed.
        ConversationEnded = "conversation_ended",
    }
}

/// The times of a `cron` trigger, or the event that fires a skill, as written.
///
/// Instants and zones are still text: computing fires needs a clock and the host's time zone, which only
/// callers have.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The cron expression in `schedule`.
    pub schedule: Option<String>,
    /// The interval in `interval_minutes`.
    pub interval_minutes: Option<u32>,
    /// The instant in `at`.
    pub at: Option<String>,
    /// The delay in `in_minutes`, `in_hours` or `in`, in seconds. It becomes an instant when the skill is
    /// stored.
    pub delay_seconds: Option<u64>,
    /// The event that fires the skill, instead of a time.
    pub event: Option<SkillEvent>,
    /// The hook whose deliveries fire the skill, instead of a time.
    pub hook: Option<String>,
    /// The requested time zone.
    pub timezone: Option<String>,
    /// `trigger_config` as written.
    pub config: Object,
}

impl Timing {
    /// Whether an event or a hook fires the skill, not the clock.
    pub fn is_by_event(&self) -> bool {
        self.event.is_some() || self.hook.is_some()
    }
}
