//! Detects plaintext secrets where a reference to a secret belongs.

use deft_tools::Reference;

/// Words in names of variables and headers whose values are secrets.
const NAMES: [&str; 10] = [
    "token",
    "secret",
    "password",
    "passwd",
    "api_key",
    "apikey",
    "authorization",
    "credential",
    "private_key",
    "access_key",
];

/// Prefixes of well-known tokens.
const TOKENS: [&str; 9] = [
    "sk-",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AIza",
    "eyJ",
];

/// Whether a value is probably a plaintext secret and not a reference to one. This is a guess: use it for
/// warnings and for hiding values in lists.
pub fn is_literal_secret(name: &str, value: &str) -> bool {
    if value.is_empty() || Reference::new(value).is_secret() {
        return false;
    }
    let name = name.to_lowercase().replace('-', "_");
    let named =
        NAMES.iter().any(|word| name.contains(word)) || name == "key" || name.ends_with("_key");
    let value = value.rsplit(' ').next().unwrap_or(value);
    named
        || TOKENS
            .iter()
            .any(|start| value.starts_with(start) && value.len() >= 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaintext_secrets_are_detected() {
        for (name, value, expected) in [
            ("GITHUB_TOKEN", "abc", true),
            ("Authorization", "Bearer abc", true),
            ("Authorization", "Bearer env:TOKEN", false),
            ("X-Api-Key", "abc", true),
            ("OPENAI", "sk-abcdefghijklmnop", true),
            ("LOG_LEVEL", "debug", false),
            ("KEYBOARD", "de", false),
            ("API_KEY", "", false),
        ] {
            assert_eq!(is_literal_secret(name, value), expected, "{name}={value}");
        }
    }
}
