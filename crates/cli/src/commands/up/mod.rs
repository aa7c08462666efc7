//! `deft up`: everything in one process, until it is told to stop.
//!
//! This file puts the parts together and takes them apart again. What they do is the engine's.

mod checks;
mod follow;
#[cfg(target_os = "linux")]
mod footprint;
mod lock;
pub(crate) mod seed;
mod systemd;
pub(crate) mod telegram;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deft_engine::Engine;
use deft_registry::State;
use deft_scheduler::Pool;
use deft_store::SkillFilter;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::{self, App};
use crate::args::{Global, LogForm, Up};
use crate::doorbell::{self, Ring};
use crate::failure::{Done, Failure};
use crate::home::Home;
use crate::output::{Output, counted};
use crate::progress::say_in_log;
use crate::terminal::Stream;
use crate::{channels, logging, talk};

pub(crate) use lock::Lock;

pub(crate) fn run(args: &Up, global: &Global, output: &Output) -> Done {
    let begun = Instant::now();
    let home = Home::open(global)?;
    home.ensure()?;
    let lock = Lock::take(&home.path)?;
    let seeded = seed::if_new(&home)?;
    logging::start_daemon(&home.path, home.config.logs.limits, args.log, output);
    let for_people = args.log == LogForm::Text && !output.quiet;
    if !for_people {
        say_in_log();
    }
    let seeded = for_people.then_some(seeded);
    let (app, registry) = App::live(&home)?;
    let result = app.block_on_only(serve(&app, &registry, &home, args, begun, seeded));
    match &result {
        // Ending the servers would fail their calls, and a run that was to go on would be over.
        Ok(ended) if ended.unfinished => app.abandon(),
        Ok(_) | Err(_) => app.close(),
    }
    drop(lock);
    result?.result
}

/// How it ended.
struct Ended {
    result: Done,
    /// Runs are left for the next start.
    unfinished: bool,
}

async fn serve(
    app: &App,
    registry: &Arc<deft_registry::Registry>,
    home: &Home,
    args: &Up,
    begun: Instant,
    seeded: Option<usize>,
) -> Done<Ended> {
    let engine = &app.engine;
    let stop = CancellationToken::new();
    // Before anybody can know that we are here, and want us gone.
    let signals = Signals::listen()?;
    let pool = Pool::new(app::max_running(&home.config));
    engine
        .library()
        .sync_files()
        .await
        .map_err(|error| app::failure(&error))?;
    let is_new = seed::hello(home, engine).await?;
    let grace = args.grace.unwrap_or(Duration::from_secs(10));
    let channel = channels::Live::of(home, engine.router());
    let mut serving = tokio::spawn({
        let (scheduler, pool, stop) = (app.scheduler(), pool.clone(), stop.clone());
        let channel = channel.clone();
        async move { scheduler.serve(&pool, channel, stop, grace).await }
    });
    warn(registry, home);
    let bot = telegram::Bot {
        talk: talk::of(app),
        store: Arc::clone(engine.store()),
        pace: telegram::Pace::default(),
    };
    let mut followers = follow::start(engine, registry, home, channel, bot, &stop);
    followers.spawn(app.lend_sandbox());
    #[cfg(target_os = "linux")]
    followers.spawn(footprint::keep_small(engine.clone()));
    say_ready(app, home, begun).await?;
    if let (true, Some(seeded)) = (is_new, seeded) {
        greet(seeded);
    }
    systemd::tell("READY=1");
    let code = tokio::select! {
        code = wait_for_the_end(&stop, signals, args) => code,
        // It returns before it is told to only if it cannot go on.
        ended = &mut serving => return Ok(broken(ended)),
    };
    systemd::tell("STOPPING=1");
    tracing::info!("stopping: what runs has {} s to end", grace.as_secs());
    drop(serving.await);
    followers.abort_all();
    let unfinished = tokio::time::timeout(Duration::ZERO, pool.idle())
        .await
        .is_err();
    tracing::info!("stopped");
    Ok(Ended {
        result: Ok(code),
        unfinished,
    })
}

