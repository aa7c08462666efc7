//! Finds pages of Claude Code below a folder: in folders called `agents` and `commands`, and their
//! subfolders. Folders with a `SKILL.md` belong to a skill and are skipped.

use std::fs;
use std::path::{Path, PathBuf};

use deft_registry::{MAX_FILE_BYTES, read_text};
use deft_skillfile::is_dotted;

/// Maximum depth of the search.
const MAX_DEPTH: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::skills::import) enum ClaudeRole {
    Agent,
    Command,
}

/// A page of Claude Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::skills::import) struct ClaudeFile {
    pub path: PathBuf,
    pub role: ClaudeRole,
    /// The folders between `commands` and the page, which become part of a command's name.
    pub folders: Vec<String>,
}

/// Returns all pages below a folder, by path.
pub(in crate::skills::import) fn find(root: &Path) -> Vec<ClaudeFile> {
    let mut found = Vec::new();
    let claude_folder = ClaudeFolder {
        role: root
            .file_name()
            .and_then(|name| role(&name.to_string_lossy())),
        folders: Vec::new(),
    };
    walk(root, &claude_folder, 0, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Returns a single page, if it is in a folder for agents or commands.
pub(in crate::skills::import) fn find_one(path: &Path) -> Option<ClaudeFile> {
    let folder = path.parent()?.file_name()?.to_string_lossy().into_owned();
    let file = ClaudeFile {
        path: path.to_path_buf(),
        role: role(&folder)?,
        folders: Vec::new(),
    };
    is_page(&file).then_some(file)
}

fn role(folder: &str) -> Option<ClaudeRole> {
    match folder {
        "agents" => Some(ClaudeRole::Agent),
        "commands" => Some(ClaudeRole::Command),
        _ => None,
    }
}

#[derive(Clone)]
struct ClaudeFolder {
    role: Option<ClaudeRole>,
    folders: Vec<String>,
}

impl ClaudeFolder {
    fn enter(&self, folder: &str) -> Self {
        match (role(folder), self.role) {
            (Some(role), _) => Self {
                role: Some(role),
                folders: Vec::new(),
            },
            (None, Some(_)) => Self {
                role: self.role,
                folders: [self.folders.as_slice(), &[folder.to_owned()]].concat(),
            },
            (None, None) => self.clone(),
        }
    }
}

/// Links are not followed: they may form cycles or lead out of the folder.
fn walk(folder: &Path, claude_folder: &ClaudeFolder, depth: usize, found: &mut Vec<ClaudeFile>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let (mut folders, mut pages) = (Vec::new(), Vec::new());
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push((entry.path(), name)),
            Ok(kind) if kind.is_file() => {
                if name.eq_ignore_ascii_case("skill.md") {
                    return;
                }
                pages.push((entry.path(), name));
            }
            Ok(_) | Err(_) => {}
        }
    }
    if let Some(role) = claude_folder.role {
        let pages = pages.into_iter().filter(|(_, name)| is_page_name(name));
        let pages = pages.map(|(path, _)| ClaudeFile {
            path,
            role,
            folders: claude_folder.folders.clone(),
        });
        found.extend(pages.filter(is_page));
    }
    for (path, name) in folders {
        if depth < MAX_DEPTH && !matches!(name.as_str(), ".git" | "node_modules") {
            walk(&path, &claude_folder.enter(&name), depth + 1, found);
        }
    }
}

fn is_page_name(name: &str) -> bool {
    let is_read_me = name.eq_ignore_ascii_case("readme.md") || name == "AGENT.md";
    Path::new(name)
        .extension()
        .is_some_and(|ending| ending == "md")
        && !is_read_me
}

/// Excludes man pages of a domain called `agents`, which have dotted names. An agent needs a name and a
/// description; a command needs neither.
fn is_page(file: &ClaudeFile) -> bool {
    let Ok(text) = read_text(&file.path, MAX_FILE_BYTES) else {
        return false;
    };
    let head = head(&text);
    let key = |key: &str| head.iter().find_map(|line| line.strip_prefix(key));
    let name = key("name:").map(|name| name.trim().trim_matches(['"', '\'']));
    if name.is_some_and(is_dotted) {
        return false;
    }
    match file.role {
        ClaudeRole::Agent => name.is_some() && key("description:").is_some(),
        ClaudeRole::Command => true,
    }
}

/// Returns the lines of the frontmatter.
fn head(text: &str) -> Vec<&str> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Vec::new();
    }
    lines.take_while(|line| line.trim_end() != "---").collect()
}
