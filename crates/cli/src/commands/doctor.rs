//! `deft doctor`: every check has a stable id, a verdict and a remedy. Later parts add to the list.
//!
//! Checks look and do not change anything, except with `--fix`, which mends what needs no question.

mod mind;
mod skills;
mod time;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use deft_compute::{Job, Kind};
use deft_model::{DisabledReason, Object, Outcome, RunStatus};
use deft_store::{NoticeFilter, NoticeStatus, RunFilter, SkillFilter, Store};
use deft_tools::{DisabledTool, Probe};
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::args::{Global, Roots};
use crate::commands::up::Lock;
use crate::failure::Done;
use crate::home::{Home, ensure};
use crate::output::{Output, counted};

pub(crate) use mind::ADD_A_MODEL;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    /// It works, and something is worth knowing.
    Note,
    Bad,
}

/// What one check found.
struct Finding {
    id: &'static str,
    /// What it is about, where a check is made of several things, such as the server.
    subject: Option<String>,
    verdict: Verdict,
    message: String,
    hint: Option<String>,
}

/// All findings so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, id: &'static str, verdict: Verdict, message: String, hint: Option<String>) {
        self.0.push(Finding {
            id,
            subject: None,
            verdict,
            message,
            hint,
        });
    }

    /// What the last finding is about.
    fn about(&mut self, subject: &str) {
        if let Some(last) = self.0.last_mut() {
            last.subject = Some(subject.to_owned());
        }
    }

    fn good(&mut self, id: &'static str, message: impl Into<String>) {
        self.add(id, Verdict::Good, message.into(), None);
    }

    fn note(&mut self, id: &'static str, message: impl Into<String>, hint: &str) {
        self.add(id, Verdict::Note, message.into(), Some(hint.to_owned()));
    }

    fn bad(&mut self, id: &'static str, message: impl Into<String>, hint: Option<String>) {
        self.add(id, Verdict::Bad, message.into(), hint);
    }
}

pub(crate) fn run(fix: bool, global: &Global, output: &Output) -> Done {
    let mut found = Findings::default();
    let path = Home::locate(global)?;
    check_home(&path, fix, &mut found)?;
    match Home::open(global) {
        Ok(home) => {
            found.good("config.valid", "the configuration can be read");
            check_rest(&home, global, &mut found);
        }
        Err(failure) => found.bad("config.valid", failure.message, failure.hint),
    }
    report(&found, output)
}

fn check_home(path: &Path, fix: bool, found: &mut Findings) -> Done<()> {
    if !path.is_dir() {
        if fix {
            ensure(path)?;
            found.good("home.exists", format!("`{}` was made", path.display()));
        } else {
            let message = format!("there is no home at `{}`", path.display());
            found.bad(
                "home.exists",
                message,
                Some("`deft init` makes one".to_owned()),
            );
        }
        return Ok(());
    }
    found.good("home.exists", format!("`{}`", path.display()));
    check_mode(path, fix, found);
    Ok(())
}

#[cfg(unix)]
fn check_mode(path: &Path, fix: bool, found: &mut Findings) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(data) = fs::metadata(path) else {
        return;
    };
    let open = data.permissions().mode() & 0o077;
    if open == 0 {
        found.good("home.private", "only its owner can look inside");
        return;
    }
    let open = "others can look inside the home";
    let by_hand = format!("`chmod 700 {}`", path.display());
    match fix.then(|| fs::set_permissions(path, fs::Permissions::from_mode(0o700))) {
        Some(Ok(())) => found.good("home.private", "others could look inside; that was ended"),
        Some(Err(problem)) => {
            let message = format!("{open}, and that could not be ended: {problem}");
            let hint = format!("{by_hand} as its owner");
            found.bad("home.private", message, Some(hint));
        }
        None => {
            let hint = format!("{by_hand}, or `deft doctor --fix`");
            found.bad("home.private", open, Some(hint));
        }
    }
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: bool, _: &mut Findings) {}

