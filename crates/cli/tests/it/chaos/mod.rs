//! Kills processes of the real binary at random instants: the daemon, runs, ticks, chats, jobs, answers to
//! approvals. Afterwards no run whose id was printed is missing, every run has ended, and no call that must
//! not be repeated was made twice, according to the log of the tool server.
//!
//! `make chaos` makes ten thousand kills (`DEFT_CHAOS_KILLS`) and writes a report; a test run makes a few
//! hundred.

mod check;
mod commands;

use std::collections::{BTreeMap, HashSet};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deft_store::{Sqlite, SqliteOptions};
use deft_testkit::{Dialect, ModelAnswer, ModelServer, Script};
use serde_json::{Value, json};

use crate::chat_support::section;
use crate::daemon::used_home;
use crate::support::{World, server};
use commands::{Command, SKILLS};

/// The default number of kills.
const USUAL: usize = 300;

/// The number of concurrent processes.
const ACTORS: usize = 3;

/// The events so far.
#[derive(Default)]
struct Record {
    /// The number of kills by command.
    kills: BTreeMap<&'static str, usize>,
    /// The number of processes that ended before their kill.
    ended: usize,
    /// Ids of runs that were printed. None of these runs may be lost.
    promised: HashSet<String>,
}

struct Chaos {
    world: World,
    _model: ModelServer,
    wanted: usize,
    begun: AtomicUsize,
    record: Mutex<Record>,
}

/// Returns a pseudo-random number that is the same in every run of the test.
fn scatter(n: usize) -> usize {
    let mut x = (n as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((x ^ (x >> 31)) >> 8).unwrap_or_default()
}

/// Starts a model that calls a tool and then answers.
fn model() -> ModelServer {
    ModelServer::start_with(Dialect::OpenAi, |request: &Value| {
        let messages = request["messages"].as_array();
        let last = messages.and_then(|messages| messages.last());
        if last.is_some_and(|message| message["role"] == "tool") {
            ModelAnswer::text("done")
        } else {
            ModelAnswer::call("act", json!({}))
        }
    })
}

impl Chaos {
    fn new(wanted: usize) -> Self {
        let world = used_home();
        for (name, text) in SKILLS {
            world.write(&format!("home/skills/{name}.yaml"), text);
        }
        // Each call takes a little time, so many kills hit a call in flight.
        let tool = |hints: Value| json!({"annotations": hints, "delay_ms": 3, "text": "done"});
        let script = Script::new()
            .tool("act", tool(json!({})))
            .tool("put", tool(json!({"idempotentHint": true})))
            .tool("look", tool(json!({"readOnlyHint": true})));
        let model = model();
        // A thousand chats within the hour would pause the agent.
        let spike = "[budget.agents.thinker]\nspike_tokens = 1000000000\n";
        let config = section(&model.url) + &server(&world, &script) + spike;
        world.write("home/config.toml", config);
        Self {
            world,
            _model: model,
            wanted,
            begun: AtomicUsize::new(0),
            record: Mutex::default(),
        }
    }

    fn store(&self) -> Sqlite {
        let path = self.world.path("home/data/deft.db");
        Sqlite::open(&path, &SqliteOptions::default()).unwrap()
    }

    fn kills(&self) -> usize {
        self.record.lock().unwrap().kills.values().sum()
    }

    /// Starts and kills processes one after the other, until the wanted number of kills is reached.
    fn act(&self) {
        let runtime = runtime();
        let store = self.store();
        while self.kills() < self.wanted {
            let n = self.begun.fetch_add(1, Ordering::SeqCst);
            let command = Command::pick(scatter(n));
            let Some(args) = runtime.block_on(command.args(n, &store)) else {
                continue;
            };
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let child = self.start(&args);
            // The moment of the kill; the test does not wait for an event here.
            let moment = scatter(n + 1_000_000) % command.longest();
            let (killed, said) = kill_after(child, Duration::from_millis(moment as u64));
            let mut record = self.record.lock().unwrap();
            if killed {
                *record.kills.entry(command.name()).or_default() += 1;
            } else {
                record.ended += 1;
            }
            if command.promises() {
                record.promised.extend(run_id(&said));
            }
        }
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = self.world.command(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// Kills a process after a delay. Returns whether it was still running, and its output.
fn kill_after(mut child: Child, after: Duration) -> (bool, String) {
    let deadline = Instant::now() + after;
    while Instant::now() < deadline {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let killed = child.try_wait().unwrap().is_none();
    drop(child.kill());
    let output = child.wait_with_output().unwrap();
    (killed, String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the first run id in the output of a command, or `None`.
fn run_id(text: &str) -> Option<String> {
    let id = &text[text.find("run_")?..];
    let end = id.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // A truncated id is useless.
    end.map(|end| id[..end].to_owned())
}

#[test]
fn killed_processes_lose_and_repeat_no_call() {
    let wanted = deft_testkit::test_size("DEFT_CHAOS_KILLS", USUAL);
    let begun = Instant::now();
    let chaos = Chaos::new(wanted);
    drop(chaos.store());
    std::thread::scope(|scope| {
        for _ in 0..ACTORS {
            scope.spawn(|| chaos.act());
        }
    });
    let killing = begun.elapsed();
    chaos.finish();
    let report = chaos.check();
    let record = chaos.record.lock().unwrap();
    println!(
        "{} kills in {killing:?}, {:?}, {} ended by themselves; {report:?}",
        record.kills.values().sum::<usize>(),
        record.kills,
        record.ended
    );
    drop(record);
    deft_testkit::report_section("kills", &chaos.lines(&report, begun.elapsed()));
    report.verify();
}
