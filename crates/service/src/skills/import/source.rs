//! Parses the source of an import: a path, a repository, or `crontab`.
//!
//! Not here: fetching or reading it.

use std::path::{Path, PathBuf};

use deft_wire::{Done, Failure};

/// A format that the name of a file does not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// Lines of `crontab -l`.
    Crontab,
    /// A workflow exported by n8n.
    N8n,
}

/// The source of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A folder, or a file of a skill.
    Path(PathBuf),
    Archive(PathBuf, ArchiveKind),
    Repository(Repository),
    /// A skill of an MCP server, by its id.
    Remote(String),
    CrontabFile(PathBuf),
    /// The crontab of the user, as printed by `crontab -l`.
    UserCrontab,
    /// A JSON file that the user declared as a workflow of n8n.
    N8n(PathBuf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveKind {
    Zip,
    Tar,
    TarGz,
}

/// A git repository, or a folder of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The text that the user wrote.
    pub label: String,
    pub url: String,
    /// The folder in the repository.
    pub path: Option<PathBuf>,
    /// A branch, a tag or a commit.
    pub reference: Option<String>,
}

impl Source {
    pub(super) fn parse(given: &Path, format: Option<ImportFormat>) -> Done<Self> {
        match format {
            Some(ImportFormat::Crontab) => return Ok(Self::CrontabFile(given.to_path_buf())),
            Some(ImportFormat::N8n) => return Ok(Self::N8n(given.to_path_buf())),
            None => {}
        }
        let Some(text) = given.to_str() else {
            return Ok(Self::Path(given.to_path_buf()));
        };
        if text == "crontab" {
            return Ok(Self::UserCrontab);
        }
        if let Some(id) = text.strip_prefix("mcp:") {
            return Ok(Self::Remote(id.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("github:") {
            return github(text, rest).map(Self::Repository);
        }
        if is_url(text) || (is_scp(text) && !given.exists()) {
            return git_url(text).map(Self::Repository);
        }
        let path = given.to_path_buf();
        Ok(match form_of_ending(text) {
            _ if given.is_dir() => Self::Path(path),
            Some(FileForm::Archive(kind)) => Self::Archive(path, kind),
            Some(FileForm::Crontab) => Self::CrontabFile(path),
            None => Self::Path(path),
        })
    }
}

enum FileForm {
    Archive(ArchiveKind),
    Crontab,
}

fn form_of_ending(name: &str) -> Option<FileForm> {
    let name = name.to_ascii_lowercase();
    let archives = [
        (".zip", ArchiveKind::Zip),
        (".skill", ArchiveKind::Zip),
        (".tar", ArchiveKind::Tar),
        (".tar.gz", ArchiveKind::TarGz),
        (".tgz", ArchiveKind::TarGz),
    ];
    let archive = archives.iter().find(|(end, _)| name.ends_with(end));
    match archive {
        Some((_, kind)) => Some(FileForm::Archive(*kind)),
        None => name.ends_with(".crontab").then_some(FileForm::Crontab),
    }
}

fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// Whether `text` is an address such as `git@example.org:owner/repository`, in the syntax of scp.
fn is_scp(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else {
        return false;
    };
    host.contains('@') && !host.contains('/') && !path.is_empty()
}

/// Parses `owner/repository[/path][@reference]`.
fn github(label: &str, rest: &str) -> Done<Repository> {
    let (name, reference) = match rest.split_once('@') {
        Some((name, reference)) => (name, Some(reference)),
        None => (rest, None),
    };
    let mut parts = name.splitn(3, '/');
    let (owner, repository) = (parts.next().unwrap_or_default(), parts.next());
    let repository = repository.map(|name| name.strip_suffix(".git").unwrap_or(name));
    let (Some(repository), path) = (repository, parts.next()) else {
        return Err(bad_source(label));
    };
    if !is_github_name(owner) || !is_github_name(repository) {
        return Err(bad_source(label));
    }
    Ok(Repository {
        label: label.to_owned(),
        url: format!("https://github.com/{owner}/{repository}.git"),
        path: checked_path(path, label)?,
        reference: checked_reference(reference, label)?,
    })
}

fn is_github_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !matches!(name, "." | "..") && name.chars().all(fits)
}

/// Parses `URL[#reference[:path]]`. An address with a leading `-` is refused, because git would take it for
/// an option.
fn git_url(label: &str) -> Done<Repository> {
    let (url, fragment) = match label.split_once('#') {
        Some((url, fragment)) => (url, Some(fragment)),
        None => (label, None),
    };
    let known = ["https://", "ssh://", "file://"];
    if url.starts_with('-') || (is_url(url) && !known.iter().any(|start| url.starts_with(start))) {
        return Err(bad_source(label));
    }
    let (reference, path) = match fragment.map(|text| text.split_once(':').unwrap_or((text, ""))) {
        Some((reference, path)) => (Some(reference), Some(path)),
        None => (None, None),
    };
    let given = |text: &&str| !text.is_empty();
    Ok(Repository {
        label: label.to_owned(),
        url: url.to_owned(),
        path: checked_path(path.filter(given), label)?,
        reference: checked_reference(reference.filter(given), label)?,
    })
}

/// Checks a path in a repository: it must be relative and contain no `..`.
fn checked_path(path: Option<&str>, label: &str) -> Done<Option<PathBuf>> {
    let Some(path) = path.map(|path| path.trim_matches('/')) else {
        return Ok(None);
    };
    let down = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    if path.is_empty() || !Path::new(path).components().all(down) {
        return Err(bad_source(label));
    }
    Ok(Some(PathBuf::from(path)))
}

/// Checks a reference. A leading `-` is refused, because git would take it for an option.
fn checked_reference(reference: Option<&str>, label: &str) -> Done<Option<String>> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    match reference {
        Some(text) if text.is_empty() || text.starts_with('-') || !text.chars().all(fits) => {
            Err(bad_source(label))
        }
        other => Ok(other.map(str::to_owned)),
    }
}

fn bad_source(label: &str) -> Failure {
    let message = format!("`{label}` is not a source that deft can import");
    Failure::input("bad_source", message).hint(
        "write a file, a folder, an archive, `github:owner/repository[/path][@ref]`, a git address, `mcp:SERVER/NAME`, or \
         `crontab`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(text: &str) -> (String, Option<String>, Option<String>) {
        let Source::Repository(one) = Source::parse(Path::new(text), None).unwrap() else {
            panic!("{text}");
        };
        let path = one.path.map(|path| path.display().to_string());
        (one.url, path, one.reference)
    }

    #[test]
    fn repositories_are_recognised() {
        let some = |text: &str| Some(text.to_owned());
        let github = "https://github.com/o/r.git".to_owned();
        assert_eq!(repository("github:o/r"), (github.clone(), None, None));
        assert_eq!(
            repository("github:o/r/skills/pdf@v1.2"),
            (github, some("skills/pdf"), some("v1.2"))
        );
        assert_eq!(
            repository("git@host.example:o/r.git"),
            ("git@host.example:o/r.git".to_owned(), None, None)
        );
        assert_eq!(
            repository("file:///srv/r.git#main:skills"),
            ("file:///srv/r.git".to_owned(), some("skills"), some("main"))
        );
    }

    #[test]
    fn options_and_parent_paths_are_refused() {
        for text in [
            "github:o",
            "github:o/r/../../x",
            "github:-o/..",
            "github:o/r@--upload-pack=x",
            "ext::sh -c x://",
            "-u://x",
            "http://plain.example/r.git",
            "https://x/y#--upload-pack",
            "https://x/y#main:../x",
        ] {
            let parsed = Source::parse(Path::new(text), None);
            assert!(parsed.is_err(), "{text}: {parsed:?}");
        }
    }

    #[test]
    fn files_are_recognised_by_their_extension() {
        let parse = |text: &str| Source::parse(Path::new(text), None).unwrap();
        let path = PathBuf::from("a.TGZ");
        assert_eq!(parse("a.TGZ"), Source::Archive(path, ArchiveKind::TarGz));
        assert_eq!(
            parse("x.skill"),
            Source::Archive(PathBuf::from("x.skill"), ArchiveKind::Zip)
        );
        assert_eq!(parse("crontab"), Source::UserCrontab);
        assert_eq!(parse("./crontab"), Source::Path(PathBuf::from("./crontab")));
        assert_eq!(
            parse("my.crontab"),
            Source::CrontabFile(PathBuf::from("my.crontab"))
        );
    }
}
