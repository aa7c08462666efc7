//! What became of a case, as lines of text that a person can read: what was done, what is recorded of
//! each run, what each model was asked, what was called, what is stored, and what people are told.

use std::fmt::Write;

use deft_agent::{Event as AgentEvent, Interpretation, What};
use deft_engine::Notice;
use deft_model::{CallArgs, Failure, estimate_tokens};
use deft_store::{NoticeFilter, RunRow, SkillFilter, SkillOrigin};
use deft_workflow::{Event, Next};
use serde_json::Value;

use crate::agent_case::{Case, Scene};
use crate::time_world::{clock, standing};

/// Texts longer than this are only begun; their lengths are said.
const LONGEST: usize = 500;

pub(crate) async fn story(case: &Case, scene: &Scene) -> String {
    let mut out = format!("{}\n\nDONE\n", case.0["about"].as_str().unwrap());
    for line in &scene.done {
        let _ = writeln!(out, "{line}");
    }
    for run in scene.runs().await {
        let _ = writeln!(out, "\n{}", head(&run));
        let events = scene.world.store.events(Some(&run.id), 0, u32::MAX).await;
        for stored in events.unwrap() {
            let event: Event = serde_json::from_str(&stored.body).unwrap();
            if let Some(line) = event_line(&event) {
                let _ = writeln!(out, "  {}", indented(&line));
            }
        }
        out.push_str(&tail(&run));
    }
    for (name, server) in &scene.servers {
        asked(name, &server.requests(), case, &mut out);
    }
    called(scene, &mut out);
    stored(scene, &mut out).await;
    for (name, server) in &scene.servers {
        let host = server.url.trim_start_matches("http://");
        let host = host.split('/').next().unwrap_or(host);
        out = out.replace(host, &format!("HOST-OF-{name}"));
    }
    named(&out)
}

fn head(run: &RunRow) -> String {
    let slot = run.slot.map(|slot| format!(", slot {}", clock(slot)));
    format!(
        "RUN {} ({}, by {}{})",
        run.skill,
        run.tier,
        run.cause,
        slot.unwrap_or_default()
    )
}

fn tail(run: &RunRow) -> String {
    let mut out = match (run.outcome, &run.waiting_for) {
        (Some(outcome), _) => format!("  = {outcome}"),
        (None, Some(why)) => format!("  = {}: {why}", run.status),
        (None, None) => format!("  = {}", run.status),
    };
    if let Some(outputs) = run.outputs.as_deref().filter(|text| *text != "null") {
        let _ = write!(out, " {outputs}");
    }
    if let Some(error) = &run.error {
        let error: Value = serde_json::from_str(error).unwrap();
        let _ = write!(out, " {error}");
    }
    if let Some(usage) = &run.usage {
        let _ = write!(out, "\n  usage {usage}");
    }
    out.push('\n');
    out
}

fn indented(text: &str) -> String {
    text.replace('\n', "\n    ")
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
    }
}

/// An event in a line; some say nothing that others do not.
fn event_line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Agent { path, event } => format!("[{path}] {}", agent_line(event)?),
        Event::Ended(ended) if !matches!(ended.next, Next::Done | Next::Fail | Next::Judged) => {
            let why = ended.error.as_ref().map(said).unwrap_or_default();
            format!("[{}] ended, {:?}: {why}", ended.path, ended.next)
        }
        Event::Begun(begun) if begun.attempt > 1 => {
            format!("[{}] try {}", begun.path, begun.attempt)
        }
        Event::Stopped { failure } => format!("stopped: {}", said(failure)),
        Event::Resumed { by } => format!("resumed by {by}"),
        Event::Skipped { path, reason } => format!("[{path}] skipped: {reason}"),
        _ => return None,
    })
}

