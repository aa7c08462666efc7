//! Lifetimes of workers, children and sessions, and their isolation from each other.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use deft_compute::{Compute, Error, Kind, Limits, Options};
use deft_model::FailureClass;
use serde_json::json;

use crate::support::{SHORT, block, children_of, compute, job, value, wait_for, with_limits};

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_session_leaves_no_state_to_the_next() {
    let compute = compute();
    let mut first = compute.session();
    let tamper = "import json, math\njson.leak = 1\nmath.pi = 3\nleak = 2\nresult = json.leak";
    assert_eq!(first.run(block(tamper), None).await.unwrap().value, 1);
    let look =
        "import json, math\nresult = [hasattr(json, 'leak'), math.pi > 3.1, 'leak' in globals()]";
    let clean = json!([false, true, false]);
    assert_eq!(value(&compute, look).await.unwrap(), clean);
    // Modules are restored between the jobs of one session too.
    assert_eq!(first.run(block(look), None).await.unwrap().value, clean);
}

#[tokio::test]
async fn classes_are_unchanged_between_jobs_of_a_session() {
    let compute = compute();
    let mut session = compute.session();
    let tamper = "import datetime, collections\n\
        datetime.datetime.isoformat = lambda self: 'x'\n\
        datetime.datetime.extra = 1\n\
        del collections.Counter.most_common\n\
        type(inputs).__getattr__ = lambda s, n: 'bad'\n\
        result = datetime.datetime(2026, 1, 1).isoformat()";
    let scope = json!({"inputs": {"a": 1}});
    let tampered = session.run(job(Kind::Block, tamper, &scope), None).await;
    assert_eq!(tampered.unwrap().value, "x");
    let look = "import datetime, collections\n\
        result = [datetime.datetime(2026, 1, 1).isoformat(), hasattr(datetime.datetime, 'extra'),\n\
        collections.Counter('aab').most_common(1), inputs.a]";
    let clean = session
        .run(job(Kind::Block, look, &scope), None)
        .await
        .unwrap();
    assert_eq!(
        clean.value,
        json!(["2026-01-01T00:00:00", false, [["a", 2]], 1])
    );
}

#[tokio::test]
async fn a_hanging_job_is_stopped_and_the_session_continues() {
    let compute = compute();
    let mut session = compute.session();
    session.run(block("result = 0"), None).await.unwrap();
    let started = Instant::now();
    let error = session
        .run(block("while True: pass"), SHORT)
        .await
        .unwrap_err();
    assert_eq!(
        error,
        Error::Timeout {
            after: SHORT.unwrap()
        }
    );
    assert_eq!(error.class(), FailureClass::Timeout);
    assert_eq!(
        error.to_string(),
        "the code took longer than 1.5 s and was stopped"
    );
    assert!(started.elapsed() < Duration::from_secs(4));
    assert_eq!(
        session.run(block("result = 2"), None).await.unwrap().value,
        2
    );
    let worker = compute.worker_id().unwrap();
    wait_for("one child", || children_of(worker).len() == 1).await;
}

#[tokio::test]
async fn exceeding_the_memory_limit_is_reported() {
    let limits = Limits {
        memory_bytes: 64 << 20,
        ..Limits::default()
    };
    let compute = with_limits(limits);
    let hog = "x = []\nwhile True: x.append('a' * 100000)";
    let error = value(&compute, hog).await.unwrap_err();
    assert_eq!(error, Error::Memory { limit: 64 << 20 });
    assert_eq!(error.class(), FailureClass::Limit);
    assert_eq!(
        value(&compute, "result = len('a' * (20 << 20))")
            .await
            .unwrap(),
        20 << 20
    );
}

#[tokio::test]
async fn a_value_that_is_too_long_is_refused() {
    let limits = Limits {
        output_bytes: 1000,
        ..Limits::default()
    };
    let compute = with_limits(limits);
    let error = value(&compute, "result = 'x' * 2000").await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::TooLarge {
                bytes: 2002,
                limit: 1000
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        value(&compute, "result = 'x' * 900")
            .await
            .unwrap()
            .as_str()
            .unwrap()
            .len(),
        900
    );
}

