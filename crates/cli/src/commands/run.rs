//! `deft run`: runs a skill to its end and shows its steps.

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

/// The interval of the spinner.
const TURN: Duration = Duration::from_millis(120);

pub(crate) fn run(args: &Run, global: &Global, output: &Output) -> Done {
    let app = App::open_for(&args.name, &global.workspace_of(&args.roots))?;
    output.maybe_error_message(app.broken_warning(Some(&args.name)));
    let prepared = runs::prepare(&app, &args.name)
        .map_err(|unprepared| prepare_failure(unprepared, output))?;
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

/// Returns the failure to prepare a skill. If its file is broken, also prints the problems of the file.
fn prepare_failure(unprepared: PrepareError, output: &Output) -> Failure {
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
            Some(_) => format!("the daemon runs it; `deft runs show {id}` shows its progress"),
            None => format!("it is queued; `deft up` runs it, or `deft runs resume {id}`"),
        });
    }
    Ok(ExitCode::SUCCESS)
}

/// A run that this process drove.
pub(crate) struct FinishedDrive {
    pub run: DrivenRun,
    /// Whether a signal arrived before the run ended.
    pub interrupted: bool,
    /// The receiver of further signals.
    pub ends: EndSignals,
}

/// How to drive and display a run, for `run`, `runs resume` and `runs rerun`.
pub(crate) struct Watch<'a> {
    pub steps: Vec<PlannedStep>,
    pub yes: bool,
    pub global: &'a Global,
    pub output: &'a Output,
}

impl Watch<'_> {
    /// Drives a run, prints its outcome, and closes the app.
    pub(crate) fn drive_and_close(self, app: App, work: RunWork) -> Done {
        let output = self.output;
        let driven = self.drive(&app, work)?;
        let code = outcome::print(&app, &driven, output);
        app.close_or_interrupt(async move {
            let mut ends = driven.ends;
            ends.next().await
        });
        code
    }

    /// Drives a run to its end, draws its progress, and asks its questions.
    pub(crate) fn drive(self, app: &App, work: RunWork) -> Done<FinishedDrive> {
        let tree = Tree::new(self.steps, self.output.styles_stderr(), app.zone.clone());
        let screen = Screen::start(tree, self.output.json || self.output.quiet);
        let answers = Answers {
            asker: Prompt::new(screen.clone(), self.global)
                .map(|prompt| Arc::new(prompt) as Arc<_>),
            assume_yes: self.yes.then(|| "--yes".to_owned()),
        };
        let drive = runs::drive(app, work, answers)?;
        let (watched, ends) = app.block_on(async {
            let mut ends = EndSignals::listen();
            // Boxed because the future is large.
            let watched = Box::pin(watch(drive, &screen, &mut ends)).await;
            (watched, ends)
        });
        let (run, interrupted) = watched?;
        if run.is_existing() {
            self.output.note(&format!(
                "run {} already has this key; no new run was started",
                run.id()
            ));
        }
        Ok(FinishedDrive {
            run,
            interrupted,
            ends,
        })
    }
}

/// Drives a run and draws its progress. The first signal cancels the run; the second one leaves it without
/// waiting. Returns the run and whether a signal arrived.
async fn watch(
    mut drive: Drive,
    screen: &Screen,
    ends: &mut EndSignals,
) -> Done<(DrivenRun, bool)> {
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
                    return run.map(|run| (run, interrupted)).ok_or_else(interrupted_before_run);
                }
                interrupted = true;
                drive.cancel(by).await?;
            }
        }
    }
}

/// Signals that ask the process to end. They are received for the whole lifetime of this value: a signal that
/// arrives while nothing waits is returned by the next wait.
pub(crate) struct EndSignals {
    keys: Option<Signal>,
    signals: Option<Signal>,
}

impl EndSignals {
    fn listen() -> Self {
        Self {
            keys: signal(SignalKind::interrupt()).ok(),
            signals: signal(SignalKind::terminate()).ok(),
        }
    }

    /// Waits for the next signal and returns its name.
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

/// Returns the failure for a signal that arrived before the run began.
fn interrupted_before_run() -> Failure {
    let failure = Failure::input("interrupted", "interrupted before the run began");
    Failure {
        kind: FailureKind::Interrupted,
        ..failure
    }
}

/// Collects the inputs from the file, from `--input`, and from flags rewritten to `--input`.
fn inputs(args: &Run, skill: &PreparedSkill) -> Done<Object> {
    let mut inputs = match &args.file {
        Some(path) => read_file(path)?,
        None => Object::new(),
    };
    let mut given: Vec<(String, Vec<Value>)> = Vec::new();
    for pair in &args.inputs {
        let (name, value) = match pair.split_once('=') {
            Some((name, text)) => (name, skill.read_input(name, text)),
            None => (pair.as_str(), switch_value(pair, &args.name, skill)?),
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

/// Returns `true` for an input given without a value. Fails if the input is not a switch.
fn switch_value(name: &str, skill_name: &str, skill: &PreparedSkill) -> Done<Value> {
    let takes_value = |input: &InputName<'_>| input.name == name && !input.is_switch;
    if !skill.inputs().any(|input| takes_value(&input)) {
        return Ok(Value::Bool(true));
    }
    let failure = Failure::input("invalid_input", format!("`--{name}` has no value"));
    Err(failure.hint(format!("`deft run {skill_name} --{name} VALUE`")))
}

/// Fails if required inputs are missing. The message names them as they are typed.
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

/// Checks inputs whose names are flags of deft and that were not given with `--input`. Fails if such an input
/// is required; prints a hint if the flag was given.
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

/// Flattens a value into a list, so several values of one input form one list even if some are lists.
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
            "the inputs must be a JSON object, `{\"name\": value}`".to_owned(),
        )),
        Err(problem) => Err(wrong(format!("not JSON: {problem}"))),
    }
}

/// Returns the failure to read a file. For `<(command)` and `/dev/stdin`, which are not regular files, the
/// hint names the alternative.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "errors of other kinds are all reported the same way"
)]
fn unreadable(path: &Path, problem: &std::io::Error) -> Failure {
    let failure = Failure::file(path, "read", problem);
    match problem.kind() {
        std::io::ErrorKind::InvalidInput => failure.hint("`--inputs -` reads stdin"),
        _ => failure,
    }
}
