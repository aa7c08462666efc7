//! `deft demo crash`: a run is killed in the middle and resumed, and its journal is checked.
//!
//! Everything happens in a home of its own, which is removed afterwards. The run is driven by child
//! processes, because a process that is to be killed must not be this one.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deft_channels::Tell;
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

/// The process is killed after this step, while it waits.
const KILL_AFTER: &str = "two";

/// The run of a demo takes a tenth of this.
const PATIENCE: Duration = Duration::from_mins(1);

/// More than the steps write.
const MOST_BYTES: u64 = 4096;

/// How often the journal is read.
const LOOK: Duration = Duration::from_millis(100);

/// The steps of a demo, as they happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoProgress {
    /// A process drives the run.
    Started {
        /// The process.
        pid: u32,
    },
    /// A step that must not run twice succeeded.
    StepDone {
        /// The step.
        step: &'static str,
    },
    /// The process was killed.
    Killed {
        /// The process.
        pid: u32,
    },
    /// Another process drives the run.
    Resumed {
        /// The process.
        pid: u32,
    },
    /// The run is over, and its journal is read.
    Verifying,
}

/// Plays a crash through.
pub fn crash(tell: Tell, report: &mut dyn FnMut(DemoProgress)) -> Done<CrashReport> {
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
    let lines = deft_registry::read_text(&home.lines(), MOST_BYTES).unwrap_or_default();
    app.close();
    Ok(verify(&detail, &before, &events, &lines))
}

/// A home in the folder for temporary files, removed when the demo is over.
struct DemoHome(PathBuf);

impl DemoHome {
    fn create() -> Done<Self> {
        let path = std::env::temp_dir().join(format!("deft-demo-{}", std::process::id()));
        let broken = |problem| Failure::file(&path, "create", &problem);
        // What another process with this number left behind.
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

    /// Where the steps write.
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
        // The system removes what is left of it.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A process that does not outlive the demo.
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
        // One that is over already cannot be killed.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn unstartable(problem: &std::io::Error) -> Failure {
    Failure::internal("demo", format!("cannot start deft: {problem}"))
}

/// SIGKILL: the process cannot write another byte.
fn kill(child: &mut ChildGuard) -> Done<()> {
    let killed = child.0.kill().and_then(|()| child.0.wait());
    let failed = |problem| Failure::internal("demo", format!("cannot kill the process: {problem}"));
    killed.map(drop).map_err(failed)
}

/// Reads the journal until something is in it, and reports the steps that end meanwhile.
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
        if over || begun.elapsed() > PATIENCE {
            let message = "the run of the demo did not get as far as it should";
            return Err(Failure::internal("demo", message).hint("`deft doctor` checks this host"));
        }
        std::thread::sleep(LOOK);
    }
}

/// The events of the run so far; none before it is stored.
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

/// Judges a run by its journal, and by the lines that its steps left.
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
