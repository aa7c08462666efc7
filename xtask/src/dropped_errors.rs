//! Finds the places where code drops the error of a parser of JSON or of an awaited read, by a call such as
//! `.ok()`, by a `let` with a pattern, or by an arm of a `match`.
//!
//! Not here: which of them are allowed (`stored.rs`).

/// Calls that drop the error of a parser.
const SILENT: &[&str] = &[".ok()", ".unwrap_or", ".is_ok", ".into_iter()", ".map_or"];

/// The end of an awaited expression.
const AWAIT: &str = ".await";

/// Calls that drop the error of an awaited read.
const SILENT_READS: &[&str] = &[
    ".ok()",
    ".unwrap_or(",
    ".unwrap_or_default()",
    ".is_ok",
    ".map_or(",
];

/// Patterns of arms that drop an error.
const SILENT_ARMS: &[&str] = &["Err(_)", "Err(..)", "{_=>", ",_=>", "}_=>", "|_=>"];

/// Counts the places where a file parses JSON or waits for a read, and ignores a failure.
pub(crate) fn dropped_errors(code: &str) -> usize {
    let code = squeeze(code);
    parsers(&code) + reads(&code) + named_reads(&code) + patterns(&code) + arms(&code)
}

/// Removes all spaces that do not separate two words.
fn squeeze(code: &str) -> String {
    let mut squeezed = String::new();
    for part in code.split_whitespace() {
        if squeezed.ends_with(is_word) && part.starts_with(is_word) {
            squeezed.push(' ');
        }
        squeezed.push_str(part);
    }
    squeezed
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Counts parsers of JSON whose error is dropped.
fn parsers(code: &str) -> usize {
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
    parsed.sum()
}

/// Counts `.await` with a call that drops the error.
fn reads(code: &str) -> usize {
    let reads = code.match_indices(AWAIT);
    let dropped = reads.filter(|(at, read)| {
        let rest = &code[at + read.len()..];
        SILENT_READS.iter().any(|call| rest.starts_with(call))
    });
    dropped.count()
}

/// Counts variables that hold an awaited result, and have a call that drops the error.
fn named_reads(code: &str) -> usize {
    let dropped = code.match_indices("let ").filter_map(|(at, word)| {
        let (name, after) = code[at + word.len()..].split_once('=')?;
        let value = statement(after);
        let name = name.trim_start_matches("mut ");
        let rest = after[value.len()..].split("fn ").next()?;
        let is_read = name.chars().all(is_word) && value.ends_with(AWAIT);
        is_read.then(|| SILENT_READS.iter().any(|call| has_call(rest, name, call)))
    });
    dropped.filter(|dropped| *dropped).count()
}

/// Whether `code` has a call of the variable.
fn has_call(code: &str, name: &str, call: &str) -> bool {
    code.match_indices(&format!("{name}{call}"))
        .any(|(at, _)| !code[..at].ends_with(is_word))
}

/// Counts `let Ok(…)` of an awaited result, with or without `else`.
fn patterns(code: &str) -> usize {
    let found = code.match_indices("let Ok(").filter(|(at, _)| {
        let rest = after_arguments(&code[at + "let Ok".len()..]);
        let value = rest.and_then(|rest| rest.strip_prefix('='));
        value.is_some_and(|value| is_awaited(&code[..*at], scrutinee(value)))
    });
    found.count()
}

/// Counts `match` of an awaited result with an arm that drops the error.
fn arms(code: &str) -> usize {
    let found = code.match_indices("match ").filter(|(at, word)| {
        let rest = &code[at + word.len()..];
        let value = scrutinee(rest);
        let arms = arms_of(&rest[value.len()..]);
        is_awaited(&code[..*at], value) && SILENT_ARMS.iter().any(|arm| arms.contains(arm))
    });
    found.count()
}

/// Whether an expression is an awaited result, or a variable that holds one. `before` is the code before it.
fn is_awaited(before: &str, value: &str) -> bool {
    let name = value.trim_start_matches('&');
    let held = || {
        let (_, value) = before.rsplit_once(&format!("let {name}="))?;
        Some(statement(value).ends_with(AWAIT))
    };
    let is_name = !name.is_empty() && name.chars().all(is_word);
    value.ends_with(AWAIT) || is_name && held().unwrap_or_default()
}

/// Returns the expression at the start of `code` that a `let` or a `match` looks at.
fn scrutinee(code: &str) -> &str {
    let ends = |rest: &str| {
        rest.starts_with(['{', ';', ')', ']'])
            || rest.starts_with("&&")
            || rest.starts_with(" else{")
    };
    up_to(code, "([", ")]", ends)
}

/// Returns the code up to the end of its statement.
fn statement(code: &str) -> &str {
    up_to(code, "([{", ")]}", |rest| {
        rest.starts_with([';', ')', ']', '}'])
    })
}

/// Returns the code up to the first place outside brackets at which it ends.
fn up_to<'a>(code: &'a str, open: &str, close: &str, ends: impl Fn(&str) -> bool) -> &'a str {
    let mut depth = 0_u32;
    for (at, c) in code.char_indices() {
        if depth == 0 && ends(&code[at..]) {
            return &code[..at];
        }
        if open.contains(c) {
            depth += 1;
        } else if close.contains(c) {
            depth = depth.saturating_sub(1);
        }
    }
    code
}

