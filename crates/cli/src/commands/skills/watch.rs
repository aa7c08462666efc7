//! `deft skills watch`: watches skill files and prints one line for each change.

use std::process::ExitCode;

use deft_service::skills::SkillWatch;

use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::output::{Output, format_count};

pub(crate) fn run(global: &Global, roots: &Roots, output: &Output) -> Done {
    let watch = SkillWatch::start(&global.workspace_of(roots))?;
    let count = format_count(watch.skill_count(), "skill");
    output.note(&match watch.polling_reason() {
        None => format!("watching {count}; Ctrl-C stops"),
        Some(reason) => format!("watching {count} by polling ({reason}); Ctrl-C stops"),
    });
    while let Some(batch) = watch.wait() {
        for change in batch {
            if output.json {
                output.line_of_json(&change.event)?;
            } else {
                output.data(change.text)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