fn check_rest(home: &Home, global: &Global, found: &mut Findings) {
    skills::check(home, global, found);
    time::check_zone(home, found);
    check_channel(home, found);
    mind::check(home, found);
    match Lock::holder(&home.path) {
        Some(pid) => found.good("daemon.up", format!("deft is up (process {pid})")),
        None => found.note(
            "daemon.up",
            "deft is not up: nothing fires by itself",
            "`deft up` starts it; `deft tick` from cron does without",
        ),
    }
    // Opening would make what is not there, and a check changes nothing.
    let there = home.config.store.path.exists();
    let opened = if there {
        App::open(global, &Roots::default())
    } else {
        App::to_read(global)
    };
    match opened {
        Ok(app) => {
            if there {
                found.good("store.open", "the database can be read and written");
            } else {
                let hint = "the first run makes one, and so does `deft up`";
                found.note("store.open", "there is no database yet", hint);
            }
            app.block_on(check_store(app.engine.store(), found));
            app.block_on(check_orphans(&app, found));
            app.block_on(check_clock(&app, found));
            app.block_on(check_servers(&app, found));
            app.block_on(mind::check_answers(&app, found));
            app.block_on(check_channel_tool(home, &app, found));
            app.block_on(check_compute(home, found));
            app.close();
        }
        Err(failure) => {
            found.bad("store.open", failure.message, failure.hint);
            // What is in it can be checked all the same where only writing fails.
            if let Ok(app) = App::to_read(global) {
                app.block_on(check_store(app.engine.store(), found));
                app.block_on(check_orphans(&app, found));
                app.block_on(check_clock(&app, found));
            }
        }
    }
}

fn check_channel(home: &Home, found: &mut Findings) {
    use crate::channels::{ChannelKind, kind, problem};
    match (kind(&home.config), problem(&home.config)) {
        (ChannelKind::Log, _) => found.note(
            "notify.channel",
            "notices go to `logs/notices.log` only",
            "set `notify.channel` and `notify.target` to be told elsewhere",
        ),
        (_, Some((problem, hint))) => {
            found.bad("notify.channel", problem, Some(hint.to_owned()));
        }
        // Whether the tool is there and fits is asked when servers have been.
        (ChannelKind::Tool(_), None) => {}
        (_, None) => found.good("notify.channel", "notices have a way to people"),
    }
}

/// A tool that carries notices has to be there, and to take what a notice has.
async fn check_channel_tool(home: &Home, app: &App, found: &mut Findings) {
    let kind = crate::channels::kind(&home.config);
    let Some(tool) = kind.tool() else {
        return;
    };
    match crate::channels::tool_problem(home, app.engine.router()).await {
        Some((problem, hint)) => found.bad("notify.channel", problem, Some(hint)),
        None => found.good("notify.channel", format!("notices are carried by `{tool}`")),
    }
}

async fn check_store(store: &Arc<dyn Store>, found: &mut Findings) {
    let off = |why| SkillFilter {
        disabled: Some(why),
        ..SkillFilter::default()
    };
    if let Ok(rows) = store.skills(off(DisabledReason::Failures)).await
        && !rows.is_empty()
    {
        let names: Vec<&str> = rows.iter().map(|row| row.text.skill.as_str()).collect();
        let message = format!("switched off after failures: {}", names.join(", "));
        let hint = "`deft runs list --skill NAME` says why, `deft skills enable NAME` forgives";
        found.bad("skills.failing", message, Some(hint.to_owned()));
    }
    if let Ok(rows) = store.skills(off(DisabledReason::MissingTools)).await
        && !rows.is_empty()
    {
        let message = format!(
            "waiting for tools or a model: {}",
            counted(rows.len(), "skill")
        );
        let hint = "`deft skills show NAME` lists them, `deft mcp add` brings servers";
        found.note("skills.waiting", message, hint);
    }
    let dead = NoticeFilter {
        status: Some(NoticeStatus::Dead),
        ..NoticeFilter::default()
    };
    if let Ok(rows) = store.notices(dead).await
        && !rows.is_empty()
    {
        let message = format!("{} never arrived", counted(rows.len(), "notice"));
        let hint = "`deft notices list --dead` says why, `deft notices retry` tries again";
        found.bad("notices.dead", message, Some(hint.to_owned()));
    }
    let asked = store.approvals(false).await.unwrap_or_default();
    if !asked.is_empty() {
        let message = format!("waiting for an answer: {}", counted(asked.len(), "run"));
        found.note(
            "approvals.open",
            message,
            "`deft approvals list` shows them",
        );
    }
}