#[tokio::test]
async fn a_killed_child_is_reported_and_the_next_session_works() {
    let compute = compute();
    let mut session = compute.session();
    session.run(block("result = 0"), None).await.unwrap();
    let worker = compute.worker_id().unwrap();
    let child = children_of(worker)[0];
    let killed = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        kill(child);
    };
    let (got, ()) = tokio::join!(session.run(block("while True: pass"), None), killed);
    assert_eq!(
        got.unwrap_err(),
        Error::Died {
            signal: Some(9),
            status: None
        }
    );
    assert_eq!(
        session.run(block("result = 3"), None).await.unwrap().value,
        3
    );
    assert_eq!(value(&compute, "result = 4").await.unwrap(), 4);
    assert_eq!(compute.worker_id(), Some(worker));
}

#[tokio::test]
async fn a_killed_worker_is_replaced() {
    let compute = compute();
    let mut session = compute.session();
    session.run(block("result = 0"), None).await.unwrap();
    let worker = compute.worker_id().unwrap();
    let child = children_of(worker)[0];
    kill(worker);
    wait_for("the child follows", || {
        !PathBuf::from(format!("/proc/{child}")).exists()
    })
    .await;
    assert_eq!(
        session.run(block("result = 1"), None).await.unwrap().value,
        1
    );
    assert_ne!(compute.worker_id(), Some(worker));
    assert_eq!(value(&compute, "result = 2").await.unwrap(), 2);
}

#[tokio::test]
async fn dropping_the_future_kills_the_child() {
    let compute = compute();
    let mut session = compute.session();
    session.run(block("result = 0"), None).await.unwrap();
    let worker = compute.worker_id().unwrap();
    let child = children_of(worker)[0];
    let endless = session.run(block("while True: pass"), None);
    let given_up = tokio::time::timeout(Duration::from_millis(200), endless).await;
    assert!(given_up.is_err());
    wait_for("the child is gone", || {
        !children_of(worker).contains(&child)
    })
    .await;
    assert_eq!(
        session.run(block("result = 5"), None).await.unwrap().value,
        5
    );
}

#[tokio::test]
async fn dropping_the_session_kills_the_child() {
    let compute = compute();
    let mut session = compute.session();
    session.run(block("result = 0"), None).await.unwrap();
    let worker = compute.worker_id().unwrap();
    assert_eq!(children_of(worker).len(), 1);
    drop(session);
    wait_for("no child", || children_of(worker).is_empty()).await;
}

#[tokio::test]
async fn shutdown_ends_all_processes_and_a_later_job_starts_new_ones() {
    let compute = compute();
    compute.warm();
    let worker = compute.worker_id().unwrap();
    let mut session = compute.session();
    session.run(block("result = 0"), None).await.unwrap();
    compute.shutdown().await;
    let gone = PathBuf::from(format!("/proc/{worker}"));
    wait_for("the worker is gone", || !gone.exists()).await;
    assert_eq!(
        session.run(block("result = 1"), None).await.unwrap().value,
        1
    );
}

#[tokio::test]
async fn sessions_run_side_by_side() {
    let compute = compute();
    let (mut a, mut b) = (compute.session(), compute.session());
    a.run(block("result = 0"), None).await.unwrap();
    b.run(block("result = 0"), None).await.unwrap();
    let endless = a.run(block("while True: pass"), SHORT);
    let quick = async {
        let mut values = Vec::new();
        for _ in 0..5 {
            values.push(
                b.run(block("result = sum(range(1000))"), None)
                    .await
                    .unwrap()
                    .value,
            );
        }
        (values, Instant::now())
    };
    let (stopped, (values, done)) = tokio::join!(endless, quick);
    assert!(matches!(stopped, Err(Error::Timeout { .. })));
    assert!(
        done.elapsed() > Duration::from_millis(100),
        "it waited for the other session"
    );
    assert_eq!(values, vec![json!(499_500); 5]);
}

