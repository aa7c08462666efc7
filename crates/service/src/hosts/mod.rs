//! Other programs that keep a list of MCP servers: where their lists are, and deft as an entry in them.
//!
//! `places` is the one table of files. An entry (`entry`) is written by an edit of the text, so that comments and
//! order stay (`json`, `toml`, `yaml`), and each edit is checked by reading both texts (`list`). Not here: servers
//! of other programs that deft calls itself, which are in `servers`.

mod diff;
mod entry;
mod install;
mod installed;
mod json;
mod list;
mod places;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

pub use install::{InstallOptions, InstallPlan, InstallWish, plan};
pub(crate) use installed::{InstalledHost, installed};
pub(crate) use places::{HostSystem, file};
