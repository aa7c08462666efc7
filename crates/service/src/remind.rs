//! Reminders: a stored skill with one call of `notify` and no model.

use deft_engine::Error;
use deft_model::{Object, is_template};
use deft_schedule::split_reminder;
use deft_wire::schedule::{ScheduleAction, ScheduleChange};
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::schedule::{NOTIFY, finish, read_zone, refused_failure, trigger_config};
use crate::workspace::Workspace;

/// Maximum length of a reminder's name, in characters; its text is not shortened.
const MAX_NAME_LEN: usize = 60;

/// Maximum number of reminders with the same text.
const MAX_ALIKE: usize = 100;

/// Stores a reminder from the words of a command line: the text and the time, in either order.
pub fn remind(workspace: &Workspace, words: &[String], zone: Option<&str>) -> Done<ScheduleChange> {
    let app = App::standing(workspace)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let place = read_zone(&app, zone)?;
    let reminder = split_reminder(&words, &place, Timestamp::now()).map_err(refused_failure)?;
    let text = capitalise(&reminder.text);
    let timing = trigger_config(&app, &reminder.when, zone)?;
    for number in 1..=MAX_ALIKE {
        let record = record(&number_name(&text, number), &text, &timing);
        match app.block_on(app.engine.library().store_skill(&record)) {
            Ok(stored) => return finish(app, &stored.row, ScheduleAction::Set),
            Err(Error::NameTaken { .. }) => {}
            Err(error) => return Err(app::failure(&error)),
        }
    }
    let message = format!("{MAX_ALIKE} reminders already have this text");
    Err(Failure::input("name_taken", message)
        .hint("`deft schedule list` shows them, `deft schedule remove NAME` removes one"))
}

fn record(name: &str, text: &str, timing: &Value) -> Object {
    let mut record = Object::new();
    let message = literal(text);
    let step = json!({
        "id": "remind",
        "toolName": NOTIFY,
        "parameters": {"title": "Reminder", "message": message},
    });
    record.insert("name".to_owned(), name.into());
    record.insert("description".to_owned(), format!("Reminder: {text}").into());
    record.insert("instructions".to_owned(), literal(text).into());
    record.insert("trigger_type".to_owned(), "cron".into());
    record.insert("trigger_config".to_owned(), timing.clone());
    record.insert("execution_plan".to_owned(), json!([step]));
    record.insert("notify_on_completion".to_owned(), false.into());
    record
}

/// Escapes a text so that it is not rendered as a template.
fn literal(text: &str) -> String {
    if is_template(text) {
        format!("{{{{ {} }}}}", Value::from(text))
    } else {
        text.to_owned()
    }
}

fn capitalise(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Returns the name of a reminder: its text, cut between words, with a number if the name is taken.
fn number_name(text: &str, number: usize) -> String {
    let mut name = String::new();
    for word in text.split_whitespace() {
        let room = MAX_NAME_LEN.saturating_sub(name.chars().count());
        let cut: String = word.chars().take(MAX_NAME_LEN).collect();
        if cut.chars().count() + 1 > room {
            break;
        }
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(&cut);
    }
    if !name.contains(char::is_alphanumeric) {
        "Reminder".clone_into(&mut name);
    }
    match number {
        1 => name,
        number => format!("{name} {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!(number_name("Drink water", 1), "Drink water");
        assert_eq!(number_name("Drink water", 3), "Drink water 3");
        assert_eq!(number_name("!", 1), "Reminder");
        let long = "Read the minutes of the meeting and of the one before it, and answer both";
        let name = number_name(long, 1);
        assert!(
            name.len() <= MAX_NAME_LEN && long.starts_with(&name),
            "{name}"
        );
    }

    #[test]
    fn a_text_is_not_a_template() {
        assert_eq!(literal("100% {done}"), "100% {done}");
        assert_eq!(literal("say {{ x }}"), "{{ \"say {{ x }}\" }}");
        assert_eq!(capitalise("éclair"), "Éclair");
    }
}
