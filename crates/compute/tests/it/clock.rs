//! The same job gives the same value: fixed clock, fixed zone, seeded randomness (X17).

use deft_compute::{Compute, Job};
use serde_json::{Value, json};

use crate::support::{block, compute, value};

async fn at(compute: &Compute, code: &str, now: &str, zone: &str, seed: u64) -> Value {
    let job = Job {
        now: now.parse().unwrap(),
        zone: zone.to_owned(),
        seed,
        ..block(code)
    };
    compute.session().run(job, None).await.unwrap().value
}

/// The error for a block that sleeps names the `wait` step.
#[tokio::test]
async fn sleeping_is_refused_and_a_wait_step_is_named() {
    let error = value(&compute(), "import time\ntime.sleep(5)")
        .await
        .unwrap_err();
    let text = "line 2: RuntimeError: `time.sleep` does not wait: in a compute block no time passes; \
                let a `wait:` step wait";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn every_clock_shows_the_given_instant() {
    let compute = compute();
    let code = "import time, datetime as dt\n\
        result = [dt.datetime.now().isoformat(), dt.datetime.utcnow().isoformat(),\n\
        dt.date.today().isoformat(), dt.datetime.now(dt.timezone.utc).isoformat(), time.time(),\n\
        time.time_ns(), time.monotonic(), time.perf_counter(), time.strftime('%H:%M'),\n\
        time.localtime().tm_hour, time.gmtime().tm_hour, time.ctime(), time.process_time(),\n\
        dt.datetime.today().isoformat()]";
    let got = at(&compute, code, "2026-02-03T04:05:06.123456Z", "UTC", 0).await;
    let seconds = 1_770_091_506.123_456;
    let iso = "2026-02-03T04:05:06.123456";
    let expected = json!([
        iso,
        iso,
        "2026-02-03",
        "2026-02-03T04:05:06.123456+00:00",
        seconds,
        1_770_091_506_123_456_000_i64,
        seconds,
        seconds,
        "04:05",
        4,
        4,
        "Tue Feb  3 04:05:06 2026",
        0.0,
        iso,
    ]);
    assert_eq!(got, expected);
    // The clock does not advance while the code runs.
    let code = "import time\na = time.time()\nfor i in range(200000): pass\n\
        result = time.time() - a";
    assert_eq!(
        at(&compute, code, "2026-02-03T04:05:06Z", "UTC", 0).await,
        0.0
    );
}

#[tokio::test]
async fn local_time_is_in_the_given_zone() {
    let compute = compute();
    let code = "import time, datetime as dt\n\
        result = [dt.datetime.now().isoformat(), dt.datetime.now().astimezone().isoformat(),\n\
        time.strftime('%H %Z'), time.tzname[0], time.timezone,\n\
        dt.datetime.fromtimestamp(0).isoformat(), dt.datetime(2026, 7, 1).timestamp(),\n\
        time.mktime((2026, 1, 32, 0, 0, 0, 0, 0, -1)), dt.date.today().isoformat()]";
    let got = at(&compute, code, "2026-07-01T22:30:00Z", "Europe/Berlin", 0).await;
    let expected = json!([
        "2026-07-02T00:30:00",
        "2026-07-02T00:30:00+02:00",
        "00 CEST",
        "CEST",
        -7200,
        "1970-01-01T01:00:00",
        1_782_856_800.0,
        1_769_900_400.0,
        "2026-07-02",
    ]);
    assert_eq!(got, expected);
    let got = at(
        &compute,
        "import datetime as dt\nresult = str(dt.datetime.now())",
        "2026-01-01T00:00:00Z",
        "-03:30",
        0,
    )
    .await;
    assert_eq!(got, "2025-12-31 20:30:00");
}

#[tokio::test]
async fn an_unknown_zone_is_refused() {
    let compute = compute();
    let job = Job {
        zone: "Mars/Base".to_owned(),
        ..block("result = 1")
    };
    let error = compute.session().run(job, None).await.unwrap_err();
    assert!(
        error.to_string().contains("unknown time zone `Mars/Base`"),
        "{error}"
    );
}

#[tokio::test]
async fn random_numbers_follow_the_seed() {
    let code = "import random, uuid\n\
        s = {'b', 'a', 'c', 'zz', 'q', 'long word'}\n\
        result = [random.random(), random.sample(range(100), 5), str(uuid.uuid4()), str(uuid.uuid1()),\n\
        random.Random().random(), random.SystemRandom().randint(0, 10**9), list(s), [hash('x') % 1000],\n\
        list({str(i) for i in range(20)})]";
    let (one, other) = (compute(), compute());
    let now = "2026-02-03T04:05:06Z";
    let first = at(&one, code, now, "UTC", 42).await;
    assert_eq!(
        first,
        at(&one, code, now, "UTC", 42).await,
        "another session"
    );
    assert_eq!(
        first,
        at(&other, code, now, "UTC", 42).await,
        "another worker"
    );
    let changed = at(&one, code, now, "UTC", 43).await;
    for index in [0, 1, 2, 4, 5] {
        assert_ne!(first[index], changed[index], "{index}");
    }
    // And again in the same session.
    let mut session = one.session();
    for _ in 0..2 {
        let job = Job {
            now: now.parse().unwrap(),
            seed: 42,
            ..block(code)
        };
        assert_eq!(session.run(job, None).await.unwrap().value, first);
    }
}
