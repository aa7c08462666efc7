//! `deft config`: shows settings and their origin, and changes them.

use std::process::ExitCode;

use deft_config::{Origin, Setting, literal};
use deft_service::Workspace;
use deft_service::settings::{self, FoundSettings};
use deft_wire::setting::{SettingDocument, SettingSection};
use serde_json::Value;

use crate::args::{Config as Command, Global};
use crate::failure::Done;
use crate::output::{Output, format_count, table};

pub(crate) fn run(command: &Command, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    match command {
        Command::Show { origin } => show(&workspace, *origin, output),
        Command::Get { key } => get(&workspace, key, output),
        Command::Set { key, value } => set(&workspace, key, value, output),
        Command::Validate => validate(&workspace, output),
        Command::Path => path(&workspace, output),
    }
}

fn show(workspace: &Workspace, origin: bool, output: &Output) -> Done {
    let mut all = settings::list(workspace)?;
    if output.json {
        output.document(&all.view())?;
        return Ok(ExitCode::SUCCESS);
    }
    all.settings.retain(Setting::matters);
    output.data(lines(&all.settings, origin, output))?;
    // The list is useful even if some settings are invalid.
    if all.problems > 0 {
        let count = format_count(all.problems, "problem");
        output.note(&format!(
            "{count} found: `deft config validate` shows details"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Formats settings as lines of TOML that can be pasted into the file.
fn lines(settings: &[Setting], origin: bool, output: &Output) -> String {
    if !origin {
        return settings
            .iter()
            .map(|setting| line(setting) + "\n")
            .collect();
    }
    let row = |setting: &Setting| vec![line(setting), format!("# {}", place(setting))];
    let rows: Vec<Vec<String>> = settings.iter().map(row).collect();
    table(&rows, output.width())
}

fn line(setting: &Setting) -> String {
    match setting.value() {
        Some(value) => format!("{} = {}", setting.name(), literal(&value)),
        None => format!("# {}: {}", setting.name(), setting.words()),
    }
}

fn place(setting: &Setting) -> String {
    match &setting.origin {
        Origin::Default => "default".to_owned(),
        Origin::File { line } => format!("config.toml:{line}"),
        Origin::Variable(name) => name.clone(),
    }
}

fn get(workspace: &Workspace, key: &str, output: &Output) -> Done {
    match settings::find(workspace, key)? {
        FoundSettings::One(setting) => get_one(&setting, output),
        FoundSettings::Section(found) => get_section(&found, output),
    }
}

fn get_one(setting: &Setting, output: &Output) -> Done {
    if output.json {
        output.document(&SettingDocument {
            setting: setting.view(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    match setting.value() {
        Some(Value::String(text)) => output.data(text)?,
        Some(value) => output.data(literal(&value))?,
        None => output.note(&format!(
            "`{}` is not set: {}",
            setting.name(),
            setting.words()
        )),
    }
    Ok(ExitCode::SUCCESS)
}

fn get_section(found: &[Setting], output: &Output) -> Done {
    if output.json {
        output.document(&SettingSection {
            settings: found.iter().map(Setting::view).collect(),
        })?;
    } else {
        output.data(lines(found, false, output))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn set(workspace: &Workspace, key: &str, given: &str, output: &Output) -> Done {
    let done = settings::set(workspace, key, given)?;
    if output.json {
        output.document(&done.view())?;
        return Ok(ExitCode::SUCCESS);
    }
    let verb = if done.changed { "set" } else { "unchanged" };
    output.data(format!("{verb}: {}", line(&done.setting)))?;
    output.warn(done.warnings);
    output.note(&format!(
        "written to {}; `deft config get {}` shows it",
        done.file.display(),
        done.setting.name()
    ));
    Ok(ExitCode::SUCCESS)
}

fn validate(workspace: &Workspace, output: &Output) -> Done {
    let checked = settings::validate(workspace)?;
    let (file, problems) = (&checked.file, &checked.problems);
    if output.json {
        output.document(&checked.view())?;
    } else {
        for problem in problems {
            output.prose(format!("{}: {}", problem.place(file), problem.message))?;
            if let Some(hint) = &problem.hint {
                output.prose(format!("  hint: {hint}"))?;
            }
        }
        let place = file.display();
        output.note(&match (problems.len(), checked.exists) {
            (0, true) => format!("{place} is valid"),
            (0, false) => format!("{place} does not exist; all settings have their defaults"),
            (count, _) => format_count(count, "problem"),
        });
    }
    Ok(ExitCode::from(u8::from(!problems.is_empty())))
}

fn path(workspace: &Workspace, output: &Output) -> Done {
    let found = settings::path(workspace)?;
    if output.json {
        output.document(&found)?;
    } else {
        output.data(&found.path)?;
    }
    Ok(ExitCode::SUCCESS)
}
