//! Ways to people: the log of the home, the desktop, a webhook, a Telegram chat or a tool; and how text is written for
//! people who read it in a chat or at a terminal.
//!
//! Not here: when a message is tried again or given up (the engine's courier), and conversations with
//! the bot (`deft-service`).

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

/// Shows a line to the person at the terminal, if there is one. The front end decides how.
pub type Tell = fn(&str);
