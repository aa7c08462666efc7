//! The settings of a home: their values, their origins, and changes to them.
//!
//! All functions also work on a file with mistakes. Not here: the effect of a setting.

use std::path::PathBuf;

use deft_config::{
    Editor, Kind, Origin, Problem, Setting, Settings, all_settings, config_file, find_settings,
    is_literal_secret, kind_of, read_value, split_key,
};
use deft_wire::setting::{
    ConfigPath, SetSettingResult, SettingList, SettingProblems, SettingSection,
};
use deft_wire::{Done, Failure};
use serde_json::Value;

use crate::doorbell::{self, Ring};
use crate::workspace::Workspace;

/// All settings of a home.
#[derive(Debug)]
pub struct AllSettings {
    /// The configuration file; it need not exist.
    pub file: PathBuf,
    /// The settings, in the order of the documentation.
    pub settings: Vec<Setting>,
    /// The number of problems in the file.
    pub problems: usize,
}

/// The settings that a key names.
#[derive(Debug)]
pub enum FoundSettings {
    /// One setting.
    One(Box<Setting>),
    /// All settings of a section.
    Section(Vec<Setting>),
}

/// A setting after a change.
#[derive(Debug)]
pub struct ChangedSetting {
    /// The configuration file.
    pub file: PathBuf,
    /// Whether the file changed.
    pub changed: bool,
    /// The new state of the setting.
    pub setting: Setting,
    /// Warnings about the new value.
    pub warnings: Vec<String>,
}

/// The configuration file with its problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSettings {
    /// The configuration file.
    pub file: PathBuf,
    /// Whether the file exists.
    pub exists: bool,
    /// The problems of the file.
    pub problems: Vec<Problem>,
}

/// Reads all settings.
pub fn list(workspace: &Workspace) -> Done<AllSettings> {
    let file = config_file(&workspace.locate()?);
    let settings = Settings::read(&file)?;
    Ok(AllSettings {
        settings: all_settings(&settings),
        problems: settings.check().len(),
        file,
    })
}

/// Returns the setting or the section called `key`.
pub fn find(workspace: &Workspace, key: &str) -> Done<FoundSettings> {
    let settings = Settings::read(&config_file(&workspace.locate()?))?;
    let mut found = find_settings(&settings, key)?;
    Ok(match (found.pop(), found.is_empty()) {
        (Some(setting), true) => FoundSettings::One(Box::new(setting)),
        (last, _) => {
            found.extend(last);
            FoundSettings::Section(found)
        }
    })
}

/// Changes a setting in the file. The value is text as users write it.
pub fn set(workspace: &Workspace, key: &str, given: &str) -> Done<ChangedSetting> {
    let home = workspace.locate()?;
    let path = split_key(key)?;
    let kind = kind_of(&path);
    let value = read_value(given, kind);
    let mut editor = Editor::open(&home)?;
    editor.set(&path, &value)?;
    let changed = editor.save()?;
    doorbell::ring(&home, Ring::Settings);
    let file = config_file(&home);
    let settings = Settings::read(&file)?;
    let setting = find_settings(&settings, key)?.into_iter().next();
    let setting = setting.ok_or_else(|| Failure::internal("config", "no setting was changed"))?;
    Ok(ChangedSetting {
        warnings: warnings(&setting, kind, &path, &value),
        file,
        changed,
        setting,
    })
}

fn warnings(setting: &Setting, kind: Option<Kind>, path: &[String], value: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Origin::Variable(name) = &setting.origin {
        warnings.push(format!("the variable `{name}` still overrides the file"));
    }
    let last = path.last().map_or("", String::as_str);
    if kind == Some(Kind::Reference)
        && value
            .as_str()
            .is_some_and(|text| is_literal_secret(last, text))
    {
        warnings.push(format!(
            "`{}` looks like a plaintext secret; `env:NAME` or `file:PATH` keeps it out of the file",
            setting.name()
        ));
    }
    warnings
}

/// Checks the configuration file.
pub fn validate(workspace: &Workspace) -> Done<CheckedSettings> {
    let file = config_file(&workspace.locate()?);
    let problems = match Settings::read_checked(&file)? {
        Ok(settings) => settings.check(),
        Err(problem) => vec![problem],
    };
    Ok(CheckedSettings {
        exists: file.exists(),
        file,
        problems,
    })
}

/// Returns the path of the configuration file.
pub fn path(workspace: &Workspace) -> Done<ConfigPath> {
    let file = config_file(&workspace.locate()?);
    Ok(ConfigPath {
        path: file.display().to_string(),
        exists: file.exists(),
    })
}

impl FoundSettings {
    /// Converts the result for output as JSON: a list, with one setting if the key names one.
    pub fn view(&self) -> SettingSection {
        let settings = match self {
            Self::One(setting) => vec![setting.view()],
            Self::Section(found) => found.iter().map(Setting::view).collect(),
        };
        SettingSection { settings }
    }
}

impl AllSettings {
    /// Converts the settings for output as JSON.
    pub fn view(&self) -> SettingList {
        SettingList {
            path: self.file.display().to_string(),
            settings: self.settings.iter().map(Setting::view).collect(),
        }
    }
}

impl ChangedSetting {
    /// Converts the result for output as JSON.
    pub fn view(&self) -> SetSettingResult {
        SetSettingResult {
            ok: true,
            changed: self.changed,
            path: self.file.display().to_string(),
            setting: self.setting.view(),
            warnings: self.warnings.clone(),
        }
    }
}

impl CheckedSettings {
    /// Converts the result for output as JSON.
    pub fn view(&self) -> SettingProblems {
        SettingProblems {
            ok: self.problems.is_empty(),
            path: self.file.display().to_string(),
            exists: self.exists,
            problems: self.problems.iter().map(Problem::view).collect(),
        }
    }
}
