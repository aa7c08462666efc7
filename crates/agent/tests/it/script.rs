//! A reader of case files. A line is a word and its arguments; `#` begins a comment.
//!
//! ```text
//! mode cmd                       the model writes commands
//! tool read none                 a tool and its effects; `approve` asks a person, `gone` is blocked,
//! tool fs_read none as files.read   `as` gives its name in the router. Commands are tools that are
//!                                not offered, unless they have another name there
//! shelf fetch none               a tool that is offered after it is looked up
//! skill tasks.search             a skill that commands may name
//! must files.read                a tool that must be called
//! limit max_steps 3              one of the limits
//! history hello                  an earlier message of the user
//! task Say hello.
//! reply                          the next reply of the model; `reply 1.0` is for an agent below
//!   | a line of its text
//!   > read {"path": "a"}         a call
//!   ! length                     why it stopped
//! silent network no route        instead of a reply; a class and a message, `blocked`, `in_doubt`
//! result read "text"             the next result of a tool; the last one stays
//! result read !timeout too late  or its next failure
//! answer no                      the next answer of a person
//! unable scout not_found no such agent
//! late                           the last of the pending calls ends first
//! stop 4 timeout too late        the agent is stopped from outside after this many stored events
//! crash 4                        the process dies after this many stored events
//! retry                          the failed agent is resumed
//! reject expected 7              the next answer breaks the step's post-condition
//! ```

use std::collections::{HashMap, VecDeque};

use deft_agent::{Limits, Mode, Offer, Setup, ShelfTool};
use deft_model::{
    Authority, CallArgs, Choice, Effects, Failure, FailureClass, Message, ModelReply, PromptPart,
    StopReason, TokenUsage, ToolCall, ToolSpec,
};
use serde_json::{Value, json};

use crate::world::World;

pub(crate) struct Script {
    pub setup: Setup,
    pub world: World,
    pub crashes: Vec<usize>,
    pub retries: usize,
    pub rejections: VecDeque<Failure>,
    pub late: bool,
    pub stop: Option<(usize, Failure)>,
}

pub(crate) fn setup(mode: Mode) -> Setup {
    Setup {
        agent: "thinker".to_owned(),
        model: "main".to_owned(),
        mode,
        system: [PromptPart {
            text: "You help.".to_owned(),
            stable: true,
        }]
        .into(),
        conversation: None,
        history: [].into(),
        task: "Do it.".to_owned(),
        tools: Vec::new(),
        shelf: Vec::new(),
        skills: None,
        must_call: Vec::new(),
        limits: Limits::default(),
        authority: Authority::default(),
    }
}

pub(crate) fn offer(name: &str, tool: &str) -> Offer {
    Offer {
        spec: ToolSpec {
            name: name.to_owned(),
            description: format!("The tool {tool}."),
            schema: json!({"type": "object"}),
        },
        tool: tool.to_owned(),
        approve: false,
    }
}

