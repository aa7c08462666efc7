//! Whether this process can show messages on a desktop, and by which program.

use deft_tools::desktop::Notifier;

use crate::env;
use crate::host::find_program;

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
