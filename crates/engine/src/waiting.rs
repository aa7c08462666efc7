//! Waiting runs: notices about them, and waking those that can continue.
//!
//! A person who relies on a run overnight must be told that it waits.

use deft_base::read_or_log;
use deft_library::{PinnedSkill, aftermath};
use deft_model::{Failure, RunStatus, Tier, WaitKind, is_template};
use deft_outbox::{Kind, Notice};
use deft_store::{RunFilter, RunRow, SkillChange, SkillState, Write};
use deft_tools::{Health, ServerState, ToolLookup};
use jiff::Timestamp;

use crate::engine::Inner;
use crate::finish::write_notice;
use crate::question::Question;
use crate::reply::question_key;
use crate::{Engine, Error};

/// Returns the notice about a question. It has the same key each time the run parks with the question.
pub(crate) fn question(run: &RunRow, question: &Question, at: Timestamp) -> Write {
    let id = &question.approval;
    let text = format!(
        "`{}` asks: {}\n`deft approvals approve {id}` or `deft approvals reject {id}`",
        run.skill, question.message
    );
    let kind = Kind::Question;
    let notice = Notice::about_run(kind, &run.skill, text, &run.skill, run.id.as_str());
    Write::Notice {
        key: question_key(id),
        body: notice.body(),
        at,
    }
}

impl Engine {
    /// Wakes runs that wait for a tool or a model if everything that their skill names is available. For a
    /// caller that has just listed the servers. Returns how many runs were woken.
    pub async fn wake_ready(&self) -> Result<u64, Error> {
        let waiting = RunFilter {
            statuses: vec![RunStatus::Waiting],
            ..RunFilter::default()
        };
        let servers = self.router().health();
        let mut woken = 0;
        for run in self.store().runs(waiting).await? {
            let reason = run.waiting_for.as_ref();
            if reason.is_none_or(|reason| reason.kind != WaitKind::Tool) {
                continue;
            }
            let pinned = self
                .inner
                .library
                .find_pinned(&run.skill, &run.revision)
                .await;
            let pinned = read_or_log(pinned, "the skill of a waiting run");
            if pinned.is_some_and(|pinned| self.inner.has_needs(&pinned, &servers)) {
                let now = self.inner.now();
                woken += self
                    .store()
                    .wake(WaitKind::Tool, Some(&run.id), now)
                    .await?;
            }
        }
        Ok(woken)
    }
}

impl Inner {
    /// Whether the tools of a skill are available, their servers answer, and its agent has a model.
    fn has_needs(&self, pinned: &PinnedSkill, servers: &[Health]) -> bool {
        let skill = &pinned.skill;
        if skill.tier() == Tier::Agent && !self.agents.has_model(&skill.policy.agent_id) {
            return false;
        }
        let tools = pinned.plan.steps().flat_map(|step| step.kind.tools());
        let mut tools = tools.filter(|tool| !is_template(tool));
        tools.all(|tool| match self.parts.router.find(tool) {
            ToolLookup::Tool(info) => info.builtin || answers(servers, &info.server),
            ToolLookup::Ambiguous(_) | ToolLookup::Missing { .. } | ToolLookup::Unknown { .. } => {
                false
            }
        })
    }

    /// Returns the end of a run's misfire window, until which it waits for missing tools.
    pub(crate) fn tools_deadline(&self, pinned: &PinnedSkill, run: &RunRow) -> Option<Timestamp> {
        let since = run.slot.unwrap_or(run.admitted_at);
        since
            .saturating_add(pinned.skill.policy.misfire_window)
            .ok()
    }

    /// Returns the notice that a scheduled run waits for a tool, unless people know of the incident.
    pub(crate) async fn alert_blocked(
        &self,
        run: &RunRow,
        missing: &Failure,
        until: Option<Timestamp>,
        at: Timestamp,
    ) -> Option<Write> {
        run.slot?;
        let store = &self.parts.store;
        let row = store.skill(&run.skill).await;
        let row = read_or_log(row, "the skill of a waiting run")??;
        if aftermath::is_folded(row.standing.alerted_at, at) {
            return None;
        }
        let known = match missing.outage.as_deref() {
            Some(outage) => {
                let known = self.incidents.join(outage, &run.skill, run.id.as_str(), at);
                read_or_log(known.await, "an incident").unwrap_or(false)
            }
            None => false,
        };
        let change = SkillChange {
            standing: SkillState {
                alerted_at: Some(at),
                ..row.standing.clone()
            },
            timeline: None,
            at,
        };
        // Another process that changed the skill at the same time has sent the notice, or the next check
        // does.
        let changed = store.change_skill(row.id, row.version, change).await;
        read_or_log(changed, "the skill of a waiting run")??;
        let what = &missing.message;
        tracing::warn!(skill = %run.skill, run = %run.id, %what, "a run waits");
        if known {
            return None;
        }
        let until = self.until_words(until, at);
        let text = format!("`{}` waits: {what}\n{until}", run.skill);
        let (title, run_id) = (&row.text.name, run.id.as_str());
        let notice = Notice::about_run(Kind::Blocked, title, text, &run.skill, run_id);
        Some(write_notice(&notice, at))
    }

    fn until_words(&self, until: Option<Timestamp>, at: Timestamp) -> String {
        let ends = until.map_or(String::new(), |until| {
            let until = deft_schedule::describe_time(until, at, &self.base.host_zone());
            format!(", until {until} at the latest")
        });
        format!("it continues when that is available{ends}")
    }
}

fn answers(servers: &[Health], name: &str) -> bool {
    let health = servers.iter().find(|health| health.server == name);
    health.is_some_and(|health| match health.state {
        ServerState::Ready | ServerState::Starting | ServerState::Stopped => true,
        ServerState::Disabled
        | ServerState::BackingOff { .. }
        | ServerState::CircuitOpen { .. } => false,
    })
}
