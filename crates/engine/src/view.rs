//! A run as programs and people see it: the JSON of the contract.

use std::sync::Arc;

use deft_base::read_stored;
use deft_model::{Object, RunId, Usage};
use deft_store::{NoticeFilter, NoticeRow, RunRow, SpentFilter, SpentRow, StoredEvent, run_scope};
use deft_wire::event::EventView;
use deft_workflow::{Event, Plan, dry_run, step_views};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::drive::RouterFacts;
use crate::record::PublishedEvent;
use crate::{Engine, Error, claim};

impl Engine {
    /// The skill that a name means now, made ready to run.
    pub async fn plan(&self, name: &str) -> Result<Arc<Plan>, Error> {
        Ok(self.inner.library.find(name).await?.plan)
    }

    /// What a run of a skill would do, as far as that is known.
    pub async fn dry_run(&self, name: &str, inputs: &Object) -> Result<Value, Error> {
        let pinned = self.inner.library.find(name).await?;
        let plan = &pinned.plan;
        // With the stored tools: asking a server would start it.
        let inputs = self.inner.inputs_as_known(&pinned, inputs)?;
        let facts = RouterFacts(&self.inner);
        let steps = dry_run(plan, &inputs, &self.inner.rules, &facts, self.inner.now());
        let found = self.inner.library.check_surroundings(&pinned.skill).await;
        let found = found.iter().map(|one| {
            json!({ "rule": one.rule.id(), "severity": one.severity.word(),
                "message": one.message, "help": one.help })
        });
        let mut shown = json!({
            "diagnostics": found.collect::<Vec<_>>(),
            "skill": plan.skill(),
            "revision": plan.revision(),
            "tier": pinned.skill.tier().to_string(),
            "inputs": inputs,
            "steps": steps,
            "dry_run": true,
        });
        mask(&mut shown);
        Ok(shown)
    }

    /// The public events of a run after a sequence number, oldest first.
    pub async fn public_events(&self, run: &RunRow, after: u64) -> Result<Vec<EventView>, Error> {
        let stored = self.store().events(Some(&run.id), after, u32::MAX).await?;
        let published = stored.into_iter().map(|stored| publish(run, stored));
        let public = published.filter_map(|published| match published {
            Ok(published) => published.public().map(Ok),
            Err(error) => Some(Err(error)),
        });
        public.collect()
    }

    /// Events of a run as they are stored, for listeners that came late.
    pub async fn published(&self, run: &RunRow, after: u64) -> Result<Vec<PublishedEvent>, Error> {
        let stored = self.store().events(Some(&run.id), after, u32::MAX).await?;
        let stored = stored.into_iter();
        stored.map(|stored| publish(run, stored)).collect()
    }

    /// A run with its steps, as `deft runs show --json` prints it.
    pub async fn show(&self, row: &RunRow) -> Result<Value, Error> {
        let stored = self.store().events(Some(&row.id), 0, u32::MAX).await?;
        let events = claim::decode_events(&row.id, &stored)?;
        let steps = self.steps(row, &events).await;
        let mut shown = run_json(row)?;
        if let Some(why) = events.iter().find_map(|(_, event)| check_failed(event)) {
            shown["check_failed"] = json!(why);
        }
        shown["steps"] = steps;
        shown["calls"] = json!(crate::agent::calls(&events));
        shown["notices"] = self.notices_of(row).await?;
        if row.outcome.is_none() {
            shown["usage"] = json!(self.usage_so_far(row).await?);
        }
        mask(&mut shown);
        Ok(shown)
    }

    /// What models took so far for a run that is not over.
    async fn usage_so_far(&self, row: &RunRow) -> Result<Usage, Error> {
        let filter = SpentFilter {
            scope: Some(run_scope(&row.id)),
            ..SpentFilter::default()
        };
        let spent = self.store().spent(filter).await?;
        Ok(spent.first().map(SpentRow::usage).unwrap_or_default())
    }

    /// What people were told of a run, and whether it arrived: that is another matter than how the
    /// run ended.
    async fn notices_of(&self, row: &RunRow) -> Result<Value, Error> {
        let filter = NoticeFilter {
            run: Some(row.id.clone()),
            ..NoticeFilter::default()
        };
        let notices = self.store().notices(filter).await?;
        let notice = |notice: &NoticeRow| {
            json!({
                "id": notice.id,
                "kind": notice.key,
                "status": notice.status.word(),
                "attempts": notice.attempts,
                "receipt": notice.receipt,
                "error": notice.error,
            })
        };
        Ok(notices.iter().rev().map(notice).collect())
    }

