//! Checks that unreadable stored data is an error that names its row, or is logged, and is never replaced
//! silently by a default (`base/src/stored.rs`).

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

/// Calls that drop the error of a parser.
const SILENT: &[&str] = &[".ok()", ".unwrap_or", ".is_ok", ".into_iter()", ".map_or"];

/// Calls that drop the error of a read of the store.
const SILENT_READS: &[&str] = &[
    ".ok()",
    ".unwrap_or(",
    ".unwrap_or_default()",
    ".is_ok",
    ".map_or(",
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
        "engine/recover.rs",
        1,
        "a skill that cannot be found has no revision to compare with",
    ),
    (
        "engine/stored_skill.rs",
        1,
        "a skill whose file is gone is shown without the content of the file",
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
        1,
        "a catalog of another version is asked for again",
    ),
    (
        "service/servers/callback.rs",
        1,
        "no read of the store: a browser that went away sends nothing",
    ),
    (
        "service/setup/machine.rs",
        1,
        "no read of the store: a program that does not answer is not there",
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

/// Counts the places where a file parses JSON or waits for a read, and ignores a failure.
fn dropped_errors(code: &str) -> usize {
    let code: String = code.split_whitespace().collect();
    let parsed = ["from_str", "from_value", "from_slice"].iter().map(|name| {
        let name = format!("serde_json::{name}");
        let calls = code.match_indices(&name);
        let dropped = calls.filter(|(at, _)| {
            let after = &code[at + name.len()..];
            let rest = after_arguments(after).unwrap_or_default();
            SILENT.iter().any(|call| rest.starts_with(call)) || is_matched(&code[..*at])
        });
        dropped.count()
    });
    let reads = code.match_indices(".await");
    let dropped = reads.filter(|(at, read)| {
        let rest = &code[at + read.len()..];
        SILENT_READS.iter().any(|call| rest.starts_with(call))
    });
    parsed.sum::<usize>() + dropped.count()
}

/// Whether the value of the expression at the end of `code` is matched with `Ok` in a `let`, alone or in a tuple.
fn is_matched(code: &str) -> bool {
    let start = code.rfind([';', '{', '}']).map_or(0, |at| at + 1);
    let statement = &code[start..];
    let is_tuple =
        statement.contains("let(") && statement.contains("Ok(") && statement.contains(")=(");
    is_tuple || (code.ends_with('=') && pattern(code).starts_with("letOk("))
}

/// Returns the code after the arguments of a call.
fn after_arguments(code: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, c) in code.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&code[at + 1..]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the `let` and the pattern at the end of `code`.
fn pattern(code: &str) -> &str {
    code.rfind("let").map_or("", |at| &code[at..])
}

#[test]
fn dropped_errors_are_found() {
    for code in [
        "let a: A = serde_json::from_str(&row.b).unwrap_or_default();",
        "text.and_then(|text| serde_json::from_str::<Failure>(text).ok())",
        "if let Ok(all) = serde_json::from_str::<Vec<A>>(&kept) { }",
        "let Ok(Event::Entered { path, .. }) = serde_json::from_str(&stored.body) else { continue; };",
        "let b = serde_json::from_slice(c.d())\n    .unwrap_or(Value::Null);",
        "let (Some(a), Ok(b)) = (c.get(d), serde_json::from_str(&e.f)) else { return; };",
        "let rows = self.store().runs(filter).await.ok()?;",
        "let rows = store\n    .facts(filter)\n    .await\n    .unwrap_or_default();",
    ] {
        assert_eq!(dropped_errors(code), 1, "{code}");
    }
    for code in [
        "serde_json::from_str(text).map_err(|error| unreadable(&error))",
        "match serde_json::from_str(text) { Ok(a) => a, Err(error) => return Err(error) }",
        "let a: A = serde_json::from_str(text)?;",
        "let rows = store.runs(filter).await.unwrap_or_else(|error| { log(&error); Vec::new() });",
        "let rows = read_or_log(store.runs(filter).await, what).unwrap_or_default();",
    ] {
        assert_eq!(dropped_errors(code), 0, "{code}");
    }
}
