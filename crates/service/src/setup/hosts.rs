//! Where other hosts keep their MCP servers and their skills.

use std::path::PathBuf;

use super::machine::{Machine, System};

/// A place that may hold something of another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The host for people.
    pub(super) title: &'static str,
    pub(super) path: PathBuf,
    /// Whether it belongs to the current folder and not to the user.
    pub(super) project: bool,
}

/// Files with MCP servers; they need not exist.
pub(super) fn server_files(machine: &Machine) -> Vec<Place> {
    let settings = match machine.system {
        System::Linux => ".config",
        System::MacOs => "Library/Application Support",
    };
    let user = [
        (
            "Claude Desktop",
            format!("{settings}/Claude/claude_desktop_config.json"),
        ),
        ("Claude Code", ".claude.json".to_owned()),
        ("Cursor", ".cursor/mcp.json".to_owned()),
        ("VS Code", format!("{settings}/Code/User/mcp.json")),
        ("Codex", ".codex/config.toml".to_owned()),
    ];
    let project = [
        ("Claude Code, this folder", ".mcp.json"),
        ("Cursor, this folder", ".cursor/mcp.json"),
        ("VS Code, this folder", ".vscode/mcp.json"),
    ];
    let project = project.map(|(title, path)| (title, path.to_owned()));
    places(machine, user.to_vec(), project.to_vec())
}

/// Folders of skills; they need not exist.
pub(super) fn skill_folders(machine: &Machine) -> Vec<Place> {
    let folders =
        |title| [".claude/skills", ".agents/skills"].map(|path: &str| (title, path.to_owned()));
    places(
        machine,
        folders("your skills").to_vec(),
        folders("skills of this folder").to_vec(),
    )
}

/// Places below the home of the user, then places below the current folder that are other ones.
fn places(
    machine: &Machine,
    user: Vec<(&'static str, String)>,
    project: Vec<(&'static str, String)>,
) -> Vec<Place> {
    let mut all: Vec<Place> = Vec::new();
    if let Some(home) = &machine.user_home {
        all.extend(user.into_iter().map(|(title, path)| Place {
            title,
            path: home.join(path),
            project: false,
        }));
    }
    for (title, path) in project {
        let path = machine.folder.join(path);
        if !all.iter().any(|place| place.path == path) {
            all.push(Place {
                title,
                path,
                project: true,
            });
        }
    }
    all
}