    /// The steps of a run. A run whose skill is lost still shows what has happened.
    async fn steps(&self, row: &RunRow, events: &[(Timestamp, Event)]) -> Value {
        let inner = &self.inner;
        let Ok(pinned) = inner.library.pinned(&row.skill, &row.revision).await else {
            return Value::Array(Vec::new());
        };
        let nested = inner.nested(&row.skill, events).await.unwrap_or_default();
        let nested: Vec<Arc<Plan>> = nested.into_values().collect();
        let events = events.iter().map(|(at, event)| (*at, event));
        json!(step_views(&pinned.plan, &nested, events))
    }

    /// A run with everything that is known of it, for an archive or a report.
    pub async fn export(&self, row: &RunRow) -> Result<Value, Error> {
        let stored = self.store().events(Some(&row.id), 0, u32::MAX).await?;
        let what = format!("the journal of run `{}`", row.id);
        let line = |event: &StoredEvent| {
            Ok(json!({
                "seq": event.seq,
                "at": event.at.to_string(),
                "event": read_stored::<Value>(&event.body, || what.clone())?,
            }))
        };
        let journal: Vec<Value> = stored.iter().map(line).collect::<Result<_, Error>>()?;
        let content = self.store().revision(&row.revision).await?;
        let mut shown = json!({
            "run": self.show(row).await?,
            "events": self.public_events(row, 0).await?,
            "journal": journal,
            "skill": json_text(content.as_deref(), "its skill", row)?,
        });
        mask(&mut shown);
        Ok(shown)
    }
}

/// Why the check before the run could not be made, as a run says it when it begins.
fn check_failed(event: &Event) -> Option<&str> {
    match event {
        Event::Started(started) => started.check_failed.as_deref(),
        Event::Prepared(prepared) => prepared.check_failed.as_deref(),
        Event::Reused { .. }
        | Event::Skipped { .. }
        | Event::Listed { .. }
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::Begun(_)
        | Event::Ended(_)
        | Event::Agent { .. }
        | Event::Healed { .. }
        | Event::Woken { .. }
        | Event::Entered { .. }
        | Event::Continued { .. }
        | Event::Expired { .. }
        | Event::Closed { .. }
        | Event::Stopped { .. }
        | Event::Resumed { .. }
        | Event::Finished(_) => None,
    }
}

/// A stored event as listeners get it.
pub(crate) fn publish(run: &RunRow, stored: StoredEvent) -> Result<PublishedEvent, Error> {
    Ok(PublishedEvent {
        event: claim::decode_event(&run.id, &stored)?,
        seq: stored.seq,
        at: stored.at,
        run: stored.run,
        skill: run.skill.clone(),
    })
}

/// A run without its steps.
pub fn run_json(row: &RunRow) -> Result<Value, Error> {
    let instant = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let duration = match (row.started_at, row.finished_at) {
        (Some(started), Some(finished)) => {
            let ms = finished.as_millisecond() - started.as_millisecond();
            Some(ms.max(0))
        }
        _ => None,
    };
    let mut shown = json!({
        "id": row.id.as_str(),
        "skill": row.skill,
        "revision": row.revision,
        "tier": row.tier,
        "agent_id": row.agent_id,
        "cause": row.cause,
        "slot": instant(row.slot),
        "slot_until": instant(row.slot_until),
        "slot_count": row.slot_count,
        "key": row.key,
        "parent": row.parent.as_ref().map(RunId::as_str),
        "status": row.status,
        "outcome": row.outcome,
        "waiting_for": row.waits_for(),
        "inputs": json_text(Some(&row.inputs), "its inputs", row)?,
        "outputs": json_text(row.outputs.as_deref(), "its outputs", row)?,
        "error": json_text(row.error.as_deref(), "its error", row)?,
        "usage": match &row.usage {
            Some(usage) => json_text(Some(usage), "its usage", row)?,
            None => json!(Usage::default()),
        },
        "admitted_at": instant(Some(row.admitted_at)),
        "started_at": instant(row.started_at),
        "finished_at": instant(row.finished_at),
        "duration_ms": duration,
    });
    mask(&mut shown);
    Ok(shown)
}

/// A field of a run; null if it is absent.
fn json_text(text: Option<&str>, field: &str, row: &RunRow) -> Result<Value, Error> {
    let read = |text| read_stored(text, || format!("run `{}`: {field}", row.id));
    Ok(text.map(read).transpose()?.unwrap_or_default())
}

/// Shows secrets by name only.
pub(crate) fn mask(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(masked) = deft_workflow::mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(map) => map.values_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
