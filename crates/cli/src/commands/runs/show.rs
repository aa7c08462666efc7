//! `deft runs show`: a run like a story.

use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{find, mark_abandoned};
use crate::args::Global;
use crate::failure::Done;
use crate::output::{self, Output};
use crate::progress::duration;
use deft_service::app::{self, App};
use deft_service::talk::{Usage, known_cost};

/// The longest value on a line; `--json` shows all of it.
const VALUE: usize = 160;

pub(crate) fn run(id: &str, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    let row = find(&app, id)?;
    let shown = app.block_on(app.engine.show(&row));
    let mut shown = shown.map_err(|error| app::failure(&error))?;
    mark_abandoned(&app, &row, &mut shown);
    if output.json {
        output.document(&json!({ "run": shown }))?;
    } else {
        output.data(story(&shown, &app.zone))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn story(run: &Value, zone: &TimeZone) -> String {
    let word = |key: &str| run[key].as_str().unwrap_or_default();
    let gone = run["owner_gone"] == true;
    let state = match word("outcome") {
        "" if gone => "running, but its process is gone",
        "" => word("status"),
        outcome => outcome,
    };
    let mut text = format!("{}  {}  {state}\n", word("id"), word("skill"));
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("  {name:<10} {value}\n"));
        }
    };
    line("revision", word("revision").get(..12).unwrap_or_default());
    line("cause", word("cause"));
    line("slot", &slots(run, zone));
    if let Some(why) = run["check_failed"].as_str() {
        line("check", &format!("could not be made: {why}"));
    }
    line("key", word("key"));
    line("made from", word("parent"));
    line("started", &local(word("started_at"), zone));
    line("took", &took(&run["duration_ms"]));
    line("models", &models(&run["usage"]));
    line("waits for", word("waiting_for"));
    line("inputs", &short(&run["inputs"]));
    line("outputs", &short(&run["outputs"]));
    if let Some(message) = run["error"]["message"].as_str() {
        let class = run["error"]["class"].as_str().unwrap_or("other");
        // That a slot is passed over is no failure.
        match word("outcome") {
            "skipped" | "missed" => line("why", message),
            _ => line("error", &format!("{message} ({class})")),
        }
        line("hint", run["error"]["hint"].as_str().unwrap_or_default());
    }
    if gone {
        let id = word("id");
        line(
            "hint",
            &format!("`deft runs resume {id}` or `deft up` goes on"),
        );
    }
    for notice in run["notices"].as_array().into_iter().flatten() {
        line("notice", &told(notice));
    }
    for step in run["steps"].as_array().into_iter().flatten() {
        text.push_str(&step_line(step, zone));
        for warning in step["warnings"].as_array().into_iter().flatten() {
            let depth = word_in(step, "id").matches('/').count() + 2;
            let indent = "  ".repeat(depth);
            text.push_str(&format!(
                "{indent}! {}\n",
                warning.as_str().unwrap_or_default()
            ));
        }
        let calls = run["calls"].as_array().into_iter().flatten();
        for call in calls.filter(|call| belongs(call, step)) {
            text.push_str(&call_line(call));
        }
    }
    text
}

/// The planned instant, or the stretch of instants that this row stands for.
fn slots(run: &Value, zone: &TimeZone) -> String {
    let time = |key: &str| local(run[key].as_str().unwrap_or_default(), zone);
    match run["slot_count"].as_u64() {
        Some(count) if count > 1 => {
            format!("{} to {}, {count} slots", time("slot"), time("slot_until"))
        }
        _ => time("slot"),
    }
}

/// What models took, if any were asked.
fn models(usage: &Value) -> String {
    let count = |key: &str| usage[key].as_u64().unwrap_or_default();
    let usage = Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cost_usd: known_cost(usage),
        llm_calls: count("llm_calls"),
    };
    match usage.llm_calls {
        0 => String::new(),
        _ => usage.words(),
    }
}

/// What people were told, and whether it arrived.
fn told(notice: &Value) -> String {
    let word = |key: &str| notice[key].as_str().unwrap_or_default();
    let more = match (word("receipt"), word("error")) {
        ("", "") => String::new(),
        ("", error) => format!(": {error}"),
        (receipt, _) => format!(": {receipt}"),
    };
    format!("{} {}{more}", word("kind"), word("status"))
}

