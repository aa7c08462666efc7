//! Skills fired by events in deft (S0.83).
//!
//! Events are derived from the store, once a minute and with every `deft tick`, so an event counts no matter
//! which process it happened in. The store keeps the last event that each skill was fired for; the key of the
//! run prevents two processes from firing it twice. Not here: keywords of messages, which fire nothing but
//! add playbooks to prompts.

use deft_base::{Error, read_instant};
use deft_engine::{Admission, Fire};
use deft_model::{Cause, Overlap, RunId, SkillEvent, Trigger};
use deft_store::{ConversationCursor, ConversationFilter, SkillFilter, SkillRow};
use jiff::{SignedDuration, Timestamp};

use crate::{Scheduler, readable_timing};

/// Interval between checks for events.
const EVERY: SignedDuration = SignedDuration::from_mins(1);

/// A conversation has ended after this much time without a message.
const CONVERSATION_TIMEOUT: SignedDuration = SignedDuration::from_mins(15);

/// Number of conversations read at once.
const PAGE: u32 = 100;

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
            let seen = read_instant(&**self.store(), &mark(&row)).await?;
            let happened = match event {
                SkillEvent::ConversationEnded => self.last_ended(&row, seen, now).await?,
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

    /// Fires a skill for an event at `at`.
    async fn fire_event(
        &self,
        row: &SkillRow,
        event: SkillEvent,
        at: Timestamp,
    ) -> Result<Option<RunId>, Error> {
        let skill = &row.text.skill;
        let pinned = self.library().pin_row(row).await?;
        let fire = Fire {
            skill: skill.clone(),
            cause: Cause::Event,
            key: Some(format!("{event} {skill} {at}")),
            overlap: Some(pinned.skill.policy.overlap.unwrap_or(Overlap::Queue)),
            ..Fire::default()
        };
        let admitted = self.engine.admit_pinned(fire, pinned).await?;
        self.keep_mark(row, at).await?;
        Ok(match admitted {
            Admission::Run(run) => Some(run.id),
            Admission::Existing(_) => None,
        })
    }

    async fn keep_mark(&self, row: &SkillRow, at: Timestamp) -> Result<(), Error> {
        let kept = self.store().keep_setting(&mark(row), &at.to_string());
        Ok(kept.await?)
    }

    /// Returns the time of the last message in the conversation with a person that ended last, if it is later than
    /// `seen`.
    async fn last_ended(
        &self,
        row: &SkillRow,
        seen: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        let silent = now
            .saturating_sub(CONVERSATION_TIMEOUT)
            .unwrap_or(Timestamp::MIN);
        let mut filter = ConversationFilter {
            archived: true,
            limit: Some(PAGE),
            ..ConversationFilter::default()
        };
        // Latest first, so the first match is the result.
        loop {
            let page = self.store().conversations(filter.clone()).await?;
            for found in &page {
                if seen.is_some_and(|seen| found.updated_at <= seen) {
                    break;
                }
                let is_over = found.archived_at.is_some() || found.updated_at <= silent;
                if is_over && !found.channel.starts_with(SKILL_CHANNEL_PREFIX) {
                    return Ok(Some(found.updated_at));
                }
            }
            let last = page.last().filter(|_| page.len() == PAGE as usize);
            let last = last.filter(|last| seen.is_none_or(|seen| last.updated_at > seen));
            let is_first = filter.after.is_none();
            let Some(last) = last else {
                // The conversations of skills were many: the next check need not read them again.
                if !is_first && seen.is_none_or(|seen| silent > seen) {
                    self.keep_mark(row, silent).await?;
                }
                return Ok(None);
            };
            filter.after = Some(ConversationCursor {
                updated_at: last.updated_at,
                id: last.id.clone(),
            });
        }
    }
}

/// The setting with the instant up to which no event is left for a skill.
fn mark(row: &SkillRow) -> String {
    format!("event_seen:{}", row.text.skill)
}
