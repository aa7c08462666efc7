//! Watches the servers of models that somebody here has to look after (S0.68): one message when one
//! is gone, one when it is back.
//!
//! Only models on this host or in its network are asked, once a minute, and only while anybody could
//! want them. Asking costs nothing: no model is run. What is known is kept in the store, so that a
//! restart repeats no message. Not here: models of providers, whose failures are told by the runs
//! that meet them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use deft_model::{Action, Body, Failure, Tier};
use deft_store::{ConversationFilter, NewNotice};
use jiff::{SignedDuration, Timestamp};

use crate::agent::tier;
use crate::notice::{Kind, Notice};
use crate::{Engine, Error};

/// How often a server is asked.
const EVERY: SignedDuration = SignedDuration::from_mins(1);

/// How long it may take to answer. One that is busy with a long prompt is slow, not gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// So often in a row it must have been silent: one that is being restarted is not gone.
const SILENT: u32 = 2;

/// A chat in which something was said so recently is open.
const OPEN: SignedDuration = SignedDuration::from_hours(1);

/// How often in a row servers were silent, as far as this process has asked.
#[derive(Default)]
pub(crate) struct Silences(Mutex<HashMap<String, u32>>);

impl Silences {
    /// Counts another one.
    fn more(&self, model: &str) -> u32 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(model.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count
    }

    fn end(&self, model: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(model);
    }
}

impl Engine {
    /// Asks the servers once a minute, as long as anybody could want them.
    pub(crate) async fn watch_models(&self) -> Result<(), Error> {
        loop {
            let next = self.inner.now().saturating_add(EVERY);
            let next = next.unwrap_or(Timestamp::MAX);
            self.check_models().await?;
            self.inner.parts.clock.sleep_until(next).await;
        }
    }

    /// Asks the servers of local models whether they are there, if anybody could want them, and
    /// tells people what has changed.
    pub async fn check_models(&self) -> Result<(), Error> {
        let models = self.local_models();
        if models.is_empty() || !self.is_anybody_thinking().await? {
            return Ok(());
        }
        for model in models {
            self.look_at(&model).await?;
        }
        Ok(())
    }

    /// Whether the servers of local models are there, right now.
    pub async fn ping_models(&self) -> Vec<(String, Result<(), Failure>)> {
        let pings = self.local_models().into_iter().map(|model| async move {
            let answered = self.inner.models().ping(&model, PATIENCE).await;
            (model, answered)
        });
        futures_util::future::join_all(pings).await
    }

    fn local_models(&self) -> Vec<String> {
        let models = self.inner.models();
        let local = models.list().iter().filter(|model| model.is_local());
        local.map(|model| model.name.clone()).collect()
    }

    /// Whether a skill could ask a model, or somebody chats.
    async fn is_anybody_thinking(&self) -> Result<bool, Error> {
        let snapshot = self.inner.snapshot();
        let thinks = snapshot.skills().any(|loaded| {
            let skill = &loaded.skill;
            let steps = match &skill.body {
                Body::Steps(workflow) => workflow.steps.as_slice(),
                _ => &[],
            };
            let asks = |action: &Action| matches!(action, Action::Agent { .. });
            tier(skill) == Tier::Agent || steps.iter().any(|step| asks(&step.action))
        });
        if thinks {
            return Ok(true);
        }
        let newest = ConversationFilter {
            limit: Some(1),
            ..ConversationFilter::default()
        };
        let newest = self.store().conversations(newest).await?;
        let since = self.inner.now().saturating_sub(OPEN);
        let since = since.unwrap_or(Timestamp::MIN);
        Ok(newest.iter().any(|row| row.updated_at >= since))
    }

    async fn look_at(&self, model: &str) -> Result<(), Error> {
        let silences = &self.inner.silences;
        let answered = self.inner.models().ping(model, PATIENCE).await;
        let key = setting(model);
        let lost = self.store().setting(&key).await?;
        let lost = lost.and_then(|since| since.parse::<Timestamp>().ok());
        let now = self.inner.now();
        match (answered, lost) {
            (Ok(()), None) => silences.end(model),
            (Ok(()), Some(since)) => {
                silences.end(model);
                // The message first: should this process end in between, the next one finds the
                // same loss and the same message, which is sent once.
                self.tell_found(model, since, now).await?;
                self.store().keep_setting(&key, "").await?;
            }
            (Err(failure), None) => {
                if silences.more(model) >= SILENT {
                    self.store().keep_setting(&key, &now.to_string()).await?;
                    self.tell_lost(model, &failure, now, now).await?;
                }
            }
            (Err(failure), Some(since)) => {
                // Whoever stored the loss may have ended before it told anybody.
                if silences.more(model) == 1 {
                    self.tell_lost(model, &failure, since, now).await?;
                }
            }
        }
        Ok(())
    }

    async fn tell_lost(
        &self,
        model: &str,
        failure: &Failure,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<(), Error> {
        tracing::warn!(%model, %failure, "the server of a model does not answer");
        let text = format!(
            "{failure}\nagents that use it fail until it is back; `deft doctor` asks again"
        );
        let key = format!("model:{model} lost {since}");
        let title = format!("model {model} does not answer");
        self.tell_health(key, title, text, now).await
    }

    async fn tell_found(&self, model: &str, since: Timestamp, now: Timestamp) -> Result<(), Error> {
        tracing::info!(%model, "the server of a model answers again");
        let text = format!("model `{model}` answers again; it did not since {since}");
        let key = format!("model:{model} found {since}");
        let title = format!("model {model} is back");
        self.tell_health(key, title, text, now).await
    }

    async fn tell_health(
        &self,
        key: String,
        title: String,
        text: String,
        at: Timestamp,
    ) -> Result<(), Error> {
        let notice = Notice {
            kind: Kind::Health,
            title,
            text,
            skill: None,
            run: None,
            target: None,
            approval: None,
        };
        let body = notice.body();
        let new = NewNotice {
            key,
            skill: None,
            body,
            at,
        };
        self.store().add_notice(new).await?;
        self.inner.bells.messages.notify_waiters();
        Ok(())
    }
}

/// Where the store keeps since when a model is gone.
fn setting(model: &str) -> String {
    format!("model_lost:{model}")
}
