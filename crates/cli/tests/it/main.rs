//! The binary as a stranger would use it: exit code, stdout and stderr.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod chat;
mod chat_bot;
mod chat_budget;
mod chat_context;
mod chat_once;
mod chat_real_model;
mod chat_reminder;
mod chat_resume;
mod chat_skill;
mod chat_support;
mod chat_terminal;
mod cmd;
mod config;
mod daemon;
mod defaults;
mod doctor;
mod doubts;
mod files;
mod home;
mod hostile;
mod jobs;
mod keeping;
mod mcp;
mod records;
mod runs;
mod schedule;
mod special;
mod standing;
mod stored_schedule;
mod support;
mod telegram;
mod terminal;
mod tick;
mod tool_channel;
mod tools;
mod up;
mod validate;
mod watch;
