//! A confirmation, asked at the terminal.

use std::io::{self, IsTerminal, PipeReader, PipeWriter};
use std::sync::Arc;
use std::thread::JoinHandle;

use deft_service::ask::{Answer, Asker, Question, Responds, Response};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::{Mutex, oneshot};

use crate::args::Global;
use crate::output::terminal_width;
use crate::progress::Screen;
use crate::question_text::QuestionText;
use crate::terminal::Stream;

/// The display behind a question, which keeps still until the answer.
pub(crate) trait Stage: Send + Sync + 'static {
    fn pause(&self, paused: bool);
}

impl Stage for Screen {
    fn pause(&self, paused: bool) {
        Screen::pause(self, paused);
    }
}

/// The person at the terminal.
pub(crate) struct Prompt {
    stage: Arc<dyn Stage>,
    /// One question at a time: two prompts at once could get each other's answer.
    turn: Arc<Mutex<()>>,
}

impl Prompt {
    /// A person to ask, if there is a terminal and asking is allowed.
    pub(crate) fn new(stage: Arc<dyn Stage>, global: &Global) -> Option<Self> {
        let terminal = io::stdin().is_terminal() && Stream::Err.is_terminal();
        (terminal && !global.no_input && !global.json).then(|| Self {
            stage,
            turn: Arc::default(),
        })
    }
}

impl Asker for Prompt {
    fn ask(&self, question: Question) -> Responds {
        let stage = Arc::clone(&self.stage);
        let turn = Arc::clone(&self.turn);
        Box::pin(async move {
            let _turn = turn.lock().await;
            let _still = PausedStage::new(stage);
            let (asking, answer) = QuestionThread::begin(question)?;
            let answer = answer.await.ok().flatten();
            drop(asking);
            answer
        })
    }
}

/// Keeps a stage still as long as it lives, however the question ends.
struct PausedStage(Arc<dyn Stage>);

impl PausedStage {
    fn new(stage: Arc<dyn Stage>) -> Self {
        stage.pause(true);
        Self(stage)
    }
}

impl Drop for PausedStage {
    fn drop(&mut self) {
        self.0.pause(false);
    }
}

/// A question that a thread of its own asks. When the answer is not wanted any more the thread ends
/// before anything else happens, so that it takes no line of what follows.
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
        // It waits for a line or for this; a line that is there is read at once.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Waits until there is something to read; false if it is not wanted any more.
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
            // What is wrong with it is seen when it is read.
            Ok(_) | Err(_) => return true,
        }
    }
}

/// Asks until an answer is understood; the end of input is none.
fn read(question: &Question, off: &PipeReader) -> Option<Response> {
    let text = QuestionText::new(question, terminal_width().unwrap_or(80));
    let mut asked = first_text(&text, &choices(question));
    // Keys typed before the question could be read are no answer to it.
    let _emptied = tcflush(io::stdin(), QueueSelector::IFlush);
    loop {
        Stream::Err.write(&asked).ok()?;
        if !wait_for_input(off) {
            // The question is off; what follows begins a line.
            drop(Stream::Err.write("\n"));
            return None;
        }
        let mut line = String::new();
        if io::stdin().read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(response) = understood(&line, question) {
            if response.always {
                drop(Stream::Err.write(remembered(question)));
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

/// The question, its arguments and the choices. Without arguments all of it is one line.
fn first_text(text: &QuestionText, choices: &str) -> String {
    if text.short.is_empty() {
        return format!("{} [{choices}] ", text.heading);
    }
    let view = if text.is_cut() { " v shows all " } else { " " };
    let args = text.short.join("\n");
    format!("{}\n{args}\n[{choices}]{view}", text.heading)
}

/// The calls that a lasting yes allows.
fn remembered(question: &Question) -> String {
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

/// Whether a yes may hold for later: for all calls of the tool, or for this very operation.
fn may_remember(question: &Question) -> bool {
    let operation = &question.operation;
    let is_call = operation.name.is_some() && operation.args.is_some();
    operation.remember.is_some() || (is_call && operation.is_exact())
}

/// The answer in a line; none if it is no answer to this question.
fn understood(line: &str, question: &Question) -> Option<Response> {
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
            assert_eq!(understood(line, asked), expected, "{line}");
        }
    }
}
