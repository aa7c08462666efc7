//! Monitoring of model servers on this machine or network (S0.68): one notice when a server stops answering,
//! one when it is back.
//!
//! Only models on this host or in its network are pinged, once a minute, and only while a skill or a chat
//! could use them. Models behind one address are one server, with one notice. A ping runs no model and costs
//! nothing. The state is stored, so neither a restart nor `deft tick` repeats a notice or a ping. Not here:
//! models of providers; runs report their failures.

use std::collections::BTreeMap;
use std::time::Duration;

use deft_base::{Error, read_setting};
use deft_engine::tier;
use deft_model::{Body, Failure, Outage, Step, Tier};
use deft_outbox::{Kind, Notice};
use deft_store::{ConversationFilter, NewNotice, SkillFilter};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Scheduler;

/// Interval between pings.
const EVERY: SignedDuration = SignedDuration::from_mins(1);

/// A ping may come this much earlier than `EVERY` after the last one.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(5);

/// Timeout of a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(3);

/// Number of unanswered pings in a row after which a server counts as down; a busy or restarting one may miss
/// one.
const SILENT: u32 = 2;

/// A chat is open if its last message is at most this old.
const OPEN: SignedDuration = SignedDuration::from_hours(1);

/// Models behind one address.
struct ModelServer {
    address: String,
    models: Vec<String>,
}

/// The state of a server, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Health {
    #[serde(default)]
    asked_at: Option<Timestamp>,
    /// Number of unanswered pings in a row.
    #[serde(default)]
    silent: u32,
    #[serde(default)]
    lost: Option<Loss>,
}

/// An outage of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Loss {
    since: Timestamp,
    alert: LossAlert,
}

/// Who has notified people about an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LossAlert {
    /// Not reported yet.
    NotYet,
    Here,
    /// A run that met the outage has reported it; a later run will report the recovery.
    ByRun,
}

impl Scheduler {
    /// Checks the servers once a minute, until cancelled.
    pub(crate) async fn watch_models(&self) -> Result<(), Error> {
        loop {
            let next = self.now().saturating_add(EVERY);
            let next = next.unwrap_or(Timestamp::MAX);
            self.check_models().await?;
            self.clock().sleep_until(next).await;
        }
    }

    /// Pings the servers of local models, if a skill or chat could use them and no process has pinged them
    /// within the last minute, and sends notices about changes.
    pub async fn check_models(&self) -> Result<(), Error> {
        let servers = self.local_servers();
        if servers.is_empty() || !self.needs_models().await? {
            return Ok(());
        }
        let looks = servers.iter().map(|server| self.look_at(server));
        for looked in futures_util::future::join_all(looks).await {
            looked?;
        }
        Ok(())
    }

    /// Pings every local model now, and returns the results.
    pub async fn ping_models(&self) -> Vec<(String, Result<(), Failure>)> {
        let models = self.local_servers().into_iter();
        let models = models.flat_map(|server| server.models);
        let pings = models.map(|model| async move {
            let answered = self
                .engine
                .agents()
                .models()
                .ping(&model, PING_TIMEOUT)
                .await;
            (model, answered)
        });
        futures_util::future::join_all(pings).await
    }

    fn local_servers(&self) -> Vec<ModelServer> {
        let models = self.engine.agents().models();
        let mut servers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for model in models.list().iter().filter(|model| model.is_local()) {
            let address = model
                .base_url
                .as_deref()
                .map(|url| url.trim_end_matches('/'));
            let address = address.unwrap_or(model.provider.word());
            let models = servers.entry(address.to_owned()).or_default();
            models.push(model.name.clone());
        }
        let servers = servers.into_iter();
        servers
            .map(|(address, models)| ModelServer { address, models })
            .collect()
    }

    /// Whether a skill could ask a model, or a chat is open.
    async fn needs_models(&self) -> Result<bool, Error> {
        let snapshot = self.library().snapshot();
        let thinks = snapshot.skills().any(|loaded| {
            let skill = &loaded.skill;
            let steps = match &skill.body {
                Body::Steps(workflow) => workflow.steps.as_slice(),
                Body::Call { .. } | Body::Instructions(_) | Body::Manual { .. } => &[],
            };
            let asks = |step: &Step| step.kind.offered_tools().is_some();
            tier(skill) == Tier::Agent || steps.iter().any(asks)
        });
        if thinks {
            return Ok(true);
        }
        // The plan of a record only calls tools.
        let records = SkillFilter {
            enabled: Some(true),
            tier: Some(Tier::Agent),
            limit: Some(1),
            ..SkillFilter::default()
        };
        if !self.store().skills(records).await?.is_empty() {
            return Ok(true);
        }
        let newest = ConversationFilter {
            limit: Some(1),
            ..ConversationFilter::default()
        };
        let newest = self.store().conversations(newest).await?;
        let since = self.now().saturating_sub(OPEN);
        let since = since.unwrap_or(Timestamp::MIN);
        Ok(newest.iter().any(|row| row.updated_at >= since))
    }

