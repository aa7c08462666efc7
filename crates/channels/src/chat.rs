//! Delivery of messages to a Telegram chat, in several parts if they are long, and with buttons for
//! questions.

use deft_engine::{Delivery, DeliveryError, DeliveryResult, Notice, NoticeKind};
use deft_model::{Failure, FailureClass, visible};
use deft_tools::telegram::{self, Client, SendOptions};

use crate::buttons::buttons;
use crate::notice_text::chat_text;

/// The prefix of a target that is a Telegram chat, whatever channel is configured.
const CHAT: &str = "telegram:";

/// Returns the Telegram chat of an answer or question. A message from a chat is answered in that chat,
/// whatever channel is configured. Returns `None` for all other notices.
pub fn chat_of(notice: &Notice) -> Option<&str> {
    let talks = matches!(notice.kind, NoticeKind::Answer | NoticeKind::Question);
    notice.target.as_ref()?.strip_prefix(CHAT).filter(|_| talks)
}

/// Sends a message to `chat`, in as many parts as necessary. A retry sends only the parts that have not
/// arrived yet.
pub async fn send(client: &Client, chat: &str, parcel: &Delivery<'_>) -> DeliveryResult {
    let (notice, earlier) = (parcel.notice, parcel.arrived_parts());
    let text = chat_text(notice);
    if let Some(approval) = &notice.approval {
        // Escape deceptive characters: the text must not make the call look like another one.
        let (text, buttons) = (visible(&text), buttons(approval, notice.always));
        let sent = client.send_buttons(chat, &text, &buttons).await;
        let id = sent.map_err(not_sent)?;
        return Ok(format!("telegram {chat} {:?}", [id]));
    }
    let parts = telegram::parts(&text);
    if parts.is_empty() {
        let message = "the message has no text".to_owned();
        return Err(delivery_error(FailureClass::Invalid, message));
    }
    let (mut ids, mut to) = (Vec::new(), chat.to_owned());
    for (place, part) in parts.iter().enumerate().skip(earlier) {
        let sent = client.send(chat, part, &SendOptions::default()).await;
        let receipt = sent.map_err(not_sent)?;
        ids.extend(receipt.message_ids);
        to = receipt.chat;
        // The receipt records the last part.
        if place + 1 < parts.len() {
            parcel.keep_arrived(place + 1).await;
        }
    }
    Ok(match earlier {
        0 => format!("telegram {to} {ids:?}"),
        _ => format!("telegram {to} {ids:?} after {earlier} sent earlier"),
    })
}

/// Returns the id of the first message in a Telegram receipt.
pub fn first_message(receipt: &str) -> Option<i64> {
    let (_, ids) = receipt.strip_prefix("telegram ")?.split_once('[')?;
    let first = ids.split([',', ']']).next()?;
    first.parse().ok()
}

pub(crate) fn not_sent(failed: deft_tools::SendError) -> DeliveryError {
    DeliveryError {
        failure: failed.failure,
        retry_after: failed.retry_after,
    }
}

pub(crate) fn delivery_error(class: FailureClass, message: String) -> DeliveryError {
    DeliveryError {
        failure: Failure::new(class, message),
        retry_after: None,
    }
}
