//! `deft init`: creates a home.

use std::process::ExitCode;

use deft_service::setup;

use crate::args::Global;
use crate::failure::Done;
use crate::output::{Output, format_count};

pub(crate) fn run(global: &Global, output: &Output) -> Done {
    let ready = setup::prepare_home(&global.workspace())?;
    if output.json {
        output.document(&ready)?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = &ready.home;
    output.prose(match ready.skills_written {
        0 => format!("`{home}` is complete; nothing to create"),
        count => format!(
            "`{home}` is ready: {} written",
            format_count(count, "skill file")
        ),
    })?;
    output.note("hint: `deft up` starts deft, `deft doctor` shows what is missing");
    Ok(ExitCode::SUCCESS)
}
