//! The places where other hosts store their MCP servers and skills.

use std::path::{Path, PathBuf};

use deft_wire::host::{HostClient, HostScope};

use super::machine::{Machine, System};
use crate::hosts::{self, HostSystem};

/// A file or folder that may belong to another host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPath {
    /// The display name of the host.
    pub(super) title: String,
    pub(super) path: PathBuf,
    /// Whether it belongs to the current folder and not to the user.
    pub(super) project: bool,
}

/// Returns the files that may list MCP servers; they need not exist.
pub(super) fn server_files(machine: &Machine) -> Vec<HostPath> {
    let system = match machine.system {
        System::Linux => HostSystem::Linux,
        System::MacOs => HostSystem::MacOs,
    };
    let below = |scope| {
        HostClient::ALL.into_iter().filter_map(move |client| {
            let path = hosts::file(client, scope, system, Path::new(""))?;
            Some((client.title(), path.display().to_string()))
        })
    };
    let mut all = places(machine, below(HostScope::User).collect(), Vec::new());
    let mut project = places(machine, Vec::new(), below(HostScope::Project).collect());
    project.retain(|place| !all.iter().any(|user| user.path == place.path));
    for place in &mut project {
        place.title.push_str(", this folder");
    }
    all.append(&mut project);
    all
}

/// Returns the folders that may have skills; they need not exist.
pub(super) fn skill_folders(machine: &Machine) -> Vec<HostPath> {
    let folders =
        |title| [".claude/skills", ".agents/skills"].map(|path: &str| (title, path.to_owned()));
    places(
        machine,
        folders("your skills").to_vec(),
        folders("skills of this folder").to_vec(),
    )
}

/// Returns the places below the user's home, then those below the current folder, without duplicates.
fn places(
    machine: &Machine,
    user: Vec<(&'static str, String)>,
    project: Vec<(&'static str, String)>,
) -> Vec<HostPath> {
    let mut all: Vec<HostPath> = Vec::new();
    if let Some(home) = &machine.user_home {
        all.extend(user.into_iter().map(|(title, path)| HostPath {
            title: title.to_owned(),
            path: home.join(path),
            project: false,
        }));
    }
    for (title, path) in project {
        let path = machine.folder.join(path);
        if !all.iter().any(|place| place.path == path) {
            all.push(HostPath {
                title: title.to_owned(),
                path,
                project: true,
            });
        }
    }
    all
}
