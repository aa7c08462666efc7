//! What the calls and commands of a model come down to.
//!
//! A command is a run of its skill under the key of the call (`skill_run`): the same checks, the
//! same approvals and the same journal as anywhere else, and never twice.

use std::sync::Arc;

use deft_agent::{Consent, Dispatch, Facts, Offer, Resolved, Setup, Shelved, Wanted};
use deft_command::{
    CommandResult, Line, Problem, Routed, cast_by_schema, from_json, reads_only, route, split,
};
use deft_model::{Body, CallArgs, Effects, Flag, Handler, Object, Skill, ToolSpec, nearest};
use deft_registry::{Snapshot, discovery};
use serde_json::{Value, json};

use super::offers;
use super::tools::{DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};
use crate::authority::{Verdict, absent};
use crate::engine::Inner;

pub(crate) struct AgentFacts<'a> {
    engine: &'a Inner,
    snapshot: Arc<Snapshot>,
    calls_elsewhere: usize,
}

impl<'a> AgentFacts<'a> {
    pub(crate) fn new(engine: &'a Inner, calls_elsewhere: usize) -> Self {
        Self {
            engine,
            snapshot: engine.parts.skills.snapshot(),
            calls_elsewhere,
        }
    }

    /// A call of a tool, if the rights of the agent allow it. `asked` if its offer wants a person's yes.
    fn tool(&self, setup: &Setup, tool: &str, args: Object, asked: bool) -> Resolved {
        let router = &self.engine.parts.router;
        match router.mended(tool, args) {
            Err(failure) if failure.blocked => Resolved::Blocked(failure),
            // Commands of deft are for people; a model has the schema.
            Err(failure) => Resolved::Mistaken(match &failure.hint {
                Some(hint) if !hint.starts_with("`deft ") => format!("{failure}\nhint: {hint}"),
                _ => failure.to_string(),
            }),
            Ok(args) => {
                let effects = router.effects_of(tool, &args).unwrap_or(Effects::Once);
                self.judged(setup, tool, args, effects, asked, None)
            }
        }
    }

    /// A call that makes sense, as the rights of the agent have it.
    fn judged(
        &self,
        setup: &Setup,
        tool: &str,
        args: Object,
        effects: Effects,
        asked: bool,
        skill: Option<String>,
    ) -> Resolved {
        let consent = match self.engine.judge(&setup.authority, tool, Some(&args)) {
            Verdict::Free => asked.then(Consent::default),
            Verdict::Ask(consent) => Some(consent),
            Verdict::Absent => return Resolved::Blocked(absent(tool)),
            Verdict::Denied(why) => return Resolved::Refused(why),
        };
        Resolved::Tool {
            tool: tool.to_owned(),
            args,
            effects,
            consent,
            skill,
        }
    }

    /// A line of a `cmd` block.
    fn line(&self, setup: &Setup, text: &str) -> Resolved {
        let mut lines = split(text).into_iter();
        match (lines.next(), lines.next()) {
            (Some(Ok(line)), None) => match line.words.first() {
                Some(first) if first.text == DISPATCH_AGENT => self.dispatch_line(setup, &line),
                Some(first) if let Some(offer) = offered(setup, &first.text) => {
                    self.tool_line(setup, offer, &line)
                }
                _ => self.routed(setup, route(&line, |name| self.flags(name)), false),
            },
            (Some(Err(problem)), _) => refused(&[problem]),
            (None, _) => Resolved::Mistaken("the command is empty".to_owned()),
            (Some(Ok(_)), Some(_)) => {
                Resolved::Mistaken("one command at a time, each on its own line".to_owned())
            }
        }
    }

    /// A tool that is called by a command: its flags are its arguments.
    fn tool_line(&self, setup: &Setup, offer: &Offer, line: &Line) -> Resolved {
        match route(line, |_| Ok(Vec::new())) {
            Err(problems) => refused(&problems),
            Ok(Routed::Command(command)) if !command.help => {
                match cast_by_schema(command.flags, &offer.spec.schema) {
                    Ok(args) => self.offered(setup, offer, args),
                    Err(problems) => refused(&problems),
                }
            }
            Ok(_) => Resolved::Text(format!(
                "{}\n\n{}\n\nflags, as a JSON Schema: {}",
                offer.spec.name, offer.spec.description, offer.spec.schema
            )),
        }
    }

