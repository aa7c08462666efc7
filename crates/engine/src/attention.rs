//! How a host attends to a run: the person who can answer, and the receivers of its texts and events.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use deft_llm::Delta;
use deft_model::RunId;
use deft_workflow::Answer;

use crate::Transcript;
use crate::question::Question;

/// The name of the person at the terminal in records.
const TERMINAL: &str = "the person at the terminal";

/// The answer of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The answer.
    pub answer: Answer,
    /// Whether a yes also covers later calls: all calls of the tool if the question offers that, else the
    /// same operation.
    pub always: bool,
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            always: false,
        }
    }
}

/// A response that arrives later; `None` if the person left without giving one.
pub type PendingResponse = Pin<Box<dyn Future<Output = Option<Response>> + Send>>;

/// A person who can answer right now.
pub trait Asker: Send + Sync + 'static {
    /// Asks the person.
    fn ask(&self, question: Question) -> PendingResponse;

    /// The name of the person for the record.
    fn name(&self) -> String {
        TERMINAL.to_owned()
    }
}

/// How a host attends to a run while it is driven.
#[derive(Clone, Default)]
pub struct Attention {
    /// A person at the terminal.
    pub asker: Option<Arc<dyn Asker>>,
    /// If set, confirmations are answered with yes, and the record names this as the source.
    pub assume_yes: Option<String>,
    /// Whether a long wait parks the run and releases its lease. Set by hosts that keep running and claim
    /// due runs: the pool of `deft up`, `deft tick` and the Telegram bot. Not set by `deft run` and the chat
    /// at the terminal, whose process waits itself.
    pub parks: bool,
    /// Receives the answers of the run's agent while they are written.
    pub listener: Option<DeltaListener>,
    /// Receives the id of the run as soon as it is admitted.
    pub admitted: Option<Arc<OnceLock<RunId>>>,
    /// Collects the events of the run for a caller that shows them when it has ended.
    pub transcript: Option<Arc<Transcript>>,
}

impl Attention {
    pub(crate) fn note(&self, run: &RunId) {
        if let Some(admitted) = &self.admitted {
            admitted.get_or_init(|| run.clone());
        }
    }
}

/// Receives an answer of the model while it is written.
pub type DeltaListener = Arc<dyn Fn(Delta) + Send + Sync>;
