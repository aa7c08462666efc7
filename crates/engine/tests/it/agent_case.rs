//! A case of `tests/agent/`: its initial world, and the steps performed in it.
//!
//! Keys: `about`; `skills` (path to text), `defaults` (names of the shipped skills), `records`, `agents`
//! (name to the text of its `AGENT.md`), `tools` (see [`install`]), `models` (name to settings and `script`)
//! or `script` and `cmd` for the only one, `options`, `chats`, `files` (true: the home is open to the `file`
//! tools), and `do`, a list of [`Case::step`]s.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_engine::{
    Attention, Budgets, Clock, DayBudget, Fire, NewChatMessage, Options, ResumeWith,
};
use deft_llm::{ModelOptions, Models, Price, ProviderKind};
use deft_model::{Cause, Effects, Failure, FailureClass, Object, RunOrigin};
use deft_registry::{FileReport, Snapshot, State};
use deft_scheduler::{Pool, Scheduler};
use deft_skillfile::Moment;
use deft_store::{RunFilter, RunRow};
use deft_store_testkit::Memory;
use deft_testkit::{Dialect, ModelServer};
use deft_tools::Definition;
use deft_workflow::Answer;
use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::time_world::at;
use crate::world::{Folder, World, load};

/// The tools that all stories have besides their own: of the router, of the engine, of `world.rs`. The list
/// is fixed, so that a new tool of deft changes no story; a story about it adds it.
const TOOLS: &str = "\
    file.append file.delete file.exists file.list file.read file.write get_tool_catalog \
    http.request log notify shell.run telegram_send_message time.now \
    conversation_list conversation_read dispatch_agent fact_delete fact_list fact_save \
    get_job_status get_skill memory_delete_skill memory_get_skill memory_list_skills \
    memory_store_skill memory_update_skill queue_task skill skill_run use_skill \
    act big down echo hang leak put refuse";

/// Returns the options of a model behind a server.
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
            cache_write: None,
            output: 2.0,
        }),
        extra: Object::new(),
    }
}

pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn map(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn texts(value: &Value) -> Vec<String> {
    read(value)
}

/// A case: skills, a script for the model, and steps for the engine.
pub(crate) struct Case(pub(crate) Value);

/// A case that is being played.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) servers: BTreeMap<String, ModelServer>,
    pool: Pool,
    conversation: Option<String>,
    /// What was done, and the state of the runs after it.
    pub(crate) done: Vec<String>,
}

