//! Approvals, asked at the terminal.

use std::io::{self, IsTerminal, PipeReader, PipeWriter};
use std::sync::Arc;
use std::thread::JoinHandle;

use deft_service::ask::{Answer, Asker, PendingResponse, Question, Response};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::{Mutex, oneshot};

use crate::args::Global;
use crate::output::terminal_width;
use crate::progress::Screen;
use crate::question_text::QuestionText;
use crate::terminal::Stream;

/// A display that stops drawing while a question is asked.
pub(crate) trait Pausable: Send + Sync + 'static {
    fn pause(&self, paused: bool);
}

impl Pausable for Screen {
    fn pause(&self, paused: bool) {
        Screen::pause(self, paused);
    }
}

/// Asks the person at the terminal.
pub(crate) struct Prompt {
    stage: Arc<dyn Pausable>,
    /// Serialises questions: two prompts at once could receive each other's answer.
    turn: Arc<Mutex<()>>,
}

impl Prompt {
    /// Returns `None` without a terminal, or if the options do not allow questions.
    pub(crate) fn new(stage: Arc<dyn Pausable>, global: &Global) -> Option<Self> {
        let terminal = io::stdin().is_terminal() && Stream::Err.is_terminal();
        (terminal && !global.no_input && !global.json).then(|| Self {
            stage,
            turn: Arc::default(),
        })
    }
}

impl Asker for Prompt {
    fn ask(&self, question: Question) -> PendingResponse {
        let stage = Arc::clone(&self.stage);
        let turn = Arc::clone(&self.turn);
        Box::pin(async move {
            let _turn = turn.lock().await;
            let _still = PauseGuard::new(stage);
            let (asking, answer) = QuestionThread::begin(question)?;
            let answer = answer.await.ok().flatten();
            drop(asking);
            answer
        })
    }
}

/// Pauses a stage until it is dropped, however the question ends.
struct PauseGuard(Arc<dyn Pausable>);

impl PauseGuard {
    fn new(stage: Arc<dyn Pausable>) -> Self {
        stage.pause(true);
        Self(stage)
    }
}

impl Drop for PauseGuard {
    fn drop(&mut self) {
        self.0.pause(false);
    }
}

/// A question asked on its own thread. Dropping it cancels the question and joins the thread, so the thread
/// cannot consume input meant for whatever comes next.
struct QuestionThread {
    wanted: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl QuestionThread {
    fn begin(question: Question) -> Option<(Self, oneshot::Receiver<Option<Response>>)> {
        let (off, wanted) = io::pipe().ok()?;
        let (reply, answer) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let _unheard = reply.send(read(&question, &off));
        });
        let asking = Self {
            wanted: Some(wanted),
            thread: Some(thread),
        };
        Some((asking, answer))
    }
}

