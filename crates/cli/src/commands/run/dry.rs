//! `deft run --dry-run`: what would happen, for people.

use std::process::ExitCode;

use serde_json::Value;

use crate::failure::Done;
use crate::output::Output;

pub(crate) fn print(shown: &Value, output: &Output) -> Done {
    if output.json {
        output.document(shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{} would do this; nothing was called\n",
        shown["skill"].as_str().unwrap_or("")
    );
    let mut wave = 0;
    for step in shown["steps"].as_array().into_iter().flatten() {
        let at = step["wave"].as_u64().unwrap_or(0);
        let together = at == wave;
        wave = at;
        text.push_str(&describe(step, together));
    }
    for found in shown["diagnostics"].as_array().into_iter().flatten() {
        let word = |key: &str| found[key].as_str().unwrap_or_default();
        text.push_str(&format!("{}: {}\n", word("severity"), word("message")));
        if let Some(help) = found["help"].as_str() {
            text.push_str(&format!("  hint: {help}\n"));
        }
    }
    output.data(text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(step: &Value, together: bool) -> String {
    let word = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let number = match step["wave"].as_u64() {
        Some(wave) if !together => format!("{wave:>4}. "),
        _ => "   &  ".to_owned(),
    };
    let name = step["name"]
        .as_str()
        .map_or(String::new(), |name| format!(" {name}"));
    let mut text = format!("{number}{}  {}{name}\n", word("id"), word("type"));
    let mut line = |note: String| text.push_str(&format!("        {note}\n"));
    match step["verdict"].as_str() {
        Some("skip") => line(format!("skipped: {} is false", word("condition"))),
        Some("depends") if !step["condition"].is_null() => {
            line(format!("if {}", word("condition")));
        }
        _ => {}
    }
    if let Some(question) = step["confirm"].as_str() {
        line(format!("asks first: {question}"));
    }
    if let Some(repeat) = step["loop"].as_object() {
        let items = match repeat["items"].as_array() {
            Some(items) => format!("{} items", items.len()),
            None => "items known later".to_owned(),
        };
        line(format!(
            "for each `{}`: {items}",
            repeat["var"].as_str().unwrap_or("item")
        ));
    }
    if let Some(args) = step["args"].as_object() {
        for (key, value) in args {
            line(format!("{key}: {}", shown_value(value)));
        }
    }
    if let Some(until) = step["until"].as_str() {
        line(format!(
            "waits until {until}, if the steps before it take no time"
        ));
    }
    if let Some(unknown) = step["unknown"]
        .as_array()
        .filter(|unknown| !unknown.is_empty())
    {
        let places: Vec<&str> = unknown.iter().filter_map(Value::as_str).collect();
        line(format!("known only when it runs: {}", places.join(", ")));
    }
    if step["type"] == "tool" {
        line(format!(
            "effects: {}, on error: {}",
            word("effects"),
            word("on_error")
        ));
    }
    for heal in step["heals"].as_array().into_iter().flatten() {
        let when: Vec<&str> = heal["when"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        line(format!(
            "mends {} with {}",
            when.join(", "),
            heal["tool"].as_str().unwrap_or("")
        ));
    }
    for problem in step["problems"].as_array().into_iter().flatten() {
        line(format!("problem: {}", problem.as_str().unwrap_or_default()));
    }
    text
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
