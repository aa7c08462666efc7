//! Request ids: chosen by the client if valid, otherwise generated.

use axum::http::{HeaderMap, HeaderName};

/// Header that carries the id in requests and responses.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of an id chosen by the client.
const MAX_ID_LEN: usize = 128;

/// The id of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(pub(crate) String);

impl RequestId {
    /// Returns the id chosen by the client, or a new one. Ids with characters that a log could misread are
    /// replaced.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let given = headers.get(&HEADER).and_then(|value| value.to_str().ok());
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let usable = |id: &&str| !id.is_empty() && id.len() <= MAX_ID_LEN && id.chars().all(plain);
        let id = given.filter(usable).map(str::to_owned);
        Self(id.unwrap_or_else(|| format!("req_{}", uuid::Uuid::now_v7().simple())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_client_id_is_used() {
        let read = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, id.parse().unwrap());
            RequestId::read(&headers).0
        };
        assert_eq!(read("abc-1.2_3:4"), "abc-1.2_3:4");
        for bad in ["", "a b", "a\tb", "é", &"x".repeat(129)] {
            assert!(read(bad).starts_with("req_"), "{bad}");
        }
    }
}
