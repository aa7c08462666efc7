//! Signs in to servers that require OAuth, and signs out.
//!
//! Not here: the OAuth protocol (`deft-tools`), and showing the address to a person (front ends).

use std::time::Duration;

use deft_config::{Home, SignInState, SignIns};
use deft_model::{Failure as ToolFailure, FailureClass};
use deft_schedule::show;
use deft_tools::{Credentials, Grant, PendingSignIn};
use deft_wire::server::{SignInResult, SignInView, SignInWord, SignedOut};
use deft_wire::{Done, Failure, FailureKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::callback::Callback;
use crate::doorbell::{self, Ring};
use crate::router::{CatalogRouter, remember};
use crate::store;
use crate::tools::{WithWarnings, no_such_server};
use crate::workspace::Workspace;

/// A sign-in that waits for the user.
pub struct SignIn {
    home: Home,
    server: String,
    opened: CatalogRouter,
    pending: PendingSignIn,
    callback: Callback,
}

/// The end of the wait for the user.
enum SignInEnd {
    Returned(String),
    TimedOut,
}

impl SignIn {
    /// Queries the requirements of the server and prepares the address for the browser. `scopes` are
    /// requested in addition to those that the server names.
    pub async fn begin(workspace: &Workspace, server: &str, scopes: &[String]) -> Done<Self> {
        let home = workspace.home()?;
        let Some(options) = home.config.tools.servers.get(server) else {
            return Err(no_such_server(server, &home));
        };
        if options.oauth.grant == Grant::ClientCredentials {
            let message = format!("`{server}` is signed in to with the client's own secret");
            let hint = format!("`deft mcp probe {server}` tests it; no sign-in is needed");
            return Err(Failure::input("sign_in", message).hint(hint));
        }
        let callback = Callback::listen(options.oauth.callback_port).await?;
        let store = store::open(&home)?;
        let opened = CatalogRouter::to_ask_one(&home, store, server, workspace.tell).await?;
        let redirect = callback.address();
        let begun = opened.router.sign_in(server, &redirect, scopes).await;
        let pending = match begun {
            Ok(pending) => pending,
            Err(failure) => {
                opened.close().await;
                return Err(sign_in_failure(failure));
            }
        };
        Ok(Self {
            server: server.to_owned(),
            home,
            opened,
            pending,
            callback,
        })
    }

    /// Returns the address where the user signs in.
    pub fn url(&self) -> &str {
        self.pending.url()
    }

    /// Waits until the browser calls back, or `brought` yields the address where the browser ended. `None`
    /// after `timeout`.
    pub async fn wait(
        self,
        timeout: Duration,
        brought: impl Future<Output = String>,
    ) -> Done<Option<WithWarnings<SignInResult>>> {
        let state = self.pending.state().to_owned();
        let step = tokio::select! {
            returned = self.callback.wait(&state) => SignInEnd::Returned(returned),
            returned = brought => SignInEnd::Returned(returned),
            () = tokio::time::sleep(timeout) => SignInEnd::TimedOut,
        };
        let SignInEnd::Returned(returned) = step else {
            self.opened.close().await;
            return Ok(None);
        };
        let completed = self.pending.complete(&returned).await;
        let granted = match completed {
            Ok(granted) => granted,
            Err(failure) => {
                self.opened.close().await;
                return Err(sign_in_failure(failure));
            }
        };
        let zone = self.home.moment().zone;
        let sign_in = view(&state_of(&granted), Timestamp::now(), &zone);
        finish(self.home, self.server, self.opened, sign_in)
            .await
            .map(Some)
    }
}

/// Lists the tools of the server, which needs the sign-in, and notifies a running daemon.
async fn finish(
    home: Home,
    server: String,
    opened: CatalogRouter,
    sign_in: SignInView,
) -> Done<WithWarnings<SignInResult>> {
    let failed = opened.router.list_servers().await.pop();
    let error = failed.map(|(_, failure)| failure.message);
    let store = store::open(&home)?;
    remember(&*store, &server, error.as_deref()).await;
    let catalog = opened.catalog(&server).filter(|_| error.is_none());
    doorbell::ring(&home.path, Ring::Tools);
    let signed_in = SignInResult {
        ok: true,
        server,
        sign_in,
        tools: catalog.map(|(catalog, _)| catalog.tools.len()),
        error,
    };
    Ok(WithWarnings::close(signed_in, opened).await)
}

/// Deletes the sign-in to a server, which need not be configured any more.
pub async fn sign_out(workspace: &Workspace, server: &str) -> Done<SignedOut> {
    let home = workspace.home()?;
    let known = home.config.tools.servers.contains_key(server);
    if !known && SignIns::new(&home.path).state(server).is_none() {
        return Err(no_such_server(server, &home));
    }
    let opened = CatalogRouter::to_read(&home, workspace.tell).await?;
    let removed = opened.router.sign_out(server).map_err(sign_in_failure);
    opened.close().await;
    let removed = removed?;
    doorbell::ring(&home.path, Ring::Tools);
    Ok(SignedOut {
        ok: true,
        server: server.to_owned(),
        removed,
    })
}

/// Returns the sign-in to a server, if it belongs to the address in the configuration.
pub(crate) fn sign_in_of(home: &Home, server: &str, zone: &TimeZone) -> Option<SignInView> {
    let url = home.config.tools.servers.get(server)?.url.as_ref()?;
    let state = SignIns::new(&home.path).state(server)?;
    (normal(&state.url) == normal(url)).then(|| view(&state, Timestamp::now(), zone))
}

/// Returns the note of `deft doctor` about the sign-in to a server that answers.
pub(crate) fn sign_in_note(home: &Home, server: &str) -> String {
    let sign_in = sign_in_of(home, server, &home.moment().zone);
    match sign_in.map(|sign_in| sign_in.until) {
        Some(Some(until)) => format!(", signed in until {until}"),
        Some(None) => ", signed in".to_owned(),
        None => String::new(),
    }
}

/// Removes the slash that a parser adds to a bare host.
fn normal(url: &str) -> &str {
    url.trim_end_matches('/')
}

fn state_of(granted: &Credentials) -> SignInState {
    SignInState {
        url: granted.url.clone(),
        issuer: granted.issuer.clone(),
        scopes: granted.scopes.clone(),
        expires_at: granted.expires_at,
        renewable: granted.refresh_token.is_some(),
        granted_at: granted.granted_at,
    }
}

fn view(state: &SignInState, now: Timestamp, zone: &TimeZone) -> SignInView {
    let ended = state.expires_at.is_some_and(|end| end <= now);
    SignInView {
        state: match (ended, state.renewable) {
            (false, _) => SignInWord::Valid,
            (true, true) => SignInWord::Renewable,
            (true, false) => SignInWord::Ended,
        },
        until: state.expires_at.map(|end| show(end, zone)),
        renewable: state.renewable,
        scopes: state.scopes.clone(),
        issuer: state.issuer.clone(),
    }
}

/// Converts the failure of a sign-in for front ends.
fn sign_in_failure(failure: ToolFailure) -> Failure {
    let is_input = matches!(
        failure.class,
        FailureClass::Invalid | FailureClass::NotFound
    );
    let kind = if is_input {
        FailureKind::Input
    } else {
        FailureKind::Unsuccessful
    };
    Failure {
        kind,
        ..Failure::input("sign_in", failure.message).maybe_hint(failure.hint)
    }
}
