//! Whether this process can show messages on a desktop, and by which program.

use std::path::PathBuf;

use deft_tools::desktop::Notifier;

use crate::env;

/// The program that shows messages on the desktop of this host; none without a desktop.
pub fn notifier() -> Option<Notifier> {
    if cfg!(target_os = "macos") {
        return find_program("osascript").map(Notifier::Osascript);
    }
    let display = [env::DISPLAY, env::WAYLAND_DISPLAY];
    let has_desktop = display.into_iter().any(|name| env::get(name).is_some());
    if !has_desktop {
        return None;
    }
    find_program("notify-send").map(Notifier::NotifySend)
}

/// A program on the search path.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::get(env::PATH)?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|place| is_program(place))
}

#[cfg(unix)]
fn is_program(place: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let data = std::fs::metadata(place);
    data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(place: &std::path::Path) -> bool {
    place.is_file()
}
