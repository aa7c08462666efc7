//! Lookup of ids as people type them: a whole id, a prefix of one, or `last`.
//!
//! Every command that takes an id uses this module, so the same words work everywhere.

use deft_engine::{CHAT_SKILL, Error};
use deft_model::clip;
use deft_store::{RunFilter, RunRow};
use deft_wire::model::visible;
use deft_wire::{Done, Failure};

use crate::app::{self, App};
use crate::store;

/// The word for the newest item.
pub(crate) const LAST: &str = "last";

/// Maximum number of candidates in a message.
const MAX_NAMED: usize = 5;

/// Maximum length of the description of a candidate, in characters.
const MAX_DESCRIPTION_CHARS: usize = 50;

/// The prefix of every run id.
const RUN: &str = "run_";

/// How many of the newest runs are searched for one that is no chat.
const MAX_SEARCHED_RUNS: u32 = 200;

/// The kind of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdKind {
    Run,
    Job,
    Question,
    Grant,
    Conversation,
}

impl IdKind {
    fn noun(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Job => "job",
            Self::Question => "approval",
            Self::Grant => "grant",
            Self::Conversation => "conversation",
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Run => "deft runs list",
            Self::Job => "deft jobs list",
            Self::Question => "deft approvals list --all",
            Self::Grant => "deft approvals grants",
            Self::Conversation => "deft chat list",
        }
    }

    /// Returns the failure for an unknown id.
    pub(crate) fn unknown(self, given: &str) -> Failure {
        let message = match given {
            LAST => format!("no {} yet", self.noun()),
            given => format!("unknown {} `{given}`", self.noun()),
        };
        let failure = match self {
            Self::Run | Self::Job => Failure::input("unknown_run", message),
            Self::Question => Failure::input("unknown_approval", message),
            Self::Grant => Failure::input("unknown_grant", message),
            Self::Conversation => Failure::input("unknown_conversation", message),
        };
        failure.hint(format!("`{}` shows all {}s", self.list(), self.noun()))
    }

    /// Returns the failure for a prefix of several ids. It names the candidates, because ids of one day begin
    /// alike.
    pub(crate) fn ambiguous(self, given: &str, candidates: &[(String, String)]) -> Failure {
        let count = candidates.len();
        let named = candidates.iter().take(MAX_NAMED).map(|(id, about)| {
            format!(
                "\n  {id} ({})",
                visible(&clip(about.trim(), MAX_DESCRIPTION_CHARS))
            )
        });
        let mut named: Vec<String> = named.collect();
        if count > MAX_NAMED {
            named.push("\n  …".to_owned());
        }
        let message = format!("`{given}` matches {count} {}s", self.noun());
        let hint = format!("use a longer prefix:{}", named.concat());
        Failure::input("ambiguous", message).hint(hint)
    }

    /// Returns the item that `given` names. `describe` returns the id of an item and a few words about it.
    /// Fails if no id or several ids match.
    pub(crate) fn pick<T>(
        self,
        given: &str,
        newest_first: Vec<T>,
        describe: impl Fn(&T) -> (String, String),
    ) -> Done<T> {
        let found = self.find(given, newest_first, describe)?;
        found.ok_or_else(|| self.unknown(given))
    }

    /// Like [`IdKind::pick`], but returns `None` if no id matches.
    pub(crate) fn find<T>(
        self,
        given: &str,
        newest_first: Vec<T>,
        describe: impl Fn(&T) -> (String, String),
    ) -> Done<Option<T>> {
        let exact = |one: &T| describe(one).0 == given;
        let mut all = newest_first;
        if let Some(at) = all.iter().position(exact) {
            return Ok(Some(all.remove(at)));
        }
        if given == LAST && !all.is_empty() {
            return Ok(Some(all.remove(0)));
        }
        all.retain(|one| !given.is_empty() && describe(one).0.starts_with(given));
        match &all[..] {
            [] => Ok(None),
            [_] => Ok(Some(all.remove(0))),
            several => {
                let candidates: Vec<_> = several.iter().map(&describe).collect();
                Err(self.ambiguous(given, &candidates))
            }
        }
    }
}

/// Finds the run that `given` names; a failure names the `kind`, because a job is a run too. `last` is the newest run that is not a chat message, if a recent one
/// exists.
pub(crate) fn find_run(app: &App, kind: IdKind, given: &str) -> Done<RunRow> {
    if given == LAST {
        let rows = runs(app, RunFilter::default(), MAX_SEARCHED_RUNS)?;
        let first = rows.iter().position(|row| row.skill != CHAT_SKILL);
        let newest = rows.into_iter().nth(first.unwrap_or_default());
        return newest.ok_or_else(|| kind.unknown(given));
    }
    match app.block_on(app.engine.find_run(given)) {
        Err(Error::UnknownRun { .. }) if !given.starts_with(RUN) => {
            let whole = format!("{RUN}{given}");
            match app.block_on(app.engine.find_run(&whole)) {
                Err(Error::UnknownRun { .. }) => Err(kind.unknown(given)),
                found => found.map_err(|error| app::failure(&error)),
            }
        }
        Err(Error::UnknownRun { .. }) => Err(kind.unknown(given)),
        found => found.map_err(|error| app::failure(&error)),
    }
}

/// Returns the newest run that matches `filter`.
pub(crate) fn last_run(app: &App, filter: RunFilter) -> Done<Option<RunRow>> {
    Ok(runs(app, filter, 1)?.into_iter().next())
}

fn runs(app: &App, filter: RunFilter, limit: u32) -> Done<Vec<RunRow>> {
    let filter = RunFilter {
        limit: Some(limit),
        ..filter
    };
    let rows = app.block_on(app.engine.store().runs(filter));
    rows.map_err(|error| store::failure(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick_prefix(given: &str) -> Result<String, (String, Option<String>)> {
        let ids = ["apr_9c", "apr_9a", "apr_1"].map(str::to_owned).to_vec();
        let describe = |id: &String| (id.clone(), format!("about {id}"));
        let picked = IdKind::Question.pick(given, ids, describe);
        picked.map_err(|failure| (failure.message, failure.hint))
    }

    #[test]
    fn an_id_is_complete_a_prefix_or_last() {
        assert_eq!(pick_prefix("apr_9a"), Ok("apr_9a".to_owned()));
        assert_eq!(pick_prefix("apr_1"), Ok("apr_1".to_owned()));
        assert_eq!(pick_prefix("last"), Ok("apr_9c".to_owned()));
    }

    #[test]
    fn an_ambiguous_prefix_lists_the_candidates() {
        let (message, hint) = pick_prefix("apr_9").unwrap_err();
        assert_eq!(message, "`apr_9` matches 2 approvals");
        let hint = hint.unwrap();
        assert_eq!(
            hint,
            "use a longer prefix:\n  apr_9c (about apr_9c)\n  apr_9a (about apr_9a)"
        );
    }

    #[test]
    fn an_unknown_id_has_a_hint() {
        let (message, hint) = pick_prefix("x").unwrap_err();
        assert_eq!(message, "unknown approval `x`");
        let list = "`deft approvals list --all` shows all approvals";
        assert_eq!(hint.as_deref(), Some(list));
    }
}
