//! Writes words so that [`split`](crate::split()) reads them back.
//!
//! Not here: quoting for a real shell, which gives other characters a meaning.

/// A value as it is written in a command: bare when nothing in it means anything, else in double
/// quotes. What begins with a dash is quoted too, so that it stays a value.
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

/// Several values in a row.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(quote).collect();
    words.join(" ")
}

fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@=,+%".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(plain)
}
