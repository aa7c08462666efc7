//! `deft cmd`: command lines, as a model would write them.

use std::cell::Cell;
use std::process::ExitCode;

use deft_command::{
    Command, CommandResult, CommandStatus, Line, Problem, ProblemKind, Routed, route, split,
};
use deft_engine::Fire;
use deft_model::{Body, Outcome};
use deft_registry::Snapshot;
use deft_registry::discovery::{Topic, Unknown, get_skill, help};
use serde_json::{Value, json};

use super::run::{INTERRUPTED, Watch};
use super::skills::stored::join;
use crate::app::{self, App};
use crate::args::{Global, Roots};
use crate::failure::{Done, Failure};
use crate::home::Library;
use crate::output::Output;

pub(crate) fn run(text: &str, global: &Global, roots: &Roots, output: &Output) -> Done {
    let lines = split(text);
    let library = Library::open(global, roots)?;
    let shell = Shell {
        snapshot: join(library.load(), global, roots)?,
        global,
        roots,
        interrupted: Cell::new(false),
    };
    match lines.as_slice() {
        [] => Err(
            Failure::input("invalid_command", "the command line is empty")
                .hint("try `deft cmd get_skill`"),
        ),
        [Ok(only)] => shell.single(only, output),
        [Err(problem)] => Err(refusal(std::slice::from_ref(problem))),
        several => shell.several(several, output),
    }
}

/// Where command lines find their skills.
struct Shell<'a> {
    snapshot: Snapshot,
    global: &'a Global,
    roots: &'a Roots,
    /// Somebody wanted the program to end.
    interrupted: Cell<bool>,
}

