//! Sign-ins to MCP servers, stored in the home: one file per server, `sign-ins/NAME.json`, that only its
//! owner can read. Public parts are in plain text; tokens are in the host's keyring, or encrypted.
//!
//! Not here: obtaining and renewing sign-ins (`deft-tools`).

use std::any::Any;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use deft_tools::{CredentialVault, Credentials, Secret};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::folders::{create_private_folder, ensure_home, write_private};
use crate::keyring::Keyring;
use crate::seal::Seal;

const FOLDER: &str = "sign-ins";
/// Maximum size of a sign-in file.
const MAX_BYTES: u64 = 256 * 1024;

/// The sign-ins of a home.
#[derive(Debug)]
pub struct SignIns {
    home: PathBuf,
}

/// The public part of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInState {
    /// The address of the server.
    pub url: String,
    /// The authorization server.
    pub issuer: Option<String>,
    /// The granted scopes.
    pub scopes: Vec<String>,
    /// When the access token expires.
    pub expires_at: Option<Timestamp>,
    /// Whether deft can renew it.
    pub renewable: bool,
    /// When it was granted or last renewed.
    pub granted_at: Timestamp,
}

/// The content of a sign-in file.
#[derive(Serialize, Deserialize)]
struct SignInFile {
    #[serde(flatten)]
    state: SignInState,
    /// The encrypted tokens; absent if the keyring has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<String>,
}

impl SignIns {
    /// The sign-ins of a home.
    pub fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
        }
    }

    /// Returns the public part of a sign-in without accessing the keyring.
    pub fn state(&self, server: &str) -> Option<SignInState> {
        Some(self.file(server).ok()??.state)
    }

    fn folder(&self) -> PathBuf {
        self.home.join(FOLDER)
    }

    fn path(&self, server: &str) -> PathBuf {
        self.folder().join(format!("{}.json", plain(server)))
    }

    fn file(&self, server: &str) -> Result<Option<SignInFile>, String> {
        let path = self.path(server);
        if !path.exists() {
            return Ok(None);
        }
        let unreadable = |problem: String| format!("cannot read `{}`: {problem}", path.display());
        let text = deft_registry::read_text(&path, MAX_BYTES)
            .map_err(|problem| unreadable(problem.to_string()))?;
        let file = serde_json::from_str(&text);
        file.map(Some)
            .map_err(|problem| unreadable(problem.to_string()))
    }

    fn seal(&self) -> Result<Seal, String> {
        Seal::open(&self.folder().join("key"))
    }

    fn prepare(&self) -> Result<(), String> {
        let made = ensure_home(&self.home).and_then(|()| create_private_folder(&self.folder()));
        made.map_err(|failure| failure.message)
    }
}

/// The name of the keyring entry.
fn entry(server: &str) -> String {
    format!("sign-in-{}", plain(server))
}

/// Encodes a server name for use in a path and in commands; different names stay different.
fn plain(server: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    server.bytes().map(letter).collect()
}

fn state(credentials: &Credentials) -> SignInState {
    SignInState {
        url: credentials.url.clone(),
        issuer: credentials.issuer.clone(),
        scopes: credentials.scopes.clone(),
        expires_at: credentials.expires_at,
        renewable: credentials.refresh_token.is_some(),
        granted_at: credentials.granted_at,
    }
}

impl CredentialVault for SignIns {
    fn load(&self, server: &str) -> Result<Option<Credentials>, String> {
        let Some(file) = self.file(server)? else {
            return Ok(None);
        };
        let text = match &file.sealed {
            Some(sealed) => self.seal()?.unseal(sealed, server)?,
            None => {
                let found = Keyring::find(&self.home)?.lookup(&entry(server))?;
                found.expose().to_owned()
            }
        };
        let credentials = serde_json::from_str(&text);
        credentials
            .map(Some)
            .map_err(|_| format!("the stored sign-in to `{server}` is damaged"))
    }

