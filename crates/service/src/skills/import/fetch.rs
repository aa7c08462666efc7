//! Copies a source to a local folder and gathers its skills.

use std::fs;
use std::path::{Path, PathBuf};

use deft_config::Home;
use deft_registry::{MAX_FILE_BYTES, read_text};
use deft_skillfile::slug;
use deft_wire::{Done, Failure};

use super::super::remote;
use super::gather::GatheredSkills;
use super::scratch::{Labels, ScratchFolder};
use super::source::{ArchiveKind, Repository, Source};
use super::unpack::{Limits, unpack};
use super::{crontab, git};
use crate::runtime;
use crate::workspace::Workspace;

/// Holds the temporary folders, which are removed when it is dropped.
pub(super) struct Fetcher<'a> {
    workspace: &'a Workspace,
    folders: Vec<ScratchFolder>,
    pub labels: Labels,
}

impl<'a> Fetcher<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            folders: Vec::new(),
            labels: Labels::default(),
        }
    }

    pub(super) fn gather(
        &mut self,
        source: &Source,
        gathered: &mut GatheredSkills<'_>,
        home: &Home,
    ) -> Done<()> {
        match source {
            Source::Path(path) => {
                self.label(path);
                gathered.add(path)
            }
            Source::N8n(path) => {
                gathered.add_n8n(path);
                Ok(())
            }
            Source::Archive(path, kind) => self.gather_archive(path, *kind, gathered),
            Source::Repository(repository) => self.gather_repository(repository, gathered),
            Source::Remote(id) => self.gather_remote(id, gathered),
            Source::CrontabFile(path) => {
                let text = read_text(path, MAX_FILE_BYTES);
                let text = text.map_err(|problem| Failure::file(path, "read", &problem))?;
                crontab::gather(&text, path, home, gathered);
                Ok(())
            }
            Source::UserCrontab => {
                let text = crontab::user_crontab()?;
                crontab::gather(&text, Path::new("crontab"), home, gathered);
                Ok(())
            }
        }
    }

    fn gather_archive(
        &mut self,
        path: &Path,
        kind: ArchiveKind,
        gathered: &mut GatheredSkills<'_>,
    ) -> Done<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = archive_stem(&name);
        let scratch = ScratchFolder::create()?;
        // A skill at the top of the archive is named after the archive.
        let folder = scratch.path().join(stem);
        let made = fs::create_dir(&folder);
        made.map_err(|problem| Failure::file(&folder, "create", &problem))?;
        self.labels.add(&folder, &path.display().to_string());
        let refused = unpack(path, kind, &folder, Limits::default())?;
        gathered.refused.extend(refused);
        self.gather_folder(folder, &path.display().to_string(), gathered)?;
        self.folders.push(scratch);
        Ok(())
    }

    fn gather_repository(
        &mut self,
        repository: &Repository,
        gathered: &mut GatheredSkills<'_>,
    ) -> Done<()> {
        let scratch = ScratchFolder::create()?;
        self.tell(&format!("cloning {} …", repository.label));
        let cloned = git::clone(repository, scratch.path())?;
        let short = cloned.commit.chars().take(10).collect::<String>();
        self.tell(&format!("cloned {} at {short}", repository.label));
        self.gather_folder(cloned.folder, &repository.label, gathered)?;
        self.folders.push(scratch);
        Ok(())
    }

    /// Downloads a skill of a server. Each file has been compared with the server's list.
    fn gather_remote(&mut self, id: &str, gathered: &mut GatheredSkills<'_>) -> Done<()> {
        let (skill, files) = runtime::start()?.block_on(remote::download(self.workspace, id))?;
        let scratch = ScratchFolder::create()?;
        let folder = scratch.path().join(skill.name());
        for (path, content) in files {
            let path = folder.join(path);
            let parent = path.parent().unwrap_or(&folder);
            let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, content));
            written.map_err(|problem| Failure::file(&path, "write", &problem))?;
        }
        self.gather_folder(folder, &format!("mcp:{id}"), gathered)?;
        self.folders.push(scratch);
        Ok(())
    }

    /// Gathers a temporary folder. A skill at its top is named as in its file, because the name of the folder
    /// is arbitrary.
    fn gather_folder(
        &mut self,
        folder: PathBuf,
        label: &str,
        gathered: &mut GatheredSkills<'_>,
    ) -> Done<()> {
        let named = name_at_top(&folder).map(|name| folder.with_file_name(name));
        let moved = named.filter(|named| !named.exists() && fs::rename(&folder, named).is_ok());
        let folder = moved.unwrap_or(folder);
        self.labels.add(&folder, label);
        gathered.add(&folder)
    }

    /// Reports files below a folder by the path that the user gave.
    fn label(&mut self, given: &Path) {
        let folder = if given.is_dir() {
            Some(given)
        } else {
            given.parent()
        };
        let Some(folder) = folder else {
            return;
        };
        let real = match folder.to_str() {
            Some("") => Path::new(".").canonicalize(),
            Some(_) | None => folder.canonicalize(),
        };
        if let Ok(real) = real {
            self.labels.add(&real, &folder.display().to_string());
        }
    }

    fn tell(&self, line: &str) {
        if !self.workspace.quiet {
            (self.workspace.tell)(line);
        }
    }
}

/// Returns the name of an archive without its file extension.
fn archive_stem(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    let endings = [".tar.gz", ".tgz", ".tar", ".zip", ".skill"];
    let ending = endings.iter().find(|ending| lower.ends_with(*ending));
    let stem = ending.map_or(name, |ending| &name[..name.len() - ending.len()]);
    if matches!(stem, "" | "." | "..") {
        "archive"
    } else {
        stem
    }
}

/// Returns the name in the `SKILL.md` of a folder, if it is a valid folder name.
fn name_at_top(folder: &Path) -> Option<String> {
    let text = read_text(&folder.join("SKILL.md"), MAX_FILE_BYTES).ok()?;
    let mut head = text
        .lines()
        .skip(1)
        .take_while(|line| line.trim_end() != "---");
    let name = head.find_map(|line| line.strip_prefix("name:"))?;
    let name = name.trim().trim_matches(['"', '\'']);
    (!name.is_empty() && slug(name) == name).then(|| name.to_owned())
}
