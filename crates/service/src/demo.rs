//! `deft demo crash`: kills a run in the middle, resumes it, and checks its journal.
//!
//! The demo uses a temporary home, which is removed afterwards. Child processes drive the run, because the
//! process that is killed must not be this one.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deft_channels::ShowLine;
use deft_wire::demo::{CrashReport, CrashStep};
use deft_wire::event::{EventBody, EventView};
use deft_wire::model::Outcome;
use deft_wire::run::RunDetail;
use deft_wire::{Done, Failure};

use crate::app::App;
use crate::ids::LAST;
use crate::runs;
use crate::workspace::Workspace;

const SKILL: &str = include_str!("../demo/crash-demo.yaml");

/// The steps that must not run twice, in order.
const STEPS: [&str; 5] = ["one", "two", "three", "four", "five"];

/// The process is killed after this step, while the run waits.
const KILL_AFTER: &str = "two";

/// Timeout for each half of the demo. Its whole run takes about a tenth of this.
const HALF_TIMEOUT: Duration = Duration::from_mins(1);

/// Size limit for reading the lines of the steps; they write less.
const MAX_BYTES: u64 = 4096;

/// How often the journal is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Progress of the demo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoProgress {
    /// A process started the run.
    Started {
        /// The id of the process.
        pid: u32,
    },
    /// A step that must not run twice succeeded.
    StepDone {
        /// The id of the step.
        step: &'static str,
    },
    /// The process was killed.
    Killed {
        /// The id of the process.
        pid: u32,
    },
    /// Another process resumed the run.
    Resumed {
        /// The id of the process.
        pid: u32,
    },
    /// The run has ended, and its journal is being checked.
    Verifying,
}

/// Runs the crash demo and calls `report` at each step of its progress.
pub fn crash(tell: ShowLine, report: &mut dyn FnMut(DemoProgress)) -> Done<CrashReport> {
    let home = DemoHome::create()?;
    let workspace = Workspace {
        home: Some(home.0.clone()),
        roots: Vec::new(),
        tell,
        quiet: true,
        live: None,
    };
    let mut seen = Vec::new();
    let mut first = home.start(&["run", "crash-demo"])?;
    report(DemoProgress::Started { pid: first.id() });
    follow(&workspace, &mut first, &mut seen, report, |events| {
        count_successes(events, KILL_AFTER) > 0
    })?;
    kill(&mut first)?;
    report(DemoProgress::Killed { pid: first.id() });
    let before = read_events(&workspace)?;
    let mut second = home.start(&["runs", "resume", LAST])?;
    report(DemoProgress::Resumed { pid: second.id() });
    follow(&workspace, &mut second, &mut seen, report, |events| {
        events.iter().any(|event| is_end(&event.body))
    })?;
    drop(second.wait());
    report(DemoProgress::Verifying);
    let app = App::to_read(&workspace)?;
    let detail = runs::detail(&app, LAST)?;
    let events = runs::events(&app, LAST)?;
    let lines = deft_registry::read_text(&home.lines(), MAX_BYTES).unwrap_or_default();
    app.close();
    Ok(verify(&detail, &before, &events, &lines))
}

/// A home in the temporary folder, removed on drop.
struct DemoHome(PathBuf);

impl DemoHome {
    fn create() -> Done<Self> {
        let path = std::env::temp_dir().join(format!("deft-demo-{}", std::process::id()));
        let broken = |problem| Failure::file(&path, "create", &problem);
        // Remove what an earlier process with the same id left behind.
        drop(fs::remove_dir_all(&path));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(broken)?;
        let home = Self(path.clone());
        let files = path.join("files");
        fs::create_dir_all(path.join("skills")).map_err(broken)?;
        fs::create_dir_all(&files).map_err(broken)?;
        let folder = serde_json::Value::from(files.display().to_string());
        let config = format!("[tools.file]\nfolders = [{folder}]\nwrite = true\n");
        fs::write(path.join("config.toml"), config).map_err(broken)?;
        fs::write(path.join("skills").join("crash-demo.yaml"), SKILL).map_err(broken)?;
        Ok(home)
    }

    /// The file that the steps write to.
    fn lines(&self) -> PathBuf {
        self.0.join("files").join("lines.txt")
    }

