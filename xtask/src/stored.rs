//! Checks that unreadable stored data is an error that names its row, or is logged, and is never replaced
//! silently by a default (`base/src/stored.rs`).

use crate::dropped_errors::dropped_errors;
use crate::source::product_sources;

/// The crates that read rows of the store.
const READERS: &[&str] = &[
    "agents",
    "base",
    "channels",
    "engine",
    "library",
    "outbox",
    "scheduler",
    "service",
];

/// Files that drop such an error, how often, and why.
const KNOWN: &[(&str, usize, &str)] = &[
    (
        "engine/cache.rs",
        1,
        "a cached result that cannot be read is fetched again",
    ),
    (
        "engine/engine.rs",
        1,
        "the version of a store that cannot be read counts as changed",
    ),
    (
        "engine/perform.rs",
        1,
        "a cached result that cannot be read is fetched again",
    ),
    (
        "library/aftermath.rs",
        1,
        "the text was written in the same request",
    ),
    (
        "library/grants.rs",
        1,
        "a grant that cannot be read allows nothing",
    ),
    (
        "library/rights.rs",
        1,
        "rights that cannot be read allow nothing",
    ),
    (
        "library/skills.rs",
        1,
        "a text of another version names no file",
    ),
    (
        "scheduler/pool.rs",
        2,
        "no read of the store: a closed pool has no permits",
    ),
    (
        "scheduler/start.rs",
        1,
        "no read of the store: a task that was cancelled answers nothing",
    ),
    (
        "service/app.rs",
        1,
        "no read of the store: messages that were not sent in time are sent later",
    ),
    (
        "service/approvals/mod.rs",
        1,
        "an argument of a person, which may be a plain text",
    ),
    (
        "service/commands.rs",
        1,
        "the content of a result, which may be a plain text",
    ),
    (
        "service/daemon/footprint.rs",
        2,
        "the version of a store that cannot be read counts as changed",
    ),
    (
        "service/hosts/json.rs",
        1,
        "a key in the file of another program that cannot be read is not the one that is looked for",
    ),
    (
        "service/listener.rs",
        1,
        "a note of another version is as good as none",
    ),
    (
        "service/logs.rs",
        1,
        "a line that another program wrote into the log, which is shown as it is",
    ),
    (
        "service/router.rs",
        2,
        "a catalog of another version is asked for again; no read of the store: a task that was cancelled stored nothing",
    ),
    (
        "service/runs/drive.rs",
        1,
        "no read of the store: the store is read after events were missed",
    ),
    (
        "service/runs/feed.rs",
        1,
        "no read of the store: the store is read again when no event arrives in time",
    ),
    (
        "service/runs/runner.rs",
        1,
        "no read of the store: without the end of the task, the store is read",
    ),
    (
        "service/servers/callback.rs",
        3,
        "no read of the store: the listener tries again, and a browser that went away sends nothing",
    ),
    (
        "service/setup/machine.rs",
        1,
        "no read of the store: a program that does not answer is not there",
    ),
    (
        "service/status/mod.rs",
        1,
        "no read of the store: an answer that is too late is an obstacle",
    ),
    (
        "service/talk/request.rs",
        1,
        "no read of the store: the request is looked at again when it has not ended in time",
    ),
    (
        "service/telegram/ask.rs",
        1,
        "no read of the store: the person left without an answer",
    ),
    (
        "service/telemetry/note.rs",
        1,
        "a note of another version is as good as none",
    ),
    (
        "service/tools/call.rs",
        1,
        "an argument of a person, which may be a plain text",
    ),
];

#[test]
fn stored_json_is_not_replaced_by_defaults() {
    let mut found: Vec<(String, usize)> = Vec::new();
    for source in product_sources() {
        let dropped = dropped_errors(&source.code);
        if READERS.contains(&source.krate.as_str()) && dropped > 0 {
            found.push((format!("{}/{}", source.krate, source.path), dropped));
        }
    }
    found.sort();
    let known: Vec<(String, usize)> = KNOWN
        .iter()
        .map(|(path, count, _)| ((*path).to_owned(), *count))
        .collect();
    assert_eq!(
        found, known,
        "use `read_stored`, `read_setting`, `run_inputs`, `run_outputs` or `run_failure` of `deft-base`, or `read_or_log` if the caller can go on without the value"
    );
}
