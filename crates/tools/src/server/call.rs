//! One call of a server's tool: admission, sending, waiting, and judging the result.
//!
//! Not here: preparing and checking arguments (`../router.rs`), and the failures of connection errors
//! (`fault.rs`).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use deft_model::{Failure, Object, Outage};
use rmcp::model::ServerResult;
use rmcp::service::ServiceError;

use super::link::{Link, PendingCall};
use super::phase::Phase;
use super::watch::SentFlag;
use super::{Server, ToolSet, fault};
use crate::call::CallMark;
use crate::limit::{Limit, Stop};
use crate::reply::{self, Answer};

impl Server {
    /// Calls a tool within the limit.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: Object,
        mark: CallMark<'_>,
        limit: &Limit,
    ) -> Result<Answer, Failure> {
        self.stats.calls.fetch_add(1, Ordering::Relaxed);
        let outcome = self.attempt(tool, arguments, mark, limit).await;
        let redaction = self.redaction.load();
        let outcome = outcome
            .map(|answer| answer.redact(&redaction))
            .map_err(|failure| redaction.failure(failure))
            .map_err(|failure| self.with_outage(failure));
        if let Err(failure) = &outcome {
            self.stats.failures.fetch_add(1, Ordering::Relaxed);
            self.remember(failure);
        }
        outcome
    }

    async fn attempt(
        self: &Arc<Self>,
        tool: &str,
        arguments: Object,
        mark: CallMark<'_>,
        limit: &Limit,
    ) -> Result<Answer, Failure> {
        self.admit()?;
        let trial = BreakerTrial::new(self);
        let _permit = self
            .wait(
                limit,
                "waiting for other calls, limited by `concurrency`",
                self.slots.acquire(),
            )
            .await?;
        let link = match self.ready() {
            Some(link) => link,
            None => {
                let starting = Box::pin(self.ensure());
                self.wait(limit, "waiting for the server to start", starting)
                    .await??
            }
        };
        link.watch.pulse.stir();
        self.check_tool_exists(tool)?;
        let _flight = InFlightGuard::new(&self.stats.in_flight);
        let sent = SentFlag::default();
        let sending = link.send(tool, arguments, mark, sent.clone());
        let pending = self.wait(limit, "sending the call", sending).await?;
        let pending = pending.map_err(|error| self.judge(&error, &sent, &link))?;
        let outcome = self.await_answer(pending, limit, &link, &sent, tool).await;
        drop(trial);
        outcome
    }

    /// Returns the connection if it is open.
    pub(super) fn ready(&self) -> Option<Arc<Link>> {
        match &*self.phase.borrow() {
            Phase::Ready(link) if !link.is_closed() => Some(link.clone()),
            Phase::Ready(_)
            | Phase::Idle
            | Phase::Starting
            | Phase::Failed { .. }
            | Phase::Closed => None,
        }
    }

    /// Waits for a future before the call is sent: a timeout here has no effect outside.
    pub(super) async fn wait<T>(
        &self,
        limit: &Limit,
        doing: &str,
        what: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        let waited = limit.run(what).await;
        waited.map_err(|stop| limit.failure(stop, &format!("{doing} (server `{}`)", self.name)))
    }

    async fn await_answer(
        self: &Arc<Self>,
        mut pending: PendingCall<'_>,
        limit: &Limit,
        link: &Arc<Link>,
        sent: &SentFlag,
        tool: &str,
    ) -> Result<Answer, Failure> {
        let answer = limit.run(async {
            tokio::select! {
                biased;
                answer = &mut pending.handle.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
                () = link.watch.lost.cancelled() => Err(ServiceError::TransportClosed),
            }
        });
        match answer.await {
            Ok(Ok(result)) => {
                pending.mark_ended();
                self.record_answer();
                self.read(result)
            }
            Ok(Err(error)) => {
                pending.mark_ended();
                // Why the connection ended is recorded a moment later, by the task that follows it.
                Err(self.judge(&error, sent, link))
            }
            Err(stop) => {
                drop(pending);
                if stop == Stop::Late {
                    self.check_response(link);
                }
                let failure = limit.failure(
                    stop,
                    &format!("the tool `{tool}` of the server `{}`", self.name),
                );
                Err(Failure {
                    in_doubt: sent.is_set(),
                    ..failure
                })
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of messages and may add more"
    )]
    fn read(&self, result: ServerResult) -> Result<Answer, Failure> {
        let answer = match result {
            ServerResult::CallToolResult(result) => reply::answer(result),
            ServerResult::CustomResult(odd) => reply::lenient(&odd.0).unwrap_or_else(|| {
                Err(fault::malformed_failure(
                    &self.name,
                    "the answer has no content",
                ))
            }),
            ServerResult::InputRequiredResult(_) => Err(fault::asks_back(&self.name)),
            _ => Err(fault::malformed_failure(
                &self.name,
                "the type of the response does not match the request",
            )),
        }?;
        if answer.bytes > self.max_reply_bytes {
            return Err(fault::too_large(&self.name, self.max_reply_bytes));
        }
        Ok(answer)
    }

    /// Returns the failure for an error, and records its effect on the server.
    pub(super) fn judge(&self, error: &ServiceError, sent: &SentFlag, link: &Link) -> Failure {
        let fault = fault::classify_call(
            &self.name,
            error,
            sent.is_set(),
            &link.watch,
            self.max_reply_bytes,
        );
        match (fault.transport, link.is_closed()) {
            // The task that follows the connection counts this failure.
            (true, true) => {}
            (true, false) => self.breaker.lock().record_failure(Instant::now()),
            (false, _) => self.record_answer(),
        }
        if fault.transport {
            return fault.failure.outage(Outage::Server(self.name.clone()));
        }
        fault.failure
    }

    /// Adds the server as the outage to the failure of a call that could not even be attempted.
    pub(super) fn with_outage(&self, failure: Failure) -> Failure {
        if failure.blocked && failure.outage.is_none() {
            return failure.outage(Outage::Server(self.name.clone()));
        }
        failure
    }

    /// Records that the server answered, with any result.
    pub(super) fn record_answer(&self) {
        self.stats.losses.store(0, Ordering::Relaxed);
        self.breaker.lock().record_success();
    }

    pub(super) fn check_tool_exists(&self, tool: &str) -> Result<(), Failure> {
        let known = self.known.load();
        let has = |known: &Arc<ToolSet>| known.catalog.tools.iter().any(|info| info.name == tool);
        if known.as_ref().is_none_or(has) {
            return Ok(());
        }
        Err(fault::removed_tool(&self.name, tool))
    }
}

/// A call that the circuit admitted. If it ends without a result, the next call may try.
pub(super) struct BreakerTrial<'a>(&'a Server);

impl<'a> BreakerTrial<'a> {
    pub(super) fn new(server: &'a Server) -> Self {
        Self(server)
    }
}

impl Drop for BreakerTrial<'_> {
    fn drop(&mut self) {
        self.0.breaker.lock().record_no_result(Instant::now());
    }
}

/// Counts a call while it is in flight.
pub(super) struct InFlightGuard<'a>(&'a AtomicUsize);

impl<'a> InFlightGuard<'a> {
    pub(super) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
