//! The machine that `deft setup` looks at, as a value: tests bring their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deft_config::{env, find_program, run_program};
use deft_llm::{ProviderPlace, list_models};
use deft_wire::Done;

use super::providers;
use crate::runtime;

/// How long a model server may take to list its models: it is on this machine or near it.
const PATIENCE: Duration = Duration::from_millis(1500);

/// How long `crontab -l` may take.
const CRONTAB_PATIENCE: Duration = Duration::from_secs(5);

/// Which conventions the machine follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    /// systemd, `~/.config`.
    Linux,
    /// launchd, `~/Library`.
    MacOs,
}

/// Asks all places at once for their models; nothing where none answers.
pub(super) type Probe = Box<dyn Fn(&[ProviderPlace]) -> Vec<Option<Vec<String>>>>;

/// Everything that discovery looks at.
pub struct Machine {
    pub(super) system: System,
    /// Variables that are set.
    pub(super) environment: BTreeMap<String, String>,
    pub(super) user_home: Option<PathBuf>,
    /// The folder that the command was started in.
    pub(super) folder: PathBuf,
    pub(super) probe: Probe,
    /// The table of the user's cron, if there is one.
    pub(super) crontab: Option<String>,
}

impl Machine {
    /// The machine that this process runs on.
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

    /// A path as people write it: below the home of the user it begins with `~/`.
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
        .map(|place| tokio::spawn(async move { list_models(&place, PATIENCE).await }))
        .collect();
    let mut answers = Vec::new();
    for one in asked {
        answers.push(one.await.ok().flatten());
    }
    answers
}

/// The table of the user's cron. A user without one has nothing to import.
fn crontab() -> Option<String> {
    let program = find_program("crontab")?;
    let listed = run_program(&program, &["-l"], "", CRONTAB_PATIENCE).ok()?;
    listed.ok.then_some(listed.out)
}
