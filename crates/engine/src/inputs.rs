//! What is given to a skill, checked: inputs of a workflow, flags of a command.

use deft_command::{cast_by_schema, check, fill_flags};
use deft_model::{Body, Handler, Object};
use deft_tools::Found;
use deft_workflow::check_inputs;
use jiff::tz::TimeZone;

use crate::Error;
use crate::engine::Inner;
use crate::skills::Pinned;

impl Inner {
    /// The inputs of a run, as they are recorded.
    pub(crate) async fn inputs(&self, pinned: &Pinned, given: &Object) -> Result<Object, Error> {
        let Body::Manual { handler, text } = &pinned.skill.body else {
            return check_inputs(pinned.plan.inputs(), given).map_err(Error::Inputs);
        };
        let table = deft_skillfile::flags(&text.read());
        let mut flags = check(&table, given.clone()).map_err(Error::Flags)?;
        // `{today}` is the day on which the run begins, also when it is resumed later.
        let zone = TimeZone::get(&self.options.zone).unwrap_or(TimeZone::UTC);
        fill_flags(&mut flags, &self.now().to_zoned(zone));
        match handler.as_deref().map(Handler::from_text) {
            Some(Handler::Tool(tool)) => self.cast(pinned, &tool, flags).await,
            _ => Ok(flags),
        }
    }

    /// On a command line everything is text; numbers are cast by the tool's own schema.
    async fn cast(&self, pinned: &Pinned, tool: &str, flags: Object) -> Result<Object, Error> {
        self.learn_tools(pinned).await;
        match self.parts.router.find(tool) {
            Found::Tool(info) => cast_by_schema(flags, &info.input_schema).map_err(Error::Flags),
            _ => Ok(flags),
        }
    }
}