/// Returns the arms of the block at the start of `code`, without the content of their blocks.
fn arms_of(code: &str) -> String {
    let mut depth = 0_u32;
    let mut arms = String::new();
    for c in code.chars() {
        depth += u32::from(c == '{');
        if depth <= 1 {
            arms.push(c);
        }
        if c == '}' {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                break;
            }
            arms.push(c);
        }
    }
    arms
}

/// Whether the value of the expression at the end of `code` is matched with `Ok` in a `let`, alone or in a tuple.
fn is_matched(code: &str) -> bool {
    let start = code.rfind([';', '{', '}']).map_or(0, |at| at + 1);
    let statement = &code[start..];
    let is_tuple =
        statement.contains("let(") && statement.contains("Ok(") && statement.contains(")=(");
    is_tuple || (code.ends_with('=') && pattern(code).starts_with("let Ok("))
}

/// Returns the code after the arguments of a call.
pub(crate) fn after_arguments(code: &str) -> Option<&str> {
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
        "let pinned = library.pinned(a, b).await;\nif pinned.is_ok_and(|pinned| fits(&pinned)) { }",
        "if let Ok(pinned) = library.pinned(a, b).await { use_it(pinned); }",
        "if let Ok(open) = store.approvals(false).await\n    && !open.is_empty() { }",
        "let Ok(rows) = store.skills(filter).await else { return; };",
        "let page = store.run_page(filter, end).await;\nlet Ok(page) = page else { return };",
        "match store.run(&id).await { Ok(Some(run)) => a(run), _ => return true, }",
        "match store.held(&key).await { Ok(a) => { b(a); } Err(_) => return, }",
        "let run = match store.run(&id).await { Ok(run) => run, Err(..) => None };",
    ] {
        assert_eq!(dropped_errors(code), 1, "{code}");
    }
    for code in [
        "serde_json::from_str(text).map_err(|error| unreadable(&error))",
        "match serde_json::from_str(text) { Ok(a) => a, Err(error) => return Err(error) }",
        "let a: A = serde_json::from_str(text)?;",
        "let rows = store.runs(filter).await.unwrap_or_else(|error| { log(&error); Vec::new() });",
        "let rows = read_or_log(store.runs(filter).await, what).unwrap_or_default();",
        "match store.run(&id).await? { Some(run) => a(run), _ => return true, }",
        "match store.run(&id).await { Ok(run) => match run { _ => a }, Err(error) => log(&error) }",
        "let page = store.run_page(filter, end).await?;\nlet Ok(name) = page.name else { return };",
        "let Ok(count) = text.parse::<u32>() else { return store.runs(filter).await; };",
    ] {
        assert_eq!(dropped_errors(code), 0, "{code}");
    }
}
