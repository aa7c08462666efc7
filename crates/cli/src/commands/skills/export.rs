//! `deft skills export`: writes skills out, as they are or in another dialect.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deft_config::env;
use deft_service::skills::{Export as Exported, ExportDialect, export, export_for_host};
use deft_wire::skill_files::{LostParts, RefusedFile};

use crate::args::{Export, ExportFormat, Global};
use crate::failure::{Done, Failure};
use crate::output::{Output, counted};

/// The word for Claude Code behind `--to`; a folder of that name is `./claude`.
const CLAUDE: &str = "claude";

pub(crate) fn run(args: &Export, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace_of(&args.roots);
    let is_host = args.to.as_deref() == Some(Path::new(CLAUDE)) && args.format.is_none();
    if is_host {
        let folder = match &args.dir {
            Some(folder) => folder.clone(),
            None => claude_folder()?,
        };
        let exported = export_for_host(&workspace, &args.names)?;
        let complete = write(exported, &folder, args.force, output)?;
        return Ok(ExitCode::from(u8::from(!complete)));
    }
    check_folder(args)?;
    let dialect = args.format.map(|format| match format {
        ExportFormat::Agentskills => ExportDialect::AgentSkills,
        ExportFormat::Manpage => ExportDialect::ManPage,
        ExportFormat::Workflow => ExportDialect::Workflow,
        ExportFormat::Record => ExportDialect::Record,
    });
    let exported = export(&workspace, &args.names, dialect, args.to.is_some())?;
    let complete = match &args.to {
        Some(folder) => write(exported, folder, args.force, output)?,
        None => print(&exported, output)?,
    };
    Ok(ExitCode::from(u8::from(!complete)))
}

/// A bare word is taken for a mistyped host when it would be a new folder with all skills in it.
fn check_folder(args: &Export) -> Done<()> {
    let Some(folder) = args.to.as_deref().filter(|_| args.names.is_empty()) else {
        return Ok(());
    };
    if folder.components().count() > 1 || folder.exists() {
        return Ok(());
    }
    let word = folder.display();
    let message = format!("`{word}` is no host that deft writes skills for");
    Err(Failure::input("usage", message).hint(format!(
        "`--to {CLAUDE}`, or `--to ./{word}` for a new folder"
    )))
}

/// Where Claude Code looks for the skills of a person.
fn claude_folder() -> Done<PathBuf> {
    let home = env::user_home().ok_or_else(|| {
        Failure::input("no_home", "the home folder is unknown: `HOME` is not set")
            .hint("name a folder with `--dir DIR`")
    })?;
    Ok(home.join(".claude").join("skills"))
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
