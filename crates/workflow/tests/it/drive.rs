//! A driver that runs a machine as the engine does, with a scripted world and a manual clock. After every
//! batch of events it compares the machine with one rebuilt from them.

use std::collections::HashMap;
use std::sync::Arc;

use deft_model::{Effects, Failure, FailureClass, Object};
use deft_workflow::{
    Ask, Call, Event, ExpectLevel, Machine, Path, Plan, Rules, RunStart, check_inputs,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::script::{CallResult, Stop};
use crate::world::{World, path};

/// More events than any case has; a run that exceeds it does not end.
const MAX_EVENTS: usize = 60_000;

/// A call that was made.
#[derive(Clone, Debug)]
pub(crate) struct CallRecord {
    pub key: String,
    pub what: String,
    pub once: bool,
}

/// How driving ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Finished,
    /// A question has no answer.
    Parked(String),
}

pub(crate) struct Driver {
    pub plan: Arc<Plan>,
    pub rules: Arc<Rules>,
    pub machine: Machine,
    pub nested: HashMap<String, Arc<Plan>>,
    pub log: Vec<(Timestamp, Event)>,
    pub now: Timestamp,
    pub world: World,
    pub calls: Vec<CallRecord>,
    pub crash_after: Vec<usize>,
    pub stop: Option<Stop>,
    pub resumes: usize,
    pub crashes: Vec<usize>,
    pending: Vec<Ask>,
}

impl Driver {
    pub(crate) fn new(plan: Arc<Plan>, rules: Rules, world: World) -> Self {
        let rules = Arc::new(rules);
        Self {
            machine: Machine::new(Arc::clone(&plan), Arc::clone(&rules)),
            plan,
            rules,
            nested: HashMap::new(),
            log: Vec::new(),
            now: "2026-11-15T12:00:00Z".parse().unwrap(),
            world,
            calls: Vec::new(),
            crash_after: Vec::new(),
            stop: None,
            resumes: 0,
            crashes: Vec::new(),
            pending: Vec::new(),
        }
    }

    pub(crate) fn start(&mut self, inputs: Object) {
        let started = RunStart {
            skill: self.plan.skill().to_owned(),
            revision: self.plan.revision().to_owned(),
            execution_id: "run_1".to_owned(),
            workspace_uri: "file:///work".to_owned(),
            inputs,
            nonce: "n0nce".to_owned(),
            check_failed: None,
            authority: self.world.authority.clone(),
            origin: deft_model::RunOrigin::default(),
        };
        let event = self.machine.start(started);
        self.record(&event);
    }

    /// Stores an event, then applies what was stored.
    pub(crate) fn record(&mut self, event: &Event) {
        let text = serde_json::to_string(event).unwrap();
        let stored: Event = serde_json::from_str(&text).unwrap();
        assert_eq!(stored, *event, "an event does not survive being stored");
        self.machine
            .apply(self.now, &stored)
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        self.log.push((self.now, stored));
    }

    pub(crate) fn run(&mut self) -> Outcome {
        loop {
            assert!(self.log.len() < MAX_EVENTS, "the run does not end");
            self.check();
            let decided = self.machine.advance(self.now, &self.world);
            self.log
                .extend(decided.into_iter().map(|event| (self.now, event)));
            self.check();
            if self.crash() || self.halt() {
                continue;
            }
            self.pending.extend(self.machine.take_asks());
            if self.expire() {
                continue;
            }
            if self.machine.end().is_some() {
                if self.resumes == 0 {
                    return Outcome::Finished;
                }
                self.resumes -= 1;
                self.pending.clear();
                let by = "ann".to_owned();
                self.record(&Event::Resumed { by });
                continue;
            }
            if let Some(question) = self.turn() {
                return Outcome::Parked(question);
            }
        }
    }

    /// Rebuilds the machine from the stored events and checks that it equals the live one.
    fn check(&self) {
        if self.log.len() > 300 && !self.log.len().is_multiple_of(4_999) {
            return;
        }
        let replayed = self.replay();
        assert_eq!(
            replayed.asks_in_flight(),
            self.machine.asks_in_flight(),
            "outstanding asks differ after {:#?}",
            self.log.last()
        );
        assert!(
            replayed == self.machine,
            "not the same after {:#?}\nreplayed {replayed:#?}\nlived {:#?}",
            self.log.last(),
            self.machine
        );
    }

