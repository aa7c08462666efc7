//! Requests about conversations and budgets in the random sequences.

use deft_model::MessageRole;
use deft_store::{
    ConversationFilter, Estimate, Limit, NewConversation, NewMessage, Reserve, Spend, SpentFilter,
    Write,
};
use proptest::prelude::*;

use super::Pair;
use crate::support::at;

const TEXTS: [&str; 6] = [
    "",
    "Tea",
    "green tea, please",
    "größe 5pm",
    "don't tea-time",
    "今天 tea",
];

const QUERIES: [&str; 6] = ["tea", "TEA gre", "t", "größe", "天", "tea OR \"wine"];

/// A request about a conversation or a budget.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Open {
        id: u8,
    },
    Add {
        id: u8,
        text: usize,
        run: bool,
    },
    Rename {
        id: u8,
        text: usize,
    },
    Archive {
        id: u8,
        away: bool,
    },
    Delete {
        id: u8,
    },
    Search {
        query: usize,
    },
    Reserve {
        lease: u8,
        key: u8,
        scopes: u8,
        tokens: u64,
    },
    Forget {
        age: u8,
    },
}

pub(super) fn ask() -> impl Strategy<Value = Ask> {
    let text = || 0..TEXTS.len();
    prop_oneof![
        3 => (0..3_u8).prop_map(|id| Ask::Open { id }),
        2 => (0..3_u8, text(), any::<bool>()).prop_map(|(id, text, run)| Ask::Add { id, text, run }),
        1 => (0..3_u8, text()).prop_map(|(id, text)| Ask::Rename { id, text }),
        1 => (0..3_u8, any::<bool>()).prop_map(|(id, away)| Ask::Archive { id, away }),
        1 => (0..3_u8).prop_map(|id| Ask::Delete { id }),
        1 => (0..QUERIES.len()).prop_map(|query| Ask::Search { query }),
        6 => (0..4_u8, 0..3_u8, 0..8_u8, 0..60_u64)
            .prop_map(|(lease, key, scopes, tokens)| Ask::Reserve { lease, key, scopes, tokens }),
        1 => (0..40_u8).prop_map(|age| Ask::Forget { age }),
    ]
}

/// A change that a batch contains besides events.
#[derive(Clone, Debug)]
pub(super) enum SideWrite {
    Say {
        id: u8,
        first: u32,
        texts: Vec<usize>,
    },
    Spend {
        key: u8,
        scopes: u8,
        tokens: u64,
    },
    Unreserve {
        key: u8,
    },
}

pub(super) fn side_write() -> impl Strategy<Value = SideWrite> {
    let texts = prop::collection::vec(0..TEXTS.len(), 0..4);
    prop_oneof![
        2 => (0..3_u8, 0..4_u32, texts).prop_map(|(id, first, texts)| SideWrite::Say { id, first, texts }),
        2 => (0..3_u8, 0..8_u8, 0..60_u64)
            .prop_map(|(key, scopes, tokens)| SideWrite::Spend { key, scopes, tokens }),
        1 => (0..3_u8).prop_map(|key| SideWrite::Unreserve { key }),
    ]
}

/// Returns up to three scopes, one per bit.
fn scopes(bits: u8) -> Vec<String> {
    let all = ["run:1", "skill:a@1", "all@1"].into_iter().enumerate();
    let chosen = all.filter(|(n, _)| bits & (1 << n) != 0);
    chosen.map(|(_, scope)| scope.to_owned()).collect()
}

impl Pair {
    fn message(&self, text: usize) -> NewMessage {
        NewMessage {
            role: MessageRole::User,
            body: format!("{}", self.now),
            text: TEXTS[text].to_owned(),
            // Clocks may disagree with the order of commits.
            at: at(self.now - i64::try_from(text).unwrap() * 3),
        }
    }

