//! Import of skills, MCP servers and the crontab during setup.

use deft_service::setup;
use deft_wire::server::ImportedServer;
use deft_wire::setup::{FoundServers, FoundSkills, SetupFindings};

use super::{IMPORT_CRONTAB, SetupRun};
use crate::failure::Done;
use crate::output::format_count;

impl SetupRun<'_> {
    /// Imports the user's crontab as workflows if a person agrees. Returns true if nothing is left to import.
    pub(super) fn import_crontab(&self, lines: usize) -> Done<bool> {
        let new = setup::import_crontab(&self.workspace, &self.machine, true)?;
        if new.skills.is_empty() && new.refused.is_empty() {
            self.say("crontab", "all lines are imported already")?;
            return Ok(true);
        }
        let question = "Import your crontab as workflows, disabled until you enable them?";
        let agreed = match &self.questions {
            Some(questions) if !new.skills.is_empty() => questions.confirm(question, false)?,
            Some(_) | None => false,
        };
        if !agreed {
            let lines = format_count(lines, "line");
            let text = format!("{lines}; `{IMPORT_CRONTAB}` turns them into workflows");
            self.say("crontab", &text)?;
            return Ok(false);
        }
        let report = setup::import_crontab(&self.workspace, &self.machine, false)?;
        let names = report.skills.join("`, `");
        let mut text = format!("`{names}`, disabled; `deft skills enable NAME` enables one");
        if !report.refused.is_empty() {
            let refused = format_count(report.refused.len(), "line");
            text.push_str(&format!(
                "; {refused} refused: `{IMPORT_CRONTAB}` shows why"
            ));
        }
        self.say("crontab", &text)?;
        Ok(report.refused.is_empty())
    }

    /// Adds the selected skill folders. Those of the current folder are not preselected, so only a person can
    /// choose them: the current folder may come from an untrusted source.
    pub(super) fn add_skills(&self, found: &SetupFindings) -> Done<Vec<String>> {
        if found.skills.is_empty() || self.args.no_skills {
            return Ok(Vec::new());
        }
        let new = setup::new_skills(&self.workspace, found)?;
        if new.is_empty() {
            self.say("skills", "all skill folders found are configured already")?;
            return Ok(Vec::new());
        }
        let label =
            |one: &FoundSkills| format!("{} ({})", one.path, format_count(one.skills, "skill"));
        let labels: Vec<String> = new.iter().map(label).collect();
        let usual = places(new.iter().map(|folder| !folder.project));
        let chosen = self.tick("Skill folders to read in place:", &labels, usual)?;
        let chosen: Vec<FoundSkills> = pick(&new, &chosen);
        let added = setup::add_skills(&self.workspace, &chosen)?;
        self.say(
            "skills",
            &match added.as_slice() {
                [] => left_out(&new.iter().map(|one| one.path.clone()).collect::<Vec<_>>()),
                added => format!("read in place from {}", quote_names(added)),
            },
        )?;
        Ok(added)
    }

    /// Imports the selected servers, by the same rule as [`Self::add_skills`].
    pub(super) fn import_servers(&self, found: &SetupFindings) -> Done<Vec<ImportedServer>> {
        if found.servers.is_empty() || self.args.no_mcp {
            return Ok(Vec::new());
        }
        let new = one_by_one(&setup::new_servers(&self.workspace, found)?);
        if new.is_empty() {
            self.say("mcp", "all servers are configured already")?;
            return Ok(Vec::new());
        }
        let label = |one: &FoundServers| format!("{} ({})", one.servers.join(", "), one.title);
        let labels: Vec<String> = new.iter().map(label).collect();
        let usual = places(new.iter().map(|one| !one.project));
        let chosen = self.tick("MCP servers to import:", &labels, usual)?;
        let imported = setup::import_servers(&self.workspace, &pick(&new, &chosen))?;
        if imported.is_empty() {
            let names = new.into_iter().flat_map(|one| one.servers);
            self.say("mcp", &left_out(&names.collect::<Vec<_>>()))?;
        } else {
            self.show_servers(&imported)?;
        }
        Ok(imported)
    }

    fn show_servers(&self, imported: &[ImportedServer]) -> Done<()> {
        let taken = imported.iter().filter(|one| one.effect.changes());
        let taken: Vec<String> = taken.map(|one| one.name.clone()).collect();
        self.say(
            "mcp",
            &match taken.as_slice() {
                [] => "no server was imported".to_owned(),
                taken => format!("imported {}", quote_names(taken)),
            },
        )?;
        for one in imported {
            if let Some(reason) = &one.reason {
                self.say("", &format!("`{}` was refused: {reason}", one.name))?;
            }
            for warning in &one.warnings {
                self.say("", &format!("`{}`: {warning}", one.name))?;
            }
        }
        Ok(())
    }

    fn tick(&self, question: &str, labels: &[String], usual: Vec<usize>) -> Done<Vec<usize>> {
        match &self.questions {
            Some(questions) => questions.tick(question, labels, &usual),
            None => Ok(usual),
        }
    }
}

/// Splits the found files into one entry per server.
fn one_by_one(files: &[FoundServers]) -> Vec<FoundServers> {
    let each = files.iter().flat_map(|file| {
        file.servers.iter().map(|name| FoundServers {
            servers: vec![name.clone()],
            ..file.clone()
        })
    });
    each.collect()
}

fn places(ticked: impl Iterator<Item = bool>) -> Vec<usize> {
    let ticked = ticked.enumerate().filter(|(_, ticked)| *ticked);
    ticked.map(|(place, _)| place).collect()
}

fn pick<T: Clone>(all: &[T], places: &[usize]) -> Vec<T> {
    let picked = places.iter().filter_map(|place| all.get(*place));
    picked.cloned().collect()
}

fn left_out(names: &[String]) -> String {
    format!("nothing to add; skipped: {}", quote_names(names))
}

fn quote_names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