impl Case {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        Self(
            serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        )
    }

    fn models(&self) -> Vec<(String, Value)> {
        if self.0["models"].is_null() {
            let only = json!({ "tools": self.0["cmd"] != json!(true), "script": self.0["script"] });
            return vec![("double".to_owned(), only)];
        }
        map(&self.0["models"])
            .map(|(name, settings)| (name.clone(), settings.clone()))
            .collect()
    }

    pub(crate) async fn scene(&self) -> Scene {
        let mut servers = BTreeMap::new();
        let mut models = Vec::new();
        for (name, settings) in self.models() {
            let server = ModelServer::script(Dialect::OpenAi, &settings["script"]);
            models.push(configured(&name, &server.url, &settings));
            if settings["down"] == true {
                server.set_down(true);
            }
            servers.insert(name, server);
        }
        let mut tools = deft_tools::Options::default();
        if !self.0["chats"].is_null() {
            tools.telegram.allowed_chats = texts(&self.0["chats"]);
        }
        let home = tempfile::tempdir().unwrap();
        if self.0["files"] == true {
            tools.file.folders = vec![home.path().to_owned()];
            tools.file.write = true;
        }
        let folder = Folder(Arc::new(Mutex::new(load(&home, &[]))));
        let parts = (tools, Models::new(models));
        let world = World::from_parts(home, folder, Arc::new(Memory::new()), parts, |options| {
            change(options, &self.0);
        });
        world.engine.register_tools();
        let is_known = |name: &str| TOOLS.split_whitespace().any(|tool| tool == name);
        world.engine.router().retain(is_known);
        for tool in list(&self.0["tools"]).filter(|tool| tool["later"] != true) {
            install(&world, tool);
        }
        let scene = Scene {
            world,
            servers,
            pool: Pool::new(4),
            conversation: None,
            done: Vec::new(),
        };
        scene.write_skills(&self.0);
        for record in list(&self.0["records"]) {
            let stored = scene
                .world
                .engine
                .library()
                .store_skill(&read(record))
                .await;
            stored.unwrap_or_else(|error| panic!("{error}: {:?}", error.hint()));
        }
        scene
    }

    /// Performs all steps of the case.
    pub(crate) async fn play(&self) -> Scene {
        let mut scene = self.scene().await;
        for action in list(&self.0["do"]) {
            self.step(&mut scene, action).await;
        }
        scene
    }

    /// Performs one step. Its first key is one of `say` (with `key` in a new conversation, answered `to` a
    /// chat), `run`, `tick` (a time), `answer` (yes, no), `drain`, `tool` (installs a tool, or replaces its
    /// `about`), `skills` (like those of the case; null removes one), `reload` (loads the skill files again),
    /// `resume` (a skill, whose last run is resumed), `resume_agent`, `limits` (new `budget` and `budgets`),
    /// `cancel` (a skill, whose last run is cancelled), `up` (a model that becomes available again).
    async fn step(&self, scene: &mut Scene, action: &Value) {
        let (what, given) = action.as_object().unwrap().iter().next().unwrap();
        let text = given.as_str().unwrap_or_default();
        let attention = Attention {
            assume_yes: action["yes"].as_str().map(str::to_owned),
            parks: action["parks"] == true,
            ..Attention::default()
        };
        match what.as_str() {
            "say" => scene.say(action, attention).await,
            "run" => {
                let fire = Fire {
                    skill: text.to_owned(),
                    inputs: action["inputs"].as_object().cloned().unwrap_or_default(),
                    cause: Cause::Cli,
                    ..Fire::default()
                };
                let ran = scene.world.engine.run(fire, attention).await;
                if let Err(error) = ran {
                    scene.done.push(format!("  error: {error}"));
                }
            }
            "tick" => scene.tick(text).await,
            "answer" => scene.answer(text, action["always"] == true).await,
            "drain" => scene.drain().await,
            "tool" => {
                let mut tools = list(&self.0["tools"]);
                let mut tool = tools.find(|tool| tool["name"] == text).unwrap().clone();
                if action["about"].is_string() {
                    tool["about"] = action["about"].clone();
                }
                install(&scene.world, &tool);
            }
            "skills" => scene.write_skills(action),
            "reload" => scene.write_skills(&Value::Null),
            "resume" => scene.resume(text).await,
            "limits" => scene.world.engine.agents().set_budgets(budgets(given)),
            "resume_agent" => {
                let was = scene
                    .world
                    .engine
                    .agents()
                    .resume_agent(text)
                    .await
                    .unwrap();
                assert!(was, "{text} was not paused");
            }
            "cancel" => {
                let runs = scene.runs().await;
                let run = runs.iter().rfind(|run| run.skill == text).unwrap();
                scene.world.engine.cancel(&run.id, "ada").await.unwrap();
            }
            "up" => scene.servers[text].set_down(false),
            other => panic!("nobody knows how to `{other}`"),
        }
        scene.note(action).await;
    }
}

impl Scene {
    async fn say(&mut self, action: &Value, attention: Attention) {
        let key = action["key"].as_str().map(str::to_owned);
        let say = NewChatMessage {
            // A message with a key starts a conversation, whose id is derived from the key.
            conversation: self.conversation.clone().filter(|_| key.is_none()),
            key,
            agent: action["agent"].as_str().map(str::to_owned),
            channel: "cli".to_owned(),
            text: action["say"].as_str().unwrap().to_owned(),
            answer_to: action["to"].as_str().map(str::to_owned),
            alone: action["alone"] == true,
            model: action["model"].as_str().map(str::to_owned),
            origin: RunOrigin::default(),
        };
        match self.world.engine.say(say, attention).await {
            Ok(said) => self.conversation = Some(said.conversation),
            Err(error) => self.done.push(format!("  error: {error}")),
        }
    }

