//! `deft skills export`: writes skills out, as they are or in another dialect.

use std::path::Path;
use std::process::ExitCode;

use deft_service::skills::{Export as Exported, ExportDialect, export};
use deft_wire::skill_files::{LostParts, RefusedFile};

use crate::args::{Export, ExportFormat, Global};
use crate::failure::Done;
use crate::output::{Output, counted};

pub(crate) fn run(args: &Export, global: &Global, output: &Output) -> Done {
    let dialect = args.format.map(|format| match format {
        ExportFormat::Agentskills => ExportDialect::AgentSkills,
        ExportFormat::Manpage => ExportDialect::ManPage,
        ExportFormat::Workflow => ExportDialect::Workflow,
        ExportFormat::Record => ExportDialect::Record,
    });
    let workspace = global.workspace_of(&args.roots);
    let exported = export(&workspace, &args.names, dialect, args.to.is_some())?;
    let complete = match &args.to {
        Some(folder) => write(exported, folder, args.force, output)?,
        None => print(&exported, output)?,
    };
    Ok(ExitCode::from(u8::from(!complete)))
}

fn write(exported: Exported, folder: &Path, force: bool, output: &Output) -> Done<bool> {
    let written = exported.write(folder, force)?;
    if output.json {
        output.document(&written)?;
    } else {
        output.data(written.files.join("\n"))?;
        output.note(&format!("{} written", counted(written.files.len(), "file")));
        note_missing(&written.lost, &written.refused, output);
    }
    Ok(written.ok)
}

fn print(exported: &Exported, output: &Output) -> Done<bool> {
    let document = exported.document();
    if output.json {
        output.document(&document)?;
    } else {
        output.content(&exported.only_text()?)?;
        note_missing(&document.lost, &document.refused, output);
    }
    Ok(document.refused.is_empty())
}

/// Says what is missing, beside the data.
fn note_missing(lost: &[LostParts], refused: &[RefusedFile], output: &Output) {
    for lost in lost {
        output.note(&format!(
            "left out: {} of `{}`",
            lost.what.join(", "),
            lost.skill
        ));
    }
    for file in refused {
        output.note(&format!("refused: {}: {}", file.path, file.reason));
    }
}
