//! The table of routes, one file per group. A handler reads the request and calls one function of `service`.

mod home;
mod people;
mod runs;
mod schedule;
mod skills;
mod tools;

use crate::route::Route;

/// Every request of the API.
pub(crate) fn table() -> Vec<Route> {
    [
        runs::routes(),
        skills::routes(),
        schedule::routes(),
        people::routes(),
        tools::routes(),
        home::routes(),
    ]
    .concat()
}

/// The most entries of a page.
const MOST: u32 = 500;

/// How many entries a page has.
fn page_size(limit: Option<u32>) -> u32 {
    limit.unwrap_or(50).clamp(1, MOST)
}

/// Where the next page begins; none behind the last one.
fn next_cursor(cursor: Option<String>, found: usize, limit: u32) -> Option<String> {
    cursor.filter(|_| u32::try_from(found).is_ok_and(|found| found >= limit))
}
