//! Thousands of skill files are stored in a handful of transactions: each one syncs the disk, which makes a
//! first start slow.

use std::sync::Arc;

use deft_engine::SyncReport;
use deft_model::Effects;
use deft_scheduler::Scheduler;
use deft_store::{Sqlite, SqliteOptions};
use deft_tools::Definition;
use serde_json::json;
use tempfile::TempDir;

use crate::world::{World, load};

const FILES: usize = 2100;

/// Skill files; disabled ones wait for a tool that is missing.
fn files(enabled: bool) -> Vec<(String, String)> {
    let file = |n: usize| {
        let text = format!(
            "name: skill-{n}\ndescription: Fires\nenabled: {enabled}\nrequired_tools: [later]\n\
             schedule: \"5 * * * *\"\nsteps:\n  - {{id: one, tool: later}}\n"
        );
        (format!("skill-{n}.yaml"), text)
    };
    (0..FILES).map(file).collect()
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect()
}

struct Files {
    world: World,
    store: Arc<Sqlite>,
    _folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deft.db");
        let store = Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap());
        let files = files(false);
        Self {
            world: World::with(store.clone(), &borrowed(&files), |_| {}),
            store,
            _folder: folder,
        }
    }

    /// Syncs the files. Returns the numbers of changes, and of transactions.
    async fn sync(&self) -> ([usize; 4], u64) {
        let before = self.store.commits();
        let SyncReport {
            added,
            changed,
            removed,
            clashes,
        } = self.world.engine.library().sync_files().await.unwrap();
        let counts = [added, changed, removed, clashes].map(|names| names.len());
        (counts, self.store.commits() - before)
    }
}

/// On several threads, as in `deft up`: there the awaited future commits by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn thousands_of_files_cost_a_few_transactions() {
    let home = Files::new();
    // Contents and rows, a thousand at a time.
    assert_eq!(home.sync().await, ([FILES, 0, 0, 0], 6));
    assert_eq!(home.sync().await, ([0, 0, 0, 0], 0));
    // The tool appears, and all of them fire.
    let now = "2026-01-26T13:00:00Z".parse().unwrap();
    let later = Definition::new(
        "later",
        "for tests",
        Effects::None,
        json!({"type": "object"}),
    );
    let router = home.world.engine.router();
    router.register_fn(later, |_, _| async { Ok(json!(null)) });
    let before = home.store.commits();
    let enabled = Scheduler::new(&home.world.engine)
        .enable_ready(now)
        .await
        .unwrap();
    assert_eq!((enabled.len(), home.store.commits() - before), (FILES, 3));
    let set = |files: &[(String, String)]| {
        let place = &home.world.home;
        std::fs::remove_dir_all(place.path().join("skills")).unwrap();
        *home.world.folder.0.lock().unwrap() = load(place, &borrowed(files));
    };
    set(&files(true));
    assert_eq!(home.sync().await, ([0, FILES, 0, 0], 6));
    set(&[]);
    // Rows, and the removal of the files.
    assert_eq!(home.sync().await, ([0, 0, FILES, 0], 4));
}
