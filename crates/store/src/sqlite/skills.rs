//! Skills and their slots. Moves along slots are compare-and-set, so that only one of several concurrent
//! ones is applied.

use deft_model::{Choice, DisabledReason, Tier, Trigger};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::fault::Fault;
use super::row::{self, maybe, micros, to_signed};
use super::{damage, outbox};
use crate::{
    Error, NewSkill, PassedSlots, PutResult, SchedulePosition, SkillChange, SkillFilter,
    SkillOrigin, SkillProperties, SkillRow, SkillState, SkillUpdate, SlotStep,
};

const COLUMNS: &str = "id, skill, agent_id, name, origin, revision, tier, trigger_type, timing, \
     required_tools, disabled, streak, backoff_until, alerted_at, notified_at, last_run_at, \
     last_run_status, last_run_summary, anchor, next_at, created_at, updated_at, version";

fn read(row: &Row<'_>) -> rusqlite::Result<SkillRow> {
    damage::read(row, "skill", 1, || {
        Ok(SkillRow {
            id: row.get(0)?,
            text: SkillProperties {
                skill: row.get(1)?,
                agent_id: row.get(2)?,
                name: row.get(3)?,
                origin: row::known_word(row, 4, origin_from_word)?,
                revision: row.get(5)?,
                tier: row::word(row, 6)?,
                trigger: row::word(row, 7)?,
                timing: row.get(8)?,
                required_tools: row::texts(row, 9)?,
            },
            standing: SkillState {
                disabled: row::maybe_word(row, 10)?,
                streak: row.get(11)?,
                backoff_until: row::maybe_instant(row, 12)?,
                alerted_at: row::maybe_instant(row, 13)?,
                notified_at: row::maybe_instant(row, 14)?,
                last_run_at: row::maybe_instant(row, 15)?,
                last_run_status: row.get(16)?,
                last_run_summary: row.get(17)?,
            },
            timeline: SchedulePosition {
                anchor: row::maybe_instant(row, 18)?,
                next_at: row::maybe_instant(row, 19)?,
            },
            created_at: row::instant(row, 20)?,
            updated_at: row::instant(row, 21)?,
            version: row::natural(row, 22)?,
        })
    })
}

fn origin(origin: SkillOrigin) -> &'static str {
    match origin {
        SkillOrigin::Record => "record",
        SkillOrigin::File => "file",
    }
}

fn origin_from_word(word: &str) -> Option<SkillOrigin> {
    [SkillOrigin::Record, SkillOrigin::File]
        .into_iter()
        .find(|known| origin(*known) == word)
}

pub(super) fn put(db: &Connection, skills: &[NewSkill]) -> Result<Vec<PutResult>, Fault> {
    skills.iter().map(|skill| put_one(db, skill)).collect()
}

fn put_one(db: &Connection, skill: &NewSkill) -> Result<PutResult, Fault> {
    let twin = by_name(db, &skill.text.skill)?;
    match (skill.replaces, twin) {
        (None, None) => insert(db, skill),
        (Some((id, version)), twin) => {
            let free = twin.as_ref().is_none_or(|twin| twin.id == id);
            match by_id(db, id)? {
                Some(row) if free && row.version == version => replace(db, skill, id),
                found => Ok(PutResult::Refused(twin.or(found).map(Box::new))),
            }
        }
        (None, Some(twin)) => Ok(PutResult::Refused(Some(Box::new(twin)))),
    }
}

fn insert(db: &Connection, skill: &NewSkill) -> Result<PutResult, Fault> {
    let sql = "INSERT INTO skill (skill, agent_id, name, origin, revision, tier, trigger_type, \
               timing, required_tools, content, disabled, streak, backoff_until, alerted_at, \
               notified_at, last_run_at, last_run_status, last_run_summary, anchor, next_at, \
               created_at, updated_at, version) VALUES \
               (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
               ?19, ?20, ?21, ?21, 1)";
    let id = db
        .prepare_cached(sql)?
        .insert(params_from_iter(values(skill)))?;
    Ok(stored_result(skill, id, skill.at, 1))
}

