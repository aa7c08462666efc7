//! `deft skills delete`.

use std::process::ExitCode;

use deft_service::skills::{self, DeletedFrom, Deletion};
use deft_wire::skill::DeletedSkill;

use crate::args::Global;
use crate::confirm;
use crate::failure::Done;
use crate::output::{Output, format_count};

/// The maximum number of files that the question names.
const MAX_NAMED: usize = 8;

pub(crate) fn run(name: &str, yes: bool, global: &Global, output: &Output) -> Done {
    if confirm::is_needed(yes, global) {
        let found = skills::find_deletion(&global.workspace(), name)?;
        if !confirm::ask(&question(&found)) {
            return Ok(confirm::report_refusal(output));
        }
    }
    let Deletion { skill, from, .. } = skills::delete(&global.workspace(), name)?;
    if output.json {
        output.document(&DeletedSkill { deleted: skill })?;
    } else {
        output.prose(format!(
            "deleted `{skill}` ({}); its runs stay",
            place(&from)
        ))?;
        output.note(confirm::UNDO);
    }
    Ok(ExitCode::SUCCESS)
}

fn question(found: &Deletion) -> String {
    let mut text = format!("delete `{}` ({})", found.skill, place(&found.from));
    if !found.files.is_empty() {
        text.push_str(&format!(
            " with {}:\n",
            format_count(found.files.len(), "file")
        ));
        for file in found.files.iter().take(MAX_NAMED) {
            text.push_str(&format!("  {file}\n"));
        }
        if found.files.len() > MAX_NAMED {
            text.push_str(&format!("  and {} more\n", found.files.len() - MAX_NAMED));
        }
        text.push_str("delete all of it");
    }
    text
}

fn place(from: &DeletedFrom) -> String {
    match from {
        DeletedFrom::File(path) => format!("`{}`", path.display()),
        DeletedFrom::Record(number) => format!("record {number}"),
    }
}
