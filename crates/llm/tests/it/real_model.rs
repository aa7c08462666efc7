//! Tests against a real server with a small model. Only the form of replies is checked, because the model is
//! too small for more. The wire formats of Ollama and Gemini have no real server here.

use std::time::Duration;

use deft_llm::{Delta, ModelOptions, Models, ProviderKind};
use deft_model::{CallArgs, FailureClass, Message, ModelRequest, StopReason, ToolChoice};
use deft_testkit::RealModel;
use serde_json::json;

use crate::support::{ask, listen, options, request};

fn real(provider: ProviderKind) -> ModelOptions {
    let mut options = options(provider, &RealModel::get_shared().url);
    options.temperature = Some(0.0);
    options.extra.insert("seed".to_owned(), json!(0));
    options
}

fn models(provider: ProviderKind) -> Models {
    Models::new(vec![real(provider)])
}

fn forced() -> ModelRequest {
    ModelRequest {
        choice: ToolChoice::Required,
        messages: vec![Message::User {
            text: "Send the message \"Drink water!\".".to_owned(),
        }],
        ..request()
    }
}

fn user_request(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![Message::User {
            text: text.to_owned(),
        }],
        max_tokens: Some(16),
        ..ModelRequest::default()
    }
}

/// Checks that the call has a message, that the counts come from the server, and that the result can be sent
/// back.
async fn calls(provider: ProviderKind) {
    let models = models(provider);
    let mut request = forced();
    let answer = ask(&models, &request).await.expect("an answer");
    let [call] = &answer.reply.calls[..] else {
        panic!("not one call: {answer:?}");
    };
    let CallArgs::Object(args) = &call.args else {
        panic!("no object: {answer:?}");
    };
    assert_eq!(call.name, "send_message");
    assert!(
        args["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    assert_eq!(answer.reply.stop, StopReason::Calls);
    let usage = answer.reply.usage;
    assert!(usage.input > 50 && usage.output > 5 && !usage.estimated);

    request.messages.push(Message::from(&answer.reply));
    request.messages.push(Message::Tool {
        id: call.id.clone(),
        name: call.name.clone(),
        text: "sent".to_owned(),
        failed: false,
    });
    request.choice = ToolChoice::None;
    request.max_tokens = Some(8);
    let next = ask(&models, &request).await.expect("a second turn");
    assert!(next.reply.usage.input > usage.input);
}

#[tokio::test]
async fn a_forced_call_over_chat_completions() {
    calls(ProviderKind::OpenAi).await;
}

#[tokio::test]
async fn a_forced_call_over_messages() {
    calls(ProviderKind::Anthropic).await;
}

/// This server begins the same block again with every token of a stream of messages.
#[tokio::test]
async fn streamed_answers_equal_whole_answers() {
    for provider in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let models = models(provider);
        let request = user_request("Count from one to ten.");
        let whole = ask(&models, &request).await.expect("an answer").reply;
        let (streamed, heard) = listen(&models, &request).await;
        let streamed = streamed.expect("an answer").reply;
        assert_eq!((&streamed.text, &streamed.stop), (&whole.text, &whole.stop));
        assert_eq!(streamed.usage.output, whole.usage.output);
        assert!(!streamed.usage.estimated && heard.len() > 4);
        let text = heard.iter().map(|delta| match delta {
            Delta::Text(text) => text.as_str(),
            other => panic!("not a text: {other:?}"),
        });
        assert_eq!(text.collect::<String>(), whole.text);
    }
}

#[tokio::test]
async fn a_streamed_call_is_whole() {
    for provider in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let (answer, heard) = listen(&models(provider), &forced()).await;
        let reply = answer.expect("an answer").reply;
        assert_eq!(reply.calls.len(), 1, "{reply:?}");
        assert!(
            matches!(reply.calls[0].args, CallArgs::Object(_)),
            "{reply:?}"
        );
        let begun = Delta::Call {
            name: "send_message".to_owned(),
        };
        assert!(heard.contains(&begun), "{heard:?}");
    }
}

#[tokio::test]
async fn a_prompt_over_the_limit_reports_the_excess() {
    for provider in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let request = user_request(&"water ".repeat(6000));
        let failure = ask(&models(provider), &request)
            .await
            .expect_err("too long");
        assert_eq!(failure.class, FailureClass::Limit, "{failure}");
        assert!(failure.message.contains("context fits 4096"), "{failure}");
        assert!(failure.hint.is_some());
    }
}

/// The grammar fixes the form of the reply, and the extractor reads what the model wrote.
#[tokio::test]
async fn a_block_by_grammar_is_a_command() {
    let grammar = r#"root ::= "```cmd\nnotify.send --text \"" [a-z ]{3,20} "\"\n```""#;
    let request = ModelRequest {
        grammar: Some(grammar.to_owned()),
        max_tokens: Some(60),
        ..user_request("Write a command that reminds me to drink water.")
    };
    let answer = ask(&models(ProviderKind::OpenAi), &request)
        .await
        .expect("an answer");
    let found = deft_command::extract(&answer.reply.text);
    let lines = found.lines();
    let [Ok(line)] = &lines[..] else {
        panic!("not one command: {lines:?} in {answer:?}");
    };
    let words: Vec<&str> = line.words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(words[..2], ["notify.send", "--text"]);
    assert!(words[2].len() >= 3, "{words:?}");
    assert!(found.unclosed.is_none());
}

#[tokio::test]
async fn pings_report_the_loss_and_return_of_the_server() {
    let server = RealModel::start();
    let all = [
        (ProviderKind::OpenAi, "openai"),
        (ProviderKind::Anthropic, "anthropic"),
        (ProviderKind::Ollama, "ollama"),
    ];
    let models = Models::new(
        all.map(|(provider, name)| ModelOptions {
            name: name.to_owned(),
            ..options(provider, &server.url)
        })
        .to_vec(),
    );
    let ping = async || {
        let mut up = Vec::new();
        for (_, name) in all {
            let pong = models.ping(name, Duration::from_secs(3)).await;
            up.push(pong.map_err(|failure| failure.class));
        }
        up
    };
    assert_eq!(ping().await, [Ok(()), Ok(()), Ok(())]);
    let port = server.port;
    drop(server);
    assert_eq!(ping().await, [Err(FailureClass::Network); 3]);
    let again = RealModel::start_on(port);
    assert_eq!(ping().await, [Ok(()), Ok(()), Ok(())]);
    drop(again);
}