    pub(super) fn side_write(&self, beside: &SideWrite) -> Write {
        match beside {
            SideWrite::Say { id, first, texts } => Write::Say {
                conversation: format!("c{id}"),
                first: *first,
                messages: texts.iter().map(|text| self.message(*text)).collect(),
            },
            SideWrite::Spend {
                key,
                scopes: bits,
                tokens,
            } => Write::Spend(Spend {
                key: format!("k{key}"),
                scopes: scopes(*bits),
                tokens_in: tokens - tokens / 3,
                tokens_out: tokens / 3,
                micros: tokens * 7,
                calls: 1 + tokens % 2,
                agent: format!("agent{}", key % 2),
                at: at(self.now * 40),
            }),
            SideWrite::Unreserve { key } => Write::Unreserve {
                key: format!("k{key}"),
            },
        }
    }

    pub(super) async fn ask(&mut self, ask: Ask) {
        let now = self.now();
        match ask {
            Ask::Open { id } => {
                let new = NewConversation {
                    id: format!("c{id}"),
                    agent: "main".to_owned(),
                    channel: format!("chat:{}", id % 2),
                    title: TEXTS[usize::from(id)].to_owned(),
                    run: None,
                    at: now,
                };
                let _answer = self
                    .same(|store| store.open_conversation(new.clone()))
                    .await;
            }
            Ask::Add { id, text, run } => {
                let (id, run) = (format!("c{id}"), run.then(|| self.run(0)));
                let message = self.message(text);
                let _answer = self
                    .same(|store| store.append_messages(&id, run.as_ref(), vec![message.clone()]))
                    .await;
            }
            Ask::Rename { id, text } => {
                let id = format!("c{id}");
                let _answer = self
                    .same(|store| store.rename_conversation(&id, TEXTS[text]))
                    .await;
            }
            Ask::Archive { id, away } => {
                let (id, at) = (format!("c{id}"), away.then_some(now));
                let _answer = self.same(|store| store.archive_conversation(&id, at)).await;
            }
            Ask::Delete { id } => {
                let id = format!("c{id}");
                let _answer = self.same(|store| store.delete_conversation(&id)).await;
            }
            Ask::Search { query } => {
                let _answer = self
                    .same(|store| store.search_conversations(QUERIES[query], 3))
                    .await;
            }
            Ask::Reserve { .. } => self.reserve(ask).await,
            Ask::Forget { age } => {
                let before = at((self.now - i64::from(age)) * 40);
                let _answer = self.same(|store| store.forget_spent(before)).await;
            }
        }
    }

    async fn reserve(&mut self, ask: Ask) {
        let Ask::Reserve {
            lease,
            key,
            scopes: bits,
            tokens,
        } = ask
        else {
            return;
        };
        let back = usize::from(lease) + 1;
        let Some(place) = self.leases.len().checked_sub(back) else {
            return;
        };
        let lease = self.leases[place].clone();
        let limits = scopes(bits).into_iter().zip([None, Some(60), Some(90)]);
        let request = Reserve {
            key: format!("k{key}"),
            scopes: limits
                .map(|(scope, tokens)| Limit {
                    scope,
                    tokens,
                    micros: tokens.map(|tokens| tokens * 6),
                })
                .collect(),
            tokens,
            micros: tokens * 7,
            estimate: Estimate {
                agent: format!("agent{}", key % 2),
                tokens: tokens / 2,
                micros: tokens,
            },
            at: self.now(),
        };
        let _answer = self
            .same(|store| store.reserve(&lease, request.clone()))
            .await;
    }

    pub(super) async fn compare_mind(&self) {
        for id in ["c0", "c1", "c2"] {
            let _answer = self.same(|store| store.conversation(id)).await;
            let _answer = self.same(|store| store.messages(id, 1, 1000)).await;
        }
        for query in QUERIES {
            let _answer = self
                .same(|store| store.search_conversations(query, 1000))
                .await;
            let filter = ConversationFilter {
                query: Some(query.to_owned()),
                limit: Some(2),
                ..ConversationFilter::default()
            };
            let _answer = self.same(|store| store.conversations(filter.clone())).await;
        }
        let filter = ConversationFilter {
            archived: true,
            ..ConversationFilter::default()
        };
        let _answer = self.same(|store| store.conversations(filter.clone())).await;
        let _answer = self
            .same(|store| store.list_spent(SpentFilter::default()))
            .await;
        let _answer = self.same(|store| store.usage_since("agent0", at(0))).await;
        let _answer = self.same(|store| store.usage_since("agent1", at(0))).await;
    }
}
