//! Checks of the home folder, its permissions and its time zone.

use std::fs;
use std::path::Path;

use deft_config::{Home, config_file, ensure_home, is_open_to_others, make_private};
use deft_wire::Done;

use super::Findings;

pub(super) fn check(path: &Path, fix: bool, found: &mut Findings) -> Done<()> {
    if !path.is_dir() {
        if fix {
            ensure_home(path)?;
            found.good("home.exists", format!("created `{}`", path.display()));
        } else {
            let message = format!("no home at `{}`", path.display());
            let hint = "`deft init` creates it".to_owned();
            found.bad("home.exists", message, Some(hint));
        }
        return Ok(());
    }
    found.good("home.exists", format!("`{}`", path.display()));
    check_mode(path, fix, found);
    check_config_mode(&config_file(path), fix, found);
    Ok(())
}

/// Checks that other users cannot read the configuration, which names servers, addresses and chats. deft
/// works all the same, so this is only a note.
fn check_config_mode(config: &Path, fix: bool, found: &mut Findings) {
    if !is_open_to_others(config) {
        return;
    }
    let open = "other users can read the configuration";
    let by_hand = format!("`chmod 600 {}`", config.display());
    match fix.then(|| make_private(config)) {
        Some(Ok(())) => {
            let message = "fixed: other users could read the configuration";
            found.good("config.private", message);
        }
        Some(Err(problem)) => {
            let message = format!("{open}; fixing it failed: {problem}");
            found.note(
                "config.private",
                message,
                &format!("{by_hand} as its owner"),
            );
        }
        None => found.note(
            "config.private",
            open,
            &format!("{by_hand}, or `deft doctor --fix`"),
        ),
    }
}

#[cfg(unix)]
fn check_mode(path: &Path, fix: bool, found: &mut Findings) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(data) = fs::metadata(path) else {
        return;
    };
    let open = data.permissions().mode() & 0o077;
    if open == 0 {
        found.good("home.private", "only the owner can read the home");
        return;
    }
    let open = "other users can read the home";
    let by_hand = format!("`chmod 700 {}`", path.display());
    match fix.then(|| fs::set_permissions(path, fs::Permissions::from_mode(0o700))) {
        Some(Ok(())) => found.good("home.private", "fixed: other users could read the home"),
        Some(Err(problem)) => {
            let message = format!("{open}; fixing it failed: {problem}");
            let hint = format!("{by_hand} as its owner");
            found.bad("home.private", message, Some(hint));
        }
        None => {
            let hint = format!("{by_hand}, or `deft doctor --fix`");
            found.bad("home.private", open, Some(hint));
        }
    }
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: bool, _: &mut Findings) {}

pub(super) fn check_zone(home: &Home, found: &mut Findings) {
    if let Some(doubt) = home.zone_doubt() {
        let hint = "set `time.zone`: `deft config set time.zone Europe/Berlin`";
        found.bad("time.zone", doubt, Some(hint.to_owned()));
    }
}
