//! `deft run`: one run, from here to its end, with its steps on the screen.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Global, Run, is_own_flag, own_flag_hint};
use crate::commands::skills::validate::explain;
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::progress::{Screen, Tree};
use crate::prompt::Prompt;
use deft_service::runs::{
    self, Answers, Drive, DrivenRun, InputName, PlannedStep, PrepareError, PreparedSkill, RunWork,
    StartRun, Update,
};
use deft_service::{App, Lock};
use deft_wire::FailureKind;
use deft_wire::model::{Cause, Object};

mod dry;
pub(crate) mod help;
mod outcome;

pub(crate) use outcome::exit_code;

/// How often the spinner turns.
const TURN: Duration = Duration::from_millis(120);

/// The exit code of a program that was asked to end.
pub(crate) const INTERRUPTED: u8 = 130;

pub(crate) fn run(args: &Run, global: &Global, output: &Output) -> Done {
    let app = App::open_for(&args.name, &global.workspace_of(&args.roots))?;
    output.complain_if(app.broken_warning(Some(&args.name)));
    let prepared =
        runs::prepare(&app, &args.name).map_err(|unprepared| broken(unprepared, output))?;
    let inputs = inputs(args, &prepared)?;
    check_own_flags(&prepared, &inputs, output)?;
    check_missing(&args.name, &prepared, &inputs)?;
    if args.only_show {
        return dry::print(&runs::dry_run(&app, &args.name, &inputs)?, output);
    }
    let start = StartRun {
        skill: args.name.clone(),
        inputs,
        cause: Cause::Cli,
        key: args.key.clone(),
        origin: runs::caller_origin(),
    };
    if args.detach {
        let done = detach(&app, start, output);
        app.close();
        return done;
    }
    let watch = Watch {
        steps: prepared.steps(),
        yes: args.yes,
        global,
        output,
    };
    watch.drive_and_close(app, RunWork::Start(start))
}

/// The failure to find a skill. Of a broken file, what is wrong with it is shown.
fn broken(unprepared: PrepareError, output: &Output) -> Failure {
    let mut failure = unprepared.failure;
    if let Some(path) = unprepared.broken_file
        && let Some(why) = explain(&path, output)
    {
        failure.message = format!("{}: {why}", failure.message);
    }
    failure
}

fn detach(app: &App, start: StartRun, output: &Output) -> Done {
    let run = runs::queue(app, start)?;
    if output.json {
        output.document(&json!(run))?;
    } else {
        output.data(run.id.as_str())?;
        let id = &run.id;
        output.note(&match Lock::holder(app.home()) {
            Some(_) => format!("the daemon runs it; `deft runs show {id}` shows how it went"),
            None => format!("it is queued; `deft up` runs it, or `deft runs resume {id}`"),
        });
    }
    Ok(ExitCode::SUCCESS)
}

/// A run that was driven here.
pub(crate) struct Driven {
    pub run: DrivenRun,
    /// The program was asked to end before the run did.
    pub interrupted: bool,
    /// Signals that are still to come.
    pub ends: Ends,
}

/// The view of a run that is driven, here or by `runs resume` and `runs rerun`.
pub(crate) struct Watch<'a> {
    pub steps: Vec<PlannedStep>,
    pub yes: bool,
    pub global: &'a Global,
    pub output: &'a Output,
}

impl Watch<'_> {
    /// Drives a run, prints what became of it, and ends what was started for it.
    pub(crate) fn drive_and_close(self, app: App, work: RunWork) -> Done {
        let output = self.output;
        let driven = self.drive(&app, work)?;
        let code = outcome::print(&app, &driven, output);
        app.close_unless(async move {
            let mut ends = driven.ends;
            ends.next().await
        });
        code
    }

    /// Drives a run to its end, draws it, and asks what it asks.
    pub(crate) fn drive(self, app: &App, work: RunWork) -> Done<Driven> {
        let tree = Tree::new(self.steps, self.output.styles_stderr(), app.zone.clone());
        let screen = Screen::start(tree, self.output.json || self.output.quiet);
        let answers = Answers {
            asker: Prompt::new(screen.clone(), self.global)
                .map(|prompt| Arc::new(prompt) as Arc<_>),
            assume_yes: self.yes.then(|| "--yes".to_owned()),
        };
        let drive = runs::drive(app, work, answers)?;
        let (watched, ends) = app.block_on(async {
            let mut ends = Ends::listen();
            // In a box: it is large.
            let watched = Box::pin(watch(drive, &screen, &mut ends)).await;
            (watched, ends)
        });
        let (run, interrupted) = watched?;
        if run.is_existing() {
            self.output.note(&format!(
                "run {} has this key already; nothing was run again",
                run.id()
            ));
        }
        Ok(Driven {
            run,
            interrupted,
            ends,
        })
    }
}

/// Drives a run and draws it. The first signal to end cancels the run, the second one leaves it as it is.
/// Gives back whether there was one.
async fn watch(mut drive: Drive, screen: &Screen, ends: &mut Ends) -> Done<(DrivenRun, bool)> {
    let mut turn = tokio::time::interval(TURN);
    let mut interrupted = false;
    loop {
        tokio::select! {
            biased;
            update = drive.next() => match update? {
                Update::Progress(progress) => screen.apply(&progress),
                Update::Ended(run) => return Ok((run, interrupted)),
            },
            _ = turn.tick() => screen.tick(),
            by = ends.next() => {
                if interrupted || drive.run().is_none() {
                    let run = drive.leave().await?;
                    return run.map(|run| (run, interrupted)).ok_or_else(not_begun);
                }
                interrupted = true;
                drive.cancel(by).await?;
            }
        }
    }
}

