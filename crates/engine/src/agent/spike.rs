//! Agents that take far more than they usually do are paused until a person lets them go on.
//!
//! Not here: budgets (`budget.rs`), which pause agents too.

use std::cmp::Ordering;

use deft_store::{NewNotice, UsageRow};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::engine::Inner;
use crate::notice::{Kind, Notice};

/// How far back the usual consumption of an agent is looked up.
const USUAL: SignedDuration = SignedDuration::from_hours(24);

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// What an agent had taken when a person let it go on: it is paused for no part of that again.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Forgiven {
    bucket: Timestamp,
    /// What it had taken in that bucket.
    tokens: u64,
}

impl Forgiven {
    /// What still counts of a stretch of time.
    fn left_of(self, row: &UsageRow) -> u64 {
        match row.bucket.cmp(&self.bucket) {
            Ordering::Less => 0,
            Ordering::Equal => row.tokens.saturating_sub(self.tokens),
            Ordering::Greater => row.tokens,
        }
    }
}

fn forgiven_key(agent: &str) -> String {
    format!("agent:{agent} resumed")
}

/// The name under which an agent is paused.
pub(crate) fn pause_key(agent: &str) -> String {
    format!("agent:{agent}")
}

impl Inner {
    /// Pauses an agent that takes far more than it usually does (S0.55), and tells people (S0.74).
    pub(super) async fn look_for_spike(&self, agent: &str, more: u64) {
        let now = self.now();
        let budgets = &self.options.agent;
        let rule = budgets.budgets.get(agent).unwrap_or(&budgets.budget);
        let from = now.saturating_sub(USUAL).unwrap_or(Timestamp::MIN);
        let Ok(usage) = self.parts.store.usage_since(agent, from).await else {
            return;
        };
        let hour = now.saturating_sub(HOUR).unwrap_or(Timestamp::MIN);
        let (present, before): (Vec<_>, Vec<_>) = usage.iter().partition(|row| row.bucket > hour);
        let forgiven = self.forgiven(agent).await;
        let counted = |row: &&UsageRow| forgiven.map_or(row.tokens, |past| past.left_of(row));
        let taken = present.iter().map(counted).sum::<u64>() + more;
        let hours = before.first().map_or(1, |first| {
            hour.duration_since(first.bucket).as_hours().max(1)
        });
        let usual = before.iter().map(|row| row.tokens).sum::<u64>();
        let usual = usual / u64::try_from(hours).unwrap_or(1);
        let threshold = rule.spike(usual);
        if taken <= threshold {
            return;
        }
        let why = format!(
            "it took {taken} tokens within an hour, more than {threshold} (usual: {usual})"
        );
        self.pause_agent(agent, &why, &deft_store::bucket(now).to_string())
            .await;
    }

    /// What a person has seen and let pass when they let the agent go on.
    async fn forgiven(&self, agent: &str) -> Option<Forgiven> {
        let kept = self.parts.store.setting(&forgiven_key(agent)).await;
        let kept = kept.ok()??;
        serde_json::from_str(&kept).ok()
    }

    /// Lets an agent ask no more until a person says so, and tells people once.
    pub(super) async fn pause_agent(&self, agent: &str, why: &str, incident: &str) {
        let (key, now) = (pause_key(agent), self.now());
        if !matches!(self.parts.store.held(&key).await, Ok(None)) {
            return;
        }
        tracing::warn!(%agent, %why, "the agent is paused");
        if let Err(error) = self.parts.store.hold(&key, true, now).await {
            tracing::warn!(%agent, %error, "the agent could not be paused");
            return;
        }
        let notice = Notice {
            kind: Kind::Paused,
            title: format!("agent {agent} is paused"),
            text: format!(
                "agent `{agent}` is paused: {why}\n`deft budget resume {agent}` lets it go on"
            ),
            skill: None,
            run: None,
            target: None,
        };
        let added = self.parts.store.add_notice(NewNotice {
            key: format!("{key} {incident}"),
            skill: None,
            body: notice.body(),
            at: now,
        });
        if let Err(error) = added.await {
            tracing::warn!(%agent, %error, "nobody could be told that the agent is paused");
        }
        self.bells.messages.notify_waiters();
    }
}

impl Engine {
    /// Lets a paused agent go on. Says whether it was paused.
    pub async fn resume_agent(&self, agent: &str) -> Result<bool, crate::Error> {
        let key = pause_key(agent);
        let now = self.inner.now();
        let paused = self.store().held(&key).await?.is_some();
        if paused {
            let bucket = deft_store::bucket(now);
            let usage = self.store().usage_since(agent, bucket).await?;
            let present = usage.iter().find(|row| row.bucket == bucket);
            let forgiven = Forgiven {
                bucket,
                tokens: present.map_or(0, |row| row.tokens),
            };
            let text = serde_json::to_string(&forgiven).unwrap_or_default();
            self.store()
                .keep_setting(&forgiven_key(agent), &text)
                .await?;
        }
        self.store().hold(&key, false, now).await?;
        self.inner.stir();
        Ok(paused)
    }

    /// Since when an agent is paused.
    pub async fn agent_paused(&self, agent: &str) -> Result<Option<Timestamp>, crate::Error> {
        Ok(self.store().held(&pause_key(agent)).await?)
    }
}
