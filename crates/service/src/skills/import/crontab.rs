//! Imports lines of a crontab as workflows. Each workflow is disabled until the user enables it, and stores
//! its line, so that importing the same crontab again finds it.

mod job;
mod lines;

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deft_config::Home;
use deft_registry::{Options, Snapshot};
use deft_wire::skill_files::ImportKind;
use deft_wire::{Done, Failure};

use self::job::LINE;
use self::lines::{Crontab, CrontabJob};
use super::gather::{GatheredSkills, Item};
use super::scratch::Labels;
use super::{Import, ImportRequest, finish, workflow};
use crate::skills::files::PlannedFile;
use crate::workspace::Workspace;

/// Imports the jobs of a crontab. Jobs that were imported before are not changed.
pub fn import_crontab(workspace: &Workspace, text: &str, dry_run: bool) -> Done<Import> {
    let home = workspace.home()?;
    let mut gathered = GatheredSkills::new(&home);
    gather(text, Path::new("crontab"), &home, &mut gathered);
    let request = ImportRequest {
        keep: true,
        dry_run,
        ..ImportRequest::default()
    };
    finish(gathered, &home, &request, &Labels::default())
}

/// Returns the crontab of this user, as printed by `crontab -l`.
pub(super) fn user_crontab() -> Done<String> {
    const HINT: &str = "`deft skills import FILE --from crontab` reads a file";
    let listed = Command::new("crontab")
        .arg("-l")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    let listed = listed.map_err(|problem| {
        let message = if problem.kind() == ErrorKind::NotFound {
            "`crontab` is not installed".to_owned()
        } else {
            format!("`crontab -l` cannot be started: {problem}")
        };
        Failure::input("no_crontab", message).hint(HINT)
    })?;
    if !listed.status.success() {
        let stderr = String::from_utf8_lossy(&listed.stderr);
        let message = format!("`crontab -l` failed: {}", stderr.trim());
        return Err(Failure::input("no_crontab", message).hint(HINT));
    }
    Ok(String::from_utf8_lossy(&listed.stdout).into_owned())
}

/// Adds the jobs of a crontab to the gathered skills.
pub(super) fn gather(text: &str, source: &Path, home: &Home, gathered: &mut GatheredSkills<'_>) {
    if has_users(source) {
        gathered.refuse(
            source,
            "it has a column for users; deft runs programs as you only",
        );
        return;
    }
    let crontab = Crontab::parse(text);
    let mut names = Names::from_home(home);
    for problem in crontab.problems {
        let place = line_path(source, problem.number);
        gathered.refuse(&place, format!("{}: `{}`", problem.reason, problem.line));
    }
    for job in crontab.jobs {
        let place = line_path(source, job.number);
        match item(&job, &place, home, &mut names) {
            Ok(item) => gathered.items.push(item),
            Err(reason) => gathered.refuse(&place, format!("{reason}: `{}`", job.line)),
        }
    }
}

/// Whether each job in this file names its user, as in the system's crontabs.
fn has_users(source: &Path) -> bool {
    source == Path::new("/etc/crontab") || source.parent() == Some(Path::new("/etc/cron.d"))
}

/// Formats a line of the file like compilers do, as `path:line`.
fn line_path(source: &Path, number: usize) -> PathBuf {
    PathBuf::from(format!("{}:{number}", source.display()))
}

fn item(job: &CrontabJob, place: &Path, home: &Home, names: &mut Names) -> Result<Item, String> {
    let (id, path) = names.choose(job, &home.skills());
    let (skill, notes) = job::workflow(&id, job)?;
    let content = workflow::file(&skill, &home.moment())?;
    let file = PlannedFile::new(path, content);
    Ok(Item {
        notes,
        disabled: true,
        tools: vec!["shell.run".to_owned()],
        ..Item::new(id, ImportKind::Workflow, place, file)
    })
}

/// The names in use, and the skills of jobs that were imported before.
struct Names {
    taken: HashSet<String>,
    /// The id and file of the skill for each line that was imported before.
    known: HashMap<String, (String, PathBuf)>,
}

impl Names {
    fn from_home(home: &Home) -> Self {
        let snapshot = Snapshot::load(&Options::new(home.roots()), &home.moment());
        let known = snapshot.skills().filter_map(|loaded| {
            let line = loaded.skill.open.metadata.get(LINE)?.as_str()?;
            let skill = (loaded.skill.id.to_string(), loaded.path.to_path_buf());
            Some((line.to_owned(), skill))
        });
        Self {
            known: known.collect(),
            taken: snapshot
                .skills()
                .map(|one| one.skill.id.to_string())
                .collect(),
        }
    }

    fn choose(&mut self, job: &CrontabJob, skills: &Path) -> (String, PathBuf) {
        if let Some(known) = self.known.get(&job.line) {
            return known.clone();
        }
        let base = job::name(job);
        let numbered = (2..).map(|number: u32| format!("{base}-{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let name = names
            .find(|name| !self.taken.contains(name))
            .unwrap_or(base);
        self.taken.insert(name.clone());
        let path = skills.join(format!("{name}.yaml"));
        self.known
            .insert(job.line.clone(), (name.clone(), path.clone()));
        (name, path)
    }
}
