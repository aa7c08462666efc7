//! Traits for contents that can be fetched again: revisions of skills, results and catalogs of tools.

use jiff::Timestamp;

use crate::{Answer, GoodFile};

/// Contents of skill revisions, and the last readable revision of each file. See
/// [`Store`](crate::Store) for what holds for every method.
pub trait Revisions: Send + Sync {
    /// Stores the content of a revision; the same revision is stored once.
    fn keep_revision(&self, revision: &str, content: &str) -> Answer<'_, ()> {
        self.keep_revisions(vec![(revision.to_owned(), content.to_owned())])
    }

    /// Stores the contents of several revisions in one transaction.
    fn keep_revisions(&self, revisions: Vec<(String, String)>) -> Answer<'_, ()>;

    /// The content of a revision.
    fn revision(&self, revision: &str) -> Answer<'_, Option<String>>;

    /// Stores what these files define, with the contents of their revisions, and forgets the
    /// paths in `gone`, in one transaction.
    fn keep_good_files(&self, files: Vec<(GoodFile, String)>, gone: Vec<String>) -> Answer<'_, ()>;

    /// What each file defined when it was last readable, by path.
    fn good_files(&self) -> Answer<'_, Vec<GoodFile>>;
}

/// Cached results of tools and the tool lists of servers. See [`Store`](crate::Store) for what
/// holds for every method.
pub trait ToolCache: Send + Sync {
    /// A cached result that has not expired.
    fn cached(&self, key: &str, now: Timestamp) -> Answer<'_, Option<String>>;

    /// Stores the tools that a server offers.
    fn keep_catalog(&self, server: &str, tools: &str, at: Timestamp) -> Answer<'_, ()>;

    /// Forgets a server.
    fn drop_catalog(&self, server: &str) -> Answer<'_, ()>;

    /// The latest tool list of every server: name, JSON, instant.
    fn catalogs(&self) -> Answer<'_, Vec<(String, String, Timestamp)>>;
}
