//! `deft schema`: prints JSON Schemas for editors and for programs that read events.

use std::process::ExitCode;

use deft_service::schemas::{SchemaKind, schema};

use crate::args::SchemaName;
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(what: SchemaName, output: &Output) -> Done {
    let kind = match what {
        SchemaName::Skill => SchemaKind::Skill,
        SchemaName::Workflow => SchemaKind::Workflow,
        SchemaName::Record => SchemaKind::Record,
        SchemaName::Agent => SchemaKind::Agent,
        SchemaName::Config => SchemaKind::Config,
        SchemaName::Events => SchemaKind::Events,
    };
    output.document(&schema(kind))?;
    Ok(ExitCode::SUCCESS)
}
