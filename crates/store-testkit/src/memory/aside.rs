//! Contents that are not part of runs: revisions, last readable files, cached results, catalogs of servers.
use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use deft_store::ReadableFile;

#[derive(Default)]
pub(super) struct Aside {
    revisions: HashMap<String, String>,
    good_files: BTreeMap<String, ReadableFile>,
    results: HashMap<String, (String, Timestamp)>,
    catalogs: BTreeMap<String, (String, Timestamp)>,
}

impl Aside {
    pub(super) fn keep_revision(&mut self, revision: &str, content: &str) {
        if !self.revisions.contains_key(revision) {
            let content = content.to_owned();
            self.revisions.insert(revision.to_owned(), content);
        }
    }

    pub(super) fn revision(&self, revision: &str) -> Option<String> {
        self.revisions.get(revision).cloned()
    }

    pub(super) fn keep_good_file(&mut self, file: ReadableFile, content: &str) {
        self.keep_revision(&file.revision, content);
        self.good_files.insert(file.path.clone(), file);
    }

    pub(super) fn drop_good_file(&mut self, path: &str) {
        self.good_files.remove(path);
    }

    pub(super) fn good_files(&self) -> Vec<ReadableFile> {
        self.good_files.values().cloned().collect()
    }

    pub(super) fn keep_result(
        &mut self,
        key: String,
        value: String,
        at: Timestamp,
        expires_at: Timestamp,
    ) {
        // Scanning all results is expensive, so it is done only when their number is a power of two.
        if self.results.len().is_power_of_two() {
            self.results.retain(|_, (_, expires_at)| *expires_at > at);
        }
        self.results.insert(key, (value, expires_at));
    }

    pub(super) fn read_cached(&self, key: &str, now: Timestamp) -> Option<String> {
        let (value, expires_at) = self.results.get(key)?;
        (*expires_at > now).then(|| value.clone())
    }

    pub(super) fn count_expired(&self, now: Timestamp) -> u64 {
        let expired = self.results.values().filter(|(_, at)| *at <= now);
        expired.count() as u64
    }

    pub(super) fn drop_expired(&mut self, now: Timestamp) {
        self.results.retain(|_, (_, at)| *at > now);
    }

    pub(super) fn keep_catalog(&mut self, server: &str, tools: &str, at: Timestamp) {
        self.catalogs
            .insert(server.to_owned(), (tools.to_owned(), at));
    }

    pub(super) fn drop_catalog(&mut self, server: &str) {
        self.catalogs.remove(server);
    }

    pub(super) fn catalogs(&self) -> Vec<(String, String, Timestamp)> {
        let all = self.catalogs.iter();
        all.map(|(server, (tools, at))| (server.clone(), tools.clone(), *at))
            .collect()
    }
}
