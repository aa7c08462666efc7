//! The hooks of the configuration as it is now, and their secrets.
//!
//! Senders of deliveries are strangers until the signature is checked, and a secret may be in a keyring that answers
//! slowly or asks a person. So secrets are cached, one thread at a time looks one up, and none is looked up for a
//! request that has no signature. Not here: checking signatures (`signature.rs`).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use deft_config::{Config, HookConfig, Secrets, config_file};
use deft_tools::SecretSource;
use deft_wire::{Done, Failure};
use parking_lot::Mutex;

use super::signature;

/// How long a secret that was read is used without reading it again.
const SECRET_LIFETIME: Duration = Duration::from_mins(1);

/// How long a secret that could not be read is not looked up again.
const FAILURE_LIFETIME: Duration = Duration::from_secs(5);

/// How old a secret must be to be looked up again after a wrong signature: its owner may have replaced it.
pub(super) const RENEWAL_AGE: Duration = Duration::from_secs(1);

/// How long a delivery waits for the secret that another thread looks up.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);

/// The hooks of the configuration as it is now.
pub struct HookConfigs {
    file: PathBuf,
    table: Mutex<HookTable>,
    /// Held by the thread that looks up a secret.
    lookup: Mutex<()>,
}

#[derive(Default)]
struct HookTable {
    /// Modification time and size of the configuration file when it was read.
    version: Option<(SystemTime, u64)>,
    config: Option<Config>,
    secrets: HashMap<String, CachedSecret>,
}

/// The result of looking up the secret of a hook.
#[derive(Clone)]
struct CachedSecret {
    result: Result<String, String>,
    read_at: Instant,
}

impl CachedSecret {
    fn is_younger_than(&self, age: Duration) -> bool {
        let lifetime = match self.result {
            Ok(_) => age,
            Err(_) => FAILURE_LIFETIME,
        };
        self.read_at.elapsed() < lifetime
    }
}

impl HookConfigs {
    /// The hooks of a home.
    pub fn open(home: &Path) -> Self {
        Self {
            file: config_file(home),
            table: Mutex::default(),
            lookup: Mutex::default(),
        }
    }

    /// Refuses a delivery whose head shows already that it cannot be accepted: its hook does not exist, or it is not
    /// signed. Names of headers are in lower case.
    pub fn admit(&self, name: &str, headers: &BTreeMap<String, String>) -> Done<()> {
        signature::check_headers(&self.hook(name)?, headers)
    }

    pub(super) fn hook(&self, name: &str) -> Done<HookConfig> {
        let mut table = self.table.lock();
        self.refresh(&mut table);
        let mut hooks = table.config.iter().flat_map(|config| &config.hooks);
        let hook = hooks.find(|hook| hook.name == name).cloned();
        hook.ok_or_else(|| {
            Failure::input("unknown_hook", "unknown hook")
                .hint("add a section `[hooks.NAME]` to the configuration")
        })
    }

    /// The secret of a hook, at most a minute old.
    pub(super) fn secret(&self, hook: &HookConfig) -> Done<String> {
        self.secret_within(hook, SECRET_LIFETIME)
    }

    /// The secret of a hook, read again if it is older than `age`.
    pub(super) fn secret_within(&self, hook: &HookConfig, age: Duration) -> Done<String> {
        let cached = |book: &Self| {
            let table = book.table.lock();
            let found = table.secrets.get(&hook.name).cloned();
            found.filter(|secret| secret.is_younger_than(age))
        };
        if let Some(secret) = cached(self) {
            return hide_reason(secret.result);
        }
        let Some(_turn) = self.lookup.try_lock_for(LOOKUP_TIMEOUT) else {
            return hide_reason(Err("it is still being read".to_owned()));
        };
        // Another thread may have looked it up in the meantime.
        if let Some(secret) = cached(self) {
            return hide_reason(secret.result);
        }
        let result = self.look_up(hook);
        if let Err(why) = &result {
            tracing::error!(
                hook = hook.name,
                "the secret of a hook cannot be read: {why}"
            );
        }
        let secret = CachedSecret {
            result: result.clone(),
            read_at: Instant::now(),
        };
        self.table.lock().secrets.insert(hook.name.clone(), secret);
        hide_reason(result)
    }

    /// Reads a secret, without holding the lock of the table: a keyring may take a minute.
    fn look_up(&self, hook: &HookConfig) -> Result<String, String> {
        let secrets = self.table.lock().config.as_ref().map(Secrets::new);
        let secret = secrets.unwrap_or_default().secret(&hook.secret)?;
        Ok(secret.expose().to_owned())
    }

    /// Reads the configuration again if it has changed. A broken one leaves the last good one in effect.
    fn refresh(&self, table: &mut HookTable) {
        let data = std::fs::metadata(&self.file).ok();
        let version = data.and_then(|data| Some((data.modified().ok()?, data.len())));
        if version == table.version && table.config.is_some() {
            return;
        }
        match Config::read(&self.file) {
            Ok(config) => {
                *table = HookTable {
                    version,
                    config: Some(config),
                    secrets: HashMap::new(),
                };
            }
            Err(failure) => {
                table.version = version;
                tracing::warn!("the previous hooks stay in effect: {}", failure.message);
            }
        }
    }
}

/// The sender is a stranger: why a secret cannot be read is only in the log, once for each attempt to read it.
fn hide_reason(result: Result<String, String>) -> Done<String> {
    result.map_err(|_| {
        let message = "the secret of this hook cannot be read";
        Failure::internal("hook_secret", message).hint("`deft hooks list` shows why")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(home: &Path) -> HookConfigs {
        let text = "[hooks.a]\nsecret = \"file:secret\"\n[hooks.b]\nsecret = \"file:missing\"\n";
        std::fs::write(config_file(home), text).unwrap();
        std::fs::write(home.join("secret"), "first\n").unwrap();
        HookConfigs::open(home)
    }

    #[test]
    fn a_secret_is_reread_if_old_or_after_a_wrong_signature() {
        let home = tempfile::tempdir().unwrap();
        let book = book(home.path());
        let hook = book.hook("a").unwrap();
        assert_eq!(book.secret(&hook).unwrap(), "first");
        std::fs::write(home.path().join("secret"), "second").unwrap();
        assert_eq!(book.secret(&hook).unwrap(), "first");
        assert_eq!(book.secret_within(&hook, Duration::ZERO).unwrap(), "second");
        assert_eq!(book.secret(&hook).unwrap(), "second");
    }

    #[test]
    fn an_unreadable_secret_is_not_read_for_each_delivery() {
        let home = tempfile::tempdir().unwrap();
        let book = book(home.path());
        let hook = book.hook("b").unwrap();
        assert_eq!(book.secret(&hook).unwrap_err().code, "hook_secret");
        std::fs::write(home.path().join("missing"), "here now").unwrap();
        let again = book.secret_within(&hook, Duration::ZERO);
        assert_eq!(again.unwrap_err().code, "hook_secret");
    }

    #[test]
    fn one_thread_reads_a_secret_without_blocking_others() {
        let home = tempfile::tempdir().unwrap();
        let book = book(home.path());
        let hook = book.hook("a").unwrap();
        let turn = book.lookup.lock();
        // As long as one thread waits for a keyring, heads are still checked.
        let unsigned = book.admit("a", &BTreeMap::new()).unwrap_err();
        assert_eq!(unsigned.code, "bad_signature");
        let unknown = book.admit("x", &BTreeMap::new()).unwrap_err();
        assert_eq!(unknown.code, "unknown_hook");
        drop(turn);
        assert_eq!(book.secret(&hook).unwrap(), "first");
    }
}
