//! Delivery of notices from the outbox to people: at least once, with receipts, retried after failures, and
//! finally abandoned with a stored reason.
//!
//! Not here: where messages go. Each [`Channel`] decides that.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deft_base::{Base, Error};
use deft_model::{Digest, Failure, FailureClass, RunId};
use deft_store::{NewNotice, NoticeEnd, NoticeRow, Store};
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::Notice;

/// The result of a delivery: a receipt, or the failure and when to try again.
pub type DeliveryResult = Result<String, DeliveryError>;

/// A way in which messages reach people.
pub trait Channel: Send + Sync + 'static {
    /// Delivers a message.
    fn deliver<'a>(
        &'a self,
        parcel: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>>;
}

/// A notice that is being delivered.
pub struct Delivery<'a> {
    /// The message.
    pub notice: &'a Notice,
    /// The idempotency key: the same for every try, so that a receiver can detect duplicates.
    pub key: &'a str,
    row: &'a NoticeRow,
    store: &'a dyn Store,
}

impl<'a> Delivery<'a> {
    /// Returns a parcel for a row of the outbox, which stores how many parts have arrived.
    pub fn new(notice: &'a Notice, key: &'a str, row: &'a NoticeRow, store: &'a dyn Store) -> Self {
        Self {
            notice,
            key,
            row,
            store,
        }
    }

    /// Whether this is the first try; tries that failed as `blocked` are not counted.
    pub fn is_first_try(&self) -> bool {
        self.row.attempts <= 1
    }

    /// Returns how many parts of the message have arrived in earlier tries, for a receiver that takes it in
    /// parts.
    pub fn arrived_parts(&self) -> usize {
        usize::try_from(self.row.parts).unwrap_or(usize::MAX)
    }

    /// Stores that `parts` parts have arrived in total. Stored at once, because this try may be cut off
    /// before it ends.
    pub async fn keep_arrived(&self, parts: usize) {
        let parts = u32::try_from(parts).unwrap_or(u32::MAX);
        // Sending a part twice is better than a message that ends in the middle.
        if let Err(error) = self.store.keep_parts(self.row.id, parts).await {
            tracing::warn!(notice = self.row.id, %error, "the number of delivered parts could not be stored");
        }
    }
}

/// Why the delivery of a notice failed. A `blocked` failure means that no try was possible, because the channel is
/// missing: it does not use up a try and is never the final result.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryError {
    /// The failure.
    pub failure: Failure,
    /// How long the receiver asks to wait before the next try.
    pub retry_after: Option<Duration>,
}

/// Maximum number of messages in delivery at the same time.
const MAX_PARALLEL: u32 = 16;

/// How long a message is reserved for the courier that took it.
const CLAIM_DURATION: SignedDuration = SignedDuration::from_secs(120);

/// Timeout of a try. It ends before another courier may take the message, and a channel that hangs does not
/// delay other messages forever.
const TRY_TIMEOUT: Duration = Duration::from_mins(1);

/// Delays between tries; when they are used up, the message is abandoned.
const RETRY_DELAYS: [SignedDuration; 8] = [
    SignedDuration::from_secs(5),
    SignedDuration::from_secs(30),
    SignedDuration::from_mins(2),
    SignedDuration::from_mins(10),
    SignedDuration::from_mins(30),
    SignedDuration::from_hours(1),
    SignedDuration::from_hours(3),
    SignedDuration::from_hours(6),
];

/// The shortest and longest wait before a missing channel is checked again.
const CHANNEL_POLL_INTERVALS: [SignedDuration; 2] =
    [SignedDuration::from_secs(30), SignedDuration::from_mins(10)];

/// The notices in the store that have not been delivered yet.
#[derive(Clone)]
pub struct Outbox {
    base: Base,
}

impl Outbox {
    /// The outbox of the store of `base`.
    pub fn new(base: Base) -> Self {
        Self { base }
    }

    /// Adds a notice that belongs to no run. Returns false if the outbox already had one with the same key.
    pub async fn post(&self, key: impl Into<String>, notice: &Notice) -> Result<bool, Error> {
        let new = NewNotice {
            key: key.into(),
            skill: notice.skill.clone(),
            body: notice.body(),
            at: self.base.now(),
        };
        let added = self.base.store().add_notice(new).await?;
        self.base.bells().messages.notify_waiters();
        Ok(added)
    }

    /// Tries once to send every due notice. Returns how many arrived.
    pub async fn deliver_due(&self, channel: &Arc<dyn Channel>) -> Result<usize, Error> {
        let mut arrived = 0;
        loop {
            let mut lines = Lines::default();
            lines.add(self.due(MAX_PARALLEL).await?);
            let waiting = lines.begin();
            if waiting.is_empty() {
                return Ok(arrived);
            }
            let tries = waiting.into_iter().map(|line| self.send(line, channel));
            for (_, sent) in join_all(tries).await {
                arrived += sent?;
            }
        }
    }

