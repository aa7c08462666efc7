//! The tokens of HTTP requests. The owner's token is created when a daemon first starts and is stored in the
//! file `token` of the home, readable by its owner only. Further tokens have a name and a scope; only their
//! hashes are stored, in `tokens.json`. `sign_in.rs` gives a browser a token, `book.rs` finds the token of a
//! request.
//!
//! Not here: extracting a token from a request.

mod book;
mod sign_in;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use deft_config::{lock_edits, write_private};
use deft_model::nearest;
use deft_registry::read_text;
use deft_wire::token::{AddTokenResult, TokenList, TokenRevoked, TokenScope, TokenView};
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hex::hex_digest;
use crate::workspace::Workspace;

pub use book::{TokenBook, TokenId, TokenOwner};
pub use sign_in::{SignInCode, create_code, redeem_code, unknown_code};

/// Maximum size of the file with the owner's token.
const MAX_TOKEN: u64 = 4096;

/// Maximum size of the file with hashes.
const MAX_HASHES: u64 = 4 * 1024 * 1024;

/// Minimum length of a token, in characters.
const SHORTEST: usize = 32;

/// The name of the owner's token.
const OWNER: &str = "owner";

/// Returns the path of the owner's token.
pub fn token_file(home: &Path) -> PathBuf {
    home.join("token")
}

fn hash_file(home: &Path) -> PathBuf {
    home.join("tokens.json")
}

/// Returns the owner's token, and creates it if it does not exist.
fn owner_token(home: &Path) -> Done<String> {
    let path = token_file(home);
    match read_text(&path, MAX_TOKEN) {
        Ok(text) => check(&path, text.trim()),
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            let token = new_token();
            write_private(&path, &format!("{token}\n"))?;
            Ok(token)
        }
        Err(problem) => Err(Failure::file(&path, "read", &problem)),
    }
}

fn check(path: &Path, token: &str) -> Done<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if token.len() < SHORTEST || !token.chars().all(plain) {
        let message = format!("`{}` has no usable token", path.display());
        let hint = format!(
            "delete the file; the next start of deft creates a token; a token has letters, digits, `-`, `_` \
             and `.`, at least {SHORTEST} of them"
        );
        return Err(Failure::input("bad_token_file", message).hint(hint));
    }
    if deft_config::is_open_to_others(path) {
        deft_config::make_private(path)
            .map_err(|problem| Failure::file(path, "protect", &problem))?;
    }
    Ok(token.to_owned())
}

/// Returns a token with 244 random bits.
fn new_token() -> String {
    let part = || uuid::Uuid::new_v4().simple().to_string();
    format!("deft_{}{}", part(), part())
}

fn hash(token: &str) -> String {
    hex_digest(token.as_bytes())
}

/// A token in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredToken {
    hash: String,
    #[serde(flatten)]
    view: TokenView,
}

/// A code with which a browser gets a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredCode {
    hash: String,
    expires_at: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StoredTokens {
    tokens: Vec<StoredToken>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sign_in_codes: Vec<StoredCode>,
}

impl StoredTokens {
    fn read(home: &Path) -> Done<Self> {
        let path = hash_file(home);
        let text = match read_text(&path, MAX_HASHES) {
            Ok(text) => text,
            Err(problem) if problem.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(problem) => return Err(Failure::file(&path, "read", &problem)),
        };
        serde_json::from_str(&text).map_err(|problem| {
            let message = format!("`{}` cannot be read: {problem}", path.display());
            Failure::input("bad_token_file", message)
                .hint("delete the file and add the tokens again")
        })
    }

    fn write(&self, home: &Path) -> Done<()> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_private(&hash_file(home), &format!("{text}\n"))
    }

    /// Removes what has expired.
    fn remove_expired(&mut self, now: Timestamp) {
        self.tokens.retain(|token| !token.view.has_expired(now));
        self.sign_in_codes.retain(|code| code.expires_at > now);
    }

    /// Whether a token has this name.
    fn has_name(&self, name: &str) -> bool {
        name == OWNER || self.tokens.iter().any(|token| token.view.name == name)
    }

    /// Creates a token, adds its hash, and returns the token.
    fn create(&mut self, name: &str, scope: TokenScope, expires_at: Option<Timestamp>) -> String {
        let token = new_token();
        self.tokens.push(StoredToken {
            hash: hash(&token),
            view: TokenView {
                name: name.to_owned(),
                scope,
                created_at: Timestamp::now(),
                expires_at,
            },
        });
        token
    }
}

