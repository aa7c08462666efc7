//! Tests of network and server problems, over real connections.

use std::sync::Mutex;
use std::time::Duration;

use deft_llm::{Ask, Delta, ModelOptions, Models, ProviderKind};
use deft_model::{CallArgs, FailureClass, StopReason};
use deft_testkit::{Dialect, Gate, HttpDouble, ModelAnswer, ModelServer, Reaction};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{ALL, ask, listen, models, options, request};

fn patient(provider: ProviderKind, server: &ModelServer, retries: u32) -> Models {
    Models::new(vec![ModelOptions {
        retries,
        ..options(provider, &server.url)
    }])
}

#[tokio::test]
async fn a_cut_stream_is_never_an_answer() {
    let whole = ModelAnswer::text("I send it.").and_call("send_message", json!({"message": "x"}));
    for (provider, dialect) in ALL {
        let mut events = 0;
        loop {
            let server = ModelServer::start(dialect, [whole.clone().cut(events)]);
            let (result, _) = listen(&models(provider, &server), &request()).await;
            match result {
                Err(failure) => assert_eq!(failure.class, FailureClass::Network, "{failure}"),
                // The last events add only the counts.
                Ok(answer) => {
                    let reply = answer.reply;
                    let args = json!({"message": "x"}).as_object().cloned();
                    let args = CallArgs::Object(args.expect("an object"));
                    assert_eq!(reply.text, "I send it.", "{dialect:?} {events}");
                    assert_eq!(reply.stop, StopReason::Calls, "{dialect:?} {events}");
                    assert_eq!(reply.calls[0].args, args, "{dialect:?} {events}");
                    break;
                }
            }
            events += 1;
        }
        assert!(events > 3, "{dialect:?} {events}");
    }
}

/// A reply ends with its end mark, not with the connection.
#[tokio::test]
async fn an_answer_ends_although_the_server_keeps_the_connection_open() {
    let never = Gate::default();
    for (provider, dialect) in ALL {
        if provider == ProviderKind::Gemini {
            continue;
        }
        let answer = ModelAnswer::text("Hello.").gate(usize::MAX, &never);
        let server = ModelServer::start(dialect, [answer]);
        let (answer, _) = listen(&models(provider, &server), &request()).await;
        assert_eq!(
            answer.map(|answer| answer.reply.text),
            Ok("Hello.".to_owned())
        );
    }
}

#[tokio::test]
async fn a_stream_is_delivered_while_it_is_written() {
    for (provider, dialect) in ALL {
        let gate = Gate::default();
        let answer = ModelAnswer::text("One two three four five.").gate(4, &gate);
        let server = ModelServer::start(dialect, [answer]);
        let received = Mutex::new(String::new());
        // The double continues only after some text was received.
        let note = |delta: Delta| {
            if let Delta::Text(text) = delta {
                received.lock().expect("no thread panicked").push_str(&text);
                gate.open();
            }
        };
        let request = request();
        let ask = Ask {
            model: "main",
            request: &request,
            listener: Some(&note),
            deadline: Some(Duration::from_mins(1)),
            cancel: CancellationToken::new(),
            tries: None,
        };
        let answer = models(provider, &server).ask(ask).await.expect("an answer");
        assert_eq!(answer.reply.text, "One two three four five.", "{dialect:?}");
        assert_eq!(
            received.into_inner().expect("no thread panicked"),
            answer.reply.text
        );
    }
}

