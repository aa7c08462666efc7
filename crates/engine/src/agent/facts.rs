//! What the calls and commands of a model come down to.
//!
//! A command is a run of its skill under the key of the call (`skill_run`): the same checks, the
//! same approvals and the same journal as anywhere else, and never twice.

use std::sync::Arc;

use deft_agent::{Dispatch, Facts, Offer, Resolved, Setup, Wanted};
use deft_command::{
    CommandResult, Line, Problem, Routed, cast_by_schema, from_json, reads_only, route, split,
};
use deft_model::{Body, CallArgs, Effects, Flag, Handler, Object, Skill, nearest};
use deft_registry::{Snapshot, discovery};
use deft_store::RunRow;
use deft_tools::Found;
use serde_json::{Value, json};

use super::offers;
use super::tools::{DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};
use crate::engine::Inner;

pub(crate) struct AgentFacts<'a> {
    engine: &'a Inner,
    snapshot: Arc<Snapshot>,
}

impl<'a> AgentFacts<'a> {
    pub(crate) fn new(engine: &'a Inner, _run: &RunRow) -> Self {
        Self {
            engine,
            snapshot: engine.parts.skills.snapshot(),
        }
    }

    fn tool(&self, tool: &str, args: Object, approve: bool) -> Resolved {
        let router = &self.engine.parts.router;
        match router.mended(tool, args) {
            Err(failure) if failure.blocked => Resolved::Blocked(failure),
            Err(failure) => Resolved::Mistaken(match &failure.hint {
                Some(hint) => format!("{failure}\nhint: {hint}"),
                None => failure.to_string(),
            }),
            Ok(args) => Resolved::Tool {
                effects: router.effects_of(tool, &args).unwrap_or(Effects::Once),
                tool: tool.to_owned(),
                args,
                approve,
                skill: None,
            },
        }
    }

    /// A line of a `cmd` block.
    fn line(&self, setup: &Setup, text: &str) -> Resolved {
        let mut lines = split(text).into_iter();
        match (lines.next(), lines.next()) {
            (Some(Ok(line)), None) => match line.words.first() {
                Some(first) if first.text == DISPATCH_AGENT => self.dispatch_line(setup, &line),
                Some(first) if let Some(offer) = offered(setup, &first.text) => {
                    self.tool_line(offer, &line)
                }
                _ => self.routed(setup, route(&line, |name| self.flags(name))),
            },
            (Some(Err(problem)), _) => refused(&[problem]),
            (None, _) => Resolved::Mistaken("the command is empty".to_owned()),
            (Some(Ok(_)), Some(_)) => {
                Resolved::Mistaken("one command at a time, each on its own line".to_owned())
            }
        }
    }

    /// A tool that is called by a command: its flags are its arguments.
    fn tool_line(&self, offer: &Offer, line: &Line) -> Resolved {
        match route(line, |_| Ok(Vec::new())) {
            Err(problems) => refused(&problems),
            Ok(Routed::Command(command)) if !command.help => {
                match cast_by_schema(command.flags, &offer.spec.schema) {
                    Ok(args) => self.tool(&offer.tool, args, offer.approve),
                    Err(problems) => refused(&problems),
                }
            }
            Ok(_) => Resolved::Text(format!(
                "{}\n\n{}\n\nflags, as a JSON Schema: {}",
                offer.spec.name, offer.spec.description, offer.spec.schema
            )),
        }
    }

    fn routed(&self, setup: &Setup, routed: Result<Routed, Vec<Problem>>) -> Resolved {
        match routed {
            Err(problems) => refused(&problems),
            Ok(Routed::GetSkill { topic }) => self.page(&topic),
            Ok(Routed::Command(command)) if command.help => self.page(&command.skill_name),
            Ok(Routed::Command(command)) => self.command(setup, &command.skill_name, command.flags),
        }
    }

    /// A text about skills, read when the call is made.
    fn page(&self, topic: &str) -> Resolved {
        Resolved::Tool {
            tool: GET_SKILL.to_owned(),
            args: Object::from_iter([("topic".to_owned(), json!(topic))]),
            effects: Effects::None,
            approve: false,
            skill: None,
        }
    }

    fn command(&self, setup: &Setup, name: &str, flags: Object) -> Resolved {
        let Some(loaded) = self.snapshot.find(name) else {
            return refused(&[self.unknown(name)]);
        };
        let skill = &loaded.skill;
        if let Body::Manual {
            handler: None,
            text,
        } = &skill.body
        {
            return Resolved::Text(CommandResult::template(text.read()).to_string());
        }
        if may_delegate(setup) && !self.is_read_only(skill) {
            return Resolved::Refused(format!(
                "`{name}` changes something: send an agent out for it with `{DISPATCH_AGENT}`, skills [\"{name}\"]"
            ));
        }
        Resolved::Tool {
            tool: SKILL_RUN.to_owned(),
            args: Object::from_iter([
                ("skill".to_owned(), json!(skill.id.as_str())),
                ("inputs".to_owned(), Value::Object(flags)),
            ]),
            // The key of the call is the key of the run, which never runs twice.
            effects: Effects::Idempotent,
            approve: self.needs_approval(skill),
            skill: Some(skill.id.to_string()),
        }
    }

    /// Whether a skill only reads: as it says, as its tool says, else by its name (S2.58).
    fn is_read_only(&self, skill: &Skill) -> bool {
        let said = skill.policy.effects.or_else(|| {
            let tool = handler_tool(skill)?;
            self.engine.parts.router.effects(&tool)
        });
        said.map_or_else(
            || reads_only(skill.id.as_str()),
            |effects| effects == Effects::None,
        )
    }

