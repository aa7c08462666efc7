//! Paused agents, which may not call their models: after the daily limit was reached, until the limit allows
//! it again; after unusual consumption, until a person resumes the agent.
//!
//! Not here: paused skills (`deft_library::aftermath`), which only people resume.

use deft_base::{Error, read_instant, read_or_log, read_setting};
use deft_model::{Failure, FailureClass};
use deft_outbox::{Kind, Notice};
use deft_store::{Limit, NewNotice};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Spending;
use super::bounds::Bound;
use crate::Agents;

/// The period from which the usual consumption of an agent is computed.
const USUAL_USAGE_PERIOD: SignedDuration = SignedDuration::from_hours(24);

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// The pause of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPause {
    /// When it began.
    pub since: Timestamp,
    /// The reason.
    pub why: String,
    /// Whether it ends by itself as soon as the limit allows it: on a new day, or when the limit is raised or
    /// removed. Otherwise a person has to resume the agent.
    pub lifts_itself: bool,
}

/// The stored reason of a pause.
#[derive(Default, Serialize, Deserialize)]
struct Cause {
    why: String,
    /// The limit that was reached; `None` for another reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<ReachedLimit>,
}

#[derive(Serialize, Deserialize)]
struct ReachedLimit {
    scope: String,
    tokens: Option<u64>,
    micros: Option<u64>,
}

impl ReachedLimit {
    /// Whether the limit is unchanged and of the same day.
    fn is_unchanged(&self, bounds: &[Bound]) -> bool {
        bounds.iter().any(|bound| {
            let limit = &bound.limit;
            (&limit.scope, limit.tokens, limit.micros) == (&self.scope, self.tokens, self.micros)
        })
    }
}

/// Returns the key of the hold on an agent.
pub(super) fn pause_key(agent: &str) -> String {
    format!("agent:{agent}")
}

/// Returns the key of the setting with the reason of a pause.
fn cause_key(agent: &str) -> String {
    format!("paused agent:{agent}")
}

/// Returns the key of the setting with the time at which a person resumed an agent.
fn resumed_key(agent: &str) -> String {
    format!("resumed agent:{agent}")
}

impl Agents {
    /// Returns the pause of an agent, given the current limits.
    async fn pause_of(&self, agent: &str, bounds: &[Bound]) -> Result<Option<AgentPause>, Error> {
        let Some(since) = self.store().held_since(&pause_key(agent)).await? else {
            return Ok(None);
        };
        let cause = self.cause(agent).await?;
        let lifts_itself = cause.limit.is_some();
        if cause.limit.is_some_and(|limit| !limit.is_unchanged(bounds)) {
            return Ok(None);
        }
        Ok(Some(AgentPause {
            since,
            why: cause.why,
            lifts_itself,
        }))
    }

    async fn cause(&self, agent: &str) -> Result<Cause, Error> {
        let stored = read_setting(&**self.store(), &cause_key(agent)).await?;
        Ok(stored.unwrap_or_default())
    }

