//! Files that a user attaches to a message by writing `@path`.
//!
//! The text of a file is appended to the message, in a fence with its path. A word that is clearly a path but
//! names no file is an error; any other word stays as it is, such as `@ada`. Not here: completing paths while
//! a user types.

use std::path::{Path, PathBuf};

use deft_registry::read_regular;
use deft_wire::{Done, Failure};

/// Maximum size of one file, and of all files of a message, in bytes.
const MAX_BYTES: u64 = 200_000;
const MAX_TOTAL_BYTES: u64 = 500_000;

/// Prefixes of image files: PNG, JPEG, GIF, and the container of WebP.
const IMAGES: [&[u8]; 4] = [b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF"];

/// The hint for files of other kinds.
const FORMATS: &str = "only UTF-8 text can be attached, such as txt, md, csv, json, yaml, html and source code; \
    let the agent read other files with a tool";

/// A message with its attached files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedText {
    /// The message, followed by the files.
    pub text: String,
    /// The files, without duplicates.
    pub files: Vec<AttachedFile>,
}

/// An attached file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    /// The path as written.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// Reads the files that a message names; `~` is the user's home.
pub fn attach(text: &str, folder: &Path, user_home: Option<&Path>) -> Done<AttachedText> {
    let mut attached = AttachedText {
        text: text.to_owned(),
        files: Vec::new(),
    };
    let mut in_all = 0;
    for word in words(text) {
        let Some((name, path)) = find(&word, folder, user_home) else {
            check_missing(&word, folder, user_home)?;
            continue;
        };
        if attached.files.iter().any(|file| file.path == name) {
            continue;
        }
        let content = read(&name, &path)?;
        let bytes = content.len() as u64;
        in_all += bytes;
        if in_all > MAX_TOTAL_BYTES {
            let message = format!(
                "the attached files exceed {} in total",
                kilobytes(MAX_TOTAL_BYTES)
            );
            return Err(Failure::input("attachment", message).hint("attach fewer of them"));
        }
        attached.text.push_str(&fence_file(&name, &content));
        attached.files.push(AttachedFile { path: name, bytes });
    }
    Ok(attached)
}

/// Returns the words after each `@` at the start of a word: up to white space, or within quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut before = ' ';
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '@' && (before.is_whitespace() || before == '(') {
            words.push(word(&mut rest));
            before = ' ';
        } else {
            before = c;
        }
    }
    words
}

fn word(rest: &mut std::str::Chars<'_>) -> String {
    let quoted = rest.as_str().starts_with('"');
    if quoted {
        rest.next();
    }
    let mut word = String::new();
    while let Some(c) = rest.next() {
        match c {
            '\\' if !quoted => word.extend(rest.next()),
            '"' if quoted => break,
            c if c.is_whitespace() && !quoted => break,
            c => word.push(c),
        }
    }
    word
}

/// Returns the file that a word names, with or without trailing punctuation.
fn find(word: &str, folder: &Path, user_home: Option<&Path>) -> Option<(String, PathBuf)> {
    let bare = trim_punctuation(word);
    let names = [word, bare].into_iter().filter(|name| !name.is_empty());
    let mut found = names.map(|name| (name.to_owned(), resolve(name, folder, user_home)));
    found.find(|(_, path)| path.is_file())
}

/// Fails for a word that is clearly a path but names no file: the message would be sent without it.
fn check_missing(word: &str, folder: &Path, user_home: Option<&Path>) -> Done<()> {
    let is_path = ["/", "~/", "./", "../"];
    if !is_path.iter().any(|start| word.starts_with(start)) {
        return Ok(());
    }
    let name = trim_punctuation(word);
    let message = if resolve(name, folder, user_home).is_dir() {
        format!("`{name}` is a folder; only files can be attached")
    } else {
        format!("the file `{name}` does not exist")
    };
    let hint = "the message was not sent; Tab after `@` completes paths";
    Err(Failure::input("attachment", message).hint(hint))
}

fn trim_punctuation(word: &str) -> &str {
    word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')'])
}

fn resolve(name: &str, folder: &Path, user_home: Option<&Path>) -> PathBuf {
    match (name.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(name),
    }
}

