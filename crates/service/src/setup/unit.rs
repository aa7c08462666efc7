//! The service unit that starts deft automatically: of the user's systemd, or of launchd.
//!
//! A unit that the user wrote or changed is not replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deft_config::{create_folder, env, find_program, run_program};
use deft_registry::read_text;
use deft_wire::setup::{ServiceUnit, UnitEffect};
use deft_wire::{Done, Failure};

use super::machine::{Machine, System};
use crate::workspace::Workspace;

/// Timeout of the service manager, which waits until deft is ready.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// Maximum size of an existing unit.
const MAX_BYTES: u64 = 64 * 1024;

/// Marks a unit that may be replaced.
const MARK: &str = "Written by `deft setup`";

/// The unit for this machine.
struct Plan {
    path: PathBuf,
    text: String,
    /// The part of the text with the program and its arguments.
    start: String,
}

/// Returns the existing unit of this home; `None` if it is missing or outdated.
pub fn find_unit(workspace: &Workspace, machine: &Machine) -> Done<Option<ServiceUnit>> {
    let plan = plan(workspace, machine)?;
    let Some(effect) = existing_effect(&plan) else {
        return Ok(None);
    };
    Ok(Some(unit(machine, &plan, effect)))
}

/// Writes the unit, unless a current one or one of the user exists.
pub fn write_unit(workspace: &Workspace, machine: &Machine) -> Done<ServiceUnit> {
    let plan = plan(workspace, machine)?;
    if let Some(effect) = existing_effect(&plan) {
        return Ok(unit(machine, &plan, effect));
    }
    if let Some(folder) = plan.path.parent() {
        create_folder(folder)?;
    }
    fs::write(&plan.path, &plan.text)
        .map_err(|problem| Failure::file(&plan.path, "write", &problem))?;
    Ok(unit(machine, &plan, UnitEffect::Written))
}

/// Starts the unit. A failure is stored in `unit.error`.
pub fn start_unit(machine: &Machine, unit: &mut ServiceUnit) {
    let mut words = unit.command.split(' ');
    let program = words.next().unwrap_or_default();
    let args: Vec<&str> = match machine.system {
        System::Linux => words.collect(),
        System::MacOs => vec!["load", "-w", &unit.path],
    };
    let Some(found) = find_program(program) else {
        unit.error = Some(format!(
            "`{program}` is not in `PATH`; this host has no such service manager"
        ));
        return;
    };
    match run_program(&found, &args, "", START_TIMEOUT) {
        Ok(done) if done.ok => unit.started = true,
        Ok(done) => {
            let first = done.err.lines().next().unwrap_or("no reason was given");
            unit.error = Some(format!("`{program}` refused: {first}"));
        }
        Err(reason) => unit.error = Some(reason),
    }
}

/// Returns the effect on an existing unit; `None` if it must be written.
fn existing_effect(plan: &Plan) -> Option<UnitEffect> {
    let text = read_text(&plan.path, MAX_BYTES).ok()?;
    if text.contains(&plan.start) {
        return Some(UnitEffect::Unchanged);
    }
    let is_ours = text.contains(MARK);
    (!is_ours).then_some(UnitEffect::Kept)
}

fn unit(machine: &Machine, plan: &Plan, effect: UnitEffect) -> ServiceUnit {
    let path = plan.path.display().to_string();
    ServiceUnit {
        command: match machine.system {
            System::Linux => "systemctl --user enable --now deft".to_owned(),
            System::MacOs => format!("launchctl load -w {path}"),
        },
        path,
        effect,
        started: false,
        error: None,
    }
}

fn plan(workspace: &Workspace, machine: &Machine) -> Done<Plan> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::internal("worker", format!("cannot find deft itself: {error}"))
    })?;
    let Some(user_home) = &machine.user_home else {
        let failure = Failure::input("no_home", "the home folder of the user is unknown");
        return Err(failure.hint("set `HOME`"));
    };
    let home = workspace.locate()?;
    let other_home = (home != user_home.join(".deft")).then_some(home);
    Ok(match machine.system {
        System::Linux => systemd(user_home, &program, other_home.as_deref()),
        System::MacOs => launchd(user_home, &program, other_home.as_deref()),
    })
}

/// Returns the command line that starts deft: the program, then its arguments.
fn words(program: &Path, home: Option<&Path>) -> Vec<String> {
    let mut words = vec![program.display().to_string(), "up".to_owned()];
    if let Some(home) = home {
        words.extend(["--home".to_owned(), home.display().to_string()]);
    }
    words.extend(["--grace", "30s"].map(str::to_owned));
    words
}

fn systemd(user_home: &Path, program: &Path, home: Option<&Path>) -> Plan {
    let quoted = |word: String| {
        let word = word
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('%', "%%");
        if word.contains([' ', '"', '\'', '\\']) {
            format!("\"{word}\"")
        } else {
            word
        }
    };
    let words: Vec<String> = words(program, home).into_iter().map(quoted).collect();
    let start = format!("ExecStart={}\n", words.join(" "));
    let path = env::text(env::PATH).unwrap_or_default().replace('%', "%%");
    let folders = env::get(env::XDG_CONFIG_HOME).map(PathBuf::from);
    let folders = folders.unwrap_or_else(|| user_home.join(".config"));
    Plan {
        path: folders.join("systemd/user/deft.service"),
        text: format!(
            "# {MARK}; remove this line to keep your changes.\n\
             [Unit]\nDescription=deft, a skill engine for AI assistants\nAfter=network-online.target\n\n\
             [Service]\nType=notify\n{start}\
             # Programs of MCP servers are looked for here.\nEnvironment=\"PATH={path}\"\n\
             Restart=on-failure\n# Longer than the grace, so that runs can finish.\nTimeoutStopSec=45\n\n\
             [Install]\nWantedBy=default.target\n"
        ),
        start,
    }
}

fn launchd(user_home: &Path, program: &Path, home: Option<&Path>) -> Plan {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let words = words(program, home).into_iter();
    let words = words.map(|word| format!("    <string>{}</string>\n", escaped(&word)));
    let start: String = words.collect();
    let path = escaped(&env::text(env::PATH).unwrap_or_default());
    Plan {
        path: user_home.join("Library/LaunchAgents/dev.deft.plist"),
        text: format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!-- {MARK}; remove this line to keep your changes. -->\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>dev.deft</string>\n\
             \x20 <key>ProgramArguments</key>\n  <array>\n{start}  </array>\n\
             \x20 <key>EnvironmentVariables</key>\n  <dict><key>PATH</key><string>{path}</string></dict>\n\
             \x20 <key>RunAtLoad</key><true/>\n\
             \x20 <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n\
             </dict>\n</plist>\n"
        ),
        start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_quote_spaces_and_special_characters() {
        let (user, program) = (Path::new("/home/ada"), Path::new("/opt/my tools/deft"));
        let home = Some(Path::new("/srv/100%"));
        let unit = systemd(user, program, home);
        let start = "ExecStart=\"/opt/my tools/deft\" up --home /srv/100%% --grace 30s\n";
        assert_eq!(unit.start, start);
        assert!(unit.text.contains(start) && unit.text.contains(MARK));
        let agent = launchd(user, Path::new("/opt/a&b/deft"), None);
        let words = "    <string>/opt/a&amp;b/deft</string>\n    <string>up</string>\n";
        assert!(agent.start.starts_with(words), "{}", agent.start);
        assert!(agent.text.contains(&agent.start) && agent.text.contains(MARK));
        assert!(agent.path.ends_with("Library/LaunchAgents/dev.deft.plist"));
    }
}
