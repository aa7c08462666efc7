//! The tree of a run on a terminal: redrawn in place, and paused for questions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use deft_service::runs::Progress;
use deft_service::words::mask_secrets;
use deft_wire::model::visible;
use parking_lot::Mutex;

use super::Tree;
use crate::fold::fold;
use crate::output::{message_width, say};
use crate::terminal::{Stream, StyledText};

/// The progress of a run, drawn on stderr.
pub(crate) struct Screen {
    state: Mutex<State>,
    live: bool,
    silent: bool,
}

struct State {
    tree: Tree,
    frame: usize,
    /// The number of lines last drawn.
    drawn: usize,
    /// Whether drawing is suspended because a person is typing.
    paused: bool,
    /// Messages of other code, held until the next event. A step may log a message before the end of the
    /// previous step is published; printed at once, the message would appear above that step.
    held: Vec<String>,
}

/// A display on stderr that can insert messages of other code without disturbing its drawing.
pub(crate) trait MessageSink: Send + Sync + 'static {
    /// Prints `line` where it does not disturb the drawing.
    fn insert_line(&self, line: &str);
}

/// The display that currently draws. Messages such as the log lines of a skill go through it.
static CURRENT: Mutex<Option<Weak<dyn MessageSink>>> = Mutex::new(None);

/// Routes messages of other code through `draws` until it is dropped.
pub(crate) fn route_messages<A: MessageSink>(draws: &Arc<A>) {
    let draws: Weak<A> = Arc::downgrade(draws);
    *CURRENT.lock() = Some(draws);
}

/// Whether messages of other code go to the log instead of the terminal.
static IN_LOG: AtomicBool = AtomicBool::new(false);

/// Routes messages of other code to the log. For a daemon, whose terminal shows the log.
pub(crate) fn say_in_log() {
    IN_LOG.store(true, Ordering::Relaxed);
}

/// Prints a message on stderr, above the tree if one is drawn.
pub(crate) fn say_above(line: &str) {
    let current = CURRENT.lock();
    let current = current.as_ref().and_then(Weak::upgrade);
    // The log line of a skill may contain any text; secrets are replaced by their names.
    let masked = mask_secrets(line);
    let line = visible(masked.as_deref().unwrap_or(line));
    if IN_LOG.load(Ordering::Relaxed) {
        tracing::info!("{line}");
        return;
    }
    match current {
        Some(screen) => screen.insert_line(&line),
        None => say(line),
    }
}

impl Screen {
    /// Creates a screen and routes messages of other code through it.
    pub(crate) fn start(tree: Tree, silent: bool) -> Arc<Self> {
        let screen = Arc::new(Self::new(tree, silent));
        route_messages(&screen);
        screen
    }

    fn new(tree: Tree, silent: bool) -> Self {
        Self {
            state: Mutex::new(State {
                tree,
                frame: 0,
                drawn: 0,
                paused: false,
                held: Vec::new(),
            }),
            live: Stream::Err.is_terminal() && !silent,
            silent,
        }
    }

    pub(crate) fn apply(&self, progress: &Progress) {
        let mut state = self.lock();
        let news = state.tree.apply(progress);
        if self.silent {
            state.write_held();
        } else if self.live {
            state.write_held();
            state.draw();
        } else {
            let is_news = news.is_some();
            news.into_iter().for_each(say);
            if is_news {
                state.write_held();
            }
        }
    }

    /// Advances the spinner, and prints held messages.
    pub(crate) fn tick(&self) {
        let mut state = self.lock();
        state.frame += 1;
        state.write_held();
        if self.live {
            state.draw();
        }
    }

    /// Suspends or resumes drawing. While suspended, other output may follow below the tree.
    pub(crate) fn pause(&self, paused: bool) {
        let mut state = self.lock();
        state.write_held();
        if self.live && paused {
            state.draw();
        }
        // The drawn lines stay; the tree is drawn again below the typed text.
        state.drawn = 0;
        state.paused = paused;
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Screen {
    /// Prints held messages before any later output.
    fn drop(&mut self) {
        let state = self.state.get_mut();
        state.paused = false;
        if !state.held.is_empty() {
            state.write_held();
            if self.live {
                state.draw();
            }
        }
    }
}

impl MessageSink for Screen {
    /// Holds `line` until the next event or tick of the spinner.
    fn insert_line(&self, line: &str) {
        self.lock().held.push(line.to_owned());
    }
}

impl State {
    /// Prints held messages above the tree, which is drawn again below them.
    fn write_held(&mut self) {
        if self.held.is_empty() || self.paused {
            return;
        }
        let mut text = StyledText::default();
        if self.drawn > 0 {
            text = StyledText::cursor_up(self.drawn).with(StyledText::clear_below());
        }
        self.drawn = 0;
        let lines = std::mem::take(&mut self.held).join("\n");
        say(text.with(fold(&lines, message_width())));
    }

    fn draw(&mut self) {
        if self.paused {
            return;
        }
        let height = terminal_size::terminal_size().map_or(24, |(_, rows)| usize::from(rows.0));
        let width =
            terminal_size::terminal_size().map_or(80, |(columns, _)| usize::from(columns.0));
        let all = self.tree.render_all(self.frame);
        // A tree taller than the terminal cannot be redrawn in place: show only its end.
        let first = all.len().saturating_sub(height.saturating_sub(2));
        let mut out = StyledText::cursor_up(self.drawn);
        for line in &all[first..] {
            out.push(StyledText::clear_line());
            out.push(line.fit(width));
            out.push("\n");
        }
        self.drawn = all.len() - first;
        // A closed terminal does not end the run.
        drop(Stream::Err.write(out));
    }
}
