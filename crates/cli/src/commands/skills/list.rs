//! `deft skills list`.

use std::process::ExitCode;

use deft_model::{Choice, Tier};
use deft_registry::State;
use deft_registry::discovery::{Query, search};
use deft_skillfile::words;
use serde_json::json;

use crate::args::{Global, List};
use crate::failure::Done;
use crate::home::Library;
use crate::output::{Output, counted, table};
use crate::view;

pub(crate) fn run(args: &List, global: &Global, output: &Output) -> Done {
    let library = Library::open(global, &args.roots)?;
    let snapshot = library.load();
    let query = Query {
        words: args.words.clone(),
        domain: args.domain.clone(),
        tag: args.tag.clone(),
        tier: args.tier.as_deref().and_then(Tier::from_word),
    };
    let mut found = search(&snapshot, &query);
    found.truncate(args.limit.unwrap_or(usize::MAX));
    if output.json {
        let skills: Vec<_> = found
            .iter()
            .map(|loaded| view::skill(loaded, &library.moment))
            .collect();
        output.document(&json!({"skills": skills}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |loaded: &&deft_registry::Loaded| {
        let skill = &loaded.skill;
        let kind = skill
            .role()
            .map_or_else(|| skill.tier().to_string(), |role| role.to_string());
        let when = words(skill, &library.moment);
        let when = if skill.policy.enabled {
            when
        } else {
            format!("off: {when}")
        };
        let summary = skill
            .description
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        vec![skill.id.to_string(), kind, when, summary]
    };
    if found.is_empty() {
        output.note(if snapshot.skill_count() == 0 {
            NONE_AT_ALL
        } else {
            "no skill fits"
        });
    } else {
        let head = ["ID", "KIND", "FIRES", "DESCRIPTION"]
            .map(str::to_owned)
            .to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.iter().map(row)).collect();
        output.data(&table(&rows, output.width()))?;
    }
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

const NONE_AT_ALL: &str = "there are no skills yet
hint: `deft skills new my-skill` writes one, `deft skills import FOLDER` brings some from elsewhere";