    fn needs_approval(&self, skill: &Skill) -> bool {
        let approve = &self.engine.options.agent.approve;
        let named = approve
            .iter()
            .any(|pattern| offers::is_like(pattern, skill.id.as_str()));
        let by_tool = || {
            let tool = handler_tool(skill)?;
            match self.engine.parts.router.find(&tool) {
                Found::Tool(info) => Some(offers::needs_approval(&info, approve)),
                _ => None,
            }
        };
        named || by_tool().unwrap_or(false)
    }

    fn flags(&self, name: &str) -> Result<Vec<Flag>, Problem> {
        let loaded = self.snapshot.find(name).ok_or_else(|| self.unknown(name))?;
        Ok(match &loaded.skill.body {
            Body::Manual { text, .. } => deft_skillfile::flags(&text.read()),
            _ => Vec::new(),
        })
    }

    fn unknown(&self, name: &str) -> Problem {
        let names = self
            .snapshot
            .skills()
            .map(|loaded| loaded.skill.id.as_str());
        Problem::unknown_skill(name, nearest(name, names).map(str::to_owned))
    }

    fn dispatch_line(&self, setup: &Setup, line: &Line) -> Resolved {
        if !may_delegate(setup) {
            return Resolved::Refused("no agents can be sent out from here".to_owned());
        }
        match route(line, |_| Ok(Vec::new())) {
            Ok(Routed::Command(command)) if command.help => Resolved::Text(
                "dispatch_agent --agent-id NAME --mission TEXT --skills SKILL… [--context TEXT]"
                    .to_owned(),
            ),
            Ok(Routed::Command(command)) => {
                let mut flags = command.flags;
                if let Some(id) = flags.remove("agent-id") {
                    flags.insert("agent_id".to_owned(), id);
                }
                dispatch(flags)
            }
            Ok(Routed::GetSkill { topic }) => self.page(&topic),
            Err(problems) => refused(&problems),
        }
    }
}

impl Facts for AgentFacts<'_> {
    fn resolve(&self, setup: &Setup, wanted: Wanted<'_>) -> Resolved {
        let (offer, call) = match wanted {
            Wanted::Command(line) => return self.line(setup, line),
            Wanted::Tool(offer, call) => (offer, call),
        };
        let CallArgs::Object(args) = call.args.clone() else {
            return Resolved::Mistaken("the arguments are no JSON object".to_owned());
        };
        match offer.tool.as_str() {
            DISPATCH_AGENT => dispatch(args),
            USE_SKILL => {
                let call = Value::Object(args);
                let named = call.get("skill").and_then(Value::as_str);
                if let (Some(scope), Some(name)) = (&setup.skills, named)
                    && !scope.iter().any(|allowed| allowed == name)
                {
                    let list = scope.join(", ");
                    return Resolved::Refused(format!(
                        "`{name}` is not one of the skills here: {list}"
                    ));
                }
                self.routed(setup, from_json(&call, |name| self.flags(name)))
            }
            SKILL if !is_listed(offer, &args) => {
                let name = args.get("skill_name").and_then(Value::as_str);
                Resolved::Text(discovery::load_skill(
                    &Snapshot::default(),
                    name.unwrap_or_default(),
                ))
            }
            tool => self.tool(tool, args, offer.approve),
        }
    }
}

/// What a model is shown of the `skill` tool is what it may pass.
fn is_listed(offer: &Offer, args: &Object) -> bool {
    let listed = offer.spec.schema["properties"]["skill_name"]["enum"].as_array();
    let name = args.get("skill_name");
    listed.is_none_or(|listed| name.is_some_and(|name| listed.contains(name)))
}

/// A tool of the agent by the name that its model uses.
fn offered<'s>(setup: &'s Setup, name: &str) -> Option<&'s Offer> {
    let mut offers = setup.tools.iter();
    offers.find(|offer| offer.spec.name == name || offer.tool == name)
}

/// Whether an agent may send others out.
fn may_delegate(setup: &Setup) -> bool {
    setup.tools.iter().any(|offer| offer.tool == DISPATCH_AGENT)
}

/// The tool that carries a command out, if one does.
fn handler_tool(skill: &Skill) -> Option<String> {
    let Body::Manual {
        handler: Some(handler),
        ..
    } = &skill.body
    else {
        return None;
    };
    match Handler::from_text(handler) {
        Handler::Tool(tool) | Handler::BuiltIn(tool) => Some(tool),
        Handler::Skill(_) => None,
    }
}

fn dispatch(mut args: Object) -> Resolved {
    // A list of one is often written as a text.
    if let Some(Value::String(one)) = args.get("skills") {
        let several: Vec<Value> = one
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .map(|name| json!(name))
            .collect();
        args.insert("skills".to_owned(), Value::Array(several));
    }
    match serde_json::from_value::<Dispatch>(Value::Object(args)) {
        Ok(dispatch) if !dispatch.mission.trim().is_empty() => Resolved::Dispatch(dispatch),
        Ok(_) => Resolved::Mistaken("the agent needs a `mission`".to_owned()),
        Err(error) => Resolved::Mistaken(format!(
            "`{DISPATCH_AGENT}` takes agent_id, mission, skills and context: {error}"
        )),
    }
}

fn refused(problems: &[Problem]) -> Resolved {
    Resolved::Mistaken(CommandResult::refused(problems).content)
}
