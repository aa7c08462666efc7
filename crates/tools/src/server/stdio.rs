//! A server that is a child process and communicates over stdin and stdout.
//!
//! It is ended together with all processes that it started, because runners such as `npx` start the
//! real server as their child.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use deft_model::{Failure, FailureClass};
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rustix::process::Signal;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::Server;
use super::fault::{MALFORMED, TOO_LARGE};
use super::lines::{Line, Lines};
use super::message::{self, ParsedMessage};
use super::resolved::ResolvedOptions;
use super::stderr;
use super::watch::Watch;
use crate::process::{Owner, minimal_command};

/// Room for the parts of a message around the reply itself, in bytes.
const ENVELOPE: usize = 64 * 1024;
/// The number of consecutive bytes of invalid output after which the server is killed.
const MAX_INVALID_BYTES: usize = 64 * 1024 * 1024;
/// How long a server may take to exit after its stdin was closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The transport to a child process.
pub(super) struct Process {
    child: Child,
    /// Kills all processes that the server started, at the latest when this is dropped.
    owner: Arc<Owner>,
    lines: Lines<ChildStdout>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    watch: Arc<Watch>,
    garbage: usize,
}

impl Process {
    /// Starts the program.
    pub(super) fn start(
        server: &Server,
        program: &str,
        given: &ResolvedOptions,
        watch: Arc<Watch>,
    ) -> Result<Self, Failure> {
        let options = &server.options;
        let mut command = minimal_command(program, &server.environment);
        command
            .args(&options.args)
            .envs(given.env.iter().map(|(name, text)| (name, text.expose())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &options.cwd {
            command.current_dir(folder);
        }
        let (owner, mut child) = Owner::start(&mut command)
            .map_err(|error| not_started(&server.name, program, &error))?;
        let owner = Arc::new(owner);
        watch.set_owner(&owner);
        let (Some(stdin), Some(stdout), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Failure::new(
                FailureClass::Other,
                "the pipes of a child are missing",
            ));
        };
        tokio::spawn(stderr::listen(
            errors,
            watch.clone(),
            given.redaction.clone(),
        ));
        Ok(Self {
            child,
            owner,
            lines: Lines::new(stdout, server.max_reply_bytes + ENVELOPE),
            stdin: Arc::new(Mutex::new(Some(stdin))),
            watch,
            garbage: 0,
        })
    }

    /// Ends the connection and kills the process; every call in flight fails with this reason.
    fn give_up(&mut self, reason: &str) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.watch.end(reason);
        self.owner.kill();
        None
    }

    /// Records how the process ended, or that it closed its output.
    async fn record_end(&mut self) {
        let waited = tokio::time::timeout(Duration::from_millis(200), self.child.wait()).await;
        let how = match waited {
            Ok(Ok(status)) => format!("its process ended with {status}"),
            Ok(Err(_)) | Err(_) => "it closed its output".to_owned(),
        };
        self.watch.end(how);
    }
}

/// Returns an error reply in place of one that cannot be read.
fn refusal(id: i64, code: i32, message: &'static str) -> RxJsonRpcMessage<RoleClient> {
    let error = ErrorData::new(ErrorCode(code), message, None);
    JsonRpcMessage::error(error, Some(RequestId::Number(id)))
}

fn not_started(name: &str, program: &str, error: &std::io::Error) -> Failure {
    let reason = if error.kind() == std::io::ErrorKind::NotFound {
        "the program does not exist".to_owned()
    } else {
        error.to_string()
    };
    Failure::new(
        FailureClass::Network,
        format!("the server `{name}` could not be started: `{program}`: {reason}"),
    )
    .hint("check `command` and `cwd` in the configuration")
    .mark_blocked()
}

impl Transport<RoleClient> for Process {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (stdin, watch) = (self.stdin.clone(), self.watch.clone());
        async move {
            let mut bytes = serde_json::to_vec(&item)?;
            bytes.push(b'\n');
            let mut stdin = stdin.lock().await;
            let written = match stdin.as_mut() {
                Some(stdin) => stdin.write_all(&bytes).await,
                None => Err(std::io::ErrorKind::NotConnected.into()),
            };
            if written.is_err() {
                watch.end("its process ended, or closed its input");
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.lines.next().await {
                Line::Whole => match message::read(self.lines.line()) {
                    ParsedMessage::Message(message) => {
                        self.garbage = 0;
                        return Some(*message);
                    }
                    ParsedMessage::BadReply(problem, Some(id)) => {
                        return Some(refusal(id, MALFORMED, problem.words()));
                    }
                    // Some call waits for this reply, and its id is unknown.
                    ParsedMessage::BadReply(problem, None) => {
                        let reason = format!("{}, and its `id` cannot be read", problem.words());
                        return self.give_up(&reason);
                    }
                    ParsedMessage::Noise => self.garbage += self.lines.line().len() + 1,
                },
                Line::Overlong(overlong) => {
                    self.garbage += overlong.bytes;
                    if let Some(id) = overlong.id() {
                        self.garbage = 0;
                        return Some(refusal(id, TOO_LARGE, "the reply is too large"));
                    }
                    if overlong.is_reply() {
                        return self.give_up("a reply without an `id` is too large");
                    }
                }
                Line::End => {
                    self.record_end().await;
                    return None;
                }
            }
            if self.garbage > MAX_INVALID_BYTES {
                return self.give_up(
                    "its stdout contains too much data that is not a protocol \
                     message",
                );
            }
        }
    }

    /// Closes stdin, which asks the server to exit; then sends signals.
    async fn close(&mut self) -> Result<(), Self::Error> {
        // A writer may be blocked by a process that does not read.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            stdin.take();
        } else {
            self.owner.signal_group(Signal::TERM);
        }
        for signal in [Signal::TERM, Signal::KILL] {
            if tokio::time::timeout(EXIT_TIMEOUT, self.child.wait())
                .await
                .is_ok()
            {
                break;
            }
            self.owner.signal_group(signal);
        }
        Ok(())
    }
}
