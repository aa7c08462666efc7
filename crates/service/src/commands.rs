//! Command lines as models write them: parsing, answers, and the results of their runs.
//!
//! A front end reads the commands, asks for the answer to each, and drives the runs that answers contain. Not
//! here: how a run is driven (`runs`).

use std::sync::Arc;

use deft_command::{CommandResult, Line, Problem, ProblemKind, split};
use deft_engine::{Command, Commands};
use deft_model::{Cause, Choice, Object, Outcome, Skill};
use deft_registry::discovery::{Topic, Unknown, get_skill_with};
use deft_registry::{LoadedSkill, Snapshot};
use deft_wire::command::{CommandStatus, CommandView};
use deft_wire::run::{RunError, RunView};
use deft_wire::{Done, Failure, FailureKind};
use jiff::Zoned;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::kept_skills::broken_warning;
use crate::runs::{self, DrivenRun, StartRun};
use crate::skills::SkillCatalog;
use crate::workspace::Workspace;

/// The skills and tools that commands use.
pub struct CommandShell {
    snapshot: Snapshot,
    /// The home with its stored tools; no server is started.
    home: Option<App>,
    start: Zoned,
}

/// A command as it was written.
#[derive(Clone, Debug)]
pub struct WrittenCommand {
    /// The text of the command.
    pub text: String,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Line(Line),
    /// A call in JSON, as older programs write it (S2.50).
    Call(Value),
    Unreadable(Problem),
}

/// The answer to a command: a result, or a run that leads to it.
pub enum Answer {
    /// The result of the command.
    Result(CommandView),
    /// A run that must be driven to get the result.
    Run(CommandRun),
}

/// The run of a command.
pub struct CommandRun {
    /// The run to start.
    pub start: StartRun,
    /// A warning if the last good version of the skill is used because its file is broken.
    pub warning: Option<String>,
    skill: Arc<LoadedSkill>,
    command: String,
}

/// Parses the commands in `text`, one per line. A text that starts with `{` is one call in JSON.
pub fn read_commands(text: &str) -> Done<Vec<WrittenCommand>> {
    if text.trim_start().starts_with('{') {
        let call = serde_json::from_str(text).map_err(|error| {
            let message = format!("the call is not JSON: {error}");
            Failure::input("invalid_call", message)
                .hint(r#"write `{"skill": "domain.action", "flags": {}}`"#)
        })?;
        return Ok(vec![WrittenCommand {
            text: text.trim().to_owned(),
            form: Form::Call(call),
        }]);
    }
    let lines = split(text).into_iter().map(|line| match line {
        Ok(line) => WrittenCommand {
            text: line.raw.clone(),
            form: Form::Line(line),
        },
        Err(problem) => WrittenCommand {
            text: line_at(text, &problem),
            form: Form::Unreadable(problem),
        },
    });
    let lines: Vec<WrittenCommand> = lines.collect();
    if lines.is_empty() {
        return Err(
            Failure::input("invalid_command", "the command line is empty")
                .hint("try `deft cmd get_skill`"),
        );
    }
    Ok(lines)
}

impl CommandShell {
    /// Loads the skills of `workspace`.
    pub fn open(workspace: &Workspace) -> Done<Self> {
        let catalog = SkillCatalog::open(workspace)?;
        let moment = catalog.moment();
        let start = moment.now.to_zoned(moment.zone.clone());
        let (snapshot, home) = catalog.into_joined()?;
        Ok(Self {
            snapshot,
            home,
            start,
        })
    }

    /// Resolves `command` to a result or to a run.
    pub fn answer(&self, command: &WrittenCommand) -> Done<Answer> {
        let commands = self.commands();
        let resolved = match &command.form {
            Form::Line(line) => commands.line(line),
            Form::Call(call) => commands.json(call),
            Form::Unreadable(problem) => Err(vec![problem.clone()]),
        };
        let resolved = resolved.map_err(|problems| {
            self.broken_file_failure(&problems)
                .unwrap_or_else(|| refusal(&problems))
        })?;
        let result = match resolved {
            Command::Page { topic } => {
                let unavailable = |skill: &Skill| commands.unavailable(skill, true);
                let page = get_skill_with(&self.snapshot, &Topic::parse(&topic), &unavailable);
                CommandResult::ok(page.map_err(|problem| unknown(&problem))?)
            }
            Command::Template(result) => result,
            Command::Run { skill, inputs } => {
                return Ok(Answer::Run(self.prepare(skill, inputs, command)));
            }
        };
        Ok(Answer::Result(view(&command.text, result)))
    }

    /// Like [`CommandShell::answer`], for one of several commands: a failure becomes its result (S2.48).
    pub fn answer_in_batch(&self, command: &WrittenCommand) -> Answer {
        if let Form::Unreadable(problem) = &command.form {
            let result = CommandResult::from_problems(std::slice::from_ref(problem));
            return Answer::Result(view(&command.text, result));
        }
        self.answer(command)
            .unwrap_or_else(|failure| Answer::Result(failed_command(&command.text, &failure)))
    }

    fn commands(&self) -> Commands<'_> {
        let router = self.home.as_ref().map(|home| home.engine.router());
        Commands::new(&self.snapshot, router, self.start.clone())
    }

    fn prepare(
        &self,
        skill: Arc<LoadedSkill>,
        inputs: Object,
        command: &WrittenCommand,
    ) -> CommandRun {
        let id = skill.skill.id.as_str();
        CommandRun {
            start: StartRun {
                skill: id.to_owned(),
                inputs,
                cause: Cause::Command,
                key: None,
                origin: runs::caller_origin(),
            },
            warning: broken_warning(&self.snapshot, Some(id)),
            skill,
            command: command.text.clone(),
        }
    }

    /// If a command names a skill that is missing because its file is broken, returns the failure that says
    /// so: the command itself is not wrong.
    fn broken_file_failure(&self, problems: &[Problem]) -> Option<Failure> {
        let name = problems.iter().find_map(|problem| {
            if let ProblemKind::UnknownSkill { name, .. } = &problem.kind {
                Some(name.clone())
            } else {
                None
            }
        })?;
        let path = deft_engine::broken_file(&self.snapshot, &name)?;
        Some(app::failure(&deft_engine::Error::BrokenSkill {
            name,
            path,
        }))
    }
}