    /// Sends notices as they become due, until `stop` is cancelled; then waits for deliveries in flight. A
    /// slow delivery delays only notices to the same receiver.
    pub async fn deliver_until(
        &self,
        channel: &Arc<dyn Channel>,
        stop: &CancellationToken,
    ) -> Result<(), Error> {
        let mut lines = Lines::default();
        let mut tries = FuturesUnordered::new();
        loop {
            let bell = self.base.bells().messages.notified();
            let room = MAX_PARALLEL.saturating_sub(lines.count_in_flight());
            let mut next = None;
            if room > 0 {
                lines.add(self.due(room).await?);
                next = self.base.store().next_notice().await?;
            }
            let begun = lines.begin().into_iter();
            tries.extend(begun.map(|line| self.send(line, channel)));
            let sleep = match next {
                Some(at) => self.base.clock().sleep_until(at),
                None => Box::pin(std::future::pending()),
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some((place, sent)) = tries.next(), if !tries.is_empty() => {
                    lines.end(place);
                    sent?;
                }
                () = sleep => {}
                () = bell => {}
            }
        }
        while let Some((_, sent)) = tries.next().await {
            sent?;
        }
        Ok(())
    }

    /// Takes at most `most` due notices and reserves them, so that no other courier sends them meanwhile.
    async fn due(&self, most: u32) -> Result<Vec<NoticeRow>, Error> {
        let now = self.base.now();
        let until = now.saturating_add(CLAIM_DURATION).unwrap_or(Timestamp::MAX);
        Ok(self.base.store().take_notices(now, until, most).await?)
    }

    /// Sends the notices of one receiver in order. Returns the receiver and how many arrived.
    async fn send(
        &self,
        line: Line,
        channel: &Arc<dyn Channel>,
    ) -> (Option<String>, Result<usize, Error>) {
        let sent = self.send_in_order(&line.rows, channel).await;
        (line.place, sent)
    }

    async fn send_in_order(
        &self,
        rows: &[NoticeRow],
        channel: &Arc<dyn Channel>,
    ) -> Result<usize, Error> {
        let (mut arrived, mut silent_until) = (0, None);
        for row in rows {
            let now = self.base.now();
            if let Some(at) = silent_until.or_else(|| too_late(row, now)) {
                // Not tried, so that no try is used up; it becomes due again at `at`.
                let error =
                    "not sent yet: earlier notices to the same receiver took too long".to_owned();
                let end = NoticeEnd::Later { at, error };
                self.base.store().end_notice(row.id, end, now).await?;
                continue;
            }
            match self.try_to_send(row, channel).await? {
                SendResult::Arrived => arrived += 1,
                SendResult::Failed => {}
                SendResult::Refused(until) => silent_until = Some(until),
            }
        }
        Ok(arrived)
    }

    async fn try_to_send(
        &self,
        row: &NoticeRow,
        channel: &Arc<dyn Channel>,
    ) -> Result<SendResult, Error> {
        let key = key_of(row);
        let delivered = match serde_json::from_str::<Notice>(&row.body) {
            Ok(notice) => {
                let parcel = Delivery::new(&notice, &key, row, &**self.base.store());
                let sent = tokio::time::timeout(TRY_TIMEOUT, channel.deliver(&parcel)).await;
                sent.unwrap_or_else(|_| Err(no_answer()))
            }
            Err(error) => Err(DeliveryError {
                failure: Failure::new(FailureClass::Invalid, error.to_string()),
                retry_after: None,
            }),
        };
        let now = self.base.now();
        let asked = delivered.as_ref().err().and_then(|it| it.retry_after);
        let end = match delivered {
            Ok(receipt) => NoticeEnd::Sent { receipt },
            Err(undelivered) => after_failure(row, &undelivered, now),
        };
        let tried = match &end {
            NoticeEnd::Sent { .. } => SendResult::Arrived,
            NoticeEnd::Again { at, .. } if asked.is_some() => SendResult::Refused(*at),
            NoticeEnd::Again { .. } | NoticeEnd::Later { .. } | NoticeEnd::Dead { .. } => {
                SendResult::Failed
            }
        };
        if let NoticeEnd::Again { at, error } | NoticeEnd::Later { at, error } = &end {
            tracing::warn!(
                notice = row.id, %error, next_try = %at,
                "delivery of a notice failed; retrying"
            );
        }
        if let NoticeEnd::Dead { error } = &end {
            tracing::error!(
                notice = row.id, skill = row.skill, %error,
                "delivery of a notice failed permanently"
            );
        }
        self.base.store().end_notice(row.id, end, now).await?;
        Ok(tried)
    }
}

