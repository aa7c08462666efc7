//! Delivery of notices by a tool of the router: `channel = "tool:NAME"`.
//!
//! If the tool is missing or the configuration is wrong, notices wait until that is fixed. A failure reported
//! by the tool itself counts as a failed try, as with every other channel.

use std::time::Duration;

use deft_config::NotifyConfig;
use deft_engine::{DeliveryError, DeliveryResult, Notice};
use deft_model::{Failure, FailureClass, Object, clip};
use deft_tools::{Call, Reply, Router};

use crate::arguments::{ArgumentSettings, ToolProblem, names};
use crate::notice_text::text;

/// Deadline of the call. It is shorter than the engine's timeout, so the tool's own answer is recorded.
const ALLOWED: Duration = Duration::from_secs(50);

/// Characters of the tool's answer that are kept as the receipt.
const RECEIPT: usize = 200;

/// A channel that delivers notices by calling a tool.
#[derive(Clone, Debug)]
pub(super) struct ToolChannel {
    name: String,
    settings: ArgumentSettings,
    target: Option<String>,
}

impl ToolChannel {
    pub(super) fn new(name: &str, notify: &NotifyConfig) -> Self {
        Self {
            name: name.to_owned(),
            settings: ArgumentSettings {
                text: notify.text_argument.clone(),
                target: notify.target_argument.clone(),
                has_target: notify.target.is_some(),
            },
            target: notify.target.clone(),
        }
    }

    /// Returns why the tool cannot deliver notices, or `None` if it can. Asks servers for the tool if
    /// necessary.
    pub(super) async fn problem(&self, router: &Router) -> Option<ToolProblem> {
        let info = match router.look_up(&self.name).await {
            Ok(info) => info,
            Err(failure) => {
                let hint = failure.hint;
                return Some(ToolProblem {
                    message: format!("notices cannot be delivered yet: {}", failure.message),
                    hint: hint.unwrap_or_else(|| "`deft mcp probe` shows details".to_owned()),
                });
            }
        };
        names(&self.name, &info.input_schema, &self.settings).err()
    }

    pub(super) async fn deliver(
        &self,
        router: &Router,
        notice: &Notice,
        key: &str,
    ) -> DeliveryResult {
        let sent = self.send(router, notice, key).await;
        sent.map_err(|failure| DeliveryError {
            failure,
            retry_after: None,
        })
    }

    async fn send(&self, router: &Router, notice: &Notice, key: &str) -> Result<String, Failure> {
        let info = router.look_up(&self.name).await?;
        let names = names(&self.name, &info.input_schema, &self.settings).map_err(|unfit| {
            let failure = Failure::new(FailureClass::Invalid, unfit.message);
            failure.hint(unfit.hint).mark_blocked()
        })?;
        let mut arguments = Object::new();
        arguments.insert(names.text, text(notice).into());
        let target = notice.target.as_ref().or(self.target.as_ref());
        match (target, names.target) {
            (Some(target), Some(name)) => drop(arguments.insert(name, target.clone().into())),
            (None, _) => {}
            (Some(target), None) => {
                let message = format!("`{}` has no argument for the target `{target}`", self.name);
                return Err(Failure::new(FailureClass::Invalid, message));
            }
        }
        let call = Call {
            key: key.to_owned(),
            deadline: Some(ALLOWED),
            ..Call::new(&self.name, arguments)
        };
        receipt(router.call(call).await?)
    }
}

/// Returns the tool's answer as a receipt. Some tools report errors as text that starts with a cross.
fn receipt(reply: Reply) -> Result<String, Failure> {
    let text = reply.text.unwrap_or_else(|| reply.value.to_string());
    if text.trim_start().starts_with('❌') {
        let message = format!("`{}` reported an error: {}", reply.tool, text.trim());
        return Err(Failure::new(FailureClass::Other, message));
    }
    Ok(format!("{}: {}", reply.tool, clip(text.trim(), RECEIPT)))
}
