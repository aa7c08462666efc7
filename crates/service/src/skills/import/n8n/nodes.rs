//! Converts nodes that perform actions into steps of deft.

use deft_model::{Object, OnError, Step, StepKind, Wait};
use serde_json::{Value, json};

use super::code;
use super::document::Node;
use super::expression::{
    Data, Part, Scope, literal, parts, python, quote_python, template, templates, whole,
};

/// A step, and the place of the node's data in its result.
pub(super) struct NodeStep {
    pub step: Step,
    pub data: Data,
    pub notes: Vec<String>,
}

pub(super) fn step(node: &Node<'_>, id: &str, scope: &dyn Scope) -> Result<NodeStep, String> {
    let (kind, data, notes) = match node.kind {
        "httpRequest" => {
            let about_lists =
                "if the answer is a list, n8n runs the next nodes for each item and deft once";
            let data = result(id, Some("body"), false);
            (
                http(node, scope)?,
                data,
                vec![format!("`{}`: {about_lists}", node.name)],
            )
        }
        "set" => (set(node, scope)?, result(id, None, false), Vec::new()),
        "code" => (
            code::compute(node, scope)?,
            result(id, None, false),
            Vec::new(),
        ),
        "executeCommand" => {
            let command = template(&parts(node.parameter(&["command"]), scope)?);
            let kind = tool("shell.run", json!({ "command": command }));
            (kind, result(id, None, true), Vec::new())
        }
        // The node returns its input.
        "wait" => (wait(node, scope)?, scope.input().clone(), Vec::new()),
        _ => return Err("deft has no step that does the same".to_owned()),
    };
    if node.has_credentials() {
        return Err("it uses credentials, which the file does not contain".to_owned());
    }
    Ok(NodeStep {
        step: Step {
            on_error: on_error(node)?,
            ..Step::new(id, kind)
        },
        data,
        notes,
    })
}

fn result(id: &str, below: Option<&'static str>, is_shell: bool) -> Data {
    Data::Step {
        id: id.to_owned(),
        below,
        is_shell,
    }
}

fn tool(name: &str, args: Value) -> StepKind {
    StepKind::Tool {
        tool: name.to_owned(),
        args,
    }
}

fn on_error(node: &Node<'_>) -> Result<OnError, String> {
    match node.setting("onError").as_str() {
        Some("continueErrorOutput") => {
            return Err("its errors go to an output of their own".to_owned());
        }
        Some("continueRegularOutput") => return Ok(OnError::Continue),
        Some(_) | None => {}
    }
    if node.setting("continueOnFail") == true {
        return Ok(OnError::Continue);
    }
    if node.setting("retryOnFail") == true {
        // n8n includes the first attempt.
        let tries = node.setting("maxTries").as_u64().unwrap_or(3);
        let again = u32::try_from(tries.saturating_sub(1)).unwrap_or(u32::MAX);
        return Ok(OnError::Retry(again.max(1)));
    }
    Ok(OnError::Fail)
}

fn http(node: &Node<'_>, scope: &dyn Scope) -> Result<StepKind, String> {
    if node
        .text(&["authentication"])
        .is_some_and(|way| way != "none")
    {
        return Err("it uses credentials, which the file does not contain".to_owned());
    }
    let mut args = Object::new();
    let method = node
        .text(&["method"])
        .or_else(|| node.text(&["requestMethod"]));
    let method = method.unwrap_or("GET");
    if method != "GET" {
        args.insert("method".to_owned(), json!(method));
    }
    args.insert("url".to_owned(), json!(url(node, scope)?));
    let mut headers = pairs(node.list(&["headerParameters", "parameters"]), scope)?;
    if node.parameter(&["sendBody"]) == true {
        body(node, scope, &mut args, &mut headers)?;
    }
    if !headers.is_empty() {
        args.insert("headers".to_owned(), Value::Object(headers));
    }
    for option in node
        .parameter(&["options"])
        .as_object()
        .into_iter()
        .flatten()
    {
        match option.0.as_str() {
            "redirect" | "response" | "timeout" => {}
            name => {
                return Err(format!(
                    "its option `{name}` has no counterpart in `http.request`"
                ));
            }
        }
    }
    Ok(tool("http.request", Value::Object(args)))
}

/// Returns the URL with its query, because `http.request` has no parameter for the query.
fn url(node: &Node<'_>, scope: &dyn Scope) -> Result<String, String> {
    let mut url = template(&parts(node.parameter(&["url"]), scope)?);
    for parameter in node.list(&["queryParameters", "parameters"]) {
        let name = parameter["name"].as_str().unwrap_or_default();
        let value = parts(&parameter["value"], scope)?;
        let value: String = value
            .iter()
            .map(|part| match part {
                Part::Text(text) => percent(text),
                Part::Path(_) => part.template(" | urlencode"),
            })
            .collect();
        let mark = if url.contains('?') { '&' } else { '?' };
        url.push_str(&format!("{mark}{}={value}", percent(name)));
    }
    Ok(url)
}

fn percent(text: &str) -> String {
    let shown = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(shown).collect()
}

