//! Creates skill files that pass all validators.

use std::path::{Path, PathBuf};

use deft_registry::{Options, Snapshot};
use deft_skillfile::{
    FileKind, FileLocation, Profile, RESERVED, Severity, is_dotted, is_word, parse, slug,
};
use serde_json::json;

use super::files::PlannedFile;
use super::import::layout::{Layout, Part};
use crate::workspace::Workspace;
use deft_config::{Home, system_moment};
use deft_wire::{Done, Failure};

/// The kind of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewSkillKind {
    /// A `SKILL.md` folder of the open format.
    Skill,
    /// A man page, `domain/action.md`.
    ManPage,
    /// A YAML workflow.
    Workflow,
}

/// A skill file to create.
#[derive(Clone, Debug)]
pub struct NewSkill {
    /// The name.
    pub name: String,
    /// The kind. If absent, a man page for a dotted name, else a `SKILL.md`.
    pub kind: Option<NewSkillKind>,
    /// A one-line description.
    pub description: Option<String>,
    /// The folder to create it in; if absent, the skills folder of the home.
    pub folder: Option<PathBuf>,
}

/// Creates a skill file, and returns its path.
pub fn create(workspace: &Workspace, new: &NewSkill) -> Done<PathBuf> {
    let kind = new.kind.unwrap_or_else(|| usual_kind(&new.name));
    let home = match &new.folder {
        Some(_) => None,
        None => Some(workspace.home()?),
    };
    let usual = home.as_ref().map(Home::skills).unwrap_or_default();
    let folder = new.folder.as_ref().unwrap_or(&usual);
    let file = plan(kind, &new.name, new.description.as_deref(), folder)?;
    check(&file)?;
    check_place(&file.path, kind, &new.name, folder)?;
    // Create the home only after all checks of the file.
    home.as_ref().map_or(Ok(()), Home::ensure)?;
    file.write()?;
    workspace.note_written();
    Ok(file.path)
}

fn usual_kind(name: &str) -> NewSkillKind {
    if name.contains('.') {
        NewSkillKind::ManPage
    } else {
        NewSkillKind::Skill
    }
}

fn plan(
    kind: NewSkillKind,
    name: &str,
    description: Option<&str>,
    folder: &Path,
) -> Done<PlannedFile> {
    let line = |usual: &str| quote(description.unwrap_or(usual));
    let (path, content): (PathBuf, String) = match kind {
        NewSkillKind::Skill => {
            check_open_name(name)?;
            (
                folder.join(name).join("SKILL.md"),
                skill(name, &line(SKILL_DESCRIPTION)),
            )
        }
        NewSkillKind::ManPage => {
            let (domain, action) = check_dotted_name(name)?;
            let path = folder.join(domain).join(format!("{action}.md"));
            (path, manpage(name, &line(MANPAGE_DESCRIPTION)))
        }
        NewSkillKind::Workflow => {
            if !is_word(&name.replace('-', "_")) {
                return Err(bad_name(
                    name,
                    "letters, digits, `_` and `-`",
                    "morning_report",
                ));
            }
            (
                folder.join(format!("{name}.yaml")),
                workflow(name, &line(WORKFLOW_DESCRIPTION)),
            )
        }
    };
    Ok(PlannedFile::new(path, content))
}

/// Maximum length of a name in the open format, in characters.
const MAX_NAME: usize = 64;

fn check_open_name(name: &str) -> Done<()> {
    let count = name.chars().count();
    if count > MAX_NAME {
        let message = format!("the name has {count} characters, {MAX_NAME} are allowed");
        return Err(Failure::input("invalid_name", message).hint("choose a shorter one"));
    }
    if slug(name) == name && name.is_ascii() {
        return Ok(());
    }
    let ascii = |c: char| if c.is_ascii() { c } else { '-' };
    let clean = slug(&name.chars().map(ascii).collect::<String>());
    let example = if clean.is_empty() {
        "code-review"
    } else {
        &clean
    };
    let takes = if name.is_ascii() {
        "lower-case letters, digits and single hyphens"
    } else {
        "lower-case letters from `a` to `z`, digits and single hyphens"
    };
    Err(bad_name(name, takes, example))
}

