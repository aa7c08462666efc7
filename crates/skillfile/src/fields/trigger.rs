//! The table of trigger fields, shared by all dialects.

use super::{Field, Kind, optional};

/// The times or events at which a skill fires (S0.21 to S0.24).
pub(crate) const TRIGGER: &[Field] = &[
    optional(
        "schedule",
        Kind::Cron,
        "a cron expression, read in the skill's zone",
    ),
    optional("interval_minutes", Kind::Positive, "every N minutes"),
    optional("at", Kind::Text, "once, at an ISO timestamp"),
    optional(
        "in_minutes",
        Kind::Positive,
        "once, this many minutes from now",
    ),
    optional("in_hours", Kind::Positive, "once, this many hours from now"),
    optional(
        "in",
        Kind::Duration,
        "once, after a duration such as `1h30m`",
    ),
    optional(
        "event",
        Kind::Words(&["conversation_ended"]),
        "on this event: `conversation_ended`, 15 minutes after the last message of a chat",
    ),
    optional(
        "hook",
        Kind::Text,
        "when this webhook receives a delivery: `[hooks.NAME]` in the configuration",
    ),
    optional(
        "timezone",
        Kind::Text,
        "the IANA zone of `schedule` and `at`; default: the host's",
    ),
];