fn agent_line(event: &AgentEvent) -> Option<String> {
    let line = match &event.what {
        What::Began(setup) => {
            let tools: Vec<&str> = setup.tools.iter().map(|it| it.tool.as_str()).collect();
            let skills = match &setup.skills {
                Some(skills) if skills.is_empty() => String::new(),
                Some(skills) => format!(", skills {}", skills.join(" ")),
                None => ", all skills".to_owned(),
            };
            format!(
                "{} begins on {} ({:?}): {}{skills}",
                setup.agent,
                setup.model,
                setup.mode,
                tools.join(" ")
            )
        }
        What::Unable { failure } => format!("unable: {}", said(failure)),
        What::Asked { .. } | What::Finished(_) if event.agent.is_root() => match &event.what {
            What::Finished(finished) => format!(
                "finished{}",
                finished
                    .error
                    .as_ref()
                    .map(|failure| format!(": {}", said(failure)))
                    .unwrap_or_default()
            ),
            _ => return None,
        },
        What::Asked { .. } => return None,
        What::Replied {
            turn, reply, model, ..
        } => {
            let calls = reply.calls.iter().map(|call| match &call.args {
                CallArgs::Object(args) => {
                    format!("\n-> {} {}", call.name, Value::from(args.clone()))
                }
                CallArgs::Invalid(raw) => format!("\n-> {} (invalid) {raw}", call.name),
            });
            let calls: String = calls.collect();
            format!("{turn} {model}: {}{calls}", clipped(&reply.text))
        }
        What::Silent { turn, failure } => format!("{turn} no answer: {}", said(failure)),
        What::Told {
            turn,
            call,
            how,
            text,
            ..
        } => {
            let how = match how {
                Interpretation::Text => "text",
                Interpretation::Refused => "REFUSED",
                Interpretation::Mistaken => "mistaken",
                Interpretation::Declined => "declined",
            };
            format!("{turn}.{call} {how}: {}", clipped(text))
        }
        What::Question {
            turn,
            call,
            message,
            ..
        } => format!("{turn}.{call} asks: {message}"),
        What::Answered {
            turn,
            call,
            yes,
            by,
        } => format!("{turn}.{call} {} by {by}", if *yes { "yes" } else { "no" }),
        What::Called {
            turn,
            call,
            tool,
            args,
            effects,
            skill,
        } => {
            let args = Value::Object(args.clone());
            let skill = skill.as_ref().map(|skill| format!(" for {skill}"));
            format!(
                "{turn}.{call} calls {tool} {args} ({effects}){}",
                skill.unwrap_or_default()
            )
        }
        What::Dispatched {
            turn,
            call,
            dispatch,
        } => format!(
            "{turn}.{call} sends out {}: {} [{}] {}",
            dispatch.agent_id,
            dispatch.mission,
            dispatch.skills.join(" "),
            dispatch.context
        ),
        What::Returned {
            turn,
            call,
            value,
            error,
            ..
        } => match error {
            Some(failure) => format!("{turn}.{call} failed: {}", said(failure)),
            None => {
                let value = value.as_ref().map(Value::to_string);
                format!("{turn}.{call} gave {}", clipped(&value.unwrap_or_default()))
            }
        },
        What::Reminded { turn, text } => format!("{turn} reminded: {text}"),
        What::Finished(finished) => match &finished.error {
            Some(failure) => format!("finished: {}", said(failure)),
            None => format!("finished {:?}", clipped(&finished.text)),
        },
        What::Reopened => "reopened".to_owned(),
    };
    Some(match event.agent.is_root() {
        true => line,
        false => format!("({}) {line}", event.agent),
    })
}

