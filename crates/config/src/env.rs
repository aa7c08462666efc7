//! Names of all environment variables that deft reads.

use std::ffi::OsString;
use std::path::PathBuf;

/// Minimum time in minutes between two notices about completions of one skill (S0.62, X7).
pub const SKILL_NOTIFY_INTERVAL_MINUTES: &str = "SKILL_NOTIFY_INTERVAL_MINUTES";
/// The socket of the service manager (`sd_notify`).
pub const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";
/// The time zone of the host, if it names one.
pub const TZ: &str = "TZ";
/// The home folder of deft.
pub const DEFT_HOME: &str = "DEFT_HOME";
/// The folders searched for programs.
pub const PATH: &str = "PATH";
/// The folder of the user's configuration files; `~/.config` if not set.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The home folder of the user.
pub const HOME: &str = "HOME";
/// The name of the account.
pub const LOGNAME: &str = "LOGNAME";
/// The name of the account, on systems without `LOGNAME`.
pub const USER: &str = "USER";
/// Disables colours if set and not empty.
pub const NO_COLOR: &str = "NO_COLOR";
/// Enables colours without a terminal if set and not `0`.
pub const CLICOLOR_FORCE: &str = "CLICOLOR_FORCE";
/// The kind of terminal; `dumb` disables colours.
pub const TERM: &str = "TERM";
/// The pager for long output; empty or `cat` disables paging.
pub const DEFT_PAGER: &str = "DEFT_PAGER";
/// The pager of all programs; used if `DEFT_PAGER` is not set.
pub const PAGER: &str = "PAGER";
/// Options for `less`.
pub const LESS: &str = "LESS";
/// The character set of `less`.
pub const LESSCHARSET: &str = "LESSCHARSET";

/// The OTLP receiver, a standard variable of OpenTelemetry.
pub const OTEL_EXPORTER_OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// HTTP headers for the OTLP receiver.
pub const OTEL_EXPORTER_OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// The service name in exported telemetry.
pub const OTEL_SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// Further resource attributes in exported telemetry.
pub const OTEL_RESOURCE_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
/// Disables the export of telemetry if `true`.
pub const OTEL_SDK_DISABLED: &str = "OTEL_SDK_DISABLED";
/// The span of the parent process (W3C trace context).
pub const TRACEPARENT: &str = "TRACEPARENT";
/// Vendor-specific data of the parent's trace (W3C trace context).
pub const TRACESTATE: &str = "TRACESTATE";

/// The X display, if the host has a desktop.
pub const DISPLAY: &str = "DISPLAY";
/// The Wayland display, if the host has a desktop.
pub const WAYLAND_DISPLAY: &str = "WAYLAND_DISPLAY";

/// Returns the value of a variable that is set and not empty.
pub fn get(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the home folder of the user.
pub fn user_home() -> Option<PathBuf> {
    get(HOME).map(PathBuf::from)
}

/// Returns the value of a variable as UTF-8. The error is the end of a sentence that begins with the name.
pub fn text(name: &str) -> Result<String, &'static str> {
    match get(name) {
        None => Err("is not set"),
        Some(value) => value.into_string().map_err(|_| "is not UTF-8"),
    }
}

/// Returns the settings given as `DEFT__SECTION__KEY`: pairs of `SECTION__KEY` and value, sorted by name.
pub fn overrides() -> Vec<(String, String)> {
    let named = |(name, value): (OsString, OsString)| {
        let name = name.to_str()?.strip_prefix("DEFT__")?.to_owned();
        Some((name, value.into_string().ok()?))
    };
    let mut all: Vec<_> = std::env::vars_os().filter_map(named).collect();
    // The environment is unordered; the result of two conflicting variables must not depend on its order.
    all.sort();
    all
}
