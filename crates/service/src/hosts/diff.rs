//! A diff of an edit, for people.

/// Returns the removed and added lines with one line of context on each side. Lines that did not change are
/// shown only if they are punctuation or a key without a value: others may hold secrets.
pub(super) fn diff(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let start = common(before.iter(), after.iter());
    let rest = |lines: &[&str]| lines.len() - start;
    let most = rest(&before).min(rest(&after));
    let end = common(before.iter().rev(), after.iter().rev()).min(most);
    let mut out = Vec::new();
    let gone = &before[start..before.len() - end];
    let come = &after[start..after.len() - end];
    out.push(format!(
        "@@ -{},{} +{},{} @@",
        start + 1,
        gone.len(),
        start + 1,
        come.len()
    ));
    if let Some(line) = start.checked_sub(1).map(|at| before[at]) {
        out.push(format!(" {}", context(line)));
    }
    let is_moved = |line: &&str, others: &[&str]| {
        let plain = |line: &str| line.trim_end().trim_end_matches(',').to_owned();
        others.iter().any(|other| plain(other) == plain(line))
    };
    for line in gone {
        let shown = if is_moved(line, come) {
            context(line)
        } else {
            line
        };
        out.push(format!("-{shown}"));
    }
    for line in come {
        let shown = if is_moved(line, gone) {
            context(line)
        } else {
            line
        };
        out.push(format!("+{shown}"));
    }
    if let Some(line) = after.len().checked_sub(end).and_then(|at| after.get(at)) {
        out.push(format!(" {}", context(line)));
    }
    out.join("\n")
}

fn common<'a>(
    one: impl Iterator<Item = &'a &'a str>,
    other: impl Iterator<Item = &'a &'a str>,
) -> usize {
    one.zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Returns a line of the person's own if it cannot hold a secret, otherwise `…`.
fn context(line: &str) -> &str {
    let text = line.trim();
    let is_punctuation = text.chars().all(|c| "{}[],".contains(c));
    let opens = text.ends_with(['{', '[', ':']) && !text.contains("//");
    let is_header = text.starts_with('[') && text.ends_with(']') && !text.contains('"');
    if is_punctuation || opens || is_header {
        line
    } else {
        "…"
    }
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn values_of_other_entries_are_omitted() {
        let before = "{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"KEY\": \"sk-1\"}}\n  }\n}\n";
        let after = "{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"KEY\": \"sk-1\"}},\n    \"deft\": {}\n  }\n}\n";
        let shown = diff(before, after);
        assert_eq!(
            shown,
            "@@ -3,1 +3,2 @@\n   \"mcpServers\": {\n-…\n+…\n+    \"deft\": {}\n   }"
        );
    }

    #[test]
    fn a_new_file_has_new_lines_only() {
        assert_eq!(diff("", "{\n}\n"), "@@ -1,0 +1,2 @@\n+{\n+}");
    }
}
