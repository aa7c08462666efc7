//! `deft cmd`: command lines, as a model would write them.

use std::cell::Cell;
use std::process::ExitCode;

use deft_command::{CommandResult, CommandStatus, Line, Problem, ProblemKind, split};
use deft_engine::{Command, Commands};
use deft_model::{Choice, Object, Outcome, Skill};
use deft_registry::Snapshot;
use deft_registry::discovery::{Topic, Unknown, get_skill_with};
use jiff::Zoned;
use serde_json::{Value, json};

use super::run::{INTERRUPTED, Watch};
use super::skills::stored::join_with;
use crate::args::{Global, Roots};
use crate::failure::{Done, Failure};
use crate::output::Output;
use deft_service::app::{self, App, broken_warning};
use deft_service::runs::{RunWork, StartRun};
use deft_wire::FailureKind;

pub(crate) fn run(text: &str, global: &Global, roots: &Roots, output: &Output) -> Done {
    let library = global.workspace_of(roots).library()?;
    let snapshot = global.workspace_of(roots).load_kept(&library);
    let home = if roots.roots.is_empty() {
        Some(App::to_read(&global.workspace())?)
    } else {
        None
    };
    let shell = Shell {
        snapshot: match &home {
            Some(home) => join_with(snapshot, home)?,
            None => snapshot,
        },
        home,
        start: library.moment.now.to_zoned(library.moment.zone.clone()),
        global,
        roots,
        interrupted: Cell::new(false),
    };
    if text.trim_start().starts_with('{') {
        return shell.call(text, output);
    }
    match split(text).as_slice() {
        [] => Err(
            Failure::input("invalid_command", "the command line is empty")
                .hint("try `deft cmd get_skill`"),
        ),
        [Ok(only)] => shell.single(only, output),
        [Err(problem)] => Err(refusal(std::slice::from_ref(problem))),
        several => shell.several(text, several, output),
    }
}

/// Where command lines find their skills.
struct Shell<'a> {
    snapshot: Snapshot,
    /// The home with what is known of its tools; nothing is started in it.
    home: Option<App>,
    start: Zoned,
    global: &'a Global,
    roots: &'a Roots,
    /// Somebody wanted the program to end.
    interrupted: Cell<bool>,
}

/// A command and its result.
type Answered = (String, CommandResult);

impl Shell<'_> {
    fn commands(&self) -> Commands<'_> {
        let router = self.home.as_ref().map(|home| home.engine.router());
        Commands::new(&self.snapshot, router, self.start.clone())
    }

    /// One line: its answer is the output, its failure is the failure of the command.
    fn single(&self, line: &Line, output: &Output) -> Done {
        let result = self.answer(self.commands().line(line), output)?;
        self.print(&[(line.raw.clone(), result)], output)
    }

    /// A call in JSON, as older programs have it (S2.50).
    fn call(&self, text: &str, output: &Output) -> Done {
        let call: Value = serde_json::from_str(text).map_err(|error| {
            let message = format!("the call is not JSON: {error}");
            Failure::input("invalid_call", message)
                .hint(r#"write `{"skill": "domain.action", "flags": {}}`"#)
        })?;
        let result = self.answer(self.commands().json(&call), output)?;
        self.print(&[(text.trim().to_owned(), result)], output)
    }

    /// Several lines, in order; one that fails does not hide the others (S2.48).
    fn several(&self, text: &str, lines: &[Result<Line, Problem>], output: &Output) -> Done {
        let results: Vec<Answered> = lines
            .iter()
            // Whoever wants the program to end does not want the rest.
            .take_while(|_| !self.interrupted.get())
            .map(|line| match line {
                Ok(line) => {
                    let answer = self.answer(self.commands().line(line), output);
                    let result = answer.unwrap_or_else(|failure| failed(&failure));
                    (line.raw.clone(), result)
                }
                Err(problem) => {
                    let result = CommandResult::refused(std::slice::from_ref(problem));
                    (written(text, problem), result)
                }
            })
            .collect();
        self.print(&results, output)
    }

    fn answer(
        &self,
        resolved: Result<Command, Vec<Problem>>,
        output: &Output,
    ) -> Done<CommandResult> {
        let command = resolved
            .map_err(|problems| self.broken(&problems).unwrap_or_else(|| refusal(&problems)))?;
        match command {
            Command::Page { topic } => {
                let commands = self.commands();
                let unavailable = |skill: &Skill| commands.unavailable(skill, true);
                let page = get_skill_with(&self.snapshot, &Topic::parse(&topic), &unavailable);
                page.map(CommandResult::ok)
                    .map_err(|problem| unknown(&problem))
            }
            Command::Template(result) => Ok(result),
            Command::Run { skill, inputs } => {
                let id = skill.skill.id.as_str();
                if let Some(warning) = broken_warning(&self.snapshot, Some(id)) {
                    output.complain(&warning);
                }
                self.perform(&skill.skill, inputs)
            }
        }
    }

    /// A skill that is not there because its file is broken is not a slip of whoever wrote the line.
    fn broken(&self, problems: &[Problem]) -> Option<Failure> {
        let name = problems.iter().find_map(|problem| match &problem.kind {
            ProblemKind::UnknownSkill { name, .. } => Some(name.clone()),
            _ => None,
        })?;
        let path = deft_engine::broken_file(&self.snapshot, &name)?;
        Some(app::failure(&deft_engine::Error::BrokenSkill {
            name,
            path,
        }))
    }

    fn perform(&self, skill: &Skill, inputs: Object) -> Done<CommandResult> {
        let app = App::open(&self.global.workspace_of(self.roots))?;
        let start = StartRun {
            skill: skill.id.to_string(),
            inputs,
            cause: "cmd".to_owned(),
            key: None,
        };
        // A model sees no progress and answers no prompt.
        let alone = Global {
            quiet: true,
            no_input: true,
            ..self.global.clone()
        };
        let watched = Watch {
            steps: Vec::new(),
            yes: false,
            global: &alone,
            output: &Output::new(&alone),
        };
        let driven = watched.drive(&app, RunWork::Start(start))?;
        self.interrupted.set(driven.interrupted);
        let detail = driven.run.detail(&app)?;
        let (outcome, shown) = (detail.run.outcome, json!(detail));
        let result = app.engine.command_result(skill, &shown["outputs"]);
        app.close_unless(async move {
            let mut ends = driven.ends;
            ends.next().await
        });
        Ok(as_result(&shown, outcome, result))
    }

    fn print(&self, results: &[Answered], output: &Output) -> Done {
        let is_ok = |result: &CommandResult| result.status == CommandStatus::Ok;
        let worked = results.iter().all(|(_, result)| is_ok(result));
        if output.json {
            let shown: Vec<Value> = results
                .iter()
                .map(|(command, result)| {
                    let mut shown = json!(result);
                    shown["ok"] = json!(is_ok(result));
                    shown["command"] = json!(command);
                    shown
                })
                .collect();
            match shown.as_slice() {
                [only] => output.document(only)?,
                several => output.document(&json!({ "ok": worked, "results": several }))?,
            }
        } else {
            for (command, result) in results {
                let command = (results.len() > 1).then_some(command.as_str());
                say(command, result, output)?;
            }
        }
        let waits =
            |(_, result): &Answered| result.metadata.get("status") == Some(&json!("waiting"));
        Ok(match results {
            _ if self.interrupted.get() => ExitCode::from(INTERRUPTED),
            _ if worked => ExitCode::SUCCESS,
            [only] if waits(only) => ExitCode::from(5),
            _ => ExitCode::from(1),
        })
    }
}

