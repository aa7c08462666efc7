//! `deft skills import`: copies skills into the home.

use std::process::ExitCode;

use deft_service::skills::{ImportRequest, import};
use deft_wire::skill_files::ImportReport;

use crate::args::{Global, Import};
use crate::failure::Done;
use crate::output::{Output, counted};

pub(crate) fn run(args: &Import, global: &Global, output: &Output) -> Done {
    let request = ImportRequest {
        paths: args.paths.clone(),
        force: args.force,
        keep: args.keep,
        dry_run: args.dry_run,
    };
    let imported = import(&global.workspace(), &request)?;
    let report = &imported.report;
    if output.json {
        output.document(report)?;
    } else {
        print(report, output)?;
        if imported.has_conflicts {
            output
                .note("hint: `--force` imports all the same, `--keep` leaves alone what is there");
        }
    }
    Ok(ExitCode::from(u8::from(!report.ok)))
}

fn print(report: &ImportReport, output: &Output) -> Done<()> {
    for file in &report.files {
        output.data(format!("{:9} {}", file.effect.word(), file.path))?;
    }
    for file in &report.refused {
        output.data(format!("{:9} {}: {}", "refused", file.path, file.reason))?;
    }
    output.note(&summary(report));
    for also in &report.also_defined {
        output.note(&format!(
            "`{}` is also defined in `{}`; remove one of them",
            also.skill, also.path
        ));
    }
    Ok(())
}

fn summary(report: &ImportReport) -> String {
    let done = if report.dry_run {
        "would be imported"
    } else {
        "imported"
    };
    let mut text = format!("{} {done}", counted(report.skills.len(), "skill"));
    for (skills, word) in [(&report.unchanged, "unchanged"), (&report.kept, "kept")] {
        if !skills.is_empty() {
            text.push_str(&format!(", {} {word}", skills.len()));
        }
    }
    text
}
