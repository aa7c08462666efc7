//! Reads secrets: references such as `env:NAME`, `file:PATH` and `keyring:NAME`, and the names in the
//! `[secrets]` section.
//!
//! A value is read when it is needed and not cached. Not here: storing secrets (`secret_store.rs`), and
//! inserting them into calls, which the router does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_registry::read_text;
use deft_tools::{Secret, SecretSource};
use parking_lot::Mutex;

use crate::env;
use crate::folders::is_open_to_others;
use crate::keyring::Keyring;
use crate::paths::resolve;
use crate::settings::Config;

/// Maximum size of a file with a secret.
const MAX_BYTES: u64 = 64 * 1024;

/// The secrets of a configuration.
#[derive(Debug, Default)]
pub struct Secrets {
    /// References by name.
    named: BTreeMap<String, String>,
    /// The base of relative paths.
    home: PathBuf,
    warnings: Mutex<Vec<String>>,
}

/// Returns the secrets of a configuration as the source that the router and the engine take.
pub fn source(config: &Config) -> Arc<dyn SecretSource> {
    Arc::new(Secrets::new(config))
}

impl Secrets {
    /// The secrets named in `config`.
    pub fn new(config: &Config) -> Self {
        Self {
            named: config.secrets.clone(),
            home: config.home.clone(),
            warnings: Mutex::default(),
        }
    }

    /// Takes the warnings about secrets that were read so far.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock())
    }

    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    fn read(&self, reference: &str) -> Result<Secret, String> {
        match reference.split_once(':') {
            Some(("env", name)) => env::text(name)
                .map(Secret::new)
                .map_err(|why| format!("the variable `{name}` {why}")),
            Some(("file", path)) => self.file(&resolve(&self.home, path)),
            Some(("keyring", name)) => Keyring::find(&self.home)?.lookup(name),
            _ => Err(format!(
                "`{reference}` is not of the form `env:NAME`, `file:PATH` or `keyring:NAME`"
            )),
        }
    }

    fn file(&self, path: &Path) -> Result<Secret, String> {
        let text = read_text(path, MAX_BYTES)
            .map_err(|problem| format!("cannot read `{}`: {problem}", path.display()))?;
        if is_open_to_others(path) {
            let path = path.display();
            self.warn(format!(
                "other users can read `{path}`, which contains a secret: `chmod 600 {path}`"
            ));
        }
        // Editors and `echo` add a final line break, which is not part of the secret.
        let secret = text.trim_end_matches(['\r', '\n']);
        if secret.is_empty() {
            return Err(format!("`{}` is empty", path.display()));
        }
        Ok(Secret::new(secret))
    }
}

impl SecretSource for Secrets {
    fn secret(&self, reference: &str) -> Result<Secret, String> {
        if let Some(behind) = self.named.get(reference) {
            return self.read(behind);
        }
        if reference.contains(':') {
            return self.read(reference);
        }
        let near = deft_model::nearest(reference, self.named.keys().map(String::as_str));
        let near = near.map(|near| format!("; did you mean `{near}`?"));
        Err(format!(
            "`[secrets]` does not have it{}",
            near.unwrap_or_default()
        ))
    }

    fn runs_program(&self, reference: &str) -> bool {
        let reference = self.named.get(reference).map_or(reference, String::as_str);
        reference.starts_with("keyring:")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(home: &Path) -> Secrets {
        let named = [("MAIL", "file:mail.txt")];
        Secrets {
            named: named
                .map(|(name, to)| (name.to_owned(), to.to_owned()))
                .into(),
            home: home.to_owned(),
            warnings: Mutex::default(),
        }
    }

    #[test]
    fn references_are_resolved() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("mail.txt"), "s3cret\n").unwrap();
        let secrets = secrets(home.path());
        let read = |reference: &str| {
            secrets
                .secret(reference)
                .map(|secret| secret.expose().to_owned())
        };
        assert_eq!(read("MAIL").unwrap(), "s3cret");
        assert_eq!(read("file:mail.txt").unwrap(), "s3cret");
        assert_eq!(read("env:PATH").unwrap(), env::text("PATH").unwrap());
        for (reference, why) in [
            ("MIAL", "`[secrets]` does not have it; did you mean `MAIL`?"),
            ("env:DEFT_NO_SUCH", "the variable `DEFT_NO_SUCH` is not set"),
            (
                "http:x",
                "`http:x` is not of the form `env:NAME`, `file:PATH` or `keyring:NAME`",
            ),
        ] {
            assert_eq!(read(reference).unwrap_err(), why);
        }
    }

    #[test]
    fn only_a_keyring_runs_a_program() {
        let mut secrets = Secrets::default();
        let ring = ("RING".to_owned(), "keyring:ring".to_owned());
        let mail = ("MAIL".to_owned(), "file:mail.txt".to_owned());
        secrets.named = [ring, mail].into();
        let programs = ["RING", "keyring:x", "MAIL", "file:x", "env:X", "OTHER"]
            .map(|reference| secrets.runs_program(reference));
        assert_eq!(programs, [true, true, false, false, false, false]);
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_file_readable_by_others_is_reported() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mail.txt");
        std::fs::write(&path, "s3cret").unwrap();
        let secrets = secrets(home.path());
        for (mode, warnings) in [(0o600, 0), (0o644, 1)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            secrets.secret("MAIL").unwrap();
            secrets.secret("MAIL").unwrap();
            assert_eq!(secrets.take_warnings().len(), warnings);
        }
    }
}
