//! Runs a case on the built binary and says where it was not as expected.

use std::collections::HashMap;
use std::path::Path;

use deft_testkit::ModelAnswer;
use jiff::Timestamp;
use serde_json::Value;

use crate::case::{Case, Expectation, Step, Test};
use crate::cut::{Cut, Document};
use crate::fill::Filler;
use crate::home::{Home, OutsideWorld};

/// How a case went in one of its homes.
pub(crate) struct Outcome {
    /// The case and the home.
    pub(crate) title: String,
    pub(crate) result: Result<(), String>,
    /// Why it fails today, if it is known to.
    pub(crate) fails: Option<String>,
}

/// Runs a case in each of its homes. The mark `fails` is about the homes with a `!`, or about all.
pub(crate) fn run(case: &Case, documents: &[Document]) -> Vec<Outcome> {
    let plain = [vec!["plain".to_owned()]];
    let homes = if case.homes.is_empty() {
        &plain[..]
    } else {
        &case.homes
    };
    let is_marked = |words: &Vec<String>| words.iter().any(|word| word == "!");
    let all = !homes.iter().any(is_marked);
    let mut outcomes = Vec::new();
    for marked in homes {
        let mut words = marked.clone();
        words.retain(|word| word != "!");
        outcomes.push(Outcome {
            title: format!("{} [{}]", case.title, words.join(" ")),
            result: run_within_a_minute(case, &words, documents),
            fails: case.fails.clone().filter(|_| all || is_marked(marked)),
        });
    }
    outcomes
}

/// Runs a case in a home. Schedules count whole minutes of the real clock, so that a case may see another
/// slot than it names if a minute ends while it runs: then it is run again, in a new home. A case takes
/// seconds, so that two ends in a row are none of the clock's doing.
fn run_within_a_minute(
    case: &Case,
    words: &[String],
    documents: &[Document],
) -> Result<(), String> {
    let minute = |at: Timestamp| at.as_second().div_euclid(60);
    let mut filling = filler(case, documents)?;
    let result = run_in(case, words, &mut filling);
    if result.is_ok() || minute(filling.begun) == minute(Timestamp::now()) {
        return result;
    }
    run_in(case, words, &mut filler(case, documents)?)
}

fn filler<'a>(case: &Case, documents: &'a [Document]) -> Result<Filler<'a>, String> {
    let mut cuts = Vec::new();
    let mut lines = Vec::new();
    let known = if documents.is_empty() {
        &[][..]
    } else {
        &case.cuts
    };
    for reference in known {
        let (document, cut) = find(documents, &reference.place)
            .ok_or_else(|| format!("there is no cut `{}`", reference.place))?;
        cuts.push(cut);
        lines.push(document.lines.as_slice());
    }
    Ok(Filler {
        cuts,
        lines,
        begun: Timestamp::now(),
        kept: HashMap::new(),
    })
}

/// The cut at a place.
pub(crate) fn find<'a>(documents: &'a [Document], place: &str) -> Option<(&'a Document, &'a Cut)> {
    documents.iter().find_map(|document| {
        let cut = document.cuts.iter().find(|cut| cut.to_string() == place)?;
        Some((document, cut))
    })
}

fn run_in(case: &Case, words: &[String], filler: &mut Filler<'_>) -> Result<(), String> {
    let mut answers = Vec::new();
    for answer in &case.answers {
        let answer = filler.fill(answer)?;
        let value =
            serde_json::from_str(&answer).map_err(|problem| format!("{problem}: {answer}"))?;
        answers.push(ModelAnswer::from_json(&value));
    }
    let home = Home::new(words, answers);
    let mut before = home.reached();
    for step in &case.steps {
        match step {
            Step::Write { path, text } => {
                home.world.write(&filler.fill(path)?, filler.fill(text)?);
            }
            Step::Run { args, expected } => {
                let mut words: Vec<String> = Vec::new();
                for arg in args {
                    words.push(filler.fill(arg)?);
                }
                let after = CommandResult::new(&home, words, expected);
                let done = check_all(&after, &before, expected, filler);
                done.map_err(|problem| {
                    format!("`{}`: {problem}\n{}", args.join(" "), after.shown())
                })?;
                before = after.reached;
            }
        }
    }
    Ok(())
}

/// The result of a command.
struct CommandResult {
    code: i32,
    out: String,
    err: String,
    document: Option<Value>,
    reached: OutsideWorld,
}