/// Signals that ask the program to end. They are received from the first moment to the last: one that
/// comes while nothing waits for it is there when something does.
pub(crate) struct Ends {
    keys: Option<Signal>,
    signals: Option<Signal>,
}

impl Ends {
    fn listen() -> Self {
        Self {
            keys: signal(SignalKind::interrupt()).ok(),
            signals: signal(SignalKind::terminate()).ok(),
        }
    }

    /// Waits for the next one; gives its name.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            () = next_signal(&mut self.keys) => "ctrl-c",
            () = next_signal(&mut self.signals) => "a signal to end",
        }
    }
}

async fn next_signal(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// The program was asked to end before there was a run.
fn not_begun() -> Failure {
    let failure = Failure::input("interrupted", "interrupted before the run began");
    Failure {
        kind: FailureKind::Interrupted,
        ..failure
    }
}

/// Inputs from a file, from `--input`, and from flags that became `--input`.
fn inputs(args: &Run, skill: &PreparedSkill) -> Done<Object> {
    let mut inputs = match &args.file {
        Some(path) => read_file(path)?,
        None => Object::new(),
    };
    let mut given: Vec<(String, Vec<Value>)> = Vec::new();
    for pair in &args.inputs {
        let (name, value) = match pair.split_once('=') {
            Some((name, text)) => (name, skill.read_input(name, text)),
            None => (pair.as_str(), switched_on(pair, &args.name, skill)?),
        };
        match given.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => given.push((name.to_owned(), vec![value])),
        }
    }
    for (name, mut values) in given {
        let value = if values.len() == 1 {
            values.remove(0)
        } else {
            Value::Array(values.into_iter().flat_map(flat).collect())
        };
        inputs.insert(name, value);
    }
    Ok(inputs)
}

/// The value of an input that is named without one: only a switch has it.
fn switched_on(name: &str, skill_name: &str, skill: &PreparedSkill) -> Done<Value> {
    let takes_value = |input: &InputName<'_>| input.name == name && !input.is_switch;
    if !skill.inputs().any(|input| takes_value(&input)) {
        return Ok(Value::Bool(true));
    }
    let failure = Failure::input("invalid_input", format!("`--{name}` has no value"));
    Err(failure.hint(format!("`deft run {skill_name} --{name} VALUE`")))
}

/// Inputs without which the skill does not run are named as they are typed.
fn check_missing(name: &str, skill: &PreparedSkill, inputs: &Object) -> Done<()> {
    let missing = skill.inputs().filter(|input| input.needed);
    let missing: Vec<&str> = missing
        .map(|input| input.name)
        .filter(|input| !inputs.contains_key(*input))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let flags: Vec<String> = missing
        .iter()
        .map(|name| format!("--{name} VALUE"))
        .collect();
    let (noun, verb) = match missing.len() {
        1 => ("input", "is"),
        _ => ("inputs", "are"),
    };
    let message = format!("{noun} `{}` {verb} missing", missing.join("`, `"));
    let hint = format!(
        "`deft run {name} {}`; `deft run {name} --help` describes its inputs",
        flags.join(" ")
    );
    Err(Failure::input("invalid_input", message).hint(hint))
}

/// An input with the name of a flag of deft is given with `--input`: a flag given in its
/// place is reported.
fn check_own_flags(skill: &PreparedSkill, inputs: &Object, output: &Output) -> Done<()> {
    let shadowed = skill.inputs();
    let shadowed = shadowed.filter(|input| !inputs.contains_key(input.name));
    for input in shadowed.filter(|input| is_own_flag(input.name)) {
        let name = input.name;
        if input.needed {
            let failure = Failure::input("invalid_input", format!("input `{name}` is missing"));
            return Err(failure.hint(own_flag_hint(name)));
        }
        let flag = format!("--{name}");
        let given = |word: String| word == flag || word.starts_with(&format!("{flag}="));
        if name != "json" && std::env::args().any(given) {
            output.note(&own_flag_hint(name));
        }
    }
    Ok(())
}

/// Several values make one list, also where each was read as a list already.
fn flat(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => vec![other],
    }
}

fn read_file(path: &Path) -> Done<Object> {
    let text = if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        runs::read_input_file(path)
    };
    let text = text.map_err(|problem| unreadable(path, &problem))?;
    let wrong = |why: String| Failure::input("invalid_input", format!("{}: {why}", path.display()));
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(wrong(
            "inputs are a JSON object, `{\"name\": value}`".to_owned(),
        )),
        Err(problem) => Err(wrong(format!("not JSON: {problem}"))),
    }
}

/// `<(command)` and `/dev/stdin` are no regular files, and have another spelling.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "errors of other kinds are all reported the same way"
)]
fn unreadable(path: &Path, problem: &std::io::Error) -> Failure {
    let failure = Failure::file(path, "read", problem);
    match problem.kind() {
        std::io::ErrorKind::InvalidInput => failure.hint("`--inputs -` reads what is piped in"),
        _ => failure,
    }
}
