//! Tests of retries, fallbacks, limits and cancelling. Time advances only when all tasks wait, so waits are
//! exact and take no real time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use deft_llm::{Answer, Ask, Delta, ModelOptions, Price};
use deft_model::{Failure, FailureClass, Outage, Usd};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::scripted::{
    Does, after, answer, between, model, permanent_failure, temporary_failure, too_long, world,
};
use crate::support::request;

#[tokio::test(start_paused = true)]
async fn temporary_failures_are_retried_with_growing_waits() {
    let does = [temporary_failure(), temporary_failure()]
        .map(Does::Fails)
        .to_vec();
    let world = world(vec![(
        model("main"),
        [does, vec![Does::Answers(0)]].concat(),
    )]);
    let (result, elapsed) = world.ask(None).await;
    let answer = result.expect("an answer");
    assert_eq!((answer.tries, answer.model.as_str()), (3, "main"));
    between(elapsed, 250 + 500, 500 + 1000);
}

/// The outage that is reported for everything that uses the model.
fn outage() -> Outage {
    Outage::Model("main".to_owned())
}

#[tokio::test(start_paused = true)]
async fn retries_are_limited() {
    let world = world(vec![(
        model("main"),
        vec![Does::Fails(temporary_failure()); 3],
    )]);
    let (result, _) = world.ask(None).await;
    let expected = Failure::new(FailureClass::Network, "model `main`: it is network");
    assert_eq!(result, Err(expected.outage(outage())));
    assert_eq!(world.asked(), [3]);
}

