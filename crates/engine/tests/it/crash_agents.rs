//! A process that drives agents is killed repeatedly: between a request and its answer, in the middle of
//! calls, while dispatched agents work, while a person is asked. The witnesses are the log of the tool
//! server, the conversations and the ledger.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deft_agent::{Address, Event as AgentEvent, EventKind, Interpretation, Machine as Agent};
use deft_model::{Effects, Message, Outcome, RunStatus, Usage};
use deft_store::prelude::*;
use deft_store::{RunFilter, RunRow, SpentFilter, Sqlite, SqliteOptions};
use deft_testkit::{Arguments, Kind, Script, server_binary, witness};
use deft_workflow::{Event, Path};
use serde_json::json;

use crate::crash::{example, scatter};

const KILLS: usize = 120;

const TOOLS: &str = "[look, put, act, sign, dispatch_agent]";

struct World {
    home: tempfile::TempDir,
    server: PathBuf,
    arguments: Arguments,
    driver: PathBuf,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let skills = home.path().join("skills");
        fs::create_dir_all(skills.join("native")).unwrap();
        let steps = |name: &str, more: &str| {
            format!(
                "name: {name}\ndescription: d\ninputs:\n  - {{name: n, type: string, required: true}}\nsteps:\n  - {{id: before, tool: put}}\n  - {{id: mind, agent: \"errand {{{{ inputs.n }}}}\", tools: {TOOLS}{more}}}\n  - {{id: after, tool: act}}\n"
            )
        };
        // One skill retries when its model fails or its answer is rejected, which always happens to the first
        // answer; the other is resumed by hand.
        let patient = ", on_error: \"retry:3\", expect: {that: \"'Your' in result\"}";
        for (name, more) in [("patient", patient), ("proud", "")] {
            fs::write(skills.join(format!("{name}.yaml")), steps(name, more)).unwrap();
        }
        let native = format!(
            "---\nname: native\ndescription: d\nmetadata:\n  required_tools: {TOOLS}\n  expect: {{\"that\": \"10 ** 60 > 1\"}}\n---\nerrand\n"
        );
        fs::write(skills.join("native/SKILL.md"), native).unwrap();
        let tool =
            |hints: serde_json::Value| json!({"annotations": hints, "delay_ms": 2, "text": "done"});
        let script = Script::new()
            .tool("act", tool(json!({})))
            .tool("sign", tool(json!({})))
            .tool("put", tool(json!({"idempotentHint": true})))
            .tool("look", tool(json!({"readOnlyHint": true})));
        let arguments = script.write(home.path(), "world");
        Self {
            home,
            server: server_binary(),
            arguments,
            driver: example("crash_driver"),
        }
    }

    fn start(&self, total: usize) -> Child {
        Command::new(&self.driver)
            .arg("agents")
            .arg(self.home.path())
            .arg(&self.server)
            .arg(total.to_string())
            .args(self.arguments.list())
            .stdin(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn store(&self) -> Option<Sqlite> {
        let path = self.home.path().join("deft.db");
        path.exists()
            .then(|| Sqlite::open(&path, &SqliteOptions::default()).unwrap())
    }

    /// Whether a dead process holds a run, and whether an agent of that run was working.
    async fn hit(&self) -> (bool, bool) {
        let Some(store) = self.store() else {
            return (false, false);
        };
        let running = RunFilter {
            statuses: vec![RunStatus::Running],
            ..RunFilter::default()
        };
        let running = store.runs(running).await.unwrap();
        let mut inside = false;
        for run in &running {
            let events = store.events(Some(&run.id), 0, u32::MAX).await.unwrap();
            inside |= events.last().is_some_and(|event| event.kind == "agent");
        }
        (!running.is_empty(), inside)
    }
}

#[tokio::test]
async fn no_agent_call_is_lost_or_repeated_over_120_kills() {
    let world = World::new();
    let (mut in_flight, mut in_agents) = (0, 0);
    for kill in 0..KILLS {
        let mut child = world.start(usize::MAX);
        // Not a wait for an event, but the time of the kill.
        let moment = Duration::from_millis(60 + scatter(kill) % 160);
        tokio::time::sleep(moment).await;
        assert!(
            child.try_wait().unwrap().is_none(),
            "the driver ended by itself"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let (hit, inside) = world.hit().await;
        in_flight += usize::from(hit);
        in_agents += usize::from(inside);
    }
    let store = world.store().unwrap();
    let runs = store.runs(RunFilter::default()).await.unwrap().len();
    let status = world.start(runs).wait().unwrap();
    assert!(status.success(), "what was left could not be finished");
    let report = check(&world, &store).await;
    println!(
        "{KILLS} kills, {in_flight} hit a run in flight, {in_agents} inside an agent; {report:?}"
    );
    assert!(in_agents * 2 > KILLS, "only {in_agents} hit an agent");
    let seldom = [
        report.success,
        report.interrupted,
        report.resumed,
        report.reopened,
        report.answered,
        report.sent_out,
        report.chats,
        report.silent,
        report.refused,
        report.rejected,
        report.made,
    ];
    assert!(seldom.into_iter().all(|times| times > 1), "{report:?}");
}

#[derive(Debug, Default)]
struct Report {
    runs: usize,
    chats: usize,
    success: usize,
    interrupted: usize,
    calls: usize,
    /// Requests to models that a kill interrupted.
    cut_requests: u64,
    /// Calls that were made more than once: harmless ones, and those of runs that were resumed by hand.
    repeated: usize,
    replies: usize,
    silent: usize,
    refused: usize,
    answered: usize,
    sent_out: usize,
    resumed: usize,
    reopened: usize,
    /// Rejected answers, and calls after them that were not repeated.
    rejected: usize,
    made: usize,
}

/// Times of calls by key.
type CallTimes = HashMap<String, Vec<i64>>;

async fn check(world: &World, store: &Sqlite) -> Report {
    let mut seen = CallTimes::new();
    for event in witness(&world.arguments.witness) {
        if event.kind == Kind::Started {
            let at = i64::try_from(event.at).unwrap();
            seen.entry(event.key.unwrap()).or_default().push(at);
        }
    }
    let all = store.events(None, 0, u32::MAX).await.unwrap();
    let numbers: Vec<u64> = all.iter().map(|event| event.seq).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "events are missing");
    let mut report = Report::default();
    let mut known = HashSet::new();
    for run in store.runs(RunFilter::default()).await.unwrap() {
        report.runs += 1;
        report.chats += usize::from(run.skill == "chat");
        match run.outcome {
            Some(Outcome::Success) => report.success += 1,
            Some(Outcome::Interrupted) => report.interrupted += 1,
            other => panic!("{run:?} ended as {other:?}"),
        }
        let calls = check_run(store, &run, &seen, &mut report).await;
        known.extend(calls.0.into_keys());
    }
    for event in witness(&world.arguments.witness) {
        // Steps have no turn; an agent never makes a `once` call without an intent.
        let key = event.key.filter(|key| key.contains('#'));
        if let Some(key) = key.filter(|_| matches!(event.tool.as_str(), "act" | "sign")) {
            assert!(known.contains(&key), "{key} was made without an intent");
        }
    }
    for row in store.list_spent(SpentFilter::default()).await.unwrap() {
        assert_eq!(
            (row.reserved_tokens, row.reserved_micros),
            (0, 0),
            "{row:?}"
        );
    }
    report
}

async fn check_run(store: &Sqlite, run: &RunRow, seen: &CallTimes, report: &mut Report) -> Calls {
    let stored = store.events(Some(&run.id), 0, u32::MAX).await.unwrap();
    let mut agents: HashMap<Path, Vec<AgentEvent>> = HashMap::new();
    let mut calls = Calls::default();
    let mut last = None;
    for event in &stored {
        let at = event.at.as_microsecond();
        let event: Event = serde_json::from_str(&event.body).unwrap();
        match &event {
            Event::Agent { path, event } => {
                calls.note(&format!("{}/{path}", run.id), at, event);
                agents
                    .entry(path.clone())
                    .or_default()
                    .push((**event).clone());
            }
            Event::Resumed { .. } => report.resumed += 1,
            _ => {}
        }
        last = Some(event);
    }
    assert!(matches!(last, Some(Event::Finished(_))), "{run:?}");
    calls.check(seen, report);
    let (mut replies, silent) = (0, report.silent);
    for events in agents.values() {
        replies += count(events, report);
        check_messages(store, run, events).await;
    }
    // Each request counts once, answered or not.
    let asked = replies + report.silent - silent;
    report.replies += replies;
    let scope = SpentFilter {
        scope: Some(format!("run:{}", run.id)),
        ..SpentFilter::default()
    };
    let spent = store.list_spent(scope).await.unwrap();
    let spent = spent.into_iter().next().unwrap_or_default();
    report.cut_requests += spent.estimated_calls;
    let (replies, asked) = (replies as u64, asked as u64);
    // Requests that a kill interrupted are counted separately, with an estimate.
    let (tokens, cut) = (spent.estimated_tokens, spent.estimated_calls);
    let spent = (spent.tokens_in, spent.tokens_out, spent.calls);
    assert_eq!(
        spent,
        (7 * replies + tokens, 3 * replies, asked + cut),
        "{run:?}"
    );
    let usage = run.usage.as_deref().unwrap_or("null");
    let usage: Option<Usage> = serde_json::from_str(usage).unwrap();
    let usage = usage.unwrap_or_default();
    let told = (usage.input_tokens, usage.output_tokens, usage.llm_calls);
    assert_eq!((told, usage.estimated_calls), (spent, cut), "{run:?}");
    calls
}

/// Counts rare events; returns the number of model answers.
fn count(events: &[AgentEvent], report: &mut Report) -> usize {
    let mut replies = 0;
    for event in events {
        match &event.what {
            EventKind::Replied { reply, .. } => {
                replies += 1;
                report.refused += usize::from(reply.stop == deft_model::StopReason::Refused);
            }
            EventKind::Silent { .. } => report.silent += 1,
            EventKind::Answered { .. } => report.answered += 1,
            EventKind::Dispatched { .. } => report.sent_out += 1,
            EventKind::Reopened => report.reopened += 1,
            EventKind::Rejected { .. } => report.rejected += 1,
            EventKind::Told { how, .. } => report.made += usize::from(*how == Interpretation::Made),
            _ => {}
        }
    }
    check_rejected(events);
    replies
}

/// Checks that calls made before an answer was rejected are not repeated.
fn check_rejected(events: &[AgentEvent]) {
    let mut open = HashMap::new();
    let mut done = Vec::new();
    let mut before = HashSet::new();
    for event in events {
        match &event.what {
            EventKind::Called {
                turn,
                call,
                tool,
                args,
                effects: Effects::Once | Effects::Idempotent,
                ..
            } => {
                let what = format!("{tool} {args:?}");
                assert!(!before.contains(&what), "{what} was begun again");
                open.insert((event.agent.clone(), *turn, *call), what);
            }
            EventKind::Returned {
                turn,
                call,
                error: None,
                ..
            } => done.extend(open.remove(&(event.agent.clone(), *turn, *call))),
            EventKind::Rejected { .. } => before.extend(done.drain(..)),
            _ => {}
        }
    }
}

/// Checks that the conversation has every message once, and no call without its result.
async fn check_messages(store: &Sqlite, run: &RunRow, events: &[AgentEvent]) {
    let machine = Agent::replay(events).unwrap();
    let root = Address::root();
    let conversation = machine.setup(&root).unwrap().conversation.clone().unwrap();
    let rows = store.messages(&conversation.id, 0, u32::MAX).await.unwrap();
    let own = rows.iter().filter(|row| row.run.as_ref() == Some(&run.id));
    let said: Vec<Message> = own
        .map(|row| serde_json::from_str(&row.body).unwrap())
        .filter(|message| {
            !matches!(message, Message::Assistant { text, .. } if text.starts_with("(not finished"))
        })
        .collect();
    let finished = machine.end().unwrap();
    let expected = match finished.error {
        None => machine.messages(&root),
        Some(_) => machine.final_messages(&root),
    };
    assert_eq!(said, expected, "{run:?}");
}

/// The calls of a run's agents, from its journal.
#[derive(Default)]
struct Calls(HashMap<String, Call>);

#[derive(Default)]
struct Call {
    effects: Option<Effects>,
    /// Number of attempts, number of ends in doubt, and time of the final end.
    begun: usize,
    in_doubt: usize,
    ended: Option<i64>,
}

impl Calls {
    fn note(&mut self, step: &str, at: i64, event: &AgentEvent) {
        let place = match &event.agent {
            agent if agent.is_root() => String::new(),
            agent => format!("{agent}/"),
        };
        let key = |turn: &u32, call: &u32| format!("{step}#{place}{turn}.{call}");
        match &event.what {
            EventKind::Called {
                turn,
                call,
                effects,
                ..
            } => {
                let key = key(turn, call);
                let call = self.0.entry(key.clone()).or_default();
                assert_eq!(call.ended, None, "{key} began again");
                call.effects = Some(*effects);
                call.begun += 1;
            }
            EventKind::Returned {
                turn, call, error, ..
            } => {
                let Some(call) = self.0.get_mut(&key(turn, call)) else {
                    // A dispatched agent is not a tool call.
                    return;
                };
                match error {
                    Some(failure) if failure.in_doubt => call.in_doubt += 1,
                    _ => call.ended = Some(at),
                }
            }
            _ => {}
        }
    }

    /// Compares the journal with the calls that the server received.
    fn check(&self, seen: &CallTimes, report: &mut Report) {
        for (key, call) in &self.0 {
            let seen = seen.get(key).map(Vec::as_slice).unwrap_or_default();
            report.calls += seen.len();
            report.repeated += seen.len().saturating_sub(1);
            if let Some(ended) = call.ended {
                assert!(!seen.is_empty(), "{key} ended without a call");
                let late = seen.iter().any(|started| *started > ended);
                assert!(!late, "{key} was made after it had ended");
            }
            if call.effects == Some(Effects::Once) {
                let allowed = call.in_doubt + 1;
                assert!(call.begun <= allowed, "{key}: {} intents", call.begun);
                assert!(seen.len() <= call.begun, "{key}: {} calls", seen.len());
            }
        }
    }
}
