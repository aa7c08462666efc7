//! `deft run`: one run, from here to its end, with its steps on the screen.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deft_engine::{Admission, Attention, Engine, Error, Fire, run_json};
use deft_model::{FailureClass, Object, Outcome, RunId, RunStatus};
use deft_registry::read_text;
use deft_store::RunRow;
use deft_workflow::{Plan, read_input};
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Global, Run, is_own_flag, own_flag_hint};
use crate::commands::skills::validate::explain;
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::progress::{Screen, Tree, duration};
use crate::prompt::Prompt;
use deft_service::app::{self, App};
use deft_wire::FailureKind;

mod dry;

/// How often the spinner turns.
const TURN: Duration = Duration::from_millis(120);

/// The largest file with inputs.
const MAX_INPUTS: u64 = 64 * 1024 * 1024;

/// The exit code of a program that was asked to end.
pub(crate) const INTERRUPTED: u8 = 130;

pub(crate) fn run(args: &Run, global: &Global, output: &Output) -> Done {
    let app = App::open_for(&args.name, &global.workspace_of(&args.roots))?;
    output.complain_if(app.broken_warning(Some(&args.name)));
    let plan = app
        .block_on(app.engine.plan(&args.name))
        .map_err(|error| broken(&error, output))?;
    let inputs = inputs(args, &plan)?;
    check_own_flags(&plan, &inputs, output)?;
    if args.only_show {
        let shown = app.block_on(app.engine.dry_run(&args.name, &inputs));
        let shown = shown.map_err(|error| app::failure(&error))?;
        return dry::print(&shown, output);
    }
    let fire = Fire {
        skill: args.name.clone(),
        inputs,
        cause: "cli".to_owned(),
        key: args.key.clone(),
        ..Fire::default()
    };
    if args.detach {
        let done = detach(&app, fire, output);
        app.close();
        return done;
    }
    let engine = app.engine.clone();
    let watched = Watch {
        plan: Some(plan),
        yes: args.yes,
        global,
        output,
    };
    let driven = watched.drive(&app, |attention| async move {
        engine.run(fire, attention).await
    })?;
    let code = print(&app, &driven, output);
    app.close_unless(async move {
        let mut ends = driven.ends;
        ends.next().await
    });
    code
}

/// The failure to find a skill. Of a broken file, what is wrong with it is shown.
fn broken(error: &Error, output: &Output) -> Failure {
    let mut failure = app::failure(error);
    if let Error::BrokenSkill { path, .. } = error
        && let Some(why) = explain(Path::new(path), output)
    {
        failure.message = format!("{}: {why}", failure.message);
    }
    failure
}