/// Fails if the path exists, or if the file would not be a separate skill in this folder.
fn check_place(path: &Path, kind: NewSkillKind, name: &str, folder: &Path) -> Done<()> {
    if path.symlink_metadata().is_ok() {
        let message = format!("`{}` already exists", path.display());
        return Err(Failure::input("exists", message).hint("choose another name, or edit the file"));
    }
    let part = match kind {
        NewSkillKind::Skill => Part::Owner(name.to_owned()),
        NewSkillKind::ManPage | NewSkillKind::Workflow => Part::Page,
    };
    let options = Options::new([folder.to_path_buf()]);
    let layout = Layout::from_snapshot(&Snapshot::load(&options, &system_moment()), folder);
    layout.objection(path, &part).map_or(Ok(()), |reason| {
        Err(Failure::input("hides_skills", reason).hint("choose another name"))
    })
}

fn check_dotted_name(name: &str) -> Done<(&str, &str)> {
    let parts = name.split_once('.').filter(|_| is_dotted(name));
    let (domain, action) = parts.ok_or_else(|| {
        bad_name(
            name,
            "`domain.action` in lower-case letters, digits and `_`",
            "email.send",
        )
    })?;
    if RESERVED.contains(&action) {
        return Err(Failure::input(
            "reserved_name",
            format!("`{action}` is reserved by `get_skill`"),
        )
        .hint("choose another action"));
    }
    Ok((domain, action))
}

fn bad_name(name: &str, takes: &str, example: &str) -> Failure {
    Failure::input(
        "invalid_name",
        format!("invalid name `{name}`: use {takes}"),
    )
    .hint(format!("for example `{example}`"))
}

/// Fails if the new file does not pass all checks of deft.
fn check(file: &PlannedFile) -> Done<()> {
    let part = |path: Option<&Path>| {
        path.and_then(|p| p.file_name())
            .and_then(|n| n.to_str())
            .unwrap_or_default()
            .to_owned()
    };
    let (name, folder) = (part(Some(&file.path)), part(file.path.parent()));
    let is_skill_md = FileKind::from_name(&name) == Some(FileKind::SkillMd);
    let location = FileLocation {
        file: &name,
        folder: &folder,
        domain: Some(folder.as_str())
            .filter(|_| FileKind::from_name(&name) == Some(FileKind::Markdown)),
    };
    let profile = if is_skill_md {
        Profile::AgentSkills
    } else {
        Profile::Deft
    };
    let found = parse(&file.content, &location, profile, &system_moment()).diagnostics;
    match found.iter().find(|one| one.severity > Severity::Hint) {
        Some(one) => {
            Err(Failure::input("invalid_value", one.message.clone()).maybe_hint(one.help.clone()))
        }
        None => Ok(()),
    }
}

fn quote(text: &str) -> String {
    json!(text.split_whitespace().collect::<Vec<_>>().join(" ")).to_string()
}

const SKILL_DESCRIPTION: &str = "Say what the skill does and when to use it.";
const MANPAGE_DESCRIPTION: &str = "Say what the command does, in a line";
const WORKFLOW_DESCRIPTION: &str = "Say what the workflow does, in a line";

fn skill(name: &str, description: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n## Instructions\n\n1. Say what to do first.\n2. Say what to do next.\n\n## Examples\n\nShow what goes in and what comes out.\n"
    )
}

fn manpage(name: &str, description: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\nDescribe what it does and when to use it.\n\n## Usage\n\n{name} --input <text> [--limit <n>]\n\n## Flags\n\n--input  What to work on (required)\n--limit  Maximum number of results (default: 20)\n\n## Behavior\n\nSay what happens, step by step, and what must not happen.\n\n## Examples\n\n{name} --input \"some text\"\n"
    )
}

fn workflow(name: &str, description: &str) -> String {
    format!(
        "# For editors: `deft schema workflow > workflow.schema.json`, then\n# yaml-language-server: $schema=workflow.schema.json\nname: {name}\ndescription: {description}\n\ninputs:\n  - name: who\n    type: string\n    default: world\n    description: Who is greeted\n\nsteps:\n  - id: write_greeting\n    compute: |\n      result = f\"Hello, {{inputs.who}}!\"\n    output: greeting\n\n  - id: log_greeting\n    tool: log\n    args:\n      message: \"{{{{ greeting }}}}\"\n\noutputs:\n  greeting: \"{{{{ greeting }}}}\"\n"
    )
}
