//! The tree on a terminal, redrawn in place, and a question in the middle of it.

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

/// The view of a run on stderr.
pub(crate) struct Screen {
    state: Mutex<State>,
    live: bool,
    silent: bool,
}

struct State {
    tree: Tree,
    frame: usize,
    /// How many lines were drawn last.
    drawn: usize,
    /// A person is typing; nothing is drawn over it.
    paused: bool,
    /// Lines from elsewhere that wait for the next event. A step may log something before the end of the
    /// step before it is published, and would stand above that step.
    held: Vec<String>,
}

/// A drawing on stderr that knows where a line from elsewhere can stand.
pub(crate) trait Above: Send + Sync + 'static {
    /// Writes a line where it tears nothing.
    fn above(&self, line: &str);
}

/// Who draws now, so that what a skill logs does not tear it.
static CURRENT: Mutex<Option<Weak<dyn Above>>> = Mutex::new(None);

/// From now on lines from elsewhere go through this, as long as it is there.
pub(crate) fn say_through<A: Above>(draws: &Arc<A>) {
    let draws: Weak<A> = Arc::downgrade(draws);
    *CURRENT.lock() = Some(draws);
}

/// Whether lines from elsewhere go to the log instead.
static IN_LOG: AtomicBool = AtomicBool::new(false);

/// From now on lines from elsewhere are lines of the log: for a daemon, whose terminal shows the log.
pub(crate) fn say_in_log() {
    IN_LOG.store(true, Ordering::Relaxed);
}

/// Says something on stderr, above the tree if there is one.
pub(crate) fn say_above(line: &str) {
    let current = CURRENT.lock();
    let current = current.as_ref().and_then(Weak::upgrade);
    // The log line of a skill may hold anything, and names secrets only.
    let masked = mask_secrets(line);
    let line = visible(masked.as_deref().unwrap_or(line));
    if IN_LOG.load(Ordering::Relaxed) {
        tracing::info!("{line}");
        return;
    }
    match current {
        Some(screen) => screen.above(&line),
        None => say(line),
    }
}

impl Screen {
    /// A screen that lines from elsewhere respect.
    pub(crate) fn start(tree: Tree, silent: bool) -> Arc<Self> {
        let screen = Arc::new(Self::new(tree, silent));
        say_through(&screen);
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

    /// Turns the spinner, and writes lines that no event came for.
    pub(crate) fn tick(&self) {
        let mut state = self.lock();
        state.frame += 1;
        state.write_held();
        if self.live {
            state.draw();
        }
    }

    /// Lets something else write below the tree.
    pub(crate) fn pause(&self, paused: bool) {
        let mut state = self.lock();
        state.write_held();
        if self.live && paused {
            state.draw();
        }
        // What was drawn stays; the tree goes on below what was typed.
        state.drawn = 0;
        state.paused = paused;
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Screen {
    /// Writes lines that no event came for, before anything else is said.
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

impl Above for Screen {
    /// Keeps a line for the next event or turn of the spinner.
    fn above(&self, line: &str) {
        self.lock().held.push(line.to_owned());
    }
}

impl State {
    /// Writes lines from elsewhere above the tree, which is drawn again below them.
    fn write_held(&mut self) {
        if self.held.is_empty() || self.paused {
            return;
        }
        let mut text = StyledText::default();
        if self.drawn > 0 {
            text = StyledText::up(self.drawn).with(StyledText::clear_below());
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
        // A tree that is taller than the terminal cannot be redrawn in place: show its end.
        let first = all.len().saturating_sub(height.saturating_sub(2));
        let mut out = StyledText::up(self.drawn);
        for line in &all[first..] {
            out.push(StyledText::clear_line());
            out.push(line.fit(width));
            out.push("\n");
        }
        self.drawn = all.len() - first;
        // A terminal that went away ends nothing.
        drop(Stream::Err.write(out));
    }
}