fn word_in<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// How far a loop came, and which of its items failed.
fn items(items: &serde_json::Map<String, Value>) -> String {
    let mut text = format!("{}/{} items", items["done"], items["total"]);
    let failed = items["failed"].as_u64().unwrap_or_default();
    if failed > 0 {
        let named = items.get("failed_items").and_then(Value::as_array);
        let named = named.into_iter().flatten().take(10);
        let named: Vec<String> = named.map(|item| format!("[{item}]")).collect();
        let more = if failed > 10 { ", …" } else { "" };
        text.push_str(&format!(", {failed} failed: {}{more}", named.join(", ")));
    }
    text
}

/// Why a step was skipped or what it waits for; the end of a wait in the zone of the person.
fn reason(step: &Value, zone: &TimeZone) -> String {
    let reason = word_in(step, "reason");
    let until = reason
        .strip_prefix("until ")
        .filter(|_| step["type"] == "wait");
    match until {
        Some(instant) => format!("until {}", local(instant, zone)),
        None => reason.to_owned(),
    }
}

fn step_line(step: &Value, zone: &TimeZone) -> String {
    let word = |key: &str| step[key].as_str().unwrap_or_default();
    let sign = match word("status") {
        "success" => "✓",
        "error" => "✗",
        "skipped" => "-",
        "waiting" => "?",
        "running" => "▸",
        _ => "·",
    };
    let indent = "  ".repeat(word("id").matches('/').count() + 1);
    let attempts = step["attempts"].as_u64().unwrap_or(0);
    let tried = if attempts > 1 {
        format!("{attempts} attempts")
    } else {
        String::new()
    };
    let items = step["items"].as_object().map_or(String::new(), items);
    let said = match word("status") {
        "error" => step["error"]["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        "success" => short(&step["result"]),
        _ => reason(step, zone),
    };
    let parts = [
        word("type").to_owned(),
        took(&step["duration_ms"]),
        tried,
        items,
        said,
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{indent}{sign} {}  {}\n", word("id"), parts.join("  "))
}

/// Whether an agent of this step, or of one of its items, made a call.
fn belongs(call: &Value, step: &Value) -> bool {
    let (place, id) = (&call["step_id"], step["id"].as_str().unwrap_or_default());
    let rest = place.as_str().and_then(|place| place.strip_prefix(id));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// A call of an agent: what, with which arguments, who allowed it, and what came of it.
fn call_line(call: &Value) -> String {
    let word = |key: &str| call[key].as_str().unwrap_or_default();
    let step = word("step_id").matches('/').count();
    let depth = call["depth"]
        .as_u64()
        .and_then(|depth| usize::try_from(depth).ok());
    let indent = "  ".repeat(step + depth.unwrap_or_default() + 2);
    let (sign, what) = match word("status") {
        "success" => ("✓", ""),
        "error" => ("✗", ""),
        "refused" => ("✗", "refused"),
        "answered" => ("·", "answered by deft"),
        "waiting" => ("?", "waits for an answer"),
        _ => ("▸", ""),
    };
    let answered = match (word("answered_by"), word("status")) {
        ("", _) => String::new(),
        (by, "refused") => format!("answered by {by}"),
        (by, _) => format!("approved by {by}"),
    };
    let parts = [
        short(&call["args"]),
        took(&call["duration_ms"]),
        what.to_owned(),
        answered,
        short(&call["note"]),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{indent}{sign} {}  {}\n", word("tool"), parts.join("  "))
        .trim_end_matches(' ')
        .to_owned()
}

/// An instant in the zone of the person who looks.
fn local(instant: &str, zone: &TimeZone) -> String {
    match instant.parse::<Timestamp>() {
        Ok(at) => output::local(at, zone),
        Err(_) => instant.to_owned(),
    }
}

fn took(ms: &Value) -> String {
    let ms = ms.as_u64().map(Duration::from_millis);
    ms.map_or(String::new(), duration)
}

/// A value on one line.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::Object(map) if map.is_empty() => return String::new(),
        Value::String(text) => text.replace('\n', " "),
        other => other.to_string(),
    };
    match text.char_indices().nth(VALUE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