    /// Starts deft in this home.
    fn start(&self, words: &[&str]) -> Done<ChildGuard> {
        let program = std::env::current_exe().map_err(|problem| unstartable(&problem))?;
        let child = Command::new(program)
            .arg("--home")
            .arg(&self.0)
            .args(["--quiet", "--no-input"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        child
            .map(ChildGuard)
            .map_err(|problem| unstartable(&problem))
    }
}

impl Drop for DemoHome {
    fn drop(&mut self) {
        // On failure the files stay until the system cleans its temporary folder.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A child process that is killed on drop.
struct ChildGuard(Child);

impl ChildGuard {
    fn id(&self) -> u32 {
        self.0.id()
    }

    fn wait(&mut self) -> std::io::Result<std::process::ExitStatus> {
        self.0.wait()
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // Killing fails if the process has already ended.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn unstartable(problem: &std::io::Error) -> Failure {
    Failure::internal("demo", format!("cannot start deft: {problem}"))
}

/// Kills `child` with SIGKILL: it cannot write another byte.
fn kill(child: &mut ChildGuard) -> Done<()> {
    let killed = child.0.kill().and_then(|()| child.0.wait());
    let failed = |problem| Failure::internal("demo", format!("cannot kill the process: {problem}"));
    killed.map(drop).map_err(failed)
}

/// Polls the journal until `until` accepts its events, and reports the steps that succeed meanwhile. Fails if
/// `child` ends before that, or after a timeout.
fn follow(
    workspace: &Workspace,
    child: &mut ChildGuard,
    seen: &mut Vec<&'static str>,
    report: &mut dyn FnMut(DemoProgress),
    until: impl Fn(&[EventView]) -> bool,
) -> Done<()> {
    let begun = Instant::now();
    loop {
        let over = child.0.try_wait().is_ok_and(|status| status.is_some());
        let events = read_events(workspace)?;
        for step in STEPS {
            if count_successes(&events, step) > 0 && !seen.contains(&step) {
                seen.push(step);
                report(DemoProgress::StepDone { step });
            }
        }
        if until(&events) {
            return Ok(());
        }
        if over || begun.elapsed() > HALF_TIMEOUT {
            let message = "the demo run stopped early or timed out";
            return Err(Failure::internal("demo", message).hint("`deft doctor` checks this host"));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Returns the events of the run so far; empty before the run is stored.
fn read_events(workspace: &Workspace) -> Done<Vec<EventView>> {
    let app = App::to_read(workspace)?;
    let newest = crate::ids::last_run(&app, deft_store::RunFilter::default())?;
    let events = match newest {
        Some(run) => runs::events(&app, run.id.as_str())?,
        None => Vec::new(),
    };
    app.close();
    Ok(events)
}

fn count_begins(events: &[EventView], step: &str) -> usize {
    let begins = |event: &&EventView| {
        if let EventBody::StepStarted(begin) | EventBody::StepRetried(begin) = &event.body {
            begin.step_id == step
        } else {
            false
        }
    };
    events.iter().filter(begins).count()
}

fn count_successes(events: &[EventView], step: &str) -> usize {
    let succeeds = |event: &&EventView| {
        if let EventBody::StepCompleted(end) = &event.body {
            end.step_id == step && end.success
        } else {
            false
        }
    };
    events.iter().filter(succeeds).count()
}

fn is_end(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::SkillCompleted { .. }
            | EventBody::SkillFailed(_)
            | EventBody::SkillBlocked(_)
            | EventBody::SkillCancelled(_)
    )
}

/// Checks a run by its journal, and by the lines that its steps wrote.
fn verify(
    detail: &RunDetail,
    before: &[EventView],
    events: &[EventView],
    lines: &str,
) -> CrashReport {
    let steps: Vec<CrashStep> = STEPS
        .iter()
        .map(|step| CrashStep {
            id: (*step).to_owned(),
            begun: count_begins(events, step),
            succeeded: count_successes(events, step),
            before_crash: count_successes(before, step) > 0,
        })
        .collect();
    let once = |step: &CrashStep| step.begun == 1 && step.succeeded == 1;
    let split = steps
        .iter()
        .any(|step| step.before_crash && step.id == KILL_AFTER)
        && steps.iter().any(|step| !step.before_crash);
    let written: Vec<&str> = lines.lines().collect();
    let gap = detail.interruptions.first();
    CrashReport {
        verified: detail.run.outcome == Some(Outcome::Success)
            && gap.is_some()
            && split
            && steps.iter().all(once)
            && written == STEPS,
        run: detail.run.id.clone(),
        interrupted_at: gap.map(|gap| gap.interrupted_at),
        resumed_at: gap.map(|gap| gap.resumed_at),
        steps,
        lines: written.len(),
    }
}