/// The result of a try.
enum SendResult {
    Arrived,
    Failed,
    /// The receiver asks for no message before this time.
    Refused(Timestamp),
}

/// Notices to one receiver, oldest first.
struct Line {
    /// `None` for the default receiver, where messages need no order.
    place: Option<String>,
    rows: Vec<NoticeRow>,
}

/// Notices that were taken from the store. Notices to a named receiver are sent one after the other: parts of
/// two answers must not mix, and a chat reads from top to bottom.
#[derive(Default)]
struct Lines {
    waiting: Vec<Line>,
    /// Named receivers with a delivery in flight; deliveries to the default receiver are only counted.
    busy: Vec<String>,
    others: usize,
}

impl Lines {
    fn add(&mut self, rows: Vec<NoticeRow>) {
        for row in rows {
            let notice = serde_json::from_str::<Notice>(&row.body);
            let place = notice.ok().and_then(|notice| notice.target);
            let same = |line: &&mut Line| place.is_some() && line.place == place;
            match self.waiting.iter_mut().find(same) {
                Some(line) => line.rows.push(row),
                None => self.waiting.push(Line {
                    place,
                    rows: vec![row],
                }),
            }
        }
    }

    /// Removes and returns the lines whose receivers are free, and marks these as busy.
    fn begin(&mut self) -> Vec<Line> {
        let busy = &self.busy;
        let free = |line: &mut Line| !line.place.as_ref().is_some_and(|it| busy.contains(it));
        let begun: Vec<Line> = self.waiting.extract_if(.., free).collect();
        for line in &begun {
            match &line.place {
                Some(place) => self.busy.push(place.clone()),
                None => self.others += 1,
            }
        }
        begun
    }

    fn end(&mut self, place: Option<String>) {
        match place {
            Some(place) => self.busy.retain(|busy| *busy != place),
            None => self.others = self.others.saturating_sub(1),
        }
    }

    fn count_in_flight(&self) -> u32 {
        let waiting: usize = self.waiting.iter().map(|line| line.rows.len()).sum();
        u32::try_from(self.busy.len() + self.others + waiting).unwrap_or(u32::MAX)
    }
}

/// Returns when to retry a notice that has waited so long that its own try could outlast its reservation;
/// `None` if there is enough time.
fn too_late(row: &NoticeRow, now: Timestamp) -> Option<Timestamp> {
    let timeout = SignedDuration::try_from(TRY_TIMEOUT).unwrap_or(CLAIM_DURATION);
    let over = now.saturating_add(timeout).unwrap_or(Timestamp::MAX);
    let late = row.try_at.is_some_and(|until| over > until);
    late.then_some(now)
}

/// Returns the idempotency key of a message: the same for every try, and different in every home. The row id
/// alone would be reused by a new database, and a receiver would take its first message for a duplicate.
fn key_of(row: &NoticeRow) -> String {
    let run = row.run.as_ref().map_or("", RunId::as_str);
    let at = row.at.as_nanosecond();
    let whole = format!("{}\n{run}\n{}\n{at}\n{}", row.id, row.key, row.body);
    let digest = Digest::sha256(whole.as_bytes()).to_string();
    format!("notice-{}", digest.get(..32).unwrap_or(&digest))
}

fn no_answer() -> DeliveryError {
    let message = format!("no answer within {} s", TRY_TIMEOUT.as_secs());
    DeliveryError {
        failure: Failure::new(FailureClass::Timeout, message),
        retry_after: None,
    }
}

/// Decides what follows a failed try. A wrong address or token is not retried.
fn after_failure(row: &NoticeRow, undelivered: &DeliveryError, now: Timestamp) -> NoticeEnd {
    let failure = &undelivered.failure;
    let error = format!("{}: {}", failure.class, failure.message);
    if failure.blocked {
        // The wait grows with the age of the message, so that no counter is needed.
        let [least, most] = CHANNEL_POLL_INTERVALS;
        let wait = now.duration_since(row.at).clamp(least, most);
        let at = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
        return NoticeEnd::Later { at, error };
    }
    let hopeless = matches!(
        failure.class,
        FailureClass::Auth | FailureClass::Invalid | FailureClass::NotFound
    );
    let step = usize::try_from(row.attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(wait) = RETRY_DELAYS.get(step).filter(|_| !hopeless) else {
        return NoticeEnd::Dead { error };
    };
    let asked = undelivered.retry_after;
    let asked = asked.and_then(|wait| SignedDuration::try_from(wait).ok());
    let wait = asked.map_or(*wait, |asked| asked.max(SignedDuration::from_secs(1)));
    NoticeEnd::Again {
        at: now.saturating_add(wait).unwrap_or(Timestamp::MAX),
        error,
    }
}
