//! The display of an answer in progress: streamed text, calls as lines, and a progress line at the bottom.
//!
//! Only the progress line is ever erased.

use super::echo::KeyEcho;
use super::lines::{self, Mark};
use super::spinner::Spinner;
use crate::output::Output;
use crate::progress::MessageSink;
use crate::prompt::Pausable;
use crate::terminal::{Stream, StyledText};
use deft_service::markdown::Renderer;
use deft_service::talk::Live;
use deft_wire::chat::ChatAnswer;
use deft_wire::model::{Object, RunStatus};
use parking_lot::{Mutex, MutexGuard};

/// The outputs of a chat and their style.
pub(super) struct ChatOutput {
    /// Receives answers.
    pub answers: Box<dyn Sink>,
    /// Receives everything else.
    pub beside: Box<dyn Sink>,
    /// Whether answers are styled.
    pub styled: bool,
    /// Whether other lines are coloured.
    pub color: bool,
    /// Returns the current width of the terminal.
    pub width: fn() -> Option<usize>,
    /// What is shown besides answers.
    pub much: Verbosity,
}

/// A destination for text: a stream, or a buffer in a test.
pub(super) trait Sink: Send {
    /// Writes the text. Errors are ignored.
    fn put(&mut self, text: StyledText);
}

impl Sink for Stream {
    fn put(&mut self, text: StyledText) {
        drop(self.write(text));
    }
}

/// What is shown besides answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verbosity {
    /// Events, and a progress line at the bottom.
    Live,
    /// Only events.
    Lines,
    /// Only errors.
    Errors,
}

impl ChatOutput {
    /// Returns the look for stdout and stderr.
    pub(super) fn new(output: &Output) -> Self {
        let color = output.styles_stderr();
        Self {
            answers: Box::new(Stream::Out),
            beside: Box::new(Stream::Err),
            styled: output.styles_stdout(),
            color,
            width: stdout_width,
            much: match output.quiet {
                true => Verbosity::Errors,
                // A terminal without colours may not be able to erase a line either.
                false if Stream::Err.is_terminal() && color => Verbosity::Live,
                false => Verbosity::Lines,
            },
        }
    }
}

/// The display of a chat.
pub(super) struct View(Mutex<State>);

struct State {
    look: ChatOutput,
    text: Renderer,
    /// The text since the last call; empty if the model started again.
    segment: String,
    calls: Vec<OpenCall>,
    /// Whether an answer is in progress.
    busy: bool,
    paused: bool,
    spinner: Spinner,
    /// Whether the progress line is drawn.
    drawn: bool,
    /// Prints above the line being edited.
    printer: Option<Printer>,
    /// Messages of other code, held until the current answer or question ends.
    held: Vec<String>,
    typing: KeyEcho,
}

/// A function that prints text above the line being edited.
pub(super) type Printer = Box<dyn FnMut(String) + Send>;

/// A call in flight.
struct OpenCall {
    tool: String,
    args: Object,
    depth: usize,
}

impl View {
    pub(super) fn new(look: ChatOutput) -> Self {
        let text = Renderer::new(look.styled, (look.width)());
        Self(Mutex::new(State {
            look,
            text,
            segment: String::new(),
            calls: Vec::new(),
            busy: false,
            paused: false,
            spinner: Spinner::default(),
            drawn: false,
            printer: None,
            held: Vec::new(),
            typing: KeyEcho::default(),
        }))
    }

    /// Begins to display an answer.
    pub(super) fn begin(&self) {
        let mut state = self.lock();
        state.text = Renderer::new(state.look.styled, (state.look.width)());
        state.segment.clear();
        state.calls.clear();
        state.busy = true;
        state.spinner.begin();
        state.typing.hide();
        state.draw();
    }

    /// Advances the spinner.
    pub(super) fn tick(&self) {
        let mut state = self.lock();
        state.spinner.turn();
        state.draw();
    }

    pub(super) fn show_live(&self, live: Live) {
        self.lock().show_live(live);
    }

    /// Ends the display of an answer: shows its text if that was not streamed, and any failure.
    pub(super) fn end(&self, answer: &ChatAnswer) {
        let mut state = self.lock();
        state.end_text();
        if !answer.text.trim().is_empty() && answer.text.trim() != state.segment.trim() {
            let text = state.whole(&answer.text);
            state.answer(text);
        }
        state.busy = false;
        state.typing.show();
        if let Some(error) = &answer.error {
            let mark = StyledText::paint("31", "✗", state.look.color);
            state.complain(mark.with(format!(" {}", error.message)));
            if let Some(hint) = &error.hint {
                state.complain(format!("  hint: {hint}"));
            }
        }
        if answer.status == RunStatus::Waiting {
            let run = &answer.run;
            state.complain(format!(
                "… run {run} waits; `deft approvals list` shows pending approvals, `deft runs show {run}` the details"
            ));
        }
    }

