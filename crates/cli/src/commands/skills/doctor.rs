//! `deft skills doctor`: shows whether each file is loaded, and if not, why.

use std::path::Path;
use std::process::ExitCode;

use deft_service::skills::{Examination, examine, read_text};
use deft_wire::diagnostic::{CheckSeverity, SkillsCheck};

use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::report::excerpts;
use crate::terminal::StyledText;

pub(crate) fn run(global: &Global, roots: &Roots, output: &Output) -> Done {
    let examination = examine(&global.workspace_of(roots))?;
    if output.json {
        output.document(&examination.report)?;
    } else {
        print(&examination, output)?;
        output.note(&format!(
            "{}, {} broken",
            format_count(examination.skill_count, "skill"),
            format_count(examination.broken, "file")
        ));
    }
    Ok(ExitCode::from(u8::from(examination.broken > 0)))
}

fn print(examination: &Examination, output: &Output) -> Done<()> {
    let report = &examination.report;
    for check in &report.checks {
        print_check(check, output)?;
    }
    let files = || report.files.iter().zip(&examination.notes);
    for (file, notes) in files() {
        let reason = file.reason.as_ref();
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        output.prose(format!("{:9} {}{reason}", file.state.word(), file.path))?;
        for found in &notes.surroundings {
            let help = found.help.as_ref();
            let help = help.map_or(String::new(), |help| format!(" ({help})"));
            let word = found.severity.word();
            output.prose(format!("{:9} {word}: {}{help}", "", found.message))?;
        }
        print_hint(notes.hint.as_ref(), output)?;
    }
    for (file, notes) in files().filter(|(_, notes)| !notes.errors.is_empty()) {
        let text = read_text(Path::new(&file.path));
        let excerpts = excerpts(&file.path, &text, &notes.errors, output);
        output.data(StyledText::from("\n").with(excerpts.trim_end()))?;
    }
    Ok(())
}

fn print_check(check: &SkillsCheck, output: &Output) -> Done<()> {
    let mark = match check.severity {
        CheckSeverity::Ok => "ok",
        CheckSeverity::Warning => "warning",
    };
    output.prose(format!("{mark:9} {}: {}", check.id, check.message))?;
    print_hint(check.hint.as_ref(), output)
}

fn print_hint(hint: Option<&String>, output: &Output) -> Done<()> {
    match hint {
        Some(hint) => output.prose(format!("{:9} hint: {hint}", "")),
        None => Ok(()),
    }
}