/// Runs that nobody goes on with by himself: those that ended in doubt, and those whose process is
/// gone and that wait for a daemon.
async fn check_orphans(app: &App, found: &mut Findings) {
    let store = app.engine.store();
    let ended = RunFilter {
        outcomes: vec![Outcome::Interrupted],
        ..RunFilter::default()
    };
    let running = RunFilter {
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let (Ok(ended), Ok(mut left)) = (store.runs(ended).await, store.runs(running).await) else {
        return;
    };
    left.retain(|row| app.engine.is_abandoned(row));
    let cut_off = counted(ended.len() + left.len(), "run");
    let hint = match (ended.len(), left.len()) {
        (0, 0) => return,
        (_, 0) => "`deft runs list --outcome interrupted`, then `deft runs resume ID`",
        _ => {
            "`deft runs list` shows them; `deft up` goes on with those that are `abandoned`, `deft runs resume ID` with any"
        }
    };
    let message = format!("{cut_off} cut off and not gone on with");
    found.note("runs.interrupted", message, hint);
}

/// A clock that was ahead leaves skills that wait for a time that is long to come.
async fn check_clock(app: &App, found: &mut Findings) {
    let Ok(check) = app.scheduler().check_clock().await else {
        return;
    };
    let show = |at| deft_schedule::show(at, &app.zone);
    if let Some(first) = check.ahead.first() {
        let (skill, until) = (&first.skill, show(first.until));
        let message = format!(
            "{} settled further than the clock has come: `{skill}` does not fire before {until}",
            counted(check.ahead.len(), "skill")
        );
        let hint = format!(
            "if the clock is right now: `deft skills disable {skill}`, then `deft skills enable \
             {skill}` plans its slots from now"
        );
        found.bad("clock.agrees", message, Some(hint));
    } else if let Some(newest) = check.newest {
        let message = format!("the newest run is from {}, in the future", show(newest));
        let hint =
            "see that the clock of the host is right; slots that were settled do not fire again";
        found.note("clock.agrees", message, hint);
    }
}

async fn check_servers(app: &App, found: &mut Findings) {
    let router = app.engine.router();
    let servers: Vec<String> = router
        .health()
        .into_iter()
        .map(|health| health.server)
        .collect();
    for server in servers {
        match router.probe(&server).await {
            Some(Probe {
                error: Some(error),
                hint,
                ..
            }) => {
                found.bad(
                    "servers.answer",
                    format!("server `{server}`: {error}"),
                    hint,
                );
            }
            Some(probe) => {
                let tools = counted(probe.tools.len(), "tool");
                found.good("servers.answer", format!("`{server}` answers: {tools}"));
                found.about(&server);
                for tool in probe.disabled {
                    let DisabledTool { name, reason } = tool;
                    let message = format!("the tool `{server}.{name}` is disabled: {reason}");
                    let hint = "update the server, or hide the tool with `exclude_tools`";
                    found.note("servers.tools", message, hint);
                    found.about(&server);
                }
                continue;
            }
            None => continue,
        }
        found.about(&server);
    }
}

/// The sandbox has to be able to start.
async fn check_compute(home: &Home, found: &mut Findings) {
    let options = match app::worker(&home.config) {
        Ok(options) => options,
        Err(failure) => return found.bad("compute.works", failure.message, failure.hint),
    };
    let mut session = deft_compute::Compute::new(options).session();
    let job = Job::new(Kind::Block, "result = 6 * 7", Object::new());
    match session.run(job, None).await {
        Ok(output) if output.value == json!(42) => {
            found.good("compute.works", "the sandbox of compute blocks works");
        }
        Ok(output) => {
            let message = format!("the sandbox reckons that 6 * 7 is {}", output.value);
            found.bad("compute.works", message, None);
        }
        Err(error) => {
            let hint = error.hint().map(str::to_owned);
            found.bad("compute.works", error.to_string(), hint);
        }
    }
}

fn report(found: &Findings, output: &Output) -> Done {
    let bad = found.0.iter().filter(|one| one.verdict == Verdict::Bad);
    let bad = bad.count();
    if output.json {
        let checks: Vec<Value> = found.0.iter().map(shown).collect();
        output.document(&json!({"ok": bad == 0, "checks": checks}))?;
    } else {
        let lines: Vec<String> = found.0.iter().map(line).collect();
        output.data(lines.join("\n"))?;
        if bad > 0 {
            output.note(&format!("\n{} to mend", counted(bad, "thing")));
        }
    }
    Ok(ExitCode::from(u8::from(bad > 0)))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "ok",
        Verdict::Note => "note",
        Verdict::Bad => "bad",
    }
}

fn shown(finding: &Finding) -> Value {
    json!({
        "id": finding.id,
        "subject": finding.subject,
        "status": word(finding.verdict),
        "message": finding.message,
        "hint": finding.hint,
    })
}

fn line(finding: &Finding) -> String {
    let hint = finding.hint.as_ref();
    let hint = hint.map_or(String::new(), |hint| format!("\n      hint: {hint}"));
    format!(
        "{:4}  {:18} {}{hint}",
        word(finding.verdict),
        finding.id,
        finding.message
    )
}
