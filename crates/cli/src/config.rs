//! `config.toml`, as far as skills need it.

use std::fs;
use std::io;
use std::path::Path;

use deft_model::nearest;
use jiff::tz::TimeZone;
use toml::Value;

use crate::env;
use crate::failure::{Done, Failure};

/// The sections of the file. Those that this version does not read yet are
/// left alone, so that a file for a newer one still works.
const SECTIONS: &[&str] = &[
    "agent",
    "budget",
    "engine",
    "llm",
    "mcp_servers",
    "notify",
    "server",
    "skills",
    "store",
    "telegram",
    "time",
];

/// What the configuration says.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// Folders of skills besides the home's own.
    pub skill_paths: Vec<String>,
    /// The zone of times that name none.
    pub zone: Option<TimeZone>,
}

impl Config {
    /// Reads a file; none at all is an empty one.
    pub(crate) fn read(path: &Path) -> Done<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => String::new(),
            Err(problem) => return Err(Failure::file(path, "read", &problem)),
        };
        Self::parse(&text, path)
    }

    fn parse(text: &str, path: &Path) -> Done<Self> {
        let mut table: toml::Table = toml::from_str(text).map_err(|problem| {
            invalid(
                path,
                &format!("not TOML: {}", problem.to_string().trim_end()),
            )
        })?;
        override_keys(&mut table);
        check_keys(&table, SECTIONS, path, "")?;
        let mut config = Self::default();
        if let Some(skills) = section(&table, "skills", &["paths"], path)? {
            config.skill_paths = paths(skills, path)?;
        }
        if let Some(time) = section(&table, "time", &["zone"], path)?
            && let Some(zone) = time.get("zone")
        {
            config.zone = Some(parse_zone(zone, path)?);
        }
        Ok(config)
    }
}

/// `DEFT__SECTION__KEY` counts more than the file. A value that is not TOML is
/// taken as text, so that nobody has to quote for two languages.
fn override_keys(table: &mut toml::Table) {
    for (name, value) in env::overrides() {
        let Some((section, key)) = name.split_once("__") else {
            continue;
        };
        let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"));
        let parsed = parsed.ok().and_then(|mut table| table.remove("value"));
        let section = table
            .entry(section)
            .or_insert_with(|| Value::Table(toml::Table::new()));
        if let Some(section) = section.as_table_mut() {
            section.insert(key.to_owned(), parsed.unwrap_or(Value::String(value)));
        }
    }
}

fn section<'a>(
    table: &'a toml::Table,
    name: &str,
    keys: &[&str],
    path: &Path,
) -> Done<Option<&'a toml::Table>> {
    let Some(value) = table.get(name) else {
        return Ok(None);
    };
    let section = value
        .as_table()
        .ok_or_else(|| invalid(path, &format!("`{name}` is a section: write `[{name}]`")))?;
    check_keys(section, keys, path, &format!("{name}."))?;
    Ok(Some(section))
}

fn check_keys(table: &toml::Table, known: &[&str], path: &Path, prefix: &str) -> Done<()> {
    let Some(stranger) = table.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    let near = nearest(stranger, known.iter().copied())
        .map(|near| format!("did you mean `{prefix}{near}`?"));
    let hint = near.unwrap_or_else(|| format!("known here: {}", known.join(", ")));
    Err(invalid(path, &format!("unknown key `{prefix}{stranger}`")).hint(hint))
}

fn paths(skills: &toml::Table, path: &Path) -> Done<Vec<String>> {
    let wrong = || invalid(path, "`skills.paths` takes a list of folders");
    let Some(value) = skills.get("paths") else {
        return Ok(Vec::new());
    };
    let items = value.as_array().ok_or_else(wrong)?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong))
        .collect()
}

fn parse_zone(value: &Value, path: &Path) -> Done<TimeZone> {
    let name = value
        .as_str()
        .ok_or_else(|| invalid(path, "`time.zone` takes the name of a zone"))?;
    deft_schedule::parse_zone(name).map_err(|problem| {
        invalid(path, &format!("`time.zone`: {}", problem.message)).maybe_hint(problem.hint)
    })
}

fn invalid(path: &Path, message: &str) -> Failure {
    Failure::input("config", format!("{}: {message}", path.display()))
}
