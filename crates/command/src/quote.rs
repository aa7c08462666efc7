//! Quotes words for [`split`](crate::split()), which reads them back unchanged.
//!
//! Not here: quoting for a real shell, which has more special characters.

/// Quotes a value for a command: bare if no character is special, else in double quotes. A value that
/// begins with a dash is quoted too, so it is not parsed as a flag.
pub fn quote(word: &str) -> String {
    if is_plain(word) {
        return word.to_owned();
    }
    let mut out = String::with_capacity(word.len() + 2);
    out.push('"');
    for c in word.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// Quotes several values and joins them with spaces.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(quote).collect();
    words.join(" ")
}

fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@=,+%".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(plain)
}
