//! `deft skills export`: writes skills as they are or in another dialect.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deft_config::env;
use deft_service::Workspace;
use deft_service::skills::{
    CommandEditor, CommandExport, Export as Exported, ExportDialect, HostFolders, export,
    export_commands, export_for_host,
};
use deft_wire::skill_files::{LostParts, RefusedFile, WrittenExport};

use crate::args::{Export, ExportFormat, Global};
use crate::failure::{Done, Failure};
use crate::output::{Output, format_count};

/// An editor named by `--to`. A folder with the same name is given as `./claude`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Editor {
    Claude,
    Cursor,
}

impl Editor {
    const ALL: [Self; 2] = [Self::Claude, Self::Cursor];

    fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Cursor => "cursor",
        }
    }

    /// Returns the editor that `--to` names, or `None` for a folder.
    fn from_args(args: &Export) -> Option<Self> {
        let to = args.to.as_deref().filter(|_| args.format.is_none())?;
        let mut all = Self::ALL.into_iter();
        all.find(|editor| to == Path::new(editor.word()))
    }
}

pub(crate) fn run(args: &Export, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace_of(&args.roots);
    let complete = match Editor::from_args(args) {
        Some(Editor::Cursor) => write_commands(args, CommandEditor::Cursor, &workspace, output)?,
        Some(Editor::Claude) if args.commands => {
            write_commands(args, CommandEditor::Claude, &workspace, output)?
        }
        Some(Editor::Claude) => write_for_claude(args, &workspace, output)?,
        None if args.commands => {
            let message = "`--commands` writes files for an editor, but none is named";
            return Err(Failure::input("usage", message).hint("`--to cursor` or `--to claude`"));
        }
        None => export_to_folder(args, &workspace, output)?,
    };
    Ok(ExitCode::from(u8::from(!complete)))
}

fn export_to_folder(args: &Export, workspace: &Workspace, output: &Output) -> Done<bool> {
    check_folder(args)?;
    let dialect = args.format.map(|format| match format {
        ExportFormat::Agentskills => ExportDialect::AgentSkills,
        ExportFormat::Manpage => ExportDialect::ManPage,
        ExportFormat::Workflow => ExportDialect::Workflow,
        ExportFormat::Record => ExportDialect::Record,
    });
    let exported = export(workspace, &args.names, dialect, args.to.is_some())?;
    match &args.to {
        Some(folder) => show(&exported.write(folder, args.force, args.dry_run)?, output),
        None => print(&exported, output),
    }
}

/// Without names or `--dir`: writes exposed skills as commands, which deft runs, to the current folder, and
/// the other skills as skill folders. Otherwise writes all given skills as skill folders.
fn write_for_claude(args: &Export, workspace: &Workspace, output: &Output) -> Done<bool> {
    let with_commands = args.names.is_empty() && args.dir.is_none();
    let (folder, which) = match &args.dir {
        Some(folder) => (folder.clone(), HostFolders::All),
        None if with_commands => (claude_folder()?, HostFolders::NotExposed),
        None => (claude_folder()?, HostFolders::All),
    };
    let exported = export_for_host(workspace, &args.names, which)?;
    let mut written = exported.write(&folder, args.force, args.dry_run)?;
    if with_commands {
        let commands = export_commands(workspace, &command_export(args, CommandEditor::Claude))?;
        written.files.extend(commands.files);
        written.removed.extend(commands.removed);
        written.refused.extend(commands.refused);
        written.ok &= commands.ok;
    }
    show(&written, output)
}

fn write_commands(
    args: &Export,
    editor: CommandEditor,
    workspace: &Workspace,
    output: &Output,
) -> Done<bool> {
    let written = export_commands(workspace, &command_export(args, editor))?;
    if written.files.is_empty() && written.refused.is_empty() {
        output.note(
            "hint: only skills with `expose: true` get a command file; name another skill to export it too",
        );
    }
    show(&written, output)
}

fn command_export(args: &Export, editor: CommandEditor) -> CommandExport {
    CommandExport {
        editor,
        names: args.names.clone(),
        project: args.dir.clone().unwrap_or_default(),
        force: args.force,
        dry_run: args.dry_run,
    }
}

/// Refuses a bare word that would create a new folder with all skills: probably a misspelled editor.
fn check_folder(args: &Export) -> Done<()> {
    let Some(folder) = args.to.as_deref().filter(|_| args.names.is_empty()) else {
        return Ok(());
    };
    if folder.components().count() > 1 || folder.exists() {
        return Ok(());
    }
    let word = folder.display();
    let message = format!("deft cannot export skills for the program `{word}`");
    Err(Failure::input("usage", message).hint(format!(
        "`--to claude` or `--to cursor`, or `--to ./{word}` for a new folder"
    )))
}

/// Returns the folder in which Claude Code looks for the user's skills.
fn claude_folder() -> Done<PathBuf> {
    let home = env::user_home().ok_or_else(|| {
        Failure::input("no_home", "the home folder is unknown: `HOME` is not set")
            .hint("name a folder with `--dir DIR`")
    })?;
    Ok(home.join(".claude").join("skills"))
}

fn show(written: &WrittenExport, output: &Output) -> Done<bool> {
    if output.json {
        output.document(written)?;
        return Ok(written.ok);
    }
    if !written.files.is_empty() {
        output.data(written.files.join("\n"))?;
    }
    let would = if written.dry_run { "would be " } else { "" };
    let files = format_count(written.files.len(), "file");
    output.note(&format!("{files} {would}written"));
    for path in &written.removed {
        output.note(&format!("{would}removed: {path}"));
    }
    note_missing(&written.lost, &written.refused, output);
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

/// Prints what could not be exported, to stderr.
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
