//! Runs all steps that prepare arguments for a tool: repairs, the chat, casts, the check. A call runs
//! them right before it is sent, a stored plan when it is stored, so both give the same result.

use deft_model::{Failure, Object};

use super::chat::ChatCall;
use super::check::Checker;
use super::pipeline::repair;
use crate::options::Options;
use crate::secret::Reveal;
use crate::tool::ToolInfo;

/// The preparation of arguments for one tool.
pub(crate) struct Preparation<'a> {
    /// The name that the caller used for the tool, for messages.
    pub(crate) name: &'a str,
    pub(crate) tool: &'a ToolInfo,
    pub(crate) checker: &'a Checker,
    pub(crate) options: &'a Options,
    pub(crate) reveal: &'a dyn Reveal,
    /// Whether a model wrote the arguments; if so they are repaired.
    pub(crate) by_model: bool,
}

impl Preparation<'_> {
    /// Returns the arguments as the tool accepts them, with the names of the repairs that changed
    /// something.
    ///
    /// The order is that of S0.42. The chat is filled in for people too: every plan may omit it.
    pub(crate) fn prepare(
        &self,
        mut arguments: Object,
    ) -> Result<(Object, Vec<&'static str>), Failure> {
        let mut repairs = Vec::new();
        if self.by_model {
            let rules = &self.options.pipeline;
            repairs = repair(
                rules,
                &self.tool.name,
                self.checker.schema(),
                &mut arguments,
            );
        }
        let chat = self.chat();
        if chat.inject(&mut arguments) {
            repairs.push("inject_chat_id");
        }
        chat.check(&arguments)?;
        let lacks_chat = chat.lacks_chat(&arguments);
        let checked = self.checker.check(self.name, arguments, self.reveal);
        let checked = checked.map_err(|failure| {
            if lacks_chat {
                failure.hint("set `notify.target` to the id of a chat")
            } else if self.by_model || failure.hint.is_some() {
                // Commands of deft are for people; a model has the schema.
                failure
            } else {
                let tool = self.name;
                failure.hint(format!("`deft tools show {tool}` shows what it takes"))
            }
        })?;
        Ok((checked, repairs))
    }

    /// Rejects chats that deft may not use; checks nothing else.
    pub(crate) fn check_chats(&self, mut arguments: Object) -> Result<(), Failure> {
        let chat = self.chat();
        chat.inject(&mut arguments);
        chat.check(&arguments)
    }

    fn chat(&self) -> ChatCall<'_> {
        ChatCall {
            tool: self.tool,
            telegram: &self.options.telegram,
            reveal: self.reveal,
            by_model: self.by_model,
        }
    }
}
