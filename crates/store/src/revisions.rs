//! Traits for cached contents: revisions of skills, tool results, and tool catalogs.

use jiff::Timestamp;

use crate::{Answer, ReadableFile};

/// Contents of skill revisions, and the last readable revision of each file. See [`Store`](crate::Store) for
/// the rules that all methods follow.
pub trait Revisions: Send + Sync {
    /// Stores the content of a revision; a revision that is already stored stays as it is.
    fn keep_revision(&self, revision: &str, content: &str) -> Answer<'_, ()> {
        self.keep_revisions(vec![(revision.to_owned(), content.to_owned())])
    }

    /// Stores the contents of several revisions in one transaction.
    fn keep_revisions(&self, revisions: Vec<(String, String)>) -> Answer<'_, ()>;

    /// Returns the content of a revision.
    fn revision(&self, revision: &str) -> Answer<'_, Option<String>>;

    /// Stores the skills that these files define, with the contents of their revisions, and removes the
    /// paths in `gone`, in one transaction.
    fn keep_good_files(
        &self,
        files: Vec<(ReadableFile, String)>,
        gone: Vec<String>,
    ) -> Answer<'_, ()>;

    /// Returns the skill that each file defined when it was last readable, by path.
    fn good_files(&self) -> Answer<'_, Vec<ReadableFile>>;
}

/// Cached tool results and the tool catalogs of servers. See [`Store`](crate::Store) for the rules that all
/// methods follow.
pub trait ToolCache: Send + Sync {
    /// Returns a cached result that has not expired.
    fn read_cached(&self, key: &str, now: Timestamp) -> Answer<'_, Option<String>>;

    /// Stores the catalog of a server.
    fn keep_catalog(&self, server: &str, tools: &str, at: Timestamp) -> Answer<'_, ()>;

    /// Deletes the catalog of a server.
    fn drop_catalog(&self, server: &str) -> Answer<'_, ()>;

    /// Returns the latest catalog of every server: name, JSON, instant.
    fn catalogs(&self) -> Answer<'_, Vec<(String, String, Timestamp)>>;
}
