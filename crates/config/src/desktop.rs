//! The programs that show messages and web pages on the desktop of this host, if it has one.

use deft_tools::desktop::Notifier;

use crate::env;
use crate::host::{find_program, start_program};

/// Opens `url` in the user's browser without waiting for it. Returns false if there is no desktop or the
/// browser cannot be started.
pub fn open_in_browser(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        find_program("open")
    } else {
        find_program("xdg-open").filter(|_| has_desktop())
    };
    program.is_some_and(|program| start_program(&program, url))
}

fn has_desktop() -> bool {
    let display = [env::DISPLAY, env::WAYLAND_DISPLAY];
    display.into_iter().any(|name| env::get(name).is_some())
}

/// Returns the program that shows notifications on the desktop of this host; `None` without a desktop.
pub fn notifier() -> Option<Notifier> {
    if cfg!(target_os = "macos") {
        return find_program("osascript").map(Notifier::Osascript);
    }
    if !has_desktop() {
        return None;
    }
    find_program("notify-send").map(Notifier::NotifySend)
}
