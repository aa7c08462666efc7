//! The world of an agent in tests: models, tools and people, scripted or random.

use std::collections::{HashMap, VecDeque};

use deft_agent::{
    Consent, Dispatch, Event, Facts, Machine, Reply, Request, RequestedCall, Resolution, Setup,
    ShelfTool,
};
use deft_command::{Route, route, split};
use deft_model::{CallArgs, Effects, Failure, FailureClass, ModelReply, Object, ToolSpec, Usd};
use serde_json::Value;

use crate::properties::chance::Chance;
use crate::script::{next, offer};

#[derive(Default)]
pub(crate) struct World {
    /// Replies of models, by the address of the agent.
    pub replies: HashMap<String, VecDeque<Result<ModelReply, Failure>>>,
    /// Effects of tools, and whether a person is asked.
    pub tools: HashMap<String, (Effects, bool)>,
    /// Missing tools, until the first retry.
    pub gone: Vec<String>,
    pub results: HashMap<String, VecDeque<Result<Value, Failure>>>,
    pub answers: VecDeque<bool>,
    pub unable: HashMap<String, VecDeque<Failure>>,
    /// Replaces all of these by random behaviour.
    pub chance: Option<Chance>,
}

impl World {
    /// Performs a request and returns the event for its result.
    pub(crate) fn perform(&mut self, machine: &Machine, setup: &Setup, request: &Request) -> Event {
        if let Some(chance) = &mut self.chance {
            return by_chance(chance, machine, setup, request);
        }
        match request {
            Request::CallModel { agent, turn, .. } => {
                let replies = self.replies.get_mut(&agent.to_string());
                match replies.and_then(VecDeque::pop_front) {
                    Some(Ok(reply)) => machine.reply_event(
                        agent,
                        *turn,
                        reply,
                        "tiny".to_owned(),
                        Some(Usd::from_dollars(0.5)),
                        10,
                    ),
                    Some(Err(failure)) => machine.silent(agent, *turn, failure),
                    None => {
                        let message = format!("the script has no reply for agent `{agent}`");
                        machine.silent(agent, *turn, Failure::new(FailureClass::Other, message))
                    }
                }
            }
            Request::CallTool {
                agent,
                turn,
                call,
                tool,
                ..
            } => {
                let result = next(&mut self.results, tool).unwrap_or(Ok(Value::from("done")));
                machine.return_event(agent, *turn, *call, result, 5)
            }
            Request::Ask {
                agent, turn, call, ..
            } => {
                let yes = self.answers.pop_front().unwrap_or(true);
                machine.answer_event(agent, *turn, *call, by_ann(yes))
            }
            Request::Prepare { agent, dispatch } => {
                let unable = self.unable.get_mut(&dispatch.agent_id);
                match unable.and_then(VecDeque::pop_front) {
                    Some(failure) => machine.unable(agent, failure),
                    None => machine.began(agent, dispatched_setup(setup, dispatch)),
                }
            }
        }
    }

    fn call(&self, tool: &str, args: Object, skill: Option<String>) -> Resolution {
        if self.gone.iter().any(|gone| gone == tool) {
            let message = format!("the server of `{tool}` is down");
            return Resolution::Blocked(Failure::new(FailureClass::Network, message));
        }
        let known = self.tools.get(tool).copied();
        let (effects, approve) = known.unwrap_or((Effects::Once, false));
        Resolution::Tool {
            tool: tool.to_owned(),
            args,
            effects,
            consent: approve.then(Consent::default),
            skill,
        }
    }
}

fn by_chance(chance: &mut Chance, machine: &Machine, setup: &Setup, request: &Request) -> Event {
    let seed = chance.draw(request);
    match request {
        Request::CallModel { agent, turn, .. } => match chance.reply(seed) {
            Ok(reply) => machine.reply_event(
                agent,
                *turn,
                reply,
                "tiny".to_owned(),
                Some(Usd::from_dollars(0.5)),
                10,
            ),
            Err(failure) => machine.silent(agent, *turn, failure),
        },
        Request::CallTool {
            agent, turn, call, ..
        } => machine.return_event(agent, *turn, *call, chance.result(seed), 5),
        Request::Ask {
            agent, turn, call, ..
        } => machine.answer_event(agent, *turn, *call, by_ann(chance.yes(seed))),
        Request::Prepare { agent, dispatch } => match chance.unable(seed) {
            Some(failure) => machine.unable(agent, failure),
            None => machine.began(agent, dispatched_setup(setup, dispatch)),
        },
    }
}

fn by_ann(yes: bool) -> Reply {
    Reply {
        yes,
        by: "ann".to_owned(),
        person: true,
    }
}

/// Returns the setup of a dispatched agent, which has the tools of the agent above it.
fn dispatched_setup(setup: &Setup, dispatch: &Dispatch) -> Setup {
    Setup {
        agent: dispatch.agent_id.clone(),
        task: dispatch.mission.clone(),
        history: [].into(),
        skills: (!dispatch.skills.is_empty()).then(|| dispatch.skills.clone()),
        must_call: Vec::new(),
        ..setup.clone()
    }
}

fn dispatch(args: &Object) -> Resolution {
    match serde_json::from_value(Value::Object(args.clone())) {
        Ok(dispatch) => Resolution::Dispatch(dispatch),
        Err(error) => Resolution::Mistaken(error.to_string()),
    }
}

impl Facts for World {
    fn calls_elsewhere(&self) -> usize {
        0
    }

    fn describe(&self, shelved: &ShelfTool) -> Option<ToolSpec> {
        let gone = self.gone.contains(&shelved.tool);
        (!gone).then(|| offer(&shelved.name, &shelved.tool).spec)
    }

    fn resolve(&self, setup: &Setup, wanted: RequestedCall<'_>) -> Resolution {
        match wanted {
            RequestedCall::Tool(offer, call) => {
                assert!(setup.tools.contains(offer) && offer.spec.name == call.name);
                let CallArgs::Object(args) = &call.args else {
                    panic!("arguments that are none are not looked at");
                };
                match offer.tool.as_str() {
                    "dispatch" => dispatch(args),
                    "skill" => Resolution::Text("# A skill\nFollow this.".to_owned()),
                    _ if args.contains_key("wrong") => {
                        Resolution::Mistaken("there is no parameter `wrong`".to_owned())
                    }
                    tool => self.call(tool, args.clone(), None),
                }
            }
            RequestedCall::Command(command) => {
                let line = split(command).remove(0).unwrap();
                match route(&line, |_| Ok(Vec::new())) {
                    Ok(Route::GetSkill { topic }) => Resolution::Text(format!("# {topic}")),
                    Ok(Route::Command(command)) if command.help => {
                        Resolution::Text(format!("# {}\nUsage.", command.skill_name))
                    }
                    Ok(Route::Command(command)) if command.skill_name == "dispatch" => {
                        dispatch(&command.flags)
                    }
                    Ok(Route::Command(command)) => {
                        let tool = command.skill_name.replace('.', "_");
                        self.call(&tool, command.flags, Some(command.skill_name))
                    }
                    Err(problems) => Resolution::Mistaken(problems[0].to_string()),
                }
            }
        }
    }
}
