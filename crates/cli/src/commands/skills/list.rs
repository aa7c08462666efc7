//! `deft skills list`.

use std::process::ExitCode;

use deft_service::skills::{SkillCatalog, SkillListing, SkillQuery};
use deft_wire::model::{Choice, DisabledReason, Tier};
use deft_wire::skill::{FileSkill, SkillView, StoredSkill};
use deft_wire::words::disabled_words;

use super::remote;
use crate::args::{Global, List};
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::table::{Cell, Column, Row, Table, Tone};

pub(crate) fn run(args: &List, global: &Global, output: &Output) -> Done {
    let catalog = SkillCatalog::open(&global.workspace_of(&args.roots))?;
    let listing = catalog.list(&SkillQuery {
        words: args.words.clone(),
        domain: args.domain.clone(),
        tag: args.tag.clone(),
        tier: args.tier.as_deref().and_then(Tier::from_word),
        limit: args.limit,
    })?;
    if output.json {
        output.document(&listing.list)?;
    } else {
        print(&listing, output)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(listing: &SkillListing, output: &Output) -> Done<()> {
    let skills = &listing.list.skills;
    if skills.is_empty() && !listing.list.remote.is_empty() {
        // Only servers have skills.
    } else if skills.is_empty() {
        output.note(if listing.file_count == 0 {
            NO_SKILLS
        } else {
            "no matching skills"
        });
    } else {
        output.page();
        let columns = [
            Column::keep("id"),
            Column::keep("kind"),
            Column::text("fires"),
            Column::text("description"),
        ];
        output.table(&Table::new(columns, skills.iter().map(row)))?;
    }
    remote::print_list(&listing.list, output)?;
    note_wrong_tools(skills, output);
    if listing.unloaded_files > 0 {
        output.note(&format!(
            "{} broken or shadowed; `deft skills doctor` shows why",
            format_count(listing.unloaded_files, "file")
        ));
    }
    Ok(())
}

fn row(skill: &SkillView) -> Row {
    match skill {
        SkillView::File(skill) => file_row(skill),
        SkillView::Stored(skill) => record_row(skill),
    }
}

fn file_row(skill: &FileSkill) -> Row {
    let head = &skill.head;
    let kind = skill
        .role
        .map_or_else(|| head.tier.to_string(), |role| role.to_string());
    let when = shorten(head.trigger.words.as_deref().unwrap_or_default());
    let when = match (&skill.standing, head.disabled_reason) {
        _ if skill.clashes_with.is_some() => {
            Cell::with_tone("disabled: a record has the same id", Tone::Bad)
        }
        (Some(_), Some(why)) => disabled_cell(why, &when),
        (None, _) if !head.enabled => Cell::with_tone(format!("disabled: {when}"), Tone::Dim),
        (Some(_) | None, _) => when.into(),
    };
    let words = head.description.as_deref().unwrap_or_default();
    let words = words.split_whitespace();
    let summary = words.collect::<Vec<_>>().join(" ");
    Row::new([head.id.as_str().into(), kind.into(), when, summary.into()])
}

fn disabled_cell(why: DisabledReason, when: &str) -> Cell {
    Cell::with_tone(
        format!("disabled ({}): {when}", disabled_words(why)),
        Tone::Dim,
    )
}

fn record_row(record: &StoredSkill) -> Row {
    let head = &record.head;
    let when = shorten(head.trigger.words.as_deref().unwrap_or_default());
    let when = match head.disabled_reason {
        Some(why) => disabled_cell(why, &when),
        None => when.into(),
    };
    Row::new([
        head.id.as_str().into(),
        head.tier.to_string().into(),
        when,
        head.description.as_deref().unwrap_or_default().into(),
    ])
}

/// The maximum number of skills that a note names.
const MAX_NAMED: usize = 5;

fn note_wrong_tools(skills: &[SkillView], output: &Output) {
    let wrong: Vec<&str> = skills
        .iter()
        .filter_map(|skill| match skill {
            SkillView::File(skill) if !skill.warnings.is_empty() => Some(skill.head.id.as_str()),
            SkillView::File(_) | SkillView::Stored(_) => None,
        })
        .collect();
    if wrong.is_empty() {
        return;
    }
    let named: Vec<String> = wrong
        .iter()
        .take(MAX_NAMED)
        .map(|skill| format!("`{skill}`"))
        .collect();
    let more = if wrong.len() > MAX_NAMED { ", …" } else { "" };
    output.note(&format!(
        "{} with unknown tools or wrong arguments: {}{more}; `deft skills doctor` shows the problems",
        format_count(wrong.len(), "skill"),
        named.join(", ")
    ));
}

/// Shortens a list of keywords; `skills show` prints it in full.
fn shorten(words: &str) -> String {
    const MAX_CHARS: usize = 60;
    match words.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => {
            let end = words[..end].rfind([',', ' ']).unwrap_or(end);
            format!("{} …", &words[..end])
        }
        None => words.to_owned(),
    }
}

const NO_SKILLS: &str = "no skills yet
hint: `deft skills new my-skill` creates one, `deft skills import FOLDER` imports existing ones";