impl CommandRun {
    /// The command as it was written.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns the result of the command, and the run it comes from.
    pub fn result(&self, app: &App, run: &DrivenRun) -> Done<(CommandView, RunView)> {
        let run = run.detail(app)?.run;
        let given = app
            .engine
            .library()
            .command_result(&self.skill.skill, &run.outputs);
        let result = run_result(&run, given);
        Ok((view(&self.command, result), run))
    }
}

/// Converts `failure` to the result of `command`.
pub fn failed_command(command: &str, failure: &Failure) -> CommandView {
    let result = error_result(failure.code, &failure.message, failure.hint.as_deref());
    view(command, result)
}

fn view(command: &str, result: CommandResult) -> CommandView {
    let ok = result.status == deft_command::CommandStatus::Ok;
    CommandView {
        status: if ok {
            CommandStatus::Ok
        } else {
            CommandStatus::Error
        },
        content: result.content,
        side_effects: result.side_effects,
        metadata: result.metadata,
        ok,
        command: command.to_owned(),
    }
}

/// Returns the line of `text` in which `problem` occurred.
fn line_at(text: &str, problem: &Problem) -> String {
    let at = problem.span.as_ref().map_or(0, |span| span.start);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    line.trim().to_owned()
}

/// Converts a run to the result of its command.
fn run_result(run: &RunView, given: CommandResult) -> CommandResult {
    let mut result = given;
    match (&run.error, &run.outputs) {
        (Some(error), _) => {
            result = error_result(error_code(error), &error.message, error.hint.as_deref());
        }
        (None, _) if run.outcome.is_none() => {
            let what = run.waiting_for.as_deref().unwrap_or("its turn");
            let id = &run.id;
            let hint = format!(
                "`deft approvals list` shows pending approvals, `deft runs resume {id}` continues \
                 the run"
            );
            let message = format!("run {id} waits for {what}");
            result = error_result("waiting", &message, Some(&hint));
        }
        (None, Value::Null) => "done".clone_into(&mut result.content),
        // Format JSON for people, who read it too.
        (None, outputs) if serde_json::from_str(&result.content).ok().as_ref() == Some(outputs) => {
            result.content = format!("{outputs:#}");
        }
        (None, _) => {}
    }
    if !matches!(run.outcome, Some(Outcome::Success | Outcome::Skipped)) {
        result.status = deft_command::CommandStatus::Error;
    }
    for (name, value) in [
        ("run", json!(run.id)),
        ("outcome", json!(run.outcome)),
        ("status", json!(run.status)),
    ] {
        result.metadata.insert(name.to_owned(), value);
    }
    result
}

fn error_code(error: &RunError) -> &'static str {
    error.code.map_or(error.class.word(), Choice::word)
}

/// Returns the result of a failed command, with the error code for programs (S2.44).
fn error_result(code: &str, message: &str, hint: Option<&str>) -> CommandResult {
    let below = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
    let mut result = CommandResult {
        status: deft_command::CommandStatus::Error,
        ..CommandResult::ok(format!("error: {message}{below}"))
    };
    let error = json!({ "code": code, "message": message, "hint": hint });
    result.metadata.insert("errors".to_owned(), json!([error]));
    result
}

pub(crate) fn refusal(problems: &[Problem]) -> Failure {
    let code = problems.first().map_or("invalid_command", Problem::code);
    let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let hint = problems.iter().find_map(Problem::hint);
    let failure = Failure::input(code, messages.join("; ")).maybe_hint(hint);
    // The line is valid; only the handler that it needs is missing.
    let is_missing = |problem: &Problem| matches!(problem.kind, ProblemKind::MissingHandler { .. });
    if !problems.is_empty() && problems.iter().all(is_missing) {
        return Failure {
            kind: FailureKind::Unsuccessful,
            ..failure
        };
    }
    failure
}

fn unknown(problem: &Unknown) -> Failure {
    let hint = match problem.near() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft cmd get_skill` lists all skills".to_owned(),
    };
    Failure::input(problem.code().word(), problem.to_string()).hint(hint)
}
