//! The checks of the health report: runs `deft doctor` in a child process.
//!
//! The child process reads the configuration and opens everything from scratch, as it does when a person
//! types the command; the daemon keeps none of its memory and none of its servers.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::time::Duration;

use deft_model::{Failure, FailureClass};
use deft_scheduler::{Check, CheckStatus, Checks};
use deft_wire::check::{self, CheckList};
use tokio::process::Command;

/// Timeout for all checks together; each server may take a while to start.
const CHECKS_TIMEOUT: Duration = Duration::from_mins(5);

/// Runs `deft doctor` for a home.
pub(crate) struct Doctor {
    home: PathBuf,
}

impl Doctor {
    pub(crate) fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
        }
    }

    async fn run(&self) -> Result<Vec<Check>, Failure> {
        let failed = |why: String| Failure::new(FailureClass::Other, why);
        let program = std::env::current_exe()
            .map_err(|error| failed(format!("cannot find deft itself: {error}")))?;
        let output = Command::new(program)
            .arg("--home")
            .arg(&self.home)
            .args(["doctor", "--json", "--no-input"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(CHECKS_TIMEOUT, output)
            .await
            .map_err(|_| failed("they took more than 5 minutes".to_owned()))?
            .map_err(|error| failed(format!("`deft doctor` cannot be started: {error}")))?;
        let list: CheckList = serde_json::from_slice(&output.stdout)
            .map_err(|error| failed(format!("cannot read the output of `deft doctor`: {error}")))?;
        Ok(list.checks.into_iter().map(check).collect())
    }
}

/// Converts a check of `deft doctor` to a check of the engine's health report.
fn check(check: check::Check) -> Check {
    Check {
        id: check.id,
        subject: check.subject,
        status: match check.status {
            check::CheckStatus::Good => CheckStatus::Good,
            check::CheckStatus::Note => CheckStatus::Note,
            check::CheckStatus::Bad => CheckStatus::Bad,
        },
        message: check.message,
        hint: check.hint,
    }
}

impl Checks for Doctor {
    fn check(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Check>, Failure>> + Send + '_>> {
        Box::pin(self.run())
    }
}
