//! What is given to a skill, checked: inputs of a workflow, flags of a command.

use deft_command::{cast_by_schema, check, fill_flags};
use deft_model::{Body, Handler, Input, Object};
use deft_tools::Found;
use deft_workflow::{check_inputs, read_input};
use serde_json::Value;

use crate::Error;
use crate::engine::Inner;
use crate::skills::Pinned;

impl Inner {
    /// The inputs of a run, as they are recorded.
    pub(crate) async fn inputs(&self, pinned: &Pinned, given: &Object) -> Result<Object, Error> {
        if handler_tool(pinned).is_some() {
            self.learn_tools(pinned).await;
        }
        self.inputs_as_known(pinned, given)
    }

    /// The same with what is known of the tools already. No server is started.
    pub(crate) fn inputs_as_known(&self, pinned: &Pinned, given: &Object) -> Result<Object, Error> {
        let Body::Manual { text, .. } = &pinned.skill.body else {
            return check_inputs(pinned.plan.inputs(), given).map_err(Error::Inputs);
        };
        let table = deft_skillfile::flags(&text.read());
        let mut flags = check(&table, given.clone()).map_err(Error::Flags)?;
        // `{today}` is the day on which the run begins, also when it is resumed later.
        let zone = self.host_zone();
        fill_flags(&mut flags, &self.now().to_zoned(zone));
        match handler_tool(pinned) {
            Some(tool) => self.cast(&tool, flags),
            None => Ok(flags),
        }
    }

    /// On a command line everything is text; numbers are cast by the tool's own schema.
    fn cast(&self, tool: &str, flags: Object) -> Result<Object, Error> {
        match self.parts.router.find(tool) {
            Found::Tool(info) => cast_by_schema(flags, &info.input_schema).map_err(Error::Flags),
            Found::Ambiguous(_) | Found::Missing { .. } | Found::Unknown { .. } => Ok(flags),
        }
    }
}

/// Texts of a command line as what a workflow's inputs take.
pub fn typed(flags: Object, inputs: &[Input]) -> Object {
    let cast = |(name, value): (String, Value)| match value {
        Value::String(text) => (name.clone(), read_input(inputs, &name, &text)),
        other => (name, other),
    };
    flags.into_iter().map(cast).collect()
}

/// The tool that a command calls, if it calls one.
fn handler_tool(pinned: &Pinned) -> Option<String> {
    let Body::Manual { handler, .. } = &pinned.skill.body else {
        return None;
    };
    match handler.as_deref().map(Handler::from_text) {
        Some(Handler::Tool(tool)) => Some(tool),
        _ => None,
    }
}
