//! A pager for output that is longer than the screen.
//!
//! The output of a command is buffered until it has more lines than the screen or the command ends, so
//! short output never starts a process. Messages to stderr are printed after the pager exits. Not here:
//! which commands use it (see [`crate::output::Output::page`]).

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use deft_config::env;
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::Stream;

/// Options of `less`: exit if the output fits the screen, interpret colours, do not clear the screen.
const LESS_OPTIONS: &str = "FRX";

static PAGED: Mutex<Option<PagedOutput>> = Mutex::new(None);

struct PagedOutput {
    screen_rows: usize,
    lines: usize,
    /// Data not yet passed to a pager.
    held: Vec<u8>,
    pager: Option<Pager>,
    messages: Vec<u8>,
}

struct Pager {
    child: Child,
    /// Receives the interrupt of the keyboard, which is meant for the pager.
    _runtime: Runtime,
}

/// Starts buffering output if stdout is a terminal.
pub(crate) fn begin() {
    let rows = terminal_size::terminal_size().map(|(_, rows)| usize::from(rows.0));
    let Some(screen_rows) = rows.filter(|_| Stream::Out.is_terminal()) else {
        return;
    };
    *PAGED.lock() = Some(PagedOutput {
        screen_rows,
        lines: 0,
        held: Vec::new(),
        pager: None,
        messages: Vec::new(),
    });
}

/// Writes the buffered output and waits until the person leaves the pager.
pub(crate) fn finish() -> io::Result<()> {
    let Some(output) = PAGED.lock().take() else {
        return Ok(());
    };
    let shown = match output.pager {
        None => Stream::Out.write_bytes(&output.held),
        Some(mut pager) => {
            drop(pager.child.stdin.take());
            pager.child.wait().map(drop)
        }
    };
    Stream::Err.write_bytes(&output.messages)?;
    shown
}

/// Buffers bytes for a stream. Returns `None` if output is not being buffered.
pub(super) fn take(stream: Stream, bytes: &[u8]) -> Option<io::Result<()>> {
    let mut output = PAGED.lock();
    let output = output.as_mut()?;
    Some(match stream {
        Stream::Out => output.add(bytes),
        Stream::Err => {
            output.messages.extend_from_slice(bytes);
            Ok(())
        }
    })
}

impl PagedOutput {
    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(pager) = &mut self.pager {
            return pager.write(bytes);
        }
        self.lines += bytes.split(|byte| *byte == b'\n').count() - 1;
        self.held.extend_from_slice(bytes);
        if self.lines < self.screen_rows {
            return Ok(());
        }
        match Pager::start() {
            Some(mut pager) => {
                let shown = pager.write(&self.held);
                self.held.clear();
                self.pager = Some(pager);
                shown
            }
            // No pager is available: let the terminal scroll.
            None => {
                self.screen_rows = usize::MAX;
                Ok(())
            }
        }
    }
}

impl Pager {
    fn start() -> Option<Self> {
        let mut command = command()?;
        let runtime = deft_service::runtime::start().ok()?;
        let context = runtime.enter();
        // From here on an interrupt does not end this process; it is meant for the pager.
        drop(signal(SignalKind::interrupt()));
        drop(context);
        let child = command.stdin(Stdio::piped()).spawn().ok()?;
        Some(Self {
            child,
            _runtime: runtime,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.child.stdin {
            Some(stdin) => stdin.write_all(bytes),
            None => Ok(()),
        }
    }
}

/// Returns the pager from the environment, or `less` by default; `None` if the pager is `cat` or empty.
fn command() -> Option<Command> {
    let named = [env::DEFT_PAGER, env::PAGER].map(std::env::var_os);
    let named = named.into_iter().flatten().next();
    let mut command = match named {
        Some(name) if name.is_empty() || name == "cat" => return None,
        Some(name) => {
            // The variable may contain arguments; a shell parses them, as in other programs.
            let mut command = Command::new("sh");
            command.arg("-c").arg(name);
            command
        }
        None => Command::new("less"),
    };
    if env::get(env::LESS).is_none() {
        command.env(env::LESS, LESS_OPTIONS);
    }
    if env::get(env::LESSCHARSET).is_none() {
        // Without a locale, less shows non-ASCII characters as bytes.
        command.env(env::LESSCHARSET, "utf-8");
    }
    Some(command)
}
