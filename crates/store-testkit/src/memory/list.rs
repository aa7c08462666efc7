//! Queries for runs, events and owners.

use deft_model::RunId;
use jiff::SignedDuration;

use super::State;
use deft_store::{PageEnd, RunFilter, RunPage, RunRow, StoredEvent};

impl State {
    pub(super) fn owners(&self) -> Vec<String> {
        let running = self.index.running.iter();
        let mut owners: Vec<String> = running
            .filter_map(|n| self.runs[*n].row.owner.clone())
            .collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    pub(super) fn late_running(&self, late: SignedDuration) -> u64 {
        let running = self.index.running.iter().map(|n| &self.runs[*n].row);
        let is_late = |row: &&RunRow| {
            row.slot
                .is_some_and(|slot| row.admitted_at.duration_since(slot) > late)
        };
        running.filter(is_late).count() as u64
    }

    pub(super) fn list(&self, filter: &RunFilter, after: Option<PageEnd>) -> RunPage {
        let end = after.and_then(|PageEnd(n)| usize::try_from(n).ok());
        let older = &self.runs[..end.unwrap_or(self.runs.len())];
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        let rows = older.iter().map(|run| &run.row).enumerate().rev();
        let page: Vec<(usize, &RunRow)> = rows
            // Deleted runs keep their places in the list.
            .filter(|(_, row)| fits(row, filter) && self.by_id.contains_key(&row.id))
            .take(limit)
            .collect();
        let last = page.last().and_then(|(n, _)| i64::try_from(*n).ok());
        RunPage {
            runs: page.into_iter().map(|(_, row)| row.clone()).collect(),
            end: last.map(PageEnd),
        }
    }

    pub(super) fn events_after(
        &self,
        run: Option<&RunId>,
        after: u64,
        limit: u32,
    ) -> Vec<StoredEvent> {
        // A sequence number is an index plus one, so the first later event is at index `after`.
        let start = usize::try_from(after).unwrap_or(usize::MAX);
        let limit = limit as usize;
        match run {
            None => self
                .events
                .iter()
                .skip(start)
                // Events of deleted runs keep their places and numbers.
                .filter(|event| self.by_id.contains_key(&event.run))
                .take(limit)
                .cloned()
                .collect(),
            Some(id) => {
                let own = self.find(id).map_or(&[][..], |n| &self.runs[n].events);
                let own = &own[own.partition_point(|place| *place < start)..];
                let own = own.iter().take(limit);
                own.map(|place| self.events[*place].clone()).collect()
            }
        }
    }
}

fn fits(row: &RunRow, filter: &RunFilter) -> bool {
    filter
        .skill
        .as_ref()
        .is_none_or(|skill| *skill == row.skill)
        && filter
            .not_skill
            .as_ref()
            .is_none_or(|skill| *skill != row.skill)
        && (filter.statuses.is_empty() || filter.statuses.contains(&row.status))
        && (filter.outcomes.is_empty()
            || row
                .outcome
                .is_some_and(|outcome| filter.outcomes.contains(&outcome)))
        && filter
            .id_prefix
            .as_ref()
            .is_none_or(|prefix| row.id.as_str().starts_with(prefix.as_str()))
        && filter.since.is_none_or(|since| row.admitted_at >= since)
}