    fn save(&self, server: &str, credentials: &Credentials) -> Result<(), String> {
        self.prepare()?;
        let text = serde_json::to_string(credentials).map_err(|problem| problem.to_string())?;
        let keyring = Keyring::find(&self.home);
        let kept = keyring.and_then(|keyring| keyring.store(&entry(server), &Secret::new(&text)));
        let sealed = match kept {
            Ok(()) => None,
            Err(_) => Some(self.seal()?.seal(&text, server)?),
        };
        let file = SignInFile {
            state: state(credentials),
            sealed,
        };
        let file = serde_json::to_string_pretty(&file).map_err(|problem| problem.to_string())?;
        write_private(&self.path(server), &format!("{file}\n")).map_err(|failure| failure.message)
    }

    fn remove(&self, server: &str) -> Result<bool, String> {
        let in_keyring = matches!(self.file(server), Ok(Some(file)) if file.sealed.is_none());
        // The file goes first: without it, deft does not use what is left in the keyring.
        let removed = remove(&self.path(server))?;
        if in_keyring {
            Keyring::find(&self.home)?.remove(&entry(server))?;
        }
        Ok(removed)
    }

    fn version(&self, server: &str) -> u64 {
        let found = fs::metadata(self.path(server));
        let changed = found.and_then(|found| found.modified());
        let since = changed
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| {
            u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
        })
    }

    fn lock(&self) -> Result<Box<dyn Any + Send>, String> {
        self.prepare()?;
        let path = self.folder().join("lock");
        let lock = File::create(&path).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        let lock =
            lock.map_err(|problem| format!("cannot lock `{}`: {problem}", path.display()))?;
        Ok(Box::new(lock))
    }
}

/// Removes a file. Returns false if it did not exist.
fn remove(path: &Path) -> Result<bool, String> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(problem) => Err(format!("cannot remove `{}`: {problem}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::is_open_to_others;

    fn credentials() -> Credentials {
        Credentials {
            url: "https://example.com/mcp".to_owned(),
            issuer: Some("https://id.example.com".to_owned()),
            client_id: "c1".to_owned(),
            client_secret: Some("made-up-secret".to_owned()),
            access_token: "access-canary".to_owned(),
            refresh_token: Some("refresh-canary".to_owned()),
            scopes: vec!["read".to_owned()],
            expires_at: None,
            granted_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_sign_in_is_stored_encrypted_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let sign_ins = SignIns::new(&home);
        assert_eq!(sign_ins.load("web").unwrap(), None);
        assert_eq!(sign_ins.version("web"), 0);
        sign_ins.save("web", &credentials()).unwrap();
        assert_eq!(sign_ins.load("web").unwrap(), Some(credentials()));
        assert_ne!(sign_ins.version("web"), 0);
        let state = sign_ins.state("web").unwrap();
        assert!(state.renewable && state.scopes == ["read"]);
        for entry in fs::read_dir(home.join("sign-ins")).unwrap() {
            let path = entry.unwrap().path();
            assert!(!is_open_to_others(&path), "{}", path.display());
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains("canary") && !text.contains("made-up"),
                "{text}"
            );
        }
        assert!(sign_ins.remove("web").unwrap());
        assert!(!sign_ins.remove("web").unwrap());
        assert_eq!(sign_ins.load("web").unwrap(), None);
    }

    #[test]
    fn tokens_of_one_server_are_not_those_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let sign_ins = SignIns::new(folder.path());
        sign_ins.save("web", &credentials()).unwrap();
        fs::copy(sign_ins.path("web"), sign_ins.path("mail")).unwrap();
        assert!(sign_ins.load("mail").unwrap_err().contains("another key"));
        fs::write(sign_ins.path("mail"), "{").unwrap();
        assert!(sign_ins.load("mail").is_err());
        assert!(sign_ins.remove("mail").unwrap());
    }

    #[test]
    fn each_server_has_a_separate_file() {
        assert_eq!(plain("my-web_1"), "my-web_1");
        assert_eq!(plain("ä/.."), "%c3%a4%2f%2e%2e");
    }
}