    /// A call of a tool that was offered, by JSON or by a line: both come down to the same.
    fn offered(&self, setup: &Setup, offer: &Offer, args: Object) -> Resolved {
        let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
        match offer.tool.as_str() {
            DISPATCH_AGENT => dispatch(args),
            USE_SKILL | SKILL_RUN if let Some(refusal) = out_of_scope(setup, text("skill")) => {
                refusal
            }
            USE_SKILL => {
                let call = Value::Object(args);
                let routed = from_json(&call, |name| self.flags(name));
                self.routed(setup, routed, offer.approve)
            }
            SKILL_RUN => self.skill_run(setup, offer, args),
            GET_SKILL => match (&setup.skills, text("topic")) {
                (Some(scope), "") => Resolved::Text(format!("skills: {}", scope.join(", "))),
                (_, topic) => out_of_scope(setup, topic)
                    .unwrap_or_else(|| self.tool(setup, GET_SKILL, args.clone(), offer.approve)),
            },
            SKILL if !is_listed(offer, &args) => Resolved::Text(discovery::load_skill(
                &Snapshot::default(),
                text("skill_name"),
            )),
            tool => self.tool(setup, tool, args, offer.approve),
        }
    }

    /// A skill that is run by its name: a command is one however it is called.
    fn skill_run(&self, setup: &Setup, offer: &Offer, args: Object) -> Resolved {
        let name = args.get("skill").and_then(Value::as_str);
        let found = name.and_then(|name| self.snapshot.find(name));
        let Some(skill) = found.map(|loaded| &loaded.skill) else {
            return self.tool(setup, SKILL_RUN, args, offer.approve);
        };
        if !matches!(
            skill.body,
            Body::Manual {
                handler: Some(_),
                ..
            }
        ) {
            return self.tool(setup, SKILL_RUN, args, offer.approve);
        }
        let inputs = args.get("inputs").and_then(Value::as_object).cloned();
        let inputs = inputs.unwrap_or_default();
        self.command(setup, skill.id.as_str(), inputs, offer.approve)
    }

    /// A command; `asked` if the tool that carries it needs an approval itself.
    fn routed(&self, setup: &Setup, routed: Result<Routed, Vec<Problem>>, asked: bool) -> Resolved {
        match routed {
            Err(problems) => refused(&problems),
            Ok(Routed::GetSkill { topic }) => self.page(&topic),
            Ok(Routed::Command(command)) if command.help => self.page(&command.skill_name),
            Ok(Routed::Command(command)) => {
                self.command(setup, &command.skill_name, command.flags, asked)
            }
        }
    }

    /// A text about skills, read when the call is made.
    fn page(&self, topic: &str) -> Resolved {
        Resolved::Tool {
            tool: GET_SKILL.to_owned(),
            args: Object::from_iter([("topic".to_owned(), json!(topic))]),
            effects: Effects::None,
            consent: None,
            skill: None,
        }
    }

    fn command(&self, setup: &Setup, name: &str, flags: Object, asked: bool) -> Resolved {
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
        let args = Object::from_iter([
            ("skill".to_owned(), json!(skill.id.as_str())),
            ("inputs".to_owned(), Value::Object(flags)),
        ]);
        // The key of the call is the key of the run, which never runs twice.
        let (effects, name) = (Effects::Idempotent, Some(skill.id.to_string()));
        self.judged(setup, SKILL_RUN, args, effects, asked, name)
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
    fn calls_elsewhere(&self) -> usize {
        self.calls_elsewhere
    }

    fn describe(&self, shelved: &Shelved) -> Option<ToolSpec> {
        offers::described(&self.engine.parts.router, shelved)
    }

    fn resolve(&self, setup: &Setup, wanted: Wanted<'_>) -> Resolved {
        let (offer, call) = match wanted {
            Wanted::Command(line) => return self.line(setup, line),
            Wanted::Tool(offer, call) => (offer, call),
        };
        let CallArgs::Object(args) = call.args.clone() else {
            return Resolved::Mistaken("the arguments are no JSON object".to_owned());
        };
        self.offered(setup, offer, args)
    }
}

/// What a model is shown of the `skill` tool is what it may pass.
fn is_listed(offer: &Offer, args: &Object) -> bool {
    let listed = offer.spec.schema["properties"]["skill_name"]["enum"].as_array();
    let name = args.get("skill_name");
    listed.is_none_or(|listed| name.is_some_and(|name| listed.contains(name)))
}

/// Why a skill may not be used, where an agent has but a few.
fn out_of_scope(setup: &Setup, name: &str) -> Option<Resolved> {
    let scope = setup.skills.as_ref()?;
    if scope.iter().any(|allowed| allowed == name) {
        return None;
    }
    let all = scope.join("`, `");
    let hint = match scope.len() {
        0 => "you have none; answer in words".to_owned(),
        _ => format!("you can use `{all}`"),
    };
    let text = format!("`{name}` is not one of your skills\nhint: {hint}");
    Some(Resolved::Refused(text))
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

/// What is wrong with a command, in the words of the router; that it is an error is said around it.
fn refused(problems: &[Problem]) -> Resolved {
    let text = CommandResult::refused(problems).content;
    Resolved::Mistaken(match text.strip_prefix("error: ") {
        Some(text) => text.to_owned(),
        None => text,
    })
}
