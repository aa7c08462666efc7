//! The router against servers that behave and servers that do not.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod builtin;
mod calls;
mod chats;
mod docs;
mod hostile;
mod http;
mod life;
mod listings;
mod misbehave;
mod public;
mod runaway;
mod shell;
mod support;
mod telegram;
mod trouble;
mod webhook;
