//! Ids as people give them: the whole of one, its beginning, or `last`.
//!
//! Every command that asks for an id comes here, so that the same words work everywhere.

use deft_engine::{CHAT_SKILL, Error};
use deft_store::{RunFilter, RunRow};
use deft_wire::model::visible;
use deft_wire::{Done, Failure};

use crate::app::{self, App};
use crate::store;

/// The word for the newest one.
pub(crate) const LAST: &str = "last";

/// The most candidates that a message names.
const MOST_NAMED: usize = 5;

/// How much of a description is shown beside a candidate.
const LONGEST: usize = 50;

/// The beginning of every id of a run.
const RUN: &str = "run_";

/// How far back the newest run that is no chat is looked for.
const LOOK_BACK: u32 = 200;

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
            Self::Question => "question",
            Self::Grant => "grant",
            Self::Conversation => "conversation",
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Run => "deft runs list",
            Self::Job => "deft jobs list",
            Self::Question => "deft approvals list",
            Self::Grant => "deft approvals grants",
            Self::Conversation => "deft chat list",
        }
    }

    /// An id that names nothing.
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
        failure.hint(format!("`{}` shows them", self.list()))
    }

    /// A beginning that fits several ids. The candidates are named, because ids of one day begin alike.
    pub(crate) fn ambiguous(self, given: &str, candidates: &[(String, String)]) -> Failure {
        let count = candidates.len();
        let named = candidates.iter().take(MOST_NAMED).map(|(id, about)| {
            let about: String = about.chars().take(LONGEST).collect();
            format!("\n  {id} ({})", visible(about.trim()))
        });
        let mut named: Vec<String> = named.collect();
        if count > MOST_NAMED {
            named.push("\n  …".to_owned());
        }
        let message = format!("`{given}` fits {count} {}s", self.noun());
        let hint = format!("give more of the id:{}", named.concat());
        Failure::input("ambiguous", message).hint(hint)
    }

    /// The one that an id means among all of them, newest first. `describe` gives the id and a few words
    /// about it.
    pub(crate) fn pick<T>(
        self,
        given: &str,
        newest_first: Vec<T>,
        describe: impl Fn(&T) -> (String, String),
    ) -> Done<T> {
        let found = self.find(given, newest_first, describe)?;
        found.ok_or_else(|| self.unknown(given))
    }

    /// The same; nothing if no id fits.
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

/// The run that an id means. `last` is the newest one that is no message of a chat.
pub(crate) fn find_run(app: &App, given: &str) -> Done<RunRow> {
    if given == LAST {
        let rows = runs(app, RunFilter::default(), LOOK_BACK)?;
        let first = rows.iter().position(|row| row.skill != CHAT_SKILL);
        let newest = rows.into_iter().nth(first.unwrap_or_default());
        return newest.ok_or_else(|| IdKind::Run.unknown(given));
    }
    match app.block_on(app.engine.find_run(given)) {
        Err(Error::UnknownRun { .. }) if !given.starts_with(RUN) => {
            let whole = format!("{RUN}{given}");
            match app.block_on(app.engine.find_run(&whole)) {
                Err(Error::UnknownRun { .. }) => Err(IdKind::Run.unknown(given)),
                found => found.map_err(|error| app::failure(&error)),
            }
        }
        found => found.map_err(|error| app::failure(&error)),
    }
}

/// The newest run that a filter lets through.
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

    fn picked(given: &str) -> Result<String, (String, Option<String>)> {
        let ids = ["apr_9c", "apr_9a", "apr_1"].map(str::to_owned).to_vec();
        let describe = |id: &String| (id.clone(), format!("about {id}"));
        let picked = IdKind::Question.pick(given, ids, describe);
        picked.map_err(|failure| (failure.message, failure.hint))
    }

    #[test]
    fn an_id_is_whole_or_begins_or_is_the_last_one() {
        assert_eq!(picked("apr_9a"), Ok("apr_9a".to_owned()));
        assert_eq!(picked("apr_1"), Ok("apr_1".to_owned()));
        assert_eq!(picked("last"), Ok("apr_9c".to_owned()));
    }

    #[test]
    fn an_ambiguous_beginning_names_the_candidates() {
        let (message, hint) = picked("apr_9").unwrap_err();
        assert_eq!(message, "`apr_9` fits 2 questions");
        let hint = hint.unwrap();
        assert_eq!(
            hint,
            "give more of the id:\n  apr_9c (about apr_9c)\n  apr_9a (about apr_9a)"
        );
    }

    #[test]
    fn an_unknown_id_says_where_to_look() {
        let (message, hint) = picked("x").unwrap_err();
        assert_eq!(message, "unknown question `x`");
        assert_eq!(hint.as_deref(), Some("`deft approvals list` shows them"));
    }
}