impl Drop for QuestionThread {
    fn drop(&mut self) {
        drop(self.wanted.take());
        // The thread waits for a line or for the end of this pipe, and reads a pending line without blocking.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Waits for input on stdin. Returns false if the question was cancelled.
fn wait_for_input(off: &PipeReader) -> bool {
    let stdin = io::stdin();
    loop {
        let mut ready = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(off, PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => {}
            Ok(_) if !ready[1].revents().is_empty() => return false,
            // The read that follows reports the error.
            Ok(_) | Err(_) => return true,
        }
    }
}

/// Asks until the answer is valid. Returns `None` at the end of input or if the question was cancelled.
fn read(question: &Question, off: &PipeReader) -> Option<Response> {
    let text = QuestionText::new(question, terminal_width().unwrap_or(80));
    let mut asked = first_text(&text, &choices(question));
    // Keys typed before the question was shown are not an answer to it.
    let _emptied = tcflush(io::stdin(), QueueSelector::IFlush);
    loop {
        Stream::Err.write(&asked).ok()?;
        if !wait_for_input(off) {
            // The question was cancelled; later output begins on a new line.
            drop(Stream::Err.write("\n"));
            return None;
        }
        let mut line = String::new();
        if io::stdin().read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(response) = parse_answer(&line, question) {
            if response.always {
                drop(Stream::Err.write(describe_remembered(question)));
            }
            return Some(response);
        }
        asked = if line.trim() == VIEW && text.is_cut() {
            format!("{}\n[{}] ", text.full.join("\n"), choices(question))
        } else {
            first_text(&text, &choices(question))
        };
    }
}

/// The key that shows all arguments.
const VIEW: &str = "v";

/// Returns the question, its arguments and the choices; without arguments, on one line.
fn first_text(text: &QuestionText, choices: &str) -> String {
    if text.short.is_empty() {
        return format!("{} [{choices}] ", text.heading);
    }
    let view = if text.is_cut() { " v shows all " } else { " " };
    let args = text.short.join("\n");
    format!("{}\n{args}\n[{choices}]{view}", text.heading)
}

/// Describes the calls that the answer `always` allows.
fn describe_remembered(question: &Question) -> String {
    let what = match &question.operation.remember {
        Some(mark) => format!("all calls of `{}` in chats are", mark.tool),
        None => "this call with these arguments is".to_owned(),
    };
    format!("{what} allowed from now on; `deft approvals grants` lists it\n")
}

fn choices(question: &Question) -> String {
    let yes_no = if question.default { "Y/n" } else { "y/N" };
    let always = if may_remember(question) {
        "/always"
    } else {
        ""
    };
    format!("{yes_no}{always}/skip")
}

/// Whether the answer `always` is possible: for all calls of the tool, or for exactly this operation.
fn may_remember(question: &Question) -> bool {
    let operation = &question.operation;
    let is_call = operation.name.is_some() && operation.args.is_some();
    operation.remember.is_some() || (is_call && operation.is_exact())
}

/// Parses an answer. Returns `None` if it is not a valid answer to `question`.
fn parse_answer(line: &str, question: &Question) -> Option<Response> {
    Some(match line.trim().to_lowercase().as_str() {
        "" if question.default => Answer::Yes.into(),
        "y" | "yes" => Answer::Yes.into(),
        "a" | "always" if may_remember(question) => Response {
            answer: Answer::Yes,
            always: true,
        },
        "" | "n" | "no" => Answer::No.into(),
        "s" | "skip" => Answer::Skip.into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use deft_service::ask::{Operation, StepPath, ToolMark};
    use deft_wire::model::RunId;

    use super::*;

    fn question(remember: Option<ToolMark>) -> Question {
        Question {
            approval: "apr_1".to_owned(),
            run: RunId::new("run_1"),
            path: StepPath::from_text("agent"),
            message: "Call `post`?".to_owned(),
            default: false,
            operation: Operation {
                remember,
                ..Operation::default()
            },
        }
    }

    #[test]
    fn always_is_offered_where_a_call_can_be_remembered() {
        let mark = ToolMark {
            tool: "desk.post".to_owned(),
            digest: "d".to_owned(),
        };
        let always = Response {
            answer: Answer::Yes,
            always: true,
        };
        let (once, tool) = (question(None), question(Some(mark)));
        let mut exact = question(None);
        exact.operation.name = Some("post".to_owned());
        exact.operation.kind = "tool".to_owned();
        assert_eq!(choices(&exact), "y/N/skip", "its arguments are not known");
        exact.operation.args = Some(serde_json::json!({}));
        assert_eq!(choices(&exact), "y/N/always/skip");
        assert_eq!(choices(&once), "y/N/skip");
        assert_eq!(choices(&tool), "y/N/always/skip");
        for (line, asked, expected) in [
            ("y\n", &once, Some(Answer::Yes.into())),
            ("always\n", &once, None),
            ("Always\n", &tool, Some(always)),
            ("a\n", &tool, Some(always)),
            ("yes\n", &tool, Some(Answer::Yes.into())),
            ("\n", &tool, Some(Answer::No.into())),
            ("what\n", &tool, None),
        ] {
            assert_eq!(parse_answer(line, asked), expected, "{line}");
        }
    }
}
