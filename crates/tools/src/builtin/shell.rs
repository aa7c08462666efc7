//! `shell.run`: a program of the host, if the configuration enables it.
//!
//! Not a sandbox: enabling it trusts the skills with the account. It only limits time, output and
//! environment. With a list of programs (`tools.shell.allow`), `programs.rs` decides which file a name
//! refers to, and `variables.rs` which variables a caller may set.

use std::process::Stdio;
use std::time::Duration;

use deft_model::{Effects, Failure, FailureClass, Object, clip};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::folder::existing_path;
use super::programs::Programs;
use super::{BuiltinTool, Context, Definition, Settings, handler, invalid, variables};
use crate::classify;
use crate::environment::Environment;
use crate::limit::words;
use crate::options::{Options, ShellOptions};
use crate::process::{Owner, minimal_command};

pub(super) fn tool(settings: &Settings, environment: &Environment) -> BuiltinTool {
    let definition = Definition::new(
        "shell.run",
        "Run a program and return its output. A list is a program with arguments, a string is a line for `sh`.",
        Effects::Once,
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["command"],
            "properties": {
                "command": {"anyOf": [
                    {"type": "string", "minLength": 1},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1}
                ]},
                "cwd": {"type": "string", "description": "A folder that is open to the `file` tools"},
                "stdin": {"type": "string"},
                "env": {"type": "object", "additionalProperties": {"type": "string"}},
                "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds"},
                "check": {"type": "boolean", "description": "Whether a non-zero exit code is a failure (default true)"}
            }
        }),
    )
    // The effects depend on the program.
    .destructive();
    let (settings, environment) = (settings.clone(), environment.clone());
    let programs = Programs::default();
    programs.look_up_all(&settings.load().shell.allow, &environment);
    let run = handler(move |arguments: Object, context: Context| {
        let (options, environment) = (settings.load_full(), environment.clone());
        let programs = programs.clone();
        async move {
            let argv = argv(&options.shell, &arguments)?;
            let mut command = command(&argv, &options.shell, &environment, &programs)?;
            prepare(&mut command, &options, &arguments)?;
            run(command, &argv[0], &options, &arguments, context).await
        }
    });
    BuiltinTool::new(definition, run).only_if(
        |options| options.shell.enabled,
        "`deft config set tools.shell.enabled true` enables it",
    )
}

/// Returns the command for a program and its arguments. With a list of programs, only the file bound to
/// an entry of the list can run.
fn command(
    argv: &[String],
    options: &ShellOptions,
    environment: &Environment,
    programs: &Programs,
) -> Result<Command, Failure> {
    let mut command = if options.allow.is_empty() {
        minimal_command(&argv[0], environment)
    } else {
        let program = programs.find_allowed(&argv[0], &options.allow, environment)?;
        let mut command = minimal_command(program.file, environment);
        command.arg0(program.found);
        command
    };
    command.args(&argv[1..]);
    Ok(command)
}

async fn run(
    mut command: Command,
    program: &str,
    options: &Options,
    arguments: &Object,
    context: Context,
) -> Result<Value, Failure> {
    let (owner, child) = Owner::start(&mut command).map_err(|error| {
        Failure::new(
            FailureClass::NotFound,
            format!("`{program}` could not be started: {error}"),
        )
    })?;
    let input = arguments
        .get("stdin")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let allowed = allowed_time(options, arguments).min(context.allowed);
    tokio::select! {
        output = collect(child, input, options.shell.max_bytes) => {
            // Background processes that the program started may keep running.
            owner.release();
            verdict(program, &output?, arguments)
        }
        () = tokio::time::sleep(allowed) => Err(Failure::new(
            FailureClass::Timeout,
            format!("`{program}` did not end within {}", words(allowed)),
        ).hint("raise `timeout`, up to `tools.shell.timeout`").in_doubt()),
        () = context.cancel.cancelled() => Err(Failure::new(
            FailureClass::Cancelled,
            format!("`{program}` was stopped"),
        ).in_doubt()),
    }
}

