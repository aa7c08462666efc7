//! One request of a client of deft: admission, sending on a line, waiting, and returning the server's
//! answer unchanged.
//!
//! Not here: choosing the server and checking arguments (`../router/relay.rs`).

#![expect(
    deprecated,
    reason = "servers of older revisions are told the level of logs"
)]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use deft_model::Failure;
use rmcp::ErrorData;
use rmcp::model::{
    ClientRequest, LoggingLevel, RequestMetaObject, ServerResult, SetLevelRequest,
    SetLevelRequestParams,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::call::{BreakerTrial, InFlightGuard};
use super::desk::redact;
use super::link::PendingCall;
use super::pool::{BorrowedLine, Line};
use super::watch::SentFlag;
use super::{Server, fault};
use crate::catalog::Era;
use crate::limit::{Limit, Stop};
use crate::relay::{RelayError, RelayMessage, RelayRequest};

impl Server {
    /// Relays a request. All messages that the server sends before its answer go to `owner`.
    pub(crate) async fn relay(
        self: &Arc<Self>,
        request: RelayRequest,
        owner: mpsc::Sender<RelayMessage>,
        cancel: CancellationToken,
    ) -> Result<ServerResult, RelayError> {
        self.stats.calls.fetch_add(1, Ordering::Relaxed);
        let limit = Limit::new(self.options.timeout, cancel);
        let outcome = self.pass_on(request, owner, &limit).await;
        let outcome = outcome.and_then(|result| self.without_secrets(result));
        outcome.map_err(|error| self.report(error))
    }

    async fn pass_on(
        self: &Arc<Self>,
        request: RelayRequest,
        owner: mpsc::Sender<RelayMessage>,
        limit: &Limit,
    ) -> Result<ServerResult, RelayError> {
        self.admit()?;
        let trial = BreakerTrial::new(self);
        if self.ready().is_none() {
            let starting = Box::pin(self.ensure());
            self.wait(limit, "waiting for the server to start", starting)
                .await??;
        }
        if let ClientRequest::CallToolRequest(call) = &request.request {
            self.check_tool_exists(&call.params.name)?;
        }
        let borrowing = self.borrow(&request.client);
        let mut loan = self
            .wait(limit, "waiting for a free connection", borrowing)
            .await??;
        let _flight = InFlightGuard::new(&self.stats.in_flight);
        let claim = loan.line.desk.claim(owner);
        self.tell_level(&mut loan.line, &request).await;
        let outcome = self.send_on(loan, request, limit).await;
        drop(claim);
        drop(trial);
        outcome
    }

    async fn send_on(
        self: &Arc<Self>,
        loan: BorrowedLine,
        request: RelayRequest,
        limit: &Limit,
    ) -> Result<ServerResult, RelayError> {
        let link = loan.line.link.clone();
        link.watch.pulse.stir();
        let meta = self.meta(&request);
        let sent = SentFlag::default();
        let mut message = request.request;
        if let ClientRequest::CallToolRequest(call) = &mut message {
            call.extensions.insert(sent.clone());
        }
        let sending = link.send_any(message, Some(meta));
        let pending = self.wait(limit, "sending the request", sending).await?;
        let pending = match pending {
            Ok(pending) => pending,
            Err(error) => return Err(self.refusal(&error, &sent, &loan.line)),
        };
        self.await_result(pending, loan, limit, &sent).await
    }

    async fn await_result(
        self: &Arc<Self>,
        mut pending: PendingCall<'_>,
        loan: BorrowedLine,
        limit: &Limit,
        sent: &SentFlag,
    ) -> Result<ServerResult, RelayError> {
        let link = loan.line.link.clone();
        let token = pending.handle.progress_token.clone();
        let stop = loop {
            tokio::select! {
                biased;
                answer = &mut pending.handle.rx => {
                    pending.mark_ended();
                    let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                    return self.answer(answer, loan, sent);
                }
                () = link.watch.lost.cancelled() => {
                    pending.mark_ended();
                    return self.answer(Err(ServiceError::TransportClosed), loan, sent);
                }
                () = limit.cancel.cancelled() => break Stop::Cancelled,
                // The time that a person takes to answer does not count against the server.
                () = tokio::time::sleep(limit.allowed) => if !loan.line.desk.is_asking() {
                    break Stop::Late;
                },
            }
        };
        // Sends the cancellation to the server.
        drop(pending);
        loan.line.desk.give_up(token);
        self.discard_line(loan);
        let doing = format!("the server `{}` was processing the request", self.name);
        let failure = limit.failure(stop, &doing);
        Err(RelayError::from(Failure {
            in_doubt: sent.is_set(),
            ..failure
        }))
    }

    fn answer(
        self: &Arc<Self>,
        answer: Result<ServerResult, ServiceError>,
        loan: BorrowedLine,
        sent: &SentFlag,
    ) -> Result<ServerResult, RelayError> {
        match answer {
            Ok(result) => {
                self.record_answer();
                self.give_back(loan);
                Ok(result)
            }
            Err(error) => {
                let refusal = self.refusal(&error, sent, &loan.line);
                self.give_back(loan);
                Err(refusal)
            }
        }
    }

    /// Passes an error of the server on; converts an error of the connection to a failure.
    fn refusal(&self, error: &ServiceError, sent: &SentFlag, line: &Line) -> RelayError {
        if let ServiceError::McpError(data) = error
            && !fault::is_own(data)
        {
            self.record_answer();
            return RelayError::Protocol(data.clone());
        }
        RelayError::from(self.judge(error, sent, &line.link))
    }

    /// Returns the request's metadata, with the log level in the modern era.
    fn meta(&self, request: &RelayRequest) -> RequestMetaObject {
        let mut meta = request.meta.clone();
        if *self.era.lock() == Some(Era::Modern)
            && let Some(level) = request.client.log_level.as_deref().and_then(read_level)
        {
            meta.set_log_level(level);
        }
        meta
    }

    /// Sends the log level to a server of the legacy era, once per connection.
    async fn tell_level(&self, line: &mut Line, request: &RelayRequest) {
        let wanted = &request.client.log_level;
        let Some(level) = wanted.as_deref().and_then(read_level) else {
            return;
        };
        let info = line.link.info();
        let logs = info.is_some_and(|info| info.capabilities.logging.is_some());
        if line.log_level == *wanted || !logs || *self.era.lock() == Some(Era::Modern) {
            return;
        }
        line.log_level.clone_from(wanted);
        let told = SetLevelRequest::new(SetLevelRequestParams::new(level));
        let told = ClientRequest::SetLevelRequest(told);
        let options = PeerRequestOptions::no_options();
        let sent = line.link.peer.send_request_with_option(told, options).await;
        if let Ok(handle) = sent {
            // A server that rejects the level may send any level; deft filters messages before passing
            // them on.
            drop(handle.await_response().await);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of results; these are the ones that are passed on"
    )]
    fn without_secrets(&self, result: ServerResult) -> Result<ServerResult, RelayError> {
        let redaction = self.redaction.load();
        if redaction.is_empty() {
            return Ok(result);
        }
        let odd = || {
            RelayError::from(fault::malformed_failure(
                &self.name,
                "the answer is unreadable",
            ))
        };
        // Typed, because the library parses results by their shape.
        let clean = match result {
            ServerResult::CallToolResult(it) => redact(it, &redaction).map(ServerResult::from),
            ServerResult::InputRequiredResult(it) => redact(it, &redaction).map(ServerResult::from),
            ServerResult::GetPromptResult(it) => redact(it, &redaction).map(ServerResult::from),
            ServerResult::ReadResourceResult(it) => redact(it, &redaction).map(ServerResult::from),
            ServerResult::CompleteResult(it) => redact(it, &redaction).map(ServerResult::from),
            ServerResult::EmptyResult(it) => Some(ServerResult::EmptyResult(it)),
            ServerResult::CustomResult(it) => redact(it, &redaction).map(ServerResult::from),
            _ => None,
        };
        clean.ok_or_else(odd)
    }

    /// Removes secrets from an error, and counts a failure.
    fn report(&self, error: RelayError) -> RelayError {
        match self.hide_secrets(error) {
            RelayError::Failure(failure) => {
                let failure = self.with_outage(*failure);
                self.stats.failures.fetch_add(1, Ordering::Relaxed);
                self.remember(&failure);
                RelayError::from(failure)
            }
            protocol @ RelayError::Protocol(_) => protocol,
        }
    }

    /// Removes secrets from an error.
    pub(super) fn hide_secrets(&self, error: RelayError) -> RelayError {
        let redaction = self.redaction.load();
        match error {
            RelayError::Protocol(error) => RelayError::Protocol(ErrorData::new(
                error.code,
                redaction.redact_owned(error.message.into_owned()),
                error.data.map(|data| redaction.value(data)),
            )),
            RelayError::Failure(failure) => RelayError::from(redaction.failure(*failure)),
        }
    }
}

fn read_level(word: &str) -> Option<LoggingLevel> {
    let word: Value = json!(word);
    serde_json::from_value(word).ok()
}