#[tokio::test(start_paused = true)]
async fn permanent_failures_are_not_retried() {
    let world = world(vec![(
        model("main"),
        vec![Does::Fails(permanent_failure(FailureClass::Auth))],
    )]);
    let (result, elapsed) = world.ask(None).await;
    assert_eq!(
        result.map_err(|failure| failure.class),
        Err(FailureClass::Auth)
    );
    assert_eq!(elapsed, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_not_called_before_its_retry_after() {
    let does = vec![
        Does::Fails(after(7)),
        Does::Fails(after(0)),
        Does::Answers(0),
    ];
    let world = world(vec![(model("main"), does)]);
    let (result, elapsed) = world.ask(Some(60)).await;
    assert_eq!(result.map(|answer| answer.tries), Ok(3));
    between(elapsed, 7000, 7000);
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_is_not_started() {
    let world = world(vec![(model("main"), vec![Does::Fails(after(60))])]);
    let (result, elapsed) = world.ask(Some(30)).await;
    let message = "model `main`: it is network; the provider asks to retry after 60 s, but only 30 s are left";
    let expected = Failure::new(FailureClass::Network, message);
    assert_eq!(result, Err(expected.outage(outage())));
    assert_eq!(elapsed, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_time_limit_is_not_started() {
    let world = world(vec![
        (model("main"), vec![Does::Fails(after(3600))]),
        (model("second"), vec![Does::Answers(0)]),
    ]);
    let (result, elapsed) = world.ask(None).await;
    assert_eq!(result.map(|answer| answer.model), Ok("second".to_owned()));
    assert_eq!(elapsed, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_applies_to_all_tries() {
    let does = vec![Does::Fails(after(5)), Does::Hangs];
    let world = world(vec![
        (model("main"), does),
        (model("second"), vec![Does::Answers(0)]),
    ]);
    let (result, elapsed) = world.ask(Some(20)).await;
    let message =
        "model `main`: no answer within the 20 s allowed; before that, model `main`: it is network";
    assert_eq!(result, Err(Failure::new(FailureClass::Timeout, message)));
    between(elapsed, 20_000, 20_000);
    assert_eq!(world.asked(), [2, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_try_over_its_time_limit_is_repeated() {
    let world = world(vec![(model("main"), vec![Does::Hangs, Does::Answers(100)])]);
    let (result, elapsed) = world.ask(None).await;
    assert_eq!(result.map(|answer| answer.tries), Ok(2));
    between(elapsed, 30_000 + 250 + 100, 30_000 + 500 + 100);
}

#[tokio::test(start_paused = true)]
async fn the_fallback_model_answers_and_its_cost_is_counted() {
    let price = Price {
        input: 3.0,
        cached: Some(0.5),
        cache_write: None,
        output: 15.0,
    };
    let second = ModelOptions {
        price: Some(price),
        ..model("second")
    };
    let world = world(vec![
        (
            model("main"),
            vec![Does::Fails(permanent_failure(FailureClass::Auth))],
        ),
        (second, vec![Does::Fails(after(1)), Does::Answers(0)]),
        (model("third"), Vec::new()),
    ]);
    let (result, _) = world.ask(None).await;
    let expected = Answer {
        reply: answer(),
        model: "second".to_owned(),
        cost: Some(Usd::from_dollars(0.6 * 3.0 + 0.4 * 0.5 + 0.1 * 15.0)),
        tries: 3,
    };
    assert_eq!(result, Ok(expected));
}

#[tokio::test(start_paused = true)]
async fn without_a_price_there_is_no_cost() {
    let world = world(vec![(model("main"), vec![Does::Answers(0)])]);
    assert_eq!(world.ask(None).await.0.map(|answer| answer.cost), Ok(None));
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_all_models_names_each() {
    let main = ModelOptions {
        fallback: vec!["gone".to_owned(), "second".to_owned()],
        ..model("main")
    };
    let quota = permanent_failure(FailureClass::Quota);
    let world = world(vec![
        (
            main,
            vec![Does::Fails(permanent_failure(FailureClass::Auth))],
        ),
        (model("second"), vec![Does::Fails(quota)]),
    ]);
    let (result, _) = world.ask(None).await;
    let message = "model `main`: it is auth; unknown model `gone`; model `second`: it is quota";
    let expected = Failure::new(FailureClass::Auth, message);
    assert_eq!(result, Err(expected.outage(outage())));
}

#[tokio::test(start_paused = true)]
async fn an_invalid_request_is_sent_once() {
    let invalid = permanent_failure(FailureClass::Invalid);
    let world = world(vec![
        (model("main"), vec![Does::Fails(invalid)]),
        (model("second"), Vec::new()),
    ]);
    let (result, _) = world.ask(None).await;
    assert_eq!(
        result.map_err(|failure| failure.class),
        Err(FailureClass::Invalid)
    );
    assert_eq!(world.asked(), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_long_prompt_goes_to_a_model_with_enough_context() {
    let sized = |name: &str, tokens| ModelOptions {
        context_tokens: tokens,
        ..model(name)
    };
    for needed in [Some(9000), None] {
        let world = world(vec![
            (
                sized("main", Some(8192)),
                vec![Does::Fails(too_long(needed))],
            ),
            (sized("small", Some(8192)), Vec::new()),
            (sized("unknown", None), Vec::new()),
            (sized("large", Some(100_000)), vec![Does::Answers(0)]),
        ]);
        let (result, _) = world.ask(None).await;
        assert_eq!(result.map(|answer| answer.model), Ok("large".to_owned()));
        assert_eq!(world.asked(), [1, 0, 0, 1]);
    }
}

#[tokio::test(start_paused = true)]
async fn tools_are_not_sent_to_a_model_without_tool_support() {
    let plain = ModelOptions {
        tools: false,
        ..model("plain")
    };
    let world = world(vec![
        (
            model("main"),
            vec![Does::Fails(permanent_failure(FailureClass::Auth))],
        ),
        (plain, Vec::new()),
    ]);
    assert!(world.ask(None).await.0.is_err());
    assert_eq!(world.asked(), [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn output_of_a_failed_try_is_discarded() {
    let does = vec![
        Does::SaysAndFails(temporary_failure()),
        Does::Fails(temporary_failure()),
        Does::SaysAndFails(permanent_failure(FailureClass::Auth)),
    ];
    let world = world(vec![
        (model("main"), does),
        (model("second"), vec![Does::Answers(0)]),
    ]);
    let received = Mutex::new(Vec::new());
    let note = |delta| received.lock().expect("no thread panicked").push(delta);
    let request = request();
    let ask = Ask {
        model: "main",
        request: &request,
        listener: Some(&note),
        deadline: None,
        cancel: CancellationToken::new(),
        tries: None,
    };
    world.models.ask(ask).await.expect("an answer");
    let said = || Delta::Text("Hel".to_owned());
    let expected = [said(), Delta::Again, said(), Delta::Again];
    assert_eq!(received.into_inner().expect("no thread panicked"), expected);
}

/// Requests are counted whatever their result.
#[tokio::test(start_paused = true)]
async fn requests_are_counted_with_and_without_an_answer() {
    let temporary = || Does::Fails(after(1));
    let permanent = || Does::Fails(permanent_failure(FailureClass::Auth));
    for (does, answered, counted) in [
        (vec![Does::Answers(0)], true, 1),
        (vec![temporary(), Does::Answers(0)], true, 2),
        (vec![temporary(), temporary(), temporary()], false, 3),
        (vec![temporary(), permanent()], false, 2),
    ] {
        let world = world(vec![(model("main"), does)]);
        let (request, tries) = (request(), AtomicU32::new(0));
        let ask = Ask {
            model: "main",
            request: &request,
            listener: None,
            deadline: None,
            cancel: CancellationToken::new(),
            tries: Some(&tries),
        };
        let result = world.models.ask(ask).await;
        assert_eq!((result.is_ok(), tries.into_inner()), (answered, counted));
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_a_call_at_once() {
    // While the provider works, during a wait, while no permit is free, and before the request begins.
    let busy = ModelOptions {
        concurrency: 1,
        ..model("main")
    };
    for (does, seconds) in [
        (Does::Hangs, 3),
        (Does::Fails(after(60)), 3),
        (Does::Hangs, 0),
    ] {
        let world = world(vec![(busy.clone(), vec![does, Does::Hangs])]);
        let cancel = CancellationToken::new();
        let request = request();
        let ask = || Ask {
            model: "main",
            request: &request,
            listener: None,
            deadline: None,
            cancel: cancel.clone(),
            tries: None,
        };
        let start = Instant::now();
        let ending = async {
            sleep(Duration::from_secs(seconds)).await;
            cancel.cancel();
        };
        let (first, second, ()) =
            tokio::join!(world.models.ask(ask()), world.models.ask(ask()), ending);
        let cancelled = Failure::new(FailureClass::Cancelled, "the caller cancelled the request");
        assert_eq!(
            (first, second),
            (Err(cancelled.clone()), Err(cancelled.clone()))
        );
        between(start.elapsed(), seconds * 1000, seconds * 1000);
        assert_eq!(world.models.ask(ask()).await, Err(cancelled));
    }
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_a_permit() {
    let narrow = ModelOptions {
        concurrency: 2,
        ..model("main")
    };
    let world = world(vec![(narrow, vec![Does::Answers(1000); 6])]);
    let asks = tokio::join!(
        world.ask(None),
        world.ask(None),
        world.ask(None),
        world.ask(None),
        world.ask(None),
        world.ask(Some(2)),
    );
    let mut ends = [asks.0.1, asks.1.1, asks.2.1, asks.3.1, asks.4.1, asks.5.1];
    ends.sort();
    for (elapsed, seconds) in ends.into_iter().zip([1, 1, 2, 2, 2, 3]) {
        between(elapsed, seconds * 1000, seconds * 1000);
    }
    assert_eq!(world.scripts[0].most.load(Ordering::SeqCst), 2);
    let late = asks.5.0.map_err(|failure| failure.message);
    assert_eq!(
        late,
        Err("model `main`: no answer within the 2 s allowed".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_waiting_for_a_retry_holds_no_permit() {
    let narrow = ModelOptions {
        concurrency: 1,
        ..model("main")
    };
    let does = vec![
        Does::Fails(after(10)),
        Does::Answers(1000),
        Does::Answers(1000),
    ];
    let world = world(vec![(narrow, does)]);
    let (slow, quick) = tokio::join!(world.ask(None), world.ask(None));
    between(quick.1, 1000, 1000);
    between(slow.1, 11_000, 11_000);
}

#[tokio::test(start_paused = true)]
async fn unknown_models_are_an_error() {
    let expected = Failure::new(FailureClass::Invalid, "unknown model `main`")
        .hint("models are configured under `[llm.main]`");
    let world = world(Vec::new());
    assert_eq!(world.ask(None).await.0, Err(expected.clone()));
    let ping = world.models.ping("main", Duration::from_secs(3)).await;
    assert_eq!(ping, Err(expected));
}

#[tokio::test(start_paused = true)]
async fn a_ping_has_a_separate_time_limit() {
    let world = world(vec![(model("main"), Vec::new())]);
    let ping = world.models.ping("main", Duration::from_secs(3)).await;
    let message = "model `main`: no answer within 3 s";
    let expected = Failure::new(FailureClass::Timeout, message);
    assert_eq!(ping, Err(expected.outage(outage())));
}
