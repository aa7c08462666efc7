//! Health checks of a home: each has a stable id, a status and a hint.
//!
//! Checks change nothing, except with `fix`, which repairs problems that need no decision. Not here: printing
//! the report.

mod home;
mod hooks;
mod models;
mod server;
mod skills;
mod store;
mod telemetry;
mod tools;

use deft_config::Home;
use deft_wire::Done;
use deft_wire::check::{Check, CheckList, CheckStatus};
use jiff::Timestamp;

use crate::app::App;
use crate::lock::Lock;
use crate::workspace::Workspace;

pub use models::ADD_A_MODEL;

/// All findings so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Findings(Vec<Check>);

impl Findings {
    fn add(&mut self, id: &str, status: CheckStatus, message: String, hint: Option<String>) {
        self.0.push(Check {
            id: id.to_owned(),
            subject: None,
            status,
            message,
            hint,
        });
    }

    /// Sets the subject of the last finding.
    fn about(&mut self, subject: &str) {
        if let Some(last) = self.0.last_mut() {
            last.subject = Some(subject.to_owned());
        }
    }

    /// Adds a check that passed.
    fn good(&mut self, id: &str, message: impl Into<String>) {
        self.add(id, CheckStatus::Good, message.into(), None);
    }

    /// Adds a note: the home works, but a person should know something about it.
    fn note(&mut self, id: &str, message: impl Into<String>, hint: &str) {
        let hint = Some(hint.to_owned());
        self.add(id, CheckStatus::Note, message.into(), hint);
    }

    /// Adds a check that failed.
    fn bad(&mut self, id: &str, message: impl Into<String>, hint: Option<String>) {
        self.add(id, CheckStatus::Bad, message.into(), hint);
    }
}

/// Checks the home of `workspace`. `fix` also repairs problems that need no decision.
pub fn examine(workspace: &Workspace, fix: bool) -> Done<CheckList> {
    let mut found = Findings::default();
    home::check(&workspace.locate()?, fix, &mut found)?;
    match workspace.home() {
        Ok(home) => {
            found.good("config.valid", "the configuration can be read");
            skills::check(&home, workspace, &mut found);
            check_parts(&home, workspace, &mut found);
        }
        Err(failure) => found.bad("config.valid", failure.message, failure.hint),
    }
    Ok(CheckList::new(found.0))
}

fn check_parts(home: &Home, workspace: &Workspace, found: &mut Findings) {
    home::check_zone(home, found);
    tools::check_channel(home, found);
    tools::check_hosts(found);
    models::check(home, found);
    check_daemon(home, found);
    server::check_certificate(home, Timestamp::now(), found);
    server::check_tokens(workspace, found);
    hooks::check(workspace, found);
    // Opening would create a missing database, and a check changes nothing.
    let exists = home.config.store.path.exists();
    let opened = if exists {
        App::open(workspace)
    } else {
        App::to_read(workspace)
    };
    match opened {
        Ok(app) => {
            if exists {
                found.good("store.open", "the database can be read and written");
            } else {
                let hint = "the first run creates it, and so does `deft up`";
                found.note("store.open", "no database yet", hint);
            }
            app.block_on(async {
                store::check(&app, found).await;
                tools::check_servers(home, &app, found).await;
                tools::check_exports(&app, found).await;
                models::check_answers(&app, found).await;
                tools::check_channel_tool(home, &app, found).await;
                tools::check_compute(home, found).await;
                telemetry::check(home, found).await;
            });
            app.close();
        }
        Err(failure) => {
            found.bad("store.open", failure.message, failure.hint);
            // If only writing fails, the content can still be checked.
            if let Ok(app) = App::to_read(workspace) {
                app.block_on(store::check(&app, found));
            }
        }
    }
}

fn check_daemon(home: &Home, found: &mut Findings) {
    match Lock::holder(&home.path) {
        Some(pid) => {
            found.good(
                "daemon.up",
                format!("the daemon is running (process {pid})"),
            );
            server::check_api(home, found);
        }
        None => found.note(
            "daemon.up",
            "no daemon is running: schedules do not run",
            "`deft up` starts it; or run `deft tick` from cron",
        ),
    }
}