fn replace(db: &Connection, skill: &NewSkill, id: i64) -> Result<PutResult, Fault> {
    let sql = "UPDATE skill SET skill = ?1, agent_id = ?2, name = ?3, origin = ?4, revision = ?5, \
               tier = ?6, trigger_type = ?7, timing = ?8, required_tools = ?9, content = ?10, \
               disabled = ?11, streak = ?12, backoff_until = ?13, alerted_at = ?14, \
               notified_at = ?15, last_run_at = ?16, last_run_status = ?17, \
               last_run_summary = ?18, anchor = ?19, next_at = ?20, updated_at = ?21, \
               version = version + 1 WHERE id = ?22 RETURNING created_at, version";
    let mut values = values(skill);
    values.push(Value::Integer(id));
    let (created, version) =
        db.prepare_cached(sql)?
            .query_row(params_from_iter(values), |row| {
                damage::read_by(row, "skill", &skill.text.skill, || {
                    Ok((row::instant(row, 0)?, row::natural(row, 1)?))
                })
            })?;
    Ok(stored_result(skill, id, created, version))
}

/// Returns the values of a row, in the order of the statements above.
fn values(skill: &NewSkill) -> Vec<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    let optional = |text: &Option<String>| text.clone().map_or(Value::Null, Value::Text);
    let instant = |at: Option<Timestamp>| maybe(at).map_or(Value::Null, Value::Integer);
    let (what, how) = (&skill.text, &skill.standing);
    vec![
        text(&what.skill),
        text(&what.agent_id),
        text(&what.name),
        text(origin(what.origin)),
        text(&what.revision),
        text(what.tier.word()),
        text(what.trigger.word()),
        optional(&what.timing),
        text(&serde_json::json!(what.required_tools).to_string()),
        optional(&skill.content),
        how.disabled.map_or(Value::Null, |why| text(why.word())),
        Value::Integer(i64::from(how.streak)),
        instant(how.backoff_until),
        instant(how.alerted_at),
        instant(how.notified_at),
        instant(how.last_run_at),
        optional(&how.last_run_status),
        optional(&how.last_run_summary),
        instant(skill.timeline.anchor),
        instant(skill.timeline.next_at),
        Value::Integer(micros(skill.at)),
    ]
}

fn stored_result(skill: &NewSkill, id: i64, created_at: Timestamp, version: u64) -> PutResult {
    PutResult::Stored(Box::new(SkillRow {
        id,
        text: skill.text.clone(),
        standing: round_state(&skill.standing),
        timeline: SchedulePosition {
            anchor: skill.timeline.anchor.map(row::round_instant),
            next_at: skill.timeline.next_at.map(row::round_instant),
        },
        created_at: row::round_instant(created_at),
        updated_at: row::round_instant(skill.at),
        version,
    }))
}

fn round_state(standing: &SkillState) -> SkillState {
    SkillState {
        backoff_until: standing.backoff_until.map(row::round_instant),
        alerted_at: standing.alerted_at.map(row::round_instant),
        notified_at: standing.notified_at.map(row::round_instant),
        last_run_at: standing.last_run_at.map(row::round_instant),
        ..standing.clone()
    }
}

pub(super) fn change(
    db: &Connection,
    id: i64,
    version: u64,
    change: &SkillChange,
) -> Result<Option<SkillRow>, Fault> {
    if update(db, id, version, change)? {
        return by_id(db, id);
    }
    Ok(None)
}

/// Returns whether the row had this version and was updated.
fn update(db: &Connection, id: i64, version: u64, change: &SkillChange) -> Result<bool, Fault> {
    // Most updates do not enable or disable the skill. A statement that sets `disabled` would remove the
    // skill from the index of next slots and insert it again.
    let as_before = "UPDATE skill SET streak = ?4, backoff_until = ?5, alerted_at = ?6, \
                     notified_at = ?7, last_run_at = ?8, last_run_status = ?9, \
                     last_run_summary = ?10, updated_at = ?11, version = version + 1 \
                     WHERE id = ?1 AND version = ?2 AND disabled IS ?3";
    let switched = "UPDATE skill SET disabled = ?3, streak = ?4, backoff_until = ?5, \
                    alerted_at = ?6, notified_at = ?7, last_run_at = ?8, last_run_status = ?9, \
                    last_run_summary = ?10, updated_at = ?11, version = version + 1 \
                    WHERE id = ?1 AND version = ?2";
    let how = &change.standing;
    let values = params![
        id,
        to_signed(version),
        how.disabled.map(Choice::word),
        how.streak,
        maybe(how.backoff_until),
        maybe(how.alerted_at),
        maybe(how.notified_at),
        maybe(how.last_run_at),
        how.last_run_status,
        how.last_run_summary,
        micros(change.at),
    ];
    let execute = |sql: &str| db.prepare_cached(sql)?.execute(values);
    if execute(as_before)? == 0 && execute(switched)? == 0 {
        return Ok(false);
    }
    if let Some(timeline) = change.timeline {
        let sql = "UPDATE skill SET anchor = ?2, next_at = ?3 WHERE id = ?1";
        db.prepare_cached(sql)?.execute(params![
            id,
            maybe(timeline.anchor),
            maybe(timeline.next_at)
        ])?;
    }
    Ok(true)
}

