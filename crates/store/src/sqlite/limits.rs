//! The limits of a skill: a hold, the number of its running runs, and their order.
//!
//! Not here: the global limit (`claim.rs`), and which run is the oldest (`queue.rs`).

use std::collections::HashMap;

use rusqlite::Connection;

use super::fault::Fault;

/// Counts per skill, cached so that a long queue of one skill is counted once.
#[derive(Default)]
pub(super) struct Counts {
    busy: HashMap<String, u32>,
    first: HashMap<String, i64>,
    held: HashMap<String, bool>,
}

impl Counts {
    /// Whether a run of a skill may start: the skill is not held, fewer runs than `limit` are running, and no run
    /// has an earlier turn than `turn`, if the run waits for its turn.
    pub(super) fn admit(
        &mut self,
        db: &Connection,
        skill: &str,
        limit: Option<u32>,
        turn: Option<i64>,
    ) -> Result<bool, Fault> {
        if remember(&mut self.held, skill, || is_held(db, skill))? {
            return Ok(false);
        }
        if let Some(limit) = limit
            && remember(&mut self.busy, skill, || busy(db, skill))? >= limit
        {
            return Ok(false);
        }
        match turn {
            Some(turn) => Ok(remember(&mut self.first, skill, || first_turn(db, skill))? == turn),
            None => Ok(true),
        }
    }
}

fn is_held(db: &Connection, skill: &str) -> Result<bool, Fault> {
    let mut held = db.prepare_cached("SELECT 1 FROM hold WHERE skill = ?1")?;
    Ok(held.exists([skill])?)
}

fn remember<V: Copy>(
    known: &mut HashMap<String, V>,
    skill: &str,
    count: impl FnOnce() -> Result<V, Fault>,
) -> Result<V, Fault> {
    if let Some(value) = known.get(skill) {
        return Ok(*value);
    }
    let value = count()?;
    known.insert(skill.to_owned(), value);
    Ok(value)
}

/// Returns the number of running runs of a skill.
pub(super) fn busy(db: &Connection, skill: &str) -> Result<u32, Fault> {
    let sql = "SELECT count(*) FROM run INDEXED BY run_active \
               WHERE status = 'running' AND skill = ?1 AND turn IS NOT NULL";
    Ok(db
        .prepare_cached(sql)?
        .query_row([skill], |row| row.get(0))?)
}

/// SQL: the first or last turn of the runs of skill `?1` with a status, or a default.
macro_rules! turn_of {
    ($which:literal, $status:literal, $none:literal) => {
        concat!(
            "coalesce((SELECT ",
            $which,
            "(turn) FROM run INDEXED BY run_active WHERE status = '",
            $status,
            "' AND skill = ?1 AND turn IS NOT NULL), ",
            $none,
            ")"
        )
    };
}

pub(super) use turn_of;

fn first_turn(db: &Connection, skill: &str) -> Result<i64, Fault> {
    let sql = concat!(
        "SELECT min(",
        turn_of!("min", "queued", "9223372036854775807"),
        ", ",
        turn_of!("min", "running", "9223372036854775807"),
        ", ",
        turn_of!("min", "waiting", "9223372036854775807"),
        ")"
    );
    Ok(db
        .prepare_cached(sql)?
        .query_row([skill], |row| row.get(0))?)
}
