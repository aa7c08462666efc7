//! `deft doctor`: prints the results of the checks of a home.

use std::process::ExitCode;

use deft_service::doctor;
use deft_wire::check::{Check, CheckStatus};

use crate::args::Global;
use crate::failure::Done;
use crate::output::{Output, format_count};

pub(crate) fn run(fix: bool, global: &Global, output: &Output) -> Done {
    let list = doctor::examine(&global.workspace(), fix)?;
    if output.json {
        output.document(&list)?;
    } else {
        let lines: Vec<String> = list.checks.iter().map(line).collect();
        output.prose(lines.join("\n"))?;
        let bad = list.checks.iter();
        let bad = bad.filter(|check| check.status == CheckStatus::Bad).count();
        if bad > 0 {
            output.note(&format!("\n{} to fix", format_count(bad, "problem")));
        }
    }
    Ok(ExitCode::from(u8::from(!list.ok)))
}

fn line(check: &Check) -> String {
    let hint = check.hint.as_ref();
    let hint = hint.map_or(String::new(), |hint| format!("\n      hint: {hint}"));
    let word = check.status.word();
    format!("{word:4}  {:18} {}{hint}", check.id, check.message)
}