    async fn tick(&mut self, time: &str) {
        self.world.clock.set(at(time));
        loop {
            let now = self.world.clock.now();
            let ticked = Scheduler::new(&self.world.engine)
                .tick(now, &self.pool)
                .await
                .unwrap();
            self.pool.idle().await;
            if !ticked.held_back {
                break;
            }
        }
        self.drain().await;
    }

    async fn drain(&mut self) {
        let attention = Attention {
            parks: true,
            ..Attention::default()
        };
        self.world.engine.drain(&attention).await.unwrap();
    }

    /// Answers the oldest question.
    async fn answer(&mut self, word: &str, always: bool) {
        let open = self.world.store.approvals(false).await.unwrap();
        let row = open.first().unwrap();
        let answer = match word {
            "yes" => Answer::Yes,
            "skip" => Answer::Skip,
            _ => Answer::No,
        };
        let answered = self.world.engine.answer(row, answer, "ada", always).await;
        answered.unwrap();
        self.drain().await;
    }

    async fn resume(&mut self, skill: &str) {
        let runs = self.runs().await;
        let last = runs.iter().rfind(|run| run.skill == skill).unwrap();
        let with = ResumeWith {
            by: "ada".to_owned(),
            old_revision: false,
        };
        let attention = Attention::default();
        let resumed = self.world.engine.resume(last, &with, attention).await;
        resumed.unwrap();
    }

    /// Writes and removes skills, and loads them all again.
    fn write_skills(&self, case: &Value) {
        let root = self.world.home.path().join("skills");
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../service/defaults/skills");
        for name in list(&case["defaults"]) {
            let name = name.as_str().unwrap();
            let text = fs::read_to_string(shipped.join(name).join("SKILL.md")).unwrap();
            write(&root.join(name).join("SKILL.md"), Some(&text));
        }
        for (path, text) in map(&case["skills"]) {
            write(&root.join(path), text.as_str());
        }
        for (name, text) in map(&case["agents"]) {
            let agents = self.world.home.path().join("agents");
            write(&agents.join(name).join("AGENT.md"), text.as_str());
        }
        fs::create_dir_all(&root).unwrap();
        let agents = self.world.home.path().join("agents");
        fs::create_dir_all(&agents).unwrap();
        let options = deft_registry::Options::new(vec![root]).with_agents([agents]);
        let moment = Moment {
            now: self.world.clock.now(),
            zone: TimeZone::UTC,
        };
        let snapshot = Snapshot::load(&options, &moment);
        let is_broken = |file: &&FileReport| matches!(file.state, State::Broken { .. });
        let broken = snapshot.files().iter().find(is_broken);
        assert!(broken.is_none() || case["broken"] == true, "{broken:#?}");
        *self.world.folder.0.lock().unwrap() = Arc::new(snapshot);
    }

    /// Returns all runs, oldest first.
    pub(crate) async fn runs(&self) -> Vec<RunRow> {
        let mut runs = self.world.store.runs(RunFilter::default()).await.unwrap();
        runs.sort_by(|one, two| one.id.as_str().cmp(two.id.as_str()));
        runs
    }

    async fn note(&mut self, action: &Value) {
        let runs = self.runs().await;
        let state = runs.iter().map(|run| match run.waits_for() {
            Some(why) => format!("{} {} ({why})", run.skill, run.status),
            None => match run.outcome {
                Some(outcome) => format!("{} {outcome}", run.skill),
                None => format!("{} {}", run.skill, run.status),
            },
        });
        let state: Vec<String> = state.collect();
        self.done.push(format!("{action} -> {}", state.join(", ")));
    }
}

