//! Installation of deft in the server list of a client, and its removal.
//!
//! The change is planned first, so a person can see it before anything is written.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use deft_config::{create_folder, env, replace_file, write_private};
use deft_registry::read_text;
use deft_wire::host::{HostClient, HostInstall, HostScope, InstallEffect};
use deft_wire::{Done, Failure};
use jiff::Timestamp;

use super::diff::diff;
use super::entry::{self, DeftEndpoint, TOKEN};
use super::list::{Edit, ServerFile};
use super::places::{self, HostSystem};
use crate::workspace::Workspace;

/// Maximum size of a client's file, in bytes; some files hold more than servers.
pub(super) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Which entry of which client to change, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallOptions {
    /// The client.
    pub client: HostClient,
    /// For the user or for the current folder.
    pub scope: HostScope,
    /// The name of the entry.
    pub name: String,
    /// What to do with the entry.
    pub action: InstallAction,
}

/// What to do with the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallAction {
    /// The client starts `deft mcp serve`.
    Program,
    /// The client calls the daemon.
    Url,
    /// The entry is removed.
    Remove,
}

/// A change that is ready to be written.
#[derive(Debug)]
pub struct InstallPlan {
    file: PathBuf,
    before: Option<String>,
    after: String,
    /// The effects of the change.
    pub report: HostInstall,
}

/// Plans a change without writing anything.
pub fn plan(workspace: &Workspace, options: &InstallOptions) -> Done<InstallPlan> {
    let file = find_file(options)?;
    let before = read(&file)?;
    let text = before.as_deref().unwrap_or_default();
    let source = ServerFile {
        client: options.client,
        path: &file,
        text,
    };
    let old = source.find(&options.name)?;
    let (effect, after) = match options.action {
        InstallAction::Remove if old.is_none() => (InstallEffect::Unchanged, text.to_owned()),
        InstallAction::Remove => {
            let edited = source.edit(&options.name, Edit::Remove)?;
            (InstallEffect::Removed, edited)
        }
        InstallAction::Program | InstallAction::Url => {
            let new = entry::merge(old.as_ref(), new_entry(workspace, options)?);
            if old.as_ref().and_then(|old| old.as_object()) == Some(&new) {
                (InstallEffect::Unchanged, text.to_owned())
            } else {
                let edited = source.edit(&options.name, Edit::Put(&new))?;
                let effect = match old {
                    Some(_) => InstallEffect::Changed,
                    None => InstallEffect::Added,
                };
                (effect, edited)
            }
        }
    };
    let report = HostInstall {
        ok: true,
        client: options.client,
        scope: options.scope,
        server: options.name.clone(),
        path: file.display().to_string(),
        effect,
        dry_run: true,
        diff: match effect {
            InstallEffect::Unchanged => String::new(),
            InstallEffect::Added | InstallEffect::Changed | InstallEffect::Removed => {
                diff(text, &after)
            }
        },
        backup: None,
        next: next(options),
    };
    Ok(InstallPlan {
        file,
        before,
        after,
        report,
    })
}

impl InstallPlan {
    /// Writes the change and a backup of the old file. Fails if the file has changed since it was planned.
    pub fn write(self) -> Done<HostInstall> {
        let mut report = self.report;
        report.dry_run = false;
        if report.effect == InstallEffect::Unchanged {
            return Ok(report);
        }
        if read(&self.file)? != self.before {
            let message = format!(
                "`{}` was changed by another program in the meantime",
                self.file.display()
            );
            return Err(Failure::input("changed_file", message).hint("try again"));
        }
        if let Some(before) = &self.before {
            let copy = backup_name(&self.file);
            write_private(&copy, before)?;
            report.backup = Some(copy.display().to_string());
        } else if let Some(folder) = self.file.parent() {
            create_folder(folder)?;
        }
        replace_file(&self.file, &self.after)?;
        Ok(report)
    }
}

fn find_file(options: &InstallOptions) -> Done<PathBuf> {
    let InstallOptions { client, scope, .. } = *options;
    let folder = match scope {
        HostScope::User => env::user_home().ok_or_else(|| {
            Failure::input("no_home", "the home folder is unknown: `HOME` is not set")
                .hint("set `HOME`, or use `--scope project`")
        })?,
        HostScope::Project => std::env::current_dir()
            .map_err(|problem| Failure::file(Path::new("."), "read", &problem))?,
    };
    places::file(client, scope, HostSystem::this_host(), &folder).ok_or_else(|| {
        let message = format!("{} does not support servers per project", client.title());
        Failure::input("usage", message).hint("use `--scope user`")
    })
}

fn read(file: &Path) -> Done<Option<String>> {
    match read_text(file, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(None),
        Err(problem) => Err(Failure::file(file, "read", &problem)),
    }
}

fn new_entry(workspace: &Workspace, options: &InstallOptions) -> Done<deft_wire::model::Object> {
    let endpoint = if options.action == InstallAction::Url {
        DeftEndpoint::Url(url(workspace)?)
    } else {
        program(workspace)?
    };
    entry::entry(options.client, &options.name, &endpoint).ok_or_else(|| {
        let title = options.client.title();
        let message = format!("{title} configures HTTP servers in its settings, not in its file");
        Failure::input("usage", message)
            .hint("without `--http` it starts deft itself, which uses the same home")
    })
}

/// Returns the command that starts this program for this home. Both paths are absolute, because a client
/// starts servers in another folder.
fn program(workspace: &Workspace) -> Done<DeftEndpoint> {
    let program = std::env::current_exe()
        .map_err(|problem| Failure::file(Path::new("deft"), "find", &problem))?;
    let home = std::path::absolute(workspace.locate()?)
        .map_err(|problem| Failure::file(Path::new("."), "read", &problem))?;
    let args = ["mcp", "serve", "--home"].map(str::to_owned);
    Ok(DeftEndpoint::Program {
        command: program.display().to_string(),
        args: args
            .into_iter()
            .chain([home.display().to_string()])
            .collect(),
    })
}

/// Returns the URL at which the daemon serves MCP, or will serve it once it is started.
fn url(workspace: &Workspace) -> Done<String> {
    let home = workspace.home_to_read()?;
    let running = crate::listener::find(&home.path).and_then(|state| state.url);
    let server = &home.config.server;
    let scheme = server.tls_cert.as_ref().map_or("http", |_| "https");
    let url = running.unwrap_or_else(|| format!("{scheme}://{}", server.listen));
    Ok(format!("{}/mcp", url.trim_end_matches('/')))
}

/// Returns a path next to `file` for a backup; its name contains the current time.
fn backup_name(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let at = Timestamp::now().strftime("%Y%m%dT%H%M%S%3f");
    file.with_file_name(format!("{name}.{at}.bak"))
}

fn next(options: &InstallOptions) -> Vec<String> {
    let InstallOptions { client, action, .. } = options;
    let title = client.title();
    let mut steps = Vec::new();
    if *action == InstallAction::Url {
        let word = client.word();
        steps.push("start the daemon: `deft up`".to_owned());
        steps.push(format!(
            "set `{TOKEN}` to a token in the environment of {title}: `deft tokens add {word} --scope run` creates one"
        ));
    }
    if *action != InstallAction::Remove {
        steps.push(format!("restart {title}"));
    }
    steps
}
