//! The result of a case as readable lines: the steps, the recorded events of each run, the requests to each
//! model, the calls, the stored rows, and the notices.

use std::collections::BTreeSet;
use std::fmt::Write;

use deft_engine::{AgentPause, Notice};
use deft_store::{
    ConversationFilter, FactFilter, NoticeFilter, RunRow, SkillFilter, SkillOrigin, SpentFilter,
};
use deft_workflow::Event;
use serde_json::Value;

use crate::agent_case::{Case, Scene};
use crate::agent_lines::{ends, event_line, place_of};
use crate::time_world::{clock, standing};

/// Longer texts are cut, and their length is shown.
const MAX_TEXT_CHARS: usize = 500;

pub(crate) async fn story(case: &Case, scene: &Scene) -> String {
    let mut out = format!("{}\n\nDONE\n", case.0["about"].as_str().unwrap());
    for line in &scene.done {
        let _ = writeln!(out, "{line}");
    }
    for run in scene.runs().await {
        let _ = writeln!(out, "\n{}", head(&run));
        let events = scene.world.store.events(Some(&run.id), 0, u32::MAX).await;
        let events = events.unwrap().into_iter();
        let mut events: Vec<Event> = events
            .map(|stored| serde_json::from_str(&stored.body).unwrap())
            .collect();
        // Parallel calls end in any order, and parallel agents write in any order.
        if case.0["by_agent"] == true {
            events.sort_by_key(|event| place_of(event, false));
        } else {
            for together in events.chunk_by_mut(|one, two| ends(one) && ends(two)) {
                together.sort_by_key(|event| place_of(event, true));
            }
        }
        for line in events.iter().filter_map(event_line) {
            let _ = writeln!(out, "  {}", indented(&line));
        }
        out.push_str(&tail(&run));
    }
    for (name, server) in &scene.servers {
        asked(name, &server.requests(), case, &mut out);
    }
    called(scene, &mut out);
    stored(scene, &mut out).await;
    if case.is_shown("conversations") {
        conversations(scene, &mut out).await;
    }
    if case.is_shown("facts") {
        facts(scene, &mut out).await;
    }
    if case.is_shown("spent") {
        list_spent(scene, &mut out).await;
    }
    out = deft_workflow::mask(&out).unwrap_or(out);
    out = out.replace(scene.world.home.path().to_str().unwrap(), "HOME");
    for (name, server) in &scene.servers {
        let host = server.url.trim_start_matches("http://");
        let host = host.split('/').next().unwrap_or(host);
        out = out.replace(host, &format!("HOST-OF-{name}"));
    }
    named(&without_estimates(&out))
}

/// Removes cost estimates, which depend on every word of the prompt.
fn without_estimates(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = ["may take ", "may cost $"]
        .iter()
        .filter_map(|words| Some(rest.find(words)? + words.len()))
        .min()
    {
        out.push_str(&rest[..at]);
        out.push('N');
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    }
    out + rest
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
    let mut out = match (run.outcome, run.waits_for()) {
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

pub(crate) fn clipped(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
    }
}

/// Writes the requests to a model; messages of earlier requests are only counted.
fn asked(name: &str, requests: &[Value], case: &Case, out: &mut String) {
    let mut before: Vec<Value> = Vec::new();
    let mut told: Vec<Value> = Vec::new();
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
        if case.is_shown("schema") && nth == 0 {
            for tool in request["tools"].as_array().into_iter().flatten() {
                let _ = writeln!(out, "  {}", tool["function"]);
            }
        }
        if case.is_shown("system") && nth == 0 || case.is_shown("systems") && told != system {
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
        told = system;
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

/// Writes records, skills with a stored state, and notices.
async fn stored(scene: &Scene, out: &mut String) {
    let rows = scene
        .world
        .engine
        .library()
        .list_skills(SkillFilter::default())
        .await;
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
            let content = scene.world.engine.library().content(&row).await.unwrap();
            let _ = writeln!(out, "  {}", Value::Object(content));
        }
    }
    let agents = SpentFilter {
        prefix: Some("agent:".to_owned()),
        ..SpentFilter::default()
    };
    let agents = scene.world.store.list_spent(agents).await.unwrap();
    let agents = agents
        .iter()
        .map(|row| row.scope.trim_start_matches("agent:"));
    let agents: BTreeSet<&str> = agents
        .filter_map(|scope| Some(scope.split_once('@')?.0))
        .collect();
    for agent in agents {
        let pause = scene
            .world
            .engine
            .agents()
            .agent_paused(agent)
            .await
            .unwrap();
        if let Some(AgentPause {
            why, lifts_itself, ..
        }) = pause
        {
            let until = if lifts_itself {
                "the limit allows"
            } else {
                "resumed"
            };
            let _ = writeln!(out, "\nPAUSED {agent} until {until}: {why}");
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

/// Writes the messages of each conversation.
async fn conversations(scene: &Scene, out: &mut String) {
    let store = &scene.world.store;
    let rows = store.conversations(ConversationFilter::default()).await;
    for row in rows.unwrap().iter().rev() {
        let (agent, channel, title) = (&row.agent, &row.channel, &row.title);
        let _ = writeln!(out, "\nCONVERSATION of {agent} in {channel}: {title}");
        let messages = store.messages(&row.id, 0, u32::MAX).await;
        for message in messages.unwrap() {
            let _ = writeln!(out, "  {} {}", message.seq, clipped(&message.body));
        }
    }
}

/// Writes the stored facts, oldest first.
async fn facts(scene: &Scene, out: &mut String) {
    let rows = scene.world.store.facts(FactFilter::default()).await;
    for row in rows.unwrap().iter().rev() {
        let (fact, id) = (&row.fact, row.id);
        let _ = writeln!(
            out,
            "\nFACT {id} of {} ({}): {}",
            fact.agent_id, fact.category, fact.text
        );
    }
}

/// Writes the spent amounts by scope.
async fn list_spent(scene: &Scene, out: &mut String) {
    let rows = scene.world.store.list_spent(SpentFilter::default()).await;
    for row in rows.unwrap() {
        let _ = writeln!(
            out,
            "\nSPENT {}: {} + {} tokens, {} micros, {} calls",
            row.scope, row.tokens_in, row.tokens_out, row.micros, row.calls
        );
    }
}

impl Case {
    /// Whether the case asks to show `what`: `system` (of the first request), `systems`, `tools`, `schema`,
    /// `spent`, `conversations`, `facts`.
    pub(crate) fn is_shown(&self, what: &str) -> bool {
        let shown = self.0["show"].as_array();
        shown.is_some_and(|shown| shown.iter().any(|word| word == what))
    }
}

/// Replaces ids by stable names: the first conversation is `conv_1`.
pub(crate) fn named(text: &str) -> String {
    let mut out = text.to_owned();
    // Revisions change with the parser of skills.
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
            // Names of tools may start with the same prefix; ids are long.
            if end - from >= 12 {
                nth += 1;
                let id = out[at..end].to_owned();
                out = out.replace(&id, &format!("{prefix}{nth}"));
            }
        }
    }
    out
}
