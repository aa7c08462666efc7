//! The context of an agent's work. A fired skill gets its cause, time and inputs; a chat gets the list of
//! running tasks, so that the agent does not promise work that is already being done.
//!
//! Not here: the task itself, which is the text of the skill or the message.

use deft_base::read_or_log;
use deft_library::CHAT_SKILL;
use deft_model::{RunStatus, Skill, clip};
use deft_schedule::show;
use deft_store::{RunFilter, RunRow};

use crate::Agents;
use crate::chat_run::conversation_of;

/// Maximum number of runs in the context of a chat.
const MAX_RUNS: usize = 10;

/// Number of runs that are read for it, because those of other chats are among them.
const RUNS_READ: u32 = 100;

/// Maximum number of characters of what a run waits for.
const MAX_REASON_LEN: usize = 200;

impl Agents {
    /// Returns the cause, time and inputs of a fired skill.
    pub(super) fn fire_context(&self, run: &RunRow, skill: &Skill) -> String {
        let zone = self.base.host_zone();
        let mut lines = vec![format!("skill: {}", skill.name)];
        if run.skill != skill.id.as_str() {
            lines.push(format!("as a part of: {}", run.skill));
        }
        let timing = deft_skillfile::schedule(skill, &self.base.moment());
        let by = match (run.slot, timing) {
            (None, _) => run.cause.to_string(),
            (Some(_), None) => "its schedule".to_owned(),
            (Some(_), Some(schedule)) => format!("its schedule, {}", schedule.words(&zone)),
        };
        lines.push(format!("fired by: {by}"));
        if let Some(slot) = run.slot {
            lines.push(format!("planned for: {}", show(slot, &zone)));
        }
        if run.inputs != "{}" {
            lines.push(format!("inputs: {}", run.inputs));
        }
        let text = lines.join("\n");
        deft_workflow::mask(&text).unwrap_or(text)
    }

    /// Returns the runs that have not ended, without those of other chats. Runs that cannot be read are left
    /// out.
    pub(super) async fn describe_active_runs(
        &self,
        conversation: &str,
        own: Option<&RunRow>,
    ) -> String {
        let filter = RunFilter {
            statuses: vec![RunStatus::Queued, RunStatus::Running, RunStatus::Waiting],
            limit: Some(RUNS_READ),
            ..RunFilter::default()
        };
        let runs = self.store().runs(filter).await;
        let runs = read_or_log(runs, "the active runs for a prompt").unwrap_or_default();
        let is_shown = |run: &&RunRow| {
            let other = own.is_none_or(|own| own.id != run.id);
            let here = conversation_of(run).is_ok_and(|id| id.is_none_or(|id| id == conversation));
            other && here
        };
        let shown: Vec<&RunRow> = runs.iter().filter(is_shown).collect();
        let mut lines: Vec<String> = Vec::new();
        for run in shown.iter().take(MAX_RUNS) {
            lines.push(self.run_state(run).await);
        }
        if let Some(more) = shown.len().checked_sub(MAX_RUNS).filter(|more| *more > 0) {
            lines.push(format!("- … and {more} more"));
        }
        let text = lines.join("\n");
        deft_workflow::mask(&text).unwrap_or(text)
    }

    /// Returns the state of a run, in one line.
    async fn run_state(&self, run: &RunRow) -> String {
        let pinned = self.library.find_pinned(&run.skill, &run.revision).await;
        let name = pinned.map_or_else(|_| run.skill.clone(), |it| it.skill.name.clone());
        let what = match run.skill.as_str() {
            CHAT_SKILL => "an earlier message of this conversation".to_owned(),
            _ => format!("`{name}`"),
        };
        let since = show(
            run.started_at.unwrap_or(run.admitted_at),
            &self.base.host_zone(),
        );
        let how = match (run.status, run.waits_for()) {
            (RunStatus::Queued, _) => format!("is queued since {since}"),
            (RunStatus::Waiting, Some(reason)) => {
                let reason = clip(reason, MAX_REASON_LEN);
                format!("waits since {since} for {}", reason.replace('\n', " "))
            }
            _ => format!("runs since {since}"),
        };
        format!("- {what} ({}) {how}", run.id)
    }
}