/// Why the engine stopped by itself. Logged here; the caller prints the failure.
fn broken(ended: Result<Result<(), deft_engine::Error>, tokio::task::JoinError>) -> Ended {
    let failure = match ended {
        Ok(Err(error)) => app::failure(&error),
        Ok(Ok(())) => Failure::input("engine", "the engine stopped by itself"),
        Err(problem) => Failure::input("engine", format!("the engine failed: {problem}")),
    };
    tracing::error!(hint = failure.hint, "{}; deft stops", failure.message);
    Ended {
        result: Err(failure),
        // Runs cannot be recorded and must not go on.
        unfinished: true,
    }
}

/// What does not work is said at the start, not when somebody misses it.
fn warn(registry: &deft_registry::Registry, home: &Home) {
    for file in registry.snapshot().files() {
        let path = file.path.display();
        match &file.state {
            State::Broken { kept } => {
                let why = file.diagnostics.first();
                let why = why.map_or("it cannot be read", |one| one.message.as_str());
                match kept {
                    Some(id) => tracing::warn!(
                        %path, why, "a skill file is broken: `{id}` goes on as it was before"
                    ),
                    None => tracing::warn!(%path, why, "a skill file is broken and does not fire"),
                }
            }
            State::Shadowed { id, by } => {
                let by = by.display();
                tracing::warn!(%path, id, %by, "a skill file is hidden by another one");
            }
            _ => {}
        }
    }
    if let Some((problem, hint)) = channels::problem(&home.config) {
        tracing::warn!(hint, "{problem}");
    }
}

/// The one line that says that everything works, and for a new home what to try next.
async fn say_ready(app: &App, home: &Home, begun: Instant) -> Done<()> {
    let store = app.engine.store();
    let timed = SkillFilter {
        enabled: Some(true),
        trigger: Some("cron".to_owned()),
        ..SkillFilter::default()
    };
    let timed = store.count_skills(timed).await;
    let timed = timed.map_err(|error| app::store(&error))?;
    let next = store.next_due().await.map_err(|e| app::store(&e))?;
    let next = next.map_or("nothing is planned".to_owned(), |at| {
        format!("next at {}", deft_schedule::show(at, &app.zone))
    });
    tracing::info!(
        "ready after {} ms: {} on time, {next}; home {}, process {}",
        begun.elapsed().as_millis(),
        counted(usize::try_from(timed).unwrap_or(usize::MAX), "skill"),
        home.path.display(),
        std::process::id(),
    );
    Ok(())
}

fn greet(seeded: usize) {
    let first = match seeded {
        0 => "this is the first start".to_owned(),
        _ => format!("this home is new: {seeded} files were put into its `skills` folder"),
    };
    let text = format!(
        "\n{first}.\n\
         `hello-deft` fires every minute and leaves a notice here; `deft skills delete hello-deft` ends that.\n\
         try next, in another terminal:\n  \
         deft run countdown          a workflow that runs anywhere\n  \
         deft schedule list          what fires when\n  \
         deft runs list              what has happened\n  \
         deft doctor                 what is missing for the rest\n\n"
    );
    // What cannot be said is not worth failing for.
    drop(Stream::Err.write(text));
}

/// The two signals that mean the end.
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
                Failure::input("signals", format!("cannot listen to signals: {problem}"))
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// The exit code that the next signal means.
    async fn next(&mut self) -> ExitCode {
        tokio::select! {
            _ = self.interrupt.recv() => ExitCode::from(130),
            _ = self.terminate.recv() => ExitCode::SUCCESS,
            _ = self.hangup.recv() => ExitCode::SUCCESS,
        }
    }
}

/// Waits for a signal, or for `--for` to be over. A second signal ends everything at once.
async fn wait_for_the_end(stop: &CancellationToken, mut signals: Signals, args: &Up) -> ExitCode {
    let enough = async {
        match args.only_for {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let code = tokio::select! {
        code = signals.next() => code,
        () = enough => ExitCode::SUCCESS,
    };
    stop.cancel();
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(130);
    });
    code
}

/// Listens to the doorbell of the home.
async fn answer_door(engine: Engine, home: std::path::PathBuf) {
    doorbell::listen(&home, |ring| match ring {
        Ring::Work => engine.ring(),
        Ring::Tools => {
            let router = engine.router().clone();
            // One that does not answer is reported when it is used.
            tokio::spawn(async move { drop(router.relist().await) });
        }
    })
    .await;
}
