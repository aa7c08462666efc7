//! Rules about revisions, last readable files, cached results and catalogs.

use super::support::{admission, admit, append, at, start};
use deft_store::{Batch, ReadableFile, Store, Write};

fn result(key: &str, value: &str, made: i64, expires: i64) -> Write {
    Write::Cache {
        key: key.to_owned(),
        value: value.to_owned(),
        at: at(made),
        expires_at: at(expires),
    }
}

pub(super) async fn results_expire(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let keep = |writes| Batch {
        writes,
        ..Batch::default()
    };
    let writes = vec![result("k", "1", 1, 10), result("l", "2", 1, 90)];
    append(store, &lease, keep(writes)).await;
    assert_eq!(
        store.read_cached("k", at(9)).await.unwrap().as_deref(),
        Some("1")
    );
    assert_eq!(store.read_cached("k", at(10)).await.unwrap(), None);
    append(store, &lease, keep(vec![result("l", "3", 20, 50)])).await;
    assert_eq!(
        store.read_cached("l", at(49)).await.unwrap().as_deref(),
        Some("3")
    );
    assert_eq!(store.read_cached("l", at(50)).await.unwrap(), None);
    assert_eq!(store.read_cached("m", at(1)).await.unwrap(), None);
}

pub(super) async fn a_revision_is_kept_once(store: &dyn Store) {
    store.keep_revision("sha256:1", "one").await.unwrap();
    store.keep_revision("sha256:1", "other").await.unwrap();
    let kept = store.revision("sha256:1").await.unwrap();
    assert_eq!(kept.as_deref(), Some("one"));
    assert_eq!(store.revision("sha256:2").await.unwrap(), None);
}

/// S2.18: the last good revision of a file is stored until the file is removed.
pub(super) async fn good_files_are_replaced(store: &dyn Store) {
    let file = |path: &str, revision: &str| ReadableFile {
        path: path.to_owned(),
        skill: "a.b".to_owned(),
        revision: revision.to_owned(),
    };
    let kept = |path: &str, revision: &str| (file(path, revision), format!("{revision} text"));
    let first = vec![kept("/b.md", "1"), kept("/a.md", "2")];
    store.keep_good_files(first, Vec::new()).await.unwrap();
    let then = vec![kept("/b.md", "3"), kept("/c.md", "4")];
    let gone = vec!["/a.md".to_owned(), "/never.md".to_owned()];
    store.keep_good_files(then, gone).await.unwrap();
    let files = store.good_files().await.unwrap();
    assert_eq!(files, [file("/b.md", "3"), file("/c.md", "4")]);
    for revision in ["1", "2", "3", "4"] {
        let content = store.revision(revision).await.unwrap();
        assert_eq!(content, Some(format!("{revision} text")));
    }
}

pub(super) async fn catalogs_are_replaced(store: &dyn Store) {
    for (server, tools, second) in [("b", "[]", 1), ("a", "[1]", 2), ("b", "[2]", 3)] {
        store.keep_catalog(server, tools, at(second)).await.unwrap();
    }
    let entry =
        |server: &str, tools: &str, second| (server.to_owned(), tools.to_owned(), at(second));
    let kept = store.catalogs().await.unwrap();
    assert_eq!(kept, [entry("a", "[1]", 2), entry("b", "[2]", 3)]);
    store.drop_catalog("a").await.unwrap();
    store.drop_catalog("c").await.unwrap();
    assert_eq!(store.catalogs().await.unwrap(), [entry("b", "[2]", 3)]);
}

pub(super) async fn the_version_changes_with_writes(store: &dyn Store) {
    let before = store.version().await.unwrap();
    assert_eq!(store.version().await.unwrap(), before);
    admit(store, admission("r1", "a")).await;
    let after = store.version().await.unwrap();
    assert_ne!(after, before);
    store.runs(deft_store::RunFilter::default()).await.unwrap();
    assert_eq!(store.version().await.unwrap(), after);
}
