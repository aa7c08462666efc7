//! An unreadable row causes an error that names its table and key; it is never replaced by a default.

use deft_model::RunId;
use deft_store::{
    Answer, ConversationFilter, Error, FactFilter, NoticeFilter, SkillFilter, SpentFilter, Store,
};

use crate::support::{admission, at, open, start};

/// A damaged row, a request that reads it, and the expected location in the error.
struct Case {
    table: &'static str,
    /// Writes the row as a damaged disk or another program would leave it.
    sql: &'static str,
    ask: for<'a> fn(&'a dyn Store) -> Answer<'a, ()>,
    key: &'static str,
    reason: &'static str,
}

/// Drops the result of a request; only its error matters here.
macro_rules! ask {
    ($store:ident => $request:expr) => {
        |$store| Box::pin(async move { $request.await.map(drop) })
    };
}

const CASES: &[Case] = &[
    Case {
        table: "run",
        sql: "UPDATE run SET outcome = 'nonsense'",
        ask: ask!(store => store.run(&RunId::new("r1"))),
        key: "r1",
        reason: "column `outcome`: unknown word `nonsense`",
    },
    Case {
        table: "run",
        sql: "UPDATE run SET slot_count = -1",
        ask: ask!(store => store.runs(deft_store::RunFilter::default())),
        key: "r1",
        reason: "column `slot_count`: -1 is out of range",
    },
    Case {
        table: "event",
        sql: "INSERT INTO event SELECT 7, n, 0, CAST(x'ff' AS TEXT), '{}' FROM run",
        ask: ask!(store => store.events(None, 0, 10)),
        key: "7",
        reason: "column `kind`: invalid UTF-8",
    },
    Case {
        table: "approval",
        sql: "INSERT INTO approval (id, run, path, message, options, operation, asked_at) \
              SELECT 'q1', n, 'one', CAST(x'ff' AS TEXT), '[]', '{}', 0 FROM run",
        ask: ask!(store => store.approvals(true)),
        key: "q1",
        reason: "column `message`: invalid UTF-8",
    },
    Case {
        table: "grant_",
        sql: "INSERT INTO grant_ (id, skill, revision, operation, describes, given_by, given_at) \
              VALUES ('g1', 'a', 'sha256:1', 'op', CAST(x'ff' AS TEXT), 'me', 0)",
        ask: ask!(store => store.all_grants()),
        key: "g1",
        reason: "column `describes`: invalid UTF-8",
    },
    Case {
        table: "revision",
        sql: "INSERT INTO revision VALUES ('sha256:1', CAST(x'ff' AS TEXT))",
        ask: ask!(store => store.revision("sha256:1")),
        key: "sha256:1",
        reason: "column `content`: invalid UTF-8",
    },
    Case {
        table: "good_file",
        sql: "INSERT INTO good_file VALUES ('a.yaml', CAST(x'ff' AS TEXT), 'sha256:1')",
        ask: ask!(store => store.good_files()),
        key: "a.yaml",
        reason: "column `skill`: invalid UTF-8",
    },
    Case {
        table: "cache",
        sql: "INSERT INTO cache VALUES ('k1', CAST(x'ff' AS TEXT), 0, 9000000000000000000)",
        ask: ask!(store => store.read_cached("k1", at(0))),
        key: "k1",
        reason: "column `value`: invalid UTF-8",
    },
    Case {
        table: "catalog",
        sql: "INSERT INTO catalog VALUES ('mail', CAST(x'ff' AS TEXT), 0)",
        ask: ask!(store => store.catalogs()),
        key: "mail",
        reason: "column `tools`: invalid UTF-8",
    },
    Case {
        table: "skill",
        sql: "INSERT INTO skill (skill, agent_id, name, origin, revision, tier, trigger_type, \
              required_tools, disabled, streak, created_at, updated_at, version) VALUES \
              ('a', 'main', 'A', 'file', 'sha256:1', 'direct', 'cron', '[]', 'tired', 0, 0, 0, 1)",
        ask: ask!(store => store.skills(SkillFilter::default())),
        key: "a",
        reason: "column `disabled`: unknown word `tired`",
    },
    Case {
        table: "skill",
        sql: "INSERT INTO skill (skill, agent_id, name, origin, revision, tier, trigger_type, \
              required_tools, streak, created_at, updated_at, version) VALUES \
              ('a', 'main', 'A', 'file', 'sha256:1', 'direct', 'cron', '[', 0, 0, 0, 1)",
        ask: ask!(store => store.skills(SkillFilter::default())),
        key: "a",
        reason: "column `required_tools`: EOF while parsing a list at line 1 column 1",
    },
    Case {
        table: "skill",
        sql: "INSERT INTO skill (skill, agent_id, name, origin, revision, tier, trigger_type, \
              required_tools, streak, created_at, updated_at, version) VALUES \
              ('a', 'main', 'A', 'file', 'sha256:1', 'fast', 'cron', '[]', 0, 0, 0, 1)",
        ask: ask!(store => store.skills(SkillFilter::default())),
        key: "a",
        reason: "column `tier`: unknown word `fast`",
    },
    Case {
        table: "outbox",
        sql: "INSERT INTO outbox (n, finish_ordinal, key, body, at, attempts) \
              VALUES (3, 0, 'k', '{}', 0, -1)",
        ask: ask!(store => store.notices(NoticeFilter::default())),
        key: "3",
        reason: "column `attempts`: -1 is out of range",
    },
    Case {
        table: "fact",
        sql: "INSERT INTO fact (n, agent_id, category, text, at) \
              VALUES (5, 'main', 'error', CAST(x'ff' AS TEXT), 0)",
        ask: ask!(store => store.facts(FactFilter::default())),
        key: "5",
        reason: "column `text`: invalid UTF-8",
    },
    Case {
        table: "hold",
        sql: "INSERT INTO hold VALUES ('a', 9223372036854775807)",
        ask: ask!(store => store.held_since("a")),
        key: "a",
        reason: "column `since`: 9223372036854775807 is out of range",
    },
    Case {
        table: "setting",
        sql: "INSERT INTO setting VALUES ('zone', CAST(x'ff' AS TEXT))",
        ask: ask!(store => store.setting("zone")),
        key: "zone",
        reason: "column `value`: invalid UTF-8",
    },
    Case {
        table: "spent",
        sql: "INSERT INTO spent (id, skill, revision, tier, agent_id, cause, slot_count, key, \
              outcome, inputs, admitted_at, finish_ordinal) VALUES \
              ('r0', 'a', 'sha256:1', 'direct', 'main', 'cli', 1, 'once', 'nonsense', '{}', 0, 1)",
        ask: ask!(store => {
            let mut again = admission("r2");
            again.key = Some("once".to_owned());
            store.admit(again)
        }),
        key: "r0",
        reason: "column `outcome`: unknown word `nonsense`",
    },
    Case {
        table: "conversation",
        sql: "INSERT INTO conversation (id, agent, channel, title, created_at, updated_at, \
              messages) VALUES ('conv_1', 'main', 'cli', 'hello', 0, 0, -1)",
        ask: ask!(store => store.conversations(ConversationFilter::default())),
        key: "conv_1",
        reason: "column `messages`: -1 is out of range",
    },
    Case {
        table: "message",
        sql: "INSERT INTO conversation (id, agent, channel, title, created_at, updated_at) \
              VALUES ('conv_1', 'main', 'cli', 'hello', 0, 0); \
              INSERT INTO message (conversation, seq, role, at, text, body) \
              SELECT n, 1, 'user', 0, '', CAST(x'ff' AS TEXT) FROM conversation",
        ask: ask!(store => store.messages("conv_1", 0, 10)),
        key: "conv_1",
        reason: "column `body`: invalid UTF-8",
    },
    Case {
        table: "reservation",
        sql: "INSERT INTO reservation (run, key, scope, tokens, micros, estimated_tokens) \
              SELECT n, 'turn 1', 'all', 1, 1, -1 FROM run",
        ask: ask!(store => store.release(vec!["me".to_owned()], at(0))),
        key: "turn 1",
        reason: "column `estimated_tokens`: -1 is out of range",
    },
    Case {
        table: "ledger",
        sql: "INSERT INTO ledger (scope, tokens_in, tokens_out, micros, calls, at) \
              VALUES ('all', -1, 0, 0, 0, 0)",
        ask: ask!(store => store.list_spent(SpentFilter::default())),
        key: "all",
        reason: "column `tokens_in`: -1 is out of range",
    },
    Case {
        table: "usage",
        sql: "INSERT INTO usage VALUES ('main', 1900000000000000, -1, 0, 0)",
        ask: ask!(store => store.usage_since("main", at(0))),
        key: "main",
        reason: "column `tokens`: -1 is out of range",
    },
];

#[tokio::test]
async fn a_damaged_row_is_named_by_table_and_key() {
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deft.db");
        let store = open(&path);
        start(&store, "r1").await;
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch(case.sql).unwrap();
        drop(other);
        let wanted = Error::DamagedRow {
            path,
            table: case.table,
            key: case.key.to_owned(),
            reason: case.reason.to_owned(),
        };
        assert_eq!((case.ask)(&store).await, Err(wanted));
    }
}

/// Every table with values that deft parses has a case; the other tables contain only keys and words.
#[test]
fn every_table_has_a_case() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    drop(open(&path));
    let db = rusqlite::Connection::open(&path).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'word%' \
               AND name NOT LIKE 'sqlite_%' AND name <> 'counted' ORDER BY name";
    let mut tables = db.prepare(sql).unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    let tables: Vec<String> = tables.collect::<Result<_, _>>().unwrap();
    let mut cases: Vec<&str> = CASES.iter().map(|case| case.table).collect();
    cases.sort_unstable();
    cases.dedup();
    assert_eq!(cases, tables);
}
