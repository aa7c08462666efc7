//! `deft skills list`.

use std::process::ExitCode;

use deft_model::{Choice, Tier};
use deft_registry::State;
use deft_registry::discovery::{Query, search};
use deft_skillfile::words;
use serde_json::{Value, json};

use super::stored::Stored;
use crate::args::{Global, List};
use crate::failure::Done;
use crate::output::{Output, counted, table};
use crate::view;

pub(crate) fn run(args: &List, global: &Global, output: &Output) -> Done {
    let library = global.workspace_of(&args.roots).library()?;
    let snapshot = global.workspace_of(&args.roots).load_kept(&library);
    let query = Query {
        words: args.words.clone(),
        domain: args.domain.clone(),
        tag: args.tag.clone(),
        tier: args.tier.as_deref().and_then(Tier::from_word),
    };
    let mut found = search(&snapshot, &query);
    let stored = Stored::read(global, &args.roots)?;
    let mut records: Vec<&Value> = stored
        .records
        .iter()
        .filter(|record| fits(record, args))
        .collect();
    let limit = args.limit.unwrap_or(usize::MAX);
    found.truncate(limit);
    records.truncate(limit - found.len());
    if output.json {
        let files = found.iter().map(|loaded| {
            let mut shown = view::skill(loaded, &library.moment);
            stored.overlay(loaded, &library.moment, &mut shown);
            let warnings = stored.check_tools(&loaded.skill);
            if !warnings.is_empty() {
                shown["warnings"] = warnings.iter().map(|one| json!(one.message)).collect();
            }
            shown
        });
        let skills: Vec<_> = files.chain(records.into_iter().cloned()).collect();
        output.document(&json!({"skills": skills}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |loaded: &&deft_registry::Loaded| {
        let skill = &loaded.skill;
        let kind = skill
            .role()
            .map_or_else(|| skill.tier().to_string(), |role| role.to_string());
        let when = short(&words(skill, &library.moment));
        let standing = stored.standing(skill.id.as_str());
        let when = match standing.map(|standing| standing.disabled) {
            _ if stored.clash(skill.id.as_str()).is_some() => {
                "never: a record has its name".to_owned()
            }
            Some(Some(why)) => format!("off ({why}): {when}"),
            None if !skill.policy.enabled => format!("off: {when}"),
            _ => when,
        };
        let summary = skill
            .description
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        vec![skill.id.to_string(), kind, when, summary]
    };
    if found.is_empty() && records.is_empty() {
        output.note(if snapshot.skill_count() == 0 {
            NONE_AT_ALL
        } else {
            "no skill fits"
        });
    } else {
        let head = ["ID", "KIND", "FIRES", "DESCRIPTION"]
            .map(str::to_owned)
            .to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(found.iter().map(row))
            .chain(records.iter().map(|record| record_row(record)))
            .collect();
        output.data(table(&rows, output.width()))?;
    }
    let wrong = found.iter().map(|loaded| &loaded.skill);
    let wrong = wrong.filter(|skill| !stored.check_tools(skill).is_empty());
    note_wrong_tools(
        &wrong.map(|skill| skill.id.as_str()).collect::<Vec<_>>(),
        output,
    );
    let troubled = |state: &State| matches!(state, State::Broken { .. } | State::Shadowed { .. });
    let troubled = snapshot
        .files()
        .iter()
        .filter(|file| troubled(&file.state))
        .count();
    if troubled > 0 {
        output.note(&format!(
            "{} broken or shadowed; `deft skills doctor` says why",
            counted(troubled, "file")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// So many skills are named in a note.
const MOST_NAMED: usize = 5;

fn note_wrong_tools(skills: &[&str], output: &Output) {
    if skills.is_empty() {
        return;
    }
    let named: Vec<String> = skills
        .iter()
        .take(MOST_NAMED)
        .map(|skill| format!("`{skill}`"))
        .collect();
    let more = if skills.len() > MOST_NAMED {
        ", …"
    } else {
        ""
    };
    output.note(&format!(
        "{} with unknown tools or wrong arguments: {}{more}; `deft skills doctor` says what is wrong",
        counted(skills.len(), "skill"),
        named.join(", ")
    ));
}

/// Whether a record is among those that were asked for.
fn fits(record: &Value, args: &List) -> bool {
    let text = |key: &str| record[key].as_str().unwrap_or_default().to_lowercase();
    let all = format!("{} {} {}", text("id"), text("name"), text("description"));
    let tier = args
        .tier
        .as_ref()
        .is_none_or(|tier| record["tier"] == **tier);
    let words = args
        .words
        .iter()
        .all(|word| all.contains(&word.to_lowercase()));
    tier && words && args.domain.is_none() && args.tag.is_none()
}

fn record_row(record: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let when = short(&text(&record["trigger"]["words"]));
    let when = match record["disabled_reason"].as_str() {
        Some(why) => format!("off ({why}): {when}"),
        None => when,
    };
    vec![
        text(&record["id"]),
        text(&record["tier"]),
        when,
        text(&record["description"]),
    ]
}

/// Long lists of keywords are for `skills show`.
fn short(words: &str) -> String {
    const MOST: usize = 60;
    match words.char_indices().nth(MOST) {
        Some((end, _)) => {
            let end = words[..end].rfind([',', ' ']).unwrap_or(end);
            format!("{} …", &words[..end])
        }
        None => words.to_owned(),
    }
}

const NONE_AT_ALL: &str = "there are no skills yet
hint: `deft skills new my-skill` writes one, `deft skills import FOLDER` brings some from elsewhere";
