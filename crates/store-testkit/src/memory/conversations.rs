//! Conversations and their messages.

use std::collections::{HashMap, HashSet};

use deft_model::RunId;

use deft_store::backend::Query;
use deft_store::{
    ConversationCursor, ConversationFilter, ConversationRow, MessageRow, NewConversation,
    NewMessage, SearchHit,
};

#[derive(Default)]
pub(super) struct Talks {
    all: HashMap<String, Talk>,
    /// The number of conversations and messages ever stored; gives the order in which they were stored.
    counter: u64,
}

struct Talk {
    row: ConversationRow,
    number: u64,
    messages: Vec<(u64, MessageRow)>,
    /// The positions of each run that are already filled.
    said: HashSet<(RunId, u32)>,
}

impl Talks {
    fn number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    pub(super) fn open(&mut self, new: NewConversation) -> ConversationRow {
        if let Some(known) = self.all.get(&new.id) {
            return known.row.clone();
        }
        let row = ConversationRow {
            id: new.id,
            agent: new.agent,
            channel: new.channel,
            title: new.title,
            created_at: new.at,
            updated_at: new.at,
            message_count: 0,
            run: new.run,
            archived_at: None,
        };
        let talk = Talk {
            row: row.clone(),
            number: self.number(),
            messages: Vec::new(),
            said: HashSet::new(),
        };
        self.all.insert(row.id.clone(), talk);
        row
    }

    pub(super) fn one(&self, id: &str) -> Option<ConversationRow> {
        self.all.get(id).map(|talk| talk.row.clone())
    }

    pub(super) fn list(&self, filter: &ConversationFilter) -> Vec<ConversationRow> {
        let query = filter.query.as_deref().map(Query::new);
        let equal =
            |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|w| w == found);
        let fits = |talk: &&Talk| {
            equal(&filter.agent, &talk.row.agent)
                && equal(&filter.channel, &talk.row.channel)
                && (filter.archived || talk.row.archived_at.is_none())
                && query.as_ref().is_none_or(|query| talk.fits(query))
                && filter
                    .after
                    .as_ref()
                    .is_none_or(|after| self.is_after(talk, after))
        };
        let mut found: Vec<&Talk> = self.all.values().filter(fits).collect();
        found.sort_by_key(|talk| std::cmp::Reverse((talk.row.updated_at, talk.number)));
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        let found = found.into_iter().take(limit);
        found.map(|talk| talk.row.clone()).collect()
    }

    /// Whether a list has a conversation after this position.
    fn is_after(&self, talk: &Talk, after: &ConversationCursor) -> bool {
        let number = self.all.get(&after.id).map(|talk| talk.number);
        let updated_at = talk.row.updated_at;
        updated_at < after.updated_at
            || updated_at == after.updated_at && number.is_some_and(|number| talk.number < number)
    }

    pub(super) fn messages(&self, id: &str, after: u64, limit: u32) -> Vec<MessageRow> {
        let all = self.all.get(id).into_iter().flat_map(|talk| &talk.messages);
        let later = all.map(|(_, row)| row).filter(|row| row.seq > after);
        later.take(limit as usize).cloned().collect()
    }

    /// Adds messages of a run whose positions are not filled yet.
    pub(super) fn say(&mut self, run: &RunId, id: &str, first: u32, messages: Vec<NewMessage>) {
        let Some(talk) = self.all.get_mut(id) else {
            return;
        };
        let places = first..=u32::MAX;
        let new = places.zip(messages);
        let new = new.filter(|(place, _)| talk.said.insert((run.clone(), *place)));
        let new: Vec<NewMessage> = new.map(|(_, message)| message).collect();
        self.append(id, Some(run), new);
    }

    pub(super) fn append(
        &mut self,
        id: &str,
        run: Option<&RunId>,
        messages: Vec<NewMessage>,
    ) -> Option<u64> {
        for message in messages {
            let number = self.number();
            self.all.get_mut(id)?.add(number, run, message);
        }
        self.all.get(id).map(|talk| talk.row.message_count)
    }

    pub(super) fn search(&self, query: &str, limit: u32) -> Vec<SearchHit> {
        let query = Query::new(query);
        let all = self.all.values().flat_map(|talk| {
            let messages = talk.messages.iter();
            messages.map(move |(number, row)| (*number, row, talk))
        });
        let mut found: Vec<_> = all.filter(|(_, row, _)| query.fits(&row.text)).collect();
        found.sort_by_key(|(number, _, _)| std::cmp::Reverse(*number));
        let hit = |(_, row, talk): (u64, &MessageRow, &Talk)| SearchHit {
            conversation: row.conversation.clone(),
            channel: talk.row.channel.clone(),
            title: talk.row.title.clone(),
            seq: row.seq,
            role: row.role,
            at: row.at,
            snippet: query.snippet(&row.text),
        };
        let found = found.into_iter().take(limit as usize);
        found.map(hit).collect()
    }

    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut ConversationRow)) -> bool {
        let talk = self.all.get_mut(id);
        talk.map(|talk| change(&mut talk.row)).is_some()
    }

    pub(super) fn cut(&mut self, id: &str, after: u64) -> u64 {
        self.all.get_mut(id).map_or(0, |talk| talk.cut(after))
    }

    pub(super) fn delete(&mut self, id: &str) -> bool {
        self.all.remove(id).is_some()
    }
}

impl Talk {
    fn add(&mut self, number: u64, run: Option<&RunId>, message: NewMessage) {
        let row = &mut self.row;
        row.message_count += 1;
        row.updated_at = row.updated_at.max(message.at);
        if let Some(run) = run {
            row.run = Some(run.clone());
        }
        let stored = MessageRow {
            conversation: row.id.clone(),
            seq: row.message_count,
            role: message.role,
            body: message.body,
            text: message.text,
            run: run.cloned(),
            at: message.at,
        };
        self.messages.push((number, stored));
    }

    /// Deletes the messages with a number above `after`. The positions of runs without remaining messages
    /// become free.
    fn cut(&mut self, after: u64) -> u64 {
        let before = self.messages.len();
        self.messages.retain(|(_, row)| row.seq <= after);
        let left = self.messages.iter().filter_map(|(_, row)| row.run.as_ref());
        let left: HashSet<&RunId> = left.collect();
        self.said.retain(|(run, _)| left.contains(run));
        self.row.message_count = self.row.message_count.min(after);
        self.row.run = self.messages.last().and_then(|(_, row)| row.run.clone());
        (before - self.messages.len()) as u64
    }

    fn fits(&self, query: &Query) -> bool {
        let mut messages = self.messages.iter();
        query.fits(&self.row.title) || messages.any(|(_, row)| query.fits(&row.text))
    }
}
