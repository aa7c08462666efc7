//! `deft skills enable|disable|restore|delete`.

use std::fs;
use std::process::ExitCode;

use deft_records::Target;
use deft_store::SkillRow;
use serde_json::json;

use super::stored::Stored;
use crate::app::{self, App};
use crate::args::{Global, Roots};
use crate::failure::{Done, Failure};
use crate::home::{Home, Library};
use crate::output::Output;

use super::stored::missing;

pub(crate) fn enable(name: &str, global: &Global, output: &Output) -> Done {
    let app = App::standing(global)?;
    let row = app.block_on(app.engine.library().enable(name));
    let row = row.map_err(|error| app::failure(&error))?;
    say(&app, &row, output)?;
    let missing = missing(&row, app.engine.router());
    if !missing.is_empty() && row.standing.disabled.is_none() {
        output.note(&format!(
            "warning: as far as is known nobody offers `{}`, without which it cannot run\n\
             hint: `deft mcp add` brings servers; `deft tools list` shows what there is",
            missing.join("`, `")
        ));
    }
    app.close();
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn disable(name: &str, global: &Global, output: &Output) -> Done {
    let app = App::standing(global)?;
    let row = app.block_on(app.engine.library().disable(name));
    let row = row.map_err(|error| app::failure(&error))?;
    say(&app, &row, output)?;
    app.close();
    Ok(ExitCode::SUCCESS)
}

/// Lets the file of a skill count again where tools changed or deleted the skill.
pub(crate) fn restore(name: &str, global: &Global, output: &Output) -> Done {
    let app = App::standing(global)?;
    let row = app.block_on(app.engine.library().restore_file(name));
    let row = row.map_err(|error| app::failure(&error))?;
    let Some(row) = row else {
        let message = format!("no assistant has changed the file skill `{name}`");
        return Err(Failure::input("unchanged", message)
            .hint(format!("`deft skills show {name}` says what it is")));
    };
    if output.json {
        say(&app, &row, output)?;
    } else {
        let skill = &row.text.skill;
        let state = match row.standing.disabled {
            Some(why) => format!("; it is off ({why})"),
            None => String::new(),
        };
        output.data(format!("`{skill}` is as its file says{state}"))?;
    }
    app.close();
    Ok(ExitCode::SUCCESS)
}

fn say(app: &App, row: &SkillRow, output: &Output) -> Done<()> {
    if output.json {
        let shown = app.block_on(app.engine.record_json(row));
        let shown = shown.map_err(|error| app::failure(&error))?;
        return output.document(&json!({ "skill": shown }));
    }
    let skill = &row.text.skill;
    let text = match (row.standing.disabled, row.timeline.next_at) {
        (Some(why), _) => format!("`{skill}` does not fire any more ({why})"),
        (None, Some(at)) => {
            let at = deft_schedule::show(at, &app.zone);
            format!("`{skill}` is enabled; it fires next at {at}")
        }
        (None, None) => format!("`{skill}` is enabled"),
    };
    output.data(text)
}

/// A record is deleted from the store, a file of the home from the disk. Files elsewhere belong to
/// somebody else.
pub(crate) fn delete(name: &str, global: &Global, output: &Output) -> Done {
    let home = Home::open(global)?;
    let snapshot = Library::of(&home).load();
    if let Some(loaded) = snapshot.find(name) {
        let path = loaded.path.to_path_buf();
        let skill = loaded.skill.id.to_string();
        if let Some(record) = Stored::read(global, &Roots::default())?.clash(&skill) {
            let message = format!(
                "`{skill}` is both the file `{}` and record {record}",
                path.display()
            );
            let hint = format!(
                "`deft skills delete {record}` deletes the record; the file is yours to delete"
            );
            return Err(Failure::input("ambiguous", message).hint(hint));
        }
        delete_file(&home, &path)?;
        return said(&skill, &format!("`{}`", path.display()), output);
    }
    let app = App::without_skills(global)?;
    let target = Target::Name(name.to_owned());
    let row = app.block_on(app.engine.library().delete_skill(&target));
    let row = row.map_err(|error| app::failure(&error))?;
    app.close();
    said(&row.text.skill, &format!("record {}", row.id), output)
}

fn said(skill: &str, what: &str, output: &Output) -> Done {
    if output.json {
        output.document(&json!({"deleted": skill}))?;
    } else {
        output.data(format!("deleted `{skill}` ({what}); its runs stay"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn delete_file(home: &Home, path: &std::path::Path) -> Done<()> {
    if !path.starts_with(home.skills()) {
        let message = format!("`{}` is not in the skills of this home", path.display());
        return Err(Failure::input("not_ours", message).hint("delete the file where it is kept"));
    }
    let folder = path.parent().filter(|folder| *folder != home.skills());
    let is_folder_skill = path
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    let removed = match folder {
        Some(folder) if is_folder_skill => fs::remove_dir_all(folder),
        _ => fs::remove_file(path),
    };
    removed.map_err(|problem| Failure::file(path, "delete", &problem))
}
