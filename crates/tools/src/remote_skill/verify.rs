//! Compares the content of a skill with its entry. A mismatch is always a failure: an updated skill
//! cannot be told apart from one that was tampered with.

use deft_model::{Digest, Failure, FailureClass};
use serde_json::Value;

use super::{RemoteFile, RemoteSkill, SKILL_MD};

/// Checks that the content has the listed size and digest.
pub(crate) fn check_file(
    skill: &RemoteSkill,
    file: &RemoteFile,
    content: &[u8],
) -> Result<(), Failure> {
    let size = content.len() as u64;
    if size != file.size {
        let reason = format!("it has {size} bytes instead of the listed {}", file.size);
        return Err(changed_content(skill, &file.path, &reason));
    }
    if Digest::sha256(content).to_string() != file.sha256 {
        return Err(changed_content(
            skill,
            &file.path,
            "its digest is not the listed one",
        ));
    }
    Ok(())
}

/// Checks that the frontmatter of `SKILL.md` equals the listed one, field by field.
pub(crate) fn check_frontmatter(skill: &RemoteSkill, content: &[u8]) -> Result<(), Failure> {
    let Some(found) = deft_skillfile::frontmatter(content) else {
        return Err(changed_content(skill, SKILL_MD, "it has no frontmatter"));
    };
    let listed = &skill.frontmatter;
    let differs = |key: &&String| match (found.get(*key), listed.get(*key)) {
        (Some(one), Some(other)) => !is_same(one, other),
        (Some(_) | None, _) => true,
    };
    let mut keys = found.keys().chain(listed.keys());
    match keys.find(differs) {
        Some(key) => Err(changed_content(
            skill,
            SKILL_MD,
            &format!("its field `{key}` is not the listed one"),
        )),
        None => Ok(()),
    }
}

/// Whether two values are equal; numbers are compared by value, since `1` and `1.0` are one number in
/// YAML.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| {
                let found = other.get(key);
                found.is_some_and(|found| is_same(value, found))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}

/// Returns the failure for content that differs from the listed content.
pub(crate) fn changed_content(skill: &RemoteSkill, path: &str, reason: &str) -> Failure {
    let (id, server) = (skill.id(), &skill.server);
    let message = format!("`{path}` of the skill `{id}` differs from its listing: {reason}");
    Failure::new(FailureClass::Invalid, message).hint(format!(
        "the content was not used; `deft mcp probe {server}` lists the skills again, and `deft skills approve {id}` \
         accepts the new content"
    ))
}

/// Returns the failure for a file that is not part of the skill.
pub(crate) fn unlisted_file(skill: &RemoteSkill, path: &str) -> Failure {
    let message = format!(
        "the skill `{}` has no file `{path}` in its list",
        skill.id()
    );
    let files: Vec<&str> = skill
        .listed_files()
        .iter()
        .map(|file| &*file.path)
        .collect();
    let failure = Failure::new(FailureClass::Invalid, message);
    if files.is_empty() || files.len() > 20 {
        return failure.hint("only listed files are read");
    }
    failure.hint(format!("its files are {}", files.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{RemoteFiles, read_entry};
    use super::*;

    const TEXT: &str =
        "---\nname: pdf\ndescription: Fills forms\nmetadata:\n  version: 1.0\n---\n\nRead.\n";

    fn skill(text: &str) -> RemoteSkill {
        let uri = "skill://pdf/SKILL.md";
        let digest = format!("sha256:{}", Digest::sha256(text.as_bytes()));
        let entry = json!({
            "uri": uri,
            "frontmatter": {"name": "pdf", "description": "Fills forms", "metadata": {"version": 1}},
            "resources": [{"uri": uri, "digest": digest, "size": text.len()}],
        });
        read_entry("docs", &entry).unwrap()
    }

    #[test]
    fn size_digest_and_frontmatter_are_compared() {
        let skill = skill(TEXT);
        let file = skill.file(SKILL_MD).unwrap();
        check_file(&skill, file, TEXT.as_bytes()).unwrap();
        check_frontmatter(&skill, TEXT.as_bytes()).unwrap();
        let longer = format!("{TEXT}more");
        let failure = check_file(&skill, file, longer.as_bytes()).unwrap_err();
        assert!(failure.message.contains("bytes instead of"), "{failure}");
        let other = TEXT.replace("Read", "Evil");
        let failure = check_file(&skill, file, other.as_bytes()).unwrap_err();
        assert!(failure.message.contains("digest"), "{failure}");
        assert_eq!(skill.files, RemoteFiles::Listed(vec![file.clone()]));
    }

    #[test]
    fn a_field_that_differs_or_is_missing_on_either_side_is_a_mismatch() {
        let skill = skill(TEXT);
        for (from, to, named) in [
            ("Fills forms", "Steals forms", "description"),
            ("name: pdf", "name: pdf\nhooks: x", "hooks"),
            ("metadata:\n  version: 1.0\n", "", "metadata"),
            ("version: 1.0", "version: 2", "metadata"),
        ] {
            let text = TEXT.replace(from, to);
            let failure = check_frontmatter(&skill, text.as_bytes()).unwrap_err();
            assert!(failure.message.contains(named), "{to}: {failure}");
        }
        assert!(check_frontmatter(&skill, b"no fence").is_err());
    }
}