impl Script {
    pub(crate) fn parse(text: &str) -> Self {
        let mut script = Self {
            setup: setup(Mode::Tools),
            world: World::default(),
            crashes: Vec::new(),
            retries: 0,
            rejections: VecDeque::new(),
            late: false,
            stop: None,
        };
        let mut last = String::new();
        for line in text.lines() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                script.line(word, rest, &mut last);
            }
        }
        script
    }

    fn line(&mut self, word: &str, rest: &str, last: &mut String) {
        let setup = &mut self.setup;
        match word {
            "mode" => setup.mode = Mode::Cmd,
            "tool" => self.tool(rest, false),
            "shelf" => self.tool(rest, true),
            "skill" => setup.skills.get_or_insert_default().push(rest.to_owned()),
            "must" => setup.must_call.push(rest.to_owned()),
            "limit" => limit(&mut setup.limits, rest),
            "history" => {
                let mut history = setup.history.to_vec();
                let text = rest.to_owned();
                history.push(Message::User { text });
                setup.history = history.into();
            }
            "task" => rest.clone_into(&mut setup.task),
            "reply" | "silent" => {
                let (agent, failure) = match word {
                    "reply" => (rest, None),
                    _ => ("", Some(failure(rest))),
                };
                agent.clone_into(last);
                let reply = failure.map_or_else(|| Ok(reply()), Err);
                let replies = self.world.replies.entry(agent.to_owned()).or_default();
                replies.push_back(reply);
            }
            "|" | ">" | "!" => {
                let replies = self.world.replies.get_mut(last).unwrap();
                extend(replies.back_mut().unwrap().as_mut().unwrap(), word, rest);
            }
            "result" => {
                let (tool, rest) = rest.split_once(' ').unwrap();
                let result = match rest.strip_prefix('!') {
                    Some(rest) => Err(failure(rest)),
                    None => Ok(serde_json::from_str(rest).expect(rest)),
                };
                let results = self.world.results.entry(tool.to_owned()).or_default();
                results.push_back(result);
            }
            "answer" => self.world.answers.push_back(rest == "yes"),
            "unable" => {
                let (agent, rest) = rest.split_once(' ').unwrap();
                let unable = self.world.unable.entry(agent.to_owned()).or_default();
                unable.push_back(failure(rest));
            }
            "late" => self.late = true,
            "crash" => self.crashes.push(rest.parse().unwrap()),
            "stop" => {
                let (at, rest) = rest.split_once(' ').unwrap();
                self.stop = Some((at.parse().unwrap(), failure(rest)));
            }
            "retry" => self.retries += 1,
            "reject" => {
                let failure = Failure::new(FailureClass::Invalid, rest);
                self.rejections.push_back(failure);
            }
            other => panic!("nobody knows what `{other}` means"),
        }
    }

    fn tool(&mut self, rest: &str, shelved: bool) {
        let mut words = rest.split(' ');
        let name = words.next().unwrap();
        let effects = Effects::from_word(words.next().unwrap()).unwrap();
        let mut tool = name;
        let mut approve = false;
        while let Some(word) = words.next() {
            match word {
                "as" => tool = words.next().unwrap(),
                "approve" => approve = true,
                "gone" => self.world.gone.push(tool.to_owned()),
                other => panic!("nobody knows what `{other}` means"),
            }
        }
        if shelved {
            self.setup.shelf.push(ShelfTool {
                name: name.to_owned(),
                tool: tool.to_owned(),
                approve,
            });
        } else if self.setup.mode == Mode::Tools || name != tool {
            self.setup.tools.push(offer(name, tool));
        }
        let known = (effects, approve);
        self.world.tools.insert(tool.to_owned(), known);
    }
}

fn limit(limits: &mut Limits, rest: &str) {
    let (name, value) = rest.split_once(' ').unwrap();
    let value: u32 = value.parse().unwrap();
    match name {
        "max_steps" => limits.max_steps = value,
        "max_depth" => limits.max_depth = value,
        "fan_out" => limits.fan_out = value,
        "repeats" => limits.repeats = value,
        "max_calls" => limits.max_calls = value,
        "max_shown" => limits.max_shown = value as usize,
        other => panic!("there is no limit `{other}`"),
    }
}

fn reply() -> ModelReply {
    ModelReply {
        usage: TokenUsage {
            input: 100,
            output: 10,
            ..TokenUsage::default()
        },
        ..ModelReply::default()
    }
}

fn extend(reply: &mut ModelReply, word: &str, rest: &str) {
    match word {
        "|" => {
            if !reply.text.is_empty() {
                reply.text.push('\n');
            }
            reply.text.push_str(rest);
        }
        ">" => {
            let (name, args) = rest.split_once(' ').unwrap_or((rest, "{}"));
            let args = match serde_json::from_str(args) {
                Ok(Value::Object(args)) => CallArgs::Object(args),
                _ => CallArgs::Invalid(args.to_owned()),
            };
            reply.calls.push(ToolCall {
                id: format!("c{}", reply.calls.len()),
                name: name.to_owned(),
                args,
            });
            reply.stop = StopReason::Calls;
        }
        _ => {
            reply.stop = match rest {
                "length" => StopReason::Length,
                "refused" => StopReason::Refused,
                other => StopReason::Other(other.to_owned()),
            }
        }
    }
}

fn failure(text: &str) -> Failure {
    let (class, mut message) = text.split_once(' ').unwrap();
    let mut failure = Failure::new(FailureClass::from_word(class).unwrap(), "");
    if let Some(rest) = message.strip_suffix(" in_doubt") {
        (failure, message) = (failure.in_doubt(), rest);
    }
    if let Some(rest) = message.strip_suffix(" blocked") {
        (failure, message) = (failure.mark_blocked(), rest);
    }
    message.clone_into(&mut failure.message);
    failure
}

/// Returns the next item of a queue; the last one stays.
pub(crate) fn next<T: Clone>(queues: &mut HashMap<String, VecDeque<T>>, name: &str) -> Option<T> {
    let queue = queues.get_mut(name)?;
    match queue.len() {
        1 => queue.front().cloned(),
        _ => queue.pop_front(),
    }
}
