//! `deft schema`: JSON Schemas for editors and for programs that listen.

use std::process::ExitCode;

use deft_service::schemas::{SchemaKind, schema};
use deft_wire::skill_files::SchemaDocument;

use crate::args::SchemaName;
use crate::failure::Done;
use crate::output::Output;
use deft_wire::event_schema;

pub(crate) fn run(what: SchemaName, output: &Output) -> Done {
    let document = match what {
        SchemaName::Skill => schema(SchemaKind::Skill),
        SchemaName::Workflow => schema(SchemaKind::Workflow),
        SchemaName::Record => schema(SchemaKind::Record),
        SchemaName::Agent => schema(SchemaKind::Agent),
        SchemaName::Config => schema(SchemaKind::Config),
        SchemaName::Events => SchemaDocument(event_schema()),
    };
    output.document(&document)?;
    Ok(ExitCode::SUCCESS)
}