    async fn look_at(&self, server: &ModelServer) -> Result<(), Error> {
        let now = self.now();
        let key = format!("model_health:{}", server.address);
        let mut health = self.health_of(&key).await?;
        let wait = EVERY.saturating_sub(TOLERANCE);
        let asked = health.asked_at.map(|at| now.duration_since(at).abs());
        let Some(model) = server
            .models
            .first()
            .filter(|_| asked.is_none_or(|ago| ago >= wait))
        else {
            return Ok(());
        };
        let answered = self
            .engine
            .agents()
            .models()
            .ping(model, PING_TIMEOUT)
            .await;
        health.asked_at = Some(now);
        match answered {
            Ok(()) => {
                // Send the notice first: if this process ends before the state is stored, the next one finds
                // the same outage and adds the same notice, which is sent once.
                if let Some(loss) = health.lost.take() {
                    self.report_recovery(server, &loss, now).await?;
                }
                health.silent = 0;
            }
            Err(failure) => {
                health.silent = health.silent.saturating_add(1);
                if health.lost.is_none() && health.silent >= SILENT {
                    let alert = LossAlert::NotYet;
                    health.lost = Some(Loss { since: now, alert });
                    self.keep_health(&key, &health).await?;
                }
                if let Some(loss) = &mut health.lost
                    && loss.alert == LossAlert::NotYet
                {
                    loss.alert = self.report_loss(server, &failure, loss.since, now).await?;
                }
            }
        }
        self.keep_health(&key, &health).await
    }

    async fn health_of(&self, key: &str) -> Result<Health, Error> {
        let stored = read_setting(&**self.store(), key).await?;
        Ok(stored.unwrap_or_default())
    }

    async fn keep_health(&self, key: &str, health: &Health) -> Result<(), Error> {
        let text = serde_json::to_string(health).unwrap_or_default();
        Ok(self.store().keep_setting(key, &text).await?)
    }

    async fn report_loss(
        &self,
        server: &ModelServer,
        failure: &Failure,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<LossAlert, Error> {
        let names = names(&server.models);
        tracing::warn!(model = %names, %failure, "the server of a model does not answer");
        let key = format!("model:{} lost {since}", server.address);
        let mut known = false;
        for outage in server.outages() {
            known |= self.engine.incidents().watch(&outage, &key, now).await?;
        }
        if known {
            return Ok(LossAlert::ByRun);
        }
        let text = format!(
            "{failure}\nagents that use it fail until it answers; `deft doctor` checks it now"
        );
        let title = format!("no answer from {names}");
        self.send_health_notice(key, title, text, now).await?;
        Ok(LossAlert::Here)
    }

    async fn report_recovery(
        &self,
        server: &ModelServer,
        loss: &Loss,
        now: Timestamp,
    ) -> Result<(), Error> {
        let names = names(&server.models);
        tracing::info!(model = %names, "the server of a model answers again");
        if loss.alert == LossAlert::Here {
            let since =
                deft_schedule::day_and_time(loss.since, now, &self.engine.base().host_zone());
            let title = format!("{names}: answering again");
            let text = format!("{title}, after no answer since {since}");
            let key = format!("model:{} found {}", server.address, loss.since);
            self.send_health_notice(key, title, text, now).await?;
        }
        for outage in server.outages() {
            self.engine.incidents().end_watched(&outage, now).await?;
        }
        Ok(())
    }

    pub(crate) async fn send_health_notice(
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
            always: false,
        };
        let body = notice.body();
        let new = NewNotice {
            key,
            skill: None,
            body,
            at,
        };
        self.store().add_notice(new).await?;
        self.engine.base().bells().messages.notify_waiters();
        Ok(())
    }
}

impl ModelServer {
    fn outages(&self) -> impl Iterator<Item = Outage> + '_ {
        let models = self.models.iter().cloned();
        models.map(Outage::Model)
    }
}

/// Names the models: "model `a`", "models `a` and `b`".
fn names(models: &[String]) -> String {
    let quoted: Vec<String> = models.iter().map(|model| format!("`{model}`")).collect();
    match quoted.as_slice() {
        [only] => format!("model {only}"),
        [all @ .., last] => format!("models {} and {last}", all.join(", ")),
        [] => "model".to_owned(),
    }
}