fn detach(app: &App, fire: Fire, output: &Output) -> Done {
    let admitted = app.block_on(app.engine.admit(fire));
    let admitted = admitted.map_err(|error| app::failure(&error))?;
    let row = admitted.run();
    if output.json {
        output.document(&run_json(row))?;
    } else {
        output.data(row.id.as_str())?;
        output.note(&format!(
            "it is queued; `deft up` drives it, or `deft runs resume {}`",
            row.id
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A run that was driven here.
pub(crate) struct Driven {
    pub row: RunRow,
    /// Somebody wanted the program to end before the run did.
    pub interrupted: bool,
    /// Wishes that are still to come.
    pub ends: Ends,
}

/// What a person sees while a run is driven, here or by `runs resume` and `runs rerun`.
pub(crate) struct Watch<'a> {
    pub plan: Option<Arc<Plan>>,
    pub yes: bool,
    pub global: &'a Global,
    pub output: &'a Output,
}

impl Watch<'_> {
    /// Drives a run to its end, draws it, and asks what it asks.
    pub(crate) fn drive<F, W>(&self, app: &App, work: F) -> Done<Driven>
    where
        F: FnOnce(Attention) -> W,
        W: Future<Output = Result<Admission, Error>> + Send + 'static,
    {
        let tree = Tree::new(self.steps(), self.output.styles_stderr(), app.zone.clone());
        let screen = Screen::start(tree, self.output.json || self.output.quiet);
        let started = Arc::new(OnceLock::new());
        let attention = Attention {
            hear: None,
            asker: Prompt::new(screen.clone(), self.global)
                .map(|prompt| Arc::new(prompt) as Arc<_>),
            assume_yes: self.yes.then(|| "--yes".to_owned()),
            parks: false,
            admitted: Some(Arc::clone(&started)),
        };
        let (watched, ends) = app.block_on(async {
            let mut ends = Ends::listen();
            let work = work(attention);
            let watched = watch(&app.engine, &screen, &started, &mut ends, work).await;
            (watched, ends)
        });
        let (admitted, interrupted) = watched?;
        let row = match admitted {
            Admission::Existing(row) => {
                self.output.note(&format!(
                    "run {} has this key already; nothing was run again",
                    row.id
                ));
                row
            }
            Admission::Run(row) => row,
        };
        Ok(Driven {
            row,
            interrupted,
            ends,
        })
    }

    fn steps(&self) -> Vec<(String, String)> {
        let plan = self.plan.iter();
        plan.flat_map(|plan| plan.steps())
            .map(|step| (step.id.clone(), what(&step.kind)))
            .collect()
    }
}

fn what(kind: &deft_model::StepKind) -> String {
    match kind {
        deft_model::StepKind::Tool { tool, .. } => tool.clone(),
        deft_model::StepKind::Skill { skill, .. } => format!("skill {skill}"),
        deft_model::StepKind::Wait(deft_model::Wait::For(length)) => format!("wait {length}"),
        other => other.key().to_owned(),
    }
}

/// Drives a run and draws it. Says whether somebody wanted the program to end: the first wish
/// stops the run, the second one leaves it as it is.
async fn watch(
    engine: &Engine,
    screen: &Arc<Screen>,
    started: &OnceLock<RunId>,
    ends: &mut Ends,
    work: impl Future<Output = Result<Admission, Error>>,
) -> Done<(Admission, bool)> {
    let mut events = engine.subscribe();
    let mut turn = tokio::time::interval(TURN);
    let mut stopping = false;
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            event = events.recv() => if let Ok(event) = event {
                screen.apply(&event);
            },
            done = &mut work => {
                while let Ok(event) = events.try_recv() {
                    screen.apply(&event);
                }
                let done = done.map_err(|error| app::failure(&error))?;
                return Ok((done, stopping));
            }
            _ = turn.tick(), if screen.is_live() => screen.tick(),
            by = ends.next() => {
                let Some(run) = started.get() else {
                    return Err(interrupted());
                };
                if stopping {
                    let row = engine.store().run(run).await;
                    let row = row.map_err(|error| app::store(&error))?;
                    return row.map(|row| (Admission::Run(row), true)).ok_or_else(interrupted);
                }
                stopping = true;
                engine.cancel(run, by).await.map_err(|error| app::failure(&error))?;
            }
        }
    }
}

/// Wishes that the program may end. They are heard from the first moment to the last: one that
/// comes while nobody waits for it is there when somebody does.
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

    /// Waits for the next one; says what it was.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            () = heard(&mut self.keys) => "ctrl-c",
            () = heard(&mut self.signals) => "a signal to end",
        }
    }
}

