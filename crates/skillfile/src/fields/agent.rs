//! The field table of `AGENT.md`.

use super::{BUDGET, Field, Kind, optional, required_field};

/// Frontmatter of an `AGENT.md` (S4.4).
pub(crate) const AGENT: &[Field] = &[
    required_field(
        "name",
        Kind::Text,
        "the agent's name; its id is the folder's name",
    ),
    optional("description", Kind::Text, "one line about its purpose"),
    optional(
        "provider",
        Kind::Text,
        "the provider of its model; default: the configured one",
    ),
    optional(
        "model",
        Kind::Text,
        "its model; default: the configured one",
    ),
    optional(
        "allow_skills",
        Kind::Truth,
        "whether it may use skills; default false",
    ),
    optional(
        "skills",
        Kind::Texts,
        "skills it may use: ids, patterns such as `email.*`, or domains; default: all",
    ),
    optional(
        "tools",
        Kind::Texts,
        "tools it may use: names or patterns such as `gmail_*`; `needed` adds all others on demand; default: none in unattended runs, the configured tools in chats",
    ),
    optional(
        "approve",
        Kind::Texts,
        "tools that need approval: names, patterns, or `destructive` for all tools that are marked as destructive and, in chats, tools whose servers do not say whether they are",
    ),
    optional(
        "max_steps",
        Kind::Positive,
        "maximum number of turns of its model; default 10",
    ),
    optional(
        "budget",
        Kind::Table(&[BUDGET]),
        "limits on the cost of its model",
    ),
    optional(
        "may_schedule",
        Kind::Truth,
        "whether a run that no person started may create schedules; default false",
    ),
    optional(
        "mode",
        Kind::Words(&["auto", "tools", "cmd"]),
        "how the model calls tools: tool calls (`tools`), `cmd` blocks (`cmd`), or whichever the model supports (`auto`, the default)",
    ),
];
