//! Agents from the fire to the end, against a scripted model server: a case is a file in
//! `tests/agent/`, its snapshot is what the model was asked, what was called, what is recorded and
//! what came of it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use deft_engine::{Attention, Fire, Say};
use deft_llm::{ModelOptions, Models, Price, ProviderKind};
use deft_model::Object;
use deft_store::RunRow;
use deft_testkit::{Dialect, ModelServer};
use serde_json::{Value, json};

use crate::world::World;

/// A model behind a server.
pub(crate) fn model(name: &str, url: &str) -> ModelOptions {
    ModelOptions {
        name: name.to_owned(),
        provider: ProviderKind::OpenAi,
        model: "double".to_owned(),
        base_url: Some(url.to_owned()),
        api_key: None,
        tools: true,
        max_tokens: 256,
        context_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(20),
        retries: 0,
        fallback: Vec::new(),
        concurrency: 8,
        price: Some(Price {
            input: 1.0,
            cached: None,
            output: 2.0,
        }),
        extra: Object::new(),
    }
}

/// A case: skills, a script for the model, and what is asked of the engine.
struct Case(Value);

impl Case {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        Self(serde_json::from_str(&text).unwrap())
    }

    fn skills(&self) -> Vec<(&str, &str)> {
        let skills = self.0["skills"].as_object();
        let skills = skills.into_iter().flatten();
        skills
            .map(|(path, text)| (path.as_str(), text.as_str().unwrap()))
            .collect()
    }

    fn world(&self, url: &str) -> World {
        let mut options = model("double", url);
        options.tools = self.0["cmd"] != json!(true);
        let approve = self.0["approve"].as_array().cloned().unwrap_or_default();
        let world = World::minded(&self.skills(), Models::new(vec![options]), |options| {
            for name in &approve {
                options
                    .agent
                    .approve
                    .push(name.as_str().unwrap().to_owned());
            }
        });
        world.engine.register_tools();
        world
    }

    /// The runs of the case, one after the other.
    async fn runs(&self, world: &World) -> Vec<RunRow> {
        let mut runs = Vec::new();
        let mut conversation = None;
        for wish in self.0["do"].as_array().unwrap() {
            let attention = Attention {
                assume_yes: wish["yes"].as_str().map(str::to_owned),
                ..Attention::default()
            };
            if let Some(text) = wish["say"].as_str() {
                let say = Say {
                    conversation: conversation.clone(),
                    channel: "cli".to_owned(),
                    text: text.to_owned(),
                    ..Say::default()
                };
                let said = world.engine.say(say, attention).await.unwrap();
                conversation = Some(said.conversation);
                runs.push(said.run);
            } else {
                let fire = Fire {
                    skill: wish["run"].as_str().unwrap().to_owned(),
                    inputs: wish["inputs"].as_object().cloned().unwrap_or_default(),
                    cause: "cli".to_owned(),
                    ..Fire::default()
                };
                let admission = world.engine.run(fire, attention).await.unwrap();
                runs.push(admission.run().clone());
            }
        }
        runs
    }
}

/// What a model was asked, without what is long or differs.
fn asked(request: &Value) -> Value {
    let messages = request["messages"].as_array().unwrap();
    let shown: Vec<Value> = messages
        .iter()
        .filter(|message| message["role"] != "system")
        .cloned()
        .collect();
    let tools = request["tools"].as_array();
    let tools: Option<Vec<&Value>> =
        tools.map(|tools| tools.iter().map(|tool| &tool["function"]["name"]).collect());
    json!({ "messages": shown, "tools": tools, "tool_choice": request.get("tool_choice") })
}

/// Ids of conversations by a name that is always the same.
fn named(value: Value) -> Value {
    let text = value.to_string();
    let Some(at) = text.find("conv_") else {
        return value;
    };
    let id: String = text[at..]
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    serde_json::from_str(&text.replace(&id, "conv_1")).unwrap()
}

/// A public event, without what differs from run to run.
fn stripped(event: Value) -> Value {
    let mut event = named(event);
    let map = event.as_object_mut().unwrap();
    for key in ["seq", "at", "execution_id", "duration", "revision"] {
        map.remove(key);
    }
    event
}

async fn story(case: &Case) -> Value {
    let server = ModelServer::script(Dialect::OpenAi, &case.0["script"]);
    let world = case.world(&server.url);
    let runs = case.runs(&world).await;
    let mut shown = Vec::new();
    for run in &runs {
        let events: Vec<Value> = world.events(run).await.into_iter().map(stripped).collect();
        let read = |text: &Option<String>| -> Value {
            let text = text.as_deref();
            text.and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default()
        };
        shown.push(json!({
            "skill": run.skill, "tier": run.tier, "status": run.status, "outcome": run.outcome,
            "waiting_for": run.waiting_for,
            "outputs": read(&run.outputs), "error": read(&run.error), "usage": read(&run.usage),
            "events": events,
        }));
    }
    let requests = server.requests();
    let asked: Vec<Value> = requests.iter().map(asked).collect();
    let calls = world.calls.lock().unwrap().clone();
    let calls: Vec<Value> = calls
        .iter()
        .map(|(tool, args)| json!({ tool: args }))
        .collect();
    json!({ "about": case.0["about"], "runs": shown, "asked": asked, "called": calls })
}

#[test]
fn agents_do_what_their_stories_say() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    insta::glob!("../agent", "*.json", |path| {
        let case = Case::read(path);
        let story = runtime.block_on(story(&case));
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false,
            snapshot_path => "../agent/snapshots" }, {
            insta::assert_json_snapshot!(story);
        });
    });
}