impl Shell<'_> {
    /// One line: its answer is the output, its failure is the failure of the command.
    fn single(&self, line: &Line, output: &Output) -> Done {
        let result = self.answer(line)?;
        self.print(&[result], output)
    }

    /// Several lines, in order; one that fails does not hide the others (S2.48).
    fn several(&self, lines: &[Result<Line, Problem>], output: &Output) -> Done {
        let results: Vec<CommandResult> = lines
            .iter()
            // Whoever wants the program to end does not want the rest.
            .take_while(|_| !self.interrupted.get())
            .map(|line| match line {
                Ok(line) => self.answer(line).unwrap_or_else(|failure| failed(&failure)),
                Err(problem) => CommandResult::refused(std::slice::from_ref(problem)),
            })
            .collect();
        self.print(&results, output)
    }

    fn answer(&self, line: &Line) -> Done<CommandResult> {
        let routed = route(line, |name| self.flags(name));
        let routed = routed
            .map_err(|problems| self.broken(&problems).unwrap_or_else(|| refusal(&problems)))?;
        match routed {
            Routed::GetSkill { topic } => get_skill(&self.snapshot, &Topic::parse(&topic))
                .map(CommandResult::ok)
                .map_err(|problem| unknown(&problem)),
            Routed::Command(command) if command.help => help(&self.snapshot, &command.skill_name)
                .map(CommandResult::ok)
                .map_err(|problem| unknown(&problem)),
            Routed::Command(command) => self.perform(command),
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

    /// The flags of a skill's page, so that a line can be read.
    fn flags(&self, name: &str) -> Result<Vec<deft_model::Flag>, Problem> {
        match self.snapshot.find(name) {
            Some(loaded) => Ok(match &loaded.skill.body {
                Body::Manual { text, .. } => deft_skillfile::flags(&text.read()),
                _ => Vec::new(),
            }),
            None => {
                let near = help(&self.snapshot, name).err();
                let near = near.and_then(|unknown| unknown.near().map(str::to_owned));
                Err(Problem::unknown_skill(name, near))
            }
        }
    }

    fn perform(&self, command: Command) -> Done<CommandResult> {
        let loaded = self.snapshot.find(&command.skill_name);
        if let Some(Body::Manual {
            handler: None,
            text,
        }) = loaded.map(|loaded| &loaded.skill.body)
        {
            return Ok(CommandResult::template(text.read()));
        }
        let app = App::open(self.global, self.roots)?;
        let plan = app.block_on(app.engine.plan(&command.skill_name));
        let plan = plan.map_err(|error| app::failure(&error))?;
        let fire = Fire {
            skill: command.skill_name,
            inputs: deft_engine::typed(command.flags, plan.inputs()),
            cause: "cmd".to_owned(),
            ..Fire::default()
        };
        // A model sees no progress and answers no prompt.
        let alone = Global {
            quiet: true,
            no_input: true,
            ..self.global.clone()
        };
        let engine = app.engine.clone();
        let watched = Watch {
            plan: Some(plan),
            yes: false,
            global: &alone,
            output: &Output::new(&alone),
        };
        let driven = watched.drive(&app, |attention| async move {
            engine.run(fire, attention).await
        })?;
        self.interrupted.set(driven.interrupted);
        let shown = app.block_on(app.engine.show(&driven.row));
        let shown = shown.map_err(|error| app::failure(&error))?;
        app.close_unless(driven.ends);
        Ok(result(&shown, driven.row.outcome))
    }

    fn print(&self, results: &[CommandResult], output: &Output) -> Done {
        let worked = results
            .iter()
            .all(|result| result.status == CommandStatus::Ok);
        if output.json {
            let shown: Vec<Value> = results
                .iter()
                .map(|result| {
                    let mut shown = json!(result);
                    shown["ok"] = json!(result.status == CommandStatus::Ok);
                    shown
                })
                .collect();
            match shown.as_slice() {
                [only] => output.document(only)?,
                several => output.document(&json!({ "ok": worked, "results": several }))?,
            }
        } else {
            for result in results {
                say(result, output)?;
            }
        }
        let waits =
            |result: &CommandResult| result.metadata.get("status") == Some(&json!("waiting"));
        Ok(match results {
            _ if self.interrupted.get() => ExitCode::from(INTERRUPTED),
            _ if worked => ExitCode::SUCCESS,
            [only] if waits(only) => ExitCode::from(5),
            _ => ExitCode::from(1),
        })
    }
}

/// What a command answered is data; why it did not is not.
fn say(result: &CommandResult, output: &Output) -> Done<()> {
    if result.status == CommandStatus::Ok {
        return output.data(&result.content);
    }
    let message = result.content.strip_prefix("error: ");
    let message = message.unwrap_or(&result.content);
    output.complain(&format!("error: {message}"));
    Ok(())
}

/// A run as the result of a command.
fn result(run: &Value, outcome: Option<Outcome>) -> CommandResult {
    let content = match (&run["outputs"], &run["error"]["message"]) {
        (_, Value::String(message)) => {
            let hint = run["error"]["hint"].as_str();
            hint.map_or_else(
                || message.clone(),
                |hint| format!("{message}\nhint: {hint}"),
            )
        }
        (Value::String(text), _) => text.clone(),
        _ if outcome.is_none() => {
            let what = run["waiting_for"].as_str().unwrap_or("its turn");
            let id = run["id"].as_str().unwrap_or_default();
            format!(
                "run {id} waits for {what}\nhint: `deft approvals list` shows what waits, `deft runs resume {id}` goes on"
            )
        }
        (Value::Null, _) => "done".to_owned(),
        (other, _) => format!("{other:#}"),
    };
    let mut result = CommandResult::ok(content);
    if !matches!(outcome, Some(Outcome::Success | Outcome::Skipped)) {
        result.status = CommandStatus::Error;
    }
    result.metadata.insert("run".to_owned(), run["id"].clone());
    result
        .metadata
        .insert("outcome".to_owned(), run["outcome"].clone());
    result
        .metadata
        .insert("status".to_owned(), run["status"].clone());
    result
}

fn failed(failure: &Failure) -> CommandResult {
    let hint = failure.hint.as_ref();
    let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
    CommandResult {
        status: CommandStatus::Error,
        ..CommandResult::ok(format!("error: {}{hint}", failure.message))
    }
}

fn refusal(problems: &[Problem]) -> Failure {
    let code = problems.first().map_or("invalid_command", Problem::code);
    let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let hint = problems.iter().find_map(Problem::hint);
    Failure::input(code, messages.join("; ")).maybe_hint(hint)
}

fn unknown(problem: &Unknown) -> Failure {
    let hint = match problem.near() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft cmd get_skill` lists what there is".to_owned(),
    };
    Failure::input(problem.code(), problem.to_string()).hint(hint)
}
