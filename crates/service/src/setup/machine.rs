//! The machine that `deft setup` inspects, as a value that tests can replace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deft_config::{env, find_program, run_program};
use deft_llm::{ProviderPlace, list_models};
use deft_wire::Done;

use super::providers;
use crate::runtime;

/// Timeout for listing the models of a server, which is on this machine or near it.
const LIST_TIMEOUT: Duration = Duration::from_millis(1500);

/// Timeout of `crontab -l`.
const CRONTAB_TIMEOUT: Duration = Duration::from_secs(5);

/// The conventions of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    /// systemd, `~/.config`.
    Linux,
    /// launchd, `~/Library`.
    MacOs,
}

/// Queries the models of all places concurrently; `None` for a place that does not answer.
pub(super) type Probe = Box<dyn Fn(&[ProviderPlace]) -> Vec<Option<Vec<String>>>>;

/// Everything that discovery inspects.
pub struct Machine {
    pub(super) system: System,
    /// Environment variables that are set.
    pub(super) environment: BTreeMap<String, String>,
    pub(super) user_home: Option<PathBuf>,
    /// The current folder of the command.
    pub(super) folder: PathBuf,
    pub(super) probe: Probe,
    /// The crontab of the user, if there is one.
    pub(super) crontab: Option<String>,
}

impl Machine {
    /// Returns the machine of this process.
    pub fn this_host() -> Done<Self> {
        let runtime = runtime::start()?;
        let text = |name: &str| Some((name.to_owned(), env::text(name).ok()?));
        Ok(Self {
            system: if cfg!(target_os = "macos") {
                System::MacOs
            } else {
                System::Linux
            },
            environment: providers::variables().filter_map(text).collect(),
            user_home: env::user_home(),
            folder: std::env::current_dir().unwrap_or_default(),
            probe: Box::new(move |places: &[ProviderPlace]| runtime.block_on(ask(places))),
            crontab: crontab(),
        })
    }

    /// Formats a path for display: paths below the user's home begin with `~/`.
    pub(super) fn shorten(&self, path: &Path) -> String {
        let home = self.user_home.as_deref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }
}

async fn ask(places: &[ProviderPlace]) -> Vec<Option<Vec<String>>> {
    let asked: Vec<_> = places
        .iter()
        .cloned()
        .map(|place| tokio::spawn(async move { list_models(&place, LIST_TIMEOUT).await }))
        .collect();
    let mut answers = Vec::new();
    for one in asked {
        answers.push(one.await.ok().flatten());
    }
    answers
}

/// Returns the crontab of the user. `None` if there is none, or `crontab` fails.
fn crontab() -> Option<String> {
    let program = find_program("crontab")?;
    let listed = run_program(&program, &["-l"], "", CRONTAB_TIMEOUT).ok()?;
    listed.ok.then_some(listed.out)
}
