//! Puts pieces of the documents into the texts of a case.
//!
//! `@{1}` is the first cut of the case. Behind it, one after the other: `.cell.2` and `.code.1` (of a row), `.quoted.1`,
//! `.lines.80-88` (lines of the document), `.call` (the argument of a call as JSON), `.indent.4`, `.flat`
//! (on one line), `.bare` (without marks), `.fenced` (as a block of commands),
//! `.json` (as a JSON text). `@{now+61m}` is an instant; other names are values that the case kept.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use crate::cut::{Cut, cells, code};

/// What placeholders stand for.
pub(crate) struct Filler<'a> {
    pub(crate) cuts: Vec<&'a Cut>,
    /// The lines of each cut's document.
    pub(crate) lines: Vec<&'a [String]>,
    pub(crate) begun: Timestamp,
    pub(crate) kept: HashMap<String, String>,
}

impl Filler<'_> {
    /// The text with everything put in.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("@{") {
            let (name, after) = behind
                .split_once('}')
                .ok_or_else(|| format!("`@{{` has no end in `{text}`"))?;
            out.push_str(before);
            out.push_str(&self.value(name)?);
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn value(&self, name: &str) -> Result<String, String> {
        if let Some(length) = name.strip_prefix("now+") {
            let length: SignedDuration = length.parse().map_err(|_| format!("`{length}`?"))?;
            return Ok((self.begun + length).to_string());
        }
        if let Some(kept) = self.kept.get(name) {
            return Ok(kept.clone());
        }
        let mut parts = name.split('.');
        let number: usize = parts
            .next()
            .and_then(|first| first.parse().ok())
            .ok_or_else(|| format!("`@{{{name}}}` is not known"))?;
        let cut = self
            .cuts
            .get(number.wrapping_sub(1))
            .ok_or_else(|| format!("the case has no cut {number}"))?;
        let mut text = cut.text.clone();
        while let Some(step) = parts.next() {
            text = match step {
                "call" => call(&text)?,
                "flat" => text.split_whitespace().collect::<Vec<_>>().join(" "),
                "json" => serde_json::Value::String(text).to_string(),
                "fenced" => format!("```cmd\n{text}\n```"),
                "bare" => text.replace(['*', '`'], ""),
                _ => {
                    let argument = parts.next().unwrap_or_default();
                    self.part(number, step, argument, &text)
                        .ok_or_else(|| format!("`@{{{name}}}`: there is no `{step}.{argument}`"))?
                }
            };
        }
        Ok(text)
    }

    fn part(&self, number: usize, step: &str, argument: &str, text: &str) -> Option<String> {
        let index = || argument.parse::<usize>().ok()?.checked_sub(1);
        match step {
            "cell" => cells(text).get(index()?).cloned(),
            "code" => code(text).get(index()?).cloned(),
            "quoted" => {
                let quoted = text.split('"').skip(1).step_by(2).nth(index()?);
                quoted.map(str::to_owned)
            }
            "indent" => {
                let space = " ".repeat(argument.parse().ok()?);
                let lines = text.lines().map(|line| format!("{space}{line}"));
                Some(lines.collect::<Vec<_>>().join("\n"))
            }
            "lines" => {
                let (first, last) = argument.split_once('-').unwrap_or((argument, argument));
                let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
                let cut = self.cuts[number - 1];
                let inside = cut.first <= first && first <= last && last <= cut.last;
                let lines = self.lines[number - 1].get(first - 1..last)?;
                inside.then(|| lines.join("\n"))
            }
            _ => None,
        }
    }
}

/// The argument of `name({...})` or `name(a: ..., b: ...)`, or a mapping on its own, with its keys in quotes.
fn call(text: &str) -> Result<String, String> {
    let inner = match text.split_once('(') {
        Some((name, rest)) if !name.contains('{') => rest.trim_end().trim_end_matches(')'),
        _ => text,
    };
    let inner = inner.trim();
    let mapping = if inner.starts_with('{') {
        inner.to_owned()
    } else {
        format!("{{{inner}}}")
    };
    let quoted = quote_keys(&mapping);
    let value: serde_json::Value =
        serde_json::from_str(&quoted).map_err(|problem| format!("{problem}: {quoted}"))?;
    Ok(value.to_string())
}

fn quote_keys(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut in_text = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_text {
            out.push(c);
            in_text = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            continue;
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let is_key = c == ':' && !word.is_empty();
        if is_key {
            out.push_str(&format!("\"{word}\""));
        } else {
            out.push_str(&word);
        }
        word.clear();
        in_text = c == '"';
        out.push(c);
    }
    out.push_str(&word);
    out
}

#[cfg(test)]
mod tests {
    use super::call;

    #[test]
    fn calls_become_json() {
        let json = r#"{"name":"a: b","n":{"x":1},"l":[{"id":"s"}]}"#;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        for text in [
            r#"store({ name: "a: b", n: { x: 1 }, l: [{ id: "s" }] })"#,
            r#"send(name: "a: b", n: {x: 1}, l: [{id: "s"}])"#,
            json,
        ] {
            let found: serde_json::Value = serde_json::from_str(&call(text).unwrap()).unwrap();
            assert_eq!(found, value, "{text}");
        }
    }
}