    fn replay(&self) -> Machine {
        let events = self.log.iter().map(|(at, event)| (*at, event));
        Machine::replay(
            Arc::clone(&self.plan),
            Arc::clone(&self.rules),
            self.nested.clone(),
            events,
        )
        .unwrap()
    }

    /// Simulates a crash of the process: only the stored events are left.
    fn crash(&mut self) -> bool {
        let due = self.crash_after.first().copied();
        let Some(after) = due.filter(|after| self.log.len() >= *after) else {
            return false;
        };
        self.crash_after.remove(0);
        self.log.truncate(after.max(1));
        self.crashes.push(self.log.len());
        self.machine = self.replay();
        self.pending.clear();
        for ask in self.machine.asks_in_flight() {
            match &ask {
                Ask::Call { path, attempt, .. } => {
                    let event = self.machine.interruption_event(path, *attempt, self.now);
                    self.record(&event);
                }
                Ask::Heal { .. } | Ask::Sleep { .. } | Ask::Question { .. } => {
                    self.pending.push(ask);
                }
            }
        }
        true
    }

    /// Stops the run: calls in flight are cut off, except those listed as `late`.
    fn halt(&mut self) -> bool {
        let Some(stop) = self.stop.take_if(|stop| self.log.len() >= stop.after) else {
            return false;
        };
        if self.machine.end().is_some() {
            return false;
        }
        self.pending.extend(self.machine.take_asks());
        let failure = Failure::new(stop.class, "stopped by ann");
        self.record(&Event::Stopped { failure });
        let cut = Failure::new(stop.class, "cut off").in_doubt();
        for ask in std::mem::take(&mut self.pending) {
            match ask {
                Ask::Call { path, attempt, .. }
                    if stop.late.iter().any(|late| late == path.as_str()) =>
                {
                    self.end(&path, attempt, Ok(Value::from("late")));
                }
                other => self.cut_off(other, &cut),
            }
        }
        true
    }

    /// Stops nested skills whose deadlines have passed, and cuts off the calls inside them.
    fn expire(&mut self) -> bool {
        let mut expired = false;
        while let Some(event) = self.machine.overdue(self.now) {
            self.record(&event);
            expired = true;
        }
        let stopping = |ask: &mut Ask| expired && self.machine.is_stopping(path(ask));
        let inside: Vec<Ask> = self.pending.extract_if(.., stopping).collect();
        let cut = Failure::new(FailureClass::Cancelled, "cut off").in_doubt();
        for ask in inside {
            self.cut_off(ask, &cut);
        }
        expired
    }

    fn cut_off(&mut self, ask: Ask, cut: &Failure) {
        match ask {
            Ask::Call { path, attempt, .. } => self.end(&path, attempt, Err(cut.clone())),
            Ask::Heal { path, .. } => {
                let event = self
                    .machine
                    .heal_event(&path, Err(cut.clone()), self.now, 10);
                self.record(&event);
            }
            Ask::Sleep { .. } | Ask::Question { .. } => {}
        }
    }

    /// Performs one ask. Returns the question if only a question without an answer is left.
    fn turn(&mut self) -> Option<String> {
        let answered = self.pending.iter().position(|ask| match ask {
            Ask::Question { path, .. } => self.world.has_answer(&stable(path)),
            _ => false,
        });
        if let Some(at) = answered {
            let Ask::Question { path, .. } = self.pending.remove(at) else {
                unreachable!()
            };
            if let Some(answer) = self.world.answer(&stable(&path)) {
                let by = "ann".to_owned();
                self.record(&Event::Answered { path, answer, by });
                return None;
            }
        }
        if let Some(at) = self.world.pick(&self.pending) {
            let ask = self.pending.remove(at);
            self.now += SignedDuration::from_millis(10);
            self.perform(ask);
            return None;
        }
        if self.await_deadline() || self.wake() {
            return None;
        }
        let question = self
            .machine
            .asks_in_flight()
            .into_iter()
            .find_map(|ask| match ask {
                Ask::Question { message, .. } => Some(message),
                _ => None,
            });
        Some(question.expect("something is going on"))
    }

