//! The table of trigger fields, shared by all dialects.

use super::{Field, Kind, optional};

/// The times or events at which a skill fires (S0.21 to S0.24).
pub(crate) const TRIGGER: &[Field] = &[
    optional(
        "schedule",
        Kind::Cron,
        "a cron expression, read in the skill's zone",
    ),
    optional("interval_minutes", Kind::Positive, "every so many minutes"),
    optional("at", Kind::Text, "once, at an ISO timestamp"),
    optional(
        "in_minutes",
        Kind::Positive,
        "once, so many minutes from now",
    ),
    optional("in_hours", Kind::Positive, "once, so many hours from now"),
    optional(
        "in",
        Kind::Duration,
        "once, after a length of time such as `1h30m`",
    ),
    optional(
        "event",
        Kind::Words(&["conversation_ended"]),
        "when this happens: `conversation_ended`, 15 minutes after the last message of a chat",
    ),
    optional(
        "hook",
        Kind::Text,
        "when the hook of this name takes a delivery: `[hooks.NAME]` in the configuration",
    ),
    optional(
        "timezone",
        Kind::Text,
        "the IANA zone of `schedule` and `at`; the host's when absent",
    ),
];