/// Applies the change that the end of a run makes to its skill.
pub(super) fn apply_skill_update(db: &Connection, after: &SkillUpdate) -> Result<(), Fault> {
    if update(db, after.id, after.version, &after.change)? {
        return Ok(());
    }
    // The skill was deleted meanwhile, so there is no state to change.
    match by_id(db, after.id)? {
        None => Ok(()),
        Some(_) => Err(Error::Changed { skill: after.id }.into()),
    }
}

pub(super) fn remove(db: &Connection, id: i64) -> Result<Option<SkillRow>, Fault> {
    let row = by_id(db, id)?;
    db.prepare_cached("DELETE FROM skill WHERE id = ?1")?
        .execute([id])?;
    Ok(row)
}

pub(super) fn by_id(db: &Connection, id: i64) -> Result<Option<SkillRow>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM skill WHERE id = ?1");
    Ok(db.prepare_cached(&sql)?.query_row([id], read).optional()?)
}

pub(super) fn by_name(db: &Connection, skill: &str) -> Result<Option<SkillRow>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM skill WHERE skill = ?1");
    let mut found = db.prepare_cached(&sql)?;
    Ok(found.query_row([skill], read).optional()?)
}

pub(super) fn content(db: &Connection, id: i64) -> Result<Option<String>, Fault> {
    let mut content = db.prepare_cached("SELECT content FROM skill WHERE id = ?1")?;
    let content = content.query_row([id], |row| {
        damage::read_by(row, "skill", id, || row.get::<_, Option<String>>(0))
    });
    Ok(content.optional()?.flatten())
}

pub(super) fn changed_files(db: &Connection) -> Result<Vec<(String, String)>, Fault> {
    let sql = "SELECT skill, content FROM skill \
               WHERE origin = 'file' AND content IS NOT NULL ORDER BY skill";
    let mut changed = db.prepare_cached(sql)?;
    let changed = changed.query_map([], |row| {
        damage::read(row, "skill", 0, || Ok((row.get(0)?, row.get(1)?)))
    })?;
    Ok(changed.collect::<Result<_, _>>()?)
}

pub(super) fn list(db: &Connection, filter: &SkillFilter) -> Result<Vec<SkillRow>, Fault> {
    let (which, mut values) = conditions(filter);
    values.push(Value::Integer(filter.limit.map_or(-1, i64::from)));
    let sql = format!("SELECT {COLUMNS} FROM skill WHERE {which} ORDER BY skill LIMIT ?");
    let mut skills = db.prepare_cached(&sql)?;
    let skills = skills.query_map(params_from_iter(values), read)?;
    Ok(skills.collect::<Result<_, _>>()?)
}

pub(super) fn count(db: &Connection, filter: &SkillFilter) -> Result<u64, Fault> {
    let (which, values) = conditions(filter);
    let sql = format!("SELECT count(*) FROM skill WHERE {which}");
    let mut count = db.prepare_cached(&sql)?;
    Ok(count.query_row(params_from_iter(values), |row| row::natural(row, 0))?)
}

