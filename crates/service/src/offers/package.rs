//! Skills as folders of files, for hosts that load skills themselves.
//!
//! Only skills of the open format are published, as they are on disk: hosts compare the files they read with
//! the sizes and digests in the list.

use std::path::Path;

use deft_model::{Dialect, Digest, Object};
use deft_registry::{LoadedSkill, MAX_FILE_BYTES, read_regular};

use super::SkillOffers;

/// Maximum number of files of one skill.
const MAX_PACKAGE_FILES: usize = 512;

/// Maximum total size of the files of one skill, in bytes.
const MAX_PACKAGE_BYTES: u64 = 16 * 1024 * 1024;

/// The file that defines a skill.
const SKILL_MD: &str = "SKILL.md";

/// A skill with its files.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillPackage {
    /// The name, which is also the name of the folder.
    pub name: String,
    /// The frontmatter of `SKILL.md`, as written.
    pub frontmatter: Object,
    /// All files; `SKILL.md` is the first.
    pub files: Vec<PackageFile>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFile {
    /// The path relative to the skill's folder, with `/` as separator.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
}

impl SkillOffers {
    /// Returns the names of the skills that may be published as files, sorted.
    pub fn package_names(&self) -> Vec<String> {
        let skills = self.set.all.skills().filter(|loaded| may_publish(loaded));
        let mut names: Vec<String> = skills.map(|loaded| loaded.skill.id.to_string()).collect();
        names.sort();
        names
    }

    /// Returns a skill with its current files on disk; `None` if it cannot be published.
    pub fn package(&self, name: &str) -> Option<SkillPackage> {
        let loaded = self.set.all.skill(name)?;
        if !may_publish(loaded) {
            return None;
        }
        package(loaded)
    }

    /// Returns the paths of all files of a skill; `None` if it cannot be published.
    pub fn package_paths(&self, name: &str) -> Option<Vec<String>> {
        let loaded = self.set.all.skill(name).filter(|it| may_publish(it))?;
        if loaded.siblings.len() + 1 > MAX_PACKAGE_FILES {
            return None;
        }
        let siblings = loaded.siblings.iter().map(|file| file.path.clone());
        Some(
            std::iter::once(SKILL_MD.to_owned())
                .chain(siblings)
                .collect(),
        )
    }

    /// Returns the path and content of the first file of a skill whose path satisfies `is_meant`.
    pub fn package_file(
        &self,
        name: &str,
        is_meant: impl Fn(&str) -> bool,
    ) -> Option<(String, Vec<u8>)> {
        let loaded = self.set.all.skill(name).filter(|it| may_publish(it))?;
        // Only listed paths are read: they contain no `..`, and no link leads out of the folder.
        let siblings = loaded.siblings.iter().map(|file| file.path.as_str());
        let path = siblings.chain([SKILL_MD]).find(|path| is_meant(path))?;
        let folder = loaded.path.parent()?;
        let content = read_regular(&folder.join(path), MAX_PACKAGE_BYTES).ok()?;
        Some((path.to_owned(), content))
    }
}

/// Whether the files of a skill may be published. Its name must follow the rules of the open format, because
/// it becomes part of addresses, and its file must declare that name.
fn may_publish(loaded: &LoadedSkill) -> bool {
    let skill = &loaded.skill;
    let defines = loaded.path.file_name().is_some_and(|name| name == SKILL_MD);
    skill.dialect == Dialect::AgentSkills
        && skill.policy.enabled
        && defines
        && skill.id.as_str() == skill.name
        && is_plain_name(&skill.name)
}

/// Whether `name` has only lower-case letters, digits and single hyphens between them.
fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let parts = || name.split('-');
    name.len() <= 64 && parts().all(|part| !part.is_empty() && part.chars().all(plain))
}

fn package(loaded: &LoadedSkill) -> Option<SkillPackage> {
    let folder = loaded.path.parent().unwrap_or(Path::new(""));
    if loaded.siblings.len() + 1 > MAX_PACKAGE_FILES {
        return too_large(loaded);
    }
    let content = read_regular(&loaded.path, MAX_FILE_BYTES).ok()?;
    let frontmatter = deft_skillfile::frontmatter(&content)?;
    let mut files = vec![file(SKILL_MD, &content)];
    let mut total = content.len() as u64;
    for sibling in &loaded.siblings {
        // Uses the content on disk: the file may have changed since the skill was loaded.
        let content = read_regular(&folder.join(&sibling.path), MAX_PACKAGE_BYTES).ok()?;
        total += content.len() as u64;
        if total > MAX_PACKAGE_BYTES {
            return too_large(loaded);
        }
        files.push(file(&sibling.path, &content));
    }
    Some(SkillPackage {
        name: loaded.skill.id.to_string(),
        frontmatter,
        files,
    })
}

fn file(path: &str, content: &[u8]) -> PackageFile {
    PackageFile {
        path: path.to_owned(),
        size: content.len() as u64,
        sha256: Digest::sha256(content).to_string(),
    }
}

fn too_large(loaded: &LoadedSkill) -> Option<SkillPackage> {
    let skill = &loaded.skill.id;
    tracing::warn!(
        %skill,
        "a skill is not published: it has more than {MAX_PACKAGE_FILES} files or 16 MiB"
    );
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_open_format_are_published() {
        for (name, plain) in [
            ("code-review", true),
            ("a", true),
            ("pdf2text", true),
            ("Code", false),
            ("a--b", false),
            ("-a", false),
            ("email.send", false),
            ("größe", false),
        ] {
            assert_eq!(is_plain_name(name), plain, "{name}");
        }
    }
}
