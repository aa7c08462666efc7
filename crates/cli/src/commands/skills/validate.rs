//! `deft skills validate`.

use std::path::Path;
use std::process::ExitCode;

use deft_service::skills::{CheckedFile, ValidationProfile, validate, validate_file};
use deft_wire::diagnostic::Severity;

use crate::args::{Format, Global, ProfileName, Validate};
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::report::{self, excerpts};

pub(crate) fn run(args: &Validate, global: &Global, output: &Output) -> Done {
    let format = format(args.format, output.json)?;
    let profile = match args.profile {
        ProfileName::Deft => ValidationProfile::Deft,
        ProfileName::Agentskills => ValidationProfile::AgentSkills,
    };
    let files = validate(&global.workspace(), &args.paths, profile)?;
    let ok = files.iter().all(CheckedFile::is_ok);
    report::print(&files, format, output)?;
    Ok(ExitCode::from(u8::from(!ok)))
}

/// Returns the output format. `--json` promises a JSON document, so it conflicts with text formats.
fn format(asked: Option<Format>, json: bool) -> Done<Format> {
    match (asked, json) {
        (None, false) => Ok(Format::Text),
        (None, true) => Ok(Format::Json),
        (Some(format @ (Format::Json | Format::Sarif)), _) | (Some(format), false) => Ok(format),
        (Some(Format::Text | Format::Github), true) => Err(Failure::input(
            "usage",
            "`--json` cannot be combined with this `--format`",
        )
        .hint("leave one of them out")),
    }
}

/// Prints why a file cannot be loaded, and returns the first reason.
pub(crate) fn explain(path: &Path, output: &Output) -> Option<String> {
    let mut checked = validate_file(path)?;
    checked
        .findings
        .retain(|one| one.severity == Severity::Error);
    if !output.json {
        let text = checked.text();
        let shown = excerpts(&checked.shown, &text, &checked.findings, output);
        crate::output::say(shown.trim_end());
    }
    checked.findings.first().map(|one| one.message.clone())
}
