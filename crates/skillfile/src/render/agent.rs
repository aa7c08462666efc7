//! Rendering of an `AGENT.md`.

use deft_model::{Agent, AgentMode, Budget, Object};
use serde_json::json;

use super::emit;
use super::keys::{put, put_given};

/// Renders an agent as an `AGENT.md`. The folder must be named like the agent's id.
pub fn agent(agent: &Agent) -> String {
    let mut head = Object::new();
    put(&mut head, "name", agent.name.clone());
    put(&mut head, "description", agent.description.clone());
    put(&mut head, "provider", agent.provider.clone());
    put(&mut head, "model", agent.model.clone());
    put(
        &mut head,
        "allow_skills",
        agent.allow_skills.then_some(true),
    );
    // An empty list allows nothing, which differs from no list.
    put_given(
        &mut head,
        "skills",
        agent.skills.as_ref().map(|list| json!(list)),
    );
    put_given(
        &mut head,
        "tools",
        agent.tools.as_ref().map(|list| json!(list)),
    );
    put(&mut head, "approve", agent.approve.clone());
    put(&mut head, "max_steps", agent.max_steps);
    put(
        &mut head,
        "budget",
        agent.budget.as_ref().map(Budget::value),
    );
    put(
        &mut head,
        "may_schedule",
        agent.may_schedule.then_some(true),
    );
    let mode = (agent.mode != AgentMode::Auto).then(|| agent.mode.to_string());
    put(&mut head, "mode", mode);
    let mut out = String::from("---\n");
    emit::mapping(&head, 0, &mut out);
    out.push_str("---\n\n");
    out.push_str(agent.prompt.read().trim());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use deft_model::{Agent, AgentMode, Text};
    use jiff::{Timestamp, tz::TimeZone};

    use super::agent;
    use crate::{Document, FileLocation, Moment, Profile, parse};

    #[test]
    fn an_agent_round_trips() {
        let mut given = Agent::new("code-reviewer");
        given.description = Some("Reviews: code, <example>\"x\"</example>".to_owned());
        given.allow_skills = true;
        given.tools = Some(vec!["file.read".to_owned(), "needed".to_owned()]);
        given.skills = Some(Vec::new());
        given.approve = vec![Agent::DESTRUCTIVE.to_owned()];
        given.max_steps = Some(3);
        given.mode = AgentMode::Tools;
        given.prompt = Text::from("You review.\n\n---\n\nCode.");
        let text = agent(&given);
        let location = FileLocation {
            file: "AGENT.md",
            folder: "code-reviewer",
            domain: None,
        };
        let moment = Moment {
            now: Timestamp::UNIX_EPOCH,
            zone: TimeZone::UTC,
        };
        let parsed = parse(text.as_bytes(), &location, Profile::Deft, &moment);
        assert!(
            parsed.diagnostics.is_empty(),
            "{:?}\n{text}",
            parsed.diagnostics
        );
        assert_eq!(parsed.document, Some(Document::Agent(Box::new(given))));
    }
}
