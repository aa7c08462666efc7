//! `deft schema`.

use std::process::ExitCode;

use deft_skillfile::{Schema, schema};

use crate::args::SchemaName;
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(what: SchemaName, output: &Output) -> Done {
    let what = match what {
        SchemaName::Skill => Schema::Skill,
        SchemaName::Workflow => Schema::Workflow,
        SchemaName::Record => Schema::Record,
    };
    output.document(&schema(what))?;
    Ok(ExitCode::SUCCESS)
}
