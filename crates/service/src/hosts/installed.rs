//! Where deft is an entry already.

use std::path::Path;

use deft_config::{env, find_program};
use deft_registry::read_text;
use deft_wire::host::{HostClient, HostScope};
use serde_json::Value;

use super::install::MAX_BYTES;
use super::list::ServerFile;
use super::places::{self, HostSystem};

/// The name that an entry has unless the person chose another one.
const NAME: &str = "deft";

/// A client of the user with deft in its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstalledHost {
    pub(crate) client: HostClient,
    /// The program that it starts, if that is not there.
    pub(crate) missing: Option<String>,
}

/// The clients of the user with deft in their lists. Files that cannot be read count as files without it.
pub(crate) fn installed() -> Vec<InstalledHost> {
    let Some(home) = env::user_home() else {
        return Vec::new();
    };
    let clients = HostClient::ALL.into_iter();
    clients.filter_map(|client| find(client, &home)).collect()
}

/// A bare name is looked for where this process would find it; the client may look elsewhere.
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
