//! Requests for approvals, notices, conversations, facts, settings and budgets.

use deft_model::RunId;
use jiff::Timestamp;

use super::super::{Sqlite, conversations, ledger, outbox, people};
use crate::{
    Answer, ApprovalRow, Approvals, ConversationFilter, ConversationRow, Conversations, Decision,
    DecisionResult, FactFilter, FactRow, Facts, Grant, Lease, Ledger, MessageRow, NewConversation,
    NewFact, NewMessage, NewNotice, NoticeEnd, NoticeFilter, NoticeRow, Outbox, ReservationResult,
    Reserve, SearchHit, Settings, SpentFilter, SpentRow, UsageRow,
};

impl Approvals for Sqlite {
    fn decide_with(
        &self,
        approval: &str,
        decision: Decision,
        grant: Option<Grant>,
    ) -> Answer<'_, DecisionResult> {
        let approval = approval.to_owned();
        self.writer
            .write(move |db| people::decide(db, &approval, &decision, grant.as_ref()))
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
}

impl Outbox for Sqlite {
    fn add_notice(&self, notice: NewNotice) -> Answer<'_, bool> {
        self.writer.write(move |db| outbox::add(db, &notice))
    }

    fn take_notices(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<NoticeRow>> {
        self.writer
            .write(move |db| outbox::take(db, now, until, limit))
    }

    fn end_notice(&self, id: i64, end: NoticeEnd, at: Timestamp) -> Answer<'_, ()> {
        self.writer.write(move |db| outbox::end(db, id, &end, at))
    }

    fn keep_parts(&self, id: i64, parts: u32) -> Answer<'_, ()> {
        self.writer
            .write(move |db| outbox::keep_parts(db, id, parts))
    }

    fn notices(&self, filter: NoticeFilter) -> Answer<'_, Vec<NoticeRow>> {
        self.readers.read(move |db| outbox::list(db, &filter))
    }

    fn count_notices(&self, filter: NoticeFilter) -> Answer<'_, u64> {
        self.readers.read(move |db| outbox::count(db, &filter))
    }

    fn next_notice(&self) -> Answer<'_, Option<Timestamp>> {
        self.readers.read(outbox::next)
    }

    fn retry_notices(&self, id: Option<i64>, at: Timestamp) -> Answer<'_, u64> {
        self.writer.write(move |db| outbox::retry(db, id, at))
    }
}

impl Facts for Sqlite {
    fn save_fact(&self, fact: NewFact) -> Answer<'_, (FactRow, bool)> {
        self.writer.write(move |db| outbox::save_fact(db, &fact))
    }

    fn delete_fact(&self, id: i64) -> Answer<'_, bool> {
        self.writer.write(move |db| outbox::delete_fact(db, id))
    }

    fn facts(&self, filter: FactFilter) -> Answer<'_, Vec<FactRow>> {
        self.readers.read(move |db| outbox::facts(db, &filter))
    }
}

impl Settings for Sqlite {
    fn setting(&self, name: &str) -> Answer<'_, Option<String>> {
        let name = name.to_owned();
        self.readers.read(move |db| outbox::setting(db, &name))
    }

    fn keep_setting(&self, name: &str, value: &str) -> Answer<'_, ()> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.writer
            .write(move |db| outbox::keep_setting(db, &name, &value))
    }

    fn replace_setting(&self, name: &str, before: Option<&str>, value: &str) -> Answer<'_, bool> {
        let (name, before, value) = (
            name.to_owned(),
            before.map(ToOwned::to_owned),
            value.to_owned(),
        );
        self.writer
            .write(move |db| outbox::replace_setting(db, &name, before.as_deref(), &value))
    }
}

impl Conversations for Sqlite {
    fn open_conversation(&self, new: NewConversation) -> Answer<'_, ConversationRow> {
        self.writer.write(move |db| conversations::open(db, &new))
    }

    fn conversation(&self, id: &str) -> Answer<'_, Option<ConversationRow>> {
        let id = id.to_owned();
        self.readers.read(move |db| conversations::one(db, &id))
    }

    fn conversations(&self, filter: ConversationFilter) -> Answer<'_, Vec<ConversationRow>> {
        self.readers
            .read(move |db| conversations::list(db, &filter))
    }

    fn messages(&self, id: &str, after_seq: u64, limit: u32) -> Answer<'_, Vec<MessageRow>> {
        let id = id.to_owned();
        self.readers
            .read(move |db| conversations::messages(db, &id, after_seq, limit))
    }

    fn append_messages(
        &self,
        id: &str,
        run: Option<&RunId>,
        messages: Vec<NewMessage>,
    ) -> Answer<'_, Option<u64>> {
        let (id, run) = (id.to_owned(), run.cloned());
        self.writer
            .write(move |db| conversations::append(db, &id, run.as_ref(), &messages))
    }

    fn search_conversations(&self, query: &str, limit: u32) -> Answer<'_, Vec<SearchHit>> {
        let query = query.to_owned();
        self.readers
            .read(move |db| conversations::search(db, &query, limit))
    }

    fn rename_conversation(&self, id: &str, title: &str) -> Answer<'_, bool> {
        let (id, title) = (id.to_owned(), title.to_owned());
        self.writer
            .write(move |db| conversations::rename(db, &id, &title))
    }

    fn archive_conversation(&self, id: &str, at: Option<Timestamp>) -> Answer<'_, bool> {
        let id = id.to_owned();
        self.writer
            .write(move |db| conversations::archive(db, &id, at))
    }

    fn cut_conversation(&self, id: &str, after_seq: u64) -> Answer<'_, u64> {
        let id = id.to_owned();
        self.writer
            .write(move |db| conversations::cut(db, &id, after_seq))
    }

    fn delete_conversation(&self, id: &str) -> Answer<'_, bool> {
        let id = id.to_owned();
        self.writer.write(move |db| conversations::delete(db, &id))
    }
}

impl Ledger for Sqlite {
    fn reserve(&self, lease: &Lease, request: Reserve) -> Answer<'_, ReservationResult> {
        let lease = lease.clone();
        self.writer
            .write(move |db| ledger::reserve(db, &lease, &request))
    }

    fn list_spent(&self, filter: SpentFilter) -> Answer<'_, Vec<SpentRow>> {
        self.readers.read(move |db| ledger::list_spent(db, &filter))
    }

    fn usage_since(&self, agent: &str, from: Timestamp) -> Answer<'_, Vec<UsageRow>> {
        let agent = agent.to_owned();
        self.readers
            .read(move |db| ledger::usage_since(db, &agent, from))
    }

    fn forget_spent(&self, before: Timestamp) -> Answer<'_, u64> {
        self.writer.write(move |db| ledger::forget(db, before))
    }
}
