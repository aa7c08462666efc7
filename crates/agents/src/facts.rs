//! Resolution of the calls and commands of a model, and whether its agent may make them.
//!
//! A command is a run of its skill under the key of the call (`skill_run`): the same checks, the same
//! approvals and the same journal as anywhere else, and never twice. `deft_library::Commands` decides what a
//! command means.

use std::sync::Arc;

use deft_agent::{Consent, Dispatch, Facts, Offer, RequestedCall, Resolution, Setup, ShelfTool};
use deft_command::{
    CommandResult, Line, Problem, ProblemKind, Route, cast_by_schema, route, split,
};
use deft_library::{Command, CommandSkills, handler, handler_tool, is_read_only};
use deft_model::{CallArgs, Effects, Object, Skill, ToolSpec};
use deft_registry::discovery::{Topic, has_tag};
use deft_registry::{LoadedSkill, Snapshot, discovery};
use serde_json::{Value, json};

use crate::authority::{Verdict, absent};
use crate::tool_names::{DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};
use crate::{Agents, offers};

/// The facts about calls that the state machine of an agent needs: which tool a call means, and whether it
/// may be made.
pub struct AgentFacts<'a> {
    agents: &'a Agents,
    snapshot: Arc<Snapshot>,
    calls_elsewhere: usize,
}

impl<'a> AgentFacts<'a> {
    /// Takes a snapshot for one decision of an agent. `calls_elsewhere` is the number of calls by other
    /// agents of the run.
    pub fn new(agents: &'a Agents, calls_elsewhere: usize) -> Self {
        Self {
            agents,
            snapshot: agents.library.snapshot(),
            calls_elsewhere,
        }
    }

    /// Resolves a call of a tool. `asked` means that its offer requires an approval.
    fn tool(&self, setup: &Setup, tool: &str, args: Object, asked: bool) -> Resolution {
        let router = &self.agents.router;
        match router.repair_arguments(tool, args) {
            Err(failure) if failure.blocked => Resolution::Blocked(failure),
            Err(failure) => Resolution::Mistaken(match &failure.hint {
                Some(hint) => format!("{failure}\nhint: {hint}"),
                None => failure.to_string(),
            }),
            Ok(args) => {
                let effects = router.effects_of(tool, &args).unwrap_or(Effects::Once);
                self.judge_call(setup, tool, args, effects, asked, None)
            }
        }
    }

    /// Decides about a valid call with the rights of the agent.
    fn judge_call(
        &self,
        setup: &Setup,
        tool: &str,
        args: Object,
        effects: Effects,
        asked: bool,
        skill: Option<String>,
    ) -> Resolution {
        let consent = match self.agents.judge(&setup.authority, tool, Some(&args)) {
            Verdict::Free => asked.then(Consent::default),
            Verdict::Ask(consent) => Some(consent),
            Verdict::Absent => return Resolution::Blocked(absent(tool)),
            Verdict::Denied(why) => return Resolution::Refused(why),
        };
        let consent = self.skill_consent(setup, tool, &args).or(consent);
        Resolution::Tool {
            tool: tool.to_owned(),
            args,
            effects,
            consent,
            skill,
        }
    }

    /// Returns the approval that a call needs because it loads a skill of a server. Without a person in the
    /// chat, the call fails with a hint on how to approve the skill.
    fn skill_consent(&self, setup: &Setup, tool: &str, args: &Object) -> Option<Consent> {
        let argument = match tool {
            GET_SKILL => "topic",
            SKILL => "skill_name",
            _ => return None,
        };
        let name = args.get(argument)?.as_str()?;
        let asks = setup.authority.attended && out_of_scope(setup, name).is_none();
        asks.then(|| self.agents.skill_consent(name)).flatten()
    }

