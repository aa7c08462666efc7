//! Tab completion in a chat: its commands, and paths after an `@`.

use std::path::Path;

use super::slash::COMMANDS;

/// The maximum number of paths offered.
const MAX_PATHS: usize = 50;

/// Returns the completions of the text before the cursor, and the byte offset at which they begin.
pub(super) fn complete(
    before: &str,
    folder: &Path,
    user_home: Option<&Path>,
) -> (usize, Vec<String>) {
    if before.starts_with('/') && !before.contains(' ') {
        let names = COMMANDS.iter().map(|(name, _, _)| (*name).to_owned());
        return (0, names.filter(|name| name.starts_with(before)).collect());
    }
    match attachment(before) {
        Some(start) => (start, paths(&before[start..], folder, user_home)),
        None => (before.len(), Vec::new()),
    }
}

/// Returns the byte offset of the path being typed after an `@`, or `None` if there is no such path.
fn attachment(before: &str) -> Option<usize> {
    let at = before.rfind('@')?;
    let opens = before[..at].chars().next_back();
    let is_word = opens.is_none_or(|c| c.is_whitespace() || c == '(');
    let path = &before[at + 1..];
    // White space ends a path, except a space after a backslash.
    let over = path.replace("\\ ", "").contains(char::is_whitespace);
    (is_word && !over).then_some(at + 1)
}

/// Returns the files and folders whose paths begin with `given`.
fn paths(given: &str, folder: &Path, user_home: Option<&Path>) -> Vec<String> {
    let (parent, name) = match given.rfind('/') {
        Some(at) => given.split_at(at + 1),
        None => ("", given),
    };
    let (real, name) = (parent.replace("\\ ", " "), name.replace("\\ ", " "));
    let place = match (real.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(&real),
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let hidden = found.starts_with('.') && !name.starts_with('.');
            let fits = found.starts_with(&name) && !hidden;
            let end = if entry.path().is_dir() { "/" } else { "" };
            fits.then(|| format!("{parent}{}{end}", found.replace(' ', "\\ ")))
        })
        .collect();
    found.sort();
    found.truncate(MAX_PATHS);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_paths_are_completed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("notes")).unwrap();
        for name in ["notes/a.txt", "notes/my list.md", ".hidden", "next.md"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let home = folder.path().join("notes");
        for (before, start, expected) in [
            ("/mo", 0, vec!["/model"]),
            ("/model b", 8, vec![]),
            ("see @n", 5, vec!["next.md", "notes/"]),
            ("see (@notes/", 6, vec!["notes/a.txt", "notes/my\\ list.md"]),
            ("@notes/my\\ l", 1, vec!["notes/my\\ list.md"]),
            ("@~/a", 1, vec!["~/a.txt"]),
            ("@.h", 1, vec![".hidden"]),
            ("ada@n", 5, vec![]),
            ("@next.md and", 12, vec![]),
        ] {
            let (at, found) = complete(before, folder.path(), Some(&home));
            assert_eq!(
                (at, found),
                (
                    start,
                    expected.into_iter().map(str::to_owned).collect::<Vec<_>>()
                ),
                "{before}"
            );
        }
    }
}
