//! The store in one `SQLite` file: what one machine needs.
//!
//! One thread writes and shares its commits among all who wait (`writer.rs`), a few read
//! (`readers.rs`). Several processes may use one file at once; the rules are kept inside
//! transactions and never in memory. Not here: folders and backups.

mod admit;
mod append;
mod aside;
mod claim;
mod conversations;
mod fault;
mod finish;
mod group;
mod identity;
mod ledger;
mod list;
mod open;
mod outbox;
mod overwrite;
mod people;
mod prune;
mod readers;
mod row;
mod skills;
mod traits;
mod writer;

use std::path::Path;
use std::sync::Arc;

use deft_model::RunId;
use jiff::{SignedDuration, Timestamp};

use crate::{
    Admission, Admitted, Answer, Appended, ApprovalRow, Batch, CancelState, Claim, Claimed,
    Decided, Decision, Error, GoodFile, Grant, Lease, NewEvent, PageEnd, Prune, Pruned, RunFilter,
    RunPage, RunRow, Store, StoredEvent,
};
pub use open::SqliteOptions;
use readers::Readers;
use writer::Writer;

/// A [`Store`] in a file.
///
/// Dropping it writes what was handed over and waits for that.
pub struct Sqlite {
    // Readers first: the last connection to be closed tidies up the log, and only a writer can.
    readers: Readers,
    writer: Writer,
}

impl Sqlite {
    /// Opens a store, or makes it. The folder has to be there.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        let (db, identity) = open::writer(path, options)?;
        let identity = Arc::new(identity);
        Ok(Self {
            readers: Readers::start(path, options, open::reader, Some(&identity))?,
            writer: Writer::start(db, path.to_path_buf(), options, identity)?,
        })
    }

    /// Opens a store that can be read and perhaps not written, such as one in a folder of somebody
    /// else's. Nothing is made and nothing is changed; requests that write are refused.
    pub fn open_read_only(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        open::check_readable(path, options)?;
        Ok(Self {
            readers: Readers::start(path, options, open::read_only, None)?,
            writer: Writer::none(path.to_path_buf()),
        })
    }
}

impl Sqlite {
    /// How many transactions were committed through this handle. Each costs a sync of the disk, so
    /// this is what tells whether a task is slow, on any disk.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }
}

