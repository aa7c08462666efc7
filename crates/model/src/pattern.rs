//! Patterns for names of tools and skills.

/// Returns whether `name` matches `pattern`, where `*` stands for any text.
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_matches_any_text() {
        let cases = [
            ("gmail_send", "gmail_send", true),
            ("gmail_send", "gmail_send_all", false),
            ("gmail_*", "gmail_send", true),
            ("gmail_*", "gmail_", true),
            ("gmail_*", "gmail", false),
            ("*_list", "gmail_list", true),
            ("*_list", "gmail_list_all", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "x", false),
            ("über*", "übermorgen", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(fits(pattern, name), expected, "{pattern} on {name}");
        }
    }
}
