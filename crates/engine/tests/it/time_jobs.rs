//! Background jobs: queueing, halting, resuming, retries, and the facts about failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use deft_model::{Effects, Failure, FailureClass, RunOrigin};
use deft_store::{FactFilter, RunRow};
use deft_tools::Definition;
use serde_json::{Value, json};

use crate::time_world::{Times, at, both, file};

/// Queues a job with one call.
async fn queue(t: &Times, tool: &str, on_error: &str) -> RunRow {
    let step = json!({ "id": "only", "toolName": tool, "parameters": {}, "on_error": on_error });
    let args = json!({ "name": format!("job-{tool}"),
        "action": { "type": "workflow", "workflowSteps": [step] } });
    let args = args.as_object().unwrap();
    let queued = t.world.engine.queue_task(args, RunOrigin::default());
    queued.await.unwrap()
}

async fn statuses(t: &Times) -> Vec<String> {
    let mut words = Vec::new();
    for run in t.world.engine.jobs(None).await.unwrap().iter().rev() {
        let shown = json!(t.world.engine.job(run).await.unwrap());
        words.push(format!(
            "{} {}",
            shown["name"].as_str().unwrap(),
            shown["status"].as_str().unwrap()
        ));
    }
    words
}

#[tokio::test]
async fn jobs_are_queued_halted_and_resumed() {
    both(async |t: Times| {
        let engine = &t.world.engine;
        let first = queue(&t, "echo", "fail").await;
        assert_eq!(statuses(&t).await, ["job-echo queued"]);
        engine.halt_jobs().await.unwrap();
        assert_eq!(engine.jobs_halted().await.unwrap(), Some(at("13:00")));
        queue(&t, "act", "fail").await;
        t.drain().await;
        assert_eq!(statuses(&t).await, ["job-echo queued", "job-act queued"]);
        engine.resume_jobs().await.unwrap();
        assert_eq!(engine.jobs_halted().await.unwrap(), None);
        t.drain().await;
        assert_eq!(
            statuses(&t).await,
            ["job-echo completed", "job-act completed"]
        );
        let row = t.world.store.run(&first.id).await.unwrap().unwrap();
        let shown = json!(engine.job(&row).await.unwrap());
        let instant = json!("2026-01-26T13:00:00Z");
        assert_eq!(
            shown,
            json!({
                "taskId": first.id.as_str(),
                "name": "job-echo",
                "status": "completed",
                "result": shown["result"],
                "error": null,
                "duration": 0,
                "createdAt": instant,
                "startedAt": instant,
                "completedAt": instant,
            })
        );
        assert_ne!(shown["result"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn a_failed_job_stores_a_fact() {
    both(async |t: Times| {
        let run = queue(&t, "refuse", "fail").await;
        t.drain().await;
        assert_eq!(statuses(&t).await, ["job-refuse failed"]);
        let facts = t.world.store.facts(FactFilter::default()).await.unwrap();
        let facts: Vec<Value> = facts
            .iter()
            .map(|row| {
                json!([
                    row.fact.agent_id,
                    row.fact.category,
                    row.fact.text,
                    row.fact.source
                ])
            })
            .collect();
        let text = "background job `job-refuse` failed: 401 unauthorized";
        assert_eq!(
            facts,
            [json!(["orchestrator", "error", text, run.id.as_str()])]
        );
        let row = t.world.store.run(&run.id).await.unwrap().unwrap();
        let shown = json!(t.world.engine.job(&row).await.unwrap());
        assert_eq!(shown["error"], "401 unauthorized");
    })
    .await;
}

#[tokio::test]
async fn a_failed_job_is_retried_three_times() {
    both(async |t: Times| {
        let tries = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&tries);
        t.world.engine.router().register_fn(
            Definition::new(
                "flaky",
                "for tests",
                Effects::Idempotent,
                json!({ "type": "object" }),
            ),
            move |_, _| {
                let n = count.fetch_add(1, Ordering::SeqCst);
                async move {
                    if n < 3 {
                        return Err(Failure::new(FailureClass::Network, "no route"));
                    }
                    Ok(json!("at last"))
                }
            },
        );
        queue(&t, "flaky", "retry:3").await;
        // The clock only moves when the test moves it, and retries wait for it.
        let driving = t.drain();
        tokio::pin!(driving);
        let minutes = jiff::SignedDuration::from_mins(10);
        while futures_util::FutureExt::now_or_never(&mut driving).is_none() {
            let now = deft_engine::Clock::now(&t.world.clock);
            if now < at("13:00") + minutes {
                t.world
                    .clock
                    .set(now + jiff::SignedDuration::from_millis(10));
            }
            tokio::task::yield_now().await;
        }
        t.world.clock.set(at("13:30"));
        t.drain().await;
        assert_eq!(statuses(&t).await, ["job-flaky completed"]);
        assert_eq!(tries.load(Ordering::SeqCst), 4);
        let facts = t.world.store.facts(FactFilter::default()).await.unwrap();
        assert_eq!(facts, []);
    })
    .await;
}

#[tokio::test]
async fn ten_jobs_run_at_once() {
    both(async |t: Times| {
        for _ in 0..12 {
            queue(&t, "hang", "fail").await;
        }
        let engine = t.world.engine.clone();
        let workers: Vec<_> = (0..12)
            .map(|_| {
                let engine = engine.clone();
                tokio::spawn(async move { engine.drain(&deft_engine::Attention::default()).await })
            })
            .collect();
        while t.world.called().len() < 10 {
            tokio::task::yield_now().await;
        }
        let count =
            |words: &[String], word: &str| words.iter().filter(|line| line.ends_with(word)).count();
        let now = statuses(&t).await;
        assert_eq!((count(&now, "running"), count(&now, "queued")), (10, 2));
        for run in engine.jobs(None).await.unwrap() {
            engine.cancel(&run.id, "ada").await.unwrap();
        }
        for worker in workers {
            worker.await.unwrap().unwrap();
        }
        assert_eq!(count(&statuses(&t).await, "failed"), 12);
    })
    .await;
}

/// Returns the arguments of `queue_task` for two calls that echo a text.
fn two_calls(name: &str, first: &str, second: &str) -> deft_model::Object {
    let call = |text: &str| json!({ "toolName": "echo", "parameters": { "text": text } });
    let job = json!({ "name": name,
        "action": { "type": "workflow", "workflowSteps": [call(first), call(second)] } });
    job.as_object().unwrap().clone()
}

#[tokio::test]
async fn each_workflow_job_runs_its_own_steps_in_any_process() {
    for elsewhere in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let t = Times::with_store(file(&folder), &[]);
        let engine = &t.world.engine;
        // A name that no file skill could have.
        let single = json!({ "name": "Single", "action": { "type": "tool_call",
            "toolName": "echo", "parameters": { "text": "e" } } });
        for job in [
            two_calls("email.help", "a", "b"),
            two_calls("The other!", "c", "d"),
            single.as_object().unwrap().clone(),
        ] {
            engine.queue_task(&job, RunOrigin::default()).await.unwrap();
        }
        let other = elsewhere.then(|| Times::with_store(file(&folder), &[]));
        let driver = other.as_ref().unwrap_or(&t);
        driver.drain().await;
        assert_eq!(
            statuses(driver).await,
            [
                "email.help completed",
                "The other! completed",
                "Single completed"
            ]
        );
        let mut results = Vec::new();
        for run in driver.world.engine.jobs(None).await.unwrap().iter().rev() {
            results.push(driver.world.engine.job(run).await.unwrap().result);
        }
        let both = |first: &str, second: &str| json!({ "step1": { "text": first }, "step2": { "text": second } });
        let single = results.pop().unwrap();
        assert!(single.to_string().contains(r#""text":"e""#), "{single}");
        assert_eq!(results, [both("a", "b"), both("c", "d")]);
    }
}

/// S0.50, S0.77: a queued plan is parsed like a stored one, in any process.
#[tokio::test]
async fn a_queued_plan_passes_results_like_a_record() {
    for elsewhere in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let t = Times::with_store(file(&folder), &[]);
        let call = |text: &str| json!({ "toolName": "say", "parameters": { "text": text } });
        let job = json!({ "name": "Chain", "action": { "type": "workflow", "workflowSteps": [
            call("one"), call("{{ step1.result }} two"), call("{{ step2 }} three") ] } });
        let said = |t: &Times| {
            let schema =
                json!({ "type": "object", "properties": { "text": { "type": "string" } } });
            t.world.engine.router().register_fn(
                Definition::new("say", "for tests", Effects::None, schema),
                |args, _| async move { Ok(args["text"].clone()) },
            );
        };
        said(&t);
        let job = job.as_object().unwrap();
        t.world
            .engine
            .queue_task(job, RunOrigin::default())
            .await
            .unwrap();
        let other = elsewhere.then(|| Times::with_store(file(&folder), &[]));
        let driver = other.as_ref().unwrap_or(&t);
        said(driver);
        driver.drain().await;
        let run = driver.world.engine.jobs(None).await.unwrap().remove(0);
        let shown = json!(driver.world.engine.job(&run).await.unwrap());
        assert_eq!(
            shown["result"],
            json!({ "step1": "one", "step2": "one two", "step3": "one two three" }),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn a_job_with_lost_content_stores_a_fact() {
    let folder = tempfile::tempdir().unwrap();
    let t = Times::with_store(file(&folder), &[]);
    let job = two_calls("gone", "a", "b");
    let run = t
        .world
        .engine
        .queue_task(&job, RunOrigin::default())
        .await
        .unwrap();
    let db = rusqlite::Connection::open(folder.path().join("deft.db")).unwrap();
    db.execute("delete from revision", ()).unwrap();
    let other = Times::with_store(file(&folder), &[]);
    other.drain().await;
    assert_eq!(statuses(&other).await, ["queue_task failed"]);
    let facts = other
        .world
        .store
        .facts(FactFilter::default())
        .await
        .unwrap();
    let facts: Vec<_> = facts.iter().map(|row| row.fact.text.as_str()).collect();
    let why = format!(
        "revision `{}` of skill `queue_task` is not stored",
        run.revision
    );
    assert_eq!(
        facts,
        [format!("background job `queue_task` failed: {why}")]
    );
}
