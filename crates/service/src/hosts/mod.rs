//! Clients: other programs that keep a list of MCP servers, and the entry for deft in these lists.
//!
//! `places` is the only table of file paths. An entry (`entry`) is written by editing the text, which keeps
//! comments and order (`json`, `toml`, `yaml`); each edit is checked by parsing the text before and after it
//! (`list`). Not here: servers from these lists that deft itself calls, which are in `servers`.

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

pub use install::{InstallAction, InstallOptions, InstallPlan, plan};
pub(crate) use installed::{InstalledHost, list_installed};
pub(crate) use places::{HostSystem, file};
