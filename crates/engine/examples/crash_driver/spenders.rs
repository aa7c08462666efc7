//! Concurrent runs that share a budget with those of another process.

use std::io::Write;
use std::path::Path;

use deft_engine::{Attention, Budgets, DayBudget, Engine, Fire};
use deft_model::{ExhaustedAction, Object};
use serde_json::json;

/// Fires `total` runs on request, and ends when all of them have ended.
///
/// `HOME/race` contains their kind and the number of tokens that all of them may use together: `KIND LIMIT`.
pub(crate) async fn race(engine: &Engine, home: &Path, total: usize) {
    let race = std::fs::read_to_string(home.join("race")).unwrap();
    let (kind, limit) = race.split_once(' ').unwrap();
    engine.agents().set_budgets(Budgets {
        all: DayBudget {
            tokens: Some(limit.parse().unwrap()),
            on_exhausted: ExhaustedAction::Skip,
            ..DayBudget::default()
        },
        ..Budgets::default()
    });
    // The server of the tools is started before the race.
    engine.router().list_servers().await;
    #[expect(
        clippy::disallowed_methods,
        reason = "the test that started this program waits for the word"
    )]
    std::io::stdout().write_all(b"ready\n").unwrap();
    let mut go = String::new();
    std::io::stdin().read_line(&mut go).unwrap();
    let fire = |nth: usize| Fire {
        skill: "spends".to_owned(),
        inputs: Object::from_iter([
            ("kind".to_owned(), json!(kind)),
            ("turns".to_owned(), json!((nth % 5).to_string())),
        ]),
        cause: format!("process {}", std::process::id()).into(),
        ..Fire::default()
    };
    let runs: Vec<_> = (0..total)
        .map(|nth| {
            let (engine, fire) = (engine.clone(), fire(nth));
            tokio::spawn(async move { engine.run(fire, Attention::default()).await })
        })
        .collect();
    for run in runs {
        run.await.unwrap().unwrap();
    }
}