    /// Resolves a line of a `cmd` block.
    fn line(&self, setup: &Setup, text: &str) -> Resolution {
        let mut lines = split(text).into_iter();
        match (lines.next(), lines.next()) {
            (Some(Ok(line)), None) => match line.words.first() {
                Some(first) if first.text == DISPATCH_AGENT => self.dispatch_line(setup, &line),
                Some(first) if let Some(offer) = find_offer(setup, &first.text) => {
                    self.tool_line(setup, offer, &line)
                }
                _ => self.resolve_command(
                    setup,
                    self.agents.library.commands(self).line(&line),
                    false,
                ),
            },
            (Some(Err(problem)), _) => problems_resolution(&[problem]),
            (None, _) => Resolution::Mistaken("the command is empty".to_owned()),
            (Some(Ok(_)), Some(_)) => {
                Resolution::Mistaken("one command at a time, each on its own line".to_owned())
            }
        }
    }

    /// Resolves a tool that is called as a command: its flags are the arguments.
    fn tool_line(&self, setup: &Setup, offer: &Offer, line: &Line) -> Resolution {
        match route(line, |_| Ok(Vec::new())) {
            Err(problems) => problems_resolution(&problems),
            Ok(Route::Command(command)) if !command.help => {
                match cast_by_schema(command.flags, &offer.spec.schema) {
                    Ok(args) => self.resolve_offered(setup, offer, args),
                    Err(problems) => problems_resolution(&problems),
                }
            }
            Ok(_) => Resolution::Text(format!(
                "{}\n\n{}\n\nflags, as a JSON Schema: {}",
                offer.spec.name, offer.spec.description, offer.spec.schema
            )),
        }
    }

    /// Resolves a call of an offered tool, whether made by JSON or by a line.
    fn resolve_offered(&self, setup: &Setup, offer: &Offer, args: Object) -> Resolution {
        let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
        match offer.tool.as_str() {
            DISPATCH_AGENT => dispatch(args),
            USE_SKILL | SKILL_RUN if let Some(refusal) = out_of_scope(setup, text("skill")) => {
                refusal
            }
            USE_SKILL => {
                let resolved = self
                    .agents
                    .library
                    .commands(self)
                    .json(&Value::Object(args));
                self.resolve_command(setup, resolved, offer.approve)
            }
            SKILL_RUN => self.skill_run(setup, offer, args),
            GET_SKILL => match (&setup.skills, text("topic")) {
                (Some(scope), "") => Resolution::Text(format!("skills: {}", scope.join(", "))),
                (Some(scope), topic) if let Some(tag) = tag_of(topic) => {
                    self.list_by_tag(scope, &tag)
                }
                (_, topic) => out_of_scope(setup, topic)
                    .unwrap_or_else(|| self.tool(setup, GET_SKILL, args.clone(), offer.approve)),
            },
            SKILL
                if !is_listed(offer, &args)
                    && self.skill_consent(setup, SKILL, &args).is_none() =>
            {
                Resolution::Text(discovery::load_skill(
                    &Snapshot::default(),
                    text("skill_name"),
                ))
            }
            tool => match self.refuse_delegated(setup, tool) {
                Some(refusal) => refusal,
                None => self.tool(setup, tool, args, offer.approve),
            },
        }
    }

    /// Resolves a skill that is run by name. A skill with a command is resolved as that command.
    fn skill_run(&self, setup: &Setup, offer: &Offer, args: Object) -> Resolution {
        let name = args.get("skill").and_then(Value::as_str);
        let inputs = args.get("inputs").and_then(Value::as_object).cloned();
        let resolved = name.map(|name| {
            let commands = self.agents.library.commands(self);
            commands.resolve_named(name, inputs.unwrap_or_default())
        });
        match resolved {
            // It may be a record that was stored a moment ago and that only the store knows.
            Some(Err(problems)) if problems.iter().any(is_unknown) => {
                self.tool(setup, SKILL_RUN, args, offer.approve)
            }
            Some(resolved) => self.resolve_command(setup, resolved, offer.approve),
            None => self.tool(setup, SKILL_RUN, args, offer.approve),
        }
    }

    /// Resolves a command. `asked` means that the tool that carries it requires an approval itself.
    fn resolve_command(
        &self,
        setup: &Setup,
        resolved: Result<Command, Vec<Problem>>,
        asked: bool,
    ) -> Resolution {
        match resolved {
            Err(problems) => problems_resolution(&problems),
            Ok(Command::Page { topic }) => match (&setup.skills, tag_of(&topic)) {
                (Some(scope), Some(tag)) => self.list_by_tag(scope, &tag),
                _ => self.page(setup, &topic),
            },
            Ok(Command::Template(result)) => Resolution::Text(result.to_string()),
            Ok(Command::Run { skill, inputs }) => self.run(setup, &skill.skill, inputs, asked),
        }
    }

