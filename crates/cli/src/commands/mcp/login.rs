//! `deft mcp login` and `logout`: signs in to a server with a browser, and forgets the sign-in.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use deft_config::open_in_browser;
use deft_service::servers::{self, SignIn};
use deft_service::{Workspace, runtime};
use deft_wire::FailureKind;
use deft_wire::server::{SignInResult, SignInView, SignInWord};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::oneshot;

use crate::args::{Global, McpLogin};
use crate::exit::Exit;
use crate::failure::{Done, Failure};
use crate::output::{Output, format_count, say};
use crate::when;

/// The default timeout of a sign-in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_mins(5);

pub(super) fn run(args: &McpLogin, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    runtime::start()?.block_on(async {
        output.note(&format!("asking `{}` how to sign in", args.name));
        let sign_in = SignIn::begin(&workspace, &args.name, &args.scopes).await?;
        let opened = !args.no_browser && open_in_browser(sign_in.url());
        show(sign_in.url(), opened);
        let timeout = args.timeout.unwrap_or(SIGN_IN_TIMEOUT);
        let waiting = sign_in.wait(timeout, read_pasted_address(!opened && !global.no_input));
        let waited = tokio::select! {
            waited = waiting => waited?,
            _ = tokio::signal::ctrl_c() => return Err(interrupted_failure()),
        };
        let Some(signed_in) = waited else {
            output.fail(&late(&args.name));
            return Ok(ExitCode::from(Exit::TimedOut));
        };
        output.warn(signed_in.warnings);
        print(&signed_in.value, &workspace, output)
    })
}

/// Prints the sign-in address. It is printed even with `--quiet` or `--json`, because a person needs it.
fn show(url: &str, opened: bool) {
    if opened {
        say("a browser opens; if it does not, open this address:");
    } else {
        say("open this address in a browser:");
    }
    say(format!("\n  {url}\n"));
}

/// Waits for the redirect address that a person pastes if the browser is on another machine.
async fn read_pasted_address(asks: bool) -> String {
    if asks {
        say(
            "waiting for the browser; if it runs on another machine, paste the URL it was \
             redirected to:",
        );
        let (sender, line) = oneshot::channel();
        // A thread, not a task: a blocked task would keep the runtime from shutting down.
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line);
            let line = line.trim();
            if read.is_ok() && !line.is_empty() {
                drop(sender.send(line.to_owned()));
            }
        });
        if let Ok(line) = line.await {
            return line;
        }
    }
    std::future::pending().await
}

fn print(signed_in: &SignInResult, workspace: &Workspace, output: &Output) -> Done {
    if output.json {
        output.document(signed_in)?;
        return Ok(ExitCode::SUCCESS);
    }
    let zone = workspace.home()?.moment().zone;
    let name = &signed_in.server;
    let state = words(&signed_in.sign_in, name, &zone);
    output.prose(format!("{name}: {state}"))?;
    match (&signed_in.error, signed_in.tools) {
        (Some(error), _) => output.complain(&format!("signed in, but the server failed: {error}")),
        (None, Some(tools)) => output.note(&format_count(tools, "tool")),
        (None, None) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Describes the state of a sign-in.
pub(super) fn words(sign_in: &SignInView, server: &str, zone: &TimeZone) -> String {
    let until = sign_in.until.as_ref().and_then(|until| until.parse().ok());
    let until = until.map(|until| when::time_of_day(until, Timestamp::now(), zone));
    match (sign_in.state, until) {
        (SignInWord::Valid, Some(until)) if sign_in.renewable => {
            format!("signed in until {until}, then renewed")
        }
        (SignInWord::Valid, Some(until)) => format!("signed in until {until}"),
        (SignInWord::Valid, None) => "signed in".to_owned(),
        (SignInWord::Renewable, _) => {
            "signed in; the token is renewed with the next call".to_owned()
        }
        (SignInWord::Ended, _) => {
            format!("the sign-in has expired; sign in again with `deft mcp login {server}`")
        }
    }
}

fn late(server: &str) -> Failure {
    let message = format!("timed out waiting for the browser; not signed in to `{server}`");
    let hint = "try again; `--timeout 15m` waits longer, `--no-browser` takes the address from another machine";
    Failure {
        kind: FailureKind::Unsuccessful,
        ..Failure::input("sign_in_timeout", message).hint(hint)
    }
}

fn interrupted_failure() -> Failure {
    Failure {
        kind: FailureKind::Interrupted,
        ..Failure::input("interrupted", "stopped while waiting for the browser")
    }
}

pub(super) fn logout(name: &str, workspace: &Workspace, output: &Output) -> Done {
    let done = runtime::start()?.block_on(servers::sign_out(workspace, name))?;
    if output.json {
        output.document(&done)?;
    } else if done.removed {
        output.prose(format!("signed out of {name}"))?;
    } else {
        output.note(&format!("`{name}` was not signed in to"));
    }
    Ok(ExitCode::SUCCESS)
}
