//! `deft schema`: JSON Schemas for editors and for programs that listen.

use std::process::ExitCode;

use deft_skillfile::{Schema, schema};

use crate::args::SchemaName;
use crate::failure::Done;
use crate::output::Output;
use deft_config::config_schema;
use deft_wire::event_schema;

pub(crate) fn run(what: SchemaName, output: &Output) -> Done {
    let document = match what {
        SchemaName::Skill => schema(Schema::Skill),
        SchemaName::Workflow => schema(Schema::Workflow),
        SchemaName::Record => schema(Schema::Record),
        SchemaName::Agent => schema(Schema::Agent),
        SchemaName::Config => config_schema(),
        SchemaName::Events => event_schema(),
    };
    output.document(&document)?;
    Ok(ExitCode::SUCCESS)
}
