//! Notices by a tool of the router: `channel = "tool:NAME"`.
//!
//! What is wrong with the tool or with the configuration is no fault of a notice, which waits until
//! that is mended. What the tool itself refuses is the end of it, as with every other channel.

use std::time::Duration;

use deft_config::NotifyConfig;
use deft_engine::{DeliveryError, DeliveryResult, Notice};
use deft_model::{Failure, FailureClass, Object};
use deft_tools::{Call, Reply, Router};

use crate::arguments::{Unfit, Wishes, names};
use crate::notice_text::text;

/// How long the tool may take; less than the engine waits, so that its answer counts.
const ALLOWED: Duration = Duration::from_secs(50);

/// So much of what the tool answered is kept as a receipt.
const RECEIPT: usize = 200;

/// A tool that carries notices.
#[derive(Clone, Debug)]
pub(super) struct ToolChannel {
    name: String,
    wishes: Wishes,
    target: Option<String>,
}

impl ToolChannel {
    pub(super) fn new(name: &str, notify: &NotifyConfig) -> Self {
        Self {
            name: name.to_owned(),
            wishes: Wishes {
                text: notify.text_argument.clone(),
                target: notify.target_argument.clone(),
                has_target: notify.target.is_some(),
            },
            target: notify.target.clone(),
        }
    }

    /// Why the tool cannot carry notices; servers are asked for it where need be.
    pub(super) async fn problem(&self, router: &Router) -> Option<Unfit> {
        let info = match router.look_up(&self.name).await {
            Ok(info) => info,
            Err(failure) => {
                let hint = failure.hint;
                return Some(Unfit {
                    message: format!("notices wait for a tool: {}", failure.message),
                    hint: hint.unwrap_or_else(|| "`deft mcp probe` says more".to_owned()),
                });
            }
        };
        names(&self.name, &info.input_schema, &self.wishes).err()
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
        let names = names(&self.name, &info.input_schema, &self.wishes).map_err(|unfit| {
            let failure = Failure::new(FailureClass::Invalid, unfit.message);
            failure.hint(unfit.hint).blocked()
        })?;
        let mut arguments = Object::new();
        arguments.insert(names.text, text(notice).into());
        let target = notice.target.as_ref().or(self.target.as_ref());
        match (target, names.target) {
            (Some(target), Some(name)) => drop(arguments.insert(name, target.clone().into())),
            (None, _) => {}
            (Some(target), None) => {
                let message = format!("`{}` cannot be told to send to `{target}`", self.name);
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

/// What the tool said. Tools that know no errors say them with a cross in front.
fn receipt(reply: Reply) -> Result<String, Failure> {
    let said = reply.text.unwrap_or_else(|| reply.value.to_string());
    if said.trim_start().starts_with('❌') {
        let message = format!("`{}` said: {}", reply.tool, said.trim());
        return Err(Failure::new(FailureClass::Other, message));
    }
    let said: String = said.trim().chars().take(RECEIPT).collect();
    Ok(format!("{}: {said}", reply.tool))
}
