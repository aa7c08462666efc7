//! Every environment variable that deft reads, once.

use std::ffi::OsString;
use std::path::PathBuf;

/// The least time between two notices about completions of one skill (S0.62, X7).
pub const SKILL_NOTIFY_INTERVAL_MINUTES: &str = "SKILL_NOTIFY_INTERVAL_MINUTES";
/// Where a service manager listens (`sd_notify`).
pub const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";
/// The zone of the host, if it names one.
pub const TZ: &str = "TZ";
/// The home of deft.
pub const DEFT_HOME: &str = "DEFT_HOME";
/// Folders of programs.
pub const PATH: &str = "PATH";
/// Where the configuration of the user's programs is, if not in `~/.config`.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The home of the user.
pub const HOME: &str = "HOME";
/// Set and not empty: no colours.
pub const NO_COLOR: &str = "NO_COLOR";
/// Set and not `0`: colours also where there is no terminal.
pub const CLICOLOR_FORCE: &str = "CLICOLOR_FORCE";
/// `dumb`: a terminal without colours.
pub const TERM: &str = "TERM";
/// The program that shows long output; empty or `cat` for none.
pub const DEFT_PAGER: &str = "DEFT_PAGER";
/// The same for all programs.
pub const PAGER: &str = "PAGER";
/// Options of `less`.
pub const LESS: &str = "LESS";
/// The characters that `less` shows.
pub const LESSCHARSET: &str = "LESSCHARSET";

/// The OTLP receiver, in the words of OpenTelemetry.
pub const OTEL_EXPORTER_OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// Headers for it.
pub const OTEL_EXPORTER_OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// The name under which deft exports.
pub const OTEL_SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// Further attributes of what is exported.
pub const OTEL_RESOURCE_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
/// `true`: nothing is exported.
pub const OTEL_SDK_DISABLED: &str = "OTEL_SDK_DISABLED";
/// The span of the program that started deft (W3C trace context).
pub const TRACEPARENT: &str = "TRACEPARENT";
/// What tracing systems add to it.
pub const TRACESTATE: &str = "TRACESTATE";

/// The X display, if there is a desktop.
pub const DISPLAY: &str = "DISPLAY";
/// The Wayland display, if there is a desktop.
pub const WAYLAND_DISPLAY: &str = "WAYLAND_DISPLAY";

/// The value of a variable that is set and not empty.
pub fn get(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The home of the user.
pub fn user_home() -> Option<PathBuf> {
    get(HOME).map(PathBuf::from)
}

/// The value of a variable that must be a text.
pub fn text(name: &str) -> Result<String, &'static str> {
    match get(name) {
        None => Err("is not set"),
        Some(value) => value.into_string().map_err(|_| "is not UTF-8"),
    }
}

/// The settings given as `DEFT__SECTION__KEY`, as `SECTION__KEY` with their
/// values.
pub fn overrides() -> Vec<(String, String)> {
    let named = |(name, value): (OsString, OsString)| {
        let name = name.to_str()?.strip_prefix("DEFT__")?.to_owned();
        Some((name, value.into_string().ok()?))
    };
    let mut all: Vec<_> = std::env::vars_os().filter_map(named).collect();
    // The environment has no order; what two variables say must not depend on it.
    all.sort();
    all
}
