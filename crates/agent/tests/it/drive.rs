//! A driver that runs a machine as the engine does. After every event it compares the machine with one
//! rebuilt from the log, and its outstanding requests with those that were handed out.

use std::collections::VecDeque;

use deft_agent::{Address, AgentEnd, Event, EventKind, Machine, Request, Setup};
use deft_model::{Failure, Message};

use crate::world::World;

/// More events than any case has; an agent that exceeds it does not end.
const MAX_EVENTS: usize = 5_000;

pub(crate) struct Driver {
    pub machine: Machine,
    pub setup: Setup,
    pub world: World,
    pub log: Vec<Event>,
    pub performed: Vec<Request>,
    pub crashes: Vec<usize>,
    pub retries: usize,
    /// Why the answers are rejected, one after the other.
    pub rejections: VecDeque<Failure>,
    /// Whether the last of the pending requests ends next, instead of the first.
    pub late: bool,
    pub stop: Option<(usize, Failure)>,
    pending: Vec<Request>,
    said: Vec<Message>,
}

impl Driver {
    pub(crate) fn new(setup: Setup, world: World) -> Self {
        Self {
            machine: Machine::new(),
            setup,
            world,
            log: Vec::new(),
            performed: Vec::new(),
            crashes: Vec::new(),
            retries: 0,
            rejections: VecDeque::new(),
            late: false,
            stop: None,
            pending: Vec::new(),
            said: Vec::new(),
        }
    }

    pub(crate) fn run(&mut self) {
        let began = self.machine.began(&Address::root(), self.setup.clone());
        self.record(&began);
        loop {
            assert!(self.log.len() < MAX_EVENTS, "the agent does not end");
            let decided = self.machine.advance(&self.world);
            self.stored(&decided);
            if self.crash() || self.halt() {
                continue;
            }
            self.pending.extend(self.machine.take_requests());
            self.check();
            if self.machine.end().is_some() {
                if self.succeeded()
                    && let Some(failure) = self.rejections.pop_front()
                {
                    let rejected = self.machine.reject(&failure);
                    assert_eq!(rejected.len(), 1);
                    self.stored(&rejected);
                    continue;
                }
                if self.retries == 0 {
                    return;
                }
                self.retries -= 1;
                self.world.gone.clear();
                let reopened = self.machine.retry();
                assert!(!reopened.is_empty() || self.succeeded());
                self.stored(&reopened);
                continue;
            }
            let next = if self.late { self.pending.len() - 1 } else { 0 };
            let request = self.pending.remove(next);
            let event = self.world.perform(&self.machine, &self.setup, &request);
            self.performed.push(request);
            self.record(&event);
        }
    }

    pub(crate) fn succeeded(&self) -> bool {
        let finished = self.machine.end().unwrap();
        finished.error.is_none()
    }

    /// Stores an event, then applies what was stored.
    fn record(&mut self, event: &Event) {
        let stored = store(event);
        assert_eq!(stored, *event, "an event does not survive being stored");
        self.machine
            .apply(&stored)
            .unwrap_or_else(|error| panic!("{error}: {stored:?}"));
        self.log.push(stored);
        self.compare();
    }

    /// Stores events that are applied already, and compares a replay.
    fn stored(&mut self, events: &[Event]) {
        self.log.extend(events.iter().map(store));
        self.compare();
    }

    fn compare(&mut self) {
        let replayed = Machine::replay(&self.log).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(replayed, self.machine, "{:#?}", self.log);
        assert_eq!(
            replayed.requests_in_flight(),
            self.machine.requests_in_flight()
        );
        // Lasting messages never change, whatever happens later.
        let said = self.machine.final_messages(&Address::root());
        assert!(said.starts_with(&self.said), "{:?} {said:?}", self.said);
        self.said = said;
    }

    /// Checks that the outstanding requests are those that were handed out and have not ended, each once.
    fn check(&self) {
        let mut pending: Vec<String> = self.pending.iter().map(|it| format!("{it:?}")).collect();
        let outstanding = self.machine.requests_in_flight();
        let mut outstanding: Vec<String> = outstanding.iter().map(|it| format!("{it:?}")).collect();
        pending.sort();
        outstanding.sort();
        assert_eq!(pending, outstanding);
    }

    /// Stops the agent from outside, without waiting for calls in flight.
    fn halt(&mut self) -> bool {
        let going = self.machine.end().is_none();
        let due = |stop: &mut (usize, Failure)| going && stop.0 <= self.log.len();
        let Some((_, failure)) = self.stop.take_if(due) else {
            return false;
        };
        self.lose_requests();
        let end = AgentEnd {
            text: String::new(),
            error: Some(failure),
        };
        let stopped = Event {
            agent: Address::root(),
            what: EventKind::Finished(end),
        };
        self.record(&stopped);
        true
    }

    /// Drops requests that were handed out. Their calls may have been made; their results are lost.
    fn lose_requests(&mut self) {
        let fresh = self.machine.take_requests();
        self.performed.extend(fresh);
        self.performed.append(&mut self.pending);
    }

    /// Simulates a crash: another process continues from the stored events.
    fn crash(&mut self) -> bool {
        let Some(at) = self.crashes.iter().position(|at| *at <= self.log.len()) else {
            return false;
        };
        self.crashes.remove(at);
        self.lose_requests();
        self.machine = Machine::replay(&self.log).unwrap();
        for request in self.machine.requests_in_flight() {
            match self.machine.cut_off(&request) {
                Some(event) => self.record(&event),
                None => self.pending.push(request),
            }
        }
        true
    }
}

/// Returns an event as the store returns it, with the history restored.
fn store(event: &Event) -> Event {
    let text = serde_json::to_string(event).unwrap();
    let mut stored: Event = serde_json::from_str(&text).unwrap();
    if let (EventKind::Began(stored), EventKind::Began(setup)) = (&mut stored.what, &event.what) {
        stored.history = setup.history.clone();
    }
    stored
}