impl CommandResult {
    /// Runs the binary; a case that looks into the document asks for one.
    fn new(home: &Home, mut args: Vec<String>, expected: &[Expectation]) -> Self {
        let looks = |one: &Expectation| matches!(one, Expectation::At(..) | Expectation::Set(..));
        if expected.iter().any(looks) {
            args.push("--json".to_owned());
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        if let ["look", path] = args[..] {
            return Self {
                code: 0,
                out: look(&home.world.path(path)),
                err: String::new(),
                document: None,
                reached: home.reached(),
            };
        }
        let output = home.world.output(&args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code().unwrap_or(-1),
            document: serde_json::from_slice(&output.stdout).ok(),
            out: text(&output.stdout),
            err: text(&output.stderr),
            reached: home.reached(),
        }
    }

    fn shown(&self) -> String {
        let cut = |text: &str| text.chars().take(4000).collect::<String>();
        format!(
            "exit {}\n--- stdout\n{}\n--- stderr\n{}\n--- messages {:?}\n--- calls {:?}",
            self.code,
            cut(&self.out),
            cut(&self.err),
            self.reached.messages,
            self.reached.calls,
        )
    }
}

/// The text of a file, or of all files in a folder.
fn look(path: &Path) -> String {
    let Ok(folder) = std::fs::read_dir(path) else {
        return std::fs::read_to_string(path).unwrap_or_default();
    };
    let files = folder.flatten().map(|entry| entry.path());
    files.map(|file| look(&file)).collect()
}

fn check_all(
    after: &CommandResult,
    before: &OutsideWorld,
    expected: &[Expectation],
    filler: &mut Filler<'_>,
) -> Result<(), String> {
    let code = expected.iter().find_map(|one| match one {
        Expectation::Exit(code) => Some(*code),
        _ => None,
    });
    let wanted = code.unwrap_or(Some(0));
    if wanted.map_or(after.code == 0, |wanted| wanted != after.code) {
        return Err(format!("exit {}, wanted {wanted:?}", after.code));
    }
    check_outside(after, before, expected, filler)?;
    for one in expected {
        check_one(after, before, one, filler)?;
    }
    Ok(())
}

/// Calls and messages are given in full, or not at all.
fn check_outside(
    after: &CommandResult,
    before: &OutsideWorld,
    expected: &[Expectation],
    filler: &Filler<'_>,
) -> Result<(), String> {
    let mut calls = after.reached.calls[before.calls.len()..].iter();
    let mut messages = after.reached.messages[before.messages.len()..].iter();
    let (mut looks_at_calls, mut looks_at_messages) = (false, false);
    for one in expected {
        match one {
            Expectation::Called(wanted) => {
                looks_at_calls = true;
                let Some((tool, arguments)) = wanted else {
                    continue;
                };
                let Some((found, given)) = calls.next() else {
                    return Err(format!("`{tool}` was not called"));
                };
                let (tool, arguments) = (filler.fill(tool)?, filler.fill(arguments)?);
                let arguments: Value = serde_json::from_str(&arguments)
                    .map_err(|problem| format!("{problem}: {arguments}"))?;
                if *found != tool || *given != arguments {
                    return Err(format!(
                        "wanted `{tool}` {arguments}, came `{found}` {given}"
                    ));
                }
            }
            Expectation::Told(wanted) => {
                looks_at_messages = true;
                let Some((chat, text)) = wanted else { continue };
                let Some((to, said)) = messages.next() else {
                    return Err(format!("chat {chat} was not told {text:?}"));
                };
                if *to != filler.fill(chat)? {
                    return Err(format!("wanted chat {chat}, came {to}: {said}"));
                }
                text.check(Some(&Value::String(said.clone())), &|text| {
                    filler.fill(text)
                })?;
            }
            _ => {}
        }
    }
    if let (true, Some((tool, given))) = (looks_at_calls, calls.next()) {
        return Err(format!("one call too many: `{tool}` {given}"));
    }
    if let (true, Some((chat, said))) = (looks_at_messages, messages.next()) {
        return Err(format!("one message too many: {chat} {said}"));
    }
    Ok(())
}

fn check_one(
    after: &CommandResult,
    before: &OutsideWorld,
    expected: &Expectation,
    filler: &mut Filler<'_>,
) -> Result<(), String> {
    let check =
        |test: &Test, found: Option<Value>| test.check(found.as_ref(), &|text| filler.fill(text));
    let at = |pointer: &str| {
        let pointer = filler.fill(pointer)?;
        let document = after.document.as_ref().ok_or("stdout has no document")?;
        Ok::<_, String>(document.pointer(&pointer).cloned())
    };
    let questions = &after.reached.questions[before.questions.len()..];
    match expected {
        Expectation::Exit(_) | Expectation::Called(_) | Expectation::Told(_) => Ok(()),
        Expectation::At(pointer, test) => {
            check(test, at(pointer)?).map_err(|problem| format!("{pointer}: {problem}"))
        }
        Expectation::Set(name, pointer) => {
            let value = at(pointer)?.ok_or_else(|| format!("{pointer} is absent"))?;
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            filler.kept.insert(name.clone(), text);
            Ok(())
        }
        Expectation::Out(test) => check(test, Some(after.out.clone().into())),
        Expectation::Err(test) => check(test, Some(after.err.clone().into())),
        Expectation::Asked(times) if questions.len() == *times => Ok(()),
        Expectation::Asked(times) => Err(format!(
            "the model was asked {} times, not {times}",
            questions.len()
        )),
        Expectation::Prompt(test) => check(test, Some(asked_questions(questions.last())?.into())),
        Expectation::Question(number, test) => check(
            test,
            Some(asked_questions(questions.get(number.wrapping_sub(1)))?.into()),
        ),
        Expectation::Offered(tool, wanted) => {
            let last = questions.last().ok_or("no model was asked")?;
            let tools = last["tools"].as_array().into_iter().flatten();
            let names: Vec<&str> = tools
                .filter_map(|tool| tool["function"]["name"].as_str())
                .collect();
            if names.contains(&tool.as_str()) == *wanted {
                return Ok(());
            }
            Err(format!("{tool}: the model was offered {names:?}"))
        }
    }
}

/// Everything that a question to the model says.
fn asked_questions(question: Option<&Value>) -> Result<String, String> {
    let question = question.ok_or("the model was not asked")?;
    let messages = question["messages"].as_array().into_iter().flatten();
    let said: Vec<&str> = messages.filter_map(|one| one["content"].as_str()).collect();
    Ok(said.join("\n\n"))
}
