//! The number of children never exceeds the number of places; further sessions wait in line.

use deft_compute::{Compute, Limits, Session};
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{block, with_limits};

fn with_places(children: usize) -> Compute {
    with_limits(Limits {
        children,
        ..Limits::default()
    })
}

/// Returns the current number of children of the worker.
fn children(compute: &Compute) -> usize {
    let worker = compute.worker_id().unwrap();
    let path = format!("/proc/{worker}/task/{worker}/children");
    let list = std::fs::read_to_string(path).unwrap();
    list.split_whitespace().count()
}

/// Waits until the worker has forked a child.
async fn has_child(compute: &Compute) {
    while compute.worker_id().is_none() || children(compute) == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

async fn ask(session: &mut Session, n: usize) -> usize {
    let job = block(&format!("result = sum(range(20_000)) * 0 + {n}"));
    let output = session.run(job, None).await.unwrap();
    usize::try_from(output.value.as_u64().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_beyond_the_limit_wait_in_line() {
    let compute = with_places(3);
    let done = std::sync::atomic::AtomicBool::new(false);
    let watch = async {
        let mut most = 0;
        while !done.load(std::sync::atomic::Ordering::SeqCst) {
            if compute.worker_id().is_some() {
                most = most.max(children(&compute));
            }
            tokio::task::yield_now().await;
        }
        most
    };
    let work = async {
        let jobs = (0..20).map(|n| {
            let compute = compute.clone();
            // Each task keeps its session until all have finished.
            async move {
                let mut session = compute.session();
                let value = ask(&mut session, n).await;
                (session, value)
            }
        });
        let ended = jobs.collect::<JoinSet<_>>().join_all().await;
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        ended
    };
    let (ended, most) = tokio::join!(work, watch);
    let mut values: Vec<usize> = ended.iter().map(|(_, value)| *value).collect();
    values.sort_unstable();
    assert_eq!(values, (0..20).collect::<Vec<_>>());
    assert!((1..=3).contains(&most), "{most} children at once");
}

/// A session between two jobs does not keep its child if another session waits; its next job gets a new
/// child.
#[tokio::test]
async fn an_idle_child_is_replaced_for_a_waiting_session() {
    let compute = with_places(1);
    let mut outer = compute.session();
    assert_eq!(ask(&mut outer, 1).await, 1);
    let mut inner = compute.session();
    assert_eq!(ask(&mut inner, 2).await, 2);
    assert_eq!(ask(&mut outer, 3).await, 3);
    assert_eq!(ask(&mut inner, 4).await, 4);
}

/// A session that stops waiting occupies no place, and neither does a job that was stopped.
#[tokio::test]
async fn stopped_sessions_and_jobs_free_their_places() {
    let compute = with_places(1);
    let mut first = compute.session();
    let slow = first.run(block("while True: pass"), None);
    {
        let mut slow = std::pin::pin!(slow);
        let mut second = compute.session();
        let waits = second.run(block("result = 1"), None);
        tokio::select! {
            biased;
            _ = &mut slow => panic!("it has no end"),
            () = has_child(&compute) => {}
        }
        tokio::select! {
            biased;
            _ = waits => panic!("there is no place"),
            () = tokio::task::yield_now() => {}
        }
    }
    let output = first.run(block("result = 2"), None).await.unwrap();
    assert_eq!(output.value, json!(2));
}
