//! The programs that show messages and web pages on the desktop of this host, if it has one.

use std::ffi::OsStr;

use deft_tools::desktop::Notifier;

use crate::env;
use crate::host::{find_program, start_program};

/// Opens an address or a file in the user's browser without waiting for it. Returns false if there is no desktop or the
/// browser cannot be started.
pub fn open_in_browser(target: &(impl AsRef<OsStr> + ?Sized)) -> bool {
    let program = if cfg!(target_os = "macos") {
        find_program("open")
    } else {
        find_program("xdg-open").filter(|_| has_desktop())
    };
    program.is_some_and(|program| start_program(&program, target.as_ref()))
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
