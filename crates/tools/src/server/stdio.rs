//! A server that is a child process and speaks over its input and output.
//!
//! The process leads a group of its own and is ended as a group, because
//! runners such as `npx` start the real server as their child.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use deft_model::{Failure, FailureClass};
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::Server;
use super::fault::{MALFORMED, TOO_LARGE};
use super::given::Given;
use super::lines::{Line, Lines};
use super::watch::Watch;
use crate::builtin::{Bequest, kill_group, minimal_command};
use crate::redact::Redaction;

/// Room for everything in a message that is not the reply itself.
const ENVELOPE: usize = 64 * 1024;
/// Output that is no message, in a row, after which a server is given up.
const MOST_GARBAGE: usize = 64 * 1024 * 1024;
/// How long a server may take to end by itself once its input is closed.
const GRACE: Duration = Duration::from_secs(2);

/// The connection to a child process.
pub(super) struct Process {
    child: Child,
    group: u32,
    lines: Lines<ChildStdout>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    watch: Arc<Watch>,
    garbage: usize,
    /// Ends the group also when this process cannot.
    _bequest: Option<Bequest>,
}

impl Process {
    /// Starts the program.
    pub(super) fn start(
        server: &Server,
        program: &str,
        given: &Given,
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
        let mut child = command
            .spawn()
            .map_err(|error| not_started(&server.name, program, &error))?;
        let group = child.id().unwrap_or_default();
        watch.belongs_to(group);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Failure::new(
                FailureClass::Other,
                "the pipes of a child are missing",
            ));
        };
        tokio::spawn(listen(stderr, watch.clone(), given.redaction.clone()));
        Ok(Self {
            child,
            group,
            lines: Lines::new(stdout, server.max_reply_bytes + ENVELOPE),
            stdin: Arc::new(Mutex::new(Some(stdin))),
            watch,
            garbage: 0,
            _bequest: Bequest::new(group),
        })
    }

    /// A line as a message, if it is one.
    fn message(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let line = self.lines.line();
        if let Ok(message) = serde_json::from_slice(line) {
            self.garbage = 0;
            return Some(message);
        }
        self.garbage += line.len() + 1;
        // Something that answers a call of ours, in a form that is none.
        let id = serde_json::from_slice::<Value>(line).ok()?;
        let id = id
            .get("id")
            .filter(|_| id.get("method").is_none())?
            .as_i64()?;
        Some(refusal(
            id,
            MALFORMED,
            "the answer is not a message of the protocol",
        ))
    }

    /// The process ended, or closed its output; says how.
    async fn ended(&mut self) {
        let waited = tokio::time::timeout(Duration::from_millis(200), self.child.wait()).await;
        let how = match waited {
            Ok(Ok(status)) => format!("its process ended with {status}"),
            Ok(Err(_)) | Err(_) => "it closed its output".to_owned(),
        };
        self.watch.end(how);
    }
}

/// An answer that the server never gave in this form.
fn refusal(id: i64, code: i32, message: &'static str) -> RxJsonRpcMessage<RoleClient> {
    let error = ErrorData::new(ErrorCode(code), message, None);
    JsonRpcMessage::error(error, Some(RequestId::Number(id)))
}

fn not_started(name: &str, program: &str, error: &std::io::Error) -> Failure {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such program".to_owned(),
        _ => error.to_string(),
    };
    Failure::new(
        FailureClass::Network,
        format!("the server `{name}` could not be started: `{program}`: {reason}"),
    )
    .hint("check `command` and `cwd` in the configuration")
    .blocked()
}

/// Keeps the last of what the process writes to its error output.
async fn listen(stderr: ChildStderr, watch: Arc<Watch>, redaction: Redaction) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    // A line without an end must not grow without one.
    while let Ok(1..) = (&mut reader).take(4096).read_until(b'\n', &mut line).await {
        let text = String::from_utf8_lossy(&line);
        watch.heard(&redaction.text(&text));
        line.clear();
    }
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
                Line::Whole => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Line::Overlong(overlong) => {
                    self.garbage += overlong.bytes;
                    if let Some(id) = overlong.id() {
                        self.garbage = 0;
                        return Some(refusal(id, TOO_LARGE, "the reply is too large"));
                    }
                }
                Line::End => {
                    self.ended().await;
                    return None;
                }
            }
            if self.garbage > MOST_GARBAGE {
                self.watch
                    .end("it writes things to its output that are no messages");
                kill_group(self.group, Signal::KILL);
                return None;
            }
        }
    }

    /// Closes the input, which tells a server to end; then makes it.
    async fn close(&mut self) -> Result<(), Self::Error> {
        // Somebody may be stuck writing to a process that does not read.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            stdin.take();
        } else {
            kill_group(self.group, Signal::TERM);
        }
        for signal in [Signal::TERM, Signal::KILL] {
            if tokio::time::timeout(GRACE, self.child.wait()).await.is_ok() {
                break;
            }
            kill_group(self.group, signal);
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Also after the leader is gone: it may have left children behind.
        kill_group(self.group, Signal::KILL);
    }
}
