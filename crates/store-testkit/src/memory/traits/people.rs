//! Requests for approvals, notices, conversations, facts, settings and budgets.

use deft_model::RunId;
use jiff::Timestamp;

use super::super::Memory;
use deft_store::{
    Answer, ApprovalRow, Approvals, ConversationFilter, ConversationRow, Conversations, Decision,
    DecisionResult, FactFilter, FactRow, Facts, Grant, Lease, Ledger, MessageRow, NewConversation,
    NewFact, NewMessage, NewNotice, NoticeEnd, NoticeFilter, NoticeRow, Outbox, ReservationResult,
    Reserve, SearchHit, Settings, SpentFilter, SpentRow, UsageRow,
};

impl Approvals for Memory {
    fn decide_with(
        &self,
        approval: &str,
        decision: Decision,
        grant: Option<Grant>,
    ) -> Answer<'_, DecisionResult> {
        self.write(|state| Ok(state.decide(approval, decision, grant)))
    }

    fn approvals(&self, all: bool) -> Answer<'_, Vec<ApprovalRow>> {
        self.read(|state| state.people.approvals(all))
    }

    fn approval(&self, id: &str) -> Answer<'_, Option<ApprovalRow>> {
        self.read(|state| {
            let mut all = state.people.approvals(true).into_iter();
            all.find(|row| row.asked.id == id)
        })
    }

    fn grant(&self, grant: Grant) -> Answer<'_, ()> {
        self.write(|state| {
            state.people.grant(grant);
            Ok(())
        })
    }

    fn grants(&self, skill: &str) -> Answer<'_, Vec<Grant>> {
        self.read(|state| state.people.grants(|grant| grant.skill == skill))
    }

    fn all_grants(&self) -> Answer<'_, Vec<Grant>> {
        self.read(|state| state.people.grants(|_| true))
    }

    fn revoke(&self, grant: &str) -> Answer<'_, bool> {
        self.write(|state| Ok(state.people.revoke(grant)))
    }
}

impl Outbox for Memory {
    fn add_notice(&self, notice: NewNotice) -> Answer<'_, bool> {
        self.write(|state| Ok(state.notes.add_notice(notice)))
    }

    fn take_notices(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<NoticeRow>> {
        self.write(|state| Ok(state.notes.take(now, until, limit)))
    }

    fn end_notice(&self, id: i64, end: NoticeEnd, at: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            state.notes.end(id, end, at);
            Ok(())
        })
    }

    fn keep_parts(&self, id: i64, parts: u32) -> Answer<'_, ()> {
        self.write(|state| {
            state.notes.keep_parts(id, parts);
            Ok(())
        })
    }

    fn notices(&self, filter: NoticeFilter) -> Answer<'_, Vec<NoticeRow>> {
        self.read(|state| state.notes.notices(&filter))
    }

    fn count_notices(&self, filter: NoticeFilter) -> Answer<'_, u64> {
        let all = NoticeFilter {
            limit: None,
            ..filter
        };
        self.read(move |state| state.notes.notices(&all).len() as u64)
    }

    fn next_notice(&self) -> Answer<'_, Option<Timestamp>> {
        self.read(|state| state.notes.next())
    }

    fn retry_notices(&self, id: Option<i64>, at: Timestamp) -> Answer<'_, u64> {
        self.write(|state| Ok(state.notes.retry(id, at)))
    }
}

impl Facts for Memory {
    fn save_fact(&self, fact: NewFact) -> Answer<'_, (FactRow, bool)> {
        self.write(|state| Ok(state.notes.save_fact(fact)))
    }

    fn delete_fact(&self, id: i64) -> Answer<'_, bool> {
        self.write(|state| Ok(state.notes.delete_fact(id)))
    }

    fn facts(&self, filter: FactFilter) -> Answer<'_, Vec<FactRow>> {
        self.read(|state| state.notes.facts(&filter))
    }
}

impl Settings for Memory {
    fn setting(&self, name: &str) -> Answer<'_, Option<String>> {
        self.read(|state| state.notes.setting(name))
    }

    fn keep_setting(&self, name: &str, value: &str) -> Answer<'_, ()> {
        self.write(|state| {
            state.notes.keep_setting(name, value);
            Ok(())
        })
    }

    fn replace_setting(&self, name: &str, before: Option<&str>, value: &str) -> Answer<'_, bool> {
        self.write(|state| Ok(state.notes.replace_setting(name, before, value)))
    }
}

impl Conversations for Memory {
    fn open_conversation(&self, new: NewConversation) -> Answer<'_, ConversationRow> {
        self.write(|state| Ok(state.talks.open(new)))
    }

    fn conversation(&self, id: &str) -> Answer<'_, Option<ConversationRow>> {
        self.read(|state| state.talks.one(id))
    }

    fn conversations(&self, filter: ConversationFilter) -> Answer<'_, Vec<ConversationRow>> {
        self.read(|state| state.talks.list(&filter))
    }

    fn messages(&self, id: &str, after_seq: u64, limit: u32) -> Answer<'_, Vec<MessageRow>> {
        self.read(|state| state.talks.messages(id, after_seq, limit))
    }

    fn append_messages(
        &self,
        id: &str,
        run: Option<&RunId>,
        messages: Vec<NewMessage>,
    ) -> Answer<'_, Option<u64>> {
        self.write(|state| Ok(state.talks.append(id, run, messages)))
    }

    fn search_conversations(&self, query: &str, limit: u32) -> Answer<'_, Vec<SearchHit>> {
        self.read(|state| state.talks.search(query, limit))
    }

    fn rename_conversation(&self, id: &str, title: &str) -> Answer<'_, bool> {
        let change = |row: &mut ConversationRow| title.clone_into(&mut row.title);
        self.write(|state| Ok(state.talks.change(id, change)))
    }

    fn archive_conversation(&self, id: &str, at: Option<Timestamp>) -> Answer<'_, bool> {
        self.write(|state| Ok(state.talks.change(id, |row| row.archived_at = at)))
    }

    fn cut_conversation(&self, id: &str, after_seq: u64) -> Answer<'_, u64> {
        self.write(|state| Ok(state.talks.cut(id, after_seq)))
    }

    fn delete_conversation(&self, id: &str) -> Answer<'_, bool> {
        self.write(|state| Ok(state.talks.delete(id)))
    }
}

impl Ledger for Memory {
    fn reserve(&self, lease: &Lease, request: Reserve) -> Answer<'_, ReservationResult> {
        self.write(|state| state.reserve(lease, request))
    }

    fn list_spent(&self, filter: SpentFilter) -> Answer<'_, Vec<SpentRow>> {
        self.read(|state| state.books.list_spent(&filter))
    }

    fn usage_since(&self, agent: &str, from: Timestamp) -> Answer<'_, Vec<UsageRow>> {
        self.read(|state| state.books.usage_since(agent, from))
    }

    fn forget_spent(&self, before: Timestamp) -> Answer<'_, u64> {
        self.write(|state| Ok(state.books.forget(before)))
    }
}
