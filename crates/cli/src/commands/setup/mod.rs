//! `deft setup`: finds keys, models, skills and MCP servers, asks which to use, and configures them.
//!
//! Every part is idempotent. With `--yes` each question is answered with its proposal. Not here: the search
//! and the writing, which are in `deft_service::setup`.

mod imports;
mod lines;
mod model;
mod unit;

use std::path::Path;
use std::process::ExitCode;

use deft_config::env;
use deft_service::Workspace;
use deft_service::setup::{self, Machine, ModelSearch};
use deft_wire::home::InitResult;
use deft_wire::server::ImportEffect;
use deft_wire::setup::{SetupFindings, SetupModel, SetupReport};

use crate::args::{Chat, Global, Setup};
use crate::failure::{Done, Failure};
use crate::output::{Output, format_count};
use crate::questions::Questions;

/// The command that imports the user's crontab.
pub(super) const IMPORT_CRONTAB: &str = "deft skills import crontab";

/// State shared by the parts of a setup.
struct SetupRun<'a> {
    args: &'a Setup,
    workspace: Workspace,
    machine: Machine,
    output: &'a Output,
    /// Asks the person; `None` if every proposal is accepted.
    questions: Option<Questions>,
}

pub(crate) fn run(args: &Setup, global: &Global, output: &Output) -> Done {
    let questions = Questions::new(global, output).filter(|_| !args.yes);
    if questions.is_none() && !args.yes {
        let message = "`deft setup` asks questions and needs a terminal";
        return Err(Failure::input("usage", message)
            .hint("`deft setup --yes` accepts every proposal without asking"));
    }
    let run = SetupRun {
        args,
        workspace: global.workspace(),
        machine: Machine::this_host()?,
        output,
        questions,
    };
    let report = run.report()?;
    if output.json {
        output.document(&report)?;
    } else if run.wants_chat(&report)? {
        return super::chat::run(&Chat::default(), global, output);
    } else {
        run.show_next(&report.next)?;
    }
    Ok(ExitCode::from(u8::from(!report.ok)))
}

impl SetupRun<'_> {
    fn report(&self) -> Done<SetupReport> {
        let home = setup::prepare_home(&self.workspace)?;
        self.show_home(&home)?;
        let found = setup::discover(&self.machine, &self.search());
        self.show_found(&found)?;
        let mut model = self.set_up_model(&found)?;
        let skills = self.add_skills(&found)?;
        let servers = self.import_servers(&found)?;
        let crontab_is_taken = found.crontab > 0 && self.import_crontab(found.crontab)?;
        let service = self.install_service(model.as_mut())?;
        let answers = model.as_ref().is_none_or(answers);
        let refused = servers
            .iter()
            .any(|one| one.effect == ImportEffect::Refused);
        let stuck = service.as_ref().is_some_and(|unit| unit.error.is_some());
        Ok(SetupReport {
            ok: answers && !refused && !stuck,
            home,
            next: next_commands(&found, crontab_is_taken, model.as_ref()),
            found,
            model,
            skills,
            servers,
            service,
        })
    }

    fn search(&self) -> ModelSearch {
        let mut addresses = self.args.probe.clone();
        if addresses.is_empty() {
            return ModelSearch::UsualPorts;
        }
        addresses.retain(|address| address != "none");
        ModelSearch::Addresses(addresses)
    }

    /// Prints a line of a section, except with `--json`.
    fn say(&self, section: &str, text: &str) -> Done<()> {
        if self.output.json {
            return Ok(());
        }
        let width = self.output.width();
        self.output.data(lines::section(section, text, width))
    }

    fn show_home(&self, home: &InitResult) -> Done<()> {
        let place = shorten(&home.home);
        self.say(
            "home",
            &match home.skills_written {
                0 => format!("`{place}` is complete"),
                count => format!(
                    "`{place}` created with {}",
                    format_count(count, "skill file")
                ),
            },
        )?;
        if setup::protect_config(&self.workspace)? {
            let text = "other users could read `config.toml`; now only you can";
            self.say("", text)?;
        }
        Ok(())
    }

    fn show_found(&self, found: &SetupFindings) -> Done<()> {
        if found.is_empty() {
            let nothing = "no API key, no model server, no skills, no MCP servers, no crontab";
            return self.say("found", nothing);
        }
        self.say("found", &found_lines(found).join("\n"))
    }

    fn wants_chat(&self, report: &SetupReport) -> Done<bool> {
        let works = report.model.as_ref().is_some_and(answers);
        match &self.questions {
            Some(questions) if works => questions.confirm("Start a chat now?", true),
            Some(_) | None => Ok(false),
        }
    }

    fn show_next(&self, commands: &[String]) -> Done<()> {
        self.say("next", &commands.join("\n"))
    }
}

/// Whether a model passed its test or was not tested.
fn answers(model: &SetupModel) -> bool {
    model.test.as_ref().is_none_or(|test| test.ok)
}

fn found_lines(found: &SetupFindings) -> Vec<String> {
    let mut lines = Vec::new();
    for key in &found.keys {
        lines.push(format!("API key of {} in `{}`", key.title, key.variable));
    }
    for server in &found.models {
        let models = match server.models.as_slice() {
            [] => "no models".to_owned(),
            [first, second, third, _, ..] => {
                let more = server.models.len() - 3;
                format!("{first}, {second}, {third} and {more} more")
            }
            few => few.join(", "),
        };
        lines.push(format!("{} at {}: {models}", server.title, server.base_url));
    }
    for folder in &found.skills {
        let count = format_count(folder.skills, "skill");
        lines.push(format!("{count} in `{}`", folder.path));
    }
    for file in &found.servers {
        let names = file.servers.join(", ");
        lines.push(format!("MCP servers of {}: {names}", file.title));
    }
    if found.crontab > 0 {
        lines.push(format_count(found.crontab, "crontab line"));
    }
    lines
}

fn next_commands(
    found: &SetupFindings,
    crontab_is_taken: bool,
    model: Option<&SetupModel>,
) -> Vec<String> {
    let mut commands = Vec::new();
    match model {
        Some(model) if answers(model) => commands.push("deft chat"),
        Some(_) => commands.push("deft setup"),
        None => commands.extend(["deft secrets set ANTHROPIC_API_KEY", "deft setup"]),
    }
    if found.crontab > 0 && !crontab_is_taken {
        commands.push(IMPORT_CRONTAB);
    }
    commands.extend(["deft up", "deft doctor"]);
    commands.into_iter().map(str::to_owned).collect()
}

/// Shortens a path below the user's home folder to begin with `~/`.
fn shorten(path: &str) -> String {
    let home = env::user_home();
    match home.and_then(|home| Path::new(path).strip_prefix(home).map(Path::to_owned).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.to_owned(),
    }
}