    /// Advances the clock to the next deadline, unless a sleep ends earlier.
    fn await_deadline(&mut self) -> bool {
        let sleeps = self.pending.iter().filter_map(|ask| match ask {
            Ask::Sleep { until, .. } => Some(*until),
            _ => None,
        });
        let first = sleeps.min().unwrap_or(Timestamp::MAX);
        let due = self.machine.next_deadline();
        let Some(due) = due.filter(|due| *due <= first) else {
            return false;
        };
        self.now = self.now.max(due);
        true
    }

    fn wake(&mut self) -> bool {
        let first = self
            .pending
            .iter()
            .enumerate()
            .filter_map(|(at, ask)| match ask {
                Ask::Sleep { until, .. } => Some((*until, at)),
                _ => None,
            });
        let Some((until, at)) = first.min() else {
            return false;
        };
        self.now = self.now.max(until);
        let path = path(&self.pending.remove(at)).clone();
        let waited = self.machine.wait_end_event(&path, self.now);
        self.record(&waited.unwrap_or(Event::Woken { path }));
        true
    }

    fn perform(&mut self, ask: Ask) {
        match ask {
            Ask::Call {
                path,
                attempt,
                call,
                key,
                effects,
                ..
            } => {
                let what = self.describe(&path, &call);
                let once = effects == Effects::Once;
                self.calls.push(CallRecord { key, what, once });
                if let Call::Skill { skill, args } = &*call {
                    self.enter(&path, attempt, skill, args);
                    return;
                }
                let mut name = stable(&path);
                match &*call {
                    Call::Condition => name += "?",
                    Call::Expect {
                        of: ExpectLevel::Step,
                    } => name += "!",
                    Call::Expect {
                        of: ExpectLevel::Skill,
                    } => name += "!!",
                    _ => {}
                }
                let made = self.world.result(&name);
                let made = made.unwrap_or_else(|| {
                    Ok(if call.is_expression() {
                        Value::Bool(true)
                    } else {
                        Value::from(format!("{name} is done"))
                    })
                });
                self.end(&path, attempt, made);
            }
            Ask::Heal { path, heal, key } => {
                let args = Value::Object(heal.args.clone());
                let what = format!("remedy {} {args}", heal.tool);
                let once = false;
                self.calls.push(CallRecord { key, what, once });
                let made = self.world.result(&format!("{}#heal", stable(&path)));
                let result = made.unwrap_or(Ok(Value::Null)).map(drop);
                let event = self.machine.heal_event(&path, result, self.now, 10);
                self.record(&event);
            }
            Ask::Sleep { .. } | Ask::Question { .. } => unreachable!(),
        }
    }

    fn describe(&self, path: &Path, call: &Call) -> String {
        let shown = crate::show::call(call);
        match (call, self.machine.code(path)) {
            (Call::Tool { .. }, _) => format!("tool {shown}"),
            (_, Some(code)) => format!("{shown} over {}", Value::Object(code.scope)),
            (_, None) => shown,
        }
    }

    fn enter(&mut self, path: &Path, attempt: u32, skill: &str, args: &Object) {
        let Some(plan) = self.world.skills.get(skill).cloned() else {
            let message = format!("unknown skill `{skill}`");
            return self.end(
                path,
                attempt,
                Err(Failure::new(FailureClass::NotFound, message)),
            );
        };
        match check_inputs(plan.inputs(), args) {
            Ok(inputs) => {
                self.nested
                    .insert(plan.revision().to_owned(), Arc::clone(&plan));
                let event = self.machine.enter(path, plan, inputs, self.now);
                self.record(&event);
            }
            Err(problems) => {
                let message = problems[0].message.clone();
                self.end(
                    path,
                    attempt,
                    Err(Failure::new(FailureClass::Invalid, message)),
                );
            }
        }
    }

    fn end(&mut self, path: &Path, attempt: u32, made: CallResult) {
        let event = self
            .machine
            .end_call(path, attempt, made, self.now, 10, false);
        self.record(&event);
    }
}

/// Returns a path without the numbers of attempts.
pub(crate) fn stable(path: &Path) -> String {
    let parts = path.as_str().split('/');
    let parts: Vec<&str> = parts.map(|part| part.split('~').next().unwrap()).collect();
    parts.join("/")
}
