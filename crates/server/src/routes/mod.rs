//! The table of routes, one file per group. A handler reads the request and calls one function of `service`.

mod chats;
mod home;
mod keys;
mod people;
mod remote_skills;
mod runs;
mod schedule;
mod servers;
mod settings;
mod skill_files;
mod skills;
mod stats;
mod tools;

use deft_wire::{Done, Failure};

use crate::route::Route;

/// Returns all routes of the API.
pub(crate) fn table() -> Vec<Route> {
    [
        runs::routes(),
        skills::routes(),
        skill_files::routes(),
        remote_skills::routes(),
        schedule::routes(),
        people::routes(),
        chats::routes(),
        tools::routes(),
        servers::routes(),
        home::routes(),
        settings::routes(),
        keys::routes(),
        stats::routes(),
    ]
    .concat()
}

/// Maximum number of entries on a page.
const MAX_PAGE_ENTRIES: u32 = 500;

/// Returns the number of entries of a page, within its limits.
fn page_size(limit: Option<u32>) -> u32 {
    limit.unwrap_or(50).clamp(1, MAX_PAGE_ENTRIES)
}

/// Returns the cursor of the next page, or `None` if this page is the last.
fn next_cursor(cursor: Option<String>, found: usize, limit: u32) -> Option<String> {
    cursor.filter(|_| u32::try_from(found).is_ok_and(|found| found >= limit))
}

/// Checks that a path is absolute. Clients do not know the working directory of deft, so relative paths are
/// refused.
fn absolute(path: &str) -> Done<&str> {
    if path.starts_with('/') {
        return Ok(path);
    }
    let message = format!("`{path}` is not an absolute path");
    Err(Failure::input("invalid_input", message).hint("begin it with `/`"))
}
