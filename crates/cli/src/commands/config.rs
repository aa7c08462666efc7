//! `deft config`: the settings, where they come from, and changes to them.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::{Config as Command, Global};
use crate::failure::{Done, Failure};
use crate::output::{Output, counted, table};
use deft_config::config_file;
use deft_config::secrets;
use deft_config::{
    Editor, Kind, Origin, Setting, Settings, all_settings, find_settings, kind_of, literal,
    read_value, split_key,
};

pub(crate) fn run(command: &Command, global: &Global, output: &Output) -> Done {
    let home = global.workspace().locate()?;
    match command {
        Command::Show { origin } => show(&home, *origin, output),
        Command::Get { key } => get(&home, key, output),
        Command::Set { key, value } => set(&home, key, value, output),
        Command::Validate => validate(&home, output),
        Command::Path => path(&home, output),
    }
}

fn show(home: &Path, origin: bool, output: &Output) -> Done {
    let file = config_file(home);
    let settings = Settings::read(&file)?;
    let mut settings_list = all_settings(&settings);
    if output.json {
        let list: Vec<Value> = settings_list.iter().map(Setting::document).collect();
        output.document(&json!({"path": file.display().to_string(), "settings": list}))?;
        return Ok(ExitCode::SUCCESS);
    }
    settings_list.retain(Setting::matters);
    output.data(lines(&settings_list, origin, output))?;
    warn_of_problems(&settings, output);
    Ok(ExitCode::SUCCESS)
}

/// A list is useful also when something in it is wrong.
fn warn_of_problems(settings: &Settings, output: &Output) {
    let problems = settings.check();
    if !problems.is_empty() {
        let count = counted(problems.len(), "problem");
        output.note(&format!("{count} found: `deft config validate` says more"));
    }
}

/// Settings as lines of TOML, which can be pasted into the file.
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
    let place = match &setting.origin {
        Origin::Default => "default".to_owned(),
        Origin::File { line } => format!("config.toml:{line}"),
        Origin::Variable(name) => name.clone(),
    };
    let later = if setting.is_later() {
        ", not used yet"
    } else {
        ""
    };
    format!("{place}{later}")
}

fn get(home: &Path, key: &str, output: &Output) -> Done {
    let settings = Settings::read(&config_file(home))?;
    let found = find_settings(&settings, key)?;
    let [setting] = found.as_slice() else {
        return get_section(&found, output);
    };
    if output.json {
        output.document(&json!({"setting": setting.document()}))?;
    } else {
        match setting.value() {
            Some(Value::String(text)) => output.data(text)?,
            Some(value) => output.data(literal(&value))?,
            None => output.note(&format!(
                "`{}` is not set: {}",
                setting.name(),
                setting.words()
            )),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn get_section(found: &[Setting], output: &Output) -> Done {
    if output.json {
        let list: Vec<Value> = found.iter().map(Setting::document).collect();
        output.document(&json!({"settings": list}))?;
    } else {
        output.data(lines(found, false, output))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn set(home: &Path, key: &str, given: &str, output: &Output) -> Done {
    let path = split_key(key)?;
    let kind = kind_of(&path);
    let value = read_value(given, kind);
    let mut editor = Editor::open(home)?;
    editor.set(&path, &value)?;
    let changed = editor.save()?;
    let file = config_file(home);
    let settings = Settings::read(&file)?;
    let found = find_settings(&settings, key)?;
    let setting = found
        .first()
        .ok_or_else(|| Failure::input("config", "nothing was set"))?;
    let warnings = warnings(setting, kind, &path, &value);
    if output.json {
        output.document(&json!({
            "ok": true,
            "changed": changed,
            "path": file.display().to_string(),
            "setting": setting.document(),
            "warnings": warnings,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = setting.name();
    let done = if changed { "set" } else { "unchanged" };
    output.data(format!("{done}: {}", line(setting)))?;
    for warning in &warnings {
        output.note(&format!("warning: {warning}"));
    }
    output.note(&format!(
        "written to {}; `deft config get {name}` shows it",
        file.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn warnings(setting: &Setting, kind: Option<Kind>, path: &[String], value: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Origin::Variable(name) = &setting.origin {
        warnings.push(format!(
            "the variable `{name}` still counts more than the file"
        ));
    }
    let last = path.last().map_or("", String::as_str);
    if kind == Some(Kind::Reference)
        && value
            .as_str()
            .is_some_and(|text| secrets::is_literal_secret(last, text))
    {
        warnings.push(format!(
            "`{}` looks like a secret written down; `env:NAME` or `file:PATH` keeps it out of the file",
            setting.name()
        ));
    }
    if setting.is_later() {
        warnings.push("this version keeps the setting but does not use it yet".to_owned());
    }
    warnings
}

fn validate(home: &Path, output: &Output) -> Done {
    let file = config_file(home);
    let problems = match Settings::read_checked(&file)? {
        Ok(settings) => settings.check(),
        Err(problem) => vec![problem],
    };
    let place = file.display().to_string();
    if output.json {
        let list: Vec<Value> = problems
            .iter()
            .map(deft_config::Problem::document)
            .collect();
        output.document(&json!({
            "ok": problems.is_empty(), "path": place, "exists": file.exists(), "problems": list,
        }))?;
    } else {
        for problem in &problems {
            output.data(format!("{}: {}", problem.place(&file), problem.message))?;
            if let Some(hint) = &problem.hint {
                output.data(format!("  hint: {hint}"))?;
            }
        }
        output.note(&match (problems.len(), file.exists()) {
            (0, true) => format!("{place} is fine"),
            (0, false) => format!("there is no {place}; all settings have their defaults"),
            (count, _) => counted(count, "problem"),
        });
    }
    Ok(ExitCode::from(u8::from(!problems.is_empty())))
}

fn path(home: &Path, output: &Output) -> Done {
    let file = config_file(home);
    let place = file.display().to_string();
    if output.json {
        output.document(&json!({"path": place, "exists": file.exists()}))?;
    } else {
        output.data(&place)?;
    }
    Ok(ExitCode::SUCCESS)
}