/// What a command answered is data; why it did not is not. Among several, each result stands below its
/// command.
fn say(command: Option<&str>, result: &CommandResult, output: &Output) -> Done<()> {
    let head = command.map_or(String::new(), |command| format!("command: {command}\n"));
    if result.status == CommandStatus::Ok {
        return output.data(format!("{head}{}", result.content));
    }
    let message = result.content.strip_prefix("error: ");
    let message = message.unwrap_or(&result.content);
    output.complain(&format!("{head}error: {message}"));
    Ok(())
}

/// The line in which the reading stopped.
fn written(text: &str, problem: &Problem) -> String {
    let at = problem.span.as_ref().map_or(0, |span| span.start);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    line.trim().to_owned()
}

/// A run as the result of a command.
fn as_result(run: &Value, outcome: Option<Outcome>, given: CommandResult) -> CommandResult {
    let mut result = given;
    match (&run["outputs"], &run["error"]["message"]) {
        (_, Value::String(message)) => {
            let (code, hint) = (error_code(&run["error"]), run["error"]["hint"].as_str());
            result = error_result(&code, message, hint);
        }
        _ if outcome.is_none() => {
            let what = run["waiting_for"].as_str().unwrap_or("its turn");
            let id = run["id"].as_str().unwrap_or_default();
            let hint = format!(
                "`deft approvals list` shows what waits, `deft runs resume {id}` continues it"
            );
            let message = format!("run {id} waits for {what}");
            result = error_result("waiting", &message, Some(&hint));
        }
        (Value::Null, _) => "done".clone_into(&mut result.content),
        // People read it too.
        (outputs, _) if serde_json::from_str(&result.content).ok().as_ref() == Some(outputs) => {
            result.content = format!("{outputs:#}");
        }
        _ => {}
    }
    if !matches!(outcome, Some(Outcome::Success | Outcome::Skipped)) {
        result.status = CommandStatus::Error;
    }
    for (name, from) in [("run", "id"), ("outcome", "outcome"), ("status", "status")] {
        result.metadata.insert(name.to_owned(), run[from].clone());
    }
    result
}

fn error_code(error: &Value) -> String {
    let code = error["code"].as_str().or_else(|| error["class"].as_str());
    code.unwrap_or("error").to_owned()
}

fn failed(failure: &Failure) -> CommandResult {
    error_result(failure.code, &failure.message, failure.hint.as_deref())
}

/// A command that did not work, with the code that programs read (S2.44).
fn error_result(code: &str, message: &str, hint: Option<&str>) -> CommandResult {
    let below = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
    let mut result = CommandResult {
        status: CommandStatus::Error,
        ..CommandResult::ok(format!("error: {message}{below}"))
    };
    let error = json!({ "code": code, "message": message, "hint": hint });
    result.metadata.insert("errors".to_owned(), json!([error]));
    result
}

fn refusal(problems: &[Problem]) -> Failure {
    let code = problems.first().map_or("invalid_command", Problem::code);
    let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let hint = problems.iter().find_map(Problem::hint);
    let failure = Failure::input(code, messages.join("; ")).maybe_hint(hint);
    // The line is right; what it asks for is not there.
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
        None => "`deft cmd get_skill` lists what there is".to_owned(),
    };
    Failure::input(problem.code().word(), problem.to_string()).hint(hint)
}
