//! Properties of every agent in every world: a replay gives the live machine, no finished call is repeated,
//! the order in which calls end does not matter, agents end, and damaged logs are refused.

pub(crate) mod chance;

use std::collections::{HashMap, HashSet, VecDeque};

use deft_agent::{Event, EventKind, Machine, Mode, Request};
use deft_model::{Effects, Failure, FailureClass, Message};
use proptest::prelude::*;

use crate::drive::Driver;
use chance::{MAX_STEPS, agent};

fn driver(seed: u64, cmd: bool) -> Driver {
    let (setup, world) = agent(seed, if cmd { Mode::Cmd } else { Mode::Tools });
    Driver::new(setup, world)
}

/// Returns the failures that reject this many answers.
fn rejected(times: usize) -> VecDeque<Failure> {
    let failure = Failure::new(FailureClass::Invalid, "expected 7");
    vec![failure; times].into()
}

/// The state of a call in a log, and how often the agent was reopened since.
#[derive(Clone, Copy)]
enum CallState {
    Open(u32),
    Doubtful(u32),
    Over,
}

/// Returns calls with effects that were begun again after they had ended, or without consent.
fn repeated(log: &[Event]) -> Vec<String> {
    let mut calls: HashMap<String, CallState> = HashMap::new();
    let mut repeated = Vec::new();
    for event in log {
        match &event.what {
            EventKind::Called {
                turn,
                call,
                effects: Effects::Once,
                ..
            } => {
                let name = format!("{} {turn}.{call}", event.agent);
                match calls.insert(name.clone(), CallState::Open(0)) {
                    // The first reopening finds the call in doubt, the second is consent.
                    None | Some(CallState::Open(2..) | CallState::Doubtful(1..)) => {}
                    Some(CallState::Open(_) | CallState::Doubtful(_) | CallState::Over) => {
                        repeated.push(name);
                    }
                }
            }
            EventKind::Returned {
                turn, call, error, ..
            } => {
                let doubtful = error.as_ref().is_some_and(|it| it.in_doubt || it.blocked);
                let stands = if doubtful {
                    CallState::Doubtful(0)
                } else {
                    CallState::Over
                };
                let call = format!("{} {turn}.{call}", event.agent);
                calls.entry(call).and_modify(|call| *call = stands);
            }
            EventKind::Reopened => calls.values_mut().for_each(|call| match call {
                CallState::Open(times) | CallState::Doubtful(times) => *times += 1,
                CallState::Over => {}
            }),
            _ => {}
        }
    }
    repeated
}

/// Returns calls that succeeded before an answer was rejected and were made again after it.
fn repeated_calls(log: &[Event]) -> Vec<String> {
    let mut open: HashMap<String, String> = HashMap::new();
    let (mut made, mut before) = (Vec::new(), Vec::new());
    let mut again = Vec::new();
    for event in log {
        match &event.what {
            EventKind::Called {
                turn,
                call,
                tool,
                args,
                effects: Effects::Once | Effects::Idempotent,
                ..
            } => {
                let what = format!("{tool} {args:?}");
                if before.contains(&what) {
                    again.push(what.clone());
                }
                open.insert(format!("{} {turn}.{call}", event.agent), what);
            }
            EventKind::Returned {
                turn,
                call,
                error: None,
                ..
            } => made.extend(open.remove(&format!("{} {turn}.{call}", event.agent))),
            EventKind::Rejected { .. } => before.append(&mut made),
            _ => {}
        }
    }
    again
}

/// Whether every call of a reply is followed by its result, in order.
fn is_whole(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::Assistant { calls, .. } if open.is_empty() => {
                open = calls.iter().rev().map(|call| call.id.as_str()).collect();
            }
            Message::Tool { id, .. } if open.last() == Some(&id.as_str()) => {
                open.pop();
            }
            Message::User { .. } if open.is_empty() => {}
            _ => return false,
        }
    }
    open.is_empty()
}

