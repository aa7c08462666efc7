//! The commands to kill: all that write, and a few that only read.

use deft_model::RunStatus;
use deft_store::{RunFilter, Store};
use serde_json::json;

use super::scatter;

/// Skills whose call `act` must not be repeated, `put` may be repeated, and `look` has no effect.
pub(super) const SKILLS: [(&str, &str); 5] = [
    (
        "serial",
        "name: serial\ndescription: d\nsteps:\n  - {id: a, tool: act}\n  - {id: b, tool: put}\n  - {id: c, tool: look}\n  - {id: d, tool: act, condition: \"c\"}\n  - {id: e, tool: put}\n",
    ),
    (
        "group",
        "name: group\ndescription: d\nsteps:\n  - {id: a, tool: put, parallel_group: 1}\n  - {id: b, tool: look, parallel_group: 1}\n  - {id: c, tool: act, parallel_group: 1}\n  - {id: think, compute: \"result = 1\"}\n  - {id: e, tool: act}\n",
    ),
    (
        "mixed",
        "name: mixed\ndescription: d\nsteps:\n  - {id: each, loop: [1, 2, 3], loop_var: n, loop_concurrency: 2, tool: put, args: {n: \"{{ n }}\"}}\n  - {id: inner, skill: serial}\n  - {id: last, tool: act}\n",
    ),
    (
        "asking",
        "name: asking\ndescription: d\nsteps:\n  - {id: a, tool: put}\n  - {id: b, tool: act}\nconfirmations:\n  - {step: b, message: Really?}\n",
    ),
    (
        "ticking",
        "name: ticking\ndescription: d\nschedule: \"*/2 * * * * *\"\nmisfire: all\noverlap: allow\nsteps:\n  - {id: a, tool: act}\n",
    ),
];

#[derive(Clone, Copy, Debug)]
pub(super) enum Command {
    Up,
    Run,
    RunOnce,
    Detach,
    Tick,
    Chat,
    ToolCall,
    QueueJob,
    Resume,
    Approve,
    Switch,
    List,
    Doctor,
}

/// The relative frequency of each command.
const WEIGHTS: [(Command, usize); 13] = [
    (Command::Up, 5),
    (Command::Run, 4),
    (Command::RunOnce, 2),
    (Command::Detach, 2),
    (Command::Tick, 4),
    (Command::Chat, 3),
    (Command::ToolCall, 1),
    (Command::QueueJob, 2),
    (Command::Resume, 2),
    (Command::Approve, 2),
    (Command::Switch, 1),
    (Command::List, 1),
    (Command::Doctor, 1),
];

impl Command {
    pub(super) fn pick(number: usize) -> Self {
        let all: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut left = number % all;
        for (command, weight) in WEIGHTS {
            if left < weight {
                return command;
            }
            left -= weight;
        }
        Self::Up
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Run => "run",
            Self::RunOnce => "run --key",
            Self::Detach => "run --detach",
            Self::Tick => "tick",
            Self::Chat => "chat -p",
            Self::ToolCall => "tools call",
            Self::QueueJob => "jobs queue",
            Self::Resume => "runs resume",
            Self::Approve => "approvals approve",
            Self::Switch => "skills enable",
            Self::List => "runs list",
            Self::Doctor => "doctor",
        }
    }

    /// Returns the maximum lifetime in milliseconds. Most processes need less and end before they are killed
    /// if they are lucky.
    pub(super) fn longest(self) -> usize {
        match self {
            Self::Up => 1200,
            Self::Run | Self::RunOnce | Self::Tick | Self::Chat | Self::Resume => 450,
            Self::ToolCall => 300,
            Self::Detach | Self::QueueJob | Self::Approve | Self::Switch => 120,
            Self::List | Self::Doctor => 80,
        }
    }

    /// Whether the first id that the command prints is the id of a stored run.
    pub(super) fn promises(self) -> bool {
        matches!(
            self,
            Self::Run | Self::RunOnce | Self::Detach | Self::QueueJob
        )
    }

    /// Returns the arguments of the command, or `None` if it has no possible subject at the moment.
    pub(super) async fn args(self, n: usize, store: &dyn Store) -> Option<Vec<String>> {
        let skill = ["serial", "group", "mixed", "asking"][scatter(n + 7) % 4];
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Some(match self {
            Self::Up => words(&["up", "--grace", "1s"]),
            Self::Run => words(&["run", skill, "--json"]),
            // The same key is used several times, concurrently and later.
            Self::RunOnce => {
                let key = format!("key-{}", n / 20);
                words(&["run", "serial", "--key", &key, "--json"])
            }
            Self::Detach => words(&["run", skill, "--detach", "--json"]),
            Self::Tick => words(&["tick"]),
            Self::Chat => {
                let key = format!("chat-{n}");
                words(&["chat", "-p", "Do it", "--yes", "--key", &key])
            }
            Self::ToolCall => {
                let once = format!("once={n}");
                words(&["tools", "call", "act", &once])
            }
            Self::QueueJob => {
                let action = json!({"type": "tool_call", "toolName": "act", "parameters": {}});
                let job = json!({"name": format!("job {n}"), "action": action});
                words(&["jobs", "queue", "--args", &job.to_string(), "--json"])
            }
            Self::Resume => words(&["runs", "resume", &active(n, store).await?]),
            Self::Approve => words(&["approvals", "approve", &question(n, store).await?]),
            Self::Switch => words(&["skills", "enable", "ticking"]),
            Self::List => words(&["runs", "list", "--limit", "5"]),
            Self::Doctor => words(&["doctor"]),
        })
    }
}

/// Returns a run that has not ended. Resuming an ended run would repeat calls at a person's request, which is
/// allowed.
async fn active(n: usize, store: &dyn Store) -> Option<String> {
    let filter = RunFilter {
        statuses: vec![RunStatus::Queued, RunStatus::Running],
        limit: Some(20),
        ..RunFilter::default()
    };
    let runs = store.runs(filter).await.unwrap();
    let run = runs.get(scatter(n + 13) % runs.len().max(1))?;
    Some(run.id.to_string())
}

/// Returns a pending approval.
async fn question(n: usize, store: &dyn Store) -> Option<String> {
    let open = store.approvals(false).await.unwrap();
    let one = open.get(scatter(n + 17) % open.len().max(1))?;
    Some(one.asked.id.clone())
}