    /// Lists the skills with a tag among the skills of an agent.
    fn list_by_tag(&self, scope: &[String], tag: &str) -> Resolution {
        let found = scope.iter().filter(|name| {
            let skill = self.find(name);
            skill.is_some_and(|loaded| has_tag(&self.snapshot, &loaded.skill, tag))
        });
        let found: Vec<&str> = found.map(String::as_str).collect();
        Resolution::Text(match found.as_slice() {
            [] => format!("none of your skills has the tag `{tag}`"),
            found => format!("skills: {}", found.join(", ")),
        })
    }

    /// Returns why a tool may not be called directly: a skill that has to be delegated calls it (S2.58).
    fn refuse_delegated(&self, setup: &Setup, tool: &str) -> Option<Resolution> {
        if !may_delegate(setup) {
            return None;
        }
        let in_scope = |id: &str| match &setup.skills {
            Some(scope) => scope.iter().any(|allowed| allowed == id),
            None => true,
        };
        let router = &self.agents.router;
        let full = |name: &str| match router.find(name) {
            deft_tools::ToolLookup::Tool(info) => info.name,
            deft_tools::ToolLookup::Ambiguous(_)
            | deft_tools::ToolLookup::Missing { .. }
            | deft_tools::ToolLookup::Unknown { .. } => name.to_owned(),
        };
        let called = full(tool);
        let is_behind = |skill: &Skill| {
            let same = handler_tool(skill).is_some_and(|own| full(&own) == called);
            same && in_scope(skill.id.as_str()) && !is_read_only(skill, router)
        };
        let snapshot = self.agents.library.snapshot();
        let behind = snapshot.skills().find(|loaded| is_behind(&loaded.skill))?;
        let id = &behind.skill.id;
        Some(Resolution::Refused(format!(
            "`{tool}`, which `{id}` calls, changes something: dispatch an agent for it with `{DISPATCH_AGENT}`, skills [\"{id}\"]"
        )))
    }

    /// Resolves a page about skills, which is read when the call is made.
    fn page(&self, setup: &Setup, topic: &str) -> Resolution {
        let args = Object::from_iter([("topic".to_owned(), json!(topic))]);
        Resolution::Tool {
            tool: GET_SKILL.to_owned(),
            consent: self.skill_consent(setup, GET_SKILL, &args),
            args,
            effects: Effects::None,
            skill: None,
        }
    }

    fn run(&self, setup: &Setup, skill: &Skill, inputs: Object, asked: bool) -> Resolution {
        let name = &skill.id;
        let delegated = handler(skill).is_some() && !is_read_only(skill, &self.agents.router);
        if delegated && may_delegate(setup) {
            return Resolution::Refused(format!(
                "`{name}` changes something: dispatch an agent for it with `{DISPATCH_AGENT}`, skills [\"{name}\"]"
            ));
        }
        let args = Object::from_iter([
            ("skill".to_owned(), json!(name.as_str())),
            ("inputs".to_owned(), Value::Object(inputs)),
        ]);
        // The key of the call is the key of the run, so the run never happens twice.
        let (effects, name) = (Effects::Idempotent, Some(name.to_string()));
        self.judge_call(setup, SKILL_RUN, args, effects, asked, name)
    }

    fn dispatch_line(&self, setup: &Setup, line: &Line) -> Resolution {
        if !may_delegate(setup) {
            return Resolution::Refused("agents cannot be dispatched from here".to_owned());
        }
        match route(line, |_| Ok(Vec::new())) {
            Ok(Route::Command(command)) if command.help => Resolution::Text(
                "dispatch_agent --agent-id NAME --mission TEXT --skills SKILL… [--context TEXT]"
                    .to_owned(),
            ),
            Ok(Route::Command(command)) => {
                let mut flags = command.flags;
                if let Some(id) = flags.remove("agent-id") {
                    flags.insert("agent_id".to_owned(), id);
                }
                dispatch(flags)
            }
            Ok(Route::GetSkill { topic }) => self.page(setup, &topic),
            Err(problems) => problems_resolution(&problems),
        }
    }
}