    /// Ends the display without an answer.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.end_text();
        state.busy = false;
        state.typing.show();
    }

    /// Prints a message that is not part of an answer.
    pub(super) fn note(&self, text: impl Into<StyledText>) {
        let mut state = self.lock();
        state.end_text();
        state.complain(text);
    }

    /// Like [`Self::note`], but prints nothing if only errors are shown.
    pub(super) fn tell(&self, text: impl Into<StyledText>) {
        let mut state = self.lock();
        state.end_text();
        state.say(text);
    }

    /// Sets the function that prints messages above the line being edited.
    pub(super) fn print_with(&self, printer: Option<Printer>) {
        self.lock().printer = printer;
    }

    /// Hides typed keys while an answer is printed.
    pub(super) fn hide_typing(&self) {
        self.lock().typing = KeyEcho::Hidden(None);
    }

    /// Shows a message of the conversation.
    pub(super) fn show(&self, text: &str) {
        let mut state = self.lock();
        let text = state.whole(text);
        state.answer(text);
    }

    pub(super) fn color(&self) -> bool {
        self.lock().look.color
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl Pausable for View {
    fn pause(&self, paused: bool) {
        let mut state = self.lock();
        state.paused = paused;
        state.end_text();
        // The answer to a question is echoed.
        if paused || !state.busy {
            state.typing.show();
        } else {
            state.typing.hide();
        }
    }
}

impl MessageSink for View {
    fn insert_line(&self, line: &str) {
        let mut state = self.lock();
        let state = &mut *state;
        let torn = state.paused || state.busy && state.writes();
        match &mut state.printer {
            Some(print) if !state.busy => print(format!("{line}\n")),
            _ if torn => state.held.push(line.to_owned()),
            _ => {
                state.end_text();
                state.complain(line);
            }
        }
    }
}

fn stdout_width() -> Option<usize> {
    let terminal = Stream::Out.is_terminal();
    terminal.then(crate::output::terminal_width).flatten()
}

impl State {
    fn whole(&self, text: &str) -> StyledText {
        let whole = Renderer::whole(text, self.look.styled, (self.look.width)());
        StyledText::from_renderer(&whole)
    }

    fn show_live(&mut self, live: Live) {
        match live {
            Live::Text(more) => {
                self.segment.push_str(&more);
                let text = self.text.push(&more);
                if !text.is_empty() {
                    self.answer(StyledText::from_renderer(&text));
                }
            }
            Live::Again => {
                let seen = !self.segment.trim().is_empty();
                self.end_text();
                self.segment.clear();
                if seen {
                    self.say("↻ the model starts again; the text above is discarded");
                }
            }
            Live::ToolBegun { tool, args, depth } => {
                self.end_text();
                self.segment.clear();
                self.calls.push(OpenCall { tool, args, depth });
                self.draw();
            }
            Live::ToolEnded { tool, ok, ms, note } => {
                let mark = if ok {
                    Mark::Good(ms)
                } else {
                    Mark::Failed(ms, note.as_deref())
                };
                self.show_call_end(&tool, &mark);
            }
            Live::Refused { tool, reason } => self.show_call_end(&tool, &Mark::Refused(&reason)),
            Live::Hidden { tool, reason } => self.show_call_end(&tool, &Mark::Hidden(&reason)),
            Live::Replied {
                input_tokens,
                output_tokens,
            } => self.spinner.add_tokens(input_tokens + output_tokens),
            Live::Dispatched {
                agent,
                mission,
                depth,
            } => {
                self.end_text();
                self.say(lines::format_dispatch(&agent, &mission, depth));
            }
            Live::AgentEnded { agent, depth, note } => {
                self.end_text();
                self.say(lines::format_return(&agent, depth, note.as_deref()));
            }
            Live::Waiting { reason } => {
                self.end_text();
                self.say(format!("… waits for {}", lines::words(&reason)));
            }
        }
    }

    fn show_call_end(&mut self, tool: &str, mark: &Mark<'_>) {
        self.end_text();
        self.segment.clear();
        let place = self.calls.iter().position(|call| call.tool == tool);
        // A refused call may never have begun.
        let call = place.map(|place| self.calls.remove(place));
        let (args, depth) = call.map_or_else(|| (Object::new(), 0), |call| (call.args, call.depth));
        let line = lines::call(tool, &args, depth, mark, self.look.color);
        self.say(line);
        self.draw();
    }

    /// Flushes the streamed text, erases the progress line, and prints held messages.
    fn end_text(&mut self) {
        let rest = self.text.finish();
        if !rest.is_empty() {
            self.answer(StyledText::from_renderer(&rest));
        }
        self.erase();
        if !self.paused {
            for line in std::mem::take(&mut self.held) {
                self.complain(line);
            }
        }
    }

    /// Whether streamed text is being printed. A table is printed when it is complete; until then the
    /// progress line is shown.
    fn writes(&self) -> bool {
        (!self.segment.is_empty() && !self.text.is_holding()) || self.text.is_midline()
    }

    fn answer(&mut self, text: StyledText) {
        self.erase();
        self.look.answers.put(text);
    }

    fn say(&mut self, line: impl Into<StyledText>) {
        if self.look.much != Verbosity::Errors {
            self.complain(line);
        }
    }

    fn complain(&mut self, line: impl Into<StyledText>) {
        self.erase();
        let line = line.into().fold((self.look.width)());
        self.look.beside.put(line.with("\n"));
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.look.beside.put(StyledText::clear_line());
        }
    }

    /// Draws the progress line, unless streamed text is being printed.
    fn draw(&mut self) {
        if self.look.much != Verbosity::Live || !self.busy || self.paused || self.writes() {
            return;
        }
        let what = if self.text.is_holding() {
            "writing a table".to_owned()
        } else if self.calls.is_empty() {
            "thinking".to_owned()
        } else {
            let open = self
                .calls
                .iter()
                .map(|call| lines::open(&call.tool, &call.args));
            open.collect::<Vec<_>>().join("  ")
        };
        let width = (self.look.width)().unwrap_or(80);
        let line = self.spinner.line(&what, width);
        let line = StyledText::paint("2", &line, true);
        self.look.beside.put(StyledText::clear_line().with(line));
        self.drawn = true;
    }
}
