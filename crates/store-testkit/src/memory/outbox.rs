//! Notices, facts, holds and settings.

use std::collections::{BTreeMap, HashMap, HashSet};

use deft_model::RunId;
use jiff::Timestamp;

use super::State;
use deft_store::{
    FactFilter, FactRow, NewFact, NewNotice, NoticeEnd, NoticeFilter, NoticeRow, NoticeStatus,
};

/// The run, its finish ordinal, and the key of the notice; some notices belong to no run.
type NoticeKey = (Option<usize>, u32, String);

#[derive(Default)]
pub(super) struct Notes {
    keys: HashSet<NoticeKey>,
    notices: Vec<NoticeRow>,
    last_id: i64,
    facts: Vec<FactRow>,
    last_fact: i64,
    holds: HashMap<String, Timestamp>,
    settings: BTreeMap<String, String>,
}

impl State {
    /// Adds a notice of a run.
    pub(super) fn notice_of(&mut self, n: usize, key: String, body: String, at: Timestamp) {
        let row = &self.runs[n].row;
        let whose = (Some(n), row.finish_ordinal, key.clone());
        let (run, skill) = (row.id.clone(), row.skill.clone());
        let notice = NewNotice {
            key,
            skill: Some(skill),
            body,
            at,
        };
        if self.notes.add(whose, notice)
            && let Some(added) = self.notes.notices.last_mut()
        {
            added.run = Some(run);
        }
    }
}

impl Notes {
    pub(super) fn add_notice(&mut self, notice: NewNotice) -> bool {
        self.add((None, 0, notice.key.clone()), notice)
    }

    fn add(&mut self, key: NoticeKey, notice: NewNotice) -> bool {
        if !self.keys.insert(key) {
            return false;
        }
        self.last_id += 1;
        self.notices.push(NoticeRow {
            id: self.last_id,
            run: None,
            skill: notice.skill,
            key: notice.key,
            body: notice.body,
            at: notice.at,
            status: NoticeStatus::Queued,
            attempts: 0,
            parts: 0,
            try_at: Some(notice.at),
            receipt: None,
            error: None,
            ended_at: None,
        });
        true
    }

    /// Whether a notice of the run is still queued.
    pub(super) fn waits(&self, run: &RunId) -> bool {
        let mut notices = self.notices.iter();
        notices.any(|row| row.run.as_ref() == Some(run) && row.status == NoticeStatus::Queued)
    }

    pub(super) fn forget(&mut self, run: &RunId) {
        self.notices.retain(|row| row.run.as_ref() != Some(run));
    }

    pub(super) fn take(&mut self, now: Timestamp, until: Timestamp, limit: u32) -> Vec<NoticeRow> {
        let mut due: Vec<usize> = (0..self.notices.len())
            .filter(|n| self.notices[*n].try_at.is_some_and(|at| at <= now))
            .collect();
        due.sort_by_key(|n| (self.notices[*n].try_at, *n));
        due.truncate(limit as usize);
        due.sort_unstable();
        let take = |n| {
            let notice: &mut NoticeRow = &mut self.notices[n];
            notice.try_at = Some(until);
            notice.attempts += 1;
            notice.clone()
        };
        due.into_iter().map(take).collect()
    }

    pub(super) fn end(&mut self, id: i64, end: NoticeEnd, at: Timestamp) {
        let open = |notice: &&mut NoticeRow| notice.id == id && notice.status != NoticeStatus::Sent;
        let Some(notice) = self.notices.iter_mut().find(open) else {
            return;
        };
        notice.ended_at = Some(at);
        notice.try_at = None;
        if matches!(end, NoticeEnd::Later { .. }) {
            notice.attempts = notice.attempts.saturating_sub(1);
        }
        match end {
            NoticeEnd::Sent { receipt } => {
                notice.status = NoticeStatus::Sent;
                (notice.receipt, notice.error) = (Some(receipt), None);
            }
            NoticeEnd::Again { at, error } | NoticeEnd::Later { at, error } => {
                notice.status = NoticeStatus::Queued;
                (notice.receipt, notice.error) = (None, Some(error));
                (notice.try_at, notice.ended_at) = (Some(at), None);
            }
            NoticeEnd::Dead { error } => {
                notice.status = NoticeStatus::Dead;
                (notice.receipt, notice.error) = (None, Some(error));
            }
        }
    }

