//! Paths of the files in which clients list their MCP servers, on every operating system. No I/O.

use std::path::{Path, PathBuf};

use deft_wire::host::{HostClient, HostScope};

/// The operating system whose path conventions apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostSystem {
    /// `~/.config`.
    Linux,
    /// `~/Library/Application Support`.
    MacOs,
    /// `%APPDATA%`.
    Windows,
}

impl HostSystem {
    /// Returns the system that this process runs on.
    pub(super) fn this_host() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }

    /// Returns the folder for the settings of desktop applications, relative to the user's home.
    fn settings(self) -> &'static str {
        match self {
            Self::Linux => ".config",
            Self::MacOs => "Library/Application Support",
            Self::Windows => "AppData/Roaming",
        }
    }
}

/// Returns the path of a client's server list, relative to the user's home or to a project. `None` if the
/// client has no such file.
fn path_below_user(client: HostClient, scope: HostScope, system: HostSystem) -> Option<String> {
    let settings = system.settings();
    Some(match (client, scope) {
        (HostClient::ClaudeDesktop, HostScope::User) => {
            format!("{settings}/Claude/claude_desktop_config.json")
        }
        (HostClient::ClaudeCode, HostScope::User) => ".claude.json".to_owned(),
        (HostClient::ClaudeCode, HostScope::Project) => ".mcp.json".to_owned(),
        (HostClient::Cursor, _) => ".cursor/mcp.json".to_owned(),
        (HostClient::VsCode, HostScope::User) => format!("{settings}/Code/User/mcp.json"),
        (HostClient::VsCode, HostScope::Project) => ".vscode/mcp.json".to_owned(),
        (HostClient::Codex, _) => ".codex/config.toml".to_owned(),
        (HostClient::Goose, HostScope::User) => match system {
            // Unlike other programs, goose uses the same path on both systems.
            HostSystem::Linux | HostSystem::MacOs => ".config/goose/config.yaml".to_owned(),
            HostSystem::Windows => format!("{settings}/Block/goose/config/config.yaml"),
        },
        (HostClient::ClaudeDesktop | HostClient::Goose, HostScope::Project) => return None,
    })
}

/// Returns the path of a client's server list in `folder`, which is the user's home or a project. `None` if
/// the client has no such file.
pub(crate) fn file(
    client: HostClient,
    scope: HostScope,
    system: HostSystem,
    folder: &Path,
) -> Option<PathBuf> {
    path_below_user(client, scope, system).map(|path| folder.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_every_client_on_every_system() {
        use HostClient::{ClaudeCode, ClaudeDesktop, Codex, Cursor, Goose, VsCode};
        let user = |client, system| {
            let folder = match system {
                HostSystem::Linux => "/home/ada",
                HostSystem::MacOs => "/Users/ada",
                HostSystem::Windows => "C:/Users/ada",
            };
            let path = file(client, HostScope::User, system, Path::new(folder)).unwrap();
            path.display().to_string()
        };
        for (client, linux, mac, windows) in [
            (
                ClaudeDesktop,
                "/home/ada/.config/Claude/claude_desktop_config.json",
                "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
                "C:/Users/ada/AppData/Roaming/Claude/claude_desktop_config.json",
            ),
            (
                ClaudeCode,
                "/home/ada/.claude.json",
                "/Users/ada/.claude.json",
                "C:/Users/ada/.claude.json",
            ),
            (
                Cursor,
                "/home/ada/.cursor/mcp.json",
                "/Users/ada/.cursor/mcp.json",
                "C:/Users/ada/.cursor/mcp.json",
            ),
            (
                VsCode,
                "/home/ada/.config/Code/User/mcp.json",
                "/Users/ada/Library/Application Support/Code/User/mcp.json",
                "C:/Users/ada/AppData/Roaming/Code/User/mcp.json",
            ),
            (
                Codex,
                "/home/ada/.codex/config.toml",
                "/Users/ada/.codex/config.toml",
                "C:/Users/ada/.codex/config.toml",
            ),
            (
                Goose,
                "/home/ada/.config/goose/config.yaml",
                "/Users/ada/.config/goose/config.yaml",
                "C:/Users/ada/AppData/Roaming/Block/goose/config/config.yaml",
            ),
        ] {
            assert_eq!(user(client, HostSystem::Linux), linux);
            assert_eq!(user(client, HostSystem::MacOs), mac);
            assert_eq!(user(client, HostSystem::Windows), windows);
        }
    }

    #[test]
    fn projects_have_files_of_their_own() {
        let project = HostClient::ALL.map(|client| {
            path_below_user(client, HostScope::Project, HostSystem::Linux).unwrap_or_default()
        });
        let expected = [
            "",
            ".mcp.json",
            ".cursor/mcp.json",
            ".vscode/mcp.json",
            ".codex/config.toml",
            "",
        ];
        assert_eq!(project, expected);
    }
}
