//! What people are told while a run waits: that it asks something, or that something it needs is
//! not there.
//!
//! A run that waits in silence is as good as lost to whoever trusts it overnight.

use deft_model::Failure;
use deft_store::{RunRow, SkillChange, Standing, Write};
use jiff::Timestamp;

use crate::aftermath;
use crate::ask::Question;
use crate::engine::Inner;
use crate::notice::{Kind, Notice};
use crate::reply::question_key;
use crate::skills::Pinned;

/// The message about a question. It is the same one however often the run parks with it.
pub(crate) fn question(run: &RunRow, question: &Question, at: Timestamp) -> Write {
    let id = &question.approval;
    let notice = Notice {
        kind: Kind::Question,
        title: run.skill.clone(),
        text: format!(
            "`{}` asks: {}\n`deft approvals approve {id}` or `deft approvals reject {id}`",
            run.skill, question.message
        ),
        skill: Some(run.skill.clone()),
        run: Some(run.id.to_string()),
        target: None,
        approval: None,
        always: false,
    };
    Write::Notice {
        key: question_key(id),
        body: notice.body(),
        at,
    }
}

impl Inner {
    /// Until when a run waits for tools that are not there: its misfire window.
    pub(crate) fn patience(&self, pinned: &Pinned, run: &RunRow) -> Option<Timestamp> {
        let since = run.slot.unwrap_or(run.admitted_at);
        since
            .saturating_add(pinned.skill.policy.misfire_window)
            .ok()
    }

    /// The message that a scheduled run waits for a tool, unless people know of the incident.
    pub(crate) async fn alert_blocked(
        &self,
        run: &RunRow,
        missing: &Failure,
        until: Option<Timestamp>,
        at: Timestamp,
    ) -> Option<Write> {
        run.slot?;
        let store = &self.parts.store;
        let row = store.skill(&run.skill).await.ok()??;
        if aftermath::is_folded(row.standing.alerted_at, at) {
            return None;
        }
        let known = match missing.outage.as_deref() {
            Some(outage) => {
                let known = self.join_incident(outage, &run.skill, run.id.as_str(), at);
                known.await.unwrap_or(false)
            }
            None => false,
        };
        let change = SkillChange {
            standing: Standing {
                alerted_at: Some(at),
                ..row.standing.clone()
            },
            timeline: None,
            at,
        };
        // Whoever changed it at the same time has told people, or the next look does.
        store
            .change_skill(row.id, row.version, change)
            .await
            .ok()??;
        let what = &missing.message;
        tracing::warn!(skill = %run.skill, run = %run.id, %what, "a run waits");
        if known {
            return None;
        }
        let notice = Notice {
            kind: Kind::Blocked,
            title: row.text.name.clone(),
            text: format!(
                "`{}` waits: {what}\n{}",
                run.skill,
                self.until_words(until, at)
            ),
            skill: Some(run.skill.clone()),
            run: Some(run.id.to_string()),
            target: None,
            approval: None,
            always: false,
        };
        Some(Write::Notice {
            key: Kind::Blocked.word().to_owned(),
            body: notice.body(),
            at,
        })
    }

    fn until_words(&self, until: Option<Timestamp>, at: Timestamp) -> String {
        let ends = until.map_or(String::new(), |until| {
            let until = deft_schedule::spoken(until, at, &self.host_zone());
            format!(", and gives up {until}")
        });
        format!("it continues when that is available{ends}")
    }
}
