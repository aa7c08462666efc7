//! Authentication and authorisation: the token of a request and its scope.

use axum::http::{HeaderMap, Uri, header};
use deft_service::tokens::TokenId;
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Name of the token.
    pub(crate) name: String,
    /// Scope of the token.
    pub(crate) scope: Scope,
    /// Id of the token.
    pub(crate) token: TokenId,
}

impl Caller {
    /// Returns the caller's name as stored in records.
    pub(crate) fn record_name(&self) -> String {
        format!("api ({})", self.name)
    }

    /// Whether the request had a token; a few addresses need none.
    pub(crate) fn has_token(&self) -> bool {
        self.token != TokenId::default()
    }

    /// Fails unless the token has the scope `needed`.
    pub(crate) fn check(&self, needed: Scope) -> Done<()> {
        if self.scope >= needed {
            return Ok(());
        }
        let (name, needed) = (&self.name, needed.word());
        let message = format!("the token `{name}` lacks the scope `{needed}`");
        let hint = format!("`deft tokens add NAME --scope {needed}` creates a token with it");
        Err(Failure::input("scope", message).hint(hint))
    }
}

/// Returns the token of a request: from the header, or from `?token=` for a WebSocket, whose headers browsers
/// cannot set.
pub(crate) fn token(headers: &HeaderMap, uri: &Uri) -> Done<String> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let text = value.to_str().unwrap_or_default();
        return match text.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                Ok(token.trim().to_owned())
            }
            Some(_) | None => Err(unauthorized_failure(
                "the header `Authorization` is not `Bearer TOKEN`",
            )),
        };
    }
    let mut pairs = uri.query().unwrap_or_default().split('&');
    let token = pairs.find_map(|pair| pair.strip_prefix("token="));
    let token = token.filter(|_| is_upgrade(headers));
    token
        .map(str::to_owned)
        .ok_or_else(|| unauthorized_failure("the request has no token"))
}

/// Whether a request asks for a WebSocket.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE);
    upgrade.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Creates the failure of a request without a valid token.
pub(crate) fn unauthorized_failure(message: &str) -> Failure {
    let hint = "send `Authorization: Bearer TOKEN`; the file `token` in the home has the token";
    Failure::input("unauthorized", message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(authorization: Option<&str>, uri: &str, upgrade: bool) -> Option<String> {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        if upgrade {
            headers.insert(header::UPGRADE, "WebSocket".parse().unwrap());
        }
        token(&headers, &uri.parse().unwrap()).ok()
    }

    #[test]
    fn a_token_is_read_from_the_header_or_the_websocket_address() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read(Some("Bearer abc"), "/", false), some("abc"));
        assert_eq!(read(Some("bearer abc"), "/?token=x", true), some("abc"));
        assert_eq!(read(None, "/ws?after=1&token=abc", true), some("abc"));
        assert_eq!(read(None, "/ws?token=abc", false), None);
        assert_eq!(read(Some("Basic abc"), "/", false), None);
        assert_eq!(read(Some("abc"), "/", false), None);
        assert_eq!(read(None, "/", false), None);
    }
}
