//! Failures from responses of the Bot API.

use std::time::Duration;

use deft_model::{Failure, FailureClass};
use serde_json::Value;

use crate::classify;
use crate::delivery::{Answer, SendError};

/// Error descriptions for a chat that does not exist, in lower case.
const NO_CHAT: [&str; 4] = [
    "chat not found",
    "user not found",
    "peer_id_invalid",
    "upgraded to a supergroup",
];

/// Returns the `result` of a response, or the failure that it reports.
pub(super) fn judge(answer: &Answer) -> Result<Value, SendError> {
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        return Err(unreadable(answer).into());
    };
    if answer.status == 200 && body["ok"] == true {
        return Ok(body["result"].clone());
    }
    // The code in the body equals the status, unless a proxy changed the status.
    let code = body["error_code"].as_u64();
    let code = code.and_then(|code| u16::try_from(code).ok());
    let code = code.unwrap_or(answer.status);
    let description = body["description"].as_str().unwrap_or("no reason given");
    let parameters = &body["parameters"];
    let asked = parameters["retry_after"].as_u64().map(Duration::from_secs);
    let failure = Failure::new(
        class(code, description),
        format!("telegram: {description} ({code})"),
    );
    let failure = Failure {
        hint: hint(code, description, parameters),
        in_doubt: classify::status_in_doubt(code),
        ..failure
    };
    Err(SendError {
        failure,
        retry_after: asked.or(answer.retry_after),
        sent: Vec::new(),
    })
}

fn class(code: u16, description: &str) -> FailureClass {
    match code {
        // The method's path is correct, so 404 means an unknown token.
        404 => FailureClass::Auth,
        400 if is_no_chat(description) => FailureClass::NotFound,
        // A problem of the server, for any method; the remedy is to try again.
        408 | 500..=599 => FailureClass::Network,
        300..400 => FailureClass::Invalid,
        other => classify::status(other),
    }
}

fn is_no_chat(description: &str) -> bool {
    let description = description.to_lowercase();
    NO_CHAT.iter().any(|words| description.contains(words))
}

fn hint(code: u16, description: &str, parameters: &Value) -> Option<String> {
    if let Some(id) = parameters["migrate_to_chat_id"].as_i64() {
        return Some(format!("the chat is now `{id}`"));
    }
    let hint = match code {
        401 | 404 => "check `telegram.token`; @BotFather shows the current one",
        403 => "the bot was blocked or is not in the chat; a person has to write to it first",
        400 if is_no_chat(description) => {
            "check the chat id; a person has to write to the bot before it can write back"
        }
        409 => {
            "another program reads the messages of this bot: stop it, or set `telegram.chat` to `false`"
        }
        300..400 => "check `telegram.base_url`",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns the failure for a response that does not come from the Bot API, but from a proxy or another
/// server.
fn unreadable(answer: &Answer) -> Failure {
    let status = answer.status;
    let message = format!("telegram: the answer with status {status} is not one of the Bot API");
    let class = match status {
        200..300 => FailureClass::Other,
        // Here 404 means a wrong base URL, not a wrong token.
        300..500 => match classify::status(status) {
            FailureClass::Other => FailureClass::Invalid,
            class @ (FailureClass::Network
            | FailureClass::Auth
            | FailureClass::Quota
            | FailureClass::NotFound
            | FailureClass::Timeout
            | FailureClass::Invalid
            | FailureClass::Limit
            | FailureClass::Cancelled
            | FailureClass::Budget
            | FailureClass::Interrupted) => class,
        },
        _ => FailureClass::Network,
    };
    let failure = Failure {
        // The message may have been accepted although its receipt is unreadable.
        in_doubt: status < 300 || classify::status_in_doubt(status),
        ..Failure::new(class, message)
    };
    failure.hint("check `telegram.base_url`")
}
