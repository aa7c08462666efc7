//! A round trip over each wire format, whole and streamed.

use deft_llm::Delta;
use deft_model::{CallArgs, Message, StopReason, TokenUsage, ToolCall};
use deft_testkit::{ModelAnswer, ModelServer};
use serde_json::{Value, json};

use crate::support::{ALL, ask, listen, models, request};

fn args(value: Value) -> CallArgs {
    match value {
        Value::Object(object) => CallArgs::Object(object),
        other => panic!("no object: {other}"),
    }
}

fn text_deltas() -> [Delta; 4] {
    [
        Delta::Text("I ".to_owned()),
        Delta::Text("send ".to_owned()),
        Delta::Text("it.".to_owned()),
        Delta::Call {
            name: "send_message".to_owned(),
        },
    ]
}

#[tokio::test]
async fn a_call_and_its_result_round_trip() {
    for (provider, dialect) in ALL {
        for bytes in [None, Some(1), Some(7), Some(100_000)] {
            let mut call = ModelAnswer::call("send_message", json!({"message": "Drink wäter!"}))
                .and_call("send_message", json!({}))
                .with_text("I send it.")
                .usage(40, 0, 12);
            if let Some(bytes) = bytes {
                call = call.bytes(bytes);
            }
            let server =
                ModelServer::start(dialect, [call.clone(), call, ModelAnswer::text("Done.")]);
            let models = models(provider, &server);
            let mut request = request();

            let whole = ask(&models, &request).await.expect("an answer");
            let (streamed, heard) = listen(&models, &request).await;
            assert_eq!(streamed.as_ref(), Ok(&whole), "{dialect:?}");
            assert_eq!(heard[..4], text_deltas(), "{dialect:?}");
            let ids: Vec<String> = whole
                .reply
                .calls
                .iter()
                .map(|call| call.id.clone())
                .collect();
            assert_eq!(whole.reply.stop, StopReason::Calls, "{dialect:?}");
            let used = TokenUsage {
                input: 40,
                cached: 0,
                cache_write: 0,
                output: 12,
                estimated: false,
            };
            assert_eq!(whole.reply.usage, used, "{dialect:?}");
            let calls = [("Drink wäter!", 0), ("", 1)].map(|(text, place)| ToolCall {
                id: ids[place].clone(),
                name: "send_message".to_owned(),
                args: args(if place == 0 {
                    json!({"message": text})
                } else {
                    json!({})
                }),
            });
            assert_eq!(whole.reply.calls, calls, "{dialect:?}");

            request.messages.push(Message::from(&whole.reply));
            for id in ids {
                request.messages.push(Message::Tool {
                    id,
                    name: "send_message".to_owned(),
                    text: "sent".to_owned(),
                    failed: false,
                });
            }
            let last = ask(&models, &request).await.expect("an answer");
            assert_eq!((last.reply.text.as_str(), last.tries), ("Done.", 1));
        }
    }
}