fn pairs(list: &[Value], scope: &dyn Scope) -> Result<Object, String> {
    let pair = |one: &Value| {
        let name = one["name"].as_str().unwrap_or_default();
        Ok((name.to_owned(), templates(&one["value"], scope)?))
    };
    list.iter().map(pair).collect()
}

fn body(
    node: &Node<'_>,
    scope: &dyn Scope,
    args: &mut Object,
    headers: &mut Object,
) -> Result<(), String> {
    let kind = node.text(&["contentType"]).unwrap_or("json");
    let specified = node.text(&["specifyBody"]).unwrap_or("keypair");
    match (kind, specified) {
        ("json", "keypair") => {
            let fields = pairs(node.list(&["bodyParameters", "parameters"]), scope)?;
            args.insert("json".to_owned(), Value::Object(fields));
        }
        ("json", "json") => {
            let text = node.parameter(&["jsonBody"]);
            let fixed = text.as_str().filter(|text| !text.starts_with('='));
            match fixed.map(serde_json::from_str::<Value>) {
                Some(Ok(value)) => drop(args.insert("json".to_owned(), templates(&value, scope)?)),
                Some(Err(_)) | None => {
                    args.insert("body".to_owned(), json!(template(&parts(text, scope)?)));
                    headers.insert("Content-Type".to_owned(), json!("application/json"));
                }
            }
        }
        ("raw", _) => {
            args.insert(
                "body".to_owned(),
                json!(template(&parts(node.parameter(&["body"]), scope)?)),
            );
            if let Some(kind) = node.text(&["rawContentType"]) {
                headers.insert("Content-Type".to_owned(), json!(kind));
            }
        }
        (kind, _) => return Err(format!("deft cannot send a body of the kind `{kind}`")),
    }
    Ok(())
}

/// Converts a `set` node, which the editor of n8n calls "Edit Fields".
fn set(node: &Node<'_>, scope: &dyn Scope) -> Result<StepKind, String> {
    let fields = if node.text(&["mode"]) == Some("raw") {
        let text = node.text(&["jsonOutput"]).unwrap_or("{}");
        let value: Value = serde_json::from_str(text)
            .map_err(|_| "its JSON has expressions, or is not JSON".to_owned())?;
        literal(&value)
    } else {
        let fields = fields(node, scope)?;
        format!("{{{}}}", fields.join(", "))
    };
    let keeps_others = if node.version >= 3.0 {
        node.parameter(&["includeOtherFields"]) == true
    } else {
        node.parameter(&["keepOnlySet"]) != true
    };
    let code = match (keeps_others, scope.input()) {
        (false, _) | (true, Data::None) => format!("result = {fields}"),
        (true, data) => format!("result = {{**{}, **{fields}}}", whole(data)?),
    };
    Ok(StepKind::Compute { code })
}

/// Returns `"name": value` for each field, for all versions of the node.
fn fields(node: &Node<'_>, scope: &dyn Scope) -> Result<Vec<String>, String> {
    let current = node.list(&["assignments", "assignments"]).iter();
    let current = current.map(|field| (&field["name"], &field["value"]));
    let older = ["string", "number", "boolean"].into_iter();
    let older = older.flat_map(|kind| node.list(&["values", kind]));
    let older = older.map(|field| (&field["name"], &field["value"]));
    let field = |(name, value): (&Value, &Value)| {
        let name = name.as_str().unwrap_or_default();
        if name.contains(['.', '[']) {
            return Err(format!("its field `{name}` is inside another one"));
        }
        Ok(format!(
            "{}: {}",
            quote_python(name),
            python(value, scope, true)?
        ))
    };
    let fields: Vec<String> = current
        .chain(older)
        .map(field)
        .collect::<Result<_, String>>()?;
    if fields.is_empty() && !node.list(&["fields", "values"]).is_empty() {
        return Err("it is of a version that deft cannot read; open and save it in n8n".to_owned());
    }
    Ok(fields)
}

fn wait(node: &Node<'_>, scope: &dyn Scope) -> Result<StepKind, String> {
    // Version 1.1 changed the defaults.
    let (amount, unit) = if node.version >= 1.1 {
        (5, "seconds")
    } else {
        (1, "hours")
    };
    match node.text(&["resume"]).unwrap_or("timeInterval") {
        "timeInterval" => {
            let letter = match node.text(&["unit"]).unwrap_or(unit) {
                "seconds" => "s",
                "minutes" => "m",
                "hours" => "h",
                "days" => "d",
                other => return Err(format!("its unit `{other}` is not known")),
            };
            let given = node.parameter(&["amount"]);
            let amount = if given.is_null() {
                amount.to_string()
            } else {
                template(&parts(given, scope)?)
            };
            Ok(StepKind::Wait(Wait::For(format!("{amount}{letter}"))))
        }
        "specificTime" => {
            let until = template(&parts(node.parameter(&["dateTime"]), scope)?);
            Ok(StepKind::Wait(Wait::Until(until)))
        }
        resume => Err(format!("it waits for a `{resume}`")),
    }
}