/// Returns the conditions of a filter and the values of its parameters.
fn conditions(filter: &SkillFilter) -> (String, Vec<Value>) {
    let mut which = vec!["true".to_owned()];
    let mut values = Vec::new();
    let mut equals = |column: &str, value: Option<&str>| {
        if let Some(value) = value {
            which.push(format!("{column} = ?"));
            values.push(Value::Text(value.to_owned()));
        }
    };
    equals("trigger_type", filter.trigger.map(Trigger::word));
    equals("tier", filter.tier.map(Tier::word));
    equals("agent_id", filter.agent_id.as_deref());
    equals("name", filter.name.as_deref());
    equals("origin", filter.origin.map(origin));
    equals("disabled", filter.disabled.map(DisabledReason::word));
    match filter.enabled {
        Some(true) => which.push("disabled IS NULL".to_owned()),
        Some(false) => which.push("disabled IS NOT NULL".to_owned()),
        None => {}
    }
    (which.join(" AND "), values)
}

pub(super) fn due(
    db: &Connection,
    after: Option<Timestamp>,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<SkillRow>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM skill INDEXED BY skill_next \
         WHERE next_at IS NOT NULL AND disabled IS NULL AND next_at <= ?1 \
         AND next_at > ?3 ORDER BY next_at LIMIT ?2"
    );
    let mut due = db.prepare_cached(&sql)?;
    let after = after.map_or(i64::MIN, micros);
    let due = due.query_map(params![micros(now), limit, after], read)?;
    Ok(due.collect::<Result<_, _>>()?)
}

pub(super) fn next_due(db: &Connection) -> Result<Option<Timestamp>, Fault> {
    let sql = "SELECT next_at, skill FROM skill INDEXED BY skill_next \
               WHERE next_at IS NOT NULL AND disabled IS NULL ORDER BY next_at LIMIT 1";
    let mut next = db.prepare_cached(sql)?;
    let next = next.query_row([], |row| {
        damage::read(row, "skill", 1, || row::instant(row, 0))
    });
    Ok(next.optional()?)
}

pub(super) fn pass(db: &Connection, steps: &[SlotStep]) -> Result<Vec<bool>, Fault> {
    let one = |step| {
        let counts = self::step(db, step)?;
        if counts {
            close_if_last(db, step)?;
            if let Some(notice) = &step.notice {
                outbox::add(db, notice)?;
            }
        }
        Ok(counts)
    };
    steps.iter().map(one).collect()
}

/// Moves a skill to its next slot. Returns `false` if the skill is no longer where the step starts.
pub(super) fn step(db: &Connection, step: &SlotStep) -> Result<bool, Fault> {
    let sql = "UPDATE skill SET next_at = ?3 \
               WHERE id = ?1 AND next_at = ?2 AND backoff_until IS ?4 AND disabled IS NULL";
    let moved = db.prepare_cached(sql)?.execute(params![
        step.id,
        micros(step.from),
        maybe(step.to),
        maybe(step.backoff_until)
    ])?;
    if moved == 0 {
        return Ok(false);
    }
    for passed in &step.passed {
        insert_passed(db, step, passed)?;
    }
    Ok(true)
}

fn insert_passed(db: &Connection, step: &SlotStep, passed: &PassedSlots) -> Result<(), Fault> {
    let sql = "INSERT INTO run (n, id, skill, revision, tier, agent_id, cause, slot, slot_until, \
               slot_count, status, outcome, in_turn, admitted_at, finished_at, finish_ordinal, \
               inputs, error) \
               SELECT max(?9, (SELECT coalesce(max(n), 0) + 1 FROM run)), ?2, skill, revision, tier, agent_id, 'schedule', ?3, ?4, ?5, 'done', ?6, 0, \
               ?7, ?7, 1, '{}', ?8 FROM skill WHERE id = ?1 ON CONFLICT DO NOTHING";
    db.prepare_cached(sql)?.execute(params![
        step.id,
        passed.run.as_str(),
        micros(passed.slot),
        maybe(passed.until),
        to_signed(passed.count),
        passed.outcome.word(),
        micros(step.at),
        passed.error,
        row::least_number(step.at),
    ])?;
    Ok(())
}

/// Disables a skill that was to fire once and whose slot brought no run.
pub(super) fn close_if_last(db: &Connection, step: &SlotStep) -> Result<(), Fault> {
    if step.last {
        let sql = "UPDATE skill SET disabled = ?2, updated_at = ?3, version = version + 1 \
                   WHERE id = ?1";
        let why = DisabledReason::OneShotDone.word();
        db.prepare_cached(sql)?
            .execute(params![step.id, why, micros(step.at)])?;
    }
    Ok(())
}