fn said(failure: &Failure) -> String {
    let mut text = format!("{}: {}", failure.class, failure.message);
    for (is, word) in [(failure.in_doubt, "in doubt"), (failure.blocked, "blocked")] {
        if is {
            let _ = write!(text, " ({word})");
        }
    }
    match &failure.hint {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}

/// What a model was asked: of messages that it was told before only the number is said.
fn asked(name: &str, requests: &[Value], case: &Case, out: &mut String) {
    let mut before: Vec<Value> = Vec::new();
    for (nth, request) in requests.iter().enumerate() {
        let all = request["messages"].as_array().unwrap();
        let (system, messages): (Vec<Value>, Vec<Value>) =
            all.iter().cloned().partition(|it| it["role"] == "system");
        let tools = request["tools"].as_array().map(|tools| {
            let names = tools
                .iter()
                .map(|tool| tool["function"]["name"].as_str().unwrap());
            names.collect::<Vec<_>>().join(" ")
        });
        let choice = &request["tool_choice"];
        let _ = write!(out, "\nASKED {name} {}", nth + 1);
        if !choice.is_null() {
            let _ = write!(out, " (tools {choice})");
        }
        out.push('\n');
        match tools {
            Some(tools) if !case.is_shown("tools") => {
                let _ = writeln!(out, "  {} tools", tools.split(' ').count());
            }
            Some(tools) => {
                let _ = writeln!(out, "  tools: {tools}");
            }
            None => {}
        }
        if case.is_shown("system") && nth == 0 {
            for message in &system {
                let text = message["content"].as_str().unwrap_or_default();
                let _ = writeln!(out, "  system: {}", indented(text));
            }
        }
        let known = messages
            .iter()
            .zip(&before)
            .take_while(|(one, two)| one == two);
        let known = known.count();
        if known > 0 {
            let _ = writeln!(out, "  ({known} as before)");
        }
        for message in &messages[known..] {
            let _ = writeln!(out, "  {}", indented(&message_line(message)));
        }
        before = messages;
    }
}

fn message_line(message: &Value) -> String {
    let mut line = message["role"].as_str().unwrap().to_owned();
    if let Some(id) = message["tool_call_id"].as_str() {
        let _ = write!(line, " {id}");
    }
    line.push(':');
    if let Some(text) = message["content"].as_str() {
        let _ = write!(line, " {}", clipped(text));
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let (id, call) = (&call["id"], &call["function"]);
        let _ = write!(
            line,
            "\n-> {} {} {}",
            id.as_str().unwrap(),
            call["name"].as_str().unwrap(),
            call["arguments"].as_str().unwrap()
        );
    }
    line
}

fn called(scene: &Scene, out: &mut String) {
    out.push_str("\nCALLED\n");
    for (tool, args) in scene.world.calls.lock().unwrap().iter() {
        let _ = writeln!(out, "  {tool} {}", Value::Object(args.clone()));
    }
}

/// Records, skills that have a standing, and notices.
async fn stored(scene: &Scene, out: &mut String) {
    let rows = scene.world.engine.list_skills(SkillFilter::default()).await;
    for row in rows.unwrap() {
        let _ = write!(
            out,
            "\nSKILL {} ({}, {}): {}\n",
            row.text.skill,
            row.text.tier,
            row.text.trigger,
            standing(&row)
        );
        if row.text.origin == SkillOrigin::Record {
            let content = scene.world.engine.content(&row).await.unwrap();
            let _ = writeln!(out, "  {}", Value::Object(content));
        }
    }
    let notices = scene.world.store.notices(NoticeFilter::default()).await;
    for row in notices.unwrap().iter().rev() {
        let notice: Notice = serde_json::from_str(&row.body).unwrap();
        let _ = writeln!(
            out,
            "\nNOTICE {}: {}",
            notice.kind.word(),
            indented(&notice.text)
        );
    }
}

impl Case {
    /// Whether the case wants this shown: `system`, `tools`.
    pub(crate) fn is_shown(&self, what: &str) -> bool {
        let shown = self.0["show"].as_array();
        shown.is_some_and(|shown| shown.iter().any(|word| word == what))
    }
}

/// Ids by names that are always the same: the first conversation is `conv_1`.
pub(crate) fn named(text: &str) -> String {
    let mut out = text.to_owned();
    // Revisions change with the reader of skills.
    let revision = |text: &str| text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit());
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    for word in words.filter(|word| revision(word)) {
        out = out.replace(word, "REVISION");
    }
    for prefix in ["conv_", "run_", "apr_", "grant_"] {
        let mut nth = 0;
        let mut from = 0;
        while let Some(found) = out[from..].find(prefix) {
            let at = from + found;
            let end = out[at + prefix.len()..]
                .find(|c: char| !c.is_ascii_hexdigit())
                .map_or(out.len(), |end| at + prefix.len() + end);
            from = at + prefix.len();
            // Names of tools may begin alike; ids are long.
            if end - from >= 12 {
                nth += 1;
                let id = out[at..end].to_owned();
                out = out.replace(&id, &format!("{prefix}{nth}"));
            }
        }
    }
    out
}

/// How much the questions of a case are, in tokens as deft estimates them.
pub(crate) fn prompt_tokens(requests: &[Value]) -> u64 {
    requests
        .iter()
        .map(|request| estimate_tokens(&request.to_string()))
        .sum()
}
