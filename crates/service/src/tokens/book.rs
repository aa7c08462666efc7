//! The tokens that a running server accepts. It follows changes of the file.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deft_wire::Done;
use deft_wire::token::TokenScope;
use jiff::Timestamp;
use parking_lot::Mutex;

use super::{OWNER, StoredToken, StoredTokens, hash, hash_file, owner_token};

/// The name and scope of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOwner {
    /// The name of the token.
    pub name: String,
    /// The scope.
    pub scope: TokenScope,
    /// Distinguishes it from other tokens with the same name.
    pub id: TokenId,
}

/// Identifies an accepted token without its secret. Unlike a name, it is never used again.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct TokenId(String);

impl TokenId {
    /// Returns the id as text, for keys of stored data.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenId")
    }
}

/// The tokens that a server accepts: the owner's, and those currently in the file.
pub struct TokenBook {
    home: PathBuf,
    owner: String,
    read: Mutex<ReadTokens>,
}

#[derive(Default)]
struct ReadTokens {
    /// When the file was modified, and its length.
    version: Option<(SystemTime, u64)>,
    stored: StoredTokens,
}

impl TokenBook {
    /// Opens the tokens of a home, and creates the owner's if it does not exist.
    pub fn open(home: &Path) -> Done<Self> {
        Ok(Self {
            owner: hash(&owner_token(home)?),
            home: home.to_owned(),
            read: Mutex::default(),
        })
    }

    /// Returns the name and scope of a token. It compares hashes, so that timing reveals nothing about the
    /// token.
    pub fn find(&self, token: &str) -> Option<TokenOwner> {
        let given = hash(token);
        if given == self.owner {
            return Some(TokenOwner {
                name: OWNER.to_owned(),
                scope: TokenScope::Admin,
                id: TokenId(given),
            });
        }
        let mut read = self.read.lock();
        self.refresh(&mut read);
        let found = find_valid(&read.stored, &given)?;
        Some(TokenOwner {
            name: found.view.name.clone(),
            scope: found.view.scope,
            id: TokenId(given),
        })
    }

    /// Whether a token that was accepted before is still valid.
    pub fn is_valid(&self, token: &TokenId) -> bool {
        let mut read = self.read.lock();
        self.refresh(&mut read);
        token.0 == self.owner || find_valid(&read.stored, &token.0).is_some()
    }

    /// Whether a sign-in code can be redeemed. Unlike redeeming, this takes no lock and writes nothing.
    pub fn has_code(&self, code: &str) -> bool {
        let given = hash(code);
        let now = Timestamp::now();
        let mut read = self.read.lock();
        self.refresh(&mut read);
        let mut codes = read.stored.sign_in_codes.iter();
        codes.any(|code| code.hash == given && code.expires_at > now)
    }

    /// Reads the file again if it has changed. An unreadable file contains no valid tokens.
    fn refresh(&self, read: &mut ReadTokens) {
        let data = fs::metadata(hash_file(&self.home)).ok();
        let version = data.and_then(|data| Some((data.modified().ok()?, data.len())));
        if version != read.version {
            read.stored = StoredTokens::read(&self.home).unwrap_or_else(|failure| {
                tracing::warn!(hint = failure.hint, "{}", failure.message);
                StoredTokens::default()
            });
            read.version = version;
        }
    }
}

/// Returns the token with this hash, unless it has expired.
fn find_valid<'a>(stored: &'a StoredTokens, hash: &str) -> Option<&'a StoredToken> {
    let found = stored.tokens.iter().find(|token| token.hash == hash)?;
    (!found.view.has_expired(Timestamp::now())).then_some(found)
}
