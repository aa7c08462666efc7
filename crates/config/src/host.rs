//! Runs programs of the host that deft queries: the keyring, crontab and the service manager.
//!
//! Programs are searched in `PATH` only and run with a timeout. Not here: tools and MCP servers.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::env;

/// The output of a program, and whether it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Whether the exit code is 0.
    pub ok: bool,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Returns the executable `name` in the first folder of `PATH` that has it.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::get(env::PATH)?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Runs a program with `input` as its stdin, and kills it after `timeout`.
pub fn run_program(
    program: &Path,
    args: &[&str],
    input: &str,
    timeout: Duration,
) -> Result<ProgramOutput, String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|problem| format!("`{name}` cannot be started: {problem}"))?;
    let out = exchange(child.stdin.take(), input, child.stdout.take());
    let err = collect(child.stderr.take());
    let Ok(out) = out.recv_timeout(timeout) else {
        end(&mut child);
        let seconds = timeout.as_secs();
        return Err(format!("`{name}` did not end within {seconds} s"));
    };
    let status = child
        .wait()
        .map_err(|problem| format!("lost `{name}`: {problem}"))?;
    Ok(ProgramOutput {
        ok: status.success(),
        out,
        err: err.recv_timeout(timeout).unwrap_or_default(),
    })
}

/// Starts a program with one argument without waiting for it. Returns false if it cannot be started.
pub(crate) fn start_program(program: &Path, argument: &OsStr) -> bool {
    let child = Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let started = child.is_ok();
    // Wait for it on another thread; otherwise it stays a zombie process.
    std::thread::spawn(move || drop(child.map(|mut child| child.wait())));
    started
}

/// Writes the input and collects the output on a separate thread: a hanging program blocks both.
fn exchange(
    stdin: Option<ChildStdin>,
    input: &str,
    stdout: Option<ChildStdout>,
) -> Receiver<String> {
    let (sender, receiver) = channel();
    let input = input.to_owned();
    std::thread::spawn(move || {
        // A program that ignores its input may close it; the write error does not matter.
        drop(stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        let _unheard = sender.send(stdout.map(read_all).unwrap_or_default());
    });
    receiver
}

fn collect(stderr: Option<ChildStderr>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let _unheard = sender.send(stderr.map(read_all).unwrap_or_default());
    });
    receiver
}

fn read_all(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    // Output before a broken pipe is still valid.
    drop(from.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn end(child: &mut Child) {
    // Fails if the process has exited meanwhile, which is fine.
    drop(child.kill());
    drop(child.wait());
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const SHELL: &str = "/bin/sh";

    fn shell(script: &str, input: &str, timeout: Duration) -> Result<ProgramOutput, String> {
        run_program(Path::new(SHELL), &["-c", script], input, timeout)
    }

    #[test]
    fn a_program_reads_its_input_and_returns_its_status() {
        let timeout = Duration::from_secs(30);
        let done = shell("cat; echo why >&2; exit 3", "hello", timeout).unwrap();
        let expected = ProgramOutput {
            ok: false,
            out: "hello".to_owned(),
            err: "why\n".to_owned(),
        };
        assert_eq!(done, expected);
    }

    #[test]
    fn a_hanging_program_is_killed() {
        let failed = shell("exec sleep 600", "", Duration::from_millis(50));
        assert_eq!(failed.unwrap_err(), "`sh` did not end within 0 s");
    }
}
