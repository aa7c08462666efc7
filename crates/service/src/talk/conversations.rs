//! Which conversations a list holds, and the text of the cursor to its next page.

use deft_store::{ConversationCursor, ConversationFilter};
use deft_wire::Done;
use deft_wire::chat::ConversationView;
use jiff::Timestamp;

use crate::runs::bad_cursor;

/// Selects conversations. The list has the one with the latest message first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationQuery {
    /// Only conversations in this channel.
    pub channel: Option<String>,
    /// Only conversations after the page that this cursor ended.
    pub cursor: Option<String>,
    /// Maximum number of conversations. Default: all.
    pub limit: Option<u32>,
}

impl ConversationQuery {
    /// Selects the conversation with the latest message, of `channel` if given.
    pub fn latest(channel: Option<&str>) -> Self {
        Self {
            channel: channel.map(str::to_owned),
            limit: Some(1),
            ..Self::default()
        }
    }

    pub(super) fn filter(self) -> Done<ConversationFilter> {
        let after = self.cursor.as_deref().map(parse).transpose()?;
        Ok(ConversationFilter {
            channel: self.channel,
            after,
            limit: self.limit,
            ..ConversationFilter::default()
        })
    }
}

/// Returns the cursor of a page that ends with this conversation.
pub fn conversation_cursor(last: &ConversationView) -> String {
    format!("{}.{}", last.updated_at.as_microsecond(), last.id)
}

fn parse(cursor: &str) -> Done<ConversationCursor> {
    let position = cursor.split_once('.').and_then(|(micros, id)| {
        Some(ConversationCursor {
            updated_at: Timestamp::from_microsecond(micros.parse().ok()?).ok()?,
            id: id.to_owned(),
        })
    });
    position.ok_or_else(|| bad_cursor(cursor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_round_trips() {
        let updated_at = Timestamp::from_microsecond(1_700_000_000_123_456).unwrap();
        let view = ConversationView {
            id: "cnv_1".to_owned(),
            agent: "main".to_owned(),
            channel: "api".to_owned(),
            title: String::new(),
            created_at: updated_at,
            updated_at,
            message_count: 1,
        };
        let cursor = conversation_cursor(&view);
        let id = view.id;
        assert_eq!(
            parse(&cursor).unwrap(),
            ConversationCursor { updated_at, id }
        );
        for wrong in ["", "17", "x.cnv_1", "99999999999999999999.cnv_1"] {
            assert_eq!(parse(wrong).unwrap_err(), bad_cursor(wrong));
        }
    }
}
