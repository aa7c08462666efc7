//! Clones a repository with the `git` of the host: shallow, without prompts, hooks, submodules or filters,
//! and only over the protocols listed here.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deft_wire::{Done, Failure};

use super::source::Repository;

/// The protocols that git may use.
const PROTOCOLS: &str = "https:ssh:file";

/// Settings that prevent code execution by a repository or by the user's git configuration.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "filter.lfs.smudge=",
    "filter.lfs.process=",
    "filter.lfs.required=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "transfer.fsckObjects=true",
];

/// A cloned repository.
pub(super) struct ClonedRepository {
    /// The requested folder.
    pub folder: PathBuf,
    pub commit: String,
}

/// Clones a repository to a subfolder of `below`.
pub(super) fn clone(repository: &Repository, below: &Path) -> Done<ClonedRepository> {
    // A skill at the top of the repository is named after the repository.
    let name = repository
        .url
        .trim_end_matches('/')
        .rsplit(['/', ':'])
        .next();
    let name = name.map(|name| name.strip_suffix(".git").unwrap_or(name));
    let name = name.filter(|name| !matches!(*name, "" | "." | ".."));
    let work = below.join(name.unwrap_or("repository"));
    match &repository.reference {
        None => {
            let clone = [
                "clone",
                "--quiet",
                "--template=",
                "--depth=1",
                "--no-tags",
                "--",
                &repository.url,
            ];
            run(git(below).args(clone).arg(&work), repository)?;
        }
        Some(reference) => fetch(repository, reference, below, &work)?,
    }
    let commit = run(git(&work).args(["rev-parse", "HEAD"]), repository)?;
    let folder = match &repository.path {
        Some(path) => work.join(path),
        None => work,
    };
    if !folder.is_dir() {
        let path = repository.path.clone().unwrap_or_default();
        let message = format!("`{}` has no folder `{}`", repository.url, path.display());
        return Err(
            Failure::input("no_such_folder", message).hint("check the path, and the branch or tag")
        );
    }
    Ok(ClonedRepository {
        folder,
        commit: commit.trim().to_owned(),
    })
}

/// Fetches a branch, a tag or a commit: `clone --branch` does not support commits.
fn fetch(repository: &Repository, reference: &str, below: &Path, work: &Path) -> Done<()> {
    run(
        git(below)
            .args(["init", "--quiet", "--template="])
            .arg(work),
        repository,
    )?;
    let fetch = [
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--no-recurse-submodules",
    ];
    let from = ["--", &repository.url, reference];
    run(git(work).args(fetch).args(from), repository)?;
    let checkout = ["checkout", "--quiet", "--detach", "FETCH_HEAD"];
    run(git(work).args(checkout), repository).map(drop)
}

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
        .current_dir(folder)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "true")
        .env("SSH_ASKPASS", "true")
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_TEMPLATE_DIR")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if std::env::var_os("GIT_SSH_COMMAND").is_none() {
        command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
    }
    command
}

/// Runs git and returns its output. On failure, the error has the first `fatal:` or `error:` line of stderr.
fn run(command: &mut Command, repository: &Repository) -> Done<String> {
    let ended = command.output().map_err(|problem| missing_git(&problem))?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let mut lines = stderr.lines().map(str::trim);
    let first = lines.find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let first = first.and_then(|line| line.split_once(':'));
    let reason = first.map_or("git gives no reason", |(_, reason)| reason.trim());
    let message = format!("cannot clone `{}`: {reason}", repository.url);
    Err(Failure::input("clone_failed", message).hint(
        "check the address and your access with `git ls-remote`; deft never asks for a password",
    ))
}

fn missing_git(problem: &std::io::Error) -> Failure {
    if problem.kind() == ErrorKind::NotFound {
        let message = "`git` is not installed, and deft needs it to import a repository";
        return Failure::input("no_git", message)
            .hint("install git, or download the repository as an archive and import that");
    }
    Failure::input("no_git", format!("`git` cannot be started: {problem}"))
        .hint("check your installation with `git --version`")
}
