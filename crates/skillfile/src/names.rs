//! Validation and conversion of names.

/// Returns whether `name` matches `^[a-z][a-z0-9_]*$`: a domain, an action, a step (S2.10).
pub fn is_word(name: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(rest)
}

/// Returns whether `name` has the form `domain.action` of a man page (S2.10).
pub fn is_dotted(name: &str) -> bool {
    name.split_once('.')
        .is_some_and(|(domain, action)| is_word(domain) && is_word(action))
}

/// Returns the domain of a dotted name.
pub(crate) fn domain_of(name: &str) -> Option<&str> {
    is_dotted(name).then(|| name.split('.').next()).flatten()
}

/// Returns whether a name can be used in templates and conditions.
pub(crate) fn is_identifier(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(first) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Keywords of Python, which cannot be used as names.
pub(crate) const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Returns whether a name is a keyword of Python.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Returns whether a name can be used as an id unchanged, without the folder's name as a fallback.
pub(crate) fn is_id(name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.starts_with(char::is_alphanumeric) && name.chars().all(part)
}

/// Actions reserved by `get_skill` (S2.11).
pub const RESERVED: &[&str] = &["all", "help"];

/// Returns the action of a dotted name if `get_skill` reserves it.
pub(crate) fn reserved_action(name: &str) -> Option<&str> {
    let (_, action) = name.split_once('.').filter(|_| is_dotted(name))?;
    RESERVED.contains(&action).then_some(action)
}

/// Converts a name in prose to an id: lower case, hyphens between words.
pub fn slug(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    words.join("-")
}