async fn heard(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// The program was asked to end before there was a run.
fn interrupted() -> Failure {
    let failure = Failure::input("interrupted", "interrupted before the run began");
    Failure {
        kind: FailureKind::Interrupted,
        ..failure
    }
}

/// Inputs from a file, from `--input`, and from flags that became `--input`.
fn inputs(args: &Run, plan: &Plan) -> Done<Object> {
    let mut inputs = match &args.file {
        Some(path) => read_file(path)?,
        None => Object::new(),
    };
    let mut given: Vec<(String, Vec<Value>)> = Vec::new();
    for pair in &args.inputs {
        let (name, value) = match pair.split_once('=') {
            Some((name, text)) => (name, read_input(plan.inputs(), name, text)),
            None => (pair.as_str(), Value::Bool(true)),
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

/// An input with the name of a flag of deft is given with `--input`: a flag given in its
/// place is reported.
fn check_own_flags(plan: &Plan, inputs: &Object, output: &Output) -> Done<()> {
    let shadowed = plan.inputs().iter();
    let shadowed = shadowed.filter(|input| !inputs.contains_key(&input.name));
    for input in shadowed.filter(|input| is_own_flag(&input.name)) {
        let name = &input.name;
        if input.required && input.default.is_none() {
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
        other => vec![other],
    }
}

fn read_file(path: &Path) -> Done<Object> {
    let text = if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        read_text(path, MAX_INPUTS)
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
fn unreadable(path: &Path, problem: &std::io::Error) -> Failure {
    let failure = Failure::file(path, "read", problem);
    match problem.kind() {
        std::io::ErrorKind::InvalidInput => failure.hint("`--inputs -` reads what is piped in"),
        _ => failure,
    }
}

/// Prints what became of a run, and gives the exit code for it.
pub(crate) fn print(app: &App, driven: &Driven, output: &Output) -> Done {
    let row = &driven.row;
    let shown = app
        .block_on(app.engine.show(row))
        .map_err(|error| app::failure(&error))?;
    let code = if driven.interrupted {
        ExitCode::from(INTERRUPTED)
    } else {
        exit_code(row, &shown)
    };
    if output.json {
        output.document(&shown)?;
        return Ok(code);
    }
    say_outcome(row, &shown, output);
    match &shown["outputs"] {
        Value::Null => {}
        Value::String(text) => output.data(text)?,
        Value::Object(map) if map.is_empty() => {}
        other => output.document(other)?,
    }
    Ok(code)
}

fn say_outcome(row: &RunRow, shown: &Value, output: &Output) {
    let took = shown["duration_ms"].as_u64().map(Duration::from_millis);
    let took = took.map_or(String::new(), |took| format!(" after {}", duration(took)));
    match (row.status, row.outcome) {
        (RunStatus::Waiting, _) if lets_time_pass(shown) => {
            let what = row.waiting_for.as_deref().unwrap_or("something");
            output.note(&format!("run {} is parked for {what}", row.id));
            let id = &row.id;
            output.note(&format!(
                "hint: `deft up` or `deft tick` continues it then, `deft runs cancel {id}` ends it"
            ));
        }
        (RunStatus::Waiting, _) => {
            let what = row.waiting_for.as_deref().unwrap_or("something");
            output.complain(&format!("run {} waits for {what}", row.id));
            output.complain(&format!(
                "hint: `deft runs resume {}` asks here, `deft approvals list` shows what waits",
                row.id
            ));
        }
        (_, Some(outcome @ (Outcome::Success | Outcome::Skipped))) => {
            let why = shown["error"]["message"].as_str();
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            let line = format!("{outcome}{took}{why}  {}", row.id);
            if met_limit(shown) {
                output.complain(&line);
                let hint = shown["error"]["hint"].as_str();
                hint.iter()
                    .for_each(|hint| output.complain(&format!("hint: {hint}")));
            } else {
                output.note(&line);
            }
        }
        (_, Some(outcome)) => {
            let error = &shown["error"];
            let message = error["message"].as_str().unwrap_or_default();
            let step = error["step"].as_str();
            let place = step.map_or(String::new(), |step| format!(" in `{step}`"));
            output.complain(&format!("{outcome}{place}{took}: {message}  {}", row.id));
            if let Some(hint) = error["hint"].as_str() {
                output.complain(&format!("hint: {hint}"));
            }
            let hinted = error["hint"]
                .as_str()
                .is_some_and(|hint| hint.contains("resume"));
            let resumable = matches!(
                outcome,
                Outcome::Interrupted | Outcome::Error | Outcome::Cancelled
            );
            if resumable && !hinted {
                output.note(&format!("hint: {}", next_step(row, shown)));
            }
        }
        (RunStatus::Running, None) => {
            let id = &row.id;
            output.complain(&format!("interrupted: run {id} was left as it is"));
            output.complain(&format!(
                "hint: `deft runs show {id}` says how far it came, `deft runs resume {id}` goes on"
            ));
        }
        (status, None) => output.note(&format!("run {} is {status}", row.id)),
    }
}

/// What can be done about a run that failed. What is wrong with the skill itself fails again however
/// often the run is resumed.
fn next_step(row: &RunRow, shown: &Value) -> String {
    let (id, error) = (&row.id, &shown["error"]);
    let class = &error["class"];
    let of_skill = *class == json!(FailureClass::Invalid) || *class == json!(FailureClass::Limit);
    let step = error["step"].as_str();
    let step = step.and_then(|step| step.split(['/', '[']).next());
    match step.filter(|_| of_skill) {
        Some(step) => {
            format!("once that is mended, `deft runs rerun {id} --from {step}` goes on from there")
        }
        None if of_skill => format!("once that is mended, `deft runs rerun {id}` runs it again"),
        None => format!("`deft runs resume {id}` goes on from there"),
    }
}

/// Whether a run waits because a step of it lets time pass.
fn lets_time_pass(shown: &Value) -> bool {
    let mut steps = shown["steps"].as_array().into_iter().flatten();
    let answer = shown["waiting_for"]
        .as_str()
        .is_some_and(|what| what.starts_with("an answer"));
    !answer && steps.any(|step| step["type"] == "wait" && step["status"] == "waiting")
}

pub(crate) fn exit_code(row: &RunRow, shown: &Value) -> ExitCode {
    let code = match (row.status, row.outcome) {
        (RunStatus::Waiting, _) if lets_time_pass(shown) => 0,
        (RunStatus::Waiting, _) => 5,
        (_, Some(Outcome::Error)) if met_limit(shown) => 6,
        (_, None | Some(Outcome::Success | Outcome::Skipped)) => 0,
        (_, Some(_)) => 1,
    };
    ExitCode::from(code)
}

/// Whether a run ended at a limit of steps, repetitions or money.
fn met_limit(shown: &Value) -> bool {
    let class = &shown["error"]["class"];
    *class == json!(FailureClass::Limit) || *class == json!(FailureClass::Budget)
}