impl Store for Sqlite {
    fn admit(&self, run: Admission) -> Answer<'_, Admitted> {
        self.writer.write(move |db| admit::admit(db, &run))
    }

    fn claim(&self, wish: Claim) -> Answer<'_, Option<Claimed>> {
        self.writer.write(move |db| claim::claim(db, &wish))
    }

    fn append(&self, lease: &Lease, batch: Batch) -> Answer<'_, Appended> {
        let lease = lease.clone();
        self.writer
            .write(move |db| append::append(db, &lease, &batch))
    }

    fn renew(&self, owner: &str, until: Timestamp) -> Answer<'_, Vec<RunId>> {
        let owner = owner.to_owned();
        self.writer.write(move |db| claim::renew(db, &owner, until))
    }

    fn release(&self, dead: Vec<String>, now: Timestamp) -> Answer<'_, Vec<RunId>> {
        self.writer.write(move |db| claim::release(db, &dead, now))
    }

    fn owners(&self) -> Answer<'_, Vec<String>> {
        self.readers.read(list::owners)
    }

    fn cancel_with(
        &self,
        run: &RunId,
        by: &str,
        at: Timestamp,
        closing: Vec<NewEvent>,
    ) -> Answer<'_, CancelState> {
        let (run, by) = (run.clone(), by.to_owned());
        self.writer
            .write(move |db| finish::cancel(db, &run, &by, at, &closing))
    }

    fn reopen(&self, run: &RunId, event: NewEvent) -> Answer<'_, Option<RunRow>> {
        let run = run.clone();
        self.writer
            .write(move |db| finish::reopen(db, &run, &event))
    }

    fn decide(&self, approval: &str, decision: Decision) -> Answer<'_, Decided> {
        let approval = approval.to_owned();
        self.writer
            .write(move |db| people::decide(db, &approval, &decision))
    }

    fn approvals(&self, all: bool) -> Answer<'_, Vec<ApprovalRow>> {
        self.readers.read(move |db| people::approvals(db, all))
    }

    fn approval(&self, id: &str) -> Answer<'_, Option<ApprovalRow>> {
        let id = id.to_owned();
        self.readers.read(move |db| people::approval(db, &id))
    }

    fn grant(&self, grant: Grant) -> Answer<'_, ()> {
        self.writer.write(move |db| people::grant(db, &grant))
    }

    fn grants(&self, skill: &str) -> Answer<'_, Vec<Grant>> {
        let skill = skill.to_owned();
        self.readers
            .read(move |db| people::grants(db, Some(&skill)))
    }

    fn all_grants(&self) -> Answer<'_, Vec<Grant>> {
        self.readers.read(|db| people::grants(db, None))
    }

    fn revoke(&self, grant: &str) -> Answer<'_, bool> {
        let grant = grant.to_owned();
        self.writer.write(move |db| people::revoke(db, &grant))
    }

    fn run(&self, id: &RunId) -> Answer<'_, Option<RunRow>> {
        let id = id.clone();
        self.readers.read(move |db| list::run(db, &id))
    }

    fn run_page(&self, filter: RunFilter, after: Option<PageEnd>) -> Answer<'_, RunPage> {
        self.readers.read(move |db| list::page(db, &filter, after))
    }

    fn count_runs(&self, filter: RunFilter) -> Answer<'_, u64> {
        self.readers.read(move |db| list::count(db, &filter))
    }

    fn events(&self, run: Option<&RunId>, after: u64, limit: u32) -> Answer<'_, Vec<StoredEvent>> {
        let run = run.cloned();
        self.readers
            .read(move |db| list::events(db, run.as_ref(), after, limit))
    }

    fn keep_revisions(&self, revisions: Vec<(String, String)>) -> Answer<'_, ()> {
        self.writer.write(move |db| {
            let keep = |(revision, content): &(String, String)| {
                aside::keep_revision(db, revision, content)
            };
            revisions.iter().try_for_each(keep)
        })
    }

    fn revision(&self, revision: &str) -> Answer<'_, Option<String>> {
        let revision = revision.to_owned();
        self.readers.read(move |db| aside::revision(db, &revision))
    }

    fn keep_good_files(&self, files: Vec<(GoodFile, String)>, gone: Vec<String>) -> Answer<'_, ()> {
        self.writer.write(move |db| {
            let keep =
                |(file, content): &(GoodFile, String)| aside::keep_good_file(db, file, content);
            files.iter().try_for_each(keep)?;
            gone.iter()
                .try_for_each(|path| aside::drop_good_file(db, path))
        })
    }

    fn good_files(&self) -> Answer<'_, Vec<GoodFile>> {
        self.readers.read(aside::good_files)
    }

    fn cached(&self, key: &str, now: Timestamp) -> Answer<'_, Option<String>> {
        let key = key.to_owned();
        self.readers.read(move |db| aside::cached(db, &key, now))
    }

    fn keep_catalog(&self, server: &str, tools: &str, at: Timestamp) -> Answer<'_, ()> {
        let (server, tools) = (server.to_owned(), tools.to_owned());
        self.writer
            .write(move |db| aside::keep_catalog(db, &server, &tools, at))
    }

    fn drop_catalog(&self, server: &str) -> Answer<'_, ()> {
        let server = server.to_owned();
        self.writer
            .write(move |db| aside::drop_catalog(db, &server))
    }

    fn catalogs(&self) -> Answer<'_, Vec<(String, String, Timestamp)>> {
        self.readers.read(aside::catalogs)
    }

    fn next_wake(&self) -> Answer<'_, Option<Timestamp>> {
        self.readers.read(list::next_wake)
    }

    fn late_running(&self, late: SignedDuration) -> Answer<'_, u64> {
        self.readers.read(move |db| list::late_running(db, late))
    }

    fn wake(&self, waiting_for: &str, at: Timestamp) -> Answer<'_, u64> {
        let waiting_for = waiting_for.to_owned();
        self.writer
            .write(move |db| people::wake_all(db, &waiting_for, at))
    }

    fn prune(&self, wish: Prune) -> Answer<'_, Pruned> {
        if wish.only_count {
            return self.readers.read(move |db| prune::count(db, &wish));
        }
        self.writer.write(move |db| prune::prune(db, &wish))
    }

    fn version(&self) -> Answer<'_, u64> {
        self.readers.version()
    }
}