    /// Returns the stored reason of a pause; `None` if the agent is not paused.
    async fn known_cause(&self, agent: &str) -> Result<Option<Cause>, Error> {
        match self.store().held_since(&pause_key(agent)).await? {
            Some(_) => self.cause(agent).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns why an agent may not call its model now. A pause ends when the limit allows calls again.
    pub(super) async fn check_pause(
        &self,
        agent: &str,
        bounds: &[Bound],
    ) -> Result<Option<Failure>, Error> {
        let key = pause_key(agent);
        if self.store().held_since(&key).await?.is_none() {
            return Ok(None);
        }
        if let Some(pause) = self.pause_of(agent, bounds).await? {
            return Ok(Some(paused_failure(agent, &pause)));
        }
        tracing::info!(%agent, "the agent resumes: its limit allows more calls");
        self.store().hold(&key, false, self.base.now()).await?;
        Ok(None)
    }

    /// Pauses an agent whose limit was reached.
    pub(super) async fn pause_for(&self, agent: &str, why: &Failure, limit: &Limit) {
        let cause = Cause {
            why: why.message.clone(),
            limit: Some(ReachedLimit {
                scope: limit.scope.clone(),
                tokens: limit.tokens,
                micros: limit.micros,
            }),
        };
        self.pause_agent(agent, &cause, &limit.scope).await;
    }

    /// Pauses an agent that consumes far more than usual (S0.55), and notifies people (S0.74). The request
    /// has been paid for, so usage that cannot be read does not fail it.
    pub(super) async fn look_for_spike(&self, spending: &Spending, more: u64) {
        let (agent, now) = (&spending.agent, self.base.now());
        let spike = self.find_spike(agent, more, now).await;
        let Some(why) = read_or_log(spike, "the usage of an agent").flatten() else {
            return;
        };
        let cause = Cause { why, limit: None };
        let incident = deft_store::bucket(now).to_string();
        self.pause_agent(agent, &cause, &incident).await;
    }

    /// Returns the reason to pause an agent that consumes far more than usual; `None` if it does not.
    async fn find_spike(
        &self,
        agent: &str,
        more: u64,
        now: Timestamp,
    ) -> Result<Option<String>, Error> {
        let budgets = self.budgets();
        let rule = budgets.agents.get(agent).unwrap_or(&budgets.all);
        let from = now
            .saturating_sub(USUAL_USAGE_PERIOD)
            .unwrap_or(Timestamp::MIN);
        let usage = self.store().usage_since(agent, from).await?;
        let hour = now.saturating_sub(HOUR).unwrap_or(Timestamp::MIN);
        // Consumption before a person resumed the agent does not count again.
        let resumed = read_instant(&**self.store(), &resumed_key(agent)).await?;
        let hour = hour.max(resumed.unwrap_or(Timestamp::MIN));
        let (present, before): (Vec<_>, Vec<_>) = usage.iter().partition(|row| row.bucket > hour);
        let taken = present.iter().map(|row| row.tokens).sum::<u64>() + more;
        let hours = before.first().map_or(1, |first| {
            hour.duration_since(first.bucket).as_hours().max(1)
        });
        let usual = before.iter().map(|row| row.tokens).sum::<u64>();
        let usual = usual / u64::try_from(hours).unwrap_or(1);
        let threshold = rule.spike(usual);
        let why =
            || format!("it used {taken} tokens in one hour; limit {threshold}, usual {usual}");
        Ok((taken > threshold).then(why))
    }

    /// Pauses an agent and notifies people once. A pause that only a person ends replaces one that ends by
    /// itself, never the other way round.
    async fn pause_agent(&self, agent: &str, cause: &Cause, incident: &str) {
        let (key, now) = (pause_key(agent), self.base.now());
        let known = match self.known_cause(agent).await {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(%agent, %error, "cannot read whether the agent is paused; it stays as it is");
                return;
            }
        };
        if known.is_some_and(|known| known.limit.is_none() || cause.limit.is_some()) {
            return;
        }
        let why = &cause.why;
        tracing::warn!(%agent, %why, "the agent is paused");
        if let Err(error) = self.hold_agent(agent, cause).await {
            tracing::warn!(%agent, %error, "the agent could not be paused");
            return;
        }
        let notice = Notice {
            kind: Kind::Paused,
            title: format!("agent {agent} is paused"),
            text: format!(
                "agent `{agent}` is paused: {why}\n{}",
                resume_hint(agent, cause.limit.is_some())
            ),
            skill: None,
            run: None,
            target: None,
            approval: None,
            always: false,
        };
        let added = self.store().add_notice(NewNotice {
            key: format!("{key} {incident}"),
            skill: None,
            body: notice.body(),
            at: now,
        });
        if let Err(error) = added.await {
            tracing::warn!(%agent, %error, "the notice that the agent is paused could not be stored");
        }
        self.base.bells().messages.notify_waiters();
    }

    /// Stores the reason before the pause: a pause without one could only be ended by a person.
    async fn hold_agent(&self, agent: &str, cause: &Cause) -> Result<(), Error> {
        let text = serde_json::to_string(cause).unwrap_or_default();
        let store = self.store();
        store.keep_setting(&cause_key(agent), &text).await?;
        Ok(store.hold(&pause_key(agent), true, self.base.now()).await?)
    }
}

impl Agents {
    /// Resumes a paused agent. Returns whether it was paused.
    pub async fn resume_agent(&self, agent: &str) -> Result<bool, Error> {
        let paused = match self.agent_paused(agent).await {
            // A person may end a pause whose stored reason is damaged.
            Err(Error::Unreadable { .. }) => true,
            paused => paused?.is_some(),
        };
        let now = self.base.now();
        let noted = self
            .store()
            .keep_setting(&resumed_key(agent), &now.to_string());
        noted.await?;
        self.store().hold(&pause_key(agent), false, now).await?;
        self.base.bells().ring_all();
        Ok(paused)
    }

    /// Returns the pause of an agent, if it is paused now.
    pub async fn agent_paused(&self, agent: &str) -> Result<Option<AgentPause>, Error> {
        let mut bounds = self.agent_bounds(agent, None);
        bounds.push(self.bound_of_all(agent));
        self.pause_of(agent, &bounds).await
    }
}

fn paused_failure(agent: &str, pause: &AgentPause) -> Failure {
    let AgentPause {
        since,
        why,
        lifts_itself,
    } = pause;
    let why = match why.as_str() {
        "" => String::new(),
        why => format!(": {why}"),
    };
    let message = format!("agent `{agent}` is paused since {since}{why}");
    Failure::new(FailureClass::Budget, message).hint(resume_hint(agent, *lifts_itself))
}

/// Returns the hint on how the pause ends.
fn resume_hint(agent: &str, lifts_itself: bool) -> String {
    if lifts_itself {
        "it resumes tomorrow, or after you raise the limit with `deft budget set`".to_owned()
    } else {
        format!("`deft budget resume {agent}` resumes it")
    }
}
