//! The failure class of an error (X18).
//!
//! Codes take precedence. Only a tool that returns nothing but text is classified by its words (S3.22),
//! and then only by whole words near the beginning: "limit" inside "unlimited" means nothing.

use deft_model::FailureClass;

/// The length of the prefix that is searched, in characters (S3.23).
const CLIP: usize = 500;

/// The seeds' patterns and a few similar ones; the first class that matches wins.
///
/// A timeout reported by a tool counts as `network`: the remedy is the same.
const PATTERNS: &[(FailureClass, &[&str])] = &[
    (
        FailureClass::Network,
        &[
            "no route",
            "timeout",
            "timed out",
            "connection refused",
            "connection reset",
            "network unreachable",
            "network is unreachable",
            "could not resolve host",
            "name or service not known",
            "econnrefused",
            "enotfound",
            "etimedout",
        ],
    ),
    (
        FailureClass::Auth,
        &[
            "unauthorized",
            "unauthenticated",
            "401",
            "403",
            "forbidden",
            "token expired",
            "permission denied",
            "access denied",
        ],
    ),
    (
        FailureClass::Quota,
        &["quota", "limit", "429", "too many requests", "rate limited"],
    ),
    (
        FailureClass::NotFound,
        &["404", "not found", "no such file", "does not exist"],
    ),
    (
        FailureClass::Invalid,
        &[
            "validation error",
            "invalid argument",
            "invalid arguments",
            "invalid params",
        ],
    ),
];

/// Returns the class of a text that a tool marked as an error.
pub(crate) fn text(text: &str) -> FailureClass {
    let text: String = text.chars().take(CLIP).collect::<String>().to_lowercase();
    PATTERNS
        .iter()
        .find(|(_, patterns)| patterns.iter().any(|pattern| has_words(&text, pattern)))
        .map_or(FailureClass::Other, |(class, _)| *class)
}

/// Whether `words` occurs in `text` as whole words.
fn has_words(text: &str, words: &str) -> bool {
    let in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

/// Returns the class of a response with this HTTP status.
pub(crate) fn status(status: u16) -> FailureClass {
    match status {
        401 | 403 | 407 => FailureClass::Auth,
        404 | 410 => FailureClass::NotFound,
        408 | 504 => FailureClass::Timeout,
        429 => FailureClass::Quota,
        400 | 405 | 406 | 411 | 412 | 415 | 422 => FailureClass::Invalid,
        413 | 414 | 431 => FailureClass::Limit,
        500..=599 => FailureClass::Network,
        _ => FailureClass::Other,
    }
}

/// Whether a request that got this status may still have taken effect.
pub(crate) fn status_in_doubt(status: u16) -> bool {
    // 501 and 503 mean that nothing was done; with the other statuses that is unknown.
    matches!(status, 408 | 500 | 502 | 504..=599)
}

/// Returns the class of a JSON-RPC error.
pub(crate) fn rpc(code: i32, message: &str) -> FailureClass {
    match code {
        -32602 | -32600 | -32700 => FailureClass::Invalid,
        -32601 | -32002 => FailureClass::NotFound,
        // Server-defined codes, and "internal error".
        _ => text(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_decide_the_class() {
        for (error, class) in [
            ("ssh: No route to host", FailureClass::Network),
            ("request timeout after 30s", FailureClass::Network),
            ("HTTP 401 Unauthorized", FailureClass::Auth),
            ("API rate limit exceeded", FailureClass::Quota),
            ("issue AAP-12 not found", FailureClass::NotFound),
            ("unlimited items: 4041 rows", FailureClass::Other),
            ("branch feature/timeouts exists", FailureClass::Other),
            ("❌ no route to host", FailureClass::Network),
        ] {
            assert_eq!(text(error), class, "{error}");
        }
    }

    #[test]
    fn only_the_start_of_a_text_decides_the_class() {
        let long = format!("{} quota", "x ".repeat(300));
        assert_eq!(text(&long), FailureClass::Other);
    }

    #[test]
    fn status_codes_take_precedence_over_words() {
        assert_eq!(status(429), FailureClass::Quota);
        assert_eq!(status(504), FailureClass::Timeout);
        assert!(status_in_doubt(500) && !status_in_doubt(503) && !status_in_doubt(404));
        assert_eq!(rpc(-32602, "token expired"), FailureClass::Invalid);
        assert_eq!(rpc(-32603, "token expired"), FailureClass::Auth);
    }
}
