//! Signs a browser in: a command creates a code, the page exchanges it for a token.
//!
//! An address stays in the browser's history, so it has no token but a code, which works once and only for two
//! minutes. Only the hash of a code is stored. Other users can read the arguments of programs, so the browser
//! is started with the path of a private file that redirects to the address.

use std::path::{Path, PathBuf};

use deft_config::{lock_edits, write_private};
use deft_wire::token::{SignInResult, TokenScope};
use deft_wire::{Done, Failure};
use jiff::{SignedDuration, Timestamp};

use super::{StoredCode, StoredTokens, hash, new_token};
use crate::listener;
use crate::workspace::Workspace;

/// How long a code can be used.
const CODE_LIFETIME: SignedDuration = SignedDuration::from_mins(2);

/// How long a browser stays signed in.
const TOKEN_LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Maximum number of unused codes; a further one replaces the oldest.
const MAX_CODES: usize = 8;

/// Maximum number of signed-in browsers.
const MAX_BROWSERS: usize = 100;

/// A code and the address that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInCode {
    /// The address of the daemon's page, with the code in its fragment, which browsers do not send.
    pub url: String,
    /// When the code becomes invalid.
    pub expires_at: Timestamp,
    /// The home of the daemon.
    home: PathBuf,
}

impl SignInCode {
    /// Writes a file that redirects a browser to the address, readable by its owner only, and returns its path.
    /// The next call replaces it.
    pub fn write_redirect(&self) -> Done<PathBuf> {
        let path = self.home.join("data").join("open.html");
        let url = self.url.replace('&', "&amp;").replace('"', "&quot;");
        let text = format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>deft</title>\n\
             <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<a href=\"{url}\">Open deft</a>\n"
        );
        write_private(&path, &text)?;
        Ok(path)
    }
}

/// Creates a code for the running daemon.
pub fn create_code(workspace: &Workspace) -> Done<SignInCode> {
    let home = workspace.locate()?;
    let url = listener::find(&home).and_then(|state| state.page_url.or(state.url));
    let url = url.ok_or_else(|| {
        let message = "no running daemon serves a page";
        Failure::input("not_up", message).hint("start `deft up`; `deft doctor` shows the problems")
    })?;
    let (code, expires_at) = add_code(&home, Timestamp::now())?;
    Ok(SignInCode {
        url: format!("{url}/#code={code}"),
        expires_at,
        home,
    })
}

fn add_code(home: &Path, now: Timestamp) -> Done<(String, Timestamp)> {
    let _lock = lock_edits(home);
    let mut stored = StoredTokens::read(home)?;
    stored.remove_expired(now);
    let surplus = (stored.sign_in_codes.len() + 1).saturating_sub(MAX_CODES);
    stored.sign_in_codes.drain(..surplus);
    let (code, expires_at) = (new_token(), now + CODE_LIFETIME);
    stored.sign_in_codes.push(StoredCode {
        hash: hash(&code),
        expires_at,
    });
    stored.write(home)?;
    Ok((code, expires_at))
}

/// Exchanges a code for a token with all rights. The token has a name, so it can be listed and revoked.
pub fn redeem_code(home: &Path, code: &str) -> Done<SignInResult> {
    redeem_code_at(home, code, Timestamp::now())
}

fn redeem_code_at(home: &Path, code: &str, now: Timestamp) -> Done<SignInResult> {
    let given = hash(code);
    let _lock = lock_edits(home);
    let mut stored = StoredTokens::read(home)?;
    stored.remove_expired(now);
    let found = stored
        .sign_in_codes
        .iter()
        .position(|code| code.hash == given);
    let found = found.ok_or_else(unknown_code)?;
    stored.sign_in_codes.remove(found);
    let name = free_name(&stored)?;
    let (scope, expires_at) = (TokenScope::Admin, now + TOKEN_LIFETIME);
    let token = stored.create(&name, scope, Some(expires_at));
    stored.write(home)?;
    Ok(SignInResult {
        ok: true,
        name,
        scope,
        token,
        expires_at,
    })
}

/// Returns the failure for a code that cannot be redeemed.
pub fn unknown_code() -> Failure {
    let message = "the sign-in code is unknown, used or expired";
    Failure::input("unauthorized", message).hint("run `deft open` again")
}

/// Returns the first unused name for the token of a browser.
fn free_name(stored: &StoredTokens) -> Done<String> {
    let mut names = (1..=MAX_BROWSERS).map(|number| format!("browser-{number}"));
    names.find(|name| !stored.has_name(name)).ok_or_else(|| {
        let message = format!("{MAX_BROWSERS} browsers are signed in already");
        Failure::input("exists", message)
            .hint("`deft tokens list` shows them; `deft tokens revoke NAME` signs one out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{TokenBook, hash_file, list, revoke};

    fn minutes(count: i64) -> SignedDuration {
        SignedDuration::from_mins(count)
    }

    #[test]
    fn a_code_works_once_and_for_two_minutes() {
        let home = tempfile::tempdir().unwrap();
        let (home, now) = (home.path(), Timestamp::now());
        let (code, _) = add_code(home, now).unwrap();
        let (late, _) = add_code(home, now).unwrap();
        let text = std::fs::read_to_string(hash_file(home)).unwrap();
        assert!(!text.contains(&code), "{text}");
        let signed_in = redeem_code_at(home, &code, now + minutes(1)).unwrap();
        let refused = [
            redeem_code_at(home, &code, now + minutes(1)),
            redeem_code_at(home, &late, now + minutes(2)),
            redeem_code_at(home, "deft_x", now),
            redeem_code_at(home, "", now),
        ];
        for result in refused {
            assert_eq!(result.unwrap_err().code, "unauthorized");
        }
        let book = TokenBook::open(home).unwrap();
        assert!(!book.has_code(&code) && !book.has_code(""));
        let owner = book.find(&signed_in.token).unwrap();
        assert_eq!(
            (owner.name.as_str(), owner.scope),
            ("browser-1", TokenScope::Admin)
        );
        assert!(book.find(&code).is_none());
        revoke(&Workspace::for_test(home), "browser-1").unwrap();
        assert!(!book.is_valid(&owner.id));
    }

    #[test]
    fn the_token_of_a_browser_expires_and_its_name_is_reused() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let long_ago = Timestamp::now() - TOKEN_LIFETIME;
        let (code, _) = add_code(home, long_ago).unwrap();
        let old = redeem_code_at(home, &code, long_ago).unwrap();
        let book = TokenBook::open(home).unwrap();
        assert!(book.find(&old.token).is_none());
        assert!(list(&Workspace::for_test(home)).unwrap().tokens.is_empty());
        let (code, _) = add_code(home, Timestamp::now()).unwrap();
        assert_eq!(redeem_code(home, &code).unwrap().name, old.name);
    }

    #[test]
    fn only_the_newest_codes_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let (home, now) = (home.path(), Timestamp::now());
        let codes: Vec<_> = (0..=MAX_CODES)
            .map(|_| add_code(home, now).unwrap().0)
            .collect();
        let book = TokenBook::open(home).unwrap();
        assert!(!book.has_code(&codes[0]) && book.has_code(&codes[1]));
        assert!(redeem_code_at(home, &codes[0], now).is_err());
        assert!(redeem_code_at(home, &codes[1], now).is_ok());
    }
}