fn read(name: &str, path: &Path) -> Done<String> {
    let failed = |message: String| Failure::input("attachment", message);
    let size = path.metadata().map_or(0, |data| data.len());
    if size > MAX_BYTES {
        let message = format!(
            "`{name}` has {}; at most {} can be attached",
            kilobytes(size),
            kilobytes(MAX_BYTES)
        );
        return Err(
            failed(message).hint("attach a part of it, or let the agent read it with a tool")
        );
    }
    let content = read_regular(path, MAX_BYTES);
    let content = content.map_err(|why| failed(format!("cannot read `{name}`: {why}")))?;
    if IMAGES.iter().any(|image| content.starts_with(image)) {
        let message = format!("`{name}` is an image; images cannot be attached");
        return Err(failed(message).hint(FORMATS));
    }
    String::from_utf8(content)
        .ok()
        .filter(|text| !text.contains('\0'))
        .ok_or_else(|| {
            failed(format!("`{name}` is not text; only text can be attached")).hint(FORMATS)
        })
}

/// Formats a file for a model. The fence is longer than any fence in the file.
fn fence_file(name: &str, content: &str) -> String {
    let longest = content.split(|c| c != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let content = content.trim_end_matches('\n');
    format!("\n\nFile `{name}`:\n{fence}\n{content}\n{fence}")
}

fn kilobytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attach_in(folder: &Path, text: &str) -> Done<AttachedText> {
        attach(text, folder, None)
    }

    #[test]
    fn attachments_follow_the_message() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| {
            std::fs::write(folder.path().join(name), content).unwrap();
        };
        write("a.txt", b"one\ntwo\n");
        write("my file.md", b"````\ncode\n````\n");
        for (text, files, behind) in [
            (
                "what is @a.txt?",
                vec!["a.txt"],
                "\n\nFile `a.txt`:\n```\none\ntwo\n```",
            ),
            (
                "(@a.txt), @a.txt",
                vec!["a.txt"],
                "\n\nFile `a.txt`:\n```\none\ntwo\n```",
            ),
            (
                "@my\\ file.md",
                vec!["my file.md"],
                "\n\nFile `my file.md`:\n`````\n````\ncode\n````\n`````",
            ),
            (
                "read @\"my file.md\" now",
                vec!["my file.md"],
                "\n\nFile `my file.md`:\n`````\n````\ncode\n````\n`````",
            ),
            ("mail ada@a.txt or @ada, and @ alone", vec![], ""),
            ("@missing.txt and @.", vec![], ""),
        ] {
            let attached = attach_in(folder.path(), text).unwrap();
            assert_eq!(attached.text, format!("{text}{behind}"));
            let names: Vec<&str> = attached.files.iter().map(|file| &*file.path).collect();
            assert_eq!(names, files, "{text}");
        }
    }

    #[test]
    fn invalid_attachments_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content, expected) in [
            (
                "big.log",
                vec![b'x'; 1_234_567],
                "`big.log` has 1.2 MB; at most 200 kB can be attached",
            ),
            (
                "cat.png",
                b"\x89PNG\r\n".to_vec(),
                "`cat.png` is an image; images cannot be attached",
            ),
            (
                "a.bin",
                vec![b'a', 0, 255],
                "`a.bin` is not text; only text can be attached",
            ),
        ] {
            std::fs::write(folder.path().join(name), content).unwrap();
            let failed = attach_in(folder.path(), &format!("see @{name}")).unwrap_err();
            assert_eq!(failed.message, expected);
            assert!(failed.hint.is_some());
        }
        let here = folder.path().display().to_string();
        for (text, expected) in [
            (
                "see @/missing/file.",
                "the file `/missing/file` does not exist".to_owned(),
            ),
            (
                "see @./nothing",
                "the file `./nothing` does not exist".to_owned(),
            ),
            (
                &format!("see @{here}"),
                format!("`{here}` is a folder; only files can be attached"),
            ),
        ] {
            let failed = attach_in(folder.path(), text).unwrap_err();
            assert_eq!(failed.message, expected);
        }
        std::fs::write(folder.path().join("a"), vec![b'x'; 190_000]).unwrap();
        for name in ["b", "c"] {
            std::fs::copy(folder.path().join("a"), folder.path().join(name)).unwrap();
        }
        let failed = attach_in(folder.path(), "@a @b @c").unwrap_err();
        assert_eq!(failed.message, "the attached files exceed 500 kB in total");
    }
}