fn write(path: &Path, text: Option<&str>) {
    match text {
        None => fs::remove_file(path).unwrap(),
        Some(text) => {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
}

/// Returns the options of a model with the settings of a case.
fn configured(name: &str, url: &str, settings: &Value) -> ModelOptions {
    let mut options = model(name, url);
    options.tools = settings["tools"] != json!(false);
    options.context_tokens = settings["context_tokens"].as_u64();
    if let Some(retries) = settings["retries"].as_u64() {
        options.retries = u32::try_from(retries).unwrap();
    }
    if let Some(ms) = settings["timeout_ms"].as_u64() {
        options.timeout = Duration::from_millis(ms);
    }
    if !settings["fallback"].is_null() {
        options.fallback = texts(&settings["fallback"]);
    }
    options
}

/// Applies the options of a case: `park_after` (seconds), and in `options` those of agents by name.
fn change(options: &mut Options, case: &Value) {
    if let Some(seconds) = case["park_after"].as_u64() {
        options.park_after = Duration::from_secs(seconds);
    }
    let agent = &mut options.agent;
    for (name, given) in map(&case["options"]) {
        match name.as_str() {
            "approve" => agent.approve.extend(texts(given)),
            "tools" => agent.tools = texts(given),
            "offer_tokens" => agent.offer_tokens = read(given),
            "default" => agent.default = read(given),
            "llm" => agent.llm = read(given),
            "may_schedule" => agent.may_schedule = read(given),
            "max_depth" => agent.max_depth = read(given),
            "max_steps" => agent.max_steps = read(given),
            "max_calls" => agent.max_calls = read(given),
            "fan_out" => agent.fan_out = read(given),
            "history_tokens" => agent.history_tokens = read(given),
            "budget" | "budgets" => agent.budgets = budgets(&case["options"]),
            other => panic!("there is no option `{other}`"),
        }
    }
}

/// Returns the daily budgets of a case: `budget` for all agents, `budgets` for single agents.
fn budgets(given: &Value) -> Budgets {
    let agents = map(&given["budgets"]);
    Budgets {
        all: day_budget(&given["budget"]),
        agents: agents
            .map(|(name, given)| (name.clone(), day_budget(given)))
            .collect(),
    }
}

fn day_budget(given: &Value) -> DayBudget {
    let mut budget = DayBudget::default();
    for (name, given) in map(given) {
        match name.as_str() {
            "tokens" => budget.tokens = read(given),
            "usd" => budget.usd = read(given),
            "on_exhausted" => budget.on_exhausted = read(given),
            "spike_tokens" => budget.spike_tokens = read(given),
            "spike_factor" => budget.spike_factor = read(given),
            other => panic!("a budget has no `{other}`"),
        }
    }
    budget
}

/// Installs a tool of a case: `name`, `about`, `effects` (once), `annotated` (false: it does not declare its
/// effects), `schema` (anything), and `returns`, a list of results in order, the last one repeated; `{"fail":
/// [class, message]}` fails, with a third word `blocked` or `in_doubt`. A tool with `later` is not installed
/// at first.
fn install(world: &World, tool: &Value) {
    let name = tool["name"].as_str().unwrap().to_owned();
    let effects = match &tool["effects"] {
        Value::Null => Effects::Once,
        effects => read(effects),
    };
    let about = tool["about"].as_str().unwrap_or("For tests.");
    let schema = match &tool["schema"] {
        Value::Null => json!({ "type": "object" }),
        schema => schema.clone(),
    };
    let returns: Vec<Value> = match &tool["returns"] {
        Value::Array(all) => all.clone(),
        Value::Null => vec![json!("ok")],
        one => vec![one.clone()],
    };
    let calls = Arc::clone(&world.calls);
    let nth = Arc::new(Mutex::new(0));
    let mut definition = Definition::new(&name, about, effects, schema);
    if tool["annotated"] == false {
        definition.annotated = false;
    }
    world
        .engine
        .router()
        .register_fn(definition, move |args, _| {
            calls.lock().unwrap().push((name.clone(), args));
            let mut nth = nth.lock().unwrap();
            let value = returns[(*nth).min(returns.len() - 1)].clone();
            *nth += 1;
            async move { result(value) }
        });
}

fn result(value: Value) -> Result<Value, Failure> {
    let fail = &value["fail"];
    if fail.is_null() {
        return Ok(value);
    }
    let class: FailureClass = read(&fail[0]);
    let failure = Failure::new(class, fail[1].as_str().unwrap());
    Err(match fail[2].as_str() {
        Some("blocked") => failure.mark_blocked(),
        Some("in_doubt") => failure.in_doubt(),
        _ => failure,
    })
}