/// Creates a token. It is only returned here; its hash is stored.
pub fn add(workspace: &Workspace, name: &str, scope: TokenScope) -> Done<AddTokenResult> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        let message = format!("`{name}` cannot be the name of a token");
        let hint = "use letters, digits, `-`, `_` and `.`";
        return Err(Failure::input("invalid_name", message).hint(hint));
    }
    let home = workspace.home()?;
    home.ensure()?;
    let _lock = lock_edits(&home.path);
    let mut stored = StoredTokens::read(&home.path)?;
    stored.remove_expired(Timestamp::now());
    if stored.has_name(name) {
        let message = format!("the token `{name}` already exists");
        let hint = format!("`deft tokens revoke {name}` revokes it, or choose another name");
        return Err(Failure::input("exists", message).hint(hint));
    }
    let token = stored.create(name, scope, None);
    stored.write(&home.path)?;
    Ok(AddTokenResult {
        ok: true,
        name: name.to_owned(),
        scope,
        token,
    })
}

/// Lists the valid tokens that were added, without the secrets.
pub fn list(workspace: &Workspace) -> Done<TokenList> {
    let mut stored = StoredTokens::read(&workspace.locate()?)?;
    stored.remove_expired(Timestamp::now());
    let tokens = stored.tokens.into_iter().map(|token| token.view);
    Ok(TokenList {
        tokens: tokens.collect(),
    })
}

/// Revokes a token. The next request with it is refused.
pub fn revoke(workspace: &Workspace, name: &str) -> Done<TokenRevoked> {
    let home = workspace.locate()?;
    let _lock = lock_edits(&home);
    let mut stored = StoredTokens::read(&home)?;
    let before = stored.tokens.len();
    stored.tokens.retain(|token| token.view.name != name);
    if stored.tokens.len() == before {
        return Err(unknown(name, &stored));
    }
    stored.write(&home)?;
    Ok(TokenRevoked {
        ok: true,
        revoked: name.to_owned(),
    })
}

fn unknown(name: &str, stored: &StoredTokens) -> Failure {
    let failure = Failure::input("unknown_token", format!("unknown token `{name}`"));
    if name == OWNER {
        return failure.hint("delete the file `token` of the home and start deft again");
    }
    let names = stored.tokens.iter().map(|token| token.view.name.as_str());
    failure.hint(match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft tokens list` shows all tokens".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_token_is_created_once_in_a_private_file() {
        let home = tempfile::tempdir().unwrap();
        let first = owner_token(home.path()).unwrap();
        assert_eq!(owner_token(home.path()).unwrap(), first);
        assert!(!deft_config::is_open_to_others(&token_file(home.path())));
        assert!(first.len() >= SHORTEST);
    }

    #[test]
    fn an_invalid_token_file_is_refused() {
        let home = tempfile::tempdir().unwrap();
        fs::write(token_file(home.path()), "short\n").unwrap();
        assert_eq!(owner_token(home.path()).unwrap_err().code, "bad_token_file");
    }

    #[test]
    fn concurrent_edits_are_all_kept() {
        let home = tempfile::tempdir().unwrap();
        let workspace = Workspace::for_test(home.path());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let workspace = &workspace;
                scope.spawn(move || {
                    for number in 0..10 {
                        let (kept, gone) =
                            (format!("kept-{thread}-{number}"), format!("gone-{thread}"));
                        add(workspace, &kept, TokenScope::Read).unwrap();
                        add(workspace, &gone, TokenScope::Read).unwrap();
                        revoke(workspace, &gone).unwrap();
                    }
                });
            }
        });
        let names = list(&workspace).unwrap().tokens.into_iter();
        let mut names: Vec<String> = names.map(|token| token.name).collect();
        names.sort();
        let expected = (0..4).flat_map(|thread| (0..10).map(move |n| format!("kept-{thread}-{n}")));
        assert_eq!(names, expected.collect::<Vec<_>>());
    }

    #[test]
    fn tokens_are_stored_as_hashes_and_revoked_at_once() {
        let home = tempfile::tempdir().unwrap();
        let workspace = Workspace::for_test(home.path());
        let book = TokenBook::open(home.path()).unwrap();
        let owner = owner_token(home.path()).unwrap();
        assert_eq!(book.find(&owner).unwrap().scope, TokenScope::Admin);
        let added = add(&workspace, "phone", TokenScope::Read).unwrap();
        let text = fs::read_to_string(hash_file(home.path())).unwrap();
        assert!(!text.contains(&added.token), "{text}");
        assert!(!deft_config::is_open_to_others(&hash_file(home.path())));
        let found = book.find(&added.token).unwrap();
        assert_eq!(
            (found.name.as_str(), found.scope),
            ("phone", TokenScope::Read)
        );
        assert_eq!(
            add(&workspace, "phone", TokenScope::Run).unwrap_err().code,
            "exists"
        );
        assert_eq!(
            add(&workspace, "a/b", TokenScope::Run).unwrap_err().code,
            "invalid_name"
        );
        assert_eq!(list(&workspace).unwrap().tokens.len(), 1);
        assert!(book.is_valid(&found.id));
        revoke(&workspace, "phone").unwrap();
        assert!(!book.is_valid(&found.id));
        assert_eq!(book.find(&added.token), None);
        assert_eq!(
            revoke(&workspace, "phone").unwrap_err().code,
            "unknown_token"
        );
    }
}
