//! The events and messages of an agent, as text.

use deft_agent::{Address, Event, EventKind, Request};
use deft_model::{Failure, Message, Object};

use crate::drive::Driver;

pub(crate) fn run(driver: &Driver) -> String {
    let mut out = String::new();
    for event in &driver.log {
        out += &format!("{}\n", line(event));
    }
    let mut agents = vec![Address::root()];
    let began =
        |event: &&Event| matches!(event.what, EventKind::Began(_)) && !event.agent.is_root();
    let below = driver.log.iter().filter(began);
    agents.extend(below.map(|event| event.agent.clone()));
    for agent in agents {
        out += &format!("\n--- messages {agent}\n");
        for message in driver.machine.messages(&agent) {
            out += &show_message(&message);
        }
    }
    out += "\n--- requests\n";
    for request in &driver.performed {
        if let Request::CallModel {
            agent,
            turn,
            request,
            ..
        } = request
        {
            let tools: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
            let messages = request.messages.len();
            let choice = format!("{:?}", request.choice).to_lowercase();
            out += &format!("{agent:>3} {turn}: {messages} messages, tools {tools:?}, {choice}\n");
        }
    }
    let called = driver.machine.called_tools();
    out += &format!("called {called:?}\n");
    out
}

fn line(event: &Event) -> String {
    let what = match &event.what {
        EventKind::Began(setup) => format!("began {}", setup.agent),
        EventKind::Unable { failure } => format!("unable: {}", failed(failure)),
        EventKind::Asked { turn } => format!("{turn} asked"),
        EventKind::Replied {
            turn,
            reply,
            commands,
            ..
        } => {
            let commands: Vec<&str> = commands.iter().map(|written| &*written.line).collect();
            let calls: Vec<&str> = reply.calls.iter().map(|call| &*call.name).collect();
            format!("{turn} replied {:?} {calls:?} {commands:?}", reply.text)
        }
        EventKind::Silent { turn, failure } => format!("{turn} silent: {}", failed(failure)),
        EventKind::Told {
            turn,
            call,
            name,
            how,
            text,
        } => format!("{turn}.{call} told {how:?} `{name}`: {text:?}"),
        EventKind::Question {
            turn,
            call,
            message,
            ..
        } => format!("{turn}.{call} question: {message}"),
        EventKind::Answered {
            turn,
            call,
            yes,
            by,
            ..
        } => format!("{turn}.{call} answered {yes} by {by}"),
        EventKind::Called {
            turn,
            call,
            tool,
            args,
            effects,
            skill,
            covers: _,
        } => {
            let skill = skill.as_ref().map(|skill| format!(" of {skill}"));
            let skill = skill.unwrap_or_default();
            format!(
                "{turn}.{call} called {tool}{skill} {} {effects}",
                json(args)
            )
        }
        EventKind::Dispatched {
            turn,
            call,
            dispatch,
        } => format!(
            "{turn}.{call} dispatched {}: {}",
            dispatch.agent_id, dispatch.mission
        ),
        EventKind::Returned {
            turn,
            call,
            value,
            error,
            ms,
        } => match (value, error) {
            (_, Some(failure)) => format!("{turn}.{call} failed: {}, {ms} ms", failed(failure)),
            (value, None) => {
                let value = value.clone().unwrap_or_default();
                format!("{turn}.{call} returned {value}, {ms} ms")
            }
        },
        EventKind::Offered { turn, tools } => {
            let tools: Vec<&str> = tools.iter().map(|offer| &*offer.tool).collect();
            format!("{turn} offered {tools:?}")
        }
        EventKind::Reminded { turn, text } => format!("{turn} reminded {text:?}"),
        EventKind::Rejected { turn, failure, .. } => format!("{turn} rejected {failure}"),
        EventKind::Finished(finished) => match &finished.error {
            None => format!("finished {:?}", finished.text),
            Some(failure) => format!("finished {:?}: {}", finished.text, failed(failure)),
        },
        EventKind::Reopened => "reopened".to_owned(),
    };
    if event.agent.is_root() {
        return what;
    }
    format!("[{}] {what}", event.agent)
}

fn failed(failure: &Failure) -> String {
    let mut text = format!("{} {:?}", failure.class, failure.message);
    if let Some(hint) = &failure.hint {
        text += &format!(" hint {hint:?}");
    }
    for (flag, word) in [
        (failure.in_doubt, " in doubt"),
        (failure.blocked, " blocked"),
    ] {
        text += if flag { word } else { "" };
    }
    text
}

fn show_message(message: &Message) -> String {
    let (who, text) = match message {
        Message::User { text } => ("user".to_owned(), text.clone()),
        Message::Assistant { text, calls, .. } => {
            let calls: Vec<String> = calls
                .iter()
                .map(|it| format!("{} {}", it.id, it.name))
                .collect();
            (format!("assistant {calls:?}"), text.clone())
        }
        Message::Tool {
            id,
            name,
            text,
            failed,
        } => {
            let failed = if *failed { " failed" } else { "" };
            (format!("tool {id} {name}{failed}"), text.clone())
        }
    };
    format!("{who}\n{}\n", indented(&text))
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

fn json(args: &Object) -> String {
    serde_json::to_string(args).unwrap()
}
