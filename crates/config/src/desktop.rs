//! Whether this process can show messages and pages on a desktop, and by which program.

use deft_tools::desktop::Notifier;

use crate::env;
use crate::host::{find_program, start_program};

/// Opens an address in the browser of the person, and does not wait for it; false without a desktop.
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

/// The program that shows messages on the desktop of this host; none without a desktop.
pub fn notifier() -> Option<Notifier> {
    if cfg!(target_os = "macos") {
        return find_program("osascript").map(Notifier::Osascript);
    }
    if !has_desktop() {
        return None;
    }
    find_program("notify-send").map(Notifier::NotifySend)
}
