//! The field table of `AGENT.md`.

use super::{BUDGET, Field, Kind, optional, required};

/// Frontmatter of an `AGENT.md` (S4.4).
pub(crate) const AGENT: &[Field] = &[
    required(
        "name",
        Kind::Text,
        "what the agent is called, in prose; its id is the folder's name",
    ),
    optional("description", Kind::Text, "what it is for, in a line"),
    optional(
        "provider",
        Kind::Text,
        "the provider of its model; the configuration's when absent",
    ),
    optional(
        "model",
        Kind::Text,
        "its model; the configuration's when absent",
    ),
    optional(
        "allow_skills",
        Kind::Truth,
        "whether it is offered skills; false when absent",
    ),
    optional(
        "skills",
        Kind::Texts,
        "the only skills it may use: ids, patterns such as `email.*`, or domains; all when absent",
    ),
    optional(
        "tools",
        Kind::Texts,
        "the only tools it may use: names, or patterns such as `gmail_*`; `needed` stands for all, offered as they are needed; when absent, none in an unattended run, and what the configuration says in a chat",
    ),
    optional(
        "approve",
        Kind::Texts,
        "tools that need a yes: names, patterns, or the word `destructive` for all that say so of themselves, and in chats for those of servers that do not say otherwise",
    ),
    optional(
        "max_steps",
        Kind::Positive,
        "the most turns its model may take; 10 when absent",
    ),
    optional("budget", Kind::Table(&[BUDGET]), "what its model may cost"),
    optional(
        "may_schedule",
        Kind::Truth,
        "whether a run that was not started by a person may create schedules; false when absent",
    ),
    optional(
        "mode",
        Kind::Words(&["auto", "tools", "cmd"]),
        "how its model acts: by tool calls, by `cmd` blocks, or by whichever it can; `auto` when absent",
    ),
];