impl CommandSkills for AgentFacts<'_> {
    fn find(&self, name: &str) -> Option<Arc<LoadedSkill>> {
        self.agents.library.named_skill(name)
    }

    fn names(&self) -> Vec<String> {
        self.snapshot.names()
    }
}

impl Facts for AgentFacts<'_> {
    fn calls_elsewhere(&self) -> usize {
        self.calls_elsewhere
    }

    fn describe(&self, shelved: &ShelfTool) -> Option<ToolSpec> {
        offers::describe_tool(&self.agents.router, shelved)
    }

    fn resolve(&self, setup: &Setup, wanted: RequestedCall<'_>) -> Resolution {
        let (offer, call) = match wanted {
            RequestedCall::Command(line) => return self.line(setup, line),
            RequestedCall::Tool(offer, call) => (offer, call),
        };
        let CallArgs::Object(args) = call.args.clone() else {
            return Resolution::Mistaken("the arguments are not a JSON object".to_owned());
        };
        self.resolve_offered(setup, offer, args)
    }
}

/// Whether the `skill` tool lists the requested skill for this model.
fn is_listed(offer: &Offer, args: &Object) -> bool {
    let listed = offer.spec.schema["properties"]["skill_name"]["enum"].as_array();
    let name = args.get("skill_name");
    listed.is_none_or(|listed| name.is_some_and(|name| listed.contains(name)))
}

/// Returns why a skill may not be used, if the agent has a list of skills.
fn out_of_scope(setup: &Setup, name: &str) -> Option<Resolution> {
    let scope = setup.skills.as_ref()?;
    // Files of a server's skill are named after its id; no other id contains a slash.
    let is_file = |allowed: &str| {
        let path = name.strip_prefix(allowed);
        allowed.contains('/') && path.is_some_and(|path| path.starts_with('/'))
    };
    if scope
        .iter()
        .any(|allowed| allowed == name || is_file(allowed))
    {
        return None;
    }
    let all = scope.join("`, `");
    let hint = match scope.len() {
        0 => "you have no skills; answer in text".to_owned(),
        _ => format!("you can use `{all}`"),
    };
    let text = format!("`{name}` is not one of your skills\nhint: {hint}");
    Some(Resolution::Refused(text))
}

/// Returns an offered tool by the name that the model uses.
fn find_offer<'s>(setup: &'s Setup, name: &str) -> Option<&'s Offer> {
    let mut offers = setup.tools.iter();
    offers.find(|offer| offer.spec.name == name || offer.tool == name)
}

/// Whether an agent may dispatch others.
fn may_delegate(setup: &Setup) -> bool {
    setup.tools.iter().any(|offer| offer.tool == DISPATCH_AGENT)
}

/// Returns the tag in a topic of `get_skill`, if there is one.
fn tag_of(topic: &str) -> Option<String> {
    match Topic::parse(topic) {
        Topic::Tag(tag) => Some(tag),
        Topic::All | Topic::Name(_) | Topic::Whole(_) => None,
    }
}

fn is_unknown(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::UnknownSkill { .. })
}

fn dispatch(mut args: Object) -> Resolution {
    // Models often write a list of one item as text.
    if let Some(Value::String(one)) = args.get("skills") {
        let several: Vec<Value> = one
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .map(|name| json!(name))
            .collect();
        args.insert("skills".to_owned(), Value::Array(several));
    }
    match serde_json::from_value::<Dispatch>(Value::Object(args)) {
        Ok(dispatch) if !dispatch.mission.trim().is_empty() => Resolution::Dispatch(dispatch),
        Ok(_) => Resolution::Mistaken("the agent needs a `mission`".to_owned()),
        Err(error) => Resolution::Mistaken(format!(
            "`{DISPATCH_AGENT}` takes agent_id, mission, skills and context: {error}"
        )),
    }
}

/// Returns the problems of a command, each with its code and its hint.
fn problems_resolution(problems: &[Problem]) -> Resolution {
    Resolution::Problem(CommandResult::from_problems(problems).content)
}