fn argv(options: &ShellOptions, arguments: &Object) -> Result<Vec<String>, Failure> {
    if !options.enabled {
        return Err(
            Failure::new(FailureClass::NotFound, "`shell.run` is disabled")
                .hint("`deft config set tools.shell.enabled true` enables it")
                .mark_blocked(),
        );
    }
    let argv: Vec<String> = match arguments.get("command") {
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Some(Value::String(line)) if options.allow.is_empty() => {
            vec!["sh".to_owned(), "-c".to_owned(), line.clone()]
        }
        _ => {
            return Err(
                invalid("command lines are not allowed; only listed programs are")
                    .hint("give `command` as a list, or clear `tools.shell.allow`"),
            );
        }
    };
    if argv.first().is_none_or(String::is_empty) {
        return Err(invalid("`command` names no program").hint("give the program first"));
    }
    Ok(argv)
}

fn prepare(command: &mut Command, options: &Options, arguments: &Object) -> Result<(), Failure> {
    let cwd = match arguments.get("cwd").and_then(Value::as_str) {
        Some(given) => Some(existing_path(&options.file, given)?),
        None => options.file.folders.first().cloned(),
    };
    command.current_dir(cwd.unwrap_or_else(std::env::temp_dir));
    for (name, value) in arguments
        .get("env")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let value = value.as_str().unwrap_or_default();
        variables::check(name, value)?;
        command.env(name, value);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(())
}

fn allowed_time(options: &Options, arguments: &Object) -> Duration {
    let asked = arguments.get("timeout").and_then(Value::as_f64);
    let asked = asked.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    asked.map_or(options.shell.timeout, |asked| {
        asked.min(options.shell.timeout)
    })
}

struct Output {
    code: Option<i32>,
    stdout: (Vec<u8>, bool),
    stderr: (Vec<u8>, bool),
}

async fn collect(mut child: Child, input: Option<String>, most: usize) -> Result<Output, Failure> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async move {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program may ignore its input.
            drop(stdin.write_all(input.as_bytes()).await);
        }
    };
    let ((), stdout, stderr) =
        tokio::join!(feed, read_capped(stdout, most), read_capped(stderr, most));
    let status = child.wait().await.map_err(|error| {
        Failure::new(
            FailureClass::Other,
            format!("cannot read the exit status of the program: {error}"),
        )
    })?;
    Ok(Output {
        code: status.code(),
        stdout,
        stderr,
    })
}

/// Reads to the end and keeps the first `most` bytes; stopping early would block the writer. Returns
/// whether bytes were dropped.
async fn read_capped(from: Option<impl AsyncRead + Unpin>, most: usize) -> (Vec<u8>, bool) {
    let (mut kept, mut cut) = (Vec::new(), false);
    let Some(mut from) = from else {
        return (kept, cut);
    };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let room = most.saturating_sub(kept.len());
        cut |= count > room;
        kept.extend_from_slice(&buffer[..count.min(room)]);
    }
    (kept, cut)
}

fn verdict(program: &str, output: &Output, arguments: &Object) -> Result<Value, Failure> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout.0), text(&output.stderr.0));
    let check = arguments
        .get("check")
        .and_then(Value::as_bool)
        .unwrap_or(true);
    if check && output.code != Some(0) {
        let how = output
            .code
            .map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        let output = if stderr.trim().is_empty() {
            &stdout
        } else {
            &stderr
        };
        let output = clip(output.trim(), 500);
        return Err(Failure::new(
            classify::text(&output),
            format!("`{program}` ended with {how}: {output}"),
        ));
    }
    Ok(json!({
        "exit_code": output.code,
        "stdout": stdout,
        "stderr": stderr,
        "truncated": output.stdout.1 || output.stderr.1,
    }))
}
