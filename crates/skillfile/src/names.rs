//! The forms of names.

/// `^[a-z][a-z0-9_]*$`: a domain, an action, a step (S2.10).
pub fn is_word(name: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(rest)
}

/// `domain.action`, the form of a man page's name (S2.10).
pub fn is_dotted(name: &str) -> bool {
    name.split_once('.')
        .is_some_and(|(domain, action)| is_word(domain) && is_word(action))
}

/// The domain of a dotted name.
pub(crate) fn domain_of(name: &str) -> Option<&str> {
    is_dotted(name).then(|| name.split('.').next()).flatten()
}

/// A name that can be used in templates and conditions.
pub(crate) fn is_identifier(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(first) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Words that Python keeps for itself, so that no name can be one of them.
pub(crate) const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Whether a name is a word of Python.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// A name that can be an id as it is, without a folder to fall back on.
pub(crate) fn is_id(name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.starts_with(char::is_alphanumeric) && name.chars().all(part)
}

/// Actions that `get_skill` keeps for itself (S2.11).
pub const RESERVED: &[&str] = &["all", "help"];

/// The action of a dotted name, if `get_skill` keeps it for itself.
pub(crate) fn reserved_action(name: &str) -> Option<&str> {
    let (_, action) = name.split_once('.').filter(|_| is_dotted(name))?;
    RESERVED.contains(&action).then_some(action)
}

/// A name in prose as an id: lower case, hyphens between words.
pub fn slug(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    words.join("-")
}