#[tokio::test]
async fn many_sessions_wait_for_the_worker_to_start() {
    let compute = compute();
    let mut sessions: Vec<_> = (0..40).map(|_| compute.session()).collect();
    let jobs = sessions
        .iter_mut()
        .map(|session| session.run(block("result = 1"), None));
    for job in jobs.collect::<Vec<_>>() {
        assert_eq!(job.await.unwrap().value, 1);
    }
}

#[tokio::test]
async fn children_are_sandboxed() {
    let compute = compute();
    let isolation = compute.isolation().await.unwrap();
    // The kernel of the tests supports all of these; other kernels are reported as they are.
    assert!(
        isolation.seccomp && isolation.landlock && isolation.no_new_privileges,
        "{isolation:?}"
    );
    let mut session = compute.session();
    session.run(block("result = 0"), None).await.unwrap();
    let worker = compute.worker_id().unwrap();
    for process in [worker, children_of(worker)[0]] {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        assert!(
            environment.iter().all(|byte| *byte == 0),
            "{process} has an environment"
        );
    }
    let child = children_of(worker)[0];
    let mut open: Vec<String> = std::fs::read_dir(format!("/proc/{child}/fd"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    open.sort();
    assert_eq!(open, ["0", "2"], "the data socket and the last words");
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap();
    for line in ["Seccomp:\t2", "NoNewPrivs:\t1", "Threads:\t1"] {
        assert!(status.contains(line), "{line} is not in {status}");
    }
}

/// S3.33.
#[tokio::test]
async fn opening_a_file_fails() {
    let compute = compute();
    let error = value(&compute, "result = open('/etc/hostname').read()")
        .await
        .unwrap_err();
    let text = "line 1: NameError: `open` is not available in compute blocks: they read and write no files";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn a_refused_import_lists_the_allowed_modules() {
    let error = value(&compute(), "x = 1\nimport socket").await.unwrap_err();
    let Error::Python {
        kind,
        message,
        line,
        ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!((kind.as_str(), line), ("ImportError", Some(2)));
    assert!(message.starts_with("module `socket` is not available in compute blocks; these are: "));
    assert!(message.contains("datetime"));
}

#[tokio::test]
async fn all_public_modules_can_be_imported() {
    let compute = compute();
    for name in deft_compute::module_names() {
        let got = value(&compute, &format!("import {name}\nresult = 1")).await;
        assert_eq!(got.unwrap(), 1, "{name}");
    }
}

#[tokio::test]
async fn texts_are_encoded_by_every_codec() {
    let code = "result = ['a'.encode(name).decode(name) for name in names]";
    let names = [
        "ascii",
        "cp1252",
        "iso8859_1",
        "iso8859_15",
        "latin_1",
        "punycode",
        "raw_unicode_escape",
        "unicode_escape",
        "utf_16",
        "utf_16_be",
        "utf_16_le",
        "utf_32",
        "utf_8",
        "utf_8_sig",
    ];
    let code = format!("names = {names:?}\n{code}");
    let got = value(&compute(), &code).await.unwrap();
    assert_eq!(got, json!(vec!["a"; names.len()]));
}

#[tokio::test]
async fn a_program_that_is_not_a_worker_is_reported() {
    let options = |program: &str, args: &[&str]| Options {
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        limits: Limits::default(),
    };
    let missing = Compute::new(options("/nowhere/deft", &[]));
    let error = value(&missing, "result = 1").await.unwrap_err();
    assert!(error.to_string().contains("`/nowhere/deft`"), "{error}");
    let other = Compute::new(options(
        "/bin/sh",
        &["-c", "echo no such command >&2; exit 2"],
    ));
    let error = value(&other, "result = 1").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("exit status: 2): no such command"),
        "{error}"
    );
    assert_eq!(error.class(), FailureClass::Other);
    assert!(error.hint().is_some());
}

#[tokio::test]
async fn the_worker_refuses_to_be_started_by_hand() {
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_compute-worker"))
        .stdin(std::process::Stdio::null())
        .output()
        .await
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("started by deft itself"));
}