    pub(super) fn keep_parts(&mut self, id: i64, parts: u32) {
        let mut notices = self.notices.iter_mut();
        if let Some(notice) = notices.find(|notice| notice.id == id) {
            notice.parts = notice.parts.max(parts);
        }
    }

    pub(super) fn notices(&self, filter: &NoticeFilter) -> Vec<NoticeRow> {
        let fits = |notice: &&NoticeRow| {
            let of = filter.run.as_ref();
            of.is_none_or(|run| notice.run.as_ref() == Some(run))
                && filter.status.is_none_or(|status| notice.status == status)
                && filter.before.is_none_or(|before| notice.id < before)
        };
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        let notices = self.notices.iter().rev().filter(fits).take(limit);
        notices.cloned().collect()
    }

    pub(super) fn next(&self) -> Option<Timestamp> {
        self.notices.iter().filter_map(|notice| notice.try_at).min()
    }

    pub(super) fn retry(&mut self, id: Option<i64>, at: Timestamp) -> u64 {
        let mut changed = 0;
        for notice in &mut self.notices {
            let wanted = id.is_none_or(|id| id == notice.id);
            if wanted && notice.status == NoticeStatus::Dead {
                notice.status = NoticeStatus::Queued;
                notice.try_at = Some(at);
                notice.attempts = 0;
                notice.ended_at = None;
                changed += 1;
            }
        }
        changed
    }

    pub(super) fn add_fact(&mut self, fact: NewFact) -> i64 {
        self.last_fact += 1;
        let id = self.last_fact;
        self.facts.push(FactRow { id, fact });
        id
    }

    pub(super) fn save_fact(&mut self, fact: NewFact) -> (FactRow, bool) {
        let same = |row: &&FactRow| {
            row.fact.category == fact.category && row.fact.text.eq_ignore_ascii_case(&fact.text)
        };
        if let Some(known) = self.facts.iter().rev().find(same) {
            return (known.clone(), false);
        }
        let id = self.add_fact(fact.clone());
        (FactRow { id, fact }, true)
    }

    pub(super) fn delete_fact(&mut self, id: i64) -> bool {
        let before = self.facts.len();
        self.facts.retain(|row| row.id != id);
        self.facts.len() < before
    }

    pub(super) fn facts(&self, filter: &FactFilter) -> Vec<FactRow> {
        let equal =
            |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|w| w == found);
        let fits = |row: &&FactRow| {
            let text = row.fact.text.to_lowercase();
            equal(&filter.agent_id, &row.fact.agent_id)
                && equal(&filter.category, &row.fact.category)
                && filter
                    .text
                    .as_ref()
                    .is_none_or(|words| text.contains(&words.to_lowercase()))
        };
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        let facts = self.facts.iter().rev().filter(fits).take(limit);
        facts.cloned().collect()
    }

    pub(super) fn hold(&mut self, skill: &str, held: bool, at: Timestamp) {
        if held {
            self.holds.entry(skill.to_owned()).or_insert(at);
        } else {
            self.holds.remove(skill);
        }
    }

    pub(super) fn held_since(&self, skill: &str) -> Option<Timestamp> {
        self.holds.get(skill).copied()
    }

    pub(super) fn setting(&self, name: &str) -> Option<String> {
        self.settings.get(name).cloned()
    }

    pub(super) fn keep_setting(&mut self, name: &str, value: &str) {
        self.settings.insert(name.to_owned(), value.to_owned());
    }

    pub(super) fn replace_setting(
        &mut self,
        name: &str,
        before: Option<&str>,
        value: &str,
    ) -> bool {
        let is_current = self.setting(name).as_deref() == before;
        if is_current {
            self.keep_setting(name, value);
        }
        is_current
    }
}