#[tokio::test]
async fn an_unstreamed_answer_is_delivered_at_once() {
    let body = json!({"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]});
    let server = ModelServer::start(
        Dialect::OpenAi,
        [ModelAnswer::raw(200, &[], &body.to_string())],
    );
    let (answer, heard) = listen(&models(ProviderKind::OpenAi, &server), &request()).await;
    assert_eq!(
        answer.map(|answer| answer.reply.text),
        Ok("Hello.".to_owned())
    );
    assert_eq!(heard, [Delta::Text("Hello.".to_owned())]);
}

#[tokio::test]
async fn trouble_passes() {
    for (provider, dialect) in ALL {
        let server = ModelServer::script(
            dialect,
            &json!([
                {"too_many": 0},
                {"raw": [502, ["Content-Type: text/html", "Retry-After: 0"], "<html>Bad gateway</html>"]},
                {"raw": [500, ["retry-after-ms: 1"], "no JSON at all"]},
                {"raw": [529, ["Retry-After: 0"], "{}"]},
                {"text": "Hello.", "usage": null},
            ]),
        );
        let answer = ask(&patient(provider, &server, 4), &request()).await;
        let answer = answer.expect("an answer");
        assert_eq!(
            (answer.tries, answer.reply.text.as_str()),
            (5, "Hello."),
            "{dialect:?}"
        );
        assert!(answer.reply.usage.estimated, "{dialect:?}");
    }
}

#[tokio::test]
async fn broken_connections_are_network_failures() {
    for (provider, dialect) in ALL {
        let script = json!([{"close": true}, {"hang": true}]);
        let server = ModelServer::script(dialect, &script);
        let models = Models::new(vec![ModelOptions {
            timeout: Duration::from_millis(300),
            ..options(provider, &server.url)
        }]);
        let broken = ask(&models, &request()).await.expect_err("it broke");
        assert_eq!(broken.class, FailureClass::Network, "{broken}");
        let hung = ask(&models, &request()).await.expect_err("it hangs");
        assert_eq!(hung.class, FailureClass::Timeout, "{hung}");
        assert_eq!(hung.message, "model `main`: no answer within 300 ms");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_a_network_failure() {
    let port = HttpDouble::script([Reaction::Close]).url.clone();
    let port = port.rsplit(':').next().expect("a port").to_owned();
    for (provider, _) in ALL {
        let url = format!("http://ann:pass-word@127.0.0.1:{port}/?token=geheim");
        let models = Models::new(vec![options(provider, &url)]);
        let failure = ask(&models, &request()).await.expect_err("nobody is there");
        assert_eq!(failure.class, FailureClass::Network, "{failure}");
        let place = format!("`127.0.0.1:{port}`");
        assert!(failure.message.contains(&place), "{failure}");
        for secret in ["sk-secret", "pass-word", "geheim"] {
            assert!(!format!("{failure:?}").contains(secret), "{failure:?}");
        }
    }
}

#[tokio::test]
async fn oversized_answers_are_not_read() {
    for kind in [
        "Content-Type: application/json",
        "Content-Type: text/event-stream",
    ] {
        let huge = format!("data: {}", "x".repeat(17 * 1024 * 1024));
        let server = ModelServer::start(Dialect::OpenAi, [ModelAnswer::raw(200, &[kind], &huge)]);
        let failure = ask(&models(ProviderKind::OpenAi, &server), &request()).await;
        let failure = failure.expect_err("too large");
        assert_eq!(failure.class, FailureClass::Limit);
        assert_eq!(
            failure.message,
            "model `main`: the answer is larger than 16 MB"
        );
    }
}

#[tokio::test]
async fn keys_are_sent_only_in_headers() {
    for (provider, dialect) in ALL {
        let elsewhere = ModelServer::start(Dialect::OpenAi, []);
        let moved = format!("Location: {}/v1/chat/completions", elsewhere.url);
        let server = ModelServer::start(dialect, [ModelAnswer::raw(307, &[&moved], "")]);
        let models = models(provider, &server);
        let failure = ask(&models, &request()).await.expect_err("it moved");
        assert_eq!(failure.class, FailureClass::Invalid, "{failure}");
        models
            .ping("main", Duration::from_secs(3))
            .await
            .expect("it is there");
        assert_eq!(elsewhere.http_requests(), []);
        let name = match provider {
            ProviderKind::OpenAi | ProviderKind::Ollama => "authorization",
            ProviderKind::Anthropic => "x-api-key",
            ProviderKind::Gemini => "x-goog-api-key",
        };
        for request in server.http_requests() {
            assert!(!request.path.contains("sk-secret"), "{}", request.path);
            let with = request
                .headers
                .iter()
                .filter(|(_, value)| value.contains("sk-secret-0123"));
            let with: Vec<&str> = with.map(|(name, _)| name.as_str()).collect();
            assert_eq!(with, [name], "{dialect:?} {}", request.method);
            assert!(!String::from_utf8_lossy(&request.body).contains("sk-secret"));
        }
    }
}

#[tokio::test]
async fn base_urls_work_with_and_without_a_version() {
    let cases = [
        (ProviderKind::OpenAi, "", "/v1/chat/completions"),
        (ProviderKind::OpenAi, "/", "/v1/chat/completions"),
        (ProviderKind::OpenAi, "/v1", "/v1/chat/completions"),
        (ProviderKind::OpenAi, "/v1/", "/v1/chat/completions"),
        (
            ProviderKind::OpenAi,
            "/v1/chat/completions",
            "/v1/chat/completions",
        ),
        (ProviderKind::OpenAi, "/api", "/api/v1/chat/completions"),
        (
            ProviderKind::OpenAi,
            "/v1beta/openai",
            "/v1beta/openai/chat/completions",
        ),
        (
            ProviderKind::OpenAi,
            "/v1?api-version=2",
            "/v1/chat/completions?api-version=2",
        ),
        (ProviderKind::Anthropic, "", "/v1/messages"),
        (ProviderKind::Anthropic, "/proxy/v1", "/proxy/v1/messages"),
        (
            ProviderKind::Gemini,
            "",
            "/v1beta/models/a%2Fb:generateContent",
        ),
        (
            ProviderKind::Gemini,
            "/v1",
            "/v1/models/a%2Fb:generateContent",
        ),
        (ProviderKind::Ollama, "", "/api/chat"),
        (ProviderKind::Ollama, "/api/", "/api/chat"),
        (ProviderKind::Ollama, "/v1", "/api/chat"),
    ];
    for (provider, base, path) in cases {
        let server = ModelServer::start(Dialect::OpenAi, []);
        let models = Models::new(vec![ModelOptions {
            model: "a/b".to_owned(),
            ..options(provider, &format!("{}{base}", server.url))
        }]);
        ask(&models, &request())
            .await
            .expect_err("the script is empty");
        let asked: Vec<String> = server
            .http_requests()
            .into_iter()
            .map(|asked| asked.path)
            .collect();
        assert_eq!(asked, [path], "{provider:?} {base}");
    }
}

#[tokio::test]
async fn invalid_settings_are_refused() {
    for base in ["", "localhost:8080", "file:///etc/passwd", "not an address"] {
        let models = Models::new(vec![options(ProviderKind::OpenAi, base)]);
        let failure = ask(&models, &request()).await.expect_err("no address");
        assert_eq!(failure.class, FailureClass::Invalid, "{base}: {failure}");
        assert_eq!(
            failure.message,
            "model `main`: `base_url` is not a web address"
        );
    }
    let server = ModelServer::start(Dialect::OpenAi, [ModelAnswer::text("Hello.")]);
    let with_key = |key: &str| {
        Models::new(vec![ModelOptions {
            api_key: Some(key.to_owned()),
            ..options(ProviderKind::OpenAi, &server.url)
        }])
    };
    let failure = ask(&with_key("sk-\nsecret"), &request())
        .await
        .expect_err("no key");
    assert_eq!(failure.class, FailureClass::Auth);
    assert!(!failure.message.contains("secret"), "{failure}");
    // A file with a secret ends with a line feed.
    ask(&with_key("sk-secret-0123\n"), &request())
        .await
        .expect("an answer");
}

#[tokio::test]
async fn pings() {
    let short = Duration::from_millis(500);
    for (provider, dialect) in ALL {
        let server = ModelServer::start(dialect, []);
        let models = models(provider, &server);
        assert_eq!(models.ping("main", short).await, Ok(()), "{dialect:?}");
        server.set_down(true);
        let down = models
            .ping("main", short)
            .await
            .map_err(|failure| failure.class);
        assert_eq!(down, Err(FailureClass::Network), "{dialect:?}");
        server.set_down(false);
        assert_eq!(models.ping("main", short).await, Ok(()), "{dialect:?}");

        let answers = [
            (Reaction::Hang, FailureClass::Timeout),
            (
                Reaction::Answer(401, Vec::new(), "{}".to_owned()),
                FailureClass::Auth,
            ),
            (
                Reaction::Answer(404, Vec::new(), "{}".to_owned()),
                FailureClass::NotFound,
            ),
            (
                Reaction::Answer(503, Vec::new(), "{}".to_owned()),
                FailureClass::Network,
            ),
        ];
        for (reaction, class) in answers {
            let double = HttpDouble::script([reaction]);
            let models = Models::new(vec![options(provider, &double.url)]);
            let pinged = models
                .ping("main", short)
                .await
                .map_err(|failure| failure.class);
            assert_eq!(pinged, Err(class), "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn a_ping_accepts_a_server_with_only_a_health_address() {
    let double = HttpDouble::start(|request| match request.path.as_str() {
        "/health" => Reaction::Answer(200, Vec::new(), "ok".to_owned()),
        _ => Reaction::Answer(404, Vec::new(), "not found".to_owned()),
    });
    let models = Models::new(vec![options(ProviderKind::OpenAi, &double.url)]);
    assert_eq!(models.ping("main", Duration::from_secs(3)).await, Ok(()));
}
