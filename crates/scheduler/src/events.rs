//! Skills fired by events in deft (S0.83).
//!
//! Events are derived from the store, once a minute and with every `deft tick`, so an event counts no matter
//! which process it happened in. The store keeps the last event that each skill was fired for; the key of the
//! run prevents two processes from firing it twice. Not here: keywords of messages, which fire nothing but
//! add playbooks to prompts.

use deft_base::{Error, read_instant};
use deft_engine::{Admission, Fire};
use deft_model::{Cause, Overlap, RunId, SkillEvent, Trigger};
use deft_store::{ConversationFilter, ConversationRow, SkillFilter, SkillRow};
use jiff::{SignedDuration, Timestamp};

use crate::{Scheduler, readable_timing};

/// Interval between checks for events.
const EVERY: SignedDuration = SignedDuration::from_mins(1);

/// A conversation has ended after this much time without a message.
const CONVERSATION_TIMEOUT: SignedDuration = SignedDuration::from_mins(15);

/// How many of the newest conversations are checked; older ones have ended and were handled before.
const NEWEST: u32 = 100;

/// Prefix of the channels of skills; no person writes in these conversations.
const SKILL_CHANNEL_PREFIX: &str = "skill:";

impl Scheduler {
    /// Fires skills on events until cancelled.
    pub(crate) async fn watch_events(&self) -> Result<(), Error> {
        loop {
            let now = self.now();
            self.fire_events(now).await?;
            let next = now.saturating_add(EVERY).unwrap_or(Timestamp::MAX);
            self.clock().sleep_until(next).await;
        }
    }

    /// Queues a run for each skill whose event has happened since it was last fired.
    pub async fn fire_events(&self, now: Timestamp) -> Result<Vec<RunId>, Error> {
        let by_event = SkillFilter {
            enabled: Some(true),
            trigger: Some(Trigger::Event),
            ..SkillFilter::default()
        };
        let mut fired = Vec::new();
        for row in self.store().skills(by_event).await? {
            let timed = readable_timing(&row);
            let Some(event) = timed.and_then(|timed| timed.event()) else {
                continue;
            };
            if row.standing.backoff_until.is_some_and(|until| until > now) {
                continue;
            }
            let happened = match event {
                SkillEvent::ConversationEnded => self.last_ended(now).await?,
            };
            let Some(at) = happened else {
                continue;
            };
            match self.fire_event(&row, event, at).await {
                Ok(run) => fired.extend(run),
                Err(error @ Error::Store(_)) => return Err(error),
                // The next check tries again; other skills are not delayed.
                Err(error) => {
                    tracing::warn!(
                        skill = %row.text.skill, %error,
                        "the skill could not be fired for an event"
                    );
                }
            }
        }
        Ok(fired)
    }

    /// Fires a skill for an event at `at`, unless it was fired for this event before.
    async fn fire_event(
        &self,
        row: &SkillRow,
        event: SkillEvent,
        at: Timestamp,
    ) -> Result<Option<RunId>, Error> {
        let skill = &row.text.skill;
        let mark = format!("event_seen:{skill}");
        let seen = read_instant(&**self.store(), &mark).await?;
        if seen.is_some_and(|seen| at <= seen) {
            return Ok(None);
        }
        let pinned = self.library().pin_row(row).await?;
        let fire = Fire {
            skill: skill.clone(),
            cause: Cause::Event,
            key: Some(format!("{event} {skill} {at}")),
            overlap: Some(pinned.skill.policy.overlap.unwrap_or(Overlap::Queue)),
            ..Fire::default()
        };
        let admitted = self.engine.admit_pinned(fire, pinned).await?;
        self.store().keep_setting(&mark, &at.to_string()).await?;
        Ok(match admitted {
            Admission::Run(run) => Some(run.id),
            Admission::Existing(_) => None,
        })
    }

    /// Returns the time of the last message in the conversation that ended last.
    async fn last_ended(&self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let newest = ConversationFilter {
            archived: true,
            limit: Some(NEWEST),
            ..ConversationFilter::default()
        };
        let rows = self.store().conversations(newest).await?;
        let silent = now
            .saturating_sub(CONVERSATION_TIMEOUT)
            .unwrap_or(Timestamp::MIN);
        let ended = |row: &&ConversationRow| {
            let over = row.archived_at.is_some() || row.updated_at <= silent;
            over && !row.channel.starts_with(SKILL_CHANNEL_PREFIX)
        };
        Ok(rows.iter().filter(ended).map(|row| row.updated_at).max())
    }
}
