//! The one way of arguments to a tool: repairs, the chat, casts, the check. A call goes through it right
//! before it is made; a stored plan when it is stored, so that both say the same.

use deft_model::{Failure, Object};

use super::chat::ChatCall;
use super::check::Checker;
use super::pipeline::repair;
use crate::options::Options;
use crate::secret::Reveal;
use crate::tool::ToolInfo;

/// Arguments on their way to one tool.
pub(crate) struct Preparation<'a> {
    /// The name by which the tool is called, for messages.
    pub(crate) name: &'a str,
    pub(crate) tool: &'a ToolInfo,
    pub(crate) checker: &'a Checker,
    pub(crate) options: &'a Options,
    pub(crate) reveal: &'a dyn Reveal,
    /// A model wrote the arguments: then they are repaired.
    pub(crate) by_model: bool,
}

impl Preparation<'_> {
    /// The arguments as the tool takes them, with the names of the repairs that changed something.
    ///
    /// The order is that of S0.42. The chat is filled in for people too: every plan may leave it out.
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
            } else {
                failure
            }
        })?;
        Ok((checked, repairs))
    }

    /// Refuses chats that deft may not use, whatever else is right or wrong.
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
