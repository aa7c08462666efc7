//! `deft up`: runs the daemon of a home until a signal arrives.
//!
//! Not here: the work of the daemon, which is in the service.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use deft_service::daemon::{Daemon, Ready};
use deft_service::logging;
use deft_service::{Lock, seed, tokens};
use jiff::Timestamp;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Global, LogForm, Up};
use crate::exit::Exit;
use crate::failure::{Done, Failure};
use crate::logging::sinks;
use crate::output::{Output, format_count};
use crate::progress::{say_above, say_in_log};
use crate::terminal::Stream;
use crate::when::short;

pub(crate) fn run(args: &Up, global: &Global, output: &Output) -> Done {
    let begun = Instant::now();
    let home = global.workspace().home()?;
    home.ensure()?;
    let lock = Lock::take(&home.path)?;
    let seeded = seed::seed_new_home(&home)?;
    let sinks = sinks(args.log, home.moment().zone, output);
    logging::start_with(&home.path, home.config.logs.limits, sinks);
    let for_people = args.log == LogForm::Text && !output.quiet;
    say_in_log();
    let daemon = Daemon::open(home, lock, say_above)?;
    let folder = daemon.home();
    let token = tokens::token_file(&folder);
    let grace = args.grace.unwrap_or(Duration::from_secs(10));
    let only_for = args.only_for;
    let until = || Ok(wait_for_shutdown(Signals::listen()?, only_for));
    daemon.run(grace, until, deft_server::start, |ready| {
        tracing::info!(
            "{}; home {}, process {}",
            ready_line(ready, begun),
            folder.display(),
            std::process::id(),
        );
        if let Some(url) = ready.api.as_ref().and_then(|api| api.url.as_ref()) {
            tracing::info!(
                "the API is at {url}; its token is in {}; `deft open` opens it in a browser",
                token.display()
            );
        }
        if ready.is_first_start && for_people {
            greet(seeded);
        }
    })
}

/// Formats the line printed on startup: the time it took, the number of scheduled skills, and the next run.
fn ready_line(ready: &Ready, begun: Instant) -> String {
    let scheduled = usize::try_from(ready.scheduled).unwrap_or(usize::MAX);
    let next = ready.next.map_or("no run is planned".to_owned(), |at| {
        format!("next run {}", short(at, Timestamp::now(), &ready.zone))
    });
    format!(
        "started in {} ms; {}, {next}",
        begun.elapsed().as_millis(),
        format_count(scheduled, "scheduled skill"),
    )
}

fn greet(seeded: usize) {
    let first = match seeded {
        0 => "this is the first start".to_owned(),
        _ => format!("this home is new: created {seeded} files in `skills`"),
    };
    let text = format!(
        "\n{first}.\n`hello-deft` leaves a notice here every minute, three times; then it removes \
         itself.\ntry next, in another terminal:\n  deft run countdown          a workflow that \
         runs anywhere\n  deft schedule list          the scheduled skills\n  deft runs list              \
         the latest runs\n  deft doctor                 check your setup\n\n"
    );
    // A line that cannot be printed is not worth failing for.
    drop(Stream::Err.write(text));
}

/// The signals that end a daemon.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// The terminal was closed.
    hangup: Signal,
}

impl Signals {
    fn listen() -> Done<Self> {
        let listen = |kind| {
            signal(kind).map_err(|problem| {
                Failure::internal("signals", format!("cannot listen to signals: {problem}"))
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal and returns its exit code.
    async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.interrupt.recv() => ExitCode::from(Exit::Interrupted),
            _ = self.terminate.recv() => ExitCode::SUCCESS,
            _ = self.hangup.recv() => ExitCode::SUCCESS,
        }
    }
}

/// Waits for a signal, or until the time of `--for` has passed. A second signal exits immediately.
async fn wait_for_shutdown(mut signals: Signals, only_for: Option<Duration>) -> ExitCode {
    let enough = async {
        match only_for {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let code = tokio::select! {
        code = signals.next() => code,
        () = enough => ExitCode::SUCCESS,
    };
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(130);
    });
    code
}
