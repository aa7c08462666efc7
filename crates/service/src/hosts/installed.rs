//! Search for clients in which deft is already installed.

use std::path::Path;

use deft_config::{env, find_program};
use deft_registry::read_text;
use deft_wire::host::{HostClient, HostScope};
use serde_json::Value;

use super::install::MAX_BYTES;
use super::list::ServerFile;
use super::places::{self, HostSystem};

/// The default name of the entry.
const NAME: &str = "deft";

/// A client with deft in the user's list of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstalledHost {
    pub(crate) client: HostClient,
    /// The program that the entry starts, if it does not exist.
    pub(crate) missing: Option<String>,
}

/// Returns the clients with deft in the user's lists. A file that cannot be read counts as one without deft.
pub(crate) fn list_installed() -> Vec<InstalledHost> {
    let Some(home) = env::user_home() else {
        return Vec::new();
    };
    let clients = HostClient::ALL.into_iter();
    clients.filter_map(|client| find(client, &home)).collect()
}

/// Whether a program exists. A bare name is searched for in the `PATH` of this process, which may differ from
/// the client's.
fn is_there(program: &str) -> bool {
    Path::new(program).is_file() || find_program(program).is_some()
}

fn find(client: HostClient, home: &Path) -> Option<InstalledHost> {
    let path = places::file(client, HostScope::User, HostSystem::this_host(), home)?;
    let text = read_text(&path, MAX_BYTES).ok()?;
    let file = ServerFile {
        client,
        path: &path,
        text: &text,
    };
    let entry = file.find(NAME).ok()??;
    let program = entry.get("command").or_else(|| entry.get("cmd"));
    let program = program.and_then(Value::as_str);
    let missing = program.filter(|program| !is_there(program));
    Some(InstalledHost {
        client,
        missing: missing.map(str::to_owned),
    })
}
