//! Channels that deliver notices to people: the log of the home, the desktop, a webhook, a Telegram chat or a
//! tool; and the formatting of text for chats and terminals.
//!
//! Not here: when a message is retried or given up (`deft-outbox`), and conversations with the bot
//! (`deft-service`).

mod arguments;
mod buttons;
mod channels;
mod chat;
mod log_file;
pub mod markdown;
mod notice_text;
mod tool;

pub use buttons::{button_data, buttons, read_button};
pub use channels::{LiveChannel, kind, open, problem, tool_problem};
pub use chat::{chat_of, first_message, send};
pub use log_file::LogFile;

/// A function of the front end that shows a line to the person at the terminal, if any.
pub type ShowLine = fn(&str);