fn requests(driver: &Driver) -> impl Iterator<Item = &[Message]> {
    driver.performed.iter().filter_map(|request| match request {
        Request::CallModel { request, .. } => Some(request.messages.as_slice()),
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_agent_run_ends_without_repeated_calls(
        seed: u64,
        cmd: bool,
        retries in 0_usize..3,
        rejections in 0_usize..3,
        crashes in prop::collection::vec(1_usize..60, 0..3),
        stop in prop::option::of(1_usize..60),
    ) {
        let mut driver = driver(seed, cmd);
        driver.retries = retries;
        driver.rejections = rejected(rejections);
        driver.crashes = crashes;
        let late = Failure::new(FailureClass::Timeout, "too late");
        driver.stop = stop.map(|at| (at, late));
        driver.run();
        prop_assert_eq!(repeated(&driver.log), Vec::<String>::new());
        prop_assert_eq!(repeated_calls(&driver.log), Vec::<String>::new());
        for messages in requests(&driver) {
            prop_assert!(is_whole(messages), "{messages:#?}");
        }
        let last = driver.machine.messages(&deft_agent::Address::root());
        prop_assert!(is_whole(&last), "{last:#?}");
    }

    #[test]
    fn model_requests_stay_within_the_limit(seed: u64, cmd: bool, rejections in 0_usize..3) {
        let mut driver = driver(seed, cmd);
        driver.rejections = rejected(rejections);
        driver.run();
        let mut asked: HashMap<String, u32> = HashMap::new();
        for event in &driver.log {
            if let EventKind::Asked { .. } = event.what {
                *asked.entry(event.agent.to_string()).or_default() += 1;
            }
        }
        prop_assert!(asked.values().all(|times| *times <= MAX_STEPS));
    }

    /// All agents of a run share `max_calls`, including those that work at the same time.
    #[test]
    fn tool_calls_stay_within_the_limit(
        seed: u64,
        cmd: bool,
        late: bool,
        max_calls in 1_u32..12,
        rejections in 0_usize..3,
        crashes in prop::collection::vec(1_usize..60, 0..3),
    ) {
        let mut driver = driver(seed, cmd);
        driver.setup.limits.max_calls = max_calls;
        (driver.late, driver.crashes) = (late, crashes);
        driver.rejections = rejected(rejections);
        driver.run();
        let begun = driver.log.iter().filter_map(|event| match &event.what {
            EventKind::Called { turn, call, .. }
            | EventKind::Question { turn, call, .. }
            | EventKind::Dispatched { turn, call, .. } => Some(format!("{} {turn}.{call}", event.agent)),
            _ => None,
        });
        let begun: HashSet<String> = begun.collect();
        prop_assert!(begun.len() <= max_calls as usize, "{begun:?}");
    }

    #[test]
    fn the_order_of_results_does_not_matter(seed: u64, cmd: bool, retries in 0_usize..2) {
        let [first, last] = [false, true].map(|late| {
            let mut driver = driver(seed, cmd);
            // Which reply exceeds a shared limit depends on their order.
            driver.setup.limits.max_calls = u32::MAX;
            (driver.retries, driver.late) = (retries, late);
            driver.run();
            driver
        });
        let root = deft_agent::Address::root();
        prop_assert_eq!(first.machine.messages(&root), last.machine.messages(&root));
        prop_assert_eq!(first.machine.end(), last.machine.end());
        let sorted = |driver: &Driver| {
            let mut called = driver.machine.called_tools();
            called.sort();
            called
        };
        prop_assert_eq!(sorted(&first), sorted(&last));
    }

    /// Decisions follow from the stored events: from any point of the log, the same events come next.
    #[test]
    fn every_prefix_of_the_log_replays_to_the_same_decisions(
        seed: u64,
        cmd: bool,
        retries in 0_usize..2,
        rejections in 0_usize..2,
    ) {
        let mut driver = driver(seed, cmd);
        driver.rejections = rejected(rejections);
        driver.retries = retries;
        driver.run();
        for at in 0..=driver.log.len() {
            let mut machine = Machine::replay(&driver.log[..at]).unwrap();
            let decided = machine.advance(&driver.world);
            prop_assert!(driver.log[at..].starts_with(&decided), "at {at}: {decided:#?}");
        }
    }

    /// A log in which events are missing, doubled or misplaced is read or refused; a machine that was read
    /// can be driven on.
    #[test]
    fn damaged_logs_do_not_panic(
        seed: u64,
        cmd: bool,
        damage in prop::collection::vec((0_u8..3, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let mut driver = driver(seed, cmd);
        driver.retries = 1;
        driver.rejections = rejected(1);
        driver.run();
        let mut log = driver.log;
        for (kind, one, two) in damage {
            if log.is_empty() {
                break;
            }
            let (one, two) = (one.index(log.len()), two.index(log.len()));
            match kind {
                0 => drop(log.remove(one)),
                1 => log.insert(two, log[one].clone()),
                _ => log.swap(one, two),
            }
        }
        let mut machine = Machine::new();
        for event in &log {
            let before = machine.clone();
            if machine.apply(event).is_err() {
                prop_assert_eq!(&machine, &before, "what is refused changes nothing");
            }
        }
        machine.advance(&driver.world);
        machine.requests_in_flight();
        machine.retry();
        machine.advance(&driver.world);
    }
}
