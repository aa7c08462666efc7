//! Writes an editor command file for each exposed skill: `.cursor/commands/NAME.md`,
//! `.claude/commands/NAME.md` (S3.31).
//!
//! The text asks the editor's assistant to run the skill through deft's MCP server. Only files that deft
//! wrote are replaced and removed; they contain a mark.

use std::fs;
use std::path::{Path, PathBuf};

use deft_model::Skill;
use deft_registry::read_text;
use deft_wire::skill_files::WrittenExport;
use deft_wire::{Done, Failure};
use serde_json::{Value, json};

use super::catalog::find_file;
use super::files::{Effect, FileRefusal, PlannedFile};
use super::host::exported_name;
use super::input::{OfferedInput, inputs as skill_inputs};
use crate::workspace::Workspace;

/// The beginning of the mark in files that deft wrote.
const MARK: &str = "<!-- Written by `deft skills export` for the skill `";

/// Maximum size of an existing command file.
const MAX_BYTES: u64 = 1024 * 1024;

/// An editor with command files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEditor {
    /// Cursor.
    Cursor,
    /// Claude Code.
    Claude,
}

impl CommandEditor {
    fn folder(self) -> &'static str {
        match self {
            Self::Cursor => ".cursor/commands",
            Self::Claude => ".claude/commands",
        }
    }
}

/// The command files to write, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandExport {
    /// The editor.
    pub editor: CommandEditor,
    /// The skills; if empty, all exposed ones.
    pub names: Vec<String>,
    /// The folder of the project.
    pub project: PathBuf,
    /// Whether to replace files that deft did not write.
    pub force: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// Writes the command files. Without names, it removes the files of skills that are no longer exposed.
pub fn export_commands(workspace: &Workspace, wanted: &CommandExport) -> Done<WrittenExport> {
    let folder = wanted.project.join(wanted.editor.folder());
    let snapshot = workspace.library()?.load();
    let mut files: Vec<PlannedFile> = Vec::new();
    for name in &wanted.names {
        let loaded = find_file(&snapshot, name)?;
        files.push(command_file(wanted.editor, &folder, &loaded.skill));
    }
    if wanted.names.is_empty() {
        let exposed = snapshot.skills().map(|loaded| &loaded.skill);
        let exposed = exposed.filter(|skill| is_exposed(skill));
        files.extend(exposed.map(|skill| command_file(wanted.editor, &folder, skill)));
    }
    let stale = if wanted.names.is_empty() {
        stale(&folder, &files)
    } else {
        Vec::new()
    };
    write(files, &stale, wanted)
}

/// Whether a skill asks to be offered to other programs, and is enabled.
pub(super) fn is_exposed(skill: &Skill) -> bool {
    skill.policy.expose && skill.policy.enabled
}

fn write(
    files: Vec<PlannedFile>,
    stale: &[PathBuf],
    wanted: &CommandExport,
) -> Done<WrittenExport> {
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    for file in files {
        let foreign = file.effect() != Effect::New && !is_ours(&file.path);
        if foreign && !wanted.force {
            let reason = "exists and was not written by deft; `--force` replaces it";
            refused.push(FileRefusal::new(&file.path, reason).view());
            continue;
        }
        if !wanted.dry_run && file.effect() != Effect::Same {
            file.write()?;
        }
        written.push(file.path.display().to_string());
    }
    for path in stale {
        if !wanted.dry_run {
            fs::remove_file(path).map_err(|problem| Failure::file(path, "remove", &problem))?;
        }
    }
    Ok(WrittenExport {
        files: written,
        lost: Vec::new(),
        ok: refused.is_empty(),
        refused,
        removed: stale
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
        dry_run: wanted.dry_run,
    })
}

/// Returns the files in the folder that deft wrote for skills that are not exported now.
fn stale(folder: &Path, files: &[PlannedFile]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut stale: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .filter(|path| !files.iter().any(|file| file.path == *path) && is_ours(path))
        .collect();
    stale.sort();
    stale
}

fn is_ours(path: &Path) -> bool {
    read_text(path, MAX_BYTES).is_ok_and(|text| text.contains(MARK))
}

fn command_file(editor: CommandEditor, folder: &Path, skill: &Skill) -> PlannedFile {
    let name = exported_name(skill.id.as_str());
    PlannedFile::new(folder.join(format!("{name}.md")), text(editor, skill))
}

/// Returns the text for the editor's assistant.
fn text(editor: CommandEditor, skill: &Skill) -> String {
    let (id, description) = (&skill.id, skill.description.trim());
    let inputs = skill_inputs(skill);
    let mut text = String::new();
    if editor == CommandEditor::Claude {
        let line: Vec<&str> = description.split_whitespace().collect();
        text.push_str(&format!("---\ndescription: {}\n", json!(line.join(" "))));
        if !inputs.is_empty() {
            text.push_str(&format!(
                "argument-hint: {}\n",
                json!(argument_hint(&inputs))
            ));
        }
        text.push_str("---\n\n");
    }
    text.push_str(&format!(
        "{MARK}{id}`; changes are lost. -->\n\n# {}\n\n",
        skill.name
    ));
    if !description.is_empty() {
        text.push_str(&format!("{description}\n\n"));
    }
    let example = json!({"skill": id.as_str(), "inputs": example_inputs(&inputs)});
    text.push_str(&format!(
        "Call the tool `skill_run` of the MCP server `deft`:\n\n```json\n{example}\n```\n\n"
    ));
    if !inputs.is_empty() {
        text.push_str("## Inputs\n\n");
        inputs
            .iter()
            .for_each(|input| text.push_str(&input_line(input)));
        text.push_str(
            "\nTake the values from what the user wrote; leave out optional inputs that the user did not mention, and \
             ask for required ones.\n\n",
        );
    }
    if editor == CommandEditor::Claude {
        text.push_str("The user wrote: $ARGUMENTS\n\n");
    }
    text.push_str(&format!(
        "## Result\n\nShow `outputs`. If `status` is `waiting`, show the approval to the user and \
         pass the answer on with the tool `approval_answer`; never answer it yourself. If the call \
         fails, show its message and its hint.\n\nWithout the MCP server, `deft run {id}` runs the \
         skill in a terminal.\n"
    ));
    text
}

fn argument_hint(inputs: &[OfferedInput]) -> String {
    let word = |input: &OfferedInput| {
        if input.required {
            format!("{}=…", input.name)
        } else {
            format!("[{}=…]", input.name)
        }
    };
    inputs.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns the required inputs of a call, with placeholders as values.
fn example_inputs(inputs: &[OfferedInput]) -> Value {
    let required = inputs.iter().filter(|input| input.required);
    let example = required.map(|input| (input.name.clone(), json!(format!("<{}>", input.name))));
    Value::Object(example.collect())
}

fn input_line(input: &OfferedInput) -> String {
    let schema = &input.schema.0;
    let mut about = vec![schema["type"].as_str().unwrap_or("any").to_owned()];
    if input.required {
        about.push("required".to_owned());
    }
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        about.push(format!("one of {}", choices.join(", ")));
    }
    if let Some(default) = schema.get("default") {
        about.push(format!("default `{default}`"));
    }
    let description = input.description.as_deref().map(str::trim);
    let description = description.filter(|text| !text.is_empty());
    let description = description.map_or(String::new(), |text| format!(": {text}"));
    format!("- `{}` ({}){description}\n", input.name, about.join(", "))
}
